//! A folder for the temporary files of one run, where it cannot have a /tmp of its own.

use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use super::error::CannotStart;

/// The folder; it is removed with this, and with all that is in it.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// Returns a path at which nothing lies, most likely: making it fails if something does.
    pub(super) fn path() -> Option<PathBuf> {
        // The standard library's keys are the kernel's random numbers.
        let name = format!("palisade-{:016x}", RandomState::new().build_hasher().finish());
        let folder = fs::canonicalize("/tmp").ok()?;
        Some(folder.join(name))
    }

    /// Makes it, for its owner alone.
    pub(super) fn make(path: &Path) -> Result<Self, CannotStart> {
        let made = DirBuilder::new().mode(0o700).create(path);
        let doing = "make a folder for temporary files";
        made.map_err(|errno| CannotStart::Before { doing, errno })?;
        Ok(Self(path.into()))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Folders that the command has shut stay, as in any other folder of the host's.
        fs::remove_dir_all(&self.0).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_folder_goes_with_what_is_in_it_and_never_takes_the_place_of_another() {
        let path = Scratch::path().unwrap();
        let made = Scratch::make(&path).unwrap();
        fs::create_dir_all(path.join("a/b")).unwrap();
        fs::write(path.join("a/b/c"), "x").unwrap();
        assert!(Scratch::make(&path).is_err(), "it is there");
        drop(made);
        assert!(!path.exists());
    }
}
