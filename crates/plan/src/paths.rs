//! Paths as bytes: there are many, and going through their components takes ten times as long.

use std::cmp::Ordering;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Returns which of two paths comes first in the order of their bytes. Paths of one policy begin
/// alike, and the C library that we ship with compares one byte at a time.
pub fn by_bytes(one: &Path, other: &Path) -> Ordering {
    let (one, other) = (one.as_os_str().as_encoded_bytes(), other.as_os_str().as_encoded_bytes());
    let (ours, ours_left) = one.as_chunks::<8>();
    let (theirs, theirs_left) = other.as_chunks::<8>();
    for (ours, theirs) in ours.iter().zip(theirs) {
        let (ours, theirs) = (u64::from_be_bytes(*ours), u64::from_be_bytes(*theirs));
        if ours != theirs {
            return ours.cmp(&theirs);
        }
    }
    match ours.len().cmp(&theirs.len()) {
        Ordering::Equal => ours_left.cmp(theirs_left),
        Ordering::Less => ours_left.cmp(other.get(ours.len() * 8..).unwrap_or_default()),
        Ordering::Greater => one.get(theirs.len() * 8..).unwrap_or_default().cmp(theirs_left),
    }
}

/// Sorts paths as [`by_bytes`] does. Hundreds of them begin alike: what all have in common is looked at
/// once, and then a number tells most of them apart.
pub(crate) fn sort_by_bytes(paths: &mut Vec<PathBuf>) {
    let mut keys: Vec<Key> = (0..paths.len()).map(|at| Key { start: 0, at }).collect();
    sort_behind(paths, &mut keys, 0);
    let mut taken = std::mem::take(paths);
    let sorted = keys.iter().filter_map(|key| taken.get_mut(key.at).map(std::mem::take));
    *paths = sorted.collect();
}

/// One of some paths: what it begins with behind what all have in common, and its place.
#[derive(Clone, Copy)]
struct Key {
    start: u128,
    at: usize,
}

/// How many bytes a key tells.
const TOLD: usize = 16;

/// Sorts paths that are the same up to a byte.
fn sort_behind(paths: &[PathBuf], keys: &mut [Key], from: usize) {
    let bytes = |key: &Key| {
        let path = paths.get(key.at).map(|path| path.as_os_str().as_encoded_bytes());
        path.and_then(|path| path.get(from..)).unwrap_or_default()
    };
    let [first, others @ ..] = &*keys else { return };
    let first = bytes(first);
    let same = others.iter().map(|other| alike(first, bytes(other))).min().unwrap_or(first.len());
    if same == first.len() && others.iter().all(|other| bytes(other).len() == same) {
        return; // they are one path
    }
    for key in &mut *keys {
        key.start = start(bytes(key).get(same..).unwrap_or_default());
    }
    keys.sort_unstable_by_key(|key| key.start);
    for group in keys.chunk_by_mut(|one, other| one.start == other.start) {
        if group.len() > 1 {
            sort_short(paths, group, from + same + TOLD);
        }
    }
}

/// Sorts paths of which the same bytes were told. One that has no more of them comes first: paths have
/// no NUL, which fills up what is short.
fn sort_short(paths: &[PathBuf], keys: &mut [Key], from: usize) {
    let ended = |key: &Key| paths.get(key.at).is_none_or(|path| path.as_os_str().len() <= from);
    match keys.iter().filter(|key| ended(key)).count() {
        0 => sort_behind(paths, keys, from),
        _ => keys.sort_unstable_by(|one, other| match (paths.get(one.at), paths.get(other.at)) {
            (Some(one), Some(other)) => by_bytes(one, other),
            (one, other) => one.cmp(&other),
        }),
    }
}

/// Returns the first bytes as a number that sorts as they do.
fn start(bytes: &[u8]) -> u128 {
    match bytes.first_chunk::<TOLD>() {
        Some(start) => u128::from_be_bytes(*start),
        None => {
            let mut start = [0; TOLD];
            start.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
            u128::from_be_bytes(start)
        }
    }
}

