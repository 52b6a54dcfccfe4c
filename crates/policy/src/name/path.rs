//! Files and folders as rules name them.

mod form;
mod lead;
mod reach;
mod read;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::{self, Write};
use std::path::{Component as PathComponent, Path, PathBuf};
use std::sync::Arc;

use smallvec::SmallVec;

use super::glob::write_literal;
use super::{Invalid, quote};
pub(crate) use form::NameIn;
use form::{Form, Part, Piece, deep_in};
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
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PathPattern {
    form: Form,
}

/// One folder or file without wildcards, for lists that grant: what may be written must be known
/// before the program starts, and a wildcard would also have to cover what appears later.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Folder(PathPattern);

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Base {
    Root,
    Home,
    Relative,
}

impl PathPattern {
    /// Makes a pattern of its components.
    fn of(base: Base, parts: &[Part]) -> Self {
        Self { form: Form::new(base, parts) }
    }

    /// Returns the same pattern in memory of its own: it keeps nothing of the policy that it is from.
    /// Patterns that are made with the same `texts` share them.
    #[must_use]
    pub fn apart(&self, texts: &mut BTreeSet<Arc<str>>) -> Self {
        Self { form: self.form.apart(texts) }
    }

    /// Returns whether this pattern no longer depends on an anchor.
    pub fn is_absolute(&self) -> bool {
        self.form.base() == Base::Root
    }

    /// Returns whether this pattern names everything there is.
    pub fn is_root(&self) -> bool {
        self.is_absolute() && self.form.is_empty()
    }

    /// Returns the one path this pattern names, if it is absolute and has no wildcard.
    pub fn literal(&self) -> Option<PathBuf> {
        self.as_literal().map(Cow::into_owned)
    }

