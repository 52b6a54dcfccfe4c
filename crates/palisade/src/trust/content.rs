//! The name of one exact content.

use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};

/// SHA-256 over a project's policy file and everything it includes.
///
/// Each path and each content goes in with its length before it, so that no text can be moved from
/// one file to another, or from a name to a content, without another hash. The order in which the
/// files are given does not matter.
///
/// # Examples
///
/// ```
/// use palisade::trust::ContentHash;
/// use std::path::Path;
///
/// let hash = ContentHash::of([(Path::new(".palisade/policy.yaml"), b"version: 1".as_slice())]);
/// let other = ContentHash::of([(Path::new(".palisade/policy.yaml"), b"version: 2".as_slice())]);
/// assert_ne!(hash, other);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// Names the content of `files`: paths relative to the project, and what is in them.
    pub fn of<'a>(files: impl IntoIterator<Item = (&'a Path, &'a [u8])>) -> Self {
        let mut files: Vec<_> = files
            .into_iter()
            .map(|(path, content)| (path.as_os_str().as_bytes(), content))
            .collect();
        files.sort_unstable();

        let mut hash = Sha256::new();
        for (path, content) in files {
            for part in [path, content] {
                hash.update((part.len() as u64).to_le_bytes());
                hash.update(part);
            }
        }
        Self(hash.finalize().into())
    }

    /// Reads what [`Display`](fmt::Display) wrote: 64 lower-case hexadecimal digits, nothing else.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        if pairs.len() != bytes.len() || !rest.is_empty() {
            return None;
        }
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Returns the value of a digit. Capital letters are none: one hash has one spelling.
fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Files<'a> = &'a [(&'a str, &'a str)];

    fn hash(files: Files<'_>) -> ContentHash {
        ContentHash::of(files.iter().map(|(path, text)| (Path::new(*path), text.as_bytes())))
    }

    #[test]
    fn only_the_same_files_with_the_same_content_have_the_same_name() {
        let agreed = hash(&[("a", "one"), ("b", "two")]);
        #[rustfmt::skip]
        let cases: [(Files<'_>, bool, &str); 10] = [
            // files                              same    because
            (&[("a", "one"), ("b", "two")],       true,   "the same"),
            (&[("b", "two"), ("a", "one")],       true,   "order does not matter"),
            (&[("a", "one"), ("b", "twO")],       false,  "one byte differs"),
            (&[("a", "one\n"), ("b", "two")],     false,  "a line end counts"),
            (&[("a", "two"), ("b", "one")],       false,  "contents exchanged"),
            (&[("a", "onetwo"), ("b", "")],       false,  "text moved to another file"),
            (&[("ao", "ne"), ("b", "two")],       false,  "text moved into a name"),
            (&[("a", "one")],                     false,  "a file less"),
            (&[("a", "one"), ("b", "two"), ("c", "")], false, "an empty file more"),
            (&[],                                 false,  "nothing at all"),
        ];
        for (files, same, because) in cases {
            assert_eq!(hash(files) == agreed, same, "{files:?}: {because}");
        }
    }

    #[test]
    fn a_hash_has_one_spelling() {
        let hash = hash(&[("a", "one")]);
        let text = hash.to_string();
        assert_eq!(ContentHash::parse(&text), Some(hash));
        for bad in [
            text.to_uppercase(),
            format!("{text}0"),
            format!("{text}00"),
            format!(" {text}"),
            text[1..].into(),
            text.replace('a', "g") + "é",
            String::new(),
        ] {
            assert_eq!(ContentHash::parse(&bad), None, "{bad:?}");
        }
    }
}
