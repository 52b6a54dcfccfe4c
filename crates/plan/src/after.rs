//! What the supervisor looks for once a run has ended.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use palisade_policy::name::PathPattern;

use crate::absent::{is_placeholder, ways};
use crate::account::Account;
use crate::facts::{Facts, Kind, Place, Searched};
use crate::names::{Exactly, Names};
use crate::paths::{Lies as _, below};

/// Protected names that nothing kept from being made: in other letter cases, and in folders without
/// a placeholder. What appeared is set aside and told.
#[derive(Clone, Debug, PartialEq)]
pub struct After {
    /// Where they are looked for, free of links.
    pub trees: Vec<PathBuf>,
    /// Where there was no repository: a name there that leads to one somewhere else is none that git
    /// makes by itself.
    pub repositories: Vec<PathBuf>,
    protect: Vec<PathPattern>,
    names: Names,
    /// Single paths that were not there at the start.
    absent: BTreeSet<PathBuf>,
    known: BTreeSet<PathBuf>,
    /// What led git to a repository at the start, in folders of the trees.
    pointers: BTreeSet<PathBuf>,
    /// What was there at the start, and came while another run went on.
    doubted: BTreeSet<PathBuf>,
    /// Folders in which nobody could look at the start.
    unsearched: Vec<PathBuf>,
    /// How far the trees were searched at the start. Where that was not all, nobody knows of most names
    /// whether they were there.
    searched: Searched,
}

