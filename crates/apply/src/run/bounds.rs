//! Which bound a run has met, and when the next one is.

use std::time::Instant;

use palisade_plan::Bounds;

use super::outcome::{Bound, End, Usage};

/// Returns the limit that an end tells of: by itself, or by the number that a shell makes of the
/// signal that ended its child. A number may be anything: that of the processor's time counts only if
/// so much was used, and that of a file's length only if one `is_full`, with that many bytes.
pub(super) fn ended_by(
    end: End,
    bounds: &Bounds,
    usage: Usage,
    is_full: impl FnOnce(u64) -> bool,
) -> Option<Bound> {
    let (signal, is_told) = match end {
        End::TimedOut => return Some(Bound::Time),
        End::Idle => return Some(Bound::Idle),
        End::Signalled(signal) => (signal, true),
        End::Exited(code) => (code - 128, false),
        End::Stopped | End::NotFound | End::NotStarted(_) => return None,
    };
    let used = usage.user + usage.system;
    match signal {
        libc::SIGXCPU => bounds.cpu.filter(|most| is_told || used >= *most).map(|_| Bound::Cpu),
        libc::SIGXFSZ => {
            bounds.file_size.filter(|most| is_told || is_full(*most)).map(|_| Bound::FileSize)
        }
        _ => None,
    }
}

/// Returns whether one process had all the memory that it may have, but for what it can do nothing
/// with: the kernel then refuses it more, and it ends in its own way.
pub(super) fn met_memory(bounds: &Bounds, usage: Usage) -> bool {
    bounds.memory.is_some_and(|most| usage.peak_memory >= most - most / 16)
}

/// Returns when time is up, and what that is then.
pub(super) fn due(bounds: &Bounds, started: Instant, last: Instant) -> Option<(Instant, End)> {
    let time =
        bounds.time.and_then(|time| started.checked_add(time)).map(|due| (due, End::TimedOut));
    let idle = bounds.idle.and_then(|idle| last.checked_add(idle)).map(|due| (due, End::Idle));
    [time, idle].into_iter().flatten().min_by_key(|(due, _)| *due)
}
