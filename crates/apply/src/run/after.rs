//! Looking over what a run has left: protected names that nothing kept from being made.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{ErrorKind, Read as _};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use palisade_plan::{After, Note, is_plain_repository};
use rustix::fs::{FileType, RenameFlags, Timespec};
use rustix::io::Errno;

use super::executed::Executed;
use super::lent::{Lent, can_be_entered};
use super::opened::open_folder;
use super::outcome::{Outcome, Touched};
use super::pointer;
use super::reserve::{Names, is_of_others};
use super::touched::{LISTED, touched_among};
use super::walk::{Extent, Walk, walk};

/// The most of a repository's configuration that is read; git writes much less.
const LONGEST: u64 = 64 << 10;

/// The most files that are asked when they were changed.
const LOOKED_AT: usize = 512;

/// The most folders that are named because they could not be looked into.
const NAMED: usize = 8;

/// What was found in the end.
#[derive(Debug, Default)]
pub(super) struct Looked {
    pub(super) notes: Vec<Note>,
    touched: Vec<Touched>,
}

/// When something came that was not there when a run began.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Came {
    /// While it went on.
    Meanwhile,
    /// Later: it is the host's.
    Later,
    /// Nobody can tell.
    Unknown,
}

/// Sets aside what was made under protected names, and says so. Nothing is deleted. What was `kept`
/// from the command is the host's, if it is there now.
/// What was changed `since` some time is told too, if it is executed later.
pub(super) fn look_over(after: &After, kept: Option<&Names>, since: Option<Timespec>) -> Looked {
    look_over_made(after, kept, since, &|_| Came::Meanwhile)
}

/// Does so with what came while a run went on, as `came` tells of paths that were not there before.
pub(super) fn look_over_made(
    after: &After,
    kept: Option<&Names>,
    since: Option<Timespec>,
    came: &dyn Fn(&Path) -> Came,
) -> Looked {
    let is_kept = |path: &Path| kept.is_some_and(|names| names.keep(path));
    let mut lent = Lent::new(&after.trees);
    // The project's own repository and single paths first: however much else there is or was made,
    // these are looked at.
    let own = after.own_names().into_iter().chain(after.single_names().cloned());
    let mut known = None;
    let own = own.filter(|path| is_there(path, &mut known) && !is_kept(path));
    let mut found: Vec<PathBuf> = own.filter(|path| !is_harmless(path)).collect();
    // Where not everything is looked over, a folder that may hold a protected name goes as a whole.
    let taken = kept.map(Names::taken).unwrap_or_default().into_iter();
    let taken = taken.filter(|path| after.wants(path) || !after.knows_all());
    found.extend(taken.filter(|path| path.symlink_metadata().is_ok() && !is_harmless(path)));
    found.sort();
    found.dedup();
    let mut missed: Vec<(PathBuf, Errno)> = Vec::new();
    let open = |folder: &Path| match lent.open(folder) {
        Ok(open) => Some(open),
        Err(errno) => {
            if is_missed(folder, errno) {
                missed.push((folder.into(), errno));
            }
            None
        }
    };
    let mut pointers: Vec<PathBuf> = Vec::new();
    let mut links: Vec<PathBuf> = Vec::new();
    let (executed, mut files) = (Executed::new(), Vec::new());
    let trees = after.trees.iter().filter(|_| after.knows_all());
    let extent = walk(trees.cloned(), open, |seen| {
        let is_folder = seen.kind == FileType::Directory;
        if !is_folder && seen.name == ".git" {
            pointers.push(seen.path());
            return Walk::Past;
        }
        if seen.kind == FileType::Symlink {
            let path = seen.path();
            links.extend(Some(path).filter(|path| after.leads(path)));
        }
        if !is_folder && since.is_some() && files.len() < LOOKED_AT {
            files.extend(executed.why(seen.name).map(|why| (seen.path(), why)));
        }
        if !after.may_want(seen.name) && !is_folder {
            return Walk::Past;
        }
        let path = &seen.path();
        if is_kept(path) {
            return Walk::Past;
        }
        if after.wants(path) {
            if !is_harmless(path) && !found.contains(path) {
                found.push(path.clone());
            }
            return Walk::Past;
        }
        if after.enters(path) { Walk::Into } else { Walk::Past }
    });
    if extent == Extent::Partly || !after.knows_all() {
        let is_link = |path: &PathBuf| path.symlink_metadata().is_ok_and(|it| it.is_symlink());
        links
            .extend(after.own_ways().into_iter().filter(|path| is_link(path) && after.leads(path)));
    }
    links.sort();
    links.dedup();
    // What is named beside them may be seen through them.
    let mut notes: Vec<Note> = Vec::new();
    for path in links.iter().filter(|path| !is_kept(path) && !after.wants(path)) {
        notes.extend(match came(path) {
            Came::Later => None,
            _ if after.may_be_known(path) => Some(unknown(path)),
            Came::Unknown => Some(undated(path)),
            Came::Meanwhile => Some(led(path, set_aside(path, &mut lent))),
        });
    }
    let mut waits = true;
    let is_there = |path: &&PathBuf| links.is_empty() || path.symlink_metadata().is_ok();
    notes.extend(found.iter().filter(is_there).filter_map(|path| match came(path) {
        Came::Later => None,
        _ if after.may_be_known(path) => Some(unknown(path)),
        // Another run keeps the name, inside this one or beside it, or did.
        _ if is_of_others(path, &mut waits) => None,
        Came::Unknown => Some(undated(path)),
        Came::Meanwhile => Some(note(path, set_aside(path, &mut lent))),
    }));
    let leads_away = |path: &&PathBuf| {
        path.symlink_metadata().is_ok_and(|found| !found.is_dir()) && !is_kept(path)
    };
    for path in after.repositories.iter().filter(leads_away) {
        notes.push(note(path, set_aside(path, &mut lent)));
    }
    let is_new = |path: &&PathBuf| after.is_new_pointer(path) && !after.repositories.contains(path);
    for path in pointers.iter().filter(is_new) {
        let made = match came(path) {
            Came::Later => None,
            _ if after.may_be_known(path) => Some(unknown(path)),
            _ if pointer::is_gits(path) => None,
            Came::Unknown => Some(undated(path)),
            Came::Meanwhile => Some(note(path, set_aside(path, &mut lent))),
        };
        notes.extend(made);
    }
    notes.extend(missed.iter().take(NAMED).map(|(folder, errno)| {
        not_looked_over(format!("`{}` could not be looked into: {errno}", folder.display()))
    }));
    if let Some(more) = missed.len().checked_sub(NAMED).filter(|more| *more > 0) {
        notes.push(not_looked_over(format!("{more} more folders could not be looked into")));
    }
    if extent == Extent::Partly || !after.knows_all() {
        notes.push(not_looked_over("not all folders were looked into: there are too many".into()));
    }
    let touched = since.map_or_else(Vec::new, |since| touched_among(files, since));
    Looked { notes, touched }
}

