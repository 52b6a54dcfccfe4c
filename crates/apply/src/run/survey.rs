//! What lies at the paths that a policy names.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt};
use std::path::{Path, PathBuf};

use palisade_plan::{
    FileId, Kind, Place, Privilege, Questions, Searched, by_bytes, may_be_placeholder, split,
};
use rustix::fs::{Access, AtFlags, CWD, FileType};
use rustix::io::Errno;

use super::folders::{Folders, Seen};
use super::lent::Lent;
use super::walk::{Extent, Walk, walk};

/// What was found.
pub(super) struct Surveyed {
    pub(super) places: Vec<Place>,
    /// Whether everything that should be searched was.
    pub(super) searched: bool,
    /// Folders that nobody searches.
    pub(super) skipped: Vec<PathBuf>,
}

/// Which folders a command can change the modes of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Changes {
    /// Those in the trees.
    Trees,
    /// All of the user's.
    #[cfg_attr(target_os = "macos", expect(dead_code, reason = "a profile holds modes, too"))]
    All,
}

/// Looks at what is asked about, and at `sockets`, wherever they are. What a command can open, and its
/// user has shut, is looked into.
pub(super) fn survey(
    questions: &Questions,
    privilege: Privilege,
    changes: Changes,
    sockets: &[PathBuf],
) -> Surveyed {
    let lent = |trees: &[PathBuf]| match changes {
        Changes::Trees => Lent::within(trees),
        Changes::All => Lent::anywhere(),
    };
    let mut found = Found::new(questions, Folders::new(privilege, lent(&questions.trees)));
    for path in &questions.paths {
        let place = found.found(path);
        found.note_above(&place);
        found.asked.push(place);
    }
    sockets.iter().for_each(|path| found.look(path));
    let trees: Vec<PathBuf> = questions.trees.iter().filter_map(|tree| found.real(tree)).collect();
    // What is seen from now on was told after what was asked.
    found.folders.forget();
    let mut barred: Vec<PathBuf> = Vec::new();
    let mut unseen = false;
    // Not the one of `found`: while names are told, what they mean is looked at.
    let mut lent = lent(&trees);
    let open = |folder: &Path| match lent.open(folder) {
        Ok(open) => Some(open),
        Err(errno) => {
            match errno {
                Errno::ACCESS | Errno::PERM => barred.push(folder.to_owned()),
                // It is gone, or was never a folder.
                Errno::NOENT | Errno::NOTDIR | Errno::LOOP => {}
                // It is there, and nobody knows what is in it.
                _ => unseen = true,
            }
            None
        }
    };
    let mut beyond: BTreeSet<PathBuf> = BTreeSet::new();
    let mut skipped: Vec<PathBuf> = Vec::new();
    let searched = walk(trees.iter().cloned(), open, |seen| {
        let is_folder = seen.kind == FileType::Directory;
        skipped.extend(seen.is_skipped.then(|| seen.path()));
        if let Some(folder) = seen.beyond() {
            beyond.insert(folder.to_owned());
            return Walk::Past;
        }
        if questions.may_want(seen.name) || seen.kind == FileType::Socket {
            let path = seen.path();
            if seen.kind == FileType::Socket || questions.wants(&path) {
                found.look(&path);
                return Walk::Past;
            }
        }
        // One that leads git to a repository: those that come later are looked at.
        if !is_folder && seen.name == ".git" {
            found.look(&seen.path());
        }
        if seen.kind == FileType::Symlink {
            let path = seen.path();
            if questions.leads(&path) {
                found.look(&path);
            }
        }
        if is_folder && questions.may_begin(seen.name) {
            let path = seen.path();
            for wanted in questions.within(&path) {
                wanted.ancestors().take_while(|above| above.starts_with(&path)).for_each(|above| {
                    found.look(above);
                });
            }
        }
        if is_folder { Walk::Into } else { Walk::Past }
    });
    barred.extend(std::mem::take(&mut found.folders.barred));
    beyond.extend(barred.iter().filter_map(|path| barrier(path)));
    found.bar(&beyond, &trees);
    let searched = searched == Extent::Whole && !unseen;
    Surveyed { places: found.in_order(), searched, skipped }
}

/// What is known so far.
struct Found<'q> {
    /// What was asked about, in the order of the paths.
    asked: Vec<Place>,
    /// What else matters, in no order.
    beside: Vec<Place>,
    questions: &'q Questions,
    /// What else was looked at.
    others: BTreeSet<OsString>,
    folders: Folders,
}

impl<'q> Found<'q> {
    fn new(questions: &'q Questions, folders: Folders) -> Self {
        let asked = Vec::with_capacity(questions.paths.len());
        let (beside, others) = (Vec::with_capacity(20), BTreeSet::new());
        Self { asked, beside, questions, others, folders }
    }

    /// Looks at a path that nobody asked about beforehand, unless somebody did.
    fn look(&mut self, path: &Path) {
        let asked = &self.questions.paths;
        let is_new = asked.binary_search_by(|asked| by_bytes(asked, path)).is_err()
            && !self.folders.is_placed(path)
            && self.others.insert(path.into());
        if is_new {
            let place = self.found(path);
            self.note_above(&place);
            self.beside.push(place);
        }
    }

