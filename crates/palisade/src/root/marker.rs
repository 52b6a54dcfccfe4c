//! Markers: the files and folders that say "a project starts here".

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use palisade_apply::Listing;
use rustix::fs::{Mode, OFlags, open};

use super::Unfit;

/// What a marker has to be, besides being there.
#[derive(Clone, Copy)]
enum Shape {
    /// A folder that holds something, or a file that names one (worktrees, submodules).
    ///
    /// An empty `.git` is what other sandboxes leave behind where they covered one.
    Git,
    Folder,
    File,
}

const MARKERS: [(&str, Shape); 10] = [
    (".palisade", Shape::Folder),
    (".git", Shape::Git),
    (".hg", Shape::Folder),
    (".svn", Shape::Folder),
    ("pyproject.toml", Shape::File),
    ("setup.py", Shape::File),
    ("package.json", Shape::File),
    ("pnpm-workspace.yaml", Shape::File),
    ("Cargo.toml", Shape::File),
    ("go.mod", Shape::File),
];

/// The ending of markers whose names are not known beforehand.
const SOLUTION: &str = ".sln";

/// What a folder says about being a project.
pub(super) enum Sighting {
    /// A marker of the caller's.
    Marker(String),
    /// Something that would be a marker, if it were the caller's.
    Ignored(String, Unfit),
    Nothing,
}

/// How many markers are looked for by their names, before all names of the folder are read: nearly every
/// project has one of these.
const FIRST: usize = 2;

/// Looks for a marker of `uid` directly in `folder`.
pub(super) fn look(folder: &Path, uid: u32) -> Sighting {
    let mut seen = Sighting::Nothing;
    let mut names = None;
    for (number, (name, shape)) in MARKERS.into_iter().enumerate() {
        if number >= FIRST {
            let (names, _) = names.get_or_insert_with(|| names_in(folder));
            if !names.may_have(OsStr::new(name)) {
                continue;
            }
        }
        match judge(folder, name, shape, uid) {
            found @ Sighting::Marker(_) => return found,
            ignored @ Sighting::Ignored(..) => seen = ignored,
            Sighting::Nothing => {}
        }
    }
    for name in names.map(|(_, solutions)| solutions).unwrap_or_default() {
        match judge(folder, &name, Shape::File, uid) {
            found @ Sighting::Marker(_) => return found,
            ignored @ Sighting::Ignored(..) => seen = ignored,
            Sighting::Nothing => {}
        }
    }
    seen
}

fn judge(folder: &Path, name: &str, shape: Shape, uid: u32) -> Sighting {
    let path = folder.join(name);
    let Ok(itself) = fs::symlink_metadata(&path) else { return Sighting::Nothing };
    // A link counts like what it leads to, if both ends belong to the caller: whoever owns either
    // could otherwise make and unmake projects in folders of others.
    let Ok(target) = fs::metadata(&path) else { return Sighting::Nothing };
    if !has_shape(&path, &target, shape) {
        Sighting::Nothing
    } else if itself.uid() == uid && target.uid() == uid {
        Sighting::Marker(name.into())
    } else {
        Sighting::Ignored(name.into(), Unfit::ForeignMarker)
    }
}

fn has_shape(path: &Path, target: &Metadata, shape: Shape) -> bool {
    match shape {
        Shape::Git if target.is_dir() => {
            fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some())
        }
        Shape::Git => target.is_file() && starts_with(path, b"gitdir:"),
        Shape::Folder => target.is_dir(),
        Shape::File => target.is_file(),
    }
}

fn starts_with(path: &Path, wanted: &[u8]) -> bool {
    // Non-blocking: between the look and the opening it may have become a pipe.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let Ok(file) = open(path, flags, Mode::empty()).map(fs::File::from) else { return false };
    let mut start = Vec::new();
    file.take(wanted.len() as u64).read_to_end(&mut start).is_ok() && start == wanted
}

/// Reads the names in a folder, and returns those of solutions apart.
fn names_in(folder: &Path) -> (Listing, Vec<String>) {
    let mut solutions = Vec::new();
    let names = Listing::read_and_tell(folder, |name| {
        let name = name.to_str().filter(|it| it.len() > SOLUTION.len() && it.ends_with(SOLUTION));
        solutions.extend(name.map(str::to_owned));
    });
    // The order of a folder is chance; the answer must not be.
    solutions.sort();
    (names, solutions)
}
