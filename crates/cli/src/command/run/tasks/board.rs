//! Which task may begin and what became of each, as all threads of a run see it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use palisade::Stop;

use super::super::table::{Row, State};
use super::Ended;
use crate::failure::Failure;

/// Everything that is known of the tasks while they are at work.
pub(super) struct Board {
    pub(super) rows: Vec<Row>,
    pub(super) ended: Vec<Option<Ended>>,
    pub(super) stops: Vec<Option<Stop>>,
    /// The first signal that asked for the end of all.
    pub(super) signal: Option<i32>,
    /// What became of tasks since somebody last looked.
    pub(super) news: Vec<(usize, News)>,
    turns: Vec<Turn>,
}

/// When a task's turn is.
pub(super) struct Turn {
    /// The tasks before it, by their place.
    pub(super) after: Vec<usize>,
    /// Whether it was done before, and is not run.
    pub(super) done: bool,
}

/// Something that a person is told of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum News {
    Begun,
    Ended(State),
}

/// The board, for several threads.
pub(super) struct Shared {
    board: Mutex<Board>,
    changed: Condvar,
}

impl Shared {
    pub(super) fn new(turns: Vec<Turn>, rows: Vec<Row>) -> Self {
        let (ended, stops) = turns.iter().map(|_| (None, None)).unzip();
        let board = Board { rows, ended, stops, signal: None, news: Vec::new(), turns };
        Self { board: Mutex::new(board), changed: Condvar::new() }
    }

    pub(super) fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn into_board(self) -> Board {
        self.board.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets all threads look again.
    pub(super) fn wake(&self) {
        self.changed.notify_all();
    }

    /// Does tasks until none is left that may begin. A bug of ours that panics ends its task as a
    /// failure: the others go on, and nobody waits for what never comes.
    pub(super) fn work(&self, does: &dyn Fn(usize) -> Ended) {
        while let Some(at) = self.next() {
            let ended = catch_unwind(AssertUnwindSafe(|| does(at))).unwrap_or_else(|_| {
                let message = "an internal error: the thread that attended this task has panicked";
                Ended::Failed(Failure::new("internal-error", message))
            });
            self.board().end(at, ended);
            self.wake();
        }
    }

    /// Waits for a task that may begin; none if no more will.
    fn next(&self) -> Option<usize> {
        let mut board = self.board();
        loop {
            board.skip();
            if let Some(at) = (0..board.turns.len()).find(|at| board.may_begin(*at)) {
                board.begin(at);
                return Some(at);
            }
            if board.rows.iter().all(|row| row.state != State::Waiting) {
                self.wake();
                return None;
            }
            board = self.changed.wait(board).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Board {
    /// Whether every task has ended, or will not begin.
    pub(super) fn is_over(&self) -> bool {
        self.ended.iter().all(Option::is_some)
    }

    /// Ends everything that runs, and lets nothing more begin.
    pub(super) fn stop(&mut self, signal: i32) {
        self.signal.get_or_insert(signal);
        self.stops.iter().flatten().for_each(Stop::now);
    }

    fn begin(&mut self, at: usize) {
        if let Some(row) = self.rows.get_mut(at) {
            row.begin();
        }
        self.news.push((at, News::Begun));
    }

    fn end(&mut self, at: usize, ended: Ended) {
        let state = match (State::of(&ended), self.signal) {
            // Who wanted the end of all is told of that signal, and not of the one that we sent.
            (State::Ended(_), Some(number)) if ended.was_stopped() => State::Ended(code_of(number)),
            (state, _) => state,
        };
        if let Some(row) = self.rows.get_mut(at) {
            row.end(state);
        }
        if let Some(slot) = self.ended.get_mut(at) {
            *slot = Some(ended);
        }
        if let Some(stop) = self.stops.get_mut(at) {
            *stop = None;
        }
        self.news.push((at, News::Ended(state)));
    }

    fn may_begin(&self, at: usize) -> bool {
        let waits = self.rows.get(at).is_some_and(|row| row.state == State::Waiting);
        let done =
            |other: &usize| matches!(self.rows.get(*other), Some(row) if row.state.is_good());
        waits && self.turns.get(at).is_some_and(|turn| turn.after.iter().all(done))
    }

    /// Gives up on tasks whose turn never comes.
    fn skip(&mut self) {
        for (at, turn) in self.turns.iter().enumerate() {
            let bad = |other: &usize| matches!(self.rows.get(*other), Some(row) if row.state.is_over() && !row.state.is_good());
            let why = if self.signal.is_some() {
                "everything was ended"
            } else if turn.after.iter().any(bad) {
                "a task before it failed"
            } else if turn.done {
                "it was done before"
            } else {
                continue;
            };
            let Some(row) = self.rows.get_mut(at).filter(|row| row.state == State::Waiting) else {
                continue;
            };
            row.state = if turn.done { State::Done } else { State::Skipped };
            if let Some(slot) = self.ended.get_mut(at) {
                *slot = Some(Ended::Skipped(why));
            }
        }
    }
}

/// Returns the code of what a signal ended.
pub(super) fn code_of(signal: i32) -> u8 {
    128_u8.saturating_add(u8::try_from(signal).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;

    fn shared(after: &[&[usize]]) -> Shared {
        let turns = after.iter().map(|it| Turn { after: it.to_vec(), done: false }).collect();
        Shared::new(turns, after.iter().map(|_| Row::new("task", "")).collect())
    }

    /// Works with some threads, which must not take for ever; returns how each task ended.
    fn worked(shared: Shared, jobs: usize, does: fn(usize) -> Ended) -> Vec<String> {
        let (done, is_done) = mpsc::channel();
        thread::spawn(move || {
            thread::scope(|scope| {
                (0..jobs).for_each(|_| drop(scope.spawn(|| shared.work(&does))));
            });
            done.send(shared.into_board()).unwrap();
        });
        let board = is_done.recv_timeout(Duration::from_secs(60)).expect("nobody waits for ever");
        assert!(board.is_over());
        board.rows.iter().map(|row| row.state.to_string()).collect()
    }

    #[test]
    fn a_thread_that_panics_fails_its_task_and_no_other() {
        let does: fn(usize) -> Ended = |at| {
            assert_ne!(at, 1, "a bug made for this test");
            Ended::Skipped("it was done before")
        };
        for jobs in [1, 2, 5] {
            // 2 waits for the one that panics, and 4 for one that does not.
            let ended = worked(shared(&[&[], &[], &[1], &[], &[0, 3]]), jobs, does);
            assert_eq!(
                ended,
                ["done before", "failed", "skipped", "done before", "done before"],
                "{jobs}"
            );
        }
    }

    #[test]
    fn what_panicked_is_told_as_a_failure_of_ours() {
        let board = shared(&[&[]]);
        board.work(&|_| panic!("a bug made for this test"));
        let board = board.into_board();
        let Some(Some(Ended::Failed(failure))) = board.ended.first() else { panic!("no failure") };
        assert_eq!(failure.json()["error"]["code"], "internal-error");
        assert_eq!(board.news, [(0, News::Begun), (0, News::Ended(State::Failed))]);
    }
}
