//! A home folder and its environment, made for one test.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Project;

/// A temporary home, and the environment of a person who lives there.
///
/// Nothing is taken from the environment of the test itself, so a developer's own settings cannot
/// change a result.
#[derive(Debug)]
pub struct Home {
    folder: Project,
    vars: BTreeMap<OsString, OsString>,
}

impl Home {
    /// Makes an empty home, with `HOME` set to it and nothing else.
    pub fn new() -> Self {
        let folder = Project::new();
        let vars = BTreeMap::from([("HOME".into(), folder.root().into())]);
        Self { folder, vars }
    }

    /// Returns the real path of the home folder.
    pub fn root(&self) -> &Path {
        self.folder.root()
    }

    /// Returns the path of something inside, whether it exists or not.
    pub fn path(&self, inside: impl AsRef<Path>) -> PathBuf {
        self.folder.path(inside)
    }

    /// Returns the environment: `HOME`, and what [`var`](Self::var) added.
    pub fn env(&self) -> &BTreeMap<OsString, OsString> {
        &self.vars
    }

    /// Sets a variable of the environment.
    #[must_use]
    pub fn var(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.vars.insert(name.into(), value.into());
        self
    }

    /// Writes a file, and the folders above it.
    #[must_use]
    pub fn file(self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Self {
        Self { folder: self.folder.file(path, content), vars: self.vars }
    }

    /// Makes a folder, and the folders above it.
    #[must_use]
    pub fn dir(self, path: impl AsRef<Path>) -> Self {
        Self { folder: self.folder.dir(path), vars: self.vars }
    }

    /// Returns the files below `inside`, relative to the home, in order.
    pub fn files_below(&self, inside: impl AsRef<Path>) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut open = vec![self.path(inside)];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    open.push(path);
                } else if let Ok(path) = path.strip_prefix(self.root()) {
                    found.push(path.to_owned());
                }
            }
        }
        found.sort();
        found
    }
}

impl Default for Home {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_has_its_own_environment_and_none_of_ours() {
        let home = Home::new().var("XDG_STATE_HOME", "/state").file("a/b", "text");
        let names: Vec<_> = home.env().keys().collect();
        assert_eq!(names, ["HOME", "XDG_STATE_HOME"]);
        assert_eq!(home.env().get(std::ffi::OsStr::new("HOME")).unwrap(), home.root());
        assert_eq!(home.files_below(""), [Path::new("a/b")]);
    }
}
