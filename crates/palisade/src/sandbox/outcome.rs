//! What became of a call.

use std::path::PathBuf;
use std::time::Duration;

use palisade_apply::{Bound, End, Stream};
use palisade_plan::{Enforced, Kept, Level, Note};
use palisade_policy::decide::{Answer, Axis, Reason};

use super::hint::Under;
use super::network::Traffic;
use super::reply::Unconfirmed;

/// What became of a call: it was refused, or it ran and ended in some way.
///
/// [`Outcome::json`] is the form for programs in other languages (`schema/outcome.json`).
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What was executed, or would have been.
    pub argv: Vec<String>,
    /// The shell that read the text, if there was one.
    pub shell: Option<&'static str>,
    /// The project.
    pub root: PathBuf,
    /// The folder it ran in.
    pub cwd: PathBuf,
    /// The profile it ran under; none if it did not run, or nothing confined it.
    pub under: Option<Under>,
    /// How it came out.
    pub result: Done,
    /// What went through its network, if that was filtered.
    pub traffic: Option<Traffic>,
    /// What a person should know.
    pub notes: Vec<Note>,
}

/// How a call came out.
#[derive(Clone, Debug, PartialEq)]
pub enum Done {
    /// The policy says no. Nothing was started.
    Denied {
        /// Why, the first reason first.
        reasons: Vec<Reason>,
    },
    /// A person would have had to say yes, and did not. Nothing was started.
    Unconfirmed {
        /// Why it was asked.
        reasons: Vec<Reason>,
        /// Why that was no yes.
        because: Unconfirmed,
    },
    /// It was started behind its walls.
    Ran {
        /// What the supervisor saw.
        seen: Box<palisade_apply::Outcome>,
        /// Which end of an output that is too long was kept.
        keep: Kept,
    },
}

impl Outcome {
    /// The number of a call that was refused (Ruling 12).
    pub const DENIED: i32 = -100;
    /// The number of a call that took too long (Ruling 12).
    pub const TIMED_OUT: i32 = -101;

    /// Returns the number that programs read: −100 when it was refused, −101 when it took too long,
    /// 127 when there is no such program, 128+n when a signal ended it, and its own otherwise.
    pub fn exit_code(&self) -> i32 {
        match &self.result {
            Done::Denied { .. } | Done::Unconfirmed { .. } => Self::DENIED,
            Done::Ran { seen, .. } => seen.exit_code(),
        }
    }

    /// Returns the writes that were refused, if [`Job::trace_writes`](crate::Job::trace_writes)
    /// asked for them. They are predictions.
    pub fn violations(&self) -> &[palisade_apply::Violation] {
        match self.seen().map(|seen| &seen.violations) {
            Some(palisade_apply::Violations::Predicted(list)) => list,
            Some(palisade_apply::Violations::Unavailable) | None => &[],
        }
    }

    /// Returns what was written and started, if that was traced.
    pub fn used(&self) -> Option<&palisade_apply::Used> {
        self.seen().map(|seen| &seen.used)
    }

    /// Returns the number that a process which stands for the command ends with (Ruling 11).
    pub fn exit_status(&self) -> u8 {
        match self.exit_code() {
            Self::DENIED => 126,
            Self::TIMED_OUT => 124,
            code => u8::try_from(code & 0xff).unwrap_or(u8::MAX),
        }
    }

    /// Returns the signal that ended it.
    pub fn signal(&self) -> Option<i32> {
        match self.seen()?.end {
            End::Signalled(signal) => Some(signal),
            End::Stopped => Some(9),
            End::Exited(_) | End::TimedOut | End::Idle | End::NotFound | End::NotStarted(_) => None,
        }
    }

    /// Returns whether it was refused; then nothing was started.
    pub fn denied(&self) -> bool {
        matches!(self.result, Done::Denied { .. } | Done::Unconfirmed { .. })
    }

    /// Returns whether its program was started.
    pub fn executed(&self) -> bool {
        self.seen().is_some_and(|seen| !matches!(seen.end, End::NotFound | End::NotStarted(_)))
    }

