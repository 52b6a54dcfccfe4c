//! Finding out where a log ends, whatever became of who wrote to it before.

use std::fs::File;
use std::io::{self, BufReader};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;
use std::time::SystemTime;

use super::{BATCH, appending, seconds};
use crate::event::{HeadTrouble, Recovered};
use crate::hash::{Hash, Key};
use crate::head::{Found, Head};
use crate::record::{self, Line};
use crate::seal;
use crate::stamp::Stamp;

/// Where a log ends, and what was amiss.
#[derive(Debug)]
pub(super) struct Settled {
    pub(super) head: Head,
    pub(super) recovered: Recovered,
}

/// Finds out where the log ends. `file` is what it was when this process last looked.
pub(super) fn settle(
    log: &Path,
    file: &mut File,
    found: Found,
    key: Option<&Key>,
    now: SystemTime,
) -> io::Result<Settled> {
    let (head, trouble) = match found {
        // No log gets there by itself, and nothing can follow.
        Found::Good(head) | Found::Foreign(head) if head.sequence > u64::MAX / 2 => {
            (None, Some(HeadTrouble::Damaged))
        }
        Found::Good(head) => (Some(head), None),
        Found::Foreign(head) => (Some(head), Some(HeadTrouble::Foreign)),
        Found::Damaged => (None, Some(HeadTrouble::Damaged)),
        Found::Nothing => (None, None),
    };
    let is_ours = trouble.is_none();
    let mut meta = file.metadata()?;
    if head.is_some_and(|head| head.inode != meta.ino() || head.length != meta.len())
        || meta.nlink() == 0
    {
        // Somebody began another file, or took this one away.
        *file = appending(log)?;
        meta = file.metadata()?;
    }
    let (size, inode) = (meta.len(), meta.ino());
    // What somebody else says is believed only where there is nothing else to go by.
    let Some(mut head) = head.filter(|_| is_ours || size == 0) else {
        let start = Head::start(seconds(now), inode);
        return without_head(log, (file, size), key, start, trouble);
    };
    let mut recovered = Recovered { head: trouble, ..Recovered::default() };
    if head.inode == inode && head.length == size {
        return Ok(Settled { head, recovered });
    }
    if head.inode != inode {
        let was = std::mem::replace(&mut head.inode, inode);
        // Who put the last file away was ended before it could say so.
        if is_away(log, head.first, was)? {
            head.first = head.sequence + 1;
            head.began = seconds(now);
            head.length = 0;
        }
    }
    follow(file, size, key, &mut head, &mut recovered)?;
    Ok(Settled { head, recovered })
}

/// Whether a file was put away. Something else at its name is not that file.
fn is_away(log: &Path, first: u64, inode: u64) -> io::Result<bool> {
    let found = super::segments(log)?;
    Ok(found
        .iter()
        .filter(|it| it.first == Some(first))
        .any(|it| it.path.symlink_metadata().is_ok_and(|it| it.is_file() && it.ino() == inode)))
}

/// Goes through what stands behind the head: records that the key sealed are taken, and a part of one is
/// taken off. What is neither stays outside the chain, and is told.
fn follow(
    file: &File,
    size: u64,
    key: Option<&Key>,
    head: &mut Head,
    recovered: &mut Recovered,
) -> io::Result<()> {
    if size <= head.length {
        head.length = size;
        return begin_line(file, head);
    }
    let before = head.sequence;
    let (mut next, mut lines, mut torn) = (*head, true, 0);
    let behind = Behind { file, at: head.length, end: size };
    let read =
        record::lines::<Told>(BufReader::with_capacity(1 << 16, behind), |line| match line {
            Line::Whole(line) => {
                let own = Stamp { sequence: next.sequence + 1, previous: next.hash };
                let seen = seal::look(line, key);
                if !seen.ours || Stamp::read(line) != Some(own) {
                    lines = false;
                    return Err(Told::Enough);
                }
                next.sequence += 1;
                next.hash = seen.hash;
                next.length += length(line) + 1;
                Ok(())
            }
            Line::TooLong => {
                lines = false;
                Err(Told::Enough)
            }
            Line::Torn(bytes) => {
                torn = bytes;
                Ok(())
            }
        });
    if let Err(Told::Failed(error)) = read {
        return Err(error);
    }
    *head = next;
    if head.sequence - before > BATCH {
        recovered.head = recovered.head.or(Some(HeadTrouble::Old));
    }
    if lines && torn <= record::LONGEST {
        recovered.torn = size - head.length;
        if recovered.torn > 0 {
            file.set_len(head.length)?;
        }
        return Ok(());
    }
    recovered.unproven = size - head.length;
    head.length = size;
    begin_line(file, head)
}

