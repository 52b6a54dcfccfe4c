//! What stands in an agent's settings so that it starts our hook, and how it gets there and goes.

mod record;
mod settings;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use palisade_policy::text::visible;

use super::agent::Agent;
use super::wrap::quoted;
use record::Record;

/// For whom a hook is installed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Scope {
    /// For one user, in every project.
    #[default]
    User,
    /// For one project, whoever works on it.
    Project,
}

/// Where settings lie.
#[derive(Clone, Debug)]
pub struct Where<'a> {
    /// Whose agent.
    pub agent: Agent,
    /// For whom.
    pub scope: Scope,
    /// The user's home.
    pub home: &'a Path,
    /// The project.
    pub root: &'a Path,
    /// The environment.
    pub env: &'a BTreeMap<OsString, OsString>,
    /// The folder of our own state, in which it is remembered how a file was.
    pub state: Option<&'a Path>,
}

/// What the hook is started with.
#[derive(Clone, Debug, Default)]
pub struct Command {
    /// The program.
    pub program: String,
    /// Words behind the agent's name.
    pub options: Vec<String>,
}

/// A change of one file that has not been made yet.
#[derive(Clone, Debug)]
#[must_use]
pub struct Change {
    /// The file.
    pub file: PathBuf,
    /// Its text; none if there is no file.
    pub before: Option<String>,
    /// What it becomes; none if it goes.
    pub after: Option<String>,
    record: Option<PathBuf>,
    /// What is remembered: how the file was before we came.
    origin: Option<Option<String>>,
}

/// Why settings cannot be changed. Nothing was.
#[derive(Debug, thiserror::Error)]
pub enum CannotInstall {
    /// The settings cannot be read, or written.
    #[error("cannot {doing} `{}`", visible(&file.to_string_lossy()))]
    File {
        /// What was tried.
        doing: &'static str,
        /// The file.
        file: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The settings are no JSON.
    #[error("`{}` is no JSON (line {line})", visible(&file.to_string_lossy()))]
    Broken {
        /// The file.
        file: PathBuf,
        /// The line.
        line: usize,
    },
    /// The settings have another shape than the agent documents.
    #[error("`{}`: {what}", visible(&file.to_string_lossy()))]
    Shape {
        /// The file.
        file: PathBuf,
        /// What is odd.
        what: String,
    },
    /// Somebody wrote the file meanwhile.
    #[error("`{}` was changed meanwhile", visible(&file.to_string_lossy()))]
    Changed {
        /// The file.
        file: PathBuf,
    },
    /// The agent's hooks cannot do that.
    #[error("hooks of {0} cannot replace commands, so `--wrap` is not for them")]
    NoWrap(&'static str),
}

/// The longest settings that are read.
const LONGEST: u64 = 8 << 20;

impl Command {
    /// Returns the shell text that starts the hook. Whatever ends it, a missing program too, refuses.
    pub(super) fn text(&self, agent: Agent) -> String {
        let mut words = vec![quoted(&self.program), "hook".to_owned(), agent.name().to_owned()];
        words.extend(self.options.iter().map(|word| quoted(word)));
        format!("{} || exit 2", words.join(" "))
    }
}

impl Where<'_> {
    /// Works out what is to be written so that the agent starts the hook. Nothing is changed yet.
    ///
    /// # Errors
    ///
    /// When the settings are there and cannot be understood.
    pub fn install(&self, command: &Command) -> Result<Change, CannotInstall> {
        if command.options.iter().any(|word| word == "--wrap") && !self.agent.wraps() {
            return Err(CannotInstall::NoWrap(self.agent.title()));
        }
        let (file, before) = self.read()?;
        let after = settings::installed(self.agent, &file, before.as_deref(), command)?;
        let record = self.record(&file);
        let remembered = record.as_deref().and_then(Record::read);
        let is_there =
            before.as_deref().is_some_and(|text| settings::is_installed(self.agent, text));
        let origin = match remembered {
            Some(record) if record.is_of(before.as_deref()) => Some(record.before),
            _ if is_there => None,
            _ => Some(before.clone()),
        };
        Ok(Change { file, before, after: Some(after), record, origin })
    }

    /// Works out how the settings are without the hook: as they were before, byte for byte, unless
    /// somebody changed them since.
    ///
    /// # Errors
    ///
    /// As [`Where::install`].
    pub fn uninstall(&self) -> Result<Change, CannotInstall> {
        let (file, before) = self.read()?;
        let record = self.record(&file);
        let remembered = record.as_deref().and_then(Record::read);
        let after = match (remembered, &before) {
            (Some(record), Some(_)) if record.is_of(before.as_deref()) => record.before,
            (_, Some(text)) => settings::uninstalled(self.agent, &file, text)?,
            (_, None) => None,
        };
        Ok(Change { file, before, after, record, origin: None })
    }

    /// Returns the file and its text.
    fn read(&self) -> Result<(PathBuf, Option<String>), CannotInstall> {
        let file = settings::file(self);
        // Where a person keeps settings elsewhere, the link to them stays.
        let file = file.canonicalize().unwrap_or(file);
        let failed = |source| CannotInstall::File { doing: "read", file: file.clone(), source };
        let size = match fs::metadata(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((file, None)),
            Err(error) => return Err(failed(error)),
            Ok(found) if !found.is_file() => {
                return Err(failed(io::Error::other("it is no file")));
            }
            Ok(found) => found.len(),
        };
        if size > LONGEST {
            return Err(failed(io::Error::other("it is too long for settings")));
        }
        let text = fs::read_to_string(&file).map_err(failed)?;
        Ok((file, Some(text)))
    }

    /// Returns a folder that a variable names.
    fn folder(&self, variable: &str) -> Option<PathBuf> {
        let value = self.env.get(OsStr::new(variable)).map(PathBuf::from);
        value.filter(|folder| folder.is_absolute())
    }

    fn record(&self, file: &Path) -> Option<PathBuf> {
        Some(record::place(self.state?, file))
    }
}

impl Change {
    /// Returns whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.before == self.after
    }

