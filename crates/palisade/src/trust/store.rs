//! Where agreements are kept: one file per project, in a folder that only the user can change.

use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::folder::{Folder, MAX_PIN, lies_inside};
use super::{ContentHash, Doubt, Pin, Why};
use crate::places::shown;

/// The user's memory of what they agreed to, below their own state folder.
///
/// Only a value: nothing is opened before it is asked, and nothing is kept between two questions.
#[derive(Clone, Debug)]
pub struct TrustStore {
    state: PathBuf,
    uid: u32,
}

/// What the user thinks of one content of a project's policy files.
#[derive(Clone, Debug, Eq, PartialEq)]
#[must_use]
pub enum Status {
    /// They agreed to exactly this content.
    Trusted,
    /// They agreed to another content of this project.
    Changed,
    /// They never agreed, or the memory of it is not to be believed.
    Unknown {
        /// The warning to show, if something in the store was refused.
        doubt: Option<Doubt>,
    },
}

/// Everything in a store.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Listing {
    /// The agreements, by the path of their project.
    pub pins: Vec<Pin>,
    /// What lies in the store and is not believed.
    pub doubts: Vec<Doubt>,
}

/// Why the store was not changed. Whatever was agreed to before still is, and nothing else.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The store is in a state in which its content would not be believed.
    #[error("{doubt}; nothing was changed")]
    Doubtful {
        /// What is wrong.
        doubt: Doubt,
    },
    /// The agreement could not be written, for want of space or rights.
    #[error("cannot write to the trust store `{}`; nothing was pinned", shown(path))]
    NotPinned {
        /// The folder of the store.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The agreement could not be removed: it still holds.
    #[error("cannot remove from the trust store `{}`; nothing was revoked", shown(path))]
    NotRevoked {
        /// The folder of the store.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl TrustStore {
    /// Names the store of the user `uid` below `state_dir`. Touches nothing.
    pub fn new(state_dir: &Path, uid: u32) -> Self {
        Self { state: state_dir.into(), uid }
    }

    /// Answers what the user thinks of `content` in the project `root` (its real path).
    ///
    /// Whatever cannot be believed is [`Status::Unknown`], with the reason.
    pub fn status(&self, root: &Path, content: &ContentHash) -> Status {
        match self.find(root) {
            Ok(Some(pin)) if pin.content == *content => Status::Trusted,
            Ok(Some(_)) => Status::Changed,
            Ok(None) => Status::Unknown { doubt: None },
            Err(doubt) => Status::Unknown { doubt: Some(doubt) },
        }
    }

    /// Remembers that the user agreed to `content`, made of `files`, for the project `root`.
    ///
    /// Replaces an earlier agreement as a whole: whoever looks, also after a crash, sees the old
    /// one or the new one.
    ///
    /// # Errors
    ///
    /// The earlier agreement, if there was one, is then still in place.
    pub fn pin(
        &self,
        root: &Path,
        content: &ContentHash,
        files: &[PathBuf],
    ) -> Result<(), TrustError> {
        let not_pinned = |source| TrustError::NotPinned { path: self.folder(), source };
        let pin = Pin { root: root.into(), content: *content, files: files.into() };
        let text = pin.render().map_err(|error| not_pinned(error.into()))?;
        if text.len() as u64 > MAX_PIN {
            // It would be refused on reading: say so now.
            return Err(not_pinned(io::ErrorKind::FileTooLarge.into()));
        }
        self.refuse_inside(root)?;
        Folder::make(&self.state).map_err(not_pinned)?;
        let folder = Folder::open(&self.state, self.uid)?;
        let folder = folder.ok_or_else(|| not_pinned(io::ErrorKind::NotFound.into()))?;
        folder.replace(&key(root), text.as_bytes()).map_err(not_pinned)
    }

    /// Forgets the agreement for `root`, believed or not, and answers whether there was one.
    ///
    /// # Errors
    ///
    /// The agreement then still holds, as far as it did.
    pub fn revoke(&self, root: &Path) -> Result<bool, TrustError> {
        let Some(folder) = Folder::open(&self.state, self.uid)? else { return Ok(false) };
        folder
            .remove(&key(root))
            .map_err(|source| TrustError::NotRevoked { path: self.folder(), source })
    }

    /// Returns everything in the store, and what in it is not believed.
    pub fn list(&self) -> Listing {
        let mut listing = Listing::default();
        let opened = Folder::open(&self.state, self.uid).and_then(|folder| match folder {
            Some(folder) => folder.names().map(|names| Some((folder, names))),
            None => Ok(None),
        });
        let (folder, names) = match opened {
            Ok(Some(opened)) => opened,
            Ok(None) => return listing,
            Err(doubt) => return Listing { doubts: vec![doubt], ..listing },
        };
        for name in names.into_iter().filter(|name| name.ends_with(SUFFIX)) {
            match folder.read(&name) {
                Ok(Some(pin)) if key(&pin.root) == name => listing.pins.push(pin),
                Ok(Some(_)) => listing.doubts.push(folder.doubt(&name, Why::OtherRoot)),
                Ok(None) => {}
                Err(doubt) => listing.doubts.push(doubt),
            }
        }
        listing.pins.sort_by(|a, b| a.root.cmp(&b.root));
        listing
    }

    fn find(&self, root: &Path) -> Result<Option<Pin>, Doubt> {
        self.refuse_inside(root)?;
        let Some(folder) = Folder::open(&self.state, self.uid)? else { return Ok(None) };
        let name = key(root);
        match folder.read(&name)? {
            Some(pin) if pin.root != root => Err(folder.doubt(&name, Why::OtherRoot)),
            found => Ok(found),
        }
    }

    fn refuse_inside(&self, root: &Path) -> Result<(), Doubt> {
        if lies_inside(&self.state, root) {
            return Err(Doubt::new(&self.state, Why::InsideProject));
        }
        Ok(())
    }

    fn folder(&self) -> PathBuf {
        Folder::path(&self.state)
    }
}

impl From<Doubt> for TrustError {
    fn from(doubt: Doubt) -> Self {
        Self::Doubtful { doubt }
    }
}

impl TrustError {
    /// Returns a name that never changes, for logs, tests and the manual.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Doubtful { .. } => "trust-doubtful",
            Self::NotPinned { .. } => "trust-not-pinned",
            Self::NotRevoked { .. } => "trust-not-revoked",
        }
    }

    /// Returns what the user can do about it, when we know.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Doubtful { doubt } => match doubt.why {
                Why::InsideProject => Some("set `XDG_STATE_HOME` to a folder outside the project"),
                Why::WritableByOthers => Some("take the right away with `chmod go-w`"),
                Why::ForeignOwner
                | Why::NotPlain
                | Why::Linked
                | Why::TooLarge
                | Why::Malformed
                | Why::OtherRoot
                | Why::Unreadable(_) => Some("look at it, and move it away if it is not yours"),
            },
            Self::NotPinned { .. } | Self::NotRevoked { .. } => {
                Some("check the free space and the permissions of that folder")
            }
        }
    }
}

const SUFFIX: &str = ".json";

/// Returns the file name for a project: every path has one, and none can climb out.
fn key(root: &Path) -> String {
    let digest: [u8; 32] = Sha256::digest(root.as_os_str().as_bytes()).into();
    digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + SUFFIX
}

#[cfg(test)]
mod tests;
