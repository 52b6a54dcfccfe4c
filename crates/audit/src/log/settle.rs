//! Finding out where a log ends, whatever became of who wrote to it before.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;
use std::time::SystemTime;

use super::{BATCH, appending, seconds, segment};
use crate::event::{HeadTrouble, Recovered};
use crate::hash::Hash;
use crate::head::{Found, Head};
use crate::record;
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
    now: SystemTime,
) -> io::Result<Settled> {
    let (head, trouble) = match found {
        Found::Good(head) => (Some(head), None),
        Found::Foreign(head) => (Some(head), Some(HeadTrouble::Foreign)),
        Found::Damaged => (None, Some(HeadTrouble::Damaged)),
        Found::Nothing => (None, None),
    };
    let mut meta = file.metadata()?;
    if head.is_some_and(|head| head.inode != meta.ino() || head.length != meta.len())
        || meta.nlink() == 0
    {
        // Somebody began another file, or took this one away.
        *file = appending(log)?;
        meta = file.metadata()?;
    }
    let (size, inode) = (meta.len(), meta.ino());
    let Some(mut head) = head else { return without_head(file, size, inode, trouble, now) };
    let mut recovered = Recovered { head: trouble, ..Recovered::default() };
    if head.inode == inode && head.length == size {
        return Ok(Settled { head, recovered });
    }
    if head.inode != inode {
        head.inode = inode;
        // Who put the last file away was ended before it could say so.
        if segment::named(log, head.first).symlink_metadata().is_ok() {
            head.first = head.sequence + 1;
            head.began = seconds(now);
            head.length = 0;
        }
    }
    follow(file, size, &mut head, &mut recovered)?;
    Ok(Settled { head, recovered })
}

/// Goes through what stands behind the head: records that belong there are taken, and a part of one is
/// taken off. What is neither stays, and is for `verify` to find.
fn follow(file: &File, size: u64, head: &mut Head, recovered: &mut Recovered) -> io::Result<()> {
    if size <= head.length {
        head.length = size;
        return Ok(());
    }
    let most = u64::try_from(record::LONGEST).unwrap_or(u64::MAX).saturating_mul(BATCH);
    let behind = size - head.length;
    let bytes = if behind > most { Vec::new() } else { read(file, head.length, behind)? };
    let (mut next, mut rest) = (*head, bytes.as_slice());
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let (line, after) = rest.split_at(end);
        let own = Stamp { sequence: next.sequence + 1, previous: next.hash };
        if Stamp::read(line) != Some(own) {
            break;
        }
        next.sequence += 1;
        next.hash = Hash::of(line);
        next.length += u64::try_from(end + 1).unwrap_or(u64::MAX);
        rest = after.get(1..).unwrap_or_default();
    }
    let whole = behind <= most && !rest.contains(&b'\n');
    if whole && next.sequence - head.sequence <= BATCH {
        *head = next;
        recovered.torn = u64::try_from(rest.len()).unwrap_or(u64::MAX);
        if recovered.torn > 0 {
            file.set_len(next.length)?;
        }
        return Ok(());
    }
    // Not ours. What is written next begins on a line of its own.
    if read(file, size - 1, 1)? != b"\n" {
        super::whole(file, b"\n")?;
    }
    head.length = file.metadata()?.len();
    Ok(())
}

/// Goes on where the log ends, though nothing says that it ends there. That is told for good.
fn without_head(
    file: &File,
    size: u64,
    inode: u64,
    trouble: Option<HeadTrouble>,
    now: SystemTime,
) -> io::Result<Settled> {
    let mut head = Head::start(seconds(now), inode);
    let mut recovered = Recovered { head: trouble, ..Recovered::default() };
    if size == 0 {
        return Ok(Settled { head, recovered });
    }
    recovered.head = trouble.or(Some(HeadTrouble::Missing));
    let no_log = || {
        let other = "it holds lines that are no records; move it away, or name another file";
        io::Error::new(io::ErrorKind::InvalidData, other)
    };
    let longest = u64::try_from(record::LONGEST).unwrap_or(u64::MAX);
    let first = read(file, 0, size.min(longest))?;
    let line = first.split(|byte| *byte == b'\n').next().unwrap_or_default();
    head.first = Stamp::read(line).ok_or_else(no_log)?.sequence;
    // Two of the longest: one whole, and a part of one.
    let from = size.saturating_sub(longest.saturating_mul(2));
    let last = read(file, from, size - from)?;
    let end = last.iter().rposition(|byte| *byte == b'\n').ok_or_else(no_log)?;
    let before = last.get(..end).unwrap_or_default();
    let line = before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let stamp = Stamp::read(line).ok_or_else(no_log)?;
    head.sequence = stamp.sequence;
    head.hash = Hash::of(line);
    head.length = from + u64::try_from(end + 1).unwrap_or(u64::MAX);
    recovered.torn = size - head.length;
    if recovered.torn > 0 {
        file.set_len(head.length)?;
    }
    Ok(Settled { head, recovered })
}

fn read(file: &File, from: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
    file.read_exact_at(&mut bytes, from)?;
    Ok(bytes)
}
