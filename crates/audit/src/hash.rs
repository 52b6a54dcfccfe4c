//! Hashes, signatures, and the key they are made with.

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use sha2::{Digest as _, Sha256};

/// A SHA-256.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Hash([u8; 32]);

impl Hash {
    /// What the first record of a chain has before it.
    pub const NONE: Self = Self([0; 32]);

    /// Returns the hash of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Writes 64 lower-case digits behind a text.
    pub(crate) fn push(self, text: &mut String) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digit = |it: u8| DIGITS.get(usize::from(it)).copied().map_or('?', char::from);
        text.reserve(64);
        text.extend(self.0.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
    }

    /// Reads 64 lower-case digits.
    pub(crate) fn read(text: &[u8]) -> Option<Self> {
        let mut hash = [0; 32];
        let (pairs, rest) = text.as_chunks::<2>();
        if pairs.len() != hash.len() || !rest.is_empty() {
            return None;
        }
        for (byte, [high, low]) in hash.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Some(Self(hash))
    }
}

/// A hash that is not finished.
pub(crate) struct Hashing(Sha256);

impl Hashing {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self(Sha256::new_with_prefix(bytes))
    }

    pub(crate) fn then(self, bytes: &[u8]) -> Hash {
        Hash(self.0.chain_update(bytes).finalize().into())
    }
}

fn digit(letter: u8) -> Option<u8> {
    match letter {
        b'0'..=b'9' => Some(letter - b'0'),
        b'a'..=b'f' => Some(letter - b'a' + 10),
        _ => None,
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.push(&mut text);
        f.write_str(&text)
    }
}

/// The key that records, heads and checkpoints are signed with (HMAC-SHA-256, RFC 2104). It is kept as
/// what the two hashes of a signature begin with.
#[derive(Clone)]
pub struct Key {
    inner: Sha256,
    outer: Sha256,
}

impl Key {
    /// Makes a key of bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        let begun = |with: u8| {
            let mut block = [with; 64];
            block.iter_mut().zip(bytes).for_each(|(byte, key)| *byte ^= key);
            Sha256::new_with_prefix(block)
        };
        Self { inner: begun(0x36), outer: begun(0x5c) }
    }

    /// Reads a key.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or is none.
    pub fn read(path: &Path) -> io::Result<Self> {
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
        let file = OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path)?;
        let mut text = Vec::new();
        file.take(128).read_to_end(&mut text)?;
        let none = || io::Error::new(io::ErrorKind::InvalidData, "it is no key");
        Hash::read(text.trim_ascii_end()).map(|hash| Self::new(hash.0)).ok_or_else(none)
    }

    /// Reads a key, or makes one where there is none. Two who make one at once get the same.
    ///
    /// # Errors
    ///
    /// When it can be neither read nor made.
    pub fn open(path: &Path) -> io::Result<Self> {
        match Self::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::make(path),
            read => read,
        }
    }

    fn make(path: &Path) -> io::Result<Self> {
        let mut bytes = [0; 32];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let mut new = path.as_os_str().to_owned();
        new.push(format!(".{}", std::process::id()));
        let new = PathBuf::from(new);
        // One of that name was left by somebody who was ended here.
        fs::remove_file(&new).ok();
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
        writeln!(file, "{}", Hash(bytes))?;
        let linked = fs::hard_link(&new, path);
        fs::remove_file(&new).ok();
        match linked {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            Ok(()) | Err(_) => Self::read(path),
        }
    }

    /// Signs a text.
    pub fn sign(&self, text: &str) -> Hash {
        self.sign_parts(&[text.as_bytes()])
    }

    /// Signs a text that lies in parts.
    fn sign_parts(&self, parts: &[&[u8]]) -> Hash {
        let mut inner = self.inner.clone();
        parts.iter().for_each(|part| inner.update(part));
        Hash(self.outer.clone().chain_update(inner.finalize()).finalize().into())
    }

    /// Signs what was hashed so far. More may follow, which the same hash then covers.
    pub(crate) fn sign_hashed(&self, what: &[u8], hashed: &Hashing) -> Hash {
        self.sign_parts(&[what, &hashed.0.clone().finalize()])
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use palisade_testkit::Project;

    use super::*;

    #[test]
    fn signatures_are_those_of_the_standard() {
        // RFC 4231, test case 2, with its short key filled up with zeros, as the standard does.
        let mut key = [0; 32];
        key[..4].copy_from_slice(b"Jefe");
        let signed = Key::new(key).sign("what do ya want for nothing?").to_string();
        assert_eq!(signed, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }

    #[test]
    fn a_hash_is_read_as_it_is_written() {
        let hash = Hash::of(b"x");
        assert_eq!(Hash::read(hash.to_string().as_bytes()), Some(hash));
        for wrong in ["", "00", &"0".repeat(63), &"0".repeat(65), &"G".repeat(64), &"A".repeat(64)]
        {
            assert_eq!(Hash::read(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn a_key_is_made_once_and_is_its_owners_alone() {
        let folder = Project::new();
        let path = folder.path("state/audit/key");
        let keys: Vec<_> = std::thread::scope(|scope| {
            let open = || Key::open(&path).map(|key| key.sign("x"));
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(open)).collect();
            threads.into_iter().map(|it| it.join().unwrap()).collect()
        });
        let own = Key::read(&path).unwrap().sign("x");
        // Threads of one process share the name of what they make; one of them has it.
        assert!(keys.iter().flatten().all(|key| *key == own), "{keys:?}");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::write(&path, "short").unwrap();
        assert!(Key::open(&path).is_err(), "what is no key is not replaced");
    }
}
