//! Asking the person at the terminal.

mod clock;
mod rows;
mod turn;

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use palisade::{Answered, Confirm, HostQuestion, Question, Request, history};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcgetpgrp, tcsetattr,
};

use clock::Due;
use rows::Size;
use turn::Turn;

/// The person at the terminal, if there is one: not whoever feeds standard input.
#[derive(Debug)]
pub(crate) struct Terminal {
    /// Where the user's own locks lie.
    locks: Option<PathBuf>,
}

impl Terminal {
    pub(crate) fn of(request: &Request) -> Self {
        Self { locks: history::locks_of(request) }
    }
}

/// The longest answer that is read.
const LONGEST: usize = 256;

impl Confirm for Terminal {
    fn name(&self) -> &'static str {
        "terminal"
    }

    fn ask(&self, question: &Question<'_>) -> Answered {
        let Some(text) = question.text() else { return Answered::Nobody };
        at_terminal(self.locks.as_deref(), question.time, |terminal, due| {
            by_key(terminal, question, &text, due)
        })
    }

    fn ask_host(&self, question: &HostQuestion<'_>) -> Answered {
        // What is typed goes to the command then, and two readers of one terminal hear half each.
        if io::stdin().is_terminal() {
            return Answered::Nobody;
        }
        // Even so it may show something there: what is typed for that is no answer here.
        let text = format!("\n{}\nType the host's name to let it: ", question.text());
        at_terminal(self.locks.as_deref(), question.time, |terminal, due| {
            by_name(terminal, &text, due, |typed| typed.trim() == question.host)
        })
    }
}

/// Takes the terminal for one question. Whatever goes wrong means no.
fn at_terminal(
    locks: Option<&Path>,
    time: Option<Duration>,
    ask: impl FnOnce(&File, Option<Due>) -> io::Result<Answered>,
) -> Answered {
    let Ok(terminal) = OpenOptions::new().read(true).write(true).open("/dev/tty") else {
        return Answered::Nobody;
    };
    // In the background nobody looks, and reading would put us to sleep.
    if tcgetpgrp(&terminal).ok() != Some(rustix::process::getpgrp()) {
        return Answered::Nobody;
    }
    let due = time.and_then(Due::after);
    match Turn::take(&terminal, locks, due) {
        Ok(_turn) => ask(&terminal, due).unwrap_or(Answered::Nobody),
        Err(answer) => answer,
    }
}

/// Asks a question that one key answers.
fn by_key(
    terminal: &File,
    question: &Question<'_>,
    text: &str,
    due: Option<Due>,
) -> io::Result<Answered> {
    let always = if question.always.is_some() { "  [a] always" } else { "" };
    let choice = format!("\n[y] this once  [r] for this run{always}  [n] no: ");
    let keys = Keys::of(terminal)?;
    let mut size = keys.show(text, &choice)?;
    loop {
        let answer = match keys.next(due)? {
            None => Answered::Timeout,
            Some(_) if !keys.is_still(size) => {
                size = keys.show(&format!("\n{text}"), &choice)?;
                continue;
            }
            Some(Key::No) => Answered::No,
            Some(Key::Letter(b'y' | b'Y')) => Answered::Yes,
            Some(Key::Letter(b'r' | b'R')) => Answered::ForRun,
            Some(Key::Letter(b'a' | b'A')) => match question.always {
                Some(always) => return agree(&keys, always, due),
                None => continue,
            },
            Some(Key::Letter(b'n' | b'N' | b'q')) => Answered::No,
            // Others are no answer, and nor is what was pasted.
            Some(Key::Letter(_) | Key::Many) => continue,
        };
        keys.say(answer)?;
        return Ok(answer);
    }
}

/// Shows the rule that is saved, before it is.
fn agree(keys: &Keys<'_>, always: &palisade::Always, due: Option<Due>) -> io::Result<Answered> {
    let text = format!("always\n\n{}", always.text());
    let choice = "\n[y] save it and run  [n] no: ";
    let mut size = keys.show(&text, choice)?;
    loop {
        let answer = match keys.next(due)? {
            None => Answered::Timeout,
            Some(_) if !keys.is_still(size) => {
                size = keys.show(&text, choice)?;
                continue;
            }
            Some(Key::Letter(b'y' | b'Y')) => Answered::Always,
            Some(Key::No | Key::Letter(b'n' | b'N' | b'q')) => Answered::No,
            Some(Key::Letter(_) | Key::Many) => continue,
        };
        keys.say(answer)?;
        return Ok(answer);
    }
}

