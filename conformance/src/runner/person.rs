//! Who starts the engine.

use std::env;
use std::fs;
use std::io;
use std::os::unix::fs::lchown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The uid and gid of an ordinary user, who owns nothing else.
const NOBODY: u32 = 65534;

/// Who starts the engine.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Person {
    /// Root, and so is whoever runs this.
    Root,
    /// An ordinary user, whom root becomes.
    Nobody,
    /// The ordinary user who runs this.
    Ourselves,
}

impl Person {
    /// Returns those who can be tried here, or the one of that name.
    pub(crate) fn available(name: Option<&str>) -> Result<Vec<Self>, String> {
        let is_root = rustix::process::geteuid().is_root();
        match (name, is_root) {
            (None, true) => Ok(vec![Self::Root, Self::Nobody]),
            (Some("root"), true) => Ok(vec![Self::Root]),
            (Some("ordinary"), true) => Ok(vec![Self::Nobody]),
            (None | Some("ordinary"), false) => Ok(vec![Self::Ourselves]),
            (Some("root"), false) => Err("only root can be root".to_owned()),
            (Some(other), _) => Err(format!("`{other}` is neither `root` nor `ordinary`")),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Nobody | Self::Ourselves => "ordinary user",
        }
    }

    /// Where worlds are made: not in a temporary folder, which many engines open or cover.
    pub(crate) fn folder(self) -> PathBuf {
        let told = env::var_os("CONFORMANCE_FOLDER").map(PathBuf::from);
        told.unwrap_or_else(|| match self {
            Self::Root | Self::Nobody => PathBuf::from("/var/lib"),
            Self::Ourselves => env::var_os("HOME").map_or_else(env::temp_dir, PathBuf::from),
        })
    }

    /// Returns the number of an ordinary user whom root becomes.
    pub(crate) fn uid(self) -> Option<u32> {
        match self {
            Self::Root | Self::Ourselves => None,
            Self::Nobody => Some(NOBODY),
        }
    }

    /// Makes a command run as this person.
    pub(crate) fn becomes(self, command: &mut Command) {
        match self {
            Self::Root | Self::Ourselves => {}
            Self::Nobody => {
                command.uid(NOBODY).gid(NOBODY);
            }
        }
    }

    /// Returns a user who is not this person, if programs of theirs can be made.
    pub(crate) fn somebody_else(self) -> Option<u32> {
        match self {
            Self::Root => Some(NOBODY),
            Self::Nobody => Some(0),
            Self::Ourselves => None,
        }
    }

    /// Gives something to this person.
    pub(crate) fn own(self, path: &Path) -> io::Result<()> {
        match self {
            Self::Root | Self::Ourselves => Ok(()),
            Self::Nobody => lchown(path, Some(NOBODY), Some(NOBODY)),
        }
    }

    /// Gives a folder and everything in it to this person, but for programs.
    pub(crate) fn own_all(self, folder: &Path) -> io::Result<()> {
        self.own(folder)?;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_name() == "conformance-probe" {
                // One file may be in many worlds, and is everybody's to start.
            } else if entry.file_type()?.is_dir() {
                self.own_all(&entry.path())?;
            } else {
                self.own(&entry.path())?;
            }
        }
        Ok(())
    }
}
