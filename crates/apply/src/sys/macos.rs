//! What a process of macOS does to itself before it becomes a command, and signals of ours.

use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use rustix::process::{Resource, Rlimit, setrlimit, setsid};

use super::handlers::Handlers;

/// Gives a command a session of its own, without a terminal, and bounds.
pub(crate) fn own_session(command: &mut Command, limits: Vec<(Resource, u64)>) {
    let prepare = move || {
        setsid()?;
        for (resource, most) in &limits {
            let bound = Rlimit { current: Some(*most), maximum: Some(*most) };
            setrlimit(*resource, bound)?;
        }
        Ok(())
    };
    // SAFETY: the function runs between fork and exec, where only calls that are safe in a signal
    // handler are: setsid(2) and setrlimit(2) are plain system calls, the list was allocated
    // before, and an error is a number.
    unsafe { command.pre_exec(prepare) };
}

/// Signals that are noted instead of doing what they did; that is restored at the end.
#[derive(Debug)]
pub(crate) struct Caught(Handlers);

/// The signals that came, one bit for each.
static CAME: AtomicU32 = AtomicU32::new(0);

/// Whether somebody catches signals.
static HELD: AtomicBool = AtomicBool::new(false);

impl Caught {
    /// Catches `signals`, but for those that are ignored; nothing if signals are caught already.
    pub(crate) fn new(signals: &[i32]) -> Option<Self> {
        if HELD.swap(true, Ordering::SeqCst) {
            return None;
        }
        // The handler sets one bit.
        Some(Self(Handlers::put(signals, note)))
    }

    /// Returns the signals since the last time.
    pub(crate) fn taken(&self) -> Vec<i32> {
        let came = CAME.swap(0, Ordering::SeqCst);
        (0..32).filter(|signal| came & (1 << signal) != 0).collect()
    }
}

impl Drop for Caught {
    fn drop(&mut self) {
        self.0.restore();
        drop(self.taken());
        HELD.store(false, Ordering::SeqCst);
    }
}

/// Notes a signal. It runs at any moment, in any thread.
extern "C" fn note(signal: libc::c_int) {
    if let Ok(bit @ 0..32) = u32::try_from(signal) {
        CAME.fetch_or(1 << bit, Ordering::SeqCst);
    }
}
