//! What a command changed that somebody else will execute later, and what it left in /tmp.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use palisade_plan::{Access, Plan, Step};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, Timespec};
use rustix::io::Errno;

use super::executed::{ACTIVATE, FILES, FOLDERS, INNER, LINKS, SCRIPT};
use super::lent::Lent;
use super::outcome::Touched;
use super::reserve::is_placeholder;

/// What git goes on with in a repository when somebody says so: a line of these can be a command.
const LISTS: [&str; 2] = ["rebase-merge/git-rebase-todo", "sequencer/todo"];

/// Where Python keeps what is executed whenever it starts: `lib/*/site-packages/*.pth` in these.
const ENVIRONMENTS: [&str; 4] = [".venv", "venv", "env", ".local"];

/// The most names of one folder that are read; in a larger one each name is looked for.
const MOST: usize = 512;

/// The most files that are listed, and how deep they are looked for.
pub(super) const LISTED: usize = 64;
const DEPTH: usize = 4;

/// Returns what was changed since `since` in the trees that the plan lets be written.
pub(super) fn touched(plan: &Plan, since: Timespec) -> Vec<Touched> {
    let trees = plan.steps().iter().filter_map(|step| {
        let Step::Keep(keep) = step else { return None };
        (keep.access == Access::Write).then_some(&keep.path)
    });
    trees.flat_map(|tree| in_tree(tree, since)).take(LISTED).collect()
}

fn in_tree(tree: &PathBuf, since: Timespec) -> Vec<Touched> {
    let mut lent = Lent::new([tree]);
    let Ok(folder) = lent.open(tree) else { return Vec::new() };
    let mut look = |below: &Path| {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(&folder, below, flags, Mode::empty()) {
            Err(Errno::ACCESS) => lent.open_below(tree, below),
            open => open,
        }
    };
    let mut there = names(&folder);
    there.iter_mut().for_each(|names| names.sort_unstable());
    let is_one = |names: &Vec<OsString>, name: &str| {
        names.binary_search_by(|had| had.as_os_str().cmp(name.as_ref())).is_ok()
    };
    let may_be = |name: &str| there.as_ref().is_none_or(|names| is_one(names, name));
    let changed = |name: &Path| {
        match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            // What kept a name is ours, should it stay, or somebody else's who runs something here.
            Ok(stat) => is_since(&stat, since) && !is_placeholder(&stat),
            // It is there, and somebody keeps us from looking at it.
            Err(errno) => errno == Errno::ACCESS,
        }
    };
    let mut found = Vec::new();
    for (why, files) in FILES {
        for name in files.iter().filter(|name| may_be(name) && changed(Path::new(name))) {
            found.push(Touched { path: tree.join(name), why });
        }
    }
    let may_hold = |below: &str| may_be(below.split('/').next().unwrap_or_default());
    for (why, name) in INNER.iter().filter(|(_, name)| may_hold(name) && changed(Path::new(name))) {
        found.push(Touched { path: tree.join(name), why });
    }
    for (why, below) in FOLDERS.into_iter().chain([LINKS]) {
        if !may_hold(below) {
            continue;
        }
        let Ok(inner) = look(Path::new(below)) else { continue };
        // Links are made anew, which changes their folder.
        let is_new = |stat: Stat| is_since(&stat, since);
        if below == LINKS.1 && !rustix::fs::fstat(&inner).is_ok_and(is_new) {
            continue;
        }
        for name in names(&inner).unwrap_or_default() {
            let name = Path::new(below).join(OsStr::from_bytes(name.as_bytes()));
            // Samples are never executed.
            if name.extension().is_none_or(|end| end != "sample") && changed(&name) {
                found.push(Touched { path: tree.join(name), why });
            }
        }
    }
    for repository in repositories(&may_be, &mut look) {
        for list in LISTS.map(|list| repository.join(list)).iter().filter(|list| changed(list)) {
            found.push(Touched { path: tree.join(list), why: "hook" });
        }
    }
    for environment in ENVIRONMENTS.into_iter().filter(|name| may_be(name)) {
        let read = ACTIVATE.map(|name| Path::new(environment).join(name)).into_iter();
        let read = read.filter(|path| changed(path));
        found.extend(read.map(|path| Touched { path: tree.join(path), why: "python" }));
        let lib = Path::new(environment).join("lib");
        let Ok(versions) = look(&lib) else { continue };
        for version in names(&versions).unwrap_or_default() {
            let packages = lib.join(version).join("site-packages");
            let Ok(inner) = look(&packages) else { continue };
            let hooks = starters(&inner).into_iter().map(|name| packages.join(name));
            let hooks = hooks.filter(|path| changed(path));
            found.extend(hooks.map(|path| Touched { path: tree.join(path), why: "python" }));
        }
    }
    found
}