impl Looked {
    /// Adds it to what is known of a run.
    pub(super) fn tell(self, outcome: &mut Outcome) {
        outcome.notes.extend(self.notes);
        let had: BTreeSet<PathBuf> = outcome.touched.iter().map(|it| it.path.clone()).collect();
        let room = LISTED.saturating_sub(had.len());
        let others = self.touched.into_iter().filter(|it| !had.contains(&it.path));
        outcome.touched.extend(others.take(room));
    }
}

/// A folder that was asked about, and whether it is there.
type Known = Option<(PathBuf, bool)>;

/// Returns whether something lies at a path. Of a repository many names are asked about, and where its
/// folder is `known` not to be there none of them is.
fn is_there(path: &Path, known: &mut Known) -> bool {
    if known.as_ref().is_some_and(|(folder, is)| !is && path.starts_with(folder)) {
        return false;
    }
    let Err(error) = path.symlink_metadata() else { return true };
    let folder = path.parent().filter(|_| error.kind() == ErrorKind::NotFound);
    if let Some(folder) = folder
        && known.as_ref().is_none_or(|(known, _)| known != folder)
    {
        let found = folder.symlink_metadata();
        let is = !found.is_err_and(|error| error.kind() == ErrorKind::NotFound);
        *known = Some((folder.to_owned(), is));
    }
    false
}

/// Returns whether something made inside may lie in a folder that did not open. Where we may not go
/// at all, the command, which has no more rights, could not either.
fn is_missed(folder: &Path, errno: Errno) -> bool {
    match errno {
        // Somebody has moved it or put something else there since it was seen.
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP => false,
        Errno::ACCESS => can_be_entered(folder),
        _ => true,
    }
}

