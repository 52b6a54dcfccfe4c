//! One agreement, and the text in which it is stored.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::ContentHash;

/// The user's agreement to one exact content of one project's policy files.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Pin {
    /// The real path of the project.
    pub root: PathBuf,
    /// What was agreed to.
    pub content: ContentHash,
    /// The files it was made of, relative to the project; for people, never for deciding.
    pub files: Vec<PathBuf>,
}

/// The stored form. A field that is missing, unknown or there twice makes it worthless.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    version: u32,
    root: String,
    content: String,
    files: Vec<String>,
}

const VERSION: u32 = 1;

impl Pin {
    /// Returns the stored form.
    pub(super) fn render(&self) -> serde_json::Result<String> {
        let stored = Stored {
            version: VERSION,
            root: escape(&self.root),
            content: self.content.to_string(),
            files: self.files.iter().map(|file| escape(file)).collect(),
        };
        serde_json::to_string_pretty(&stored).map(|text| text + "\n")
    }

    /// Reads the stored form, or nothing if it is not exactly that.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let stored: Stored = serde_json::from_slice(bytes).ok()?;
        if stored.version != VERSION {
            return None;
        }
        Some(Self {
            root: unescape(&stored.root)?,
            content: ContentHash::parse(&stored.content)?,
            files: stored.files.iter().map(|file| unescape(file)).collect::<Option<_>>()?,
        })
    }
}

/// Spells a path as text: bytes that are not UTF-8, and `%` itself, become `%XX`.
fn escape(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        text.push_str(&chunk.valid().replace('%', "%25"));
        for byte in chunk.invalid() {
            // Writing to a String cannot fail.
            write!(text, "%{byte:02X}").ok();
        }
    }
    text
}

fn unescape(text: &str) -> Option<PathBuf> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (code, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(code, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    Some(OsString::from_vec(bytes).into())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    fn hash(text: &str) -> ContentHash {
        ContentHash::of([(Path::new("policy.yaml"), text.as_bytes())])
    }

    fn pin(root: &[u8]) -> Pin {
        let root = Path::new(OsStr::from_bytes(root)).to_owned();
        Pin { root, content: hash("agreed"), files: vec![".palisade/policy.yaml".into()] }
    }

    #[test]
    fn what_was_stored_is_what_is_read() {
        for root in [&b"/home/ann/app"[..], b"/100%/%41", b"/\xFF\xFE/\xC3\xA9", b"/a\n\"b\\", b""]
        {
            let pin = pin(root);
            let text = pin.render().unwrap();
            assert_eq!(Pin::parse(text.as_bytes()), Some(pin), "{text}");
        }
    }

    #[test]
    fn anything_else_is_no_agreement() {
        let good = pin(b"/p").render().unwrap();
        let content = format!("\"content\": \"{}\",", hash("agreed"));
        let cases = [
            (String::new(), "empty"),
            ("null".into(), "another type"),
            (good.replace("\"version\": 1", "\"version\": 2"), "another version"),
            (good.replace(&content, ""), "no content"),
            (good.replace(&content, &content.repeat(2)), "the content twice"),
            (good.replace(&content, "\"content\": \"*\","), "a content that is no hash"),
            (good.replace("{", "{\"extra\": 1,"), "an unknown field"),
            (good.replace("/p", "/%4"), "a cut escape"),
            (good.replace("/p", "/%é"), "an escape that is no number"),
            (good.clone() + "{}", "something after it"),
            (good[..good.len() / 2].into(), "half of it"),
        ];
        assert!(Pin::parse(good.as_bytes()).is_some());
        for (text, because) in cases {
            assert_eq!(Pin::parse(text.as_bytes()), None, "{because}: {text}");
        }
    }

    /// The property of the whole store: only writing a hash makes that hash trusted.
    #[test]
    fn no_edit_of_one_byte_agrees_to_another_content_unless_it_writes_that_hash() {
        let good = pin(b"/p").render().unwrap().into_bytes();
        let agreed = hash("agreed");
        let place = good.windows(64).position(|part| part == agreed.to_string().as_bytes());
        let place = place.unwrap();
        for at in 0..good.len() {
            for byte in 0..=u8::MAX {
                let mut edited = good.clone();
                edited[at] = byte;
                let Some(read) = Pin::parse(&edited) else { continue };
                let written = String::from_utf8(edited[place..place + 64].to_vec()).unwrap();
                assert_eq!(read.content.to_string(), written, "byte {at} became {byte}");
            }
            let mut cut = good.clone();
            cut.remove(at);
            assert!(Pin::parse(&cut).is_none_or(|read| read.content == agreed), "cut {at}");
            assert!(Pin::parse(&good[..at]).is_none_or(|read| read.content == agreed));
        }
    }
}
