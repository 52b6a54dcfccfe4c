//! A project folder made for one test.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};

use tempfile::{Builder, TempDir};

/// A temporary folder, filled step by step, that is deleted with this value.
///
/// It carries no marker of its own: a test says which ones it wants.
///
/// # Examples
///
/// ```
/// use palisade_testkit::Project;
///
/// let project = Project::new().file("Cargo.toml", "[package]").dir("src/deep");
/// assert!(project.path("src/deep").is_dir());
/// ```
#[derive(Debug)]
pub struct Project {
    root: PathBuf,
    // Held for its Drop, which deletes the folder.
    _folder: TempDir,
}

impl Project {
    /// Makes an empty folder that only the caller can enter.
    pub fn new() -> Self {
        // Spelled out: under a loose umask the folder would be open, and its markers ignored.
        let folder = Builder::new()
            .prefix("palisade-project-")
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir()
            .expect("a temporary folder");
        let root = fs::canonicalize(folder.path()).expect("the real path of the folder");
        Self { root, _folder: folder }
    }

    /// Returns the real path of the folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path of something inside, whether it exists or not.
    pub fn path(&self, inside: impl AsRef<Path>) -> PathBuf {
        self.root.join(inside)
    }

    /// Writes a file, and the folders above it.
    #[must_use]
    pub fn file(self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Self {
        let path = self.path(path);
        make_parent(&path);
        fs::write(&path, content).expect("a file of the project");
        self
    }

    /// Makes a folder, and the folders above it.
    #[must_use]
    pub fn dir(self, path: impl AsRef<Path>) -> Self {
        fs::create_dir_all(self.path(path)).expect("a folder of the project");
        self
    }

    /// Makes the symbolic link `link`, which leads to `target` as written.
    #[must_use]
    pub fn symlink(self, link: impl AsRef<Path>, target: impl AsRef<Path>) -> Self {
        let link = self.path(link);
        make_parent(&link);
        symlink(target, &link).expect("a symbolic link of the project");
        self
    }

    /// Sets the permission bits of something inside (`""` is the folder itself).
    #[must_use]
    pub fn mode(self, path: impl AsRef<Path>, mode: u32) -> Self {
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(self.path(path), permissions).expect("a mode of the project");
        self
    }

    /// Gives something inside to another user; needs [`Fact::Root`](crate::Fact::Root).
    #[must_use]
    pub fn owner(self, path: impl AsRef<Path>, uid: u32) -> Self {
        chown(self.path(path), Some(uid), None).expect("an owner of the project");
        self
    }
}

impl Default for Project {
    fn default() -> Self {
        Self::new()
    }
}

fn make_parent(path: &Path) {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).expect("a folder of the project");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_holds_what_was_asked_for_and_disappears() {
        let project = Project::new().file("a/b.txt", "text").dir("c").symlink("d", "a/b.txt");
        let root = project.root().to_owned();
        assert_eq!(fs::metadata(&root).unwrap().permissions().mode() & 0o7777, 0o700);
        assert_eq!(fs::read(project.path("d")).unwrap(), b"text");
        assert!(project.path("c").is_dir());
        assert!(!project.path("e").exists(), "nothing was made that was not asked for");

        drop(project);
        assert!(!root.exists());
    }
}