impl After {
    pub(crate) fn new(
        protect: &[PathPattern],
        (names, exactly): (Names, &Exactly<'_>),
        facts: &Facts,
        trees: &[&Place],
        absent: BTreeSet<PathBuf>,
    ) -> Option<Self> {
        if (names == Names::default() && absent.is_empty()) || trees.is_empty() {
            return None;
        }
        let trees: Vec<PathBuf> = trees.iter().map(|tree| tree.real.clone()).collect();
        let is_above = |path: &Path| absent.iter().any(|one| one != path && one.lies_in(path));
        let leads = |place: &Place| {
            let at = &place.at;
            place.is == Kind::Link && (names.lead(at, trees.iter()) || is_above(at))
        };
        // What keeps a name for another run is nothing that was there.
        let there = facts.places.iter().filter(|place| {
            place.exists()
                && !is_placeholder(place)
                && (names.want(&place.at) || exactly.name(&place.path) || leads(place))
        });
        let known = there.map(|place| place.at.clone()).collect();
        let repositories = trees.iter().map(|tree| below(tree, ".git".as_ref()));
        let repositories = repositories
            .filter(|path| facts.place(path).is_some_and(|place| place.is == Kind::Absent))
            .collect();
        let points = |place: &&Place| {
            place.at.file_name() == Some(".git".as_ref())
                && !matches!(place.is, Kind::Absent | Kind::Folder)
        };
        let pointers = facts.places.iter().filter(points).map(|place| place.at.clone()).collect();
        let unsearched = facts.unsearched().map(|folder| folder.at.clone()).collect();
        let searched = facts.searched;
        let protect = protect.to_vec();
        let mut after = Self {
            trees,
            repositories,
            protect,
            names,
            absent,
            known,
            pointers,
            doubted: BTreeSet::new(),
            unsearched,
            searched,
        };
        facts.beside.iter().for_each(|account| after.distrust(account));
        Some(after)
    }

    /// Returns the same in memory of its own, for who needs no account of it any more.
    pub(crate) fn apart(&self) -> Self {
        Self {
            trees: self.trees.clone(),
            repositories: self.repositories.clone(),
            protect: Vec::new(),
            names: self.names.apart(),
            absent: self.absent.clone(),
            known: self.known.clone(),
            pointers: self.pointers.clone(),
            doubted: self.doubted.clone(),
            unsearched: self.unsearched.clone(),
            searched: self.searched,
        }
    }

    /// Returns what is to be looked for of a run that was killed, by what it told when it began.
    pub fn of_killed(account: &Account) -> Self {
        let Account { trees, protect, known, unsearched, absent, whole } = account.clone();
        let is_pointer = |path: &PathBuf| path.file_name() == Some(".git".as_ref());
        Self {
            names: Names::new(&protect, &[]),
            pointers: known.iter().filter(|path| is_pointer(path)).cloned().collect(),
            searched: if whole { Searched::Whole } else { Searched::Partly },
            repositories: Vec::new(),
            doubted: BTreeSet::new(),
            trees,
            protect,
            absent,
            known,
            unsearched,
        }
    }

    /// Forgets what came after another run began that still went on: one of its commands may have made
    /// it, and ours may once that is set aside.
    fn distrust(&mut self, account: &Account) {
        let newcomers = account.newcomers();
        let all = self.known.iter().chain(&self.pointers);
        let new: Vec<PathBuf> = all.filter(|path| newcomers.have(path)).cloned().collect();
        for path in new {
            self.known.remove(&path);
            self.doubted.insert(path.clone());
            if self.pointers.remove(&path)
                && self.trees.iter().any(|tree| below(tree, ".git".as_ref()) == path)
            {
                self.repositories.push(path);
            } else if !self.names.want(&path)
                && !self.names.lead(&path, self.trees.iter())
                && self.trees.iter().any(|tree| path.lies_in(tree))
            {
                self.absent.insert(path);
            }
        }
    }

    /// Returns what those have to know that begin while this run goes on.
    pub fn account(&self) -> Account {
        let known = self.known.union(&self.pointers).cloned().collect();
        let (trees, protect) = (self.trees.clone(), self.protect.clone());
        let unsearched = self.unsearched.clone();
        let absent = self.own_names().into_iter().chain(self.single_names().cloned()).collect();
        // Who has not seen all of it cannot say of the rest that it was not there.
        Account { trees, protect, known, unsearched, absent, whole: self.knows_all() }
    }

    /// Returns what came while another run went on, before this one began: whoever made it, nobody
    /// leaves it behind.
    pub fn doubted(&self) -> impl Iterator<Item = &PathBuf> {
        self.doubted.iter()
    }

    /// Returns whether something of this name may be wanted, as [`After::wants`] then tells.
    pub fn may_want(&self, name: &OsStr) -> bool {
        self.names.may_want(name) || self.absent.iter().any(|path| path.file_name() == Some(name))
    }

    /// Returns whether a path, free of links and no folder, leads git to a repository, and did not at
    /// the start.
    pub fn is_new_pointer(&self, path: &Path) -> bool {
        path.file_name() == Some(".git".as_ref()) && !self.pointers.contains(path)
    }

    /// Returns whether a path, free of links, is a protected name that was not there at the start.
    pub fn wants(&self, path: &Path) -> bool {
        (self.names.want(path) || self.absent.contains(path)) && !self.known.contains(path)
    }

    /// Returns whether a link at a path, free of links, would lead what is protected elsewhere, and was
    /// not there at the start.
    pub fn leads(&self, path: &Path) -> bool {
        let is_above = |single: &PathBuf| single != path && single.lies_in(path);
        !self.known.contains(path)
            && (self.names.lead(path, self.trees.iter()) || self.absent.iter().any(is_above))
    }

    /// Returns where such links could be at the top of the trees.
    pub fn own_ways(&self) -> BTreeSet<PathBuf> {
        self.protect.iter().flat_map(|pattern| ways(pattern, &self.trees)).collect()
    }

    /// Returns whether everything that lay in the trees at the start is known.
    pub fn knows_all(&self) -> bool {
        self.searched == Searched::Whole
    }

    /// Returns the single paths that were not there at the start.
    pub fn single_names(&self) -> impl Iterator<Item = &PathBuf> {
        self.absent.iter().filter(|path| self.wants(path))
    }

    /// Returns what is wanted in the repositories at the top of the trees, whether it is there or not.
    pub fn own_names(&self) -> Vec<PathBuf> {
        let tops = self.trees.iter().map(|tree| below(tree, ".git".as_ref()));
        let names = tops.flat_map(|top| self.names.within(&top));
        names.filter(|path| self.wants(path)).collect()
    }

    /// Returns whether something wanted may have been there at the start all the same: then it is told,
    /// and stays.
    pub fn may_be_known(&self, path: &Path) -> bool {
        self.unsearched.iter().any(|folder| path.starts_with(folder))
    }

    /// Returns whether the search has to go on in a folder.
    pub fn enters(&self, folder: &Path) -> bool {
        !self.known.contains(folder)
    }
}

/// Returns whether the configuration of a new repository says only what git itself writes into it:
/// how it is stored, where it came from, and what its branches follow. Anything else can name a
/// program.
pub fn is_plain_repository(config: &str) -> bool {
    let mut section = String::new();
    config.lines().map(str::trim).all(|line| {
        if line.is_empty() || line.starts_with(['#', ';']) {
            return true;
        }
        if let Some(head) = line.strip_prefix('[') {
            // Nothing may follow on the line: `[core] pager = x` is one line to git.
            let Some(head) = head.strip_suffix(']') else { return false };
            section = head.split([' ', '"', '.']).next().unwrap_or_default().to_lowercase();
            return matches!(section.as_str(), "core" | "remote" | "branch");
        }
        let key = line.split(['=', ' ', '\t']).next().unwrap_or_default().to_lowercase();
        // A value that goes on in the next line could hide a section from us.
        !line.ends_with('\\')
            && match section.as_str() {
                "core" => CORE.contains(&key.as_str()),
                // `ext::` runs what follows.
                "remote" => matches!(key.as_str(), "url" | "fetch") && !line.contains("::"),
                "branch" => matches!(key.as_str(), "remote" | "merge" | "rebase"),
                _ => false,
            }
    })
}

/// What git writes into `[core]` when it makes a repository.
const CORE: [&str; 6] = [
    "repositoryformatversion",
    "filemode",
    "bare",
    "logallrefupdates",
    "ignorecase",
    "precomposeunicode",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_repository_may_say_what_git_itself_writes() {
        let plain = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\
            [remote \"origin\"]\n\turl = https://example.com/a.git\n\
            \tfetch = +refs/heads/*:refs/remotes/origin/*\n\
            [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";
        #[rustfmt::skip]
        let cases = [
            (plain,                                  true,  "as after a clone"),
            ("",                                     true,  "empty"),
            ("# note\n[core]\n\tbare = false\n",     true,  "a note"),
            ("[core]\n\tpager = x\n",                false, "a program"),
            ("[core]\n\thooksPath = x\n",            false, "a program"),
            ("[core] pager = x\n",                   false, "on one line"),
            ("[CORE]\n\tsshCommand = x\n",           false, "letter case"),
            ("[core]\n\tbare = \\\n[alias]\n",       false, "a line that goes on"),
            ("[alias]\n\tst = !x\n",                 false, "another section"),
            ("[include]\n\tpath = x\n",              false, "another file"),
            ("[remote \"o\"]\n\tuploadpack = x\n",   false, "a program of a remote"),
            ("[remote \"o\"]\n\turl = ext::sh -c x\n", false, "a remote that is a program"),
            ("bare = false\n",                       false, "no section"),
        ];
        for (text, expected, because) in cases {
            assert_eq!(is_plain_repository(text), expected, "{because}");
        }
    }
}
