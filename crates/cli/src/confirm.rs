//! Asking the person at the terminal.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use palisade::{Answered, Confirm, HostQuestion, Question};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{QueueSelector, tcflush, tcgetpgrp};

/// The person at the terminal, if there is one: not whoever feeds standard input.
#[derive(Debug)]
pub(crate) struct Terminal;

/// The longest answer that is read.
const LONGEST: usize = 256;

impl Confirm for Terminal {
    fn name(&self) -> &'static str {
        "terminal"
    }

    fn ask(&self, question: &Question<'_>) -> Answered {
        let Some(text) = question.text() else { return Answered::Nobody };
        let text = format!("{text}\n[y/N] ");
        ask(&text, question.time, crate::ui::is_yes)
    }

    fn ask_host(&self, question: &HostQuestion<'_>) -> Answered {
        // What is typed goes to the command then, and two readers of one terminal hear half each.
        if io::stdin().is_terminal() {
            return Answered::Nobody;
        }
        // Even so it may show something there: what is typed for that is no answer here.
        let text = format!("\n{}\nType the host's name to let it: ", question.text());
        ask(&text, question.time, |typed| typed.trim() == question.host)
    }
}

fn ask(text: &str, time: Option<Duration>, is_yes: impl Fn(&str) -> bool) -> Answered {
    let Ok(terminal) = OpenOptions::new().read(true).write(true).open("/dev/tty") else {
        return Answered::Nobody;
    };
    // In the background nobody looks, and reading would put us to sleep.
    if tcgetpgrp(&terminal).ok() != Some(rustix::process::getpgrp()) {
        return Answered::Nobody;
    }
    answer(&terminal, text, time, is_yes).unwrap_or(Answered::Nobody)
}

fn answer(
    mut terminal: &File,
    text: &str,
    time: Option<Duration>,
    is_yes: impl Fn(&str) -> bool,
) -> io::Result<Answered> {
    // What was typed before the question was seen is no answer to it.
    tcflush(terminal, QueueSelector::IFlush)?;
    write!(terminal, "{text}")?;
    terminal.flush()?;
    let due = time.and_then(|time| Instant::now().checked_add(time));
    let mut typed = Vec::new();
    while !typed.contains(&b'\n') && typed.len() < LONGEST {
        let left = due.map(|due| due.saturating_duration_since(Instant::now()));
        let wait = left.map(|left| Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        });
        match poll(&mut [PollFd::new(&terminal, PollFlags::IN)], wait.as_ref()) {
            Ok(0) => {
                writeln!(terminal, "\nNobody answered, which means no.")?;
                return Ok(Answered::Timeout);
            }
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(errno) => return Err(errno.into()),
        }
        let mut piece = [0; LONGEST];
        match rustix::io::read(terminal, &mut piece) {
            Ok(0) => return Ok(Answered::No),
            Ok(read) => typed.extend(piece.into_iter().take(read)),
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    let yes = std::str::from_utf8(&typed).is_ok_and(is_yes);
    Ok(if yes { Answered::Yes } else { Answered::No })
}
