//! Ending an evaluation before it is done.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::sandbox::{CannotRun, Outcome, Run, Stop};

/// Ends an evaluation from another thread: whatever runs for it, agents and verifiers alike.
#[derive(Clone, Debug, Default)]
pub struct Stopping(Arc<State>);

#[derive(Debug, Default)]
struct State {
    stopped: AtomicBool,
    running: Mutex<Running>,
}

#[derive(Debug, Default)]
struct Running {
    next: u64,
    stops: BTreeMap<u64, Stop>,
}

impl Stopping {
    /// Ends what runs. Nothing more is begun, and what was cut short does not count.
    pub fn now(&self) {
        self.0.stopped.store(true, Ordering::SeqCst);
        self.running().stops.values().for_each(Stop::now);
    }

    /// Returns whether it is to end.
    pub fn is_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::SeqCst)
    }

    /// Waits for a run, which [`Self::now`] ends.
    pub(super) fn wait(&self, run: Run) -> Result<Outcome, CannotRun> {
        let number = run.stop().map(|stop| {
            let mut running = self.running();
            // It may have come before there was anything to stop.
            if self.is_stopped() {
                stop.now();
            }
            running.next += 1;
            let number = running.next;
            running.stops.insert(number, stop);
            number
        });
        let outcome = run.wait();
        if let Some(number) = number {
            self.running().stops.remove(&number);
        }
        outcome
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.0.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
