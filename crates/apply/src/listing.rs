//! The names in a folder, read at once: most of what policies name is nowhere, and to ask for each
//! takes longer.

use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

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
        let open = opened(folder);
        Self(open.and_then(|open| told(&open, None)))
    }

    /// Reads the names in a folder, and tells all that can be read, in no order.
    pub fn read_and_tell(folder: &Path, mut each: impl FnMut(&OsStr)) -> Self {
        let open = opened(folder);
        Self(open.and_then(|open| told(&open, Some(&mut each))))
    }

    /// Reads the names in a folder that is open for that, and has not been read.
    pub fn of(folder: &impl AsFd) -> Self {
        Self(told(folder, None))
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
}

fn opened(folder: &Path) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(folder, flags, Mode::empty()).ok()
}

/// Who is told of every name.
type Each<'e> = &'e mut dyn FnMut(&OsStr);

#[cfg(not(target_os = "linux"))]
fn told(open: &impl AsFd, each: Option<Each<'_>>) -> Option<Box<[u64; WORDS]>> {
    let each = each?;
    for entry in rustix::fs::Dir::read_from(open).ok()? {
        let entry = entry.ok()?;
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b"..") {
            each(OsStr::from_bytes(name));
        }
    }
    None
}

#[cfg(target_os = "linux")]
fn told(open: &impl AsFd, mut each: Option<Each<'_>>) -> Option<Box<[u64; WORDS]>> {
    let filesystem = rustix::fs::fstatfs(open).ok().and_then(|it| u64::try_from(it.f_type).ok());
    let is_honest = filesystem.is_some_and(|filesystem| HONEST.contains(&filesystem));
    let mut bits = is_honest.then(|| Box::new([0; WORDS]));
    let mut room = [std::mem::MaybeUninit::uninit(); ROOM];
    let mut entries = rustix::fs::RawDir::new(open, &mut room);
    let mut left = ROOM;
    while bits.is_some() || each.is_some() {
        let Some(entry) = entries.next() else { break };
        let entry = entry.ok()?;
        let name = entry.file_name().to_bytes();
        if let Some(each) = each.as_mut().filter(|_| !matches!(name, b"." | b"..")) {
            each(OsStr::from_bytes(name));
        }
        bits = bits.and_then(|mut bits| {
            left = left.checked_sub(name.len())?;
            // Which letters others are taken for is the filesystem's secret.
            let (word, bit) = Some(place(name)).filter(|_| name.is_ascii())?;
            *bits.get_mut(word)? |= bit;
            Some(bits)
        });
    }
    bits
}

/// Returns whether something lies at one of these paths. Those after the first are looked for among the
/// names of their folder: mostly there are none of them.
pub fn is_any_there(paths: &[PathBuf]) -> bool {
    let mut listed: Option<(&Path, Listing)> = None;
    paths.iter().enumerate().any(|(at, path)| {
        if let Some((folder, name)) = path.parent().zip(path.file_name()).filter(|_| at > 0) {
            let known = listed.take().filter(|(known, _)| *known == folder);
            let (_, names) =
                listed.insert(known.unwrap_or_else(|| (folder, Listing::read(folder))));
            if !names.may_have(name) {
                return false;
            }
        }
        path.symlink_metadata().is_ok()
    })
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
    fn any_of_some_paths_is_there_or_none() {
        let project =
            Project::new().file("b", "x").symlink("c", "nowhere").dir("d").file("d/e", "");
        let paths = |names: &[&str]| names.iter().map(|it| project.path(it)).collect::<Vec<_>>();
        let cases: [(&[&str], bool); 9] = [
            (&[], false),
            (&["a"], false),
            (&["b"], true),
            (&["a", "b"], true),
            (&["a", "c"], true),
            (&["a", "x", "y", "d"], true),
            (&["a", "x", "d/e", "y"], true),
            (&["a", "x/y", "d/x", "z"], false),
            (&["a", "b/x"], false),
        ];
        for (names, expected) in cases {
            assert_eq!(is_any_there(&paths(names)), expected, "{names:?}");
        }
        assert!(is_any_there(&["/nowhere".into(), "/proc/self/exe".into()]));
    }

    #[test]
    fn every_name_is_told_also_those_that_are_not_kept() {
        let project = Project::new().file("x.sln", "").file("\u{17f}", "").dir("d");
        let mut told = Vec::new();
        let names = Listing::read_and_tell(project.root(), |name| told.push(name.to_owned()));
        told.sort();
        assert_eq!(told, ["d", "x.sln", "\u{17f}"]);
        assert!(names.may_have("y".as_ref()), "there are letters that are not known");
        let mut told = 0;
        assert!(!Listing::read_and_tell(Path::new("/proc"), |_| told += 1).is_whole());
        assert!(told > 10);
    }

    #[test]
    fn what_cannot_be_listed_may_have_anything() {
        assert!(Listing::read(Path::new("/proc/self")).may_have("exe".as_ref()));
        assert!(Listing::read(Path::new("/nowhere")).may_have("x".as_ref()));
    }
}
