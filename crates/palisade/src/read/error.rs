//! Why a policy file was not read.

use std::io;
use std::path::{Path, PathBuf};

use crate::places::shown;

/// Why a policy file was not read. It is never taken as empty instead, and nothing runs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// There is nothing at that path.
    #[error("policy file `{}` does not exist", shown(path))]
    Missing {
        /// The path as it was given.
        path: PathBuf,
    },
    /// A symbolic link leads to nothing.
    #[error("policy file `{}` is a symbolic link that leads to nothing", shown(path))]
    DanglingLink {
        /// The path as it was given.
        path: PathBuf,
    },
    /// A file of a project is not inside it, or a link in its path leads out.
    #[error(
        "policy file `{}` does not lead to a file inside the project `{}`",
        shown(path),
        shown(root)
    )]
    OutsideRoot {
        /// The path as it was given.
        path: PathBuf,
        /// The project that it had to stay in.
        root: PathBuf,
    },
    /// A file of a project belongs to somebody else.
    #[error(
        "policy file `{}` belongs to uid {owner}, neither to you (uid {uid}) nor to root",
        shown(path)
    )]
    ForeignOwner {
        /// The path as it was given.
        path: PathBuf,
        /// Whose file it is.
        owner: u32,
        /// Who is asking.
        uid: u32,
    },
    /// A folder stands in place of the file.
    #[error("policy file `{}` is a folder", shown(path))]
    Folder {
        /// The path as it was given.
        path: PathBuf,
    },
    /// A named pipe stands in place of the file; it was not waited for.
    #[error("policy file `{}` is a named pipe", shown(path))]
    Fifo {
        /// The path as it was given.
        path: PathBuf,
    },
    /// A socket stands in place of the file.
    #[error("policy file `{}` is a socket", shown(path))]
    Socket {
        /// The path as it was given.
        path: PathBuf,
    },
    /// A device stands in place of the file.
    #[error("policy file `{}` is a device", shown(path))]
    Device {
        /// The path as it was given.
        path: PathBuf,
    },
    /// The file is larger than any policy.
    #[error("policy file `{}` is larger than {} bytes", shown(path), super::MAX_FILE)]
    TooLarge {
        /// The path as it was given.
        path: PathBuf,
    },
    /// The system refused to open or to read it.
    #[error("cannot read policy file `{}`", shown(path))]
    Unreadable {
        /// The path as it was given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is not text.
    #[error("policy file `{}` is not UTF-8: line {line}, byte offset {offset}", shown(path))]
    NotUtf8 {
        /// The path as it was given.
        path: PathBuf,
        /// The line of the first bad byte, from 1.
        line: usize,
        /// Where the first bad byte is, from 0.
        offset: usize,
    },
    /// The file holds a NUL, which no text does.
    #[error("policy file `{}` holds a NUL byte: line {line}", shown(path))]
    NulByte {
        /// The path as it was given.
        path: PathBuf,
        /// The line of the first NUL, from 1.
        line: usize,
    },
    /// The file is there, but says nothing.
    #[error("policy file `{}` is present but empty", shown(path))]
    Empty {
        /// The path as it was given.
        path: PathBuf,
    },
}

impl ReadError {
    /// Returns a name that never changes, for logs, tests and the manual.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "policy-missing",
            Self::DanglingLink { .. } => "policy-dangling-link",
            Self::OutsideRoot { .. } => "policy-outside-root",
            Self::ForeignOwner { .. } => "policy-foreign-owner",
            Self::Folder { .. } => "policy-is-folder",
            Self::Fifo { .. } => "policy-is-fifo",
            Self::Socket { .. } => "policy-is-socket",
            Self::Device { .. } => "policy-is-device",
            Self::TooLarge { .. } => "policy-too-large",
            Self::Unreadable { .. } => "policy-unreadable",
            Self::NotUtf8 { .. } => "policy-not-utf8",
            Self::NulByte { .. } => "policy-nul-byte",
            Self::Empty { .. } => "policy-empty",
        }
    }

    /// Returns what the user can do about it, when we know.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Missing { .. } => Some("check the spelling"),
            Self::DanglingLink { .. } => Some("mend the link or delete it"),
            Self::OutsideRoot { .. } => {
                Some("keep a copy inside the project, or name the file with `--policy FILE`")
            }
            Self::ForeignOwner { .. } => {
                Some("take the file over with `chown`, or name it with `--policy FILE`")
            }
            Self::Folder { .. } => Some("name the policy file inside the folder"),
            Self::Fifo { .. } | Self::Socket { .. } | Self::Device { .. } => {
                Some("write the policy to an ordinary file and name that")
            }
            Self::TooLarge { .. } => Some("split the policy with `include:`"),
            Self::Unreadable { .. } => Some("check the permissions of the file and its folders"),
            Self::NotUtf8 { .. } => Some("save the file as UTF-8"),
            Self::NulByte { .. } => Some("this is not a text file; was another one meant?"),
            Self::Empty { .. } => Some("delete the file, or write `version: 1` into it"),
        }
    }

    /// Returns the file that was not read.
    pub fn path(&self) -> &Path {
        match self {
            Self::Missing { path }
            | Self::DanglingLink { path }
            | Self::OutsideRoot { path, .. }
            | Self::ForeignOwner { path, .. }
            | Self::Folder { path }
            | Self::Fifo { path }
            | Self::Socket { path }
            | Self::Device { path }
            | Self::TooLarge { path }
            | Self::Unreadable { path, .. }
            | Self::NotUtf8 { path, .. }
            | Self::NulByte { path, .. }
            | Self::Empty { path } => path,
        }
    }

    /// Returns the line of the fault, from 1, where there is one.
    pub fn line(&self) -> Option<usize> {
        match self {
            Self::NotUtf8 { line, .. } | Self::NulByte { line, .. } => Some(*line),
            Self::Missing { .. }
            | Self::DanglingLink { .. }
            | Self::OutsideRoot { .. }
            | Self::ForeignOwner { .. }
            | Self::Folder { .. }
            | Self::Fifo { .. }
            | Self::Socket { .. }
            | Self::Device { .. }
            | Self::TooLarge { .. }
            | Self::Unreadable { .. }
            | Self::Empty { .. } => None,
        }
    }
}
