//! When a wait has become a long one, and memory is given back.

use std::time::{Duration, Instant};

use crate::sys::idle;

/// How long nothing has to happen: far longer than a short command takes.
const QUIET: Duration = Duration::from_millis(300);

/// The longest that it takes for a command that stirs again and again.
const MOST: Duration = Duration::from_secs(60);

/// A wait in which nothing may happen for long.
#[derive(Debug)]
pub(super) struct Quiet {
    since: Instant,
    after: Duration,
    /// Whether memory was given back since something happened.
    given: bool,
}

impl Quiet {
    /// Begins to watch, where memory is given back at all.
    pub(super) fn new(now: Instant) -> Option<Self> {
        idle::is_wanted().then_some(Self { since: now, after: QUIET, given: false })
    }

    /// Returns when it will have been quiet for long; never if memory was given back already.
    pub(super) fn due(&self) -> Option<Instant> {
        (!self.given).then(|| self.since + self.after)
    }

    /// Returns whether it has been quiet for long, once.
    pub(super) fn is_long(&mut self, now: Instant) -> bool {
        let is_long = self.due().is_some_and(|due| due <= now);
        self.given |= is_long;
        is_long
    }

    /// Something happens. Each time after memory was given back, the next takes twice as long.
    pub(super) fn stir(&mut self, now: Instant) {
        if std::mem::take(&mut self.given) {
            self.after = (self.after * 2).min(MOST);
        }
        self.since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_long_once_and_then_only_after_something_happened() {
        let begun = Instant::now();
        let at = |milliseconds| begun + Duration::from_millis(milliseconds);
        let mut quiet = Quiet { since: begun, after: QUIET, given: false };
        assert_eq!(quiet.due(), Some(at(300)));
        assert!(!quiet.is_long(at(299)));
        quiet.stir(at(100));
        assert!(!quiet.is_long(at(399)), "something happened");
        assert!(quiet.is_long(at(400)));
        assert!(!quiet.is_long(at(9000)), "nothing has happened since");
        assert_eq!(quiet.due(), None);
        quiet.stir(at(9000));
        assert_eq!(quiet.due(), Some(at(9600)), "more patient");
        for _ in 0..20 {
            quiet.is_long(at(1_000_000));
            quiet.stir(at(9000));
        }
        assert_eq!(quiet.due(), Some(at(69_000)), "but not for ever");
    }
}
