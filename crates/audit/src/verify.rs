//! Finding out whether a log is as it was written.

use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::FlockOperation;

use crate::hash::{Hash, Key};
use crate::head::{self, Found, Head};
use crate::log::{
    BATCH, Beside, COURTESY, Segment, checkpoint, is_signed, locked, plain_reading, segments,
};
use crate::record::{self, Line};
use crate::seal;
use crate::stamp::Stamp;

/// How many problems are told one by one.
const TOLD: usize = 100;

/// How long writers are waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verified {
    /// How many records there are.
    pub records: u64,
    /// The number of the first.
    pub first: Option<u64>,
    /// The number of the last.
    pub last: Option<u64>,
    /// How many files they lie in.
    pub files: usize,
    /// How many signatures hold.
    pub signatures: u64,
    /// What is not as it was written. The first hundred.
    pub problems: Vec<Problem>,
    /// How many more there are.
    pub more: u64,
    /// What should be known and is no sign of a change.
    pub notes: Vec<String>,
}

/// What is shown of a log.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum State {
    /// It is as it was written.
    Intact,
    /// It is not.
    Changed,
    /// Its chain holds, and there was no key to see who wrote it.
    Unproven,
}

impl State {
    /// Returns a name that never changes.
    pub fn word(self) -> &'static str {
        match self {
            Self::Intact => "intact",
            Self::Changed => "changed",
            Self::Unproven => "unproven",
        }
    }
}

/// Something that is not as it was written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Problem {
    /// A name that never changes.
    pub code: &'static str,
    /// The file.
    pub file: PathBuf,
    /// The line in it; none where it is about the whole.
    pub line: Option<u64>,
    /// What.
    pub message: String,
}

/// Verifies a log. It is looked at as it is at one moment; what is appended later does not count.
/// `from` is the number of the first record that has to be there: what lies before it was put away.
///
/// # Errors
///
/// When it cannot be read, or somebody holds its lock for long.
pub fn verify(log: &Path, key: Option<&Key>, from: u64) -> io::Result<Verified> {
    verify_beside(log, key, from, None)
}

/// Verifies a log whose writers keep their lock in a folder of their own
/// ([`Log::beside`](crate::Log::beside)).
///
/// # Errors
///
/// As [`verify`].
pub fn verify_beside(
    log: &Path,
    key: Option<&Key>,
    from: u64,
    beside: Option<&Path>,
) -> io::Result<Verified> {
    let Taken { files, head, size } = take(log, key, beside)?;
    let mut chain = Chain {
        key,
        from,
        next: None,
        beside: None,
        at_head: None,
        seen: Verified::default(),
        head,
    };
    let last = files.len().saturating_sub(1);
    for (number, (segment, file)) in files.into_iter().enumerate() {
        // Behind what was there when we looked, others may be writing.
        let most = if number == last && segment.first.is_none() { size } else { u64::MAX };
        let file = match file.map_or_else(|| plain_reading(&segment.path), Ok) {
            Ok(file) if segment.first.is_none() || is_ours(&file, key)? => file,
            Ok(_) | Err(_) if segment.first.is_some() => {
                // Were it in place of one of ours, records would be missing.
                chain.foreign(&segment.path);
                continue;
            }
            opened => opened?,
        };
        chain.seen.files += 1;
        chain.file(&segment, file, most)?;
    }
    chain.end(log);
    Ok(chain.seen)
}

/// A log at one moment.
struct Taken {
    files: Vec<(Segment, Option<File>)>,
    head: Option<Found>,
    /// How long the file is that is written.
    size: u64,
}

