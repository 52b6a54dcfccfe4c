//! Names that matter wherever they are found, in any letter case.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use palisade_policy::name::PathPattern;

use crate::paths::{Lies as _, below, by_bytes, split};

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
    /// Patterns that speak of folders, in lower case, each with the first name that it speaks of, if
    /// that is plain.
    leading: Vec<(String, PathPattern)>,
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
            let written = pattern.as_anywhere_below();
            let is_folded = |path: &Path| path.to_str().is_some_and(is_folded);
            let folded = match &written {
                // Nearly all of them: nothing has to be read anew.
                Some((above, tail)) if is_folded(above) && is_folded(tail) => Some(pattern.clone()),
                Some(_) | None => folded_pattern(pattern),
            };
            let Some(folded) = folded else {
                // Longer in lower case than a pattern may be: then as it is written.
                names.exact.push(pattern.clone());
                continue;
            };
            let Some((_, tail)) = written else {
                let way = folded.ways_below().and_then(|(_, ways)| ways.into_iter().next());
                let first = way.map(|way| self::folded(&way)).unwrap_or_default();
                names.leading.push((first, folded.clone()));
                names.other.push(folded);
                continue;
            };
            names.last.extend(tail.file_name().map(|name| self::folded(name.as_ref())));
            if tail.as_os_str().as_encoded_bytes().contains(&b'/') {
                let first = tail.iter().next().map(|name| folded_name(name).into_owned());
                names.leading.push((first.unwrap_or_default(), folded.clone()));
                names.deep.push((tail.into_owned(), pattern.clone()));
            }
            names.plain.push(folded);
        }
        names
    }

    /// Returns the same in memory of its own.
    pub(crate) fn apart(&self) -> Self {
        let mut names = BTreeSet::new();
        let plain: Vec<PathPattern> = self.plain.iter().map(|one| one.apart(&mut names)).collect();
        let deep = self.deep.iter().map(|(tail, pattern)| {
            let known = plain.iter().find(|known| *known == pattern).cloned();
            (tail.clone(), known.unwrap_or_else(|| pattern.apart(&mut names)))
        });
        let deep = deep.collect();
        Self {
            last: self.last.clone(),
            other: self.other.iter().map(|one| one.apart(&mut names)).collect(),
            exact: self.exact.iter().map(|one| one.apart(&mut names)).collect(),
            leading: (self.leading.iter())
                .map(|(first, one)| (first.clone(), one.apart(&mut names)))
                .collect(),
            plain,
            deep,
        }
    }

    /// Returns whether something of this name could be one of them, in the right folder. A search
    /// asks this of every name that it sees.
    pub(crate) fn may_want(&self, name: &OsStr) -> bool {
        let folded = folded_name(name);
        self.last.contains(folded.as_ref())
            || self.other.iter().any(|pattern| pattern.may_end_in(&folded))
            || (!self.exact.is_empty() && {
                let name = name.to_string_lossy();
                self.exact.iter().any(|pattern| pattern.may_end_in(&name))
            })
    }

    /// Returns whether a path is one of them.
    pub(crate) fn want(&self, path: &Path) -> bool {
        let Some((_, name)) = split(path) else { return false };
        let name = folded_name(name);
        let plain = self.last.contains(name.as_ref());
        let other = self.other.iter().any(|pattern| pattern.may_end_in(&name));
        if plain || other {
            let path = PathBuf::from(folded(path));
            let any = |list: &[PathPattern]| list.iter().any(|pattern| pattern.matches(&path));
            if (plain && any(&self.plain)) || (other && any(&self.other)) {
                return true;
            }
        }
        self.exact.iter().any(|pattern| pattern.matches(path))
    }

    /// Returns whether a link at a path, which lies in one of the trees, would lead what is protected
    /// elsewhere: a pattern speaks of it, and goes on below.
    pub(crate) fn lead<'t>(&self, path: &Path, trees: impl Iterator<Item = &'t PathBuf>) -> bool {
        let folded = PathBuf::from(folded(path));
        let text = folded.as_os_str().as_encoded_bytes();
        let has = |first: &str| {
            first.is_empty() || text.windows(first.len()).any(|part| part == first.as_bytes())
        };
        let mut leading = self.leading.iter().filter(|(first, _)| has(first)).peekable();
        if leading.peek().is_none() {
            return false;
        }
        let around = trees.filter(|tree| path.lies_in(tree));
        let depth = around.map(|tree| tree.components().skip(1).count()).min().unwrap_or(0);
        leading.any(|(_, pattern)| pattern.goes_on_below(&folded, depth))
    }

    /// Returns whether names of more than one component may begin with this one.
    pub(crate) fn may_begin(&self, name: &OsStr) -> bool {
        self.deep.iter().any(|(tail, _)| begins(tail, name))
    }

    /// Returns the names of more than one component that begin with this folder.
    pub(crate) fn within(&self, folder: &Path) -> Vec<PathBuf> {
        let Some((above, name)) = split(folder) else { return Vec::new() };
        let deep = self.deep.iter().filter(|(tail, _)| begins(tail, name));
        let paths = deep.filter_map(|(tail, pattern)| {
            let path = below(above, tail.as_os_str());
            pattern.matches(&path).then_some(path)
        });
        paths.collect()
    }
}