    /// Returns what [`PathPattern::literal`] does, and copies nothing where that can be.
    pub fn as_literal(&self) -> Option<Cow<'_, Path>> {
        match &self.form {
            Form::Plain(Base::Root, text) => {
                deep_in(text).is_none().then(|| Cow::Borrowed(absolute(text)))
            }
            Form::Plain(Base::Home | Base::Relative, _) | Form::Parts(..) => {
                let literal = self.is_absolute() && !self.has_wildcard();
                literal.then(|| Cow::Owned(self.fixed_prefix()))
            }
        }
    }

    /// Returns the part before the first wildcard; of a pattern that is not absolute, as written.
    pub fn fixed_prefix(&self) -> PathBuf {
        if let Form::Plain(Base::Root, text) = &self.form {
            let end = deep_in(text).unwrap_or(text.len());
            return absolute(text.get(..end).unwrap_or_default()).to_owned();
        }
        let base = self.form.base();
        let mut prefix = String::with_capacity(64);
        // Absolute paths begin with a slash, which stands before every name.
        prefix.push_str(if base == Base::Home { "~" } else { "" });
        for piece in self.form.pieces() {
            let name = match piece {
                Piece::Name(name) => name,
                Piece::Parent => "..",
                Piece::Deep | Piece::Glob(_) => break,
            };
            if !prefix.is_empty() || base == Base::Root {
                prefix.push('/');
            }
            prefix.push_str(name);
        }
        if prefix.is_empty() && base == Base::Root {
            prefix.push('/');
        }
        PathBuf::from(prefix)
    }

    /// Returns the folder and the names of a pattern like `/folder/**/.git/hooks`: these names, in
    /// any folder below that one. `None` for every other pattern.
    pub fn anywhere_below(&self) -> Option<(PathBuf, PathBuf)> {
        self.as_anywhere_below().map(|(above, names)| (above.into_owned(), names.into_owned()))
    }

    /// Returns what [`PathPattern::anywhere_below`] does, and copies nothing where that can be.
    pub fn as_anywhere_below(&self) -> Option<(Cow<'_, Path>, Cow<'_, Path>)> {
        if let Form::Plain(Base::Root, text) = &self.form {
            let (above, names) = text.split_at_checked(deep_in(text)?)?;
            let names = names.get("/**/".len()..).filter(|names| !names.is_empty())?;
            let again = deep_in(names).is_some() || names == "**" || names.starts_with("**/");
            return (!again).then(|| (absolute(above).into(), Path::new(names).into()));
        }
        let pieces = self.form.pieces();
        let deep = pieces.iter().position(|piece| *piece == Piece::Deep)?;
        let (before, after) = (pieces.get(..deep)?, pieces.get(deep + 1..)?);
        before.iter().try_for_each(|piece| piece.name().map(drop))?;
        let names: PathBuf = after.iter().map(|piece| piece.name()).collect::<Option<_>>()?;
        let is_one = self.is_absolute() && !after.is_empty();
        is_one.then(|| (self.fixed_prefix().into(), names.into()))
    }

    /// Returns the pattern in lower case, if it is made of names and `**` alone.
    pub fn folded(&self) -> Option<Self> {
        if matches!(self.form, Form::Plain(..)) && self.is_lower_ascii() {
            return Some(self.clone());
        }
        let folded = |part: Part| match part {
            Part::Name(name) => Some(Part::Name(name.to_lowercase().into())),
            Part::Deep => Some(Part::Deep),
            Part::Glob(_) | Part::Parent => None,
        };
        let parts = self.form.parts().into_iter().map(folded).collect::<Option<Vec<_>>>()?;
        Some(Self::of(self.form.base(), &parts))
    }

    /// Returns whether any component is a wildcard.
    pub fn has_wildcard(&self) -> bool {
        match &self.form {
            Form::Plain(_, text) => deep_in(text).is_some(),
            Form::Parts(_, parts) => parts.iter().any(|part| match part {
                Part::Deep | Part::Glob(_) => true,
                Part::Name(_) | Part::Parent => false,
            }),
        }
    }

    /// Returns whether `path`, absolute and free of links, is named by this pattern or lies below
    /// what it names. Always false until the pattern is absolute.
    pub fn matches(&self, path: &Path) -> bool {
        if !self.is_absolute() || !path.is_absolute() {
            return false;
        }
        let (names, pieces) = (normal_components(path), self.form.pieces());
        let (mut part, mut place) = (0, 0);
        // As for `*` within a component: only the last `**` need ever give more.
        let mut retry: Option<(usize, usize)> = None;
        loop {
            let step = match (pieces.get(part), names.get(place)) {
                // The pattern is used up: this is the place it names, or below it.
                (None, _) => return true,
                (Some(Piece::Deep), _) => {
                    retry = Some((part, place));
                    part += 1;
                    continue;
                }
                (Some(Piece::Name(name)), Some(found)) => OsStr::new(name) == *found,
                (Some(Piece::Glob(glob)), Some(found)) => glob.matches(&found.to_string_lossy()),
                (Some(Piece::Parent), Some(_)) | (Some(_), None) => false,
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
        self.form.last()?.name()
    }

    /// Returns whether something of this name, in some folder, could be what this pattern names:
    /// a look at one component, for searches that see many.
    pub fn may_end_in(&self, name: &str) -> bool {
        match self.form.last() {
            Some(Piece::Name(last)) => last == name,
            Some(Piece::Glob(last)) => last.matches(name),
            Some(Piece::Deep | Piece::Parent) | None => true,
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
            && (self.matches(&other.fixed_prefix())
                || other.form.pieces().starts_with(&self.form.pieces()))
    }
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base = self.form.base();
        match (base, self.form.is_empty()) {
            (Base::Root, _) => f.write_char('/')?,
            (Base::Home, true) => f.write_char('~')?,
            (Base::Home, false) => f.write_str("~/")?,
            (Base::Relative, true) => f.write_char('.')?,
            (Base::Relative, false) => {}
        }
        for (place, piece) in self.form.pieces().iter().enumerate() {
            if place > 0 {
                f.write_char('/')?;
            }
            let text = piece.to_string();
            if place == 0 && base == Base::Relative && text.starts_with('~') {
                f.write_char('\\')?;
            }
            f.write_str(&text)?;
        }
        Ok(())
    }
}

impl fmt::Display for Piece<'_> {
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
        if let Some(pattern) = read::plain(text) {
            return Ok(Self(pattern));
        }
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

/// Returns the path that names make, each with a slash before it.
fn absolute(names: &str) -> &Path {
    Path::new(if names.is_empty() { "/" } else { names })
}

/// Returns the names along an absolute path, with `.` and `..` resolved by text.
fn normal_components(path: &Path) -> SmallVec<[&OsStr; 12]> {
    let mut names = SmallVec::new();
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
