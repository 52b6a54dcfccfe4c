//! A table of tasks that are at work, drawn anew while they are.

use std::collections::VecDeque;
use std::fmt;
use std::time::{Duration, Instant};

use palisade::policy::text::visible;

use super::tasks::Ended;
use crate::ui::cut;

/// How a task stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum State {
    Waiting,
    Running,
    /// It ended with this code.
    Ended(u8),
    Denied,
    /// We failed before it ran.
    Failed,
    Skipped,
    /// It had been done before.
    Done,
}

/// One task in the table.
#[derive(Debug)]
pub(super) struct Row {
    name: String,
    agent: String,
    pub(super) state: State,
    since: Option<Instant>,
    took: Option<Duration>,
    last: VecDeque<String>,
}

/// The table on a terminal: how many lines of it stand there.
#[derive(Debug)]
pub(super) struct Table {
    lines: usize,
}

/// Lines of a task that are kept, and letters of one that are shown.
const KEPT: usize = 20;
const WIDTH: usize = 100;

impl State {
    pub(super) fn of(ended: &Ended) -> Self {
        match ended {
            Ended::Told(outcome) if outcome.denied() => Self::Denied,
            Ended::Told(outcome) => Self::Ended(outcome.exit_status()),
            Ended::Failed(_) => Self::Failed,
            Ended::Skipped("it was done before") => Self::Done,
            Ended::Skipped(_) => Self::Skipped,
        }
    }

    pub(super) fn is_over(self) -> bool {
        !matches!(self, Self::Waiting | Self::Running)
    }

    /// Whether what waits for it may begin.
    pub(super) fn is_good(self) -> bool {
        matches!(self, Self::Ended(0) | Self::Done)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waiting => f.write_str("waiting"),
            Self::Running => f.write_str("running"),
            Self::Ended(0) => f.write_str("ok"),
            Self::Ended(code) => write!(f, "exit {code}"),
            Self::Denied => f.write_str("denied"),
            Self::Failed => f.write_str("failed"),
            Self::Skipped => f.write_str("skipped"),
            Self::Done => f.write_str("done before"),
        }
    }
}

impl Row {
    pub(super) fn new(name: &str, agent: &str) -> Self {
        Self {
            name: visible(name),
            agent: visible(agent),
            state: State::Waiting,
            since: None,
            took: None,
            last: VecDeque::new(),
        }
    }

    pub(super) fn begin(&mut self) {
        (self.state, self.since) = (State::Running, Some(Instant::now()));
    }

    pub(super) fn end(&mut self, state: State) {
        (self.state, self.took) = (state, self.since.map(|since| since.elapsed()));
    }

    /// Remembers a line that the task printed.
    pub(super) fn hear(&mut self, line: &str) {
        if self.last.len() == KEPT {
            self.last.pop_front();
        }
        self.last.push_back(cut(line, 4 * WIDTH));
    }

    /// Returns the lines that were printed last.
    pub(super) fn last(&self) -> impl Iterator<Item = &str> {
        self.last.iter().map(String::as_str)
    }

    fn line(&self, (names, agents): (usize, usize)) -> String {
        let time = match (self.took, self.since) {
            (Some(took), _) => format!("{:.1} s", took.as_secs_f64()),
            (None, Some(since)) => format!("{:.1} s", since.elapsed().as_secs_f64()),
            (None, None) => String::new(),
        };
        let (name, agent, state) = (&self.name, &self.agent, self.state.to_string());
        let last = self.last.back().map(|line| visible(line)).unwrap_or_default();
        let text = format!("{name:names$}  {agent:agents$}  {state:11}  {time:>8}  {last}");
        cut(text.trim_end(), WIDTH)
    }
}

impl Table {
    pub(super) fn new() -> Self {
        Self { lines: 0 }
    }

    /// Returns the table, to be written over what was written of it before.
    pub(super) fn drawn(&mut self, rows: &[Row]) -> String {
        let widest = |part: fn(&Row) -> &str| {
            rows.iter().map(|row| part(row).chars().count()).max().unwrap_or_default().min(30)
        };
        let widths = (widest(|row| &row.name), widest(|row| &row.agent));
        // A line that is too long for the terminal ends at its edge: one that went on below would
        // be drawn over in part.
        let mut text = "\u{1b}[?7l".to_owned();
        if self.lines > 0 {
            text.push_str(&format!("\u{1b}[{}A", self.lines));
        }
        for row in rows {
            // What stood there may have been longer.
            text.push_str(&format!("\r\u{1b}[2K{}\n", row.line(widths)));
        }
        text.push_str("\u{1b}[?7h");
        self.lines = rows.len();
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_drawn_over_itself_and_what_tasks_print_does_nothing_to_the_terminal() {
        let mut rows = [Row::new("build", "codex"), Row::new("a\u{1b}[2Jb", "")];
        let mut table = Table::new();
        let first = table.drawn(&rows);
        assert!(!first.contains("\u{1b}[2A"), "nothing stands there yet");
        rows[0].begin();
        rows[0].hear("compiling\u{1b}]0;title\u{7}");
        let second = table.drawn(&rows);
        assert!(second.starts_with("\u{1b}[?7l\u{1b}[2A\r\u{1b}[2Kbuild"), "{second:?}");
        assert!(second.ends_with("\n\u{1b}[?7h"), "{second:?}");
        assert!(second.contains("running") && second.contains("compiling"));
        assert!(!second.contains("\u{1b}[2J") && !second.contains('\u{7}'), "{second:?}");
        assert_eq!(second.matches('\n').count(), 2);
    }

    #[test]
    fn only_the_last_lines_are_kept() {
        let mut row = Row::new("a", "");
        for number in 0..50 {
            row.hear(&number.to_string());
        }
        assert_eq!(
            row.last().collect::<Vec<_>>(),
            (30..50).map(|n| n.to_string()).collect::<Vec<_>>()
        );
        row.hear(&"x".repeat(10_000));
        assert!(row.last().all(|line| line.chars().count() <= 401));
    }

    #[test]
    fn what_waits_for_a_task_waits_for_its_success() {
        assert!(State::Ended(0).is_good() && State::Done.is_good());
        for bad in [State::Ended(1), State::Denied, State::Failed, State::Skipped] {
            assert!(bad.is_over() && !bad.is_good(), "{bad}");
        }
        assert!(!State::Waiting.is_over() && !State::Running.is_over());
    }
}
