//! The names in a folder, read at once: most of what policies name is nowhere, and to ask for each
//! takes longer.

use std::ffi::OsStr;
use std::path::Path;

/// The names in a folder, as bits at places that the letters of each name tell. A name whose bit is
/// not set is not there; any other may be.
#[derive(Clone, Debug)]
pub struct Listing(Option<Box<[u64; WORDS]>>);

/// Enough that most of what is not there is told apart in a home of a few hundred names.
const WORDS: usize = 64;

/// Names are read up to this many bytes of the kernel's answer.
#[cfg(target_os = "linux")]
const ROOM: usize = 32 << 10;

/// Filesystems that list every name that they find, and no name in two spellings but for letter
/// case: ext2 to ext4, XFS, Btrfs, F2FS, tmpfs and overlays. Not ZFS, which does not list `.zfs`.
#[cfg(target_os = "linux")]
const HONEST: [u64; 6] = [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x0102_1994, 0x794c_7630];

impl Listing {
    /// Reads the names in a folder. Where that cannot be done, or not all of them would be found,
    /// there may be any.
    pub fn read(folder: &Path) -> Self {
        Self(Self::listed(folder))
    }

    /// Returns whether something of this name may be there, in any letter case.
    pub fn may_have(&self, name: &OsStr) -> bool {
        match &self.0 {
            Some(bits) if name.is_ascii() => {
                let (word, bit) = place(name.as_encoded_bytes());
                bits.get(word).is_none_or(|bits| bits & bit != 0)
            }
            Some(_) | None => true,
        }
    }

    #[cfg(test)]
    pub(crate) fn is_whole(&self) -> bool {
        self.0.is_some()
    }

    #[cfg(not(target_os = "linux"))]
    fn listed(_: &Path) -> Option<Box<[u64; WORDS]>> {
        None
    }

    #[cfg(target_os = "linux")]
    fn listed(folder: &Path) -> Option<Box<[u64; WORDS]>> {
        use rustix::fs::{Mode, OFlags, RawDir};
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = rustix::fs::open(folder, flags, Mode::empty()).ok()?;
        let filesystem = rustix::fs::fstatfs(&open).ok()?.f_type;
        if !HONEST.contains(&u64::try_from(filesystem).ok()?) {
            return None;
        }
        let mut bits = Box::new([0; WORDS]);
        let mut room = [std::mem::MaybeUninit::uninit(); ROOM];
        let mut entries = RawDir::new(&open, &mut room);
        let mut left = ROOM;
        while let Some(entry) = entries.next() {
            let entry = entry.ok()?;
            let name = entry.file_name().to_bytes();
            left = left.checked_sub(name.len())?;
            // Which letters others are taken for is the filesystem's secret.
            if !name.is_ascii() {
                return None;
            }
            let (word, bit) = place(name);
            *bits.get_mut(word)? |= bit;
        }
        Some(bits)
    }
}

/// Returns the word and the bit of a name, the same in every letter case (FNV-1a).
fn place(name: &[u8]) -> (usize, u64) {
    let hash = name.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0000_01b3)
    });
    let hash = hash ^ (hash >> 32);
    let word = usize::try_from((hash >> 6) & 0xffff).unwrap_or_default();
    (word % WORDS, 1 << (hash % 64))
}

#[cfg(test)]
mod tests {
    use palisade_testkit::Project;

    use super::*;

    #[test]
    fn a_name_may_be_there_in_another_letter_case_or_in_letters_that_are_not_known() {
        let project = Project::new().file(".BashRC", "x");
        let names = Listing::read(project.root());
        assert!(names.may_have(".bashrc".as_ref()) && !names.may_have(".zshrc".as_ref()));
        assert!(names.may_have(".ba\u{17f}hrc".as_ref()));
        let project = Project::new().file(".ba\u{17f}hrc", "x");
        assert!(Listing::read(project.root()).may_have(".bashrc".as_ref()));
    }

    #[test]
    fn what_cannot_be_listed_may_have_anything() {
        assert!(Listing::read(Path::new("/proc/self")).may_have("exe".as_ref()));
        assert!(Listing::read(Path::new("/nowhere")).may_have("x".as_ref()));
    }
}
