//! Bodies of both directions.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Bytes, Frame, Incoming, SizeHint};

/// A body that is passed on as it comes, or is known, or is made on the way.
#[derive(Debug)]
pub(crate) enum Body {
    Passed(Incoming),
    Known(Option<Bytes>),
    /// Made by whoever reads it, piece by piece: no other task has to be woken for one. None when it
    /// is over.
    Made(Option<Step>),
}

/// The next piece of a body, and the step to the one behind it.
pub(crate) struct Step(Pin<Box<dyn Future<Output = Made> + Send>>);

/// What a step comes to.
pub(crate) type Made = (io::Result<Bytes>, Option<Step>);

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Step")
    }
}

impl Step {
    pub(super) fn new(step: impl Future<Output = Made> + Send + 'static) -> Self {
        Self(Box::pin(step))
    }
}

impl Body {
    pub(crate) fn known(bytes: impl Into<Bytes>) -> Self {
        Self::Known(Some(bytes.into()).filter(|bytes: &Bytes| !bytes.is_empty()))
    }
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        match self.get_mut() {
            Self::Passed(incoming) => Pin::new(incoming).poll_frame(cx).map_err(io::Error::other),
            Self::Known(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Made(next) => {
                let Some(step) = next else { return Poll::Ready(None) };
                step.0.as_mut().poll(cx).map(|(piece, rest)| {
                    *next = rest;
                    let over = next.is_none() && piece.as_ref().is_ok_and(Bytes::is_empty);
                    (!over).then(|| piece.map(Frame::data))
                })
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Passed(incoming) => incoming.is_end_stream(),
            Self::Known(bytes) => bytes.is_none(),
            Self::Made(next) => next.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Passed(incoming) => incoming.size_hint(),
            Self::Known(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Self::Made(_) => SizeHint::default(),
        }
    }
}
