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
    /// Paths that it looked at one by one, whatever else there is, and that were not there.
    pub absent: BTreeSet<PathBuf>,
    /// Whether it saw everything else there was.
    pub whole: bool,
}

/// Folders that nobody looks into: they are large, and made by tools.
pub const SKIPPED: [&str; 4] = ["node_modules", "target", ".venv", "__pycache__"];

impl Account {
    /// Returns that of a run of which nothing is known.
    pub fn unknown() -> Self {
        Self { trees: vec!["/".into()], ..Self::default() }
    }

    /// Returns whether that run did not see all that lies in one of these trees: what its command made
    /// there is taken for the host's. Folders that it could not look into were closed to its command.
    pub(crate) fn leaves_open(&self, trees: &[PathBuf]) -> bool {
        let is_open = |tree: &PathBuf, its: &PathBuf| match self.whole {
            true => tree.strip_prefix(its).is_ok_and(is_skipped),
            false => tree.lies_in(its) || its.lies_in(tree),
        };
        trees.iter().any(|tree| self.trees.iter().any(|its| is_open(tree, its)))
    }

    /// Returns something that tells which paths came after that run began.
    pub(crate) fn newcomers(&self) -> Newcomers<'_> {
        let (names, exactly) = (Names::new(&self.protect, &[]), Exactly::new(&self.protect));
        Newcomers { account: self, names, exactly }
    }
}

/// Returns whether a path leads through folders that nobody looks into.
fn is_skipped(inner: &Path) -> bool {
    inner.iter().any(|name| SKIPPED.iter().any(|it| name == *it))
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
        let Account { trees, known, unsearched, absent, whole, .. } = self.account;
        if absent.contains(path) {
            return true;
        }
        // Below what was found, too, nobody looked.
        let is_seen = |tree: &PathBuf| {
            let inner = path.strip_prefix(tree).unwrap_or(path);
            let above = path.ancestors().skip(1).take_while(|above| *above != tree);
            let mut above = above.filter(|above| known.contains(*above));
            !is_skipped(inner)
                && above.next().is_none()
                && !unsearched.iter().any(|it| path.lies_in(it))
        };
        let is_looked_for = || {
            path.file_name() == Some(".git".as_ref())
                || self.names.want(path)
                || self.exactly.name(path)
                || self.names.lead(path, trees.iter())
        };
        *whole
            && trees.iter().any(|tree| path.lies_in(tree) && is_seen(tree))
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
            absent: ["/w/target/x/.mcp.json"].iter().map(PathBuf::from).collect(),
            whole: true,
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
            ("/w/target/x/.mcp.json", true, "somebody looked at it alone"),
        ];
        for (path, expected, because) in cases {
            assert_eq!(newcomers.have(path.as_ref()), expected, "{path}: {because}");
        }
    }

    #[test]
    fn who_did_not_see_everything_can_tell_of_what_it_looked_at_alone() {
        let account = Account { whole: false, ..account() };
        let newcomers = account.newcomers();
        assert!(newcomers.have("/w/target/x/.mcp.json".as_ref()));
        assert!(!newcomers.have("/w/b/.bashrc".as_ref()));
    }

    #[test]
    fn what_a_run_did_not_see_is_open() {
        let whole = account();
        let partly = Account { whole: false, ..account() };
        #[rustfmt::skip]
        let cases = [
            (&whole,  "/w",             false, "it saw all that others look at"),
            (&whole,  "/w/sub",         false, "it saw that"),
            (&whole,  "/w/target/doc",  true,  "nobody looks there"),
            (&whole,  "/w/shut",        false, "its command cannot get there"),
            (&partly, "/w",             true,  "there was too much"),
            (&partly, "/w/sub",         true,  "of it"),
            (&partly, "/",              true,  "in it"),
            (&partly, "/v",             false, "somewhere else"),
            (&Account::unknown(), "/v", true,  "nobody knows where"),
            (&Account::default(), "/v", false, "nowhere"),
        ];
        for (account, tree, expected, because) in cases {
            assert_eq!(account.leaves_open(&[tree.into()]), expected, "{tree}: {because}");
        }
    }
}