/// Paths that patterns name themselves, and not something above them. Lists may be long.
#[derive(Debug)]
pub(crate) struct Exactly<'p> {
    // Compared byte by byte: their components are in order already.
    literals: Vec<Cow<'p, Path>>,
    others: Vec<&'p PathPattern>,
    /// Those that end in no plain name.
    vague: Vec<&'p PathPattern>,
    /// What the last names of all others look like.
    lasts: [u64; 4],
}

impl<'p> Exactly<'p> {
    pub(crate) fn new(patterns: &'p [PathPattern]) -> Self {
        let (mut vague, mut lasts) = (Vec::new(), [0; 4]);
        for pattern in patterns {
            match pattern.last_plain_name().map(|name| look(name.as_bytes())) {
                Some((word, bit)) => lasts.iter_mut().skip(word).take(1).for_each(|it| *it |= bit),
                None => vague.push(pattern),
            }
        }
        let mut literals: Vec<_> = patterns.iter().filter_map(PathPattern::as_literal).collect();
        literals.sort_unstable_by(|one, other| by_bytes(one, other));
        Self {
            literals,
            others: patterns.iter().filter(|pattern| pattern.has_wildcard()).collect(),
            vague,
            lasts,
        }
    }

    /// Returns whether one of the patterns names this very path.
    pub(crate) fn name(&self, path: &Path) -> bool {
        let others = match self.may_end_as(path) {
            true if self.names_literally(path) => return true,
            true => &self.others,
            false => &self.vague,
        };
        if others.is_empty() {
            return false;
        }
        named_by(others.iter().copied(), path)
    }

    fn names_literally(&self, path: &Path) -> bool {
        self.literals.binary_search_by(|literal| by_bytes(literal, path)).is_ok()
    }

    /// Returns whether the last name of a path looks like the plain name that one of them ends in.
    fn may_end_as(&self, path: &Path) -> bool {
        let bytes = path.as_os_str().as_encoded_bytes();
        let slash = bytes.iter().rposition(|byte| *byte == b'/');
        match slash.and_then(|slash| bytes.get(slash + 1..)) {
            // It ends in no name, and may be told otherwise.
            None | Some([] | [b'.'] | [b'.', b'.']) => true,
            Some(name) => {
                let (word, bit) = look(name);
                self.lasts.get(word).is_none_or(|word| word & bit != 0)
            }
        }
    }
}

/// Returns what a name looks like: a word, and a bit in it.
fn look(name: &[u8]) -> (usize, u64) {
    let [first, last] = [name.get(1), name.last()].map(|byte| byte.copied().unwrap_or(0));
    let sum = name.len() * 61 + usize::from(first) * 7 + usize::from(last);
    (sum / 64 % 4, 1 << (sum % 64))
}

/// Returns whether one of the patterns names this very path, and not something above it.
pub(crate) fn named_by<'p>(
    mut patterns: impl Iterator<Item = &'p PathPattern>,
    path: &Path,
) -> bool {
    let (above, last) = split(path).unzip();
    let last = last.unwrap_or_default().to_string_lossy();
    patterns.any(|pattern| {
        pattern.may_end_in(&last)
            && pattern.matches(path)
            && !above.is_some_and(|above| pattern.matches(above))
    })
}

