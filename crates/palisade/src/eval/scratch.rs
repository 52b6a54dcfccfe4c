//! Folders for samples: one for each that is made at the same time, emptied in between.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::session::Request;

/// The deepest that folders are copied: whoever tried may have made them deeper than a stack is.
const DEEPEST: usize = 200;

/// A temporary folder. It is gone when this is.
#[derive(Debug)]
pub(super) struct Scratch {
    folder: PathBuf,
    slots: Vec<PathBuf>,
}

impl Scratch {
    pub(super) fn make(parent: &Path, slots: usize) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("palisade-eval-{}-{count}", std::process::id());
        let folder = parent.join(name);
        let make = |folder: &Path| DirBuilder::new().mode(0o700).create(folder);
        make(&folder)?;
        // Links on the way there are not followed again.
        let mut scratch = Self { folder: folder.canonicalize()?, slots: Vec::new() };
        for slot in 0..slots {
            let slot = scratch.folder.join(slot.to_string());
            make(&slot)?;
            scratch.slots.push(slot);
        }
        Ok(scratch)
    }

    pub(super) fn slots(&self) -> &[PathBuf] {
        &self.slots
    }

    /// Returns all slots but this one.
    pub(super) fn others(&self, own: &Path) -> Vec<PathBuf> {
        self.slots.iter().filter(|slot| *slot != own).cloned().collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed lies in the temporary folder, and is nothing of value.
        remove(&self.folder).ok();
    }
}

/// Returns the folder for temporary folders.
pub(super) fn parent(request: &Request) -> PathBuf {
    request.var("TMPDIR").map_or_else(|| "/tmp".into(), PathBuf::from)
}

/// Removes a folder that a command has filled.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    palisade_apply::remove_folder(folder).map_err(Into::into)
}

/// Copies what is in a folder over another, which is made if need be. What is in the way is replaced,
/// and links there are never followed: somebody may have planted them.
pub(super) fn lay_over(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        return Err(io::ErrorKind::NotFound.into());
    }
    folder_at(to)?;
    lay(from, to, 0)
}

fn lay(from: &Path, to: &Path, depth: usize) -> io::Result<()> {
    if depth > DEEPEST {
        return Err(io::Error::other(format!("`{}` is too deep", from.display())));
    }
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            folder_at(&to)?;
            lay(&from, &to, depth + 1)?;
        } else if kind.is_symlink() {
            free(&to)?;
            symlink(fs::read_link(&from)?, &to)?;
        } else if kind.is_file() {
            free(&to)?;
            fs::copy(&from, &to)?;
        }
        // Pipes and sockets are nothing that lasts.
    }
    Ok(())
}

/// Makes a folder, unless there is one.
fn folder_at(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => fs::remove_file(path).and_then(|()| fs::create_dir(path)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir(path),
        Err(error) => Err(error),
    }
}

/// Makes a name free.
fn free(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => remove(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
