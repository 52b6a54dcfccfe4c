//! When it is too late for an answer: by a clock that goes on while we, or the machine, sleep.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A moment after which nothing is an answer any more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Due(Duration);

impl Due {
    /// The moment that comes when this much time has gone by.
    pub(super) fn after(time: Duration) -> Option<Self> {
        now().checked_add(time).map(Self)
    }

    /// Returns how much time is left.
    pub(super) fn left(self) -> Duration {
        self.0.saturating_sub(now())
    }

    /// Whether it has come.
    pub(super) fn is_past(self) -> bool {
        self.left().is_zero()
    }
}

fn now() -> Duration {
    #[cfg(target_os = "linux")]
    const CLOCK: ClockId = ClockId::Boottime;
    // There it counts the time in which the machine sleeps.
    #[cfg(not(target_os = "linux"))]
    const CLOCK: ClockId = ClockId::Monotonic;
    let now = clock_gettime(CLOCK);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(now.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_passes() {
        let due = Due::after(Duration::from_millis(5)).unwrap();
        std::thread::sleep(Duration::from_millis(6));
        assert!(due.is_past());
        assert!(!Due::after(Duration::from_secs(9)).unwrap().is_past());
        assert!(Due::after(Duration::MAX).is_none());
    }
}
