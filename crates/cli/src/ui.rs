//! The only way out: data on standard output, everything else on standard error.

use std::env;
use std::io::{self, IsTerminal, Write as _};
use std::panic::{self, PanicHookInfo};

use clap::ValueEnum;
use palisade::policy::text::visible;
use rustix::termios::isatty;
use serde_json::Value as Json;

use crate::failure::Failure;

/// When to colour headings.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// For whom a command prints.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Format {
    Human,
    Json,
}

/// The terminal, or whatever stands in its place.
#[derive(Clone, Debug)]
pub(crate) struct Ui {
    color: Color,
}

impl Ui {
    pub(crate) fn new(color: Color) -> Self {
        Self { color }
    }

    /// Prints data. A reader that has seen enough is no failure.
    pub(crate) fn data(&self, text: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::io("stdout", "cannot write to standard output", &error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Prints a text that is written for another program. A terminal is not that program: it gets
    /// what it would act on spelled out.
    pub(crate) fn foreign(&self, text: &str) -> Result<(), Failure> {
        if !io::stdout().is_terminal() {
            return self.data(text);
        }
        let lines: Vec<String> = text.split('\n').map(visible).collect();
        self.data(&lines.join("\n"))
    }

    /// Prints a value for programs.
    pub(crate) fn json(&self, value: &Json) -> Result<(), Failure> {
        self.data(&spelled(&format!("{value:#}\n")))
    }

    /// Says something that is not data; headings are coloured.
    pub(crate) fn say(&self, text: &str) {
        let text = if self.colored() { paint(text) } else { text.into() };
        // Where standard error is gone, there is nobody left to tell.
        writeln!(io::stderr(), "{text}").ok();
    }

    /// Reports a failure: to a program on standard output, to a person on standard error.
    pub(crate) fn fail(&self, failure: &Failure, format: Format) {
        match format {
            Format::Human => self.say(&failure.screen()),
            Format::Json => {
                if let Err(lost) = self.json(&failure.json()) {
                    self.say(&failure.screen());
                    self.say(&lost.screen());
                }
            }
        }
    }

    /// Returns whether a person can be asked here.
    pub(crate) fn can_ask(&self) -> bool {
        isatty(rustix::stdio::stdin()) && isatty(rustix::stdio::stderr())
    }

    /// Asks a question that only `y` and `yes` answer with yes.
    pub(crate) fn agrees(&self, question: &str) -> bool {
        let mut answer = String::new();
        let mut err = io::stderr();
        let asked = write!(err, "{question} [y/N] ").and_then(|()| err.flush());
        asked.and_then(|()| io::stdin().read_line(&mut answer)).is_ok() && is_yes(&answer)
    }

    fn colored(&self) -> bool {
        match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                io::stderr().is_terminal() && env::var_os("NO_COLOR").is_none_or(|no| no.is_empty())
            }
        }
    }
}

/// Spells out in JSON what a terminal acts on: it stands only inside text, where an escape means the
/// same.
pub(crate) fn spelled(json: &str) -> String {
    let spelled = |c: char| {
        let mut units = [0; 2];
        let units = c.encode_utf16(&mut units).iter();
        units.map(|unit| format!("\\u{unit:04x}")).collect::<String>()
    };
    let hidden = |c: char| c != '\n' && visible(&c.to_string()) != c.to_string();
    if !json.chars().any(hidden) {
        return json.to_owned();
    }
    json.chars().map(|c| if hidden(c) { spelled(c) } else { c.to_string() }).collect()
}

/// Returns the start of a long line, and says that there is more.
pub(crate) fn cut(line: &str, most: usize) -> String {
    match line.char_indices().nth(most) {
        None => line.to_owned(),
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
    }
}

pub(crate) fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

/// Has a bug of ours say so in one line instead of a back trace.
pub(crate) fn announce_bugs() {
    panic::set_hook(Box::new(|bug| {
        writeln!(io::stderr(), "{}", bug_line(bug)).ok();
    }));
}

fn bug_line(bug: &PanicHookInfo<'_>) -> String {
    let place = bug.location().map(ToString::to_string).unwrap_or_default();
    let what = bug.payload_as_str().unwrap_or("unknown").replace('\n', " ");
    format!("error: internal error at {place}: {what}; nothing was run")
}

/// Colours the headings: red errors, yellow warnings, cyan hints. No meaning is lost without.
fn paint(text: &str) -> String {
    let lines = text.split('\n').map(|line| {
        let color = match line {
            _ if line.starts_with("error") => 31,
            _ if line.starts_with("warning") => 33,
            _ if line.starts_with("hint") => 36,
            _ => return line.to_owned(),
        };
        match line.split_once(':') {
            Some((heading, rest)) => format!("\u{1b}[1;{color}m{heading}:\u{1b}[0m{rest}"),
            None => line.to_owned(),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_yes_is_yes() {
        for (answer, yes) in [
            ("y\n", true),
            ("YES\r\n", true),
            ("\n", false),
            ("", false),
            ("n\n", false),
            ("yess\n", false),
            ("yes please\n", false),
            ("\u{1b}[Ay\n", false),
        ] {
            assert_eq!(is_yes(answer), yes, "{answer:?}");
        }
    }

    #[test]
    fn only_headings_are_coloured() {
        let painted = paint("error[x]: a: b\n  error: no\nhint: c");
        assert_eq!(
            painted,
            "\u{1b}[1;31merror[x]:\u{1b}[0m a: b\n  error: no\n\u{1b}[1;36mhint:\u{1b}[0m c"
        );
    }
}