    /// Returns whether it was ended for taking too long.
    pub fn timed_out(&self) -> bool {
        self.seen().is_some_and(palisade_apply::Outcome::timed_out)
    }

    /// Returns the limit of the policy that ended it, if one did.
    pub fn limit(&self) -> Option<Bound> {
        self.seen()?.limit
    }

    /// Returns how much of it all held while it ran; nothing is known of what did not run.
    pub fn level(&self) -> Option<Level> {
        Some(self.seen()?.level)
    }

    /// Returns what held while it ran, layer by layer.
    pub fn layers(&self) -> &[Enforced] {
        self.seen().map_or(&[], |seen| &seen.enforced)
    }

    /// Returns whether it ran, and ended with 0.
    pub fn ok(&self) -> bool {
        self.exit_code() == 0
    }

    /// Returns whether any output was dropped.
    pub fn truncated(&self) -> bool {
        self.seen().is_some_and(palisade_apply::Outcome::truncated)
    }

    /// Returns what was kept of its output.
    pub fn stdout(&self) -> &[u8] {
        self.seen().map_or(&[], |seen| &seen.stdout.bytes)
    }

    /// Returns what was kept of its errors.
    pub fn stderr(&self) -> &[u8] {
        self.seen().map_or(&[], |seen| &seen.stderr.bytes)
    }

    /// Returns its output as text; what is missing is marked by a line.
    pub fn stdout_text(&self) -> String {
        self.text(|seen| &seen.stdout)
    }

    /// Returns its errors as text; what is missing is marked by a line.
    pub fn stderr_text(&self) -> String {
        self.text(|seen| &seen.stderr)
    }

    /// Returns how long it ran.
    pub fn duration(&self) -> Duration {
        self.seen().map_or(Duration::ZERO, |seen| seen.duration)
    }

    /// Returns why it was refused, the first reason first.
    pub fn reasons(&self) -> &[Reason] {
        match &self.result {
            Done::Denied { reasons } | Done::Unconfirmed { reasons, .. } => reasons,
            Done::Ran { .. } => &[],
        }
    }

    /// Returns every check that refused it, in order (Ruling 14).
    pub fn axes(&self) -> Vec<Axis> {
        let strict = match self.result {
            Done::Denied { .. } => Answer::Deny,
            Done::Unconfirmed { .. } | Done::Ran { .. } => Answer::Ask,
        };
        let reasons = self.reasons().iter().filter(|reason| reason.answer == strict);
        let mut axes: Vec<Axis> = reasons.map(|reason| reason.axis).collect();
        axes.sort_unstable();
        axes.dedup();
        axes
    }

    /// Returns the stable code of why it did not simply run to its end.
    pub fn code(&self) -> Option<&'static str> {
        match &self.result {
            Done::Denied { reasons } => Some(reasons.first().map_or("denied", |first| first.code)),
            Done::Unconfirmed { .. } => Some("unconfirmed"),
            Done::Ran { seen, .. } => match seen.end {
                End::TimedOut => Some("timeout"),
                End::Idle => Some("idle"),
                End::Exited(_) | End::Signalled(_) | End::Stopped if seen.limit.is_some() => {
                    Some("limit")
                }
                End::Exited(_) => None,
                End::Signalled(_) => Some("signal"),
                End::Stopped => Some("stopped"),
                End::NotFound => Some("not-found"),
                End::NotStarted(_) => Some("not-started"),
            },
        }
    }

    /// Returns in words why it did not simply run to its end.
    pub fn reason(&self) -> Option<String> {
        let program = self.argv.first().map_or("", String::as_str);
        match &self.result {
            Done::Denied { reasons } => {
                Some(reasons.first().map_or("denied".into(), |first| first.message.clone()))
            }
            Done::Unconfirmed { reasons, because } => {
                let why = reasons.first().map_or("", |first| first.message.as_str());
                Some(format!("{because}: {why}"))
            }
            Done::Ran { seen, .. } => match (seen.end, seen.limit) {
                (End::Exited(_) | End::Signalled(_) | End::Stopped, Some(limit)) => {
                    Some(format!("it reached limits.{}", limit.word()))
                }
                (end, _) => ended(end, seen.duration, program),
            },
        }
    }
    pub(super) fn seen(&self) -> Option<&palisade_apply::Outcome> {
        match &self.result {
            Done::Ran { seen, .. } => Some(seen),
            Done::Denied { .. } | Done::Unconfirmed { .. } => None,
        }
    }

    fn text(&self, stream: fn(&palisade_apply::Outcome) -> &Stream) -> String {
        match &self.result {
            Done::Ran { seen, keep } => {
                let stream = stream(seen);
                marked(stream, &String::from_utf8_lossy(whole(stream, *keep)), *keep)
            }
            Done::Denied { .. } | Done::Unconfirmed { .. } => String::new(),
        }
    }
}