/// Returns which of some files, wherever they lie, were changed since `since`, and why they matter.
pub(super) fn touched_among(files: Vec<(PathBuf, &'static str)>, since: Timespec) -> Vec<Touched> {
    let is_touched = |(path, why): &(PathBuf, &'static str)| {
        let stat = rustix::fs::lstat(path);
        stat.is_ok_and(|stat| {
            is_since(&stat, since) && (*why != SCRIPT.0 || stat.st_mode & 0o111 != 0)
        })
    };
    let touched = files.into_iter().filter(is_touched);
    touched.map(|(path, why)| Touched { path, why }).take(LISTED).collect()
}

/// Returns where git may keep lists of what it does next: in the project's repository, or, where the tree
/// is one itself, in what belongs to its worktrees.
fn repositories(
    may_be: &dyn Fn(&str) -> bool,
    look: &mut dyn FnMut(&Path) -> rustix::io::Result<OwnedFd>,
) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    found.extend(may_be(".git").then(|| ".git".into()));
    if may_be("HEAD") && may_be("objects") {
        found.push(PathBuf::new());
        let worktrees = Path::new("worktrees");
        let names = look(worktrees).ok().and_then(|folder| names(&folder)).unwrap_or_default();
        found.extend(names.iter().map(|name| worktrees.join(name)));
    }
    found
}

/// Returns the names of what Python executes at its start, however many others there are.
fn starters(folder: &OwnedFd) -> Vec<OsString> {
    let Ok(entries) = Dir::read_from(folder) else { return Vec::new() };
    let starts = |name: &OsStr| {
        name.as_bytes().ends_with(b".pth")
            || name == "sitecustomize.py"
            || name == "usercustomize.py"
    };
    let names = entries.flatten().map(|it| OsStr::from_bytes(it.file_name().to_bytes()).to_owned());
    names.filter(|name| starts(name)).take(LISTED).collect()
}

/// Returns the names in a folder, unless there are very many.
fn names(folder: &OwnedFd) -> Option<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder).ok()?.flatten() {
        if names.len() == MOST {
            return None;
        }
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(OsStr::from_bytes(name).to_owned());
        }
    }
    Some(names)
}

pub(super) fn is_since(stat: &Stat, since: Timespec) -> bool {
    let nanos = i64::try_from(stat.st_ctime_nsec).unwrap_or(0);
    (stat.st_ctime, nanos) >= (since.tv_sec, since.tv_nsec)
}

/// Returns the files in a private /tmp, which is about to be gone.
pub(super) fn left(tmp: BorrowedFd<'_>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    if let Ok(stat) = rustix::fs::fstat(tmp) {
        list(tmp, Path::new("/tmp"), stat.st_dev, DEPTH, &mut found);
    }
    found.sort();
    found
}

fn list(folder: BorrowedFd<'_>, path: &Path, device: u64, depth: usize, found: &mut Vec<PathBuf>) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(open) = rustix::fs::openat(folder, c".", flags, Mode::empty()) else { return };
    for name in names(&open).unwrap_or_default() {
        let Ok(stat) = rustix::fs::statat(&open, &name, AtFlags::SYMLINK_NOFOLLOW) else {
            continue;
        };
        // What is mounted there is no part of it, and caches of tools are what they are.
        if found.len() == LISTED || stat.st_dev != device || (depth == DEPTH && name == ".cache") {
            continue;
        }
        let path = path.join(&name);
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            found.push(path);
        } else if depth > 1
            && let Ok(inner) = rustix::fs::openat(&open, &name, flags, Mode::empty())
        {
            list(inner.as_fd(), &path, device, depth - 1, found);
        }
    }
}

/// Returns whether the folder for temporary files is one of the run's own.
pub(super) fn has_own_tmp(plan: &Plan) -> bool {
    plan.steps().iter().any(|step| matches!(step, Step::Tmpfs { at, .. } if at == "/tmp"))
}

/// Returns whether nothing more fits into the filesystem behind `tmp`.
pub(super) fn is_full(tmp: BorrowedFd<'_>) -> bool {
    rustix::fs::fstatvfs(tmp).is_ok_and(|stat| stat.f_bavail == 0 && stat.f_blocks > 0)
}
