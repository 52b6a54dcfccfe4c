//! The head of a log: how far it goes, in a file beside it.
//!
//! It is one line of a fixed length, written at once and at one place: who is ended meanwhile leaves
//! the old one or the new one.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::hash::{Hash, Key};

/// The length of a head.
const LENGTH: usize = 512;

/// How far a log goes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Head {
    /// The number of the last record.
    pub(crate) sequence: u64,
    /// Its hash.
    pub(crate) hash: Hash,
    /// Where it ends in its file.
    pub(crate) length: u64,
    /// The number of the first record in that file.
    pub(crate) first: u64,
    /// When that file was begun, in seconds since 1970.
    pub(crate) began: u64,
    /// The number of that file's own in its file system.
    pub(crate) inode: u64,
}

/// What was found where a head should be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Found {
    /// Nothing.
    Nothing,
    /// Something that we did not write.
    Damaged,
    /// A head that the key did not sign.
    Foreign(Head),
    /// A head.
    Good(Head),
}

/// Returns where the head of a log lies.
pub(crate) fn beside(log: &Path) -> PathBuf {
    let mut path = log.as_os_str().to_owned();
    path.push(".head");
    path.into()
}

impl Head {
    /// The head of a log without a record.
    pub(crate) fn start(began: u64, inode: u64) -> Self {
        Self { sequence: 0, hash: Hash::NONE, length: 0, first: 1, began, inode }
    }

    /// Writes it, and returns what was written.
    pub(crate) fn write(&self, file: &File, key: Option<&Key>) -> io::Result<String> {
        let Self { sequence, hash, length, first, began, inode } = self;
        let mac = match key {
            Some(key) => format!("\"{}\"", self.mac(key)),
            None => "null".to_owned(),
        };
        let line = format!(
            "{{\"version\":1,\"sequence\":{sequence},\"hash\":\"{hash}\",\"length\":{length},\
             \"first\":{first},\"began\":{began},\"inode\":{inode},\"mac\":{mac}}}"
        );
        let line = format!("{line:<width$}\n", width = LENGTH - 1);
        file.write_all_at(line.as_bytes(), 0).map(|()| line)
    }

    /// Reads what is there. One that this process wrote itself is not looked at again.
    pub(crate) fn read(
        file: &File,
        key: Option<&Key>,
        own: Option<&(String, Self)>,
    ) -> io::Result<Found> {
        let mut bytes = [0; LENGTH + 1];
        let mut length = 0;
        while let Some(rest) = bytes.get_mut(length..).filter(|rest| !rest.is_empty()) {
            match file.read_at(rest, u64::try_from(length).unwrap_or(u64::MAX)) {
                Ok(0) => break,
                Ok(read) => length += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let bytes = bytes.get(..length).unwrap_or_default();
        Ok(match own {
            Some((text, head)) if text.as_bytes() == bytes => Found::Good(*head),
            Some(_) | None => Self::parse(bytes, key),
        })
    }

    pub(crate) fn parse(bytes: &[u8], key: Option<&Key>) -> Found {
        if bytes.is_empty() {
            return Found::Nothing;
        }
        let whole = bytes.len() == LENGTH && bytes.ends_with(b"\n");
        let read = serde_json::from_slice(bytes).ok().filter(|_| whole);
        let Some((head, mac)) = read.and_then(|value| Self::of(&value)) else {
            return Found::Damaged;
        };
        match key {
            Some(key) if mac != Some(head.mac(key)) => Found::Foreign(head),
            Some(_) | None => Found::Good(head),
        }
    }

    fn of(value: &Value) -> Option<(Self, Option<Hash>)> {
        let number = |name: &str| value[name].as_u64();
        let hash = |name: &str| Hash::read(value[name].as_str()?.as_bytes());
        let head = Self {
            sequence: number("sequence")?,
            hash: hash("hash")?,
            length: number("length")?,
            first: number("first")?,
            began: number("began")?,
            inode: number("inode")?,
        };
        (value["version"] == 1).then(|| (head, hash("mac")))
    }

    fn mac(&self, key: &Key) -> Hash {
        let Self { sequence, hash, length, first, began, inode } = self;
        key.sign(&format!("palisade head 1\n{sequence} {hash} {length} {first} {began} {inode}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_whole_or_not_at_all() {
        let file = tempfile();
        let (key, other) = (Key::new([1; 32]), Key::new([2; 32]));
        assert_eq!(Head::read(&file, Some(&key), None).unwrap(), Found::Nothing);
        let head = Head { sequence: u64::MAX, hash: Hash::of(b"x"), ..Head::start(7, u64::MAX) };
        head.write(&file, Some(&key)).unwrap();
        assert_eq!(Head::read(&file, Some(&key), None).unwrap(), Found::Good(head));
        assert_eq!(
            Head::read(&file, None, None).unwrap(),
            Found::Good(head),
            "who has no key believes"
        );
        assert_eq!(Head::read(&file, Some(&other), None).unwrap(), Found::Foreign(head));
        let mut bytes = [0; LENGTH];
        file.read_exact_at(&mut bytes, 0).unwrap();
        for at in 0..LENGTH {
            let mut other = bytes;
            other[at] ^= 1;
            // One more blank behind its end says nothing else.
            let found = Head::parse(&other, Some(&key));
            assert_ne!(found, Found::Good(head), "byte {at}");
            assert_eq!(Head::parse(&bytes[..at], Some(&key)) == Found::Nothing, at == 0);
        }
        head.write(&file, None).unwrap();
        assert_eq!(Head::read(&file, Some(&key), None).unwrap(), Found::Foreign(head), "unsigned");
    }

    fn tempfile() -> File {
        let folder = palisade_testkit::Project::new();
        let options = File::options().read(true).write(true).create(true).truncate(true).clone();
        options.open(folder.path("head")).unwrap()
    }
}