    /// Notes the folders above something that is there, whose modes matter when they are shown anew.
    /// Above one that was noted all were.
    fn note_above(&mut self, place: &Place) {
        if !place.exists() {
            return;
        }
        let mut above = split(&place.path).map(|(above, _)| above);
        while let Some(path) = above {
            if path.parent().is_none() || self.folders.is_placed(path) {
                return;
            }
            let place = self.found(path);
            let exists = place.exists();
            self.beside.push(place);
            above = split(path).filter(|_| exists).map(|(above, _)| above);
        }
    }

    /// Returns all places in the order of their paths.
    fn in_order(mut self) -> Vec<Place> {
        self.beside.sort_by(|one, other| by_bytes(&one.path, &other.path));
        let mut places = Vec::with_capacity(self.asked.len() + self.beside.len());
        let mut beside = self.beside.into_iter().peekable();
        for place in self.asked {
            let is_before = |other: &Place| by_bytes(&other.path, &place.path).is_lt();
            while let Some(other) = beside.next_if(is_before) {
                places.push(other);
            }
            places.push(place);
        }
        places.extend(beside);
        places
    }

    /// Looks at a path.
    fn found(&mut self, path: &Path) -> Place {
        let Seen { at, links, found } = match split(path) {
            Some((above, name)) => self.folders.look(above, name, path),
            // The root, or `..` at its end: only who follows it knows which folder that is.
            None => self.folders.follow(path).map_or_else(Seen::default, |way| Seen {
                at: Some(way.real),
                links: way.links,
                found: Some(way.found),
            }),
        };
        let at = at.unwrap_or_else(|| path.into());
        let is = found.as_ref().map_or(Kind::Absent, kind);
        let (real, links, end) = match is {
            Kind::Link => match self.folders.follow(path) {
                Some(way) => (way.real, way.links, Some(way.found)),
                None => (at.clone(), links, None),
            },
            Kind::Absent | Kind::Folder | Kind::File | Kind::Socket | Kind::Other => {
                (at.clone(), links, found)
            }
        };
        let shut = (is != Kind::Absent).then(|| self.folders.shut_above(&real)).flatten();
        let leads_to = end.as_ref().map_or(Kind::Absent, kind);
        if leads_to == Kind::Folder {
            self.folders.placed(path);
        }
        let mode = end.as_ref().map_or(0, |end| end.mode() & 0o7777);
        // A command can set the mark of what keeps a name, and then it means nothing.
        let empty = is == Kind::Folder && may_be_placeholder(mode) && has_nothing(&at);
        Place {
            path: path.into(),
            at,
            is,
            leads_to,
            names: end.as_ref().map_or(0, MetadataExt::nlink),
            mode,
            owner: end.as_ref().map_or((0, 0), |end| (end.uid(), end.gid())),
            id: end.as_ref().map(|end| FileId { device: end.dev(), inode: end.ino() }),
            empty,
            shut,
            real,
            links,
            searched: Searched::Whole,
        }
    }

    /// Notes the folders of trees in which nobody could look.
    fn bar(&mut self, folders: &BTreeSet<PathBuf>, trees: &[PathBuf]) {
        for folder in folders.iter().filter(|it| trees.iter().any(|tree| it.starts_with(tree))) {
            self.look(folder);
            let places = self.asked.iter_mut().chain(&mut self.beside);
            for place in places.filter(|place| place.at == *folder) {
                place.searched = Searched::Partly;
            }
        }
    }

    /// Returns a path without its links; nothing if it leads nowhere.
    fn real(&mut self, path: &Path) -> Option<PathBuf> {
        self.folders.real(path)
    }
}

/// Returns the folder that keeps us from looking at `path`, or into it: one of ours, whose mode the
/// command can change, or one that can be entered and not be listed. What is behind any other cannot
/// be reached by the command either.
fn barrier(path: &Path) -> Option<PathBuf> {
    let real = path.ancestors().find_map(|above| fs::canonicalize(above).ok())?;
    let may = |rights| rustix::fs::accessat(CWD, &real, rights, AtFlags::EACCESS).is_ok();
    let found = fs::metadata(&real).ok().filter(Metadata::is_dir)?;
    let is_ours = found.uid() == rustix::process::geteuid().as_raw();
    let is_shut = !may(Access::READ_OK | Access::EXEC_OK);
    (is_shut && (is_ours || may(Access::EXEC_OK))).then_some(real)
}

/// Returns whether a folder is empty, or was there a moment ago: another run has given its name back.
fn has_nothing(folder: &Path) -> bool {
    match fs::read_dir(folder) {
        Ok(mut names) => names.next().is_none(),
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

fn kind(found: &Metadata) -> Kind {
    let kind = found.file_type();
    if kind.is_symlink() {
        Kind::Link
    } else if kind.is_dir() {
        Kind::Folder
    } else if kind.is_file() {
        Kind::File
    } else if kind.is_socket() {
        Kind::Socket
    } else {
        Kind::Other
    }
}

#[cfg(test)]
mod tests {
    use palisade_testkit::Project;

    use super::has_nothing;

    #[test]
    fn a_folder_that_went_away_while_it_was_looked_at_holds_nothing() {
        let project = Project::new().dir("empty").file("full/x", "").file("file", "");
        let cases = [("empty", true), ("gone", true), ("full", false), ("file", false)];
        for (name, expected) in cases {
            assert_eq!(has_nothing(&project.path(name)), expected, "{name}");
        }
    }
}
