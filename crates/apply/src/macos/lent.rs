//! Rights that folders could be lent for a look. Here none are: there is no way to hold a folder that
//! cannot be read by a descriptor, so what is in it is not known, and it is closed as a whole.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::io::{Errno, Result};

use super::walk::listed;

/// Nothing.
#[derive(Debug)]
pub(super) struct Lent;

impl Lent {
    /// Nothing.
    pub(super) fn nothing() -> Self {
        Self
    }

    /// Nothing.
    pub(super) fn within(_: &[PathBuf]) -> Self {
        Self
    }

    /// Nothing.
    pub(super) fn anywhere() -> Self {
        Self
    }

    /// Opens a folder that can be listed.
    #[expect(clippy::unused_self, reason = "the shape of the other, which remembers")]
    pub(super) fn open(&mut self, path: &Path) -> Result<OwnedFd> {
        listed(path)
    }

    /// Lets nobody in.
    #[expect(clippy::unused_self, reason = "the shape of the other, which remembers")]
    pub(super) fn look_into(&mut self, _: &Path) -> Result<()> {
        Err(Errno::ACCESS)
    }
}
