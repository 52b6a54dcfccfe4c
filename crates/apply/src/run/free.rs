//! Names that nothing can stand at while a command runs, because git would stop there, and some that
//! came while another run went on.
//!
//! The supervisor sets aside what was made under them, when the command has ended. Should it be
//! killed, the janitor does, which has everything for it in memory.

use std::ffi::{CString, OsString};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::RenameFlags;
use rustix::io::Errno;

use super::laid::is_placeholder;
use super::opened::{open_shut, open_up, shut_again};

/// How many names are tried for one that is set aside.
const NAMES: u8 = 10;

/// A name at which nothing is to stay.
#[derive(Debug)]
pub(super) struct Free {
    folder: OwnedFd,
    name: CString,
    aside: Vec<CString>,
}

impl Free {
    /// Opens its folder; nothing if there is none.
    pub(super) fn new(path: &Path) -> Option<Self> {
        let (above, name) = path.parent().zip(path.file_name())?;
        let aside = (1..=NAMES).map(|number| {
            let mut to = OsString::from(name);
            to.push(match number {
                1 => ".set-aside".into(),
                2..NAMES => format!(".set-aside-{number}"),
                // The command may have taken those; it cannot know this one.
                _ => format!(".set-aside-{:016x}", RandomState::new().build_hasher().finish()),
            });
            CString::new(to.as_bytes()).ok()
        });
        let aside = aside.collect::<Option<_>>()?;
        let name = CString::new(name.as_bytes()).ok()?;
        Some(Self { folder: open_shut(above).ok()?, name, aside })
    }

    pub(super) fn folder(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }

    /// Gives what is there now another name. It allocates nothing, and does without the C library.
    pub(super) fn set_aside(&self) {
        let folder = self.folder.as_fd();
        // What keeps the name for another run.
        if is_placeholder(folder, &self.name) {
            return;
        }
        let opened = open_up(folder);
        for to in &self.aside {
            let (from, to) = (self.name.as_c_str(), to.as_c_str());
            let moved = rustix::fs::renameat_with(folder, from, folder, to, RenameFlags::NOREPLACE);
            if moved != Err(Errno::EXIST) {
                break;
            }
        }
        shut_again(folder, opened);
    }
}
