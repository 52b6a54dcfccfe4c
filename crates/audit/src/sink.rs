//! Where events go: a file with one of them in each line.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::event::Event;

/// A file that events are appended to, one line each. Several processes may append to the same.
#[derive(Debug)]
pub struct JsonlSink {
    path: PathBuf,
    file: File,
}

/// Why an event was not recorded. The run it is about goes on.
#[derive(Debug)]
pub struct CannotRecord {
    /// The file.
    pub path: PathBuf,
    /// Why not.
    pub because: io::Error,
}

impl JsonlSink {
    /// Opens a file for appending. One that is made is its owner's alone; so is one that was there
    /// and was not. The folder above it is made where it is missing.
    ///
    /// # Errors
    ///
    /// When it cannot be opened, or is no plain file: whoever planted a link or a pipe there would
    /// get to choose what is written or how long that takes.
    pub fn open(path: &Path) -> Result<Self, CannotRecord> {
        let failed = |because| CannotRecord { path: path.into(), because };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::CLOEXEC;
        // A pipe would have us wait for its reader.
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let opened = rustix::fs::open(path, flags, Mode::from_raw_mode(0o600));
        let file = File::from(opened.map_err(|errno| failed(errno.into()))?);
        let found = file.metadata().map_err(failed)?;
        if !found.is_file() {
            return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file")));
        }
        if found.permissions().mode() & 0o077 != 0 {
            file.set_permissions(fs::Permissions::from_mode(0o600)).map_err(failed)?;
        }
        Ok(Self { path: path.into(), file })
    }

    /// Appends an event with one write, so that lines of several writers do not mix.
    ///
    /// # Errors
    ///
    /// When the event was not, or not wholly, written.
    pub fn append(&self, event: &Event<'_>) -> Result<(), CannotRecord> {
        let line = event.line();
        let written = (&self.file).write(line.as_bytes());
        let because = match written {
            Ok(length) if length == line.len() => return Ok(()),
            Ok(_) => io::Error::new(io::ErrorKind::WriteZero, "only a part of it was written"),
            Err(error) => error,
        };
        Err(CannotRecord { path: self.path.clone(), because })
    }
}

impl std::fmt::Display for CannotRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = self.path.to_string_lossy();
        let path = palisade_policy::text::visible(&path);
        write!(f, "cannot record what happens in `{path}`: {}", self.because)
    }
}

impl std::error::Error for CannotRecord {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.because)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::time::SystemTime;

    use palisade_testkit::Project;

    use super::*;
    use crate::event::{Answered, What};

    fn event(run: &str) -> Event<'_> {
        let what = What::Confirmation { answer: Answered::No, by: "terminal", call: "ab" };
        Event { at: SystemTime::UNIX_EPOCH, run, what }
    }

    #[test]
    fn events_are_appended_by_everyone_line_by_line() {
        let folder = Project::new();
        let path = folder.path("log/events.jsonl");
        let sinks = [JsonlSink::open(&path).unwrap(), JsonlSink::open(&path).unwrap()];
        std::thread::scope(|scope| {
            for (sink, run) in sinks.iter().zip(["one", "two"]) {
                scope.spawn(move || {
                    (0..100).for_each(|_| sink.append(&event(run)).unwrap());
                });
            }
        });
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 200);
        for line in text.lines() {
            assert!([event("one").line(), event("two").line()].iter().any(|it| it.trim() == line));
        }
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_that_others_could_read_is_closed_to_them() {
        let folder = Project::new().file("log", "");
        fs::set_permissions(folder.path("log"), fs::Permissions::from_mode(0o644)).unwrap();
        JsonlSink::open(&folder.path("log")).unwrap();
        assert_eq!(fs::metadata(folder.path("log")).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn links_pipes_and_folders_are_refused_at_once() {
        let folder = Project::new().file("elsewhere", "kept").dir("folder");
        symlink(folder.path("elsewhere"), folder.path("link")).unwrap();
        let pipe = folder.path("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, Mode::from_raw_mode(0o600)).unwrap();
        for name in ["link", "pipe", "folder", "elsewhere/log"] {
            assert!(JsonlSink::open(&folder.path(name)).is_err(), "{name}");
        }
        assert_eq!(fs::read_to_string(folder.path("elsewhere")).unwrap(), "kept");
    }

    #[test]
    fn a_full_disk_is_an_error_that_names_the_file() {
        // The device is no plain file, so it is put in by hand.
        let file = File::options().append(true).open("/dev/full").unwrap();
        let sink = JsonlSink { path: "/dev/full".into(), file };
        let error = sink.append(&event("one")).unwrap_err().to_string();
        assert!(error.starts_with("cannot record what happens in `/dev/full`: "), "{error}");
    }
}
