//! Linked worktrees of git: the repository that a project belongs to lies elsewhere.
//!
//! Without it neither `git add` nor `git commit` works. What in it can run a program later stays as
//! it is: its configuration, its hooks, its attributes, its submodules, and what belongs to other
//! worktrees.

use std::path::{Path, PathBuf};

use palisade_policy::name::{Folder, PathPattern};

use crate::order::Order;
use crate::plan::Note;

/// A project whose `.git` is a file that leads to a repository, which leads back to it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Worktree {
    /// The file `.git` of the project.
    pub pointer: PathBuf,
    /// What git keeps of this worktree, `worktrees/NAME` in the repository.
    pub folder: PathBuf,
    /// The repository.
    pub common: PathBuf,
    /// What it keeps of others.
    pub others: Vec<PathBuf>,
}

/// Names in a repository that can make git run something, or look for that elsewhere.
const PROTECTED: [&str; 6] = ["branches", "config", "hooks", "info", "modules", "remotes"];

/// Names in the folder of a worktree that lead to the repository and back.
const POINTERS: [&str; 2] = ["commondir", "gitdir"];

impl Order {
    /// Lets the command use the repository of a linked worktree, if it may write the project.
    pub fn grant_worktree(&mut self, worktree: &Worktree) {
        if !self.may_write_root() {
            return;
        }
        let Worktree { pointer, folder, common, others } = worktree;
        let mut paths = vec![pointer.clone()];
        paths.extend(PROTECTED.iter().map(|name| common.join(name)));
        paths.extend(POINTERS.iter().map(|name| folder.join(name)));
        paths.extend(others.iter().cloned());
        let literal = |path: &PathBuf| Some(Folder::literal(path).ok()?.as_pattern().clone());
        let literals: Option<Vec<PathPattern>> = paths.iter().map(literal).collect();
        // Files that git reads whenever they are there: a placeholder would stop it.
        let later = ["**/config.worktree", "commondir*"].map(|names| below(common, names));
        let later: Option<Vec<PathPattern>> = later.into_iter().collect();
        // What cannot be protected is not granted.
        let (Some(literals), Some(later)) = (literals, later) else {
            return self.refuse_worktree(pointer, "its path cannot be written in a policy");
        };
        self.protect.extend(literals);
        self.protect.extend(later);
        self.write.push(common.clone());
    }

    /// Protects a repository that the project's `.git`, a file, leads to, and that lies in the project
    /// under another name: with it, what can make git run something.
    pub fn guard_repository(&mut self, pointer: &Path, folder: &Path) {
        let paths = PROTECTED.iter().map(|name| folder.join(name)).chain([pointer.to_owned()]);
        let literal = |path: PathBuf| Some(Folder::literal(&path).ok()?.as_pattern().clone());
        let later = ["**/config.worktree", "commondir*"].map(|names| below(folder, names));
        let all: Option<Vec<PathPattern>> = paths.map(literal).chain(later).collect();
        match all {
            Some(all) => self.protect.extend(all),
            // Its name is no text: then all of it stays as it is, with the rest of the project.
            None => self.write.clear(),
        }
    }

    /// Says that the project's `.git` leads to a repository that is not granted.
    pub fn refuse_worktree(&mut self, pointer: &Path, why: &str) {
        if self.may_write_root() {
            let message = format!(
                "`{}` leads to a repository that stays read-only: {why}",
                pointer.display()
            );
            self.notes.push(Note { code: "worktree", message });
        }
    }

    fn may_write_root(&self) -> bool {
        self.write.iter().any(|tree| self.root.starts_with(tree))
    }
}

/// Returns a pattern for names below a folder whose own name is taken as it is.
fn below(folder: &Path, names: &str) -> Option<PathPattern> {
    let written = Folder::literal(folder).ok()?.as_pattern().to_string();
    format!("{}/{names}", written.trim_end_matches('/')).parse().ok()
}
