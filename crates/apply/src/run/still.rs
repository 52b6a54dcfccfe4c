//! Names that placeholders keep, so that nothing changes at them inside.
//!
//! All of these placeholders are alike: the first is mounted on itself, and what is mounted on the
//! others is a copy of that mount. To find, copy and change each takes twice as long.

use std::ffi::CStr;
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Result;

use super::laid::find;
use crate::sys::mount::{self, NO_DEVICES, NO_SUID, READ_ONLY, Reach};

const SEALED: u64 = READ_ONLY | NO_SUID | NO_DEVICES;

/// What is known of the names before.
#[derive(Default)]
pub(super) struct Still {
    /// The folder of the last, and its number.
    folder: Option<(usize, OwnedFd)>,
    /// What is mounted on the first.
    first: Option<OwnedFd>,
}

/// A name in a folder of this number.
#[derive(Debug)]
pub(super) struct Name<'n> {
    pub(super) folder: usize,
    pub(super) above: &'n CStr,
    pub(super) name: &'n CStr,
    pub(super) path: &'n CStr,
}

impl Still {
    /// Mounts over what stands at a name. It allocates nothing.
    pub(super) fn keep(&mut self, name: &Name<'_>) -> Result<()> {
        match self.cover(name) {
            // The host has put something there, or something else: that is mounted on itself.
            Ok(false) | Err(_) => mount::rebind(name.path, SEALED),
            Ok(true) => Ok(()),
        }
    }

    /// Does so if it is a placeholder as we left it, and says whether it is.
    fn cover(&mut self, name: &Name<'_>) -> Result<bool> {
        let folder = match self.folder.take() {
            Some((number, open)) if number == name.folder => open,
            Some(_) | None => mount::find(name.above)?,
        };
        let (_, folder) = self.folder.insert((name.folder, folder));
        if !find(folder.as_fd(), name.name)?.is_untouched(rustix::process::geteuid().as_raw()) {
            return Ok(false);
        }
        if let Some(first) = &self.first {
            let tree = mount::clone_at(first.as_fd(), Reach::One)?;
            mount::attach_in(tree.as_fd(), folder.as_fd(), name.name)?;
            return Ok(true);
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let place = rustix::fs::openat(&*folder, name.name, flags, Mode::empty())?;
        let tree = mount::clone_at(place.as_fd(), Reach::One)?;
        mount::change_tree(tree.as_fd(), SEALED, None, Reach::One)?;
        mount::attach_at(tree.as_fd(), place.as_fd())?;
        self.first = Some(tree);
        Ok(true)
    }
}
