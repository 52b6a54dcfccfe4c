//! Reading policy files: ordinary files of a sane size that hold text, and nothing else.

mod error;

use std::fs::{self, File, FileType};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags, open, openat};

pub use error::ReadError;

/// The largest policy file, in bytes. Of a larger one no more than one byte beyond this is read.
pub const MAX_FILE: u64 = 1 << 20;

/// Who chose a policy file, which decides how far its path is believed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Place<'a> {
    /// A person or their own configuration named it; links are theirs to make.
    Named,
    /// It was found in a project, whose content may be hostile.
    ///
    /// Its real path must stay inside `root`, because the lines of a faulty file appear in error
    /// messages: a link to a secret would print it. And it must belong to `uid` or to root.
    InProject {
        /// The project.
        root: &'a Path,
        /// The caller.
        uid: u32,
    },
}

/// Returns the text of the policy file at `path`.
///
/// Never waits for a pipe, never opens a device, never reads more than [`MAX_FILE`] + 1 bytes.
/// What is checked is the descriptor that is read, so a file that is exchanged meanwhile is either
/// checked itself or refused.
///
/// # Errors
///
/// Everything that is not a non-empty text file; each kind is its own [`ReadError`].
pub fn read_policy_file(path: &Path, place: Place<'_>) -> Result<String, ReadError> {
    let file = match place {
        Place::Named => open_named(path)?,
        Place::InProject { root, uid } => open_in_project(path, root, uid)?,
    };
    let unreadable = |source| ReadError::Unreadable { path: path.into(), source };
    let size = file.metadata().map_err(unreadable)?.len();
    if size > MAX_FILE {
        return Err(ReadError::TooLarge { path: path.into() });
    }
    // The size is only what it was a moment ago, and 0 for files that the kernel makes up.
    match read_capped(file).map_err(unreadable)? {
        Some(bytes) => text(path, bytes),
        None => Err(ReadError::TooLarge { path: path.into() }),
    }
}

/// Returns the text of a stream that stands for the policy file `path`.
///
/// # Errors
///
/// As [`read_policy_file`].
pub fn read_policy_stream(path: &Path, stream: impl Read) -> Result<String, ReadError> {
    match read_capped(stream) {
        Ok(Some(bytes)) => text(path, bytes),
        Ok(None) => Err(ReadError::TooLarge { path: path.into() }),
        Err(source) => Err(ReadError::Unreadable { path: path.into(), source }),
    }
}

const OPEN_FILE: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC).union(OFlags::NOCTTY);

fn open_named(path: &Path) -> Result<File, ReadError> {
    // Opening a device can act on it, so it is looked at first, and once more when it is open.
    let found = fs::metadata(path).map_err(|source| not_found(path, source))?;
    only_files(path, found.file_type())?;
    let file = open(path, OPEN_FILE, Mode::empty())
        .map_err(|errno| not_found(path, errno.into()))
        .map(File::from)?;
    check_open(path, &file)?;
    Ok(file)
}

fn open_in_project(path: &Path, root: &Path, uid: u32) -> Result<File, ReadError> {
    let outside = || ReadError::OutsideRoot { path: path.into(), root: root.into() };
    let unreadable = |source| ReadError::Unreadable { path: path.into(), source };

    let real_root = fs::canonicalize(root).map_err(unreadable)?;
    // Nothing is told about what lies outside, not even whether it exists.
    let real = fs::canonicalize(path).map_err(|source| {
        if may_lead_out(path, root) { outside() } else { not_found(path, source) }
    })?;
    let inside = real.strip_prefix(&real_root).map_err(|_| outside())?;

    let found = fs::symlink_metadata(&real).map_err(|source| not_found(path, source))?;
    only_files(path, found.file_type())?;
    let file = open_beneath(&real_root, inside).map_err(unreadable).map(File::from)?;
    check_open(path, &file)?;

    let owner = file.metadata().map_err(unreadable)?.uid();
    if owner != uid && owner != 0 {
        return Err(ReadError::ForeignOwner { path: path.into(), owner, uid });
    }
    Ok(file)
}

/// Opens a path without links step by step, following none: one that appears now is an error.
fn open_beneath(root: &Path, inside: &Path) -> io::Result<OwnedFd> {
    const OPEN_FOLDER: OFlags =
        OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);
    let mut here = open(root, OPEN_FOLDER, Mode::empty())?;
    if let Some(folders) = inside.parent() {
        for folder in folders {
            here = openat(&here, folder, OPEN_FOLDER, Mode::empty())?;
        }
    }
    let name = inside.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    Ok(openat(&here, name, OPEN_FILE.union(OFlags::NOFOLLOW), Mode::empty())?)
}

/// Answers whether a path that could not be resolved can have left the project.
fn may_lead_out(path: &Path, root: &Path) -> bool {
    let Ok(inside) = path.strip_prefix(root) else { return true };
    if inside.components().any(|part| part == Component::ParentDir) {
        return true;
    }
    let mut here = PathBuf::from(root);
    inside.components().any(|part| {
        here.push(part);
        fs::symlink_metadata(&here).is_ok_and(|found| found.is_symlink())
    })
}

fn check_open(path: &Path, file: &File) -> Result<(), ReadError> {
    let unreadable = |source| ReadError::Unreadable { path: path.into(), source };
    only_files(path, file.metadata().map_err(unreadable)?.file_type())
}

fn only_files(path: &Path, kind: FileType) -> Result<(), ReadError> {
    let path = path.to_owned();
    if kind.is_file() {
        Ok(())
    } else if kind.is_dir() {
        Err(ReadError::Folder { path })
    } else if kind.is_fifo() {
        Err(ReadError::Fifo { path })
    } else if kind.is_socket() {
        Err(ReadError::Socket { path })
    } else {
        Err(ReadError::Device { path })
    }
}

fn not_found(path: &Path, source: io::Error) -> ReadError {
    let path = path.to_owned();
    if source.kind() != io::ErrorKind::NotFound {
        ReadError::Unreadable { path, source }
    } else if fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
        ReadError::DanglingLink { path }
    } else {
        ReadError::Missing { path }
    }
}

/// Reads everything, or nothing where that is more than [`MAX_FILE`].
fn read_capped(source: impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    source.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= MAX_FILE).then_some(bytes))
}

fn text(path: &Path, bytes: Vec<u8>) -> Result<String, ReadError> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let line = line_at(error.as_bytes(), offset);
        ReadError::NotUtf8 { path: path.into(), line, offset }
    })?;
    if let Some(offset) = text.find('\0') {
        let line = line_at(text.as_bytes(), offset);
        return Err(ReadError::NulByte { path: path.into(), line });
    }
    // An editor's byte order mark is not content.
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Err(ReadError::Empty { path: path.into() });
    }
    Ok(text)
}

fn line_at(bytes: &[u8], offset: usize) -> usize {
    1 + bytes.iter().take(offset).filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
mod tests;
