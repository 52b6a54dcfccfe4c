//! Paths as filters name them.

use std::path::{Path, PathBuf};

use crate::name::{Invalid, PathPattern};

/// Paths that a filter names.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) pattern: PathPattern,
    pub(super) reach: Reach,
}

/// How far a filter reaches from what it names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Reach {
    /// What lies below, but not the folder itself.
    Below,
    /// What is named, and nothing below.
    Exact,
    /// What is named and everything below.
    Tree,
}

impl Place {
    /// Names every path.
    pub(super) fn everything() -> Result<Self, Invalid> {
        Ok(Self { pattern: "/".parse()?, reach: Reach::Tree })
    }

    /// Names a path that was written out, and the path it has on Linux where macOS keeps such
    /// things under `/private`.
    pub(super) fn written(path: &str, reach: Reach) -> Result<Vec<Self>, Invalid> {
        if !path.starts_with('/') {
            return Err(Invalid::new("path-relative", "a path in a profile must be absolute")
                .with_hint("start it with `/`, or with (param \"_RW1\")"));
        }
        if path.split('/').any(|name| matches!(name, "." | "..")) {
            return Err(Invalid::new("path-climb", "a path with `.` or `..` in it never matches")
                .with_hint("write the path without it"));
        }
        let mut glob = String::new();
        path.chars().for_each(|c| push_literal(&mut glob, c));
        Self::globs(&glob, reach)
    }

    /// Names what a glob matches, and its spelling on Linux.
    pub(super) fn globs(glob: &str, reach: Reach) -> Result<Vec<Self>, Invalid> {
        let mut places = vec![Self { pattern: glob.parse()?, reach }];
        let shared = ["/private/tmp", "/private/var", "/private/etc"];
        let inside = |folder: &&str| {
            glob.strip_prefix(*folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if let Some(linux) = glob.strip_prefix("/private").filter(|_| shared.iter().any(inside)) {
            places.push(Self { pattern: linux.parse()?, reach });
        }
        Ok(places)
    }
}

/// Adds a character to a glob so that it stands for itself.
pub(super) fn push_literal(glob: &mut String, c: char) {
    if matches!(c, '*' | '?' | '[' | '\\') {
        glob.push('\\');
    }
    glob.push(c);
}

/// Returns how many names a pattern has; none if `**` leaves that open.
pub(super) fn depth(pattern: &PathPattern) -> Option<usize> {
    let text = pattern.to_string();
    let names = text.split('/').filter(|name| !name.is_empty());
    names.map(|name| (name != "**").then_some(1)).sum()
}

/// Returns whether some path may be named by both patterns; "yes" may also mean "not certain".
pub(super) fn overlap(a: &PathPattern, b: &PathPattern) -> bool {
    if a.covers(b) || b.covers(a) {
        return true;
    }
    if !a.has_wildcard() && !b.has_wildcard() {
        return false;
    }
    let (a, b) = (a.to_string(), b.to_string());
    let names = a.split('/').skip(1).zip(b.split('/').skip(1));
    for (a, b) in names {
        if a == "**" || b == "**" {
            return true;
        }
        if !may_be_equal(a, b) && !may_be_equal(b, a) {
            return false;
        }
    }
    true
}

/// Returns whether a component of a pattern may match another; two wildcards always may.
fn may_be_equal(glob: &str, name: &str) -> bool {
    let pattern = |text: &str| format!("/x/{text}").parse::<PathPattern>().ok();
    match (pattern(glob), pattern(name).map(|name| (name.literal(), name.has_wildcard()))) {
        (Some(glob), Some((Some(name), false))) => glob.matches(&name),
        (Some(glob), Some((None, _) | (_, true))) => glob.has_wildcard(),
        (None, _) | (_, None) => true,
    }
}

/// Returns whether the whole of `inner` lies in the folder at `outer`.
pub(super) fn lies_in(inner: &PathPattern, outer: &str) -> bool {
    inner.fixed_prefix().starts_with(outer)
}

/// Returns whether writing there is writing to a temporary folder, of which every run has its own.
/// A folder that somebody names inside one, the project for example, is a folder like any other.
pub(super) fn is_temporary(pattern: &PathPattern, root: &Path) -> bool {
    const SHARED: [&str; 4] = ["/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp"];
    const PER_USER: [&str; 2] = ["/var/folders", "/private/var/folders"];
    let path: PathBuf = pattern.fixed_prefix();
    if path.starts_with(root) {
        return false;
    }
    let whole = |folder: &&str| path == Path::new(folder);
    let below = |folder: &&str| path.starts_with(folder);
    SHARED.iter().any(|folder| whole(folder) || pattern.has_wildcard() && below(folder))
        || PER_USER.iter().any(below)
}