/// Whether a file that was put away has a record that the key sealed. Anybody may put another where
/// one is expected.
fn is_ours(file: &File, key: Option<&Key>) -> io::Result<bool> {
    if key.is_none() {
        return Ok(true);
    }
    let mut ours = false;
    let looked = record::lines::<Looked>(BufReader::new(file), |line| match line {
        Line::Whole(line) if seal::look(line, key).ours => {
            ours = true;
            Err(Looked::Enough)
        }
        Line::Whole(_) | Line::TooLong | Line::Torn(_) => Ok(()),
    });
    if let Err(Looked::Failed(error)) = looked {
        return Err(error);
    }
    (&*file).rewind()?;
    Ok(ours)
}

enum Looked {
    Enough,
    Failed(io::Error),
}

impl From<io::Error> for Looked {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

fn take(log: &Path, key: Option<&Key>, beside: Option<&Path>) -> io::Result<Taken> {
    let beside = beside.and_then(|folder| Beside::open(folder, log).ok());
    let shared = FlockOperation::NonBlockingLockShared;
    let busy = || {
        let busy = "another process has held its lock for five seconds";
        io::Error::new(io::ErrorKind::WouldBlock, busy)
    };
    if let Some(beside) = &beside
        && !locked(&beside.turn, shared, PATIENCE)?
    {
        return Err(busy());
    }
    let head = match plain_reading(&head::beside(log)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Err(error),
        // Something else lies there, and says nothing.
        Err(_) => Some(None),
        Ok(head) => Some(Some(head)),
    };
    if let Some(Some(head)) = &head {
        // Whoever reads the log can hold the head's own lock, which then says nothing.
        let patience = if beside.is_some() { COURTESY } else { PATIENCE };
        if !locked(head, shared, patience)? && beside.is_none() {
            return Err(busy());
        }
    }
    // The locks go with their descriptors, at the end of this function.
    let mut files = Vec::new();
    for segment in segments(log)? {
        // What was put away keeps its name and is written no more: there may be more such files than
        // can be open at once.
        let file = match segment.first {
            Some(_) => None,
            None => Some(plain_reading(&segment.path)?),
        };
        files.push((segment, file));
    }
    if files.is_empty() && head.is_none() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "there is no log"));
    }
    let written = files.last().and_then(|(_, file)| file.as_ref());
    let size = written.map_or(Ok(0), |file| file.metadata().map(|it| it.len()))?;
    let head = match head {
        None => None,
        Some(None) => Some(Found::Damaged),
        Some(Some(head)) => Some(Head::read(&head, key, None)?),
    };
    Ok(Taken { files, head, size })
}

struct Chain<'a> {
    key: Option<&'a Key>,
    from: u64,
    /// The stamp that the next record has to have.
    next: Option<Stamp>,
    /// The stamp that would follow on a record that is not ours, which the next one may do all the same.
    beside: Option<Stamp>,
    /// The hash of the record that the head speaks of.
    at_head: Option<Hash>,
    seen: Verified,
    head: Option<Found>,
}

