//! What a run knew of protected names when it began, as it tells others that begin meanwhile.
//!
//! What comes in the time of a run is set aside at its end. To a run that begins between the two it was
//! there already: it would take what one command made for the host's, and let its own command make it
//! once more.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use palisade_policy::name::PathPattern;

use crate::names::{Exactly, Names};
use crate::paths::Lies as _;

/// Where a run looked for protected names when it began, for which, and what it found.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Account {
    /// Where it looked, free of links.
    pub trees: Vec<PathBuf>,
    /// What it looked for.
    pub protect: Vec<PathPattern>,
    /// What it found.
    pub known: BTreeSet<PathBuf>,
    /// Folders that it could not look into.
    pub unsearched: Vec<PathBuf>,
}

/// Folders that nobody looks into: they are large, and made by tools.
pub const SKIPPED: [&str; 4] = ["node_modules", "target", ".venv", "__pycache__"];

impl Account {
    /// Returns something that tells which paths came after that run began.
    pub(crate) fn newcomers(&self) -> Newcomers<'_> {
        let (names, exactly) = (Names::new(&self.protect, &[]), Exactly::new(&self.protect));
        Newcomers { account: self, names, exactly }
    }
}

/// Tells what an account says was not there.
pub(crate) struct Newcomers<'a> {
    account: &'a Account,
    names: Names,
    exactly: Exactly<'a>,
}

impl Newcomers<'_> {
    /// Returns whether a path, which is there, was looked for and not found when that run began.
    pub(crate) fn have(&self, path: &Path) -> bool {
        let Account { trees, known, unsearched, .. } = self.account;
        // Below what was found, too, nobody looked.
        let is_seen = |tree: &PathBuf| {
            let inner = path.strip_prefix(tree).unwrap_or(path);
            let is_skipped = inner.iter().any(|name| SKIPPED.iter().any(|it| name == *it));
            let above = path.ancestors().skip(1).take_while(|above| *above != tree);
            let mut above = above.filter(|above| known.contains(*above));
            !is_skipped && above.next().is_none() && !unsearched.iter().any(|it| path.lies_in(it))
        };
        let is_looked_for = || {
            path.file_name() == Some(".git".as_ref())
                || self.names.want(path)
                || self.exactly.name(path)
        };
        trees.iter().any(|tree| path.lies_in(tree) && is_seen(tree))
            && !known.contains(path)
            && is_looked_for()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account() -> Account {
        let protect = ["/w/**/.bashrc", "/w/.mcp.json", "/w/a \\* b/**/.git/hooks"];
        Account {
            trees: vec!["/w".into()],
            protect: protect.iter().map(|text| text.parse().unwrap()).collect(),
            known: ["/w/a/.bashrc", "/w/sub/.git"].iter().map(PathBuf::from).collect(),
            unsearched: vec!["/w/shut".into()],
        }
    }

    #[test]
    fn what_was_looked_for_and_not_found_is_new() {
        let account = account();
        let newcomers = account.newcomers();
        #[rustfmt::skip]
        let cases = [
            ("/w/b/.bashrc",  true,  "nobody knew it"),
            ("/w/b/.BASHRC",  true,  "in any letter case"),
            ("/w/.mcp.json",  true,  "a single path"),
            ("/w/new/.git",   true,  "leads git to a repository"),
            ("/w/a/.bashrc",  false, "it was there"),
            ("/w/sub/.git",   false, "it was there"),
            ("/w/b/.vscode",  false, "nobody looked for that"),
            ("/v/.bashrc",    false, "nobody looked there"),
            ("/w/target/p/.bashrc", false, "nobody looks there"),
            ("/w/shut/.bashrc",     false, "nobody could look there"),
            ("/w/sub/.git/.bashrc", false, "nobody looks below what is found"),
        ];
        for (path, expected, because) in cases {
            assert_eq!(newcomers.have(path.as_ref()), expected, "{path}: {because}");
        }
    }
}
