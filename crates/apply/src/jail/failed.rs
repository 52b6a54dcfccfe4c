//! Why a file operation in a jail did not happen.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

/// A file operation that did not happen.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} `{}`: {why}", path.escaped())]
pub struct Failed {
    doing: &'static str,
    path: Shown,
    why: Why,
    #[source]
    errno: io::Error,
}

/// Why a file operation did not happen.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Why {
    /// The path leads out of the folder.
    Outside,
    /// Nothing lies there.
    Missing,
    /// The name is taken.
    Taken,
    /// It is no file: a folder, a pipe, a socket or a device.
    NoFile,
    /// The path ends in no name: it is empty, or ends in `..`.
    NoName,
    /// It is longer than the caller takes.
    TooLarge,
    /// The file has more names, perhaps outside.
    SeveralNames,
    /// Too many links.
    Loop,
    /// The rights of this process do not suffice.
    Forbidden,
    /// Something on the path was moved about all the time.
    Busy,
    /// The kernel lacks openat2(2), and nothing weaker will do.
    Unsupported,
    /// Anything else; the source says what.
    Other,
}

/// A path, kept for a message.
#[derive(Debug)]
struct Shown(PathBuf);

impl Failed {
    /// Returns why.
    pub fn why(&self) -> Why {
        self.why
    }

    /// Returns the kernel's number for it.
    pub fn errno(&self) -> Option<i32> {
        self.errno.raw_os_error()
    }

    /// Returns the path as the caller gave it.
    pub fn path(&self) -> &Path {
        &self.path.0
    }
}

impl Why {
    /// Returns a name that never changes, for logs and tests.
    pub fn code(self) -> &'static str {
        match self {
            Self::Outside => "outside-root",
            Self::Missing => "missing",
            Self::Taken => "name-taken",
            Self::NoFile => "not-a-file",
            Self::NoName => "no-name",
            Self::TooLarge => "too-large",
            Self::SeveralNames => "several-names",
            Self::Loop => "link-loop",
            Self::Forbidden => "forbidden",
            Self::Busy => "busy",
            Self::Unsupported => "needs-openat2",
            Self::Other => "failed",
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Outside => "it leads outside project root",
            Self::Missing => "nothing is there",
            Self::Taken => "the name is taken",
            Self::NoFile => "it is not a file",
            Self::NoName => "the path ends in no name",
            Self::TooLarge => "it is too large",
            Self::SeveralNames => "the file has other names too",
            Self::Loop => "it leads through too many links",
            Self::Forbidden => "it is not permitted",
            Self::Busy => "it is being moved about",
            Self::Unsupported => "the kernel cannot keep it inside (openat2 is missing)",
            Self::Other => "the system refused",
        })
    }
}

impl From<Errno> for Why {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::XDEV => Self::Outside,
            Errno::NOENT | Errno::NOTDIR => Self::Missing,
            Errno::EXIST => Self::Taken,
            Errno::NXIO | Errno::ISDIR => Self::NoFile,
            Errno::LOOP => Self::Loop,
            Errno::ACCESS | Errno::PERM | Errno::ROFS => Self::Forbidden,
            Errno::AGAIN => Self::Busy,
            Errno::NOSYS => Self::Unsupported,
            _ => Self::Other,
        }
    }
}

impl Shown {
    fn escaped(&self) -> impl fmt::Display {
        self.0.to_string_lossy().escape_debug().to_string()
    }
}

/// Puts what was being done, and where, to an error.
pub(super) trait Place<T> {
    fn place(self, doing: &'static str, path: &Path) -> Result<T, Failed>;
}

impl<T> Place<T> for Result<T, Errno> {
    fn place(self, doing: &'static str, path: &Path) -> Result<T, Failed> {
        self.map_err(|errno| wrong(errno, errno.into(), doing, path))
    }
}

impl<T> Place<T> for io::Result<T> {
    fn place(self, doing: &'static str, path: &Path) -> Result<T, Failed> {
        self.map_err(|errno| {
            let why = Errno::from_io_error(&errno).map_or(Why::Other, Why::from);
            Failed { doing, path: Shown(path.into()), why, errno }
        })
    }
}

/// Makes a failure of our own finding.
pub(super) fn wrong(errno: Errno, why: Why, doing: &'static str, path: &Path) -> Failed {
    Failed { doing, path: Shown(path.into()), why, errno: errno.into() }
}
