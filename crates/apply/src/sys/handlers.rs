//! Handlers of signals, and what there was before them.

use std::mem;
use std::ptr;

/// What there was before.
pub(crate) struct Handlers(Vec<(i32, libc::sigaction)>);

impl Handlers {
    /// Has `note` called for these signals, but for those that are ignored. It must be safe at any
    /// moment, in any thread, and keep `errno`.
    pub(super) fn put(signals: &[i32], note: extern "C" fn(libc::c_int)) -> Self {
        let mut handlers = Self(Vec::with_capacity(signals.len()));
        for signal in signals {
            // SAFETY: an all-zero `sigaction` is a valid one: it asks for the usual.
            let mut action: libc::sigaction = unsafe { mem::zeroed() };
            action.sa_flags = libc::SA_RESTART;
            action.sa_sigaction = note as *const () as usize;
            // SAFETY: as above.
            let mut before: libc::sigaction = unsafe { mem::zeroed() };
            // SAFETY: the call writes what there was to this stack; the null pointer changes
            // nothing.
            unsafe { libc::sigaction(*signal, ptr::null(), &raw mut before) };
            if before.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            // SAFETY: the call reads an action on this stack, whose handler is as safe as the caller
            // says.
            unsafe { libc::sigaction(*signal, &raw const action, ptr::null_mut()) };
            handlers.0.push((*signal, before));
        }
        handlers
    }

    /// Puts back what there was.
    pub(super) fn restore(&mut self) {
        for (signal, before) in self.0.drain(..) {
            // SAFETY: the call reads an action that it gave us itself.
            unsafe { libc::sigaction(signal, &raw const before, ptr::null_mut()) };
        }
    }
}

impl std::fmt::Debug for Handlers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handlers").finish_non_exhaustive()
    }
}
