//! How often a person is asked: nobody reads the hundredth question.
//!
//! A bucket holds ten questions and gets a new one every six seconds, for all processes of a user
//! together. What was answered with no, or not at all, is not asked again for a minute.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use rustix::fs::{FlockOperation, OFlags, flock};
use serde_json::{Value, json};

/// How many questions may come at once.
const MOST: u64 = 10;

/// How long it takes until one more may come, in milliseconds.
const EACH: u64 = 6000;

/// How long a no holds for the same question.
const HOLDS: Duration = Duration::from_secs(60);

/// How many refusals are remembered.
const REMEMBERED: usize = 256;

/// Whether a person may be asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum May {
    Ask,
    /// The same was refused just now.
    Again,
    /// There were too many questions.
    Flood,
}

/// Counts questions.
#[derive(Debug, Default)]
pub(super) struct Patience {
    own: Mutex<Spent>,
    /// Where all processes of the user count together.
    file: Option<PathBuf>,
}

/// What was asked lately.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Spent {
    /// Milliseconds of waiting that are owed.
    owed: u64,
    /// When that was so, in milliseconds since 1970.
    at: u64,
    /// What was refused, and when.
    refused: BTreeMap<String, u64>,
}

impl Patience {
    pub(super) fn new(file: Option<PathBuf>) -> Self {
        Self { own: Mutex::default(), file }
    }

    /// Asks whether a question may be put, and counts it if so.
    pub(super) fn may_ask(&self, hash: &str, now: SystemTime) -> May {
        self.change(|spent| spent.ask(hash, milliseconds(now)))
    }

    /// Takes a question back that nobody saw.
    pub(super) fn unasked(&self) {
        self.change(|spent| spent.owed = spent.owed.saturating_sub(EACH));
    }

    /// Remembers that a question was not answered with yes.
    pub(super) fn refused(&self, hash: &str, now: SystemTime) {
        self.change(|spent| spent.refuse(hash, milliseconds(now)));
    }

    fn change<T>(&self, change: impl FnOnce(&mut Spent) -> T) -> T {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        // Where no file can be had, this process counts for itself.
        let file = self.file.as_deref().and_then(opened);
        if let Some(found) = file.as_ref().and_then(Spent::read) {
            *own = found;
        }
        let changed = change(&mut own);
        if let Some(file) = file {
            own.write(file);
        }
        changed
    }
}

/// Opens the file and holds its lock, for as long as it is open.
fn opened(path: &Path) -> Option<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(flags);
    let file = match options.open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            std::fs::create_dir_all(path.parent()?).ok()?;
            options.open(path)
        }
        opened => opened,
    };
    let file = file.ok().filter(|file| file.metadata().is_ok_and(|it| it.is_file()))?;
    for _ in 0..50 {
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            return Some(file);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    None
}

impl Spent {
    fn ask(&mut self, hash: &str, now: u64) -> May {
        // A clock that was set back pays nothing off.
        self.owed = self.owed.saturating_sub(now.saturating_sub(self.at));
        self.at = now;
        let held = u64::try_from(HOLDS.as_millis()).unwrap_or(u64::MAX);
        self.refused.retain(|_, at| now.abs_diff(*at) < held);
        if self.refused.contains_key(hash) {
            return May::Again;
        }
        if self.owed > EACH * (MOST - 1) {
            return May::Flood;
        }
        self.owed += EACH;
        May::Ask
    }

    fn refuse(&mut self, hash: &str, now: u64) {
        if self.refused.len() < REMEMBERED {
            self.refused.insert(hash.to_owned(), now);
        }
    }

    fn read(mut file: &File) -> Option<Self> {
        let mut text = String::new();
        file.take(64 << 10).read_to_string(&mut text).ok()?;
        file.rewind().ok()?;
        let value: Value = serde_json::from_str(&text).ok()?;
        let refused = value["refused"].as_object()?.iter();
        let refused = refused.filter_map(|(hash, at)| Some((hash.clone(), at.as_u64()?)));
        // Whatever is there, nobody owes more than a full bucket.
        let owed = value["owed"].as_u64()?.min(EACH * MOST);
        Some(Self { owed, at: value["at"].as_u64()?, refused: refused.take(REMEMBERED).collect() })
    }

    fn write(&self, mut file: File) {
        let Self { owed, at, refused } = self;
        let text = json!({ "owed": owed, "at": at, "refused": refused }).to_string();
        // What cannot be written is counted by this process alone.
        if file.set_len(0).and_then(|()| file.write_all(text.as_bytes())).is_err() {
            file.set_len(0).ok();
        }
    }
}

fn milliseconds(at: SystemTime) -> u64 {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use palisade_testkit::Project;

    use super::*;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000 + seconds)
    }

    #[test]
    fn e028_a_flood_of_questions_and_the_same_one_again_are_answered_with_no() {
        let folder = Project::new();
        let file = folder.path("state/questions");
        // Each process has its own counter, and all have one file.
        let ask =
            |hash: &str, seconds| Patience::new(Some(file.clone())).may_ask(hash, at(seconds));
        for number in 0..MOST {
            assert_eq!(ask(&format!("call {number}"), 0), May::Ask, "{number}");
        }
        assert_eq!(ask("one more", 0), May::Flood);
        assert_eq!(ask("one more", 5), May::Flood);
        assert_eq!(ask("one more", 6), May::Ask, "after a while there is room for one");
        assert_eq!(ask("and one", 6), May::Flood);
        Patience::new(Some(file.clone())).refused("one more", at(7));
        assert_eq!(ask("one more", 60), May::Again, "what was refused just now");
        assert_eq!(ask("other", 60), May::Ask);
        assert_eq!(ask("one more", 68), May::Ask);
    }

    #[test]
    fn clocks_and_files_that_lie_open_nothing() {
        let folder = Project::new().file("questions", "{\"owed\":1e99}").dir("folder");
        for name in ["questions", "folder", "none/x"] {
            let patience = Patience::new(Some(folder.path(name)));
            let asked = |seconds: u64| {
                let ask = |n: u32| patience.may_ask(&format!("{name} {seconds} {n}"), at(seconds));
                (0..20).map(ask).filter(|may| *may == May::Ask).count()
            };
            assert_eq!(asked(1000), 10, "{name}");
            assert_eq!(asked(0), 0, "set back: {name}");
            assert_eq!(asked(1_000_000), 10, "set far ahead: {name}");
        }
    }
}
