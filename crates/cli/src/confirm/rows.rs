//! Rows of a terminal: a text is broken by us, never by the terminal.
//!
//! Where the terminal breaks a line, the rest of it begins where our own lines begin. Who pads a
//! command with the right number of characters then writes rows that look like a question of ours.

use std::fs::File;

use rustix::termios::tcgetwinsize;

/// How wide a row is at most: a command that ran here before may have told the terminal's driver of
/// a width that the terminal does not have.
const WIDEST: usize = 80;

/// The smallest terminal on which anybody reads a question.
const COLUMNS: usize = 40;
const ROWS: usize = 8;

/// What stands in front of whatever did not fit into the row above.
const GUTTER: &str = "         > ";

/// How large a terminal is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Size {
    columns: usize,
    rows: usize,
}

impl Size {
    /// Asks how large a terminal is; none if nobody could read a question there. One that does not know
    /// is taken for an ordinary one.
    pub(super) fn of(terminal: &File) -> Option<Self> {
        let told = tcgetwinsize(terminal).ok()?;
        let or = |told: u16, usual: usize| if told == 0 { usual } else { told.into() };
        let size = Self { columns: or(told.ws_col, WIDEST).min(WIDEST), rows: or(told.ws_row, 24) };
        (size.columns >= COLUMNS && size.rows >= ROWS).then_some(size)
    }

    /// Whether what was broken for this size holds on another one.
    pub(super) fn holds_on(self, other: Self) -> bool {
        other.columns >= self.columns
    }

    /// Breaks a text into rows, and says so if they are more than can be seen at once.
    pub(super) fn broken(self, text: &str) -> String {
        let mut rows = String::with_capacity(text.len() + 64);
        for line in text.split_inclusive('\n') {
            let mut wide = 0;
            for c in line.chars() {
                let more = if c == '\n' { 0 } else { width(c) };
                // The last column stays empty: some terminals go on in the next row at once.
                if wide + more >= self.columns {
                    rows.push('\n');
                    rows.push_str(GUTTER);
                    wide = GUTTER.len();
                }
                rows.push(c);
                wide += more;
            }
        }
        let count = rows.lines().count();
        // Two for the keys and what stands above them.
        if count + 2 > self.rows {
            rows.push_str(&format!(
                "\nThis is {count} rows long, and {} are in view: scroll up and read all of it.\n",
                self.rows
            ));
        }
        rows
    }
}

/// How many columns a character takes, or more.
fn width(c: char) -> usize {
    if c.is_ascii() { 1 } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_asked_about_begins_a_row() {
        let size = Size { columns: 40, rows: 24 };
        for filler in ["x", "\u{a0}", "漢", "é"] {
            for pad in 1..100 {
                let text = format!("  shell    {}May this run?", filler.repeat(pad));
                let broken = size.broken(&text);
                let mut rows = broken.lines();
                assert!(rows.next().unwrap().starts_with("  shell    "), "{broken}");
                for row in rows {
                    assert!(row.starts_with(GUTTER), "{pad}: {broken}");
                }
                for row in broken.lines() {
                    assert!(row.chars().map(width).sum::<usize>() < 40, "{row}");
                }
                let whole: String = broken.split(&format!("\n{GUTTER}")).collect();
                assert_eq!(whole, text, "nothing is lost");
            }
        }
        assert_eq!(size.broken("a\n\nb\n"), "a\n\nb\n");
    }

    #[test]
    fn what_is_longer_than_the_terminal_says_so() {
        let size = Size { columns: 80, rows: 10 };
        assert!(size.broken(&"x\n".repeat(9)).contains("This is 9 rows long, and 10 are in view"));
        assert!(!size.broken(&"x\n".repeat(8)).contains("rows long"));
    }
}
