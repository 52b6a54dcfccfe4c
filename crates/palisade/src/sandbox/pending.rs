//! A run as a future, without a runtime: a thread does the waiting, and wakes whoever asked.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;

use super::Sandbox;
use super::error::CannotRun;
use super::job::Job;
use super::outcome::Outcome;
use super::run::{Awaited, Stop};

/// A run that goes on in a thread of its own. It has begun before it is first polled; dropping it
/// ends the command.
///
/// ```no_run
/// # async fn example(sandbox: palisade::Sandbox) -> Result<(), palisade::CannotRun> {
/// let outcome = sandbox.spawn(["cargo", "test"]).await?;
/// assert!(outcome.ok());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "dropping it ends the command"]
pub struct Pending(Arc<Mutex<Shared>>);

#[derive(Debug, Default)]
struct Shared {
    ended: Option<Result<Outcome, CannotRun>>,
    waker: Option<Waker>,
    stop: Option<Stop>,
    cancelled: bool,
}

impl Pending {
    pub(super) fn new(sandbox: Sandbox, job: Job) -> Self {
        let shared = Arc::new(Mutex::new(Shared::default()));
        let theirs = Arc::clone(&shared);
        thread::spawn(move || {
            let done = catch_unwind(AssertUnwindSafe(|| {
                let run = sandbox.begin(job, Awaited::AtOnce)?;
                {
                    let mut shared = lock(&theirs);
                    shared.stop = run.stop();
                    if let (true, Some(stop)) = (shared.cancelled, &shared.stop) {
                        stop.now();
                    }
                }
                run.wait()
            }));
            let done = done
                .unwrap_or_else(|_| Err(CannotRun::Internal("the run's thread panicked".into())));
            let waker = {
                let mut shared = lock(&theirs);
                shared.ended = Some(done);
                shared.waker.take()
            };
            if let Some(waker) = waker {
                waker.wake();
            }
        });
        Self(shared)
    }

    /// Ends the command and all its descendants; the outcome then says so.
    pub fn cancel(&self) {
        let mut shared = lock(&self.0);
        shared.cancelled = true;
        if let Some(stop) = &shared.stop {
            stop.now();
        }
    }
}

impl Future for Pending {
    type Output = Result<Outcome, CannotRun>;

    /// # Panics
    ///
    /// Never: one that is polled after its end stays pending, as the contract of futures allows.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut shared = lock(&self.0);
        match shared.ended.take() {
            Some(ended) => Poll::Ready(ended),
            None => {
                shared.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.cancel();
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