/// What is written next begins on a line of its own.
fn begin_line(file: &File, head: &mut Head) -> io::Result<()> {
    if head.length > 0 && read(file, head.length - 1, 1)? != b"\n" {
        super::whole(file, b"\n")?;
        head.length += 1;
    }
    Ok(())
}

/// The bytes between two places of a file.
struct Behind<'a> {
    file: &'a File,
    at: u64,
    end: u64,
}

impl io::Read for Behind<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.end - self.at).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.file.read_at(buffer.get_mut(..most).unwrap_or_default(), self.at)?;
        self.at += u64::try_from(read).unwrap_or(0);
        Ok(read)
    }
}

enum Told {
    Enough,
    Failed(io::Error),
}

impl From<io::Error> for Told {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// Goes on where the log ends, though nothing says that it ends there. That is told for good.
fn without_head(
    log: &Path,
    (file, size): (&File, u64),
    key: Option<&Key>,
    mut head: Head,
    trouble: Option<HeadTrouble>,
) -> io::Result<Settled> {
    let mut recovered = Recovered { head: trouble, ..Recovered::default() };
    if size == 0 {
        // Files that were put away are all that is left to go on behind.
        // What else lies at such a name is none of them.
        let last = |away: &super::Segment| {
            let file = super::plain_reading(&away.path).ok()?;
            ending(&file, file.metadata().ok()?.len(), key).ok()
        };
        let away = super::segments(log)?;
        let mut away = away.iter().rev().filter(|it| it.first.is_some());
        if let Some(last) = away.find_map(last) {
            head = Head { sequence: last.sequence, hash: last.hash, ..head };
            head.first = head.sequence + 1;
            recovered.head = trouble.or(Some(HeadTrouble::Missing));
        }
        return Ok(Settled { head, recovered });
    }
    recovered.head = trouble.or(Some(HeadTrouble::Missing));
    let longest = u64::try_from(record::LONGEST).unwrap_or(u64::MAX);
    let first = read(file, 0, size.min(longest))?;
    let line = first.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let last = ending(file, size, key)?;
    head = Head { sequence: last.sequence, hash: last.hash, length: last.length, ..head };
    head.first = Stamp::read(line).ok_or_else(no_log)?.sequence;
    follow(file, size, key, &mut head, &mut recovered)?;
    Ok(Settled { head, recovered })
}

fn no_log() -> io::Error {
    let other = "it holds lines that are no records; move it away, or name another file";
    io::Error::new(io::ErrorKind::InvalidData, other)
}

/// The last record of a file.
struct Ending {
    sequence: u64,
    hash: Hash,
    length: u64,
}

fn ending(file: &File, size: u64, key: Option<&Key>) -> io::Result<Ending> {
    // Two of the longest: one whole, and a part of one.
    let longest = u64::try_from(record::LONGEST).unwrap_or(u64::MAX);
    let from = size.saturating_sub(longest.saturating_mul(2));
    let last = read(file, from, size - from)?;
    let (line, end) = last_record(&last, key).ok_or_else(no_log)?;
    let Stamp { sequence, .. } = Stamp::read(line).ok_or_else(no_log)?;
    Ok(Ending { sequence, hash: Hash::of(line), length: from + end })
}

/// Finds the last record that the key sealed, or where there is none, the last record; and where it ends.
/// What somebody without the key put behind it is told, and the chain goes on before that.
fn last_record<'a>(bytes: &'a [u8], key: Option<&Key>) -> Option<(&'a [u8], u64)> {
    let mut last = None;
    let mut end = bytes.iter().rposition(|byte| *byte == b'\n')?;
    loop {
        let before = bytes.get(..end)?;
        let begin = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let line = before.get(begin..)?;
        let found = Some((line, u64::try_from(end + 1).ok()?));
        if seal::look(line, key).ours {
            return found;
        }
        if Stamp::read(line).is_some() {
            last = last.or(found);
        }
        match begin.checked_sub(1) {
            Some(next) if key.is_some() || last.is_none() => end = next,
            Some(_) | None => return last,
        }
    }
}

fn length(line: &[u8]) -> u64 {
    u64::try_from(line.len()).unwrap_or(u64::MAX)
}

fn read(file: &File, from: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
    file.read_exact_at(&mut bytes, from)?;
    Ok(bytes)
}