/// Tells in words how a command ended, if not by itself.
fn ended(end: End, duration: Duration, program: &str) -> Option<String> {
    match end {
        End::Exited(_) => None,
        End::Signalled(signal) => Some(format!("signal {signal} ended it")),
        End::TimedOut => Some(format!("timed out after {duration:.1?}")),
        End::Idle => Some("it wrote nothing for longer than it may".into()),
        End::Stopped => Some("it was stopped".into()),
        End::NotFound => Some(format!("`{program}` was not found")),
        End::NotStarted(errno) => {
            let why = std::io::Error::from_raw_os_error(errno);
            Some(format!("`{program}` cannot be started: {why}"))
        }
    }
}

/// Adds the line that says what is missing, at the end where it is.
pub(super) fn marked(stream: &Stream, text: &str, keep: Kept) -> String {
    match (stream.marker(), keep) {
        (None, Kept::Head | Kept::Tail) => text.to_owned(),
        (Some(marker), Kept::Head) if text.is_empty() || text.ends_with('\n') => {
            format!("{text}{marker}\n")
        }
        (Some(marker), Kept::Head) => format!("{text}\n{marker}\n"),
        (Some(marker), Kept::Tail) => format!("{marker}\n{text}"),
    }
}

/// Returns the bytes without the part of a character that the cut left over.
pub(super) fn whole(stream: &Stream, keep: Kept) -> &[u8] {
    let bytes = stream.bytes.as_slice();
    if !stream.truncated() {
        return bytes;
    }
    match keep {
        Kept::Head => match std::str::from_utf8(bytes) {
            Err(error) if error.error_len().is_none() => {
                bytes.get(..error.valid_up_to()).unwrap_or(bytes)
            }
            Ok(_) | Err(_) => bytes,
        },
        Kept::Tail => {
            let cut = bytes.iter().take(3).take_while(|byte| (0x80..0xc0).contains(*byte)).count();
            bytes.get(cut..).unwrap_or(bytes)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_leaves_no_half_character_and_is_marked_where_it_is() {
        let stream = |bytes: &[u8], dropped| Stream { bytes: bytes.to_vec(), dropped };
        let cut = "aü".as_bytes();
        #[rustfmt::skip]
        let cases = [
            (&b"ab\n"[..], 0, Kept::Head, &b"ab\n"[..], "ab\n"),
            (b"ab",        5, Kept::Head, b"ab",        "ab\nM\n"),
            (b"ab\n",      5, Kept::Head, b"ab\n",      "ab\nM\n"),
            (&cut[..2],    5, Kept::Head, b"a",         "a\nM\n"),
            (&cut[2..],    5, Kept::Tail, b"",          "M\n"),
            (b"ab",        5, Kept::Tail, b"ab",        "M\nab"),
        ];
        for (bytes, dropped, keep, kept, text) in cases {
            let stream = stream(bytes, dropped);
            assert_eq!(whole(&stream, keep), kept);
            let told = marked(&stream, &String::from_utf8_lossy(whole(&stream, keep)), keep);
            let marker = stream.marker().unwrap_or_default();
            assert_eq!(told, text.replace('M', &marker));
        }
    }
}