impl Chain<'_> {
    fn foreign(&mut self, path: &Path) {
        let path = palisade_policy::text::visible(&path.to_string_lossy());
        self.note(format!("`{path}` has the name of a file of this log, and is none: passed over"));
    }

    fn file(&mut self, segment: &Segment, file: File, most: u64) -> io::Result<()> {
        let (mut number, path) = (0, segment.path.clone());
        let mut torn = 0;
        let reader = BufReader::with_capacity(1 << 20, file.take(most));
        record::lines::<io::Error>(reader, |line| {
            number += 1;
            match line {
                Line::Whole(line) => self.record(line, &path, number, segment),
                Line::TooLong => {
                    self.problem(
                        "no-record",
                        &path,
                        Some(number),
                        "it is too long for a record".into(),
                    );
                }
                Line::Torn(length) => torn = length,
            }
            Ok(())
        })?;
        if torn > 0 && segment.first.is_none() {
            let note =
                format!("its last {torn} bytes are a part of a record: who wrote it was ended");
            self.seen.notes.push(note);
        } else if torn > 0 {
            self.problem("cut", &path, None, format!("it ends within a record, {torn} bytes long"));
        }
        Ok(())
    }

    fn record(&mut self, line: &[u8], path: &Path, number: u64, segment: &Segment) {
        let Some((stamp, behind)) = Stamp::split(line) else {
            self.problem("no-record", path, Some(number), "it is no record".into());
            return;
        };
        let Stamp { sequence, previous } = stamp;
        if number == 1 && segment.first.is_some_and(|first| first != sequence) {
            let message =
                format!("the file begins with record {sequence}, and its name says another");
            self.problem("name", path, Some(1), message);
        }
        let seen = seal::look(line, self.key);
        let following = Stamp { sequence: sequence.saturating_add(1), previous: seen.hash };
        if self.key.is_some() && !seen.ours {
            let message = format!("your key did not seal this record {sequence}");
            self.problem("forged", path, Some(number), message);
            self.beside = Some(following);
            return;
        }
        let start = Stamp {
            sequence: self.from,
            // What lies before it cannot be looked at.
            previous: if self.from > 1 { previous } else { Hash::NONE },
        };
        let beside = self.beside.take().filter(|beside| beside.sequence == sequence);
        let expected = match self.next.unwrap_or(start) {
            next if next == stamp => next,
            next => beside.unwrap_or(next),
        };
        if sequence > expected.sequence {
            let (first, last) = (expected.sequence, sequence - 1);
            self.problem(
                "missing",
                path,
                Some(number),
                match first == last {
                    true => format!("record {first} is missing before it"),
                    false => format!("records {first} to {last} are missing before it"),
                },
            );
        } else if sequence < expected.sequence {
            let message = format!("record {sequence} stands where {} should", expected.sequence);
            self.problem("order", path, Some(number), message);
        } else if previous != expected.previous {
            let message = match sequence {
                1 => "the first record says that there was one before it".into(),
                _ => format!(
                    "record {} is not the one that record {sequence} followed",
                    sequence - 1
                ),
            };
            self.problem("edited", path, Some(number), message);
        }
        self.own(behind, line, stamp, (path, number));
        if self.head().is_some_and(|head| head.sequence == sequence) {
            self.at_head = Some(seen.hash);
        }
        self.seen.records += 1;
        self.seen.first.get_or_insert(sequence);
        self.seen.last = Some(sequence);
        self.next = Some(following);
    }

    /// Looks at what the log says of itself.
    fn own(&mut self, behind: &[u8], line: &[u8], stamp: Stamp, (path, number): (&Path, u64)) {
        let due = is_signed(stamp.sequence, if number == 1 { stamp.sequence } else { 0 });
        if !due && !is_own(behind) {
            return;
        }
        let Ok(value) = serde_json::from_slice::<serde_json::Value>(line) else {
            self.problem("no-record", path, Some(number), "it is no JSON".into());
            return;
        };
        if due || value["event"] == "checkpoint" {
            let mac = value["mac"].as_str().and_then(|mac| Hash::read(mac.as_bytes()));
            match self.key {
                None => {}
                Some(key) if mac == Some(checkpoint(key, stamp.sequence, stamp.previous)) => {
                    self.seen.signatures += 1;
                }
                Some(_) => {
                    let message = format!("the signature at record {} is not ours", stamp.sequence);
                    self.problem("signature", path, Some(number), message);
                }
            }
        }
        if let Some(head) = value["head"].as_str() {
            let message = format!(
                "the head was {head} before record {}: what stood there is unknown",
                stamp.sequence
            );
            self.problem("head", path, Some(number), message);
        }
        let lost = value["lost"].as_u64().unwrap_or(0);
        if lost > 0 {
            let note =
                format!("{lost} events before record {} could not be written", stamp.sequence);
            self.note(note);
        }
        let unproven = value["unproven"].as_u64().unwrap_or(0);
        if unproven > 0 {
            let message = format!(
                "{unproven} bytes before record {} stood behind the head, and nothing shows that they are ours",
                stamp.sequence
            );
            self.problem("unheaded", path, Some(number), message);
        }
        let torn = value["torn"].as_u64().unwrap_or(0);
        if torn > 0 {
            let note = format!(
                "an event before record {} was cut short: who wrote it was ended",
                stamp.sequence
            );
            self.note(note);
        }
    }

    /// Compares the end with the head.
    fn end(&mut self, log: &Path) {
        let path = head::beside(log);
        let last = self.seen.last.unwrap_or(self.from.saturating_sub(1));
        let head = match self.head {
            None => return self.problem("head", &path, None, "it is missing".into()),
            Some(Found::Nothing) if self.seen.records == 0 => return,
            Some(Found::Nothing) => return self.problem("head", &path, None, "it is empty".into()),
            Some(Found::Damaged) => {
                return self.problem("head", &path, None, "it is nothing that we wrote".into());
            }
            // What somebody else says of the end is worth nothing.
            Some(Found::Foreign(_)) => {
                return self.problem("head", &path, None, "its signature is not ours".into());
            }
            Some(Found::Good(head)) => head,
        };
        if head.sequence > last {
            let message = format!("it ends with record {last}, and there were {}", head.sequence);
            self.problem("truncated", log, None, message);
        } else if self.at_head.is_some_and(|hash| hash != head.hash) {
            let message = format!("record {} is not the one that was written", head.sequence);
            self.problem("edited", log, None, message);
        } else if last > head.sequence && self.key.is_none() {
            let behind = last - head.sequence;
            let message = format!(
                "{behind} records stand behind its head, and nothing shows that they are ours"
            );
            self.problem("unheaded", log, None, message);
        } else if last - head.sequence > BATCH {
            let message =
                format!("it goes on to record {last}, and {} were written", head.sequence);
            self.problem("ahead", log, None, message);
        } else if last > head.sequence {
            let behind = last - head.sequence;
            self.note(format!("{behind} records stand behind its head: who wrote them was ended"));
        }
    }

    fn head(&self) -> Option<Head> {
        match self.head {
            Some(Found::Good(head) | Found::Foreign(head)) => Some(head),
            Some(Found::Nothing | Found::Damaged) | None => None,
        }
    }

    fn note(&mut self, note: String) {
        if self.seen.notes.len() < TOLD {
            self.seen.notes.push(note);
        }
    }

    fn problem(&mut self, code: &'static str, file: &Path, line: Option<u64>, message: String) {
        if self.seen.problems.len() < TOLD {
            self.seen.problems.push(Problem { code, file: file.into(), line, message });
        } else {
            self.seen.more += 1;
        }
    }
}

/// Whether the log speaks of itself: such a record belongs to no run.
fn is_own(behind: &[u8]) -> bool {
    // A quote, a time of a fixed length, and a quote.
    const TIME: usize = "\",\"time\":\"2027-01-15T08:00:00.042Z".len();
    let rest = behind.get(TIME..).unwrap_or_default();
    let what = rest.strip_prefix(b"\",\"run\":\"\",\"event\":\"").unwrap_or_default();
    what.starts_with(b"checkpoint\"") || what.starts_with(b"recovered\"")
}

impl Verified {
    /// Returns whether nothing was found amiss. Without a key that says little ([`Self::state`]).
    pub fn is_intact(&self) -> bool {
        self.problems.is_empty()
    }

    /// Returns what is shown, with the key that it was looked at with.
    pub fn state(&self, key: Option<&Key>) -> State {
        match (self.is_intact(), key) {
            (false, _) => State::Changed,
            (true, Some(_)) => State::Intact,
            (true, None) => State::Unproven,
        }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        use palisade_policy::text::visible;
        let Self { code, file, line, message } = self;
        let file = visible(&file.to_string_lossy());
        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
        write!(f, "{file}{line}: {message} [{code}]")
    }
}
