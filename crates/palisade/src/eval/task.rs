//! Tasks, as they lie in folders.

use std::io;
use std::path::{Path, PathBuf};

use palisade_policy::text::visible;
use serde_json::Value as Json;

use super::verifier::{Verifier, WrongVerifier};
use crate::read::{Place, ReadError, read_policy_file};

/// The file that makes a folder a task.
const FILE: &str = "task.json";

/// Something to be solved.
#[derive(Clone, Debug)]
pub struct Task {
    /// Its name in reports.
    pub id: String,
    /// What is to be done, in words for whoever tries.
    pub goal: String,
    /// How it is seen whether that was done. One that is wrong fails every sample.
    pub verifier: Result<Verifier, WrongVerifier>,
    folder: PathBuf,
}

/// Why tasks cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CannotLoad {
    /// The folder cannot be listed.
    #[error("cannot list the folder `{}`", visible(&folder.to_string_lossy()))]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// Why not.
        #[source]
        because: io::Error,
    },
    /// There is no task in it.
    #[error("there is no task in `{}`", visible(&folder.to_string_lossy()))]
    Empty {
        /// The folder.
        folder: PathBuf,
    },
    /// A file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file says something that is no task.
    #[error("`{}` is no task: {what}", visible(&file.to_string_lossy()))]
    Wrong {
        /// The file.
        file: PathBuf,
        /// The line, where one is to blame.
        line: Option<u64>,
        /// What is wrong.
        what: String,
    },
}

impl CannotLoad {
    /// Returns a name that never changes, for programs and tests.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Folder { .. } => "eval-folder",
            Self::Empty { .. } => "eval-empty",
            Self::Read(_) => "eval-read",
            Self::Wrong { .. } => "eval-task",
        }
    }

    /// Returns what to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Folder { .. } => Some("name a folder that holds a folder for each task"),
            Self::Empty { .. } => Some(
                "a task is a folder with a `task.json`; `palisade eval --write DIR` writes five",
            ),
            Self::Read(_) => None,
            Self::Wrong { .. } => {
                Some(r#"write {"id": "…", "goal": "…", "verifier": {"name": "…", "args": {…}}}"#)
            }
        }
    }

    /// Returns the file that is to blame, and the line in it.
    pub fn place(&self) -> Option<(&Path, Option<u64>)> {
        match self {
            Self::Folder { .. } | Self::Empty { .. } | Self::Read(_) => None,
            Self::Wrong { file, line, .. } => Some((file, *line)),
        }
    }
}

/// Reads the tasks in a folder, in the order of their folders' names. Folders without `task.json` are
/// left alone.
///
/// # Errors
///
/// When there is none, or one cannot be read: then nothing should be run.
pub fn load(folder: &Path) -> Result<Vec<Task>, CannotLoad> {
    let failed = |because| CannotLoad::Folder { folder: folder.into(), because };
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.join(FILE).symlink_metadata().is_ok() {
            folders.push(path);
        }
    }
    folders.sort();
    let mut tasks: Vec<Task> = Vec::with_capacity(folders.len());
    for folder in folders {
        let task = Task::read(folder)?;
        if tasks.iter().any(|other| other.id == task.id) {
            let what = format!("another task has the id `{}`", visible(&task.id));
            return Err(CannotLoad::Wrong { file: task.folder.join(FILE), line: None, what });
        }
        tasks.push(task);
    }
    if tasks.is_empty() { Err(CannotLoad::Empty { folder: folder.into() }) } else { Ok(tasks) }
}

impl Task {
    fn read(folder: PathBuf) -> Result<Self, CannotLoad> {
        let file = folder.join(FILE);
        let text = read_policy_file(&file, Place::Named)?;
        let wrong = |line, what: String| CannotLoad::Wrong { file: file.clone(), line, what };
        let told: Json = serde_json::from_str(&text).map_err(|error| {
            wrong(u64::try_from(error.line()).ok(), visible(&error.to_string()))
        })?;
        let text = |key: &str| match told.get(key) {
            Some(Json::String(text)) if !text.trim().is_empty() => Ok(text.clone()),
            Some(_) => Err(wrong(None, format!("`{key}` is no text"))),
            None => Err(wrong(None, format!("`{key}` is missing"))),
        };
        let task = Self {
            id: text("id")?,
            goal: text("goal")?,
            verifier: Verifier::read(told.get("verifier").unwrap_or(&Json::Null)),
            folder,
        };
        if !task.buggy().is_dir() {
            return Err(wrong(None, "there is no folder `buggy` beside it".to_owned()));
        }
        Ok(task)
    }

    /// Returns the folder of the files to begin with.
    pub fn buggy(&self) -> PathBuf {
        self.folder.join("buggy")
    }

    /// Returns the folder of the files as they should be; it need not be whole, nor be there.
    pub fn expected(&self) -> PathBuf {
        self.folder.join("expected")
    }

    /// Returns the folder of files that nobody sees before the verifier is asked.
    pub(super) fn kept_back(&self) -> PathBuf {
        self.folder.join("verify")
    }

    /// Returns the name of its folder.
    pub(super) fn name(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}
