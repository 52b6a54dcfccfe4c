//! Files that lead git to a repository elsewhere, as it makes them itself for submodules and worktrees.

use std::fs;
use std::path::{Path, PathBuf};

use palisade_plan::is_plain_repository;

use super::after::{are_samples, text};

/// What makes git run something, or look elsewhere for what does.
const LEADING: [&str; 2] = ["commondir", "config.worktree"];

/// Returns whether a `.git` that is no folder is one that git makes: it leads to a submodule whose
/// repository says nothing but where that is, or to a worktree of a repository whose own settings
/// are protected. A link is none.
pub(super) fn is_gits(pointer: &Path) -> bool {
    let Some(folder) = pointer.parent() else { return false };
    let said = text(pointer);
    let said = said.as_deref().and_then(|said| said.strip_prefix("gitdir:"));
    let Some(repository) = said.and_then(|said| real(folder, said.trim())) else { return false };
    is_submodule(&repository, folder) || is_worktree(&repository, pointer)
}

fn is_submodule(repository: &Path, folder: &Path) -> bool {
    let is_module = repository.ancestors().any(|above| above.ends_with(".git/modules"));
    let leads_on = LEADING.iter().any(|name| repository.join(name).symlink_metadata().is_ok());
    let hooks = repository.join("hooks");
    let is_plain = |config: &str| {
        let is_where = |line: &&str| line.trim().starts_with("worktree");
        let leads_back = |line: &str| {
            let path = line.split_once('=').map(|(_, path)| path.trim());
            path.and_then(|path| real(repository, path)).is_some_and(|path| path == folder)
        };
        let rest: Vec<&str> = config.lines().filter(|line| !is_where(line)).collect();
        config.lines().filter(is_where).all(leads_back) && is_plain_repository(&rest.join("\n"))
    };
    is_module
        && !leads_on
        && (hooks.symlink_metadata().is_err() || are_samples(&hooks))
        && text(&repository.join("config")).is_some_and(|config| is_plain(&config))
}

fn is_worktree(folder: &Path, pointer: &Path) -> bool {
    let common = folder.parent().filter(|above| above.ends_with(".git/worktrees"));
    let Some(common) = common.and_then(Path::parent) else { return false };
    let leads = |name: &str| text(&folder.join(name)).and_then(|said| real(folder, said.trim()));
    leads("commondir").as_deref() == Some(common)
        && leads("gitdir").as_deref() == Some(pointer)
        && folder.join("config.worktree").symlink_metadata().is_err()
}

fn real(from: &Path, path: &str) -> Option<PathBuf> {
    (!path.is_empty()).then(|| fs::canonicalize(from.join(path)).ok()).flatten()
}
