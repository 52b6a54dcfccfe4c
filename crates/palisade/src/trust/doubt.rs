//! Why something in the trust store is not believed.

use std::fmt;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::places::shown;

/// Why a stored agreement is not believed. It then counts as none; this is the warning to show.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Doubt {
    /// The file or folder in question.
    pub path: PathBuf,
    /// What is wrong with it.
    pub why: Why,
}

/// What is wrong with a file or folder of the trust store.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Why {
    /// It lies inside the project, which could then trust itself.
    InsideProject,
    /// It belongs to another user.
    ForeignOwner,
    /// Its group or everybody can write to it.
    WritableByOthers,
    /// It is a link, a pipe, a device, or a folder where a file should be.
    NotPlain,
    /// It has a second name somewhere, by which it could be changed.
    Linked,
    /// It is larger than any agreement.
    TooLarge,
    /// It does not hold an agreement.
    Malformed,
    /// It is about another project than its name says.
    OtherRoot,
    /// The system refused to open or to read it.
    Unreadable(io::ErrorKind),
}

impl Doubt {
    pub(super) fn new(path: &Path, why: Why) -> Self {
        Self { path: path.into(), why }
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "trust in `{}` does not count: {}", shown(&self.path), self.why)
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InsideProject => f.write_str("it lies inside the project itself"),
            Self::ForeignOwner => f.write_str("it belongs to another user"),
            Self::WritableByOthers => f.write_str("other users can write to it"),
            Self::NotPlain => f.write_str("it is not an ordinary file or folder"),
            Self::Linked => f.write_str("it has a second hard link"),
            Self::TooLarge => f.write_str("it is too large"),
            Self::Malformed => f.write_str("it is malformed"),
            Self::OtherRoot => f.write_str("it is about another project"),
            Self::Unreadable(kind) => write!(f, "it cannot be read: {kind}"),
        }
    }
}

/// Returns what is wrong with the owner or the mode of an open file or folder.
pub(super) fn exposed(found: &Metadata, uid: u32) -> Option<Why> {
    const GROUP_OR_WORLD_WRITABLE: u32 = 0o022;
    if found.uid() != uid {
        Some(Why::ForeignOwner)
    } else if found.mode() & GROUP_OR_WORLD_WRITABLE != 0 {
        Some(Why::WritableByOthers)
    } else {
        None
    }
}
