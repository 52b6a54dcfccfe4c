//! The stack that a start is about to use.

use std::ptr;

use super::{idle, raw};

/// How much of it a start uses.
const DEPTH: usize = 144 << 10;

/// Has the kernel give what lies below the part of the stack that is in use, all at once: one page
/// after the other takes it twice as long. Only in a program that starts one command and has the
/// stack that it began with.
pub(crate) fn expect() {
    let is_first = rustix::thread::gettid() == rustix::process::getpid();
    if !idle::is_wanted() || !is_first {
        return;
    }
    const POPULATE_WRITE: i32 = 23;
    let end = idle::floor(idle::here());
    let start = ptr::with_exposed_provenance_mut::<u8>(end.saturating_sub(DEPTH));
    let arguments = [start.expose_provenance(), 0, 0, 0, 0];
    // The kernel has the stack grow when it writes there itself, and where it may not, says so: which
    // processor this is, is no matter.
    // SAFETY: nothing of ours lies that far below what is in use, and the call writes four bytes.
    if unsafe { raw::call(libc::SYS_getcpu, arguments) }.is_err() {
        return;
    }
    // SAFETY: these pages are part of the stack now; to have them given changes nothing in them.
    unsafe { libc::madvise(start.cast(), DEPTH, POPULATE_WRITE) };
}

#[cfg(test)]
mod tests {
    use super::super::idle::PAGE;
    use super::*;

    #[test]
    fn a_start_uses_a_part_of_the_least_stack_and_whole_pages() {
        assert!(DEPTH < 1 << 20 && DEPTH.is_multiple_of(PAGE));
        // Not in a test, whose threads have small stacks.
        expect();
    }
}