    /// Makes the change, if the file still is what it was.
    ///
    /// # Errors
    ///
    /// When it is not, or cannot be written. Then it is as it was.
    pub fn make(&self) -> Result<(), CannotInstall> {
        let file = &self.file;
        let failed =
            |doing| move |source| CannotInstall::File { doing, file: file.clone(), source };
        let now = match fs::read_to_string(file) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed("read")(error)),
        };
        if now != self.before {
            return Err(CannotInstall::Changed { file: file.clone() });
        }
        if let (Some(place), Some(before)) = (&self.record, &self.origin) {
            let record = Record::of(before.clone(), self.after.as_deref());
            record.write(place).map_err(|source| CannotInstall::File {
                doing: "remember how it was in",
                file: place.clone(),
                source,
            })?;
        }
        match &self.after {
            Some(text) => replace(file, text).map_err(failed("write"))?,
            None if now.is_some() => fs::remove_file(file).map_err(failed("remove"))?,
            None => {}
        }
        if self.origin.is_none() {
            self.record.iter().for_each(|place| drop(fs::remove_file(place)));
        }
        Ok(())
    }

    /// Returns the lines that go and come, with some that stay around them.
    pub fn diff(&self) -> String {
        diff(self.before.as_deref().unwrap_or_default(), self.after.as_deref().unwrap_or_default())
    }
}

/// Writes a file in one step: whoever reads it sees the old text or the new one.
fn replace(file: &Path, text: &str) -> io::Result<()> {
    let folder = file.parent().ok_or(io::ErrorKind::InvalidInput)?;
    fs::create_dir_all(folder)?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let aside = folder.join(format!(".{name}.palisade-{}", std::process::id()));
    let written = (|| {
        let mut new = fs::OpenOptions::new().write(true).create_new(true).open(&aside)?;
        if let Ok(found) = fs::metadata(file) {
            new.set_permissions(found.permissions())?;
        }
        new.write_all(text.as_bytes())?;
        new.sync_all()?;
        fs::rename(&aside, file)
    })();
    written.inspect_err(|_| drop(fs::remove_file(&aside)))
}

/// Shows what changes, with a few lines around it.
pub(crate) fn diff(before: &str, after: &str) -> String {
    const AROUND: usize = 2;
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = |(a, b): &(&&str, &&str)| a == b;
    let head = old.iter().zip(&new).take_while(same).count();
    let most = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(most).take_while(same).count();
    let mut out = String::new();
    let mut put = |sign: char, lines: &[&str]| {
        lines.iter().for_each(|line| out.push_str(&format!("{sign} {}\n", visible(line))));
    };
    let part = |lines: &[&str]| -> (usize, usize) { (head, lines.len() - tail) };
    let ((from, old_end), (_, new_end)) = (part(&old), part(&new));
    put(' ', old.get(from.saturating_sub(AROUND)..from).unwrap_or_default());
    put('-', old.get(from..old_end).unwrap_or_default());
    put('+', new.get(from..new_end).unwrap_or_default());
    put(' ', old.get(old_end..(old_end + AROUND).min(old.len())).unwrap_or_default());
    out
}
