//! Where a link would lead what a pattern names elsewhere.

use std::path::{Path, PathBuf};

use super::form::Piece;
use super::{PathPattern, normal_components};

impl PathPattern {
    /// Returns whether `path`, absolute and free of links, is a folder on the way to what this pattern
    /// names, and one that the pattern itself speaks of: by a name behind a `**`, or by one of its
    /// names behind the first `depth`, which are those of a tree. `.claude` is one for
    /// `**/.claude/commands`, and so is all below `.git/modules` for `**/.git/modules/**/hooks`;
    /// `**` alone makes none of every folder.
    pub fn goes_on_below(&self, path: &Path, depth: usize) -> bool {
        if !self.is_absolute() || !path.is_absolute() {
            return false;
        }
        let pieces = self.form.pieces();
        // Nobody writes that many components.
        if pieces.len() > 63 {
            return true;
        }
        // Bit n: the first n parts are used up.
        let past_deep = |mut state: u64| {
            for (at, piece) in pieces.iter().enumerate() {
                if *piece == Piece::Deep && state >> at & 1 == 1 {
                    state |= 1 << (at + 1);
                }
            }
            state
        };
        let mut state = past_deep(1);
        for name in normal_components(path) {
            let name = name.to_string_lossy();
            let mut next = 0_u64;
            for (at, piece) in pieces.iter().enumerate().filter(|(at, _)| state >> at & 1 == 1) {
                next |= match piece {
                    Piece::Deep => 1 << at,
                    Piece::Name(piece) if **piece == *name => 1 << (at + 1),
                    Piece::Glob(glob) if glob.matches(&name) => 1 << (at + 1),
                    Piece::Name(_) | Piece::Glob(_) | Piece::Parent => 0,
                };
            }
            state = past_deep(next);
        }
        // What is used up whole names the path itself.
        (0..pieces.len()).any(|used| {
            state >> used & 1 == 1 && speak(pieces.get(..used).unwrap_or_default(), depth)
        })
    }

    /// Returns the folders that the names behind a first `**` lead through, as far as they are plain:
    /// `.git` and `.git/modules` of `/folder/**/.git/modules/**/hooks`.
    pub fn ways_below(&self) -> Option<(PathBuf, Vec<PathBuf>)> {
        let pieces = self.form.pieces();
        let deep = pieces.iter().position(|piece| *piece == Piece::Deep)?;
        let (before, after) = (pieces.get(..deep)?, pieces.get(deep + 1..)?);
        before.iter().try_for_each(|piece| piece.name().map(drop))?;
        let mut way = PathBuf::new();
        let (_, above) = after.split_last()?;
        let plain = above.iter().map_while(|piece| piece.name());
        let ways = plain.map(|name| {
            way.push(name);
            way.clone()
        });
        let ways = ways.collect();
        self.is_absolute().then(|| (self.fixed_prefix(), ways))
    }
}

/// Returns whether one of these first components says something of its own.
fn speak(pieces: &[Piece<'_>], depth: usize) -> bool {
    let mut is_behind = false;
    pieces.iter().enumerate().any(|(at, piece)| match piece {
        Piece::Deep => {
            is_behind = true;
            false
        }
        Piece::Name(_) => is_behind || at >= depth,
        Piece::Glob(glob) => (is_behind || at >= depth) && !glob.is_written_in(|_| false),
        Piece::Parent => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_pattern_speaks_of_leads_on_and_no_other_folder() {
        #[rustfmt::skip]
        let cases = [
            ("/w/**/.claude/commands",       "/w/.claude",             true,  "named"),
            ("/w/**/.claude/commands",       "/w/a/b/.claude",         true,  "at any depth"),
            ("/w/**/.claude/commands",       "/w/.claude/commands",    false, "that is it"),
            ("/w/**/.claude/commands",       "/w/.claude/skills",      false, "another name"),
            ("/w/**/.claude/commands",       "/w/src",                 false, "any folder"),
            ("/w/**/.git/modules/**/hooks",  "/w/.git/modules",        true,  "named"),
            ("/w/**/.git/modules/**/hooks",  "/w/.git/modules/a/b",    true,  "all below"),
            ("/w/**/.git/modules/**/hooks",  "/w/.git/refs",           false, "another name"),
            ("/w/**/.git/worktrees/*/x",     "/w/.git/worktrees/a",    true,  "any name there"),
            ("/w/**/.git/worktrees/*/x",     "/w/.git/worktrees/a/b",  false, "too deep"),
            ("/w/**/.bashrc",                "/w/node_modules/foo",    false, "any folder"),
            ("/w/*/hooks",                   "/w/src",                 false, "any name"),
            ("/w/**/*/hooks",                "/w/a/src",               false, "any name"),
            ("/w/packages/*/run",            "/w/packages/a",          true,  "behind a name"),
            ("/w/**/*.app/run",              "/w/x/a.app",             true,  "part of a name"),
            ("/w/**/*.app/run",              "/w/x/a.apt",             false, "another name"),
            ("/v/**/x/y",                    "/w/x",                   false, "elsewhere"),
        ];
        for (pattern, path, expected, because) in cases {
            let pattern: PathPattern = pattern.parse().unwrap();
            assert_eq!(pattern.goes_on_below(path.as_ref(), 1), expected, "{path}: {because}");
        }
        let modules: PathPattern = "/w/**/.git/modules/**/hooks".parse().unwrap();
        let ways = [".git", ".git/modules"].map(PathBuf::from).to_vec();
        assert_eq!(modules.ways_below(), Some(("/w".into(), ways)));
        let lone: PathPattern = "/w/**/.bashrc".parse().unwrap();
        assert_eq!(lone.ways_below(), Some(("/w".into(), Vec::new())));
    }
}
