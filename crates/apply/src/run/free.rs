//! Names that nothing can stand at while a command runs, because git would stop there, and some that
//! came while another run went on.
//!
//! The supervisor sets aside what was made under them, when the command has ended. Should it be
//! killed, the janitor does, which has everything for it in memory.

use std::borrow::Cow;
use std::ffi::{CStr, CString};
use std::hash::{BuildHasher as _, RandomState};
use std::io::Write as _;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::RenameFlags;
use rustix::io::Errno;

use super::laid::is_placeholder;
use super::opened::{open_shut, open_up, shut_again};

/// How many names are tried for one that is set aside.
const NAMES: u8 = 10;

/// The longest name, as written here: with a zero, and room to see that another is too long.
const LONGEST: usize = 257;

/// A name at which nothing is to stay.
#[derive(Debug)]
pub(super) struct Free {
    folder: Arc<OwnedFd>,
    name: CString,
    /// What the command cannot know.
    secret: u64,
}

impl Free {
    /// Returns those at these paths whose folders can be opened.
    pub(super) fn all<'p>(paths: impl Iterator<Item = Cow<'p, Path>>) -> Vec<Self> {
        let mut last: Option<(PathBuf, Option<Arc<OwnedFd>>)> = None;
        let mut secrets = Secrets::default();
        let free = paths.filter_map(|path| {
            let (above, name) = path.parent().zip(path.file_name())?;
            // Mostly they are in one.
            if last.as_ref().is_none_or(|(known, _)| known != above) {
                last = Some((above.into(), open_shut(above).ok().map(Arc::new)));
            }
            let folder = last.as_ref().and_then(|(_, open)| open.clone())?;
            let name = CString::new(name.as_bytes()).ok()?;
            Some(Self { folder, name, secret: secrets.next() })
        });
        free.collect()
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
        for number in 1..=NAMES {
            let mut room = [0; LONGEST];
            let Some(to) = self.aside(number, &mut room) else { continue };
            let from = self.name.as_c_str();
            let moved = rustix::fs::renameat_with(folder, from, folder, to, RenameFlags::NOREPLACE);
            if moved != Err(Errno::EXIST) {
                break;
            }
        }
        shut_again(folder, opened);
    }

    /// Returns the name that it may get instead, with a number, or at last with a secret: the command
    /// may have taken the others.
    fn aside<'r>(&self, number: u8, room: &'r mut [u8; LONGEST]) -> Option<&'r CStr> {
        let mut rest = &mut room[..];
        let text = rest.write_all(self.name.as_bytes()).and_then(|()| match number {
            1 => rest.write_all(b".set-aside"),
            2..NAMES => write!(rest, ".set-aside-{number}"),
            _ => write!(rest, ".set-aside-{:016x}", self.secret),
        });
        // A zero stays behind it.
        text.ok().filter(|()| !rest.is_empty())?;
        CStr::from_bytes_until_nul(room).ok()
    }
}

/// Numbers that nobody can guess.
#[derive(Default)]
struct Secrets(RandomState, u64);

impl Secrets {
    fn next(&mut self) -> u64 {
        self.1 += 1;
        self.0.hash_one(self.1)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use palisade_testkit::Project;

    use super::*;

    #[test]
    fn what_is_in_the_way_is_gone_around_at_last_by_a_name_that_nobody_knows() {
        let project = Project::new().file("it", "made");
        for taken in 1..NAMES {
            let name =
                if taken == 1 { "it.set-aside".into() } else { format!("it.set-aside-{taken}") };
            fs::write(project.path(&name), "taken").unwrap();
        }
        let long = "x".repeat(250);
        fs::write(project.path(&long), "").unwrap();
        let paths = [project.path("it"), project.path(&long), project.path("none/it")];
        let free = Free::all(paths.iter().map(|path| Cow::Borrowed(&**path)));
        assert_eq!(free.len(), 2, "no folder, no name");
        free.iter().for_each(Free::set_aside);
        assert!(!project.path("it").exists());
        let secret = format!("it.set-aside-{:016x}", free[0].secret);
        assert_eq!(fs::read_to_string(project.path(&secret)).unwrap(), "made");
        assert!(project.path(&long).exists(), "there is no room for a longer name");
        assert_ne!(free[0].secret, free[1].secret);
    }
}
