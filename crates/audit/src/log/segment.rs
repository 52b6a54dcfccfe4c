//! The files of a log: the one that is written, and those that were put away.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// One file of a log.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Segment {
    /// Where it lies.
    pub(crate) path: PathBuf,
    /// The number of its first record, by its name; none for the one that is written.
    pub(crate) first: Option<u64>,
}

/// Returns the name of the file that begins with a record.
pub(super) fn named(log: &Path, first: u64) -> PathBuf {
    let mut path = log.as_os_str().to_owned();
    path.push(format!(".{first:012}"));
    path.into()
}

/// Returns another name for it, which nobody can know before.
pub(super) fn beside(log: &Path, first: u64) -> io::Result<PathBuf> {
    let mut random = [0; 8];
    fs::File::open("/dev/urandom")?.read_exact(&mut random)?;
    let mut path = named(log, first).into_os_string();
    path.push(format!("-{:0OTHER$x}", u64::from_le_bytes(random)));
    Ok(path.into())
}

/// How long the second part of such a name is.
const OTHER: usize = 16;

/// Returns the number in the name of a file that was put away; none if it is no such name.
fn is_segment(log: &OsStr, name: &OsStr) -> Option<u64> {
    let digits = name.as_bytes().strip_prefix(log.as_bytes())?.strip_prefix(b".")?;
    let text = std::str::from_utf8(digits).ok()?;
    let is_digit = |it: u8| matches!(it, b'0'..=b'9' | b'a'..=b'f');
    let text = match text.split_once('-') {
        Some((text, other)) if other.len() == OTHER && other.bytes().all(is_digit) => text,
        Some(_) => return None,
        None => text,
    };
    let number: u64 = text.parse().ok().filter(|it| *it > 0)?;
    // One number has one name.
    (text == format!("{number:012}")).then_some(number)
}

/// Lists the files of a log in the order of their records.
///
/// # Errors
///
/// When the folder cannot be listed.
pub(crate) fn segments(log: &Path) -> io::Result<Vec<Segment>> {
    let name = log.file_name().unwrap_or_default();
    let folder = match log.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if let Some(first) = is_segment(name, &entry.file_name()) {
            found.push(Segment { path: entry.path(), first: Some(first) });
        }
    }
    found.sort_by_key(|it| it.first);
    if log.symlink_metadata().is_ok() {
        found.push(Segment { path: log.into(), first: None });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_put_away_has_one_name() {
        let log = OsStr::new("e.jsonl");
        for (name, first) in [
            ("e.jsonl.000000000001", Some(1)),
            ("e.jsonl.1234567890123", Some(1_234_567_890_123)),
            ("e.jsonl.000000000000", None),
            ("e.jsonl.1", None),
            ("e.jsonl.+00000000001", None),
            ("e.jsonl.000000000001-0123456789abcdef", Some(1)),
            ("e.jsonl.000000000001-0123456789abcdeF", None),
            ("e.jsonl.000000000001-", None),
            ("e.jsonl.head", None),
            ("e.jsonl", None),
            ("f.jsonl.000000000001", None),
        ] {
            assert_eq!(is_segment(log, OsStr::new(name)), first, "{name}");
        }
        let away = named(Path::new("/l/e.jsonl"), 7);
        assert_eq!(is_segment(log, away.file_name().unwrap()), Some(7));
        let other = beside(Path::new("/l/e.jsonl"), 7).unwrap();
        assert_eq!(is_segment(log, other.file_name().unwrap()), Some(7));
    }
}
