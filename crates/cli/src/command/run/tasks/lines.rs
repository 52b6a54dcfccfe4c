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
    kept: Mutex<Kept>,
    taken: Condvar,
}

#[derive(Debug, Default)]
struct Kept {
    lines: Vec<Line>,
    bytes: usize,
    /// Whether nobody will look any more.
    closed: bool,
}

/// Longest line that is kept together.
const LONGEST: usize = 64 << 10;

/// Most bytes that are kept: who prints more waits until somebody has looked, as at a pipe.
const MOST: usize = 1 << 20;

impl Lines {
    /// Takes the lines that were printed since the last time.
    pub(super) fn take(&self) -> Vec<Line> {
        let mut kept = self.kept();
        let lines = mem::take(&mut kept.lines);
        kept.bytes = 0;
        drop(kept);
        self.0.taken.notify_all();
        lines
    }

    /// Returns what collects output as lines.
    pub(super) fn collect(&self, whose: (usize, bool)) -> Output {
        let mut done = Splitter { into: self.clone(), whose, begun: Vec::new() };
        Output::Each(Box::new(move |piece| done.take(piece)))
    }

    /// Says that nobody will look any more: what comes is thrown away, and who waits goes on.
    pub(super) fn close(&self) {
        self.kept().closed = true;
        self.0.taken.notify_all();
    }

    fn push(&self, line: Line) {
        let is_full = |kept: &mut Kept| kept.bytes >= MOST && !kept.closed;
        let waited = self.0.taken.wait_while(self.kept(), is_full);
        let mut kept = waited.unwrap_or_else(PoisonError::into_inner);
        if !kept.closed {
            // One of no length takes room, too.
            kept.bytes += line.1.len() + size_of::<Line>();
            kept.lines.push(line);
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
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

    #[test]
    fn when_nobody_will_look_any_more_nobody_waits() {
        let lines = Lines::default();
        let Output::Each(mut each) = lines.collect((0, false)) else { unreachable!("collected") };
        let (done, is_done) = mpsc::channel();
        thread::spawn(move || {
            each(&b"0123456789abcde\n".repeat(MOST));
            done.send(()).unwrap();
        });
        assert!(is_done.recv_timeout(Duration::from_millis(200)).is_err(), "it is full");
        lines.close();
        is_done.recv_timeout(Duration::from_secs(60)).unwrap();
        lines.take();
        lines.push(((0, false), "more".into()));
        assert!(lines.take().is_empty(), "and nothing is kept");
    }
}