/// Returns whether a path is a folder or lies in it. Both are made of names alone, with one slash
/// before each.
pub(crate) fn is_within(path: &Path, folder: &Path) -> bool {
    let folder = folder.as_os_str().as_encoded_bytes();
    match path.as_os_str().as_encoded_bytes().strip_prefix(folder) {
        Some([] | [b'/', ..]) => true,
        Some(_) => folder == b"/",
        None => false,
    }
}

/// Where paths lie.
pub(crate) trait Lies {
    /// Returns whether a path is a folder or lies in it: what `starts_with` returns, which looks at
    /// every name of both. Mostly the first bytes that differ tell.
    fn lies_in(&self, folder: impl AsRef<Path>) -> bool;

    /// Returns whether two paths are the same, as `==` does.
    fn is(&self, other: &Path) -> bool;
}

impl Lies for Path {
    fn lies_in(&self, folder: impl AsRef<Self>) -> bool {
        let folder = folder.as_ref();
        told_by_bytes(self, folder).unwrap_or_else(|| self.starts_with(folder))
    }

    fn is(&self, other: &Self) -> bool {
        told_by_bytes(self, other) != Some(false) && self == other
    }
}

/// Tells it by the first bytes that differ, unless there are slashes or dots that say nothing.
fn told_by_bytes(path: &Path, folder: &Path) -> Option<bool> {
    let (path, folder) =
        (path.as_os_str().as_encoded_bytes(), folder.as_os_str().as_encoded_bytes());
    let alike = alike(path, folder);
    let (same, rest) = path.split_at_checked(alike)?;
    let (_, folders_rest) = folder.split_at_checked(alike)?;
    match (rest, folders_rest) {
        ([] | [b'/', ..], []) => return Some(true),
        ([], [b'/', ..]) => return None,
        _ => {}
    }
    // The name that they differ in, if both have one there.
    let start = same.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    let is_name = |path: &[u8]| match path.get(start..) {
        None | Some([] | [b'/', ..] | [b'.'] | [b'.', b'/', ..]) => false,
        Some(_) => true,
    };
    (is_name(path) && is_name(folder)).then_some(false)
}

/// Returns how many bytes at their beginnings are the same.
fn alike(one: &[u8], other: &[u8]) -> usize {
    let (ours, theirs) = (one.as_chunks::<8>().0, other.as_chunks::<8>().0);
    let whole = 8 * ours.iter().zip(theirs).take_while(|(ours, theirs)| ours == theirs).count();
    let rest = one.iter().zip(other).skip(whole);
    whole + rest.take_while(|(ours, theirs)| ours == theirs).count()
}

/// Returns the folder of a path, and the name in it; nothing of one that ends in no name. It is
/// what `parent` and `file_name` return, who look at more of a path.
pub fn split(path: &Path) -> Option<(&Path, &OsStr)> {
    if let Some((above, name)) = path.to_str().and_then(|text| text.rsplit_once('/'))
        && !matches!(name, "" | "." | "..")
        && !above.is_empty()
        && !above.ends_with(['/', '.'])
    {
        return Some((Path::new(above), OsStr::new(name)));
    }
    path.parent().zip(path.file_name())
}

/// Returns the path of a name, or of several that are not absolute, in a folder: what `join` returns,
/// which looks at more of a path.
pub fn below(folder: &Path, name: &OsStr) -> PathBuf {
    let folder = folder.as_os_str();
    let mut path = OsString::with_capacity(folder.len() + 1 + name.len());
    path.push(folder);
    if !folder.as_encoded_bytes().ends_with(b"/") {
        path.push("/");
    }
    path.push(name);
    path.into()
}

/// Folders of the machine, which nobody should open to a command.
const SYSTEM: [&str; 14] = [
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/run",
    "/sbin", "/sys", "/usr", "/var",
];

