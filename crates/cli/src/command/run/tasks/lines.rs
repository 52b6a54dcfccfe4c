//! What tasks print, line by line, until somebody has shown it.

use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use palisade::Output;

/// Whose line, whether on standard error, and what.
pub(super) type Line = ((usize, bool), String);

/// Lines of one task that nobody has looked at yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines(Arc<Pending>);

#[derive(Debug, Default)]
struct Pending {
    lines: Mutex<(Vec<Line>, usize)>,
    taken: Condvar,
}

/// Longest line that is kept together.
const LONGEST: usize = 64 << 10;

/// Most bytes that are kept: who prints more waits until somebody has looked, as at a pipe.
const MOST: usize = 1 << 20;

impl Lines {
    /// Takes the lines that were printed since the last time.
    pub(super) fn take(&self) -> Vec<Line> {
        let (lines, _) = mem::take(&mut *self.pending());
        self.0.taken.notify_all();
        lines
    }

    /// Returns what collects output as lines.
    pub(super) fn collect(&self, whose: (usize, bool)) -> Output {
        let mut done = Splitter { into: self.clone(), whose, begun: Vec::new() };
        Output::Each(Box::new(move |piece| done.take(piece)))
    }

    fn push(&self, line: Line) {
        let pending = self.pending();
        let is_full = |(_, bytes): &mut (Vec<Line>, usize)| *bytes >= MOST;
        let waited = self.0.taken.wait_while(pending, is_full);
        let mut pending = waited.unwrap_or_else(PoisonError::into_inner);
        // One of no length takes room, too.
        pending.1 += line.1.len() + size_of::<Line>();
        pending.0.push(line);
    }

    fn pending(&self) -> MutexGuard<'_, (Vec<Line>, usize)> {
        self.0.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Splitter {
    into: Lines,
    whose: (usize, bool),
    begun: Vec<u8>,
}

impl Splitter {
    fn take(&mut self, piece: &[u8]) {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            self.begun.extend(part.strip_suffix(b"\n").unwrap_or(part));
            if part.ends_with(b"\n") || self.begun.len() > LONGEST {
                self.tell();
            }
        }
    }

    fn tell(&mut self) {
        let line = String::from_utf8_lossy(&self.begun).into_owned();
        self.begun.clear();
        self.into.push((self.whose, line));
    }
}

impl Drop for Splitter {
    /// A last line need not end.
    fn drop(&mut self) {
        if !self.begun.is_empty() {
            self.tell();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn lines_are_told_whole_and_the_last_need_not_end() {
        let into = Lines::default();
        let mut splitter = Splitter { into: into.clone(), whose: (0, false), begun: Vec::new() };
        splitter.take(b"one\ntw");
        splitter.take(b"o\n\xff\nthree");
        drop(splitter);
        let lines: Vec<String> = into.take().into_iter().map(|(_, line)| line).collect();
        assert_eq!(lines, ["one", "two", "\u{fffd}", "three"]);
    }

    #[test]
    fn who_prints_faster_than_somebody_looks_waits() {
        let lines = Lines::default();
        let Output::Each(mut each) = lines.collect((3, true)) else { unreachable!("as collected") };
        let (done, is_done) = mpsc::channel();
        thread::spawn(move || {
            each(&b"0123456789abcde\n".repeat(MOST));
            done.send(()).unwrap();
        });
        assert!(is_done.recv_timeout(Duration::from_millis(200)).is_err(), "nobody has looked");
        let mut count = 0;
        while is_done.try_recv().is_err() {
            let taken = lines.take();
            assert!(taken.len() <= MOST / size_of::<Line>() + 1, "{}", taken.len());
            assert!(taken.iter().all(|(whose, line)| *whose == (3, true) && line.len() == 15));
            count += taken.len();
        }
        assert_eq!(count + lines.take().len(), MOST);
    }
}
