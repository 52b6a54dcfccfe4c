//! The start of a TLS connection, up to where nothing is said in the open any more.
//!
//! A server may ask for the client's first message once more (HelloRetryRequest). The second has to
//! name the same host as the first, so it is held until it was read.

use std::io;

use palisade_policy::name::Host;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;

use super::Shared;
use super::book::Entry;
use super::carry::{Broken, finish, pass, read_more, write_all};
use super::first::{First, look_on};
use super::incoming::PATIENCE;
use super::keep::Kept;
use crate::hello::{Answer, LONGEST_ANSWER, read_answer};

/// Who speaks with whom.
#[derive(Clone, Copy)]
pub(super) struct Both<'b> {
    pub(super) stream: &'b TcpStream,
    pub(super) upstream: &'b TcpStream,
    pub(super) host: &'b Host,
    pub(super) entry: &'b Entry,
    pub(super) shared: &'b Shared,
}

impl Both<'_> {
    /// Passes on what both say until the server has answered, and the client once more if it was
    /// asked. What follows needs not be looked at.
    pub(super) async fn greet(self, first: First) -> Result<(), Broken> {
        let Both { stream, upstream, .. } = self;
        let (say, said) = watch::channel(Answer::NeedMore);
        let ask = async {
            let asked = self.ask(first, said).await;
            match asked.map_err(|broken| broken.tell(stream, upstream)) {
                // A server that hears nothing any more may have spoken before.
                Err(Broken::Deaf) => Ok(()),
                asked => asked,
            }
        };
        let answer =
            async { self.answer(say).await.map_err(|broken| broken.tell(upstream, stream)) };
        tokio::try_join!(ask, answer)?;
        Ok(())
    }

    /// Passes on what the client says. A message in the open waits for what the server says.
    async fn ask(self, first: First, mut said: watch::Receiver<Answer>) -> Result<(), Broken> {
        let First { mut bytes, length } = first;
        self.pass(bytes.take(length)).await?;
        let mut left = 0;
        loop {
            let answer = *said.borrow();
            match (answer, next(&bytes, &mut left)) {
                (Answer::Other, _) => return self.pass(bytes).await,
                (_, Next::Passed(length)) => self.pass(bytes.take(length)).await?,
                (Answer::NeedMore, Next::Open) => self.wait(&mut said).await,
                (Answer::Retry, Next::Open) => return self.second(bytes).await,
                (_, Next::Unknown) => {
                    let more = tokio::select! {
                        more = read_more(self.stream, &mut bytes, self.shared) => more,
                        () = self.wait(&mut said), if answer == Answer::NeedMore => continue,
                    };
                    if is_end(more)? {
                        self.pass(bytes).await?;
                        finish(self.upstream);
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Reads the message that was asked for again, and passes it on.
    async fn second(self, mut bytes: Kept) -> Result<(), Broken> {
        let looking = look_on(self.stream, &mut bytes, self.host, self.shared);
        let looked = timeout(PATIENCE, looking).await.unwrap_or(Err("first-bytes-late"));
        looked.map_err(Broken::Over)?;
        self.pass(bytes).await
    }

    /// Passes on what the server says, until it is known what that means.
    async fn answer(self, say: watch::Sender<Answer>) -> Result<(), Broken> {
        let mut seen = Vec::new();
        loop {
            let mut bytes = self.shared.hands.larder.keep();
            let more = read_more(self.upstream, &mut bytes, self.shared).await;
            if is_end(more)? {
                say.send_replace(Answer::Other);
                return Ok(());
            }
            let budget = &self.shared.rules.budget;
            self.entry.received(bytes.len(), budget).map_err(Broken::Over)?;
            seen.extend(bytes.iter().take(LONGEST_ANSWER.saturating_sub(seen.len())));
            let answer = read_answer(&seen);
            // The client hears of it afterwards, so what it says then is read as it should be.
            say.send_replace(answer);
            write_all(self.stream, &bytes).await.map_err(|_| Broken::Deaf)?;
            if answer != Answer::NeedMore {
                return Ok(());
            }
        }
    }

    async fn pass(self, bytes: Kept) -> Result<(), Broken> {
        pass(&bytes, self.upstream, self.entry, self.shared).await
    }

    async fn wait(self, said: &mut watch::Receiver<Answer>) {
        // Where nobody says anything any more the other way has broken, and ends this one.
        if said.wait_for(|answer| *answer != Answer::NeedMore).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// What comes next from a client.
enum Next {
    /// So many bytes of records that are not messages in the open.
    Passed(usize),
    /// A message in the open.
    Open,
    /// That cannot be told yet.
    Unknown,
}

/// Looks at what is there; `left` is how much of the last record has still to come.
fn next(bytes: &[u8], left: &mut usize) -> Next {
    const HANDSHAKE: u8 = 22;
    let here = bytes.len().min(*left);
    if here > 0 {
        *left = left.saturating_sub(here);
        return Next::Passed(here);
    }
    match bytes {
        [HANDSHAKE, ..] => Next::Open,
        [_, _, _, high, low, ..] => {
            *left = usize::from(u16::from_be_bytes([*high, *low])).saturating_add(5);
            next(bytes, left)
        }
        _ => Next::Unknown,
    }
}

/// Returns whether a side has said all.
fn is_end(more: io::Result<usize>) -> Result<bool, Broken> {
    more.map(|length| length == 0).map_err(|_| Broken::Gone)
}
