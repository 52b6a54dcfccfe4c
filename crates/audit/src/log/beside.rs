//! What lies in the user's own state beside a log: whose turn it is to write, and what was lost.
//!
//! A command may read a log that lies in its project, and who may read a file may lock it. The lock that
//! counts therefore is one that no command can open. So is the number of events that were lost: whoever
//! writes next tells of those that other processes could not write.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

use crate::hash::Hash;

/// How long the number of lost events is waited for. It is held for two calls.
const PATIENCE: Duration = Duration::from_millis(50);

/// How long that number is, with its line end.
const LENGTH: usize = 21;

/// The files beside a log.
#[derive(Debug)]
pub(crate) struct Beside {
    pub(crate) turn: File,
    lost: File,
}

impl Beside {
    /// Opens them in the user's own folder, and makes them where they are missing. A log is known by
    /// where it lies.
    pub(crate) fn open(folder: &Path, log: &Path) -> io::Result<Self> {
        let above = match log.parent() {
            Some(above) if !above.as_os_str().is_empty() => above.canonicalize()?,
            Some(_) | None => Path::new(".").canonicalize()?,
        };
        let place = above.join(log.file_name().unwrap_or_default());
        let name: String =
            Hash::of(place.as_os_str().as_bytes()).to_string().chars().take(32).collect();
        let turn = folder.join(format!("log-{name}.turn"));
        let turn = match opened(&turn) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
                opened(&turn)?
            }
            found => found?,
        };
        let lost = opened(&folder.join(format!("log-{name}.lost")))?;
        let beside = Self { turn, lost };
        if beside.lost.metadata()?.len() == 0 {
            // Room for the number is taken while there is some: a full disk is one way to lose events.
            // Where there is none, each process counts for itself.
            beside.changed(|count| count).ok();
        }
        Ok(beside)
    }

    /// Returns how many events were lost and not told of.
    pub(crate) fn lost(&self) -> u64 {
        let mut text = [0; LENGTH];
        let read = self.lost.read_at(&mut text, 0).unwrap_or(0);
        text.get(..read)
            .and_then(|text| std::str::from_utf8(text).ok())
            .and_then(|text| text.trim().parse().ok())
            .unwrap_or(0)
    }

    /// Counts events that were lost.
    pub(crate) fn lose(&self, count: u64) -> io::Result<()> {
        self.changed(|lost| lost.saturating_add(count))
    }

    /// Takes off what was told of.
    pub(crate) fn told(&self, count: u64) -> io::Result<()> {
        self.changed(|lost| lost.saturating_sub(count))
    }

    fn changed(&self, change: impl FnOnce(u64) -> u64) -> io::Result<()> {
        if !locked(&self.lost, FlockOperation::NonBlockingLockExclusive, PATIENCE)? {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        // In place, so that a full disk has room for it.
        let text = format!("{:0width$}\n", change(self.lost()), width = LENGTH - 1);
        let written = self.lost.write_all_at(text.as_bytes(), 0);
        flock(&self.lost, FlockOperation::Unlock)?;
        written
    }
}

/// Takes a lock; false if somebody else holds it for longer than that.
pub(crate) fn locked(
    file: &File,
    operation: FlockOperation,
    patience: Duration,
) -> io::Result<bool> {
    let mut due = None;
    let mut pause = Duration::from_micros(20);
    loop {
        match flock(file, operation) {
            Ok(()) => return Ok(true),
            Err(Errno::WOULDBLOCK) => {}
            Err(Errno::INTR) => continue,
            Err(errno) => return Err(errno.into()),
        }
        let now = Instant::now();
        if now >= *due.get_or_insert(now + patience) {
            return Ok(false);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    }
}

fn opened(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(flags);
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file"));
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use palisade_testkit::Project;

    use super::*;

    #[test]
    fn losses_of_all_processes_are_counted_together() {
        let folder = Project::new().dir("log");
        let open =
            || Beside::open(&folder.path("state/audit"), &folder.path("log/e.jsonl")).unwrap();
        let (one, other) = (open(), open());
        std::thread::scope(|scope| {
            for beside in [&one, &other] {
                scope.spawn(move || (0..50).for_each(|_| beside.lose(1).unwrap()));
            }
        });
        assert_eq!(one.lost(), 100);
        other.told(99).unwrap();
        assert_eq!(open().lost(), 1);
        let elsewhere = Beside::open(&folder.path("state/audit"), &folder.path("e.jsonl")).unwrap();
        assert_eq!(elsewhere.lost(), 0);
    }
}