/// It may be the host's.
fn unknown(path: &Path) -> Note {
    let what = "is a protected name, and stays: its folder could not be searched at the start, \
                so it may have been there or have been made inside";
    Note { code: "not-set-aside", message: format!("`{}` {what}", path.display()) }
}

/// Its dates say neither.
fn undated(path: &Path) -> Note {
    let what = "is a protected name, and stays: a run that was killed may have made it";
    Note { code: "not-looked-over", message: format!("`{}` {what}", path.display()) }
}

/// Says of a link what [`note`] says of a name.
fn led(path: &Path, moved: rustix::io::Result<PathBuf>) -> Note {
    let Note { code, message } = note(path, moved);
    let message = message.replacen(
        "is a protected name and was made inside",
        "is a link, made inside, that leads protected names elsewhere",
        1,
    );
    Note { code, message }
}

fn not_looked_over(what: String) -> Note {
    let message = format!("{what}; protected names made there are not set aside");
    Note { code: "not-looked-over", message }
}

fn note(path: &Path, moved: rustix::io::Result<PathBuf>) -> Note {
    match moved {
        Ok(to) => Note {
            code: "set-aside",
            message: format!(
                "`{}` is a protected name and was made inside; it is now `{}`",
                path.display(),
                to.display()
            ),
        },
        Err(errno) => Note {
            code: "not-set-aside",
            message: format!(
                "`{}` is a protected name and was made inside; it cannot be moved: {errno}",
                path.display()
            ),
        },
    }
}

/// Gives it a name that nothing looks for, also where the command made that hard.
fn set_aside(path: &Path, lent: &mut Lent) -> rustix::io::Result<PathBuf> {
    let (above, name) = path.parent().zip(path.file_name()).ok_or(Errno::INVAL)?;
    match renamed(above, name) {
        Err(Errno::ACCESS) => {
            lent.open_to_change(above)?;
            renamed(above, name)
        }
        moved => moved,
    }
}

fn renamed(above: &Path, name: &OsStr) -> rustix::io::Result<PathBuf> {
    let folder = open_folder(above)?;
    for number in 1..40_u8 {
        let mut to = OsString::from(name);
        to.push(match number {
            1 => ".set-aside".into(),
            2..20 => format!(".set-aside-{number}"),
            // Somebody has taken those; nobody can take all of these.
            _ => format!(".set-aside-{:016x}", RandomState::new().build_hasher().finish()),
        });
        let flags = RenameFlags::NOREPLACE;
        match rustix::fs::renameat_with(folder.as_fd(), name, folder.as_fd(), &to, flags) {
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
            Ok(()) => return Ok(above.join(to)),
        }
    }
    Err(Errno::EXIST)
}

/// Returns whether it is part of a new repository as git makes them.
pub(super) fn is_harmless(path: &Path) -> bool {
    if path.ends_with(".git/hooks") {
        return are_samples(path);
    }
    path.ends_with(".git/config") && text(path).is_some_and(|text| is_plain_repository(&text))
}

/// Returns whether nothing in a folder of hooks is executed.
pub(super) fn are_samples(hooks: &Path) -> bool {
    let samples = |entry: fs::DirEntry| entry.path().extension().is_some_and(|e| e == "sample");
    fs::read_dir(hooks).is_ok_and(|entries| entries.flatten().all(samples))
}

pub(super) fn text(path: &Path) -> Option<String> {
    use rustix::fs::{Mode, OFlags};
    // It is anybody's file: a pipe or a link must neither hold us up nor lead us astray.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = fs::File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    if !file.metadata().ok()?.is_file() || file.metadata().ok()?.len() > LONGEST {
        return None;
    }
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use palisade_testkit::Project;

    use super::*;

    #[test]
    fn names_in_a_folder_that_is_not_there_are_not_and_others_are_looked_for() {
        let project =
            Project::new().file("a/.git/config", "").symlink("b/.git", "nowhere").file("b/x", "");
        #[rustfmt::skip]
        let cases = [
            (".git/hooks", false), (".git/config", false), (".git/info/attributes", false),
            ("a/.git/hooks", false), ("a/.git/config", true), ("a/.git/info/attributes", false),
            ("a/.git/config", true), ("b/.git", true), ("b/.git/hooks", false), ("b/x", true),
            ("c/.git/config", false), ("b/.git", true), ("b/x/y", false), ("b/x", true),
        ];
        let mut known = None;
        for (name, expected) in cases {
            assert_eq!(is_there(&project.path(name), &mut known), expected, "{name}");
        }
    }
}
