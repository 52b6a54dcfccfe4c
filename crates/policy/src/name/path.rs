//! Files and folders as rules name them.

mod lead;
mod reach;
mod read;

use std::ffi::OsStr;
use std::fmt::{self, Write};
use std::path::{Component as PathComponent, Path, PathBuf};
use std::sync::Arc;

use super::glob::{Glob, write_literal};
use super::{Invalid, quote};
pub(crate) use reach::{Reach, Step};
pub(crate) use read::Anchorage;
pub use read::Anchors;

/// A path, or many: `~/.ssh`, `/etc`, `src/**/*.pem`.
///
/// It names whole trees: what matches, and everything below. `*`, `?` and `[set]` stay within one
/// component, `**` is zero or more folders, and a backslash takes the next character literally.
/// `..` is resolved by text alone; after a wildcard it is refused, because it could not be
/// enforced. A pattern that starts with neither `/` nor `~` is relative until it is
/// [`anchored`](Self::anchored).
///
/// # Examples
///
/// ```
/// use palisade_policy::name::{Anchors, PathPattern};
///
/// let anchors = Anchors { root: "/proj/app".into(), home: None };
/// let keys = "**/*.pem".parse::<PathPattern>()?.anchored(&anchors)?;
/// assert!(keys.matches("/proj/app/tls/server.pem".as_ref()));
/// assert!(!keys.matches("/proj/other/server.pem".as_ref()));
/// # Ok::<(), palisade_policy::name::Invalid>(())
/// ```
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct PathPattern {
    base: Base,
    /// Shared: a policy is merged and cloned much more often than it is read.
    parts: Arc<[Part]>,
}

/// One folder or file without wildcards, for lists that grant: what may be written must be known
/// before the program starts, and a wildcard would also have to cover what appears later.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Folder(PathPattern);

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Base {
    Root,
    Home,
    Relative,
}

#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Part {
    /// `**`
    Deep,
    Glob(Glob),
    Name(Arc<str>),
    /// `..`, only at the start of what is not absolute.
    Parent,
}

impl PathPattern {
    /// Returns whether this pattern no longer depends on an anchor.
    pub fn is_absolute(&self) -> bool {
        self.base == Base::Root
    }

    /// Returns whether this pattern names everything there is.
    pub fn is_root(&self) -> bool {
        self.is_absolute() && self.parts.is_empty()
    }

    /// Returns the one path this pattern names, if it is absolute and has no wildcard.
    pub fn literal(&self) -> Option<PathBuf> {
        (self.is_absolute() && !self.has_wildcard()).then(|| self.fixed_prefix())
    }

    /// Returns the part before the first wildcard; of a pattern that is not absolute, as written.
    pub fn fixed_prefix(&self) -> PathBuf {
        let mut prefix = String::with_capacity(64);
        // Absolute paths begin with a slash, which stands before every name.
        prefix.push_str(if self.base == Base::Home { "~" } else { "" });
        for part in self.parts.iter() {
            let name = match part {
                Part::Name(name) => name,
                Part::Parent => "..",
                Part::Deep | Part::Glob(_) => break,
            };
            if !prefix.is_empty() || self.base == Base::Root {
                prefix.push('/');
            }
            prefix.push_str(name);
        }
        if prefix.is_empty() && self.base == Base::Root {
            prefix.push('/');
        }
        PathBuf::from(prefix)
    }

    /// Returns the folder and the names of a pattern like `/folder/**/.git/hooks`: these names, in
    /// any folder below that one. `None` for every other pattern.
    pub fn anywhere_below(&self) -> Option<(PathBuf, PathBuf)> {
        let deep = self.parts.iter().position(|part| *part == Part::Deep)?;
        let (before, after) = (self.parts.get(..deep)?, self.parts.get(deep + 1..)?);
        before.iter().try_for_each(|part| part.name().map(drop))?;
        let names: PathBuf =
            after.iter().map(|part| part.name().map(|name| &**name)).collect::<Option<_>>()?;
        (self.is_absolute() && !after.is_empty()).then(|| (self.fixed_prefix(), names))
    }

    /// Returns the pattern in lower case, if it is made of names and `**` alone.
    pub fn folded(&self) -> Option<Self> {
        let folded = |part: &Part| match part {
            Part::Name(name) => Some(Part::Name(name.to_lowercase().into())),
            Part::Deep => Some(Part::Deep),
            Part::Glob(_) | Part::Parent => None,
        };
        let parts = self.parts.iter().map(folded).collect::<Option<_>>()?;
        Some(Self { base: self.base, parts })
    }

    /// Returns whether any component is a wildcard.
    pub fn has_wildcard(&self) -> bool {
        self.parts.iter().any(|part| match part {
            Part::Deep | Part::Glob(_) => true,
            Part::Name(_) | Part::Parent => false,
        })
    }

