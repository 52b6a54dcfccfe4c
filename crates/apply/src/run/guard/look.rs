//! Looking at what is guarded from time to time, without asking the kernel to tell.

use std::path::Path;
use std::time::{Duration, Instant};

use palisade_plan::Note;
use rustix::fs::{AtFlags, CWD, StatxFlags, statx};

use super::Watch;
use super::again::again;

/// When there is a look, in milliseconds from the start.
const TIMES: [u64; 6] = [1, 2, 4, 8, 16, 32];

/// When looks are no longer enough.
const END: Duration = Duration::from_millis(50);

/// Which file or folder it is: its filesystem, its inode, and when it was made, because inodes are used
/// again.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Identity {
    device: (u32, u32),
    inode: u64,
    made: (i64, u32),
}

impl Identity {
    /// Returns the filesystem that it is on.
    pub(super) fn device(self) -> (u32, u32) {
        self.device
    }

    /// Returns which one lies at a path; none if nothing does.
    pub(super) fn at(path: &Path) -> Option<Self> {
        let wanted = StatxFlags::INO | StatxFlags::BTIME;
        let seen = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, wanted).ok()?;
        Some(Self {
            device: (seen.stx_dev_major, seen.stx_dev_minor),
            inode: seen.stx_ino,
            made: (seen.stx_btime.tv_sec, seen.stx_btime.tv_nsec),
        })
    }
}

/// What the last look saw, and when the next one is.
#[derive(Clone, Debug)]
pub(super) struct Looks {
    seen: Vec<Option<Identity>>,
    begun: Instant,
    number: usize,
}

impl Looks {
    /// Goes on from what was seen before the sandbox was made.
    pub(super) fn new(seen: Vec<Option<Identity>>) -> Self {
        // What only a thread looks for can wait until there is one.
        let number = if seen.is_empty() { TIMES.len() } else { 0 };
        Self { seen, begun: Instant::now(), number }
    }

    /// Returns when the next look is due; none if there is none.
    pub(super) fn due(&self) -> Option<Instant> {
        let after = match TIMES.get(self.number) {
            Some(milliseconds) => Duration::from_millis(*milliseconds),
            None if self.number == TIMES.len() => END,
            None => return None,
        };
        Some(self.begun + after)
    }

    /// Counts the looks that were due by now, and returns whether this was the last.
    pub(super) fn pass(&mut self, now: Instant) -> bool {
        while self.due().is_some_and(|due| due <= now) {
            self.number += 1;
        }
        self.due().is_none()
    }

    /// Looks on at the last interval: looks are all there is.
    pub(super) fn begin_again(&mut self, now: Instant) {
        (self.begun, self.number) = (now, TIMES.len());
    }

    /// Looks, and returns whether something has come in the place of something else.
    pub(super) fn differ(&self, watch: &Watch) -> bool {
        let mut names = watch.names.iter().zip(&self.seen);
        names.any(|(name, seen)| Identity::at(name.path()) != *seen)
    }

    /// Looks, and guards what has come in the place of something.
    pub(super) fn look(&mut self, watch: &Watch) -> Vec<Note> {
        let mut notes = Vec::new();
        for (name, seen) in watch.names.iter().zip(&mut self.seen) {
            let is = Identity::at(name.path());
            if is != *seen {
                *seen = is;
                notes.extend(again(name, watch));
            }
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use palisade_testkit::Project;

    use super::*;

    #[test]
    fn a_file_that_is_replaced_is_another_and_one_that_is_written_is_not() {
        let project = Project::new().file("config", "old").file("other", "new");
        let config = project.path("config");
        let first = Identity::at(&config);
        assert!(first.is_some());
        fs::write(&config, "written").unwrap();
        assert_eq!(Identity::at(&config), first);
        fs::rename(project.path("other"), &config).unwrap();
        assert_ne!(Identity::at(&config), first);
        fs::remove_file(&config).unwrap();
        assert_eq!(Identity::at(&config), None);
        fs::create_dir(&config).unwrap();
        let folder = Identity::at(&config);
        assert!(folder.is_some() && folder != first);
        fs::write(config.join("inside"), "").unwrap();
        assert_eq!(Identity::at(&config), folder, "what is in it is its own");
    }

    #[test]
    fn an_inode_that_is_used_again_does_not_deceive() {
        let project = Project::new().file("config", "old");
        let config = project.path("config");
        let first = Identity::at(&config);
        // The clock that files are dated by ticks a few times in this.
        std::thread::sleep(Duration::from_millis(30));
        for _ in 0..50 {
            fs::remove_file(&config).unwrap();
            fs::write(&config, "new").unwrap();
            assert_ne!(Identity::at(&config), first);
        }
    }

    #[test]
    fn looks_come_ever_later_and_then_no_more() {
        let mut looks = Looks::new(vec![None]);
        let begun = looks.begun;
        let mut times = Vec::new();
        while let Some(due) = looks.due() {
            times.push((due - begun).as_millis());
            let last = looks.pass(due);
            assert_eq!(last, looks.due().is_none());
        }
        assert_eq!(times, [1, 2, 4, 8, 16, 32, 50]);
        let none = Looks::new(Vec::new());
        assert_eq!(none.due(), Some(none.begun + END), "there is nothing to look at");
        let mut late = Looks::new(vec![None]);
        assert!(!late.pass(late.begun + Duration::from_millis(20)));
        assert_eq!(late.due(), Some(late.begun + Duration::from_millis(32)), "none is made up for");
        assert!(late.pass(late.begun + Duration::from_secs(1)));
    }
}