/// The keys of a terminal, one by one. It is as it was before once this goes.
struct Keys<'t> {
    terminal: &'t File,
    before: Termios,
}

/// What was pressed.
enum Key {
    /// Escape, Control-C, Control-D, or the terminal is gone.
    No,
    Letter(u8),
    /// Several at once: nobody types like that.
    Many,
}

impl<'t> Keys<'t> {
    fn of(terminal: &'t File) -> io::Result<Self> {
        let before = tcgetattr(terminal)?;
        let mut raw = before.clone();
        raw.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG);
        tcsetattr(terminal, OptionalActions::Now, &raw)?;
        Ok(Self { terminal, before })
    }

    /// Shows a question, and returns the size of the terminal that it was made for. What was typed
    /// before it was seen is no answer to it.
    fn show(&self, text: &str, choice: &str) -> io::Result<Size> {
        let mut terminal = self.terminal;
        let size = Size::of(terminal).ok_or_else(too_small)?;
        terminal.write_all(size.broken(text).as_bytes())?;
        terminal.write_all(choice.as_bytes())?;
        terminal.flush()?;
        tcflush(terminal, QueueSelector::IFlush)?;
        Ok(size)
    }

    /// Whether the rows stand as they were shown.
    fn is_still(&self, size: Size) -> bool {
        Size::of(self.terminal).is_some_and(|now| size.holds_on(now))
    }

    fn say(&self, answer: Answered) -> io::Result<()> {
        let mut terminal = self.terminal;
        let text = match answer {
            Answered::Yes => "yes",
            Answered::ForRun => "yes, for this run",
            Answered::Always => "yes, always",
            Answered::No => "no",
            Answered::Timeout => "\nNobody answered, which means no.",
            Answered::Nobody | Answered::Flood => "",
        };
        writeln!(terminal, "{text}")
    }

    /// Waits for a key; none if there is none in time.
    fn next(&self, due: Option<Due>) -> io::Result<Option<Key>> {
        let mut piece = [0; LONGEST];
        let Some(read) = read(self.terminal, &mut piece, due)? else { return Ok(None) };
        Ok(Some(match piece.get(..read) {
            None | Some([] | [0x1b, ..] | [3 | 4]) => Key::No,
            Some([letter]) => Key::Letter(*letter),
            Some(_) => Key::Many,
        }))
    }
}

impl Drop for Keys<'_> {
    fn drop(&mut self) {
        // Where the terminal is gone, there is nothing to give back.
        tcsetattr(self.terminal, OptionalActions::Now, &self.before).ok();
    }
}

fn too_small() -> io::Error {
    io::Error::other("the terminal is too small to read a question on")
}

/// Asks a question that a line answers.
fn by_name(
    mut terminal: &File,
    text: &str,
    due: Option<Due>,
    is_yes: impl Fn(&str) -> bool,
) -> io::Result<Answered> {
    let size = Size::of(terminal).ok_or_else(too_small)?;
    // What was typed before the question was seen is no answer to it.
    tcflush(terminal, QueueSelector::IFlush)?;
    write!(terminal, "{}", size.broken(text))?;
    terminal.flush()?;
    let mut typed = Vec::new();
    while !typed.contains(&b'\n') && typed.len() < LONGEST {
        let mut piece = [0; LONGEST];
        match read(terminal, &mut piece, due)? {
            None => {
                writeln!(terminal, "\nNobody answered, which means no.")?;
                return Ok(Answered::Timeout);
            }
            Some(0) => return Ok(Answered::No),
            Some(read) => typed.extend(piece.into_iter().take(read)),
        }
    }
    let yes = std::str::from_utf8(&typed).is_ok_and(is_yes);
    Ok(if yes { Answered::Yes } else { Answered::No })
}

/// How long one wait is at most: the kernel's own clock stands still while the machine sleeps.
const GLANCE: Duration = Duration::from_secs(1);

/// Reads what is typed; none if nothing is in time. What comes later is no answer, even if we could not
/// look before.
fn read(terminal: &File, piece: &mut [u8], due: Option<Due>) -> io::Result<Option<usize>> {
    let is_late = || due.is_some_and(Due::is_past);
    loop {
        if is_late() {
            return Ok(None);
        }
        let left = due.map(|due| due.left().min(GLANCE));
        let wait = left.map(|left| Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        });
        match poll(&mut [PollFd::new(&terminal, PollFlags::IN)], wait.as_ref()) {
            Ok(0) => continue,
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(errno) => return Err(errno.into()),
        }
        match rustix::io::read(terminal, &mut *piece) {
            Ok(_) if is_late() => return Ok(None),
            Ok(read) => return Ok(Some(read)),
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}