    /// Returns whether `path`, absolute and free of links, is named by this pattern or lies below
    /// what it names. Always false until the pattern is absolute.
    pub fn matches(&self, path: &Path) -> bool {
        if !self.is_absolute() || !path.is_absolute() {
            return false;
        }
        let names = normal_components(path);
        let (mut part, mut place) = (0, 0);
        // As for `*` within a component: only the last `**` need ever give more.
        let mut retry: Option<(usize, usize)> = None;
        loop {
            let step = match (self.parts.get(part), names.get(place)) {
                // The pattern is used up: this is the place it names, or below it.
                (None, _) => return true,
                (Some(Part::Deep), _) => {
                    retry = Some((part, place));
                    part += 1;
                    continue;
                }
                (Some(Part::Name(name)), Some(found)) => OsStr::new(&**name) == *found,
                (Some(Part::Glob(glob)), Some(found)) => glob.matches(&found.to_string_lossy()),
                (Some(Part::Parent), Some(_)) | (Some(_), None) => false,
            };
            if step {
                (part, place) = (part + 1, place + 1);
                continue;
            }
            match retry {
                Some((deep, start)) if start < names.len() => {
                    retry = Some((deep, start + 1));
                    (part, place) = (deep + 1, start + 1);
                }
                Some(_) | None => return false,
            }
        }
    }

    /// Returns the last component, if it has no wildcards.
    pub fn last_plain_name(&self) -> Option<&str> {
        self.parts.last()?.name().map(|name| &**name)
    }

    /// Returns whether something of this name, in some folder, could be what this pattern names:
    /// a look at one component, for searches that see many.
    pub fn may_end_in(&self, name: &str) -> bool {
        match self.parts.last() {
            Some(Part::Name(last)) => **last == *name,
            Some(Part::Glob(last)) => last.matches(name),
            Some(Part::Deep | Part::Parent) | None => true,
        }
    }

    /// Returns whether this pattern certainly matches everything that `other` matches.
    ///
    /// "No" may also mean "not certain". Always false until both are absolute.
    pub fn covers(&self, other: &Self) -> bool {
        self.is_absolute()
            && other.is_absolute()
            // All that `other` matches lies below its fixed prefix, and below what its first
            // components match.
            && (self.matches(&other.fixed_prefix()) || other.parts.starts_with(&self.parts))
    }
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.base, self.parts.is_empty()) {
            (Base::Root, _) => f.write_char('/')?,
            (Base::Home, true) => f.write_char('~')?,
            (Base::Home, false) => f.write_str("~/")?,
            (Base::Relative, true) => f.write_char('.')?,
            (Base::Relative, false) => {}
        }
        for (place, part) in self.parts.iter().enumerate() {
            if place > 0 {
                f.write_char('/')?;
            }
            let text = part.to_string();
            if place == 0 && self.base == Base::Relative && text.starts_with('~') {
                f.write_char('\\')?;
            }
            f.write_str(&text)?;
        }
        Ok(())
    }
}

impl Part {
    /// Returns the name, if this is one.
    fn name(&self) -> Option<&Arc<str>> {
        match self {
            Self::Name(name) => Some(name),
            Self::Deep | Self::Glob(_) | Self::Parent => None,
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deep => f.write_str("**"),
            Self::Glob(glob) => glob.fmt(f),
            Self::Name(name) => name.chars().try_for_each(|c| write_literal(f, c)),
            Self::Parent => f.write_str(".."),
        }
    }
}

impl Folder {
    /// Names exactly the folder at `path`, whatever characters its name has.
    ///
    /// # Errors
    ///
    /// A path that is not text, or that has control characters in it.
    pub fn literal(path: &Path) -> Result<Self, Invalid> {
        let text = path.to_str().ok_or_else(|| {
            let shown = path.to_string_lossy();
            Invalid::new("path-text", format!("the path {} is not UTF-8", quote(&shown)))
        })?;
        let special = |c: char| matches!(c, '*' | '?' | '[' | ']' | '\\' | '~');
        let escaped = text.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c]));
        escaped.collect::<String>().parse()
    }

    /// Returns the absolute form of this folder.
    ///
    /// # Errors
    ///
    /// As [`PathPattern::anchored`].
    pub fn anchored(&self, anchors: &Anchors) -> Result<Self, Invalid> {
        self.0.anchored(anchors).map(Self)
    }

    /// Returns whether this folder no longer depends on an anchor.
    pub fn is_absolute(&self) -> bool {
        self.0.is_absolute()
    }

    /// Returns the folder's path; until it is absolute, as written.
    pub fn path(&self) -> PathBuf {
        self.0.fixed_prefix()
    }

    /// Returns whether `path` is this folder or lies below it.
    pub fn matches(&self, path: &Path) -> bool {
        self.0.matches(path)
    }

    /// Returns whether `other` is this folder or lies below it.
    pub fn covers(&self, other: &Self) -> bool {
        self.0.covers(&other.0)
    }

    /// Returns the folder as a pattern.
    pub fn as_pattern(&self) -> &PathPattern {
        &self.0
    }
}

impl fmt::Display for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Returns the names along an absolute path, with `.` and `..` resolved by text.
fn normal_components(path: &Path) -> Vec<&OsStr> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            PathComponent::Normal(name) => names.push(name),
            PathComponent::ParentDir => drop(names.pop()),
            PathComponent::CurDir | PathComponent::Prefix(_) | PathComponent::RootDir => {}
        }
    }
    names
}

/// Refuses patterns that would make every start search the whole disk or the whole home.
fn check_reach(base: Base, parts: &[Part], text: impl Fn() -> String) -> Result<(), Invalid> {
    let whole = match (base, parts.first()) {
        (Base::Root, Some(Part::Deep | Part::Glob(_))) => "the whole disk",
        (Base::Home, Some(Part::Deep)) => "the whole home folder",
        (Base::Root | Base::Home | Base::Relative, _) => return Ok(()),
    };
    let problem = format!("{} would search {whole}", quote(&text()));
    Err(Invalid::new("path-reach", problem).with_hint("name a folder before the first wildcard"))
}
