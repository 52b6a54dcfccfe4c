//! Why it cannot be told where agents work.

use std::io;
use std::path::{Path, PathBuf};

use super::MOST;
use crate::places::shown;

/// Why it cannot be told, or remembered, where agents work. What is not known cannot be hidden.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unknown {
    /// An entry was cut, changed, or is none of ours.
    #[error("`{}` does not tell where an agent works: {why}", shown(file))]
    Broken {
        /// The entry.
        file: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Somebody keeps an entry to themselves.
    #[error("`{}` is locked by another process", shown(file))]
    Locked {
        /// The entry.
        file: PathBuf,
    },
    /// Others could have written there.
    #[error("`{}` is not a folder of the user's alone", shown(folder))]
    NotOurs {
        /// The folder of all entries.
        folder: PathBuf,
    },
    /// More places than can be hidden.
    #[error("agents are known to work in {count} folders, and {MOST} is the most")]
    TooMany {
        /// How many there are, or would be.
        count: usize,
        /// The folder of all entries.
        folder: PathBuf,
    },
    /// The folder or an entry cannot be read.
    #[error("cannot read `{}`: {error}", shown(path))]
    Unreadable {
        /// The folder or the entry.
        path: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// Nothing could be remembered; what is known of others still is.
    #[error("cannot write `{}`: {error}", shown(path))]
    Unwritable {
        /// The folder or the entry.
        path: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
}

impl Unknown {
    /// Returns the file or the folder that it is about.
    pub fn path(&self) -> &Path {
        match self {
            Self::Broken { file, .. } | Self::Locked { file } => file,
            Self::NotOurs { folder } | Self::TooMany { folder, .. } => folder,
            Self::Unreadable { path, .. } | Self::Unwritable { path, .. } => path,
        }
    }

    /// Returns what to do about it.
    pub fn hint(&self) -> String {
        let path = shown(self.path());
        match self {
            Self::Broken { .. } => format!(
                "remove it, with `rm {path}`: its agent is known again when it next runs, and not \
                 hidden until then"
            ),
            Self::Locked { .. } => "end the process that holds it, or wait for it".to_owned(),
            Self::NotOurs { .. } => {
                format!("look who wrote there, then make it yours: `chmod 700 {path}`")
            }
            Self::TooMany { .. } => {
                "`palisade agents forget --gone` forgets those that are not there any more"
                    .to_owned()
            }
            Self::Unreadable { .. } => {
                "make it readable for you alone, or remove it: the agents it tells of are known \
                 again when they next run, and not hidden until then"
                    .to_owned()
            }
            Self::Unwritable { .. } => "make it writable for you".to_owned(),
        }
    }
}