fn begins(tail: &Path, name: &OsStr) -> bool {
    tail.components().next().map(Component::as_os_str) == Some(name)
}

/// Returns a name in lower case; nearly all of them are.
fn folded_name(name: &OsStr) -> Cow<'_, str> {
    match name.to_str() {
        Some(text) if is_folded(text) => Cow::Borrowed(text),
        Some(_) | None => Cow::Owned(folded(name.as_ref())),
    }
}

fn is_folded(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase())
}

fn folded(path: &Path) -> String {
    path.to_string_lossy().to_lowercase()
}

fn folded_pattern(pattern: &PathPattern) -> Option<PathPattern> {
    pattern.folded().or_else(|| pattern.to_string().to_lowercase().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_memory_of_their_own_are_the_same() {
        let texts = ["/W/**/.git/hooks", "/W/**/Set*.json", "/W/*/.x", "/W/**/a/B", "/W/**/?b"];
        let patterns: Vec<PathPattern> = texts.iter().map(|text| text.parse().unwrap()).collect();
        let names = Names::new(&patterns, &patterns);
        assert!(names.plain.len() > 1 && names.deep.len() > 1 && names.exact.len() == texts.len());
        let apart = names.apart();
        assert_eq!(apart, names);
        drop((names, patterns));
        for (path, expected) in [("/W/x/.GIT/Hooks", true), ("/W/y/A/b", true), ("/W/y/.z", false)]
        {
            assert_eq!(apart.want(path.as_ref()), expected, "{path}");
        }
    }

    #[test]
    fn a_path_is_named_by_a_pattern_whatever_its_last_name_looks_like() {
        let texts = ["/W/**/.git/hooks", "/W/**/set*.json", "/W/x", "/W/a/**", "/V/?b", "/"];
        let patterns: Vec<PathPattern> = texts.iter().map(|text| text.parse().unwrap()).collect();
        let exactly = Exactly::new(&patterns);
        let single = |path: &Path| {
            let named = |pattern: &PathPattern| {
                let above = path.parent().is_some_and(|above| pattern.matches(above));
                pattern.matches(path) && !above
            };
            let is = |literal: PathBuf| literal.as_os_str() == path.as_os_str();
            patterns.iter().any(|one| one.literal().map_or_else(|| named(one), is))
        };
        let names =
            ["x", "y", "hooks", "hook", "settings.json", "set.jsoN", "ab", "b", "a", "..", "."];
        let folders = ["/W", "/W/.git", "/W/q/.git", "/V", "/W/a", ""];
        let mut named = 0;
        for (folder, name) in folders.iter().flat_map(|folder| names.map(|name| (folder, name))) {
            let path = PathBuf::from(format!("{folder}/{name}"));
            assert_eq!(exactly.name(&path), single(&path), "{path:?}");
            named += usize::from(single(&path));
        }
        assert!(named > 5 && exactly.name("/".as_ref()), "{named}");
    }

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
            let may = Path::new(path).file_name().is_some_and(|name| names.may_want(name));
            assert!(may || !expected, "{path}: a search would not see it");
        }
        let trees = [PathBuf::from("/W")];
        for (path, expected) in [
            ("/W/a/.git", true),
            ("/W/.GIT", true),
            ("/W/.git/info", false),
            ("/W/src", false),
            ("/W/.bashrc", false),
        ] {
            assert_eq!(names.lead(path.as_ref(), trees.iter()), expected, "{path}");
        }
        assert!(!names.may_want("plain.rs".as_ref()) && names.may_want("HOOKS".as_ref()));
        assert!(names.may_begin(".git".as_ref()) && !names.may_begin("git".as_ref()));
        assert_eq!(names.within("/W/a/.git".as_ref()), [Path::new("/W/a/.git/hooks")]);
        assert!(
            names.within("/V/.git".as_ref()).is_empty() && names.within("/W".as_ref()).is_empty()
        );
    }
}
