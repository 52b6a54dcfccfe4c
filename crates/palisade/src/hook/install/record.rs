//! How a file was before a hook was put into it.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use sha2::{Digest as _, Sha256};

/// How a file was, and what names what it became.
#[derive(Clone, Debug)]
pub(super) struct Record {
    /// Its text; none if there was no file.
    pub(super) before: Option<String>,
    after: Option<String>,
}

/// Returns where the record of a file lies.
pub(super) fn place(state: &Path, file: &Path) -> PathBuf {
    state.join("hooks").join(format!("{}.json", hash(file.as_os_str().as_bytes())))
}

impl Record {
    pub(super) fn of(before: Option<String>, after: Option<&str>) -> Self {
        Self { before, after: after.map(|text| hash(text.as_bytes())) }
    }

    /// Whether a file has the text that it became.
    pub(super) fn is_of(&self, text: Option<&str>) -> bool {
        text.is_some() && self.after == text.map(|text| hash(text.as_bytes()))
    }

    /// Reads a record. One that cannot be read is none: the hook is then taken out by itself.
    pub(super) fn read(place: &Path) -> Option<Self> {
        let told: Json = serde_json::from_slice(&fs::read(place).ok()?).ok()?;
        let before = told.get("before")?;
        let before = if before.is_null() { None } else { Some(before.as_str()?.to_owned()) };
        Some(Self { before, after: Some(told.get("after")?.as_str()?.to_owned()) })
    }

    /// Writes it for nobody else to read: settings may hold secrets.
    pub(super) fn write(&self, place: &Path) -> io::Result<()> {
        let folder = place.parent().ok_or(io::ErrorKind::InvalidInput)?;
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        if let Err(error) = fs::remove_file(place)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(error);
        }
        let mut options = fs::OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(0o600).open(place)?;
        let told = json!({ "before": self.before, "after": self.after });
        file.write_all(told.to_string().as_bytes())
    }
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
