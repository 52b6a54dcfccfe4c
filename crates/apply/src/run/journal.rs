//! Which folders placeholders were ever put into, so that those a doubly killed run has left are
//! found from anywhere.
//!
//! The list lies beside the spares. It is read by every run, which is quick, and grows when a run
//! comes to a new folder. A run that finds fewer spares than it needs goes through the list first:
//! where they have not come back from, they may have been left.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags};
use rustix::io::{Errno, Result};

use super::laid::find;
use super::opened::open_folder;
use super::spare::Spares;
use crate::sys::lock;

/// The list. Spares have numbers for names.
const NAME: &str = ".folders";

/// The longest list that is kept; with a longer one it begins anew.
const LONGEST: usize = 64 << 10;

/// Notes folders, and brings back what was left in others if there are too few spares. Nobody is
/// kept from running by a list that cannot be written.
pub(super) fn note<'f>(spares: &mut Spares, folders: impl Iterator<Item = &'f Path>) {
    let mut known = read(spares).unwrap_or_default();
    if spares.is_short() {
        for folder in known.split(|byte| *byte == 0).filter(|it| !it.is_empty()) {
            bring_back(spares, &PathBuf::from(OsStr::from_bytes(folder))).ok();
        }
    }
    let is_known = |folder: &&Path| {
        let wanted = folder.as_os_str().as_bytes();
        known.split(|byte| *byte == 0).any(|it| it == wanted)
    };
    let new: Vec<&Path> = folders.filter(|folder| !is_known(folder)).collect();
    if new.is_empty() {
        return;
    }
    let how = if known.len() > LONGEST { OFlags::TRUNC } else { OFlags::APPEND };
    known.clear();
    for folder in new {
        known.extend(folder.as_os_str().as_bytes());
        known.push(0);
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | how | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let list = rustix::fs::openat(&spares.pool.open, NAME, flags, Mode::from_raw_mode(0o600));
    // In one piece: others may be writing too.
    list.and_then(|list| rustix::io::write(list, &known)).ok();
}

fn read(spares: &Spares) -> Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let list = rustix::fs::openat(&spares.pool.open, NAME, flags, Mode::empty())?;
    let mut text = Vec::new();
    let most = u64::try_from(2 * LONGEST).unwrap_or(u64::MAX);
    File::from(list).take(most).read_to_end(&mut text).map_err(|_| Errno::IO)?;
    Ok(text)
}

/// Brings back the placeholders of a folder that nobody keeps any more.
fn bring_back(spares: &mut Spares, folder: &Path) -> Result<()> {
    let open = open_folder(folder)?;
    // Whoever has a turn here is alive, and knows best.
    rustix::fs::flock(&open, FlockOperation::NonBlockingLockExclusive)?;
    let brought = bring_back_from(spares, &open);
    // Not by closing it: a process that another thread has just made has it open, too, and may wait
    // for somebody who waits for this turn.
    lock::end_turn(open.as_fd());
    brought
}

fn bring_back_from(spares: &mut Spares, open: &OwnedFd) -> Result<()> {
    let entries = Dir::read_from(open)?.flatten();
    let folders = entries
        .filter(|entry| matches!(entry.file_type(), FileType::Directory | FileType::Unknown));
    let names: Vec<CString> = folders.map(|entry| entry.file_name().to_owned()).collect();
    for name in &names {
        let found = find(open.as_fd(), name).ok();
        let Some(found) = found.filter(|found| found.is_untouched(spares.pool.owner)) else {
            continue;
        };
        // Where it cannot be told whether somebody keeps it, it stays.
        if lock::is_shared(open.as_fd(), found.inode) != Ok(false) {
            continue;
        }
        if !spares.return_one(open.as_fd(), name, &found) {
            rustix::fs::unlinkat(open, name.as_c_str(), AtFlags::REMOVEDIR).ok();
        }
    }
    Ok(())
}
