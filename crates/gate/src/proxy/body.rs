//! Bodies of both directions.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Bytes, Frame, Incoming, SizeHint};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// A body that is passed on as it comes, or is known, or is made on the way.
#[derive(Debug)]
pub(crate) enum Body {
    Passed(Incoming),
    Known(Option<Bytes>),
    Made(Receiver<io::Result<Bytes>>),
}

impl Body {
    pub(crate) fn known(bytes: impl Into<Bytes>) -> Self {
        Self::Known(Some(bytes.into()).filter(|bytes: &Bytes| !bytes.is_empty()))
    }

    /// Makes a body of what is sent. The sender waits while nobody reads.
    pub(crate) fn made() -> (Sender<io::Result<Bytes>>, Self) {
        let (sender, receiver) = channel(4);
        (sender, Self::Made(receiver))
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
            Self::Made(receiver) => {
                receiver.poll_recv(cx).map(|next| next.map(|next| next.map(Frame::data)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Passed(incoming) => incoming.is_end_stream(),
            Self::Known(bytes) => bytes.is_none(),
            Self::Made(_) => false,
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
