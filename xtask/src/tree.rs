//! The working tree: every file that is tracked or could be, and nothing that is ignored.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::failure::Failure;
use crate::program;

/// The files of this repository, by their path from its root.
#[derive(Debug)]
pub(crate) struct Tree {
    root: PathBuf,
    files: Vec<String>,
}

impl Tree {
    /// Lists the tree around the folder that cargo started us from.
    pub(crate) fn open() -> Result<Self, Failure> {
        let manifest = env::var_os("CARGO_MANIFEST_DIR")
            .ok_or_else(|| Failure::new("start this with `cargo xtask`"))?;
        let root = Path::new(&manifest)
            .parent()
            .ok_or_else(|| Failure::new("xtask has no folder above it"))?
            .to_path_buf();
        let mut git = Command::new("git");
        // A checkout owned by another user is normal in CI; we only list names here.
        git.args(["-c", "safe.directory=*", "ls-files", "-co", "--exclude-standard", "-z"]);
        let listing = program::capture(git.current_dir(&root))?;
        let mut files: Vec<String> = listing
            .split('\0')
            .filter(|path| !path.is_empty() && root.join(path).is_file())
            .map(str::to_owned)
            .collect();
        files.sort_unstable();
        files.dedup();
        Ok(Self { root, files })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn files(&self) -> &[String] {
        &self.files
    }

    /// Returns the Rust files, each with its text.
    pub(crate) fn rust(&self) -> Result<Vec<(&str, String)>, Failure> {
        let rust = self.files.iter().filter(|path| path.ends_with(".rs"));
        rust.map(|path| Ok((path.as_str(), self.read(path)?))).collect()
    }

    /// Returns the text of one file; bytes that are not UTF-8 are replaced.
    pub(crate) fn read(&self, path: &str) -> Result<String, Failure> {
        let bytes = fs::read(self.root.join(path))
            .map_err(|error| Failure::io(format!("cannot read {path}"), &error))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