/// Returns whether a path lies in a folder of the machine.
pub fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|system| path.starts_with(system))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_in_the_order_of_their_bytes() {
        let texts =
            ["", "/", "/a", "/home/x", "/home/x/.a", "/home/x/.ab", "/home/xy", "/home/\u{e9}"];
        let long = texts.map(|text| format!("/a/rather/long/beginning{text}"));
        let paths: Vec<&Path> =
            texts.iter().map(Path::new).chain(long.iter().map(Path::new)).collect();
        for one in &paths {
            for other in &paths {
                let expected = one.as_os_str().cmp(other.as_os_str());
                assert_eq!(by_bytes(one, other), expected, "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn many_paths_are_sorted_as_two_are() {
        let pieces =
            ["", "a", "ab", "b", "/", ".config/containers", ".config/container", "\0", "\u{e9}"];
        let mut texts: Vec<String> = vec![String::new()];
        for _ in 0..3 {
            let longer = texts.iter().flat_map(|text| pieces.map(|piece| format!("{text}{piece}")));
            texts = longer.collect();
        }
        let beginnings = ["", "/home/somebody/", "/home/somebody/project/of/theirs/"];
        let paths =
            beginnings.iter().flat_map(|start| texts.iter().map(move |it| format!("{start}{it}")));
        let paths: Vec<PathBuf> = paths.map(PathBuf::from).collect();
        for some in [&paths[..], &paths[..1], &[]] {
            let (mut quick, mut plain) = (some.to_vec(), some.to_vec());
            sort_by_bytes(&mut quick);
            plain.sort_by(|one, other| one.as_os_str().cmp(other.as_os_str()));
            let texts = |paths: &[PathBuf]| -> Vec<_> {
                paths.iter().map(|path| path.as_os_str().to_owned()).collect()
            };
            assert_eq!(texts(&quick), texts(&plain));
        }
    }

    #[test]
    fn paths_lie_in_folders_as_the_library_has_it() {
        let paths = ["/", "/a", "/a/b", "/ab", "/a/b/c", "/b"].map(Path::new);
        for (path, folder) in paths.iter().flat_map(|path| paths.map(|folder| (path, folder))) {
            assert_eq!(is_within(path, folder), path.starts_with(folder), "{path:?} {folder:?}");
        }
    }

    #[test]
    fn paths_lie_in_anything_as_the_library_has_it() {
        let pieces = ["", "/", "a", "ab", ".", "..", ".a", "//", "b"];
        let mut paths: Vec<String> = vec![String::new()];
        for _ in 0..3 {
            let longer = paths.iter().flat_map(|path| pieces.map(|piece| format!("{path}{piece}")));
            paths = longer.collect();
            paths.sort_unstable();
            paths.dedup();
        }
        paths.extend(["/home/x/.ssh", "/home/x/.ssh/key", "/home/xy"].map(str::to_owned));
        let mut told = 0_usize;
        for (path, folder) in paths.iter().flat_map(|path| paths.iter().map(move |it| (path, it))) {
            let (path, folder) = (Path::new(path), Path::new(folder));
            assert_eq!(path.lies_in(folder), path.starts_with(folder), "{path:?} {folder:?}");
            assert_eq!(path.is(folder), path == folder, "{path:?} {folder:?}");
            told += usize::from(told_by_bytes(path, folder).is_some());
        }
        assert!(told > paths.len() * paths.len() / 4, "{told} are told by their bytes");
    }

    #[test]
    fn paths_are_split_and_joined_as_the_library_does() {
        let paths =
            ["/", "/a", "/a/b", "/a/b/", "/a/./b", "/a/.", "/a/..", "/a/x./b", "//a", "a/b"];
        for path in paths.map(Path::new) {
            assert_eq!(split(path), path.parent().zip(path.file_name()), "{path:?}");
            for name in ["c", "c/d", ".c"] {
                assert_eq!(below(path, name.as_ref()), path.join(name), "{path:?} {name}");
            }
        }
    }
}
