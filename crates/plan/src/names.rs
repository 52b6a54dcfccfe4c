//! Names that matter wherever they are found, in any letter case.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use palisade_policy::name::PathPattern;

/// What is looked for in trees. Protected names count in every letter case: which of them mean the
/// same file is the filesystem's secret.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Names {
    /// Patterns that need no look at a path whose last name is none of `last`.
    plain: Vec<PathPattern>,
    last: BTreeSet<String>,
    /// Patterns that need one.
    other: Vec<PathPattern>,
    /// Names of more than one component, as `.git/hooks`, with the pattern they come from.
    deep: Vec<(PathBuf, PathPattern)>,
    /// What is told apart by letter case.
    exact: Vec<PathPattern>,
}

impl Names {
    /// Looks for these: protected names in any letter case, hidden ones as they are written.
    pub(crate) fn new(protect: &[PathPattern], hide: &[PathPattern]) -> Self {
        let mut names = Self {
            exact: hide.iter().filter(|one| one.has_wildcard()).cloned().collect(),
            ..Self::default()
        };
        for pattern in protect.iter().filter(|one| one.has_wildcard()) {
            let Some(folded) = folded_pattern(pattern) else {
                // Longer in lower case than a pattern may be: then as it is written.
                names.exact.push(pattern.clone());
                continue;
            };
            let Some((_, tail)) = folded.anywhere_below() else {
                names.other.push(folded);
                continue;
            };
            names.last.extend(tail.file_name().map(|name| name.to_string_lossy().into_owned()));
            names.plain.push(folded);
            if let Some((_, tail)) =
                pattern.anywhere_below().filter(|(_, t)| t.components().count() > 1)
            {
                names.deep.push((tail, pattern.clone()));
            }
        }
        names
    }

    /// Returns whether a path is one of them.
    pub(crate) fn want(&self, path: &Path) -> bool {
        let Some(name) = path.file_name() else { return false };
        let plain = self.last.contains(&folded(name.as_ref()));
        if plain || !self.other.is_empty() {
            let path = PathBuf::from(folded(path));
            let any = |list: &[PathPattern]| list.iter().any(|pattern| pattern.matches(&path));
            if (plain && any(&self.plain)) || any(&self.other) {
                return true;
            }
        }
        self.exact.iter().any(|pattern| pattern.matches(path))
    }

    /// Returns the names of more than one component that begin with this folder.
    pub(crate) fn within(&self, folder: &Path) -> Vec<PathBuf> {
        let begins =
            |tail: &Path| tail.components().next().map(Component::as_os_str) == folder.file_name();
        let deep = self.deep.iter().filter(|(tail, _)| begins(tail));
        let paths = deep.filter_map(|(tail, pattern)| {
            let path = folder.parent()?.join(tail);
            pattern.matches(&path).then_some(path)
        });
        paths.collect()
    }
}

/// Paths that patterns name themselves, and not something above them. Lists may be long.
#[derive(Debug)]
pub(crate) struct Exactly<'p> {
    literals: BTreeSet<PathBuf>,
    others: Vec<&'p PathPattern>,
}

impl<'p> Exactly<'p> {
    pub(crate) fn new(patterns: &'p [PathPattern]) -> Self {
        Self {
            literals: patterns.iter().filter_map(PathPattern::literal).collect(),
            others: patterns.iter().filter(|pattern| pattern.has_wildcard()).collect(),
        }
    }

    /// Returns whether one of the patterns names this very path.
    pub(crate) fn name(&self, path: &Path) -> bool {
        let names = |pattern: &PathPattern| {
            pattern.matches(path) && !path.parent().is_some_and(|above| pattern.matches(above))
        };
        self.literals.contains(path) || self.others.iter().any(|pattern| names(pattern))
    }
}

fn folded(path: &Path) -> String {
    path.to_string_lossy().to_lowercase()
}

fn folded_pattern(pattern: &PathPattern) -> Option<PathPattern> {
    pattern.to_string().to_lowercase().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protected_names_count_in_any_letter_case_and_hidden_ones_as_written() {
        let patterns = |texts: &[&str]| -> Vec<PathPattern> {
            texts.iter().map(|text| text.parse().unwrap()).collect()
        };
        let protect = patterns(&["/W/**/.git/hooks", "/W/**/.bashrc", "/W/**/set*.json", "/W/x"]);
        let names = Names::new(&protect, &patterns(&["/W/**/*.pem"]));
        #[rustfmt::skip]
        let cases = [
            ("/W/.bashrc",         true),
            ("/W/a/b/.BashRC",     true),
            ("/W/a/.GIT/Hooks",    true),
            ("/W/a/hooks",         false),
            ("/W/SETtings.JSON",   true),
            ("/W/a.pem",           true),
            ("/W/a.PEM",           false),
            ("/W/x",               false),
            ("/",                  false),
        ];
        for (path, expected) in cases {
            assert_eq!(names.want(path.as_ref()), expected, "{path}");
        }
        assert_eq!(names.within("/W/a/.git".as_ref()), [Path::new("/W/a/.git/hooks")]);
        assert!(
            names.within("/V/.git".as_ref()).is_empty() && names.within("/W".as_ref()).is_empty()
        );
    }
}
