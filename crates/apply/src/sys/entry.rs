//! What lies at a path, without following a link there.

use std::path::Path;

use rustix::fs::{FileType, Stat, lstat, readlink};
use rustix::io::{Errno, Result};

/// Returns the kind and the counts of what lies at `path`, itself and not where it leads.
///
/// # Errors
///
/// As lstat(2).
pub fn stat_of(path: &Path) -> Result<Stat> {
    again(|| lstat(path))
}

/// Returns the text of the link at `path`.
///
/// # Errors
///
/// As readlink(2).
pub fn link_at(path: &Path) -> Result<Vec<u8>> {
    again(|| readlink(path, Vec::new())).map(std::ffi::CString::into_bytes)
}

/// Returns the kind that a file's mode tells.
pub fn kind_of(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// Repeats a call that a signal interrupted.
pub(super) fn again<T>(mut call: impl FnMut() -> Result<T>) -> Result<T> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            outcome => return outcome,
        }
    }
}
