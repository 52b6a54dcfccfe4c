//! From a text to a pattern, and from there to the absolute one.

use std::cell::OnceCell;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use smallvec::SmallVec;

use super::form::{Form, Part, can_stand_in_text};
use super::{Base, Folder, PathPattern, check_reach, normal_components};
use crate::name::glob::Component;
use crate::name::{Invalid, quote};
use crate::text::byte;

/// Where `~` and relative patterns start. Both paths are absolute.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Anchors {
    /// The folder that relative patterns are relative to.
    pub root: PathBuf,
    /// The user's home folder, if there is one.
    pub home: Option<PathBuf>,
}

/// Anchors for many patterns: each folder is taken apart when the first of them starts there.
#[derive(Debug)]
pub(crate) struct Anchorage<'a> {
    anchors: &'a Anchors,
    root: OnceCell<Anchor>,
    home: OnceCell<Anchor>,
}

/// A folder that patterns start from.
#[derive(Debug, Default)]
struct Anchor {
    names: Vec<Part>,
    /// The same as a text with a slash before each, if there is one.
    text: Option<String>,
}

/// The kernel's `PATH_MAX`: no longer path can be opened.
const LONGEST: usize = 4096;

/// The parts of a pattern while it is read: nearly always few.
type Parts = SmallVec<[Part; 8]>;

impl<'a> Anchorage<'a> {
    pub(crate) fn new(anchors: &'a Anchors) -> Self {
        Self { anchors, root: OnceCell::new(), home: OnceCell::new() }
    }

    pub(crate) fn anchors(&self) -> &'a Anchors {
        self.anchors
    }

    /// Returns the absolute form of the pattern that these parts make.
    fn anchored(&self, base: Base, parts: &[Part]) -> Result<PathPattern, Invalid> {
        let written = || PathPattern::of(base, parts);
        let names: &[Part] = match self.anchor(base, written)? {
            Some(anchor) => &anchor.names,
            None => &[],
        };
        let whole: Vec<Part> = if parts.contains(&Part::Parent) {
            let mut whole = names.to_vec();
            for part in parts {
                match part {
                    Part::Parent => drop(whole.pop()),
                    Part::Deep | Part::Glob(_) | Part::Name(_) => whole.push(part.clone()),
                }
            }
            whole
        } else {
            names.iter().chain(parts).cloned().collect()
        };
        // Whoever makes `/` the root has said that everything is the project.
        let is_everything =
            names.is_empty() && base == Base::Relative && self.anchors.root == Path::new("/");
        if base != Base::Root && !is_everything {
            check_reach(Base::Root, &whole, || written().to_string())?;
        }
        Ok(PathPattern::of(Base::Root, &whole))
    }

    /// Returns the folder that a pattern starts from; none if that is `/`.
    fn anchor(
        &self,
        base: Base,
        written: impl Fn() -> PathPattern,
    ) -> Result<Option<&Anchor>, Invalid> {
        let (known, folder) = match base {
            Base::Root => return Ok(None),
            Base::Home => {
                let home = self.anchors.home.as_deref().ok_or_else(|| {
                    let shown = quote(&written().to_string()).to_string();
                    let problem = format!("{shown} needs a home folder, and there is none");
                    Invalid::new("path-home", problem).with_hint("write the absolute path")
                })?;
                (&self.home, home)
            }
            Base::Relative => (&self.root, self.anchors.root.as_path()),
        };
        if let Some(anchor) = known.get() {
            return Ok(Some(anchor));
        }
        let anchor = Anchor::at(folder)?;
        Ok(Some(known.get_or_init(|| anchor)))
    }
}

impl PathPattern {
    /// Returns the absolute form of this pattern.
    ///
    /// # Errors
    ///
    /// When `~` is used and there is no home, when an anchor is relative or not UTF-8, and when
    /// the result would search the whole disk.
    pub fn anchored(&self, anchors: &Anchors) -> Result<Self, Invalid> {
        match self.form.base() {
            Base::Root => Ok(self.clone()),
            base @ (Base::Home | Base::Relative) => {
                Anchorage::new(anchors).anchored(base, &self.form.parts())
            }
        }
    }

    /// Reads a pattern and returns its absolute form.
    pub(crate) fn read_at(text: &str, anchorage: &Anchorage<'_>) -> Result<Self, Invalid> {
        if let Some(pattern) = read_plain(text, anchorage) {
            return Ok(pattern);
        }
        let (base, parts) = read(text)?;
        anchorage.anchored(base, &parts)
    }
}

impl FromStr for PathPattern {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let (base, parts) = read(text)?;
        Ok(Self::of(base, &parts))
    }
}

impl Folder {
    /// Reads a folder and returns its absolute form.
    pub(crate) fn read_at(text: &str, anchorage: &Anchorage<'_>) -> Result<Self, Invalid> {
        let Self(folder) = text.parse()?;
        anchorage.anchored(folder.form.base(), &folder.form.parts()).map(Self)
    }
}

impl FromStr for Folder {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let pattern: PathPattern = text.parse()?;
        if pattern.has_wildcard() {
            let problem = format!("{} has a wildcard, which cannot be enforced here", quote(text));
            let prefix = pattern.fixed_prefix();
            let folder =
                if prefix.as_os_str().is_empty() { ".".into() } else { prefix.to_string_lossy() };
            return Err(Invalid::new("wildcard-not-enforceable", problem)
                .with_hint(format!("name the folder itself, like {}", quote(&folder))));
        }
        Ok(Self(pattern))
    }
}

/// Reads a pattern and returns its absolute form, if that is made of plain names and `**` alone:
/// nearly every one is, and a policy has many. What is anything else, or wrong, is not read here.
fn read_plain(text: &str, anchorage: &Anchorage<'_>) -> Option<PathPattern> {
    let (base, mut rest) = match text.as_bytes() {
        [b'/', ..] => (Base::Root, text.get(1..)?),
        [b'~', b'/', ..] => (Base::Home, text.get(2..)?),
        [b'~', ..] => return None,
        _ => (Base::Relative, text),
    };
    if text.is_empty() || text.len() > LONGEST {
        return None;
    }
    let nothing = || PathPattern::of(base, &[]);
    let above = match anchorage.anchor(base, nothing).ok()? {
        Some(anchor) => anchor.text.as_deref()?,
        None => "",
    };
    let mut whole = String::with_capacity(above.len() + 1 + rest.len());
    whole.push_str(above);
    while !rest.is_empty() {
        let plain = rest.bytes().position(|byte| !is_plain(byte)).unwrap_or(rest.len());
        let (name, behind) = rest.split_at_checked(plain)?;
        rest = match behind.as_bytes() {
            [] => behind,
            [b'/', ..] => behind.get(1..)?,
            [b'*', b'*', b'/', ..] if name.is_empty() && !whole.ends_with("/**") => {
                // Where `**` begins a path, or ends one, there are rules of their own for it.
                let begins = whole.is_empty() || base == Base::Home && whole.len() == above.len();
                if begins {
                    return None;
                }
                whole.push_str("/**");
                behind.get(3..)?
            }
            _ => return None,
        };
        match name {
            "" | "." => {}
            ".." => return None,
            name => {
                whole.push('/');
                whole.push_str(name);
            }
        }
    }
    let form = Form::Plain(Base::Root, whole.as_str().into());
    (!whole.ends_with("/**")).then_some(PathPattern { form })
}

/// Returns the pattern that names exactly an absolute path, if all characters of that are harmless.
pub(super) fn plain(path: &str) -> Option<PathPattern> {
    let is_harmless = |byte: u8| is_plain(byte) && !matches!(byte, b']' | b'~') || byte == b'/';
    if path.len() > LONGEST || !path.starts_with('/') || !path.bytes().all(is_harmless) {
        return None;
    }
    let mut names = path.split('/').skip(1);
    if names.clone().all(|name| !matches!(name, "" | "." | "..")) {
        return Some(PathPattern { form: Form::Plain(Base::Root, path.into()) });
    }
    let mut whole = String::with_capacity(path.len());
    names.try_for_each(|name| match name {
        "" | "." => Some(()),
        ".." => None,
        name => {
            whole.push('/');
            whole.push_str(name);
            Some(())
        }
    })?;
    Some(PathPattern { form: Form::Plain(Base::Root, whole.into()) })
}

/// Returns whether a byte stands for itself in a pattern, and parts no names.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && !matches!(byte, b'*' | b'/' | b'?' | b'[' | b'\\')
}

/// Reads the parts of a pattern.
fn read(text: &str) -> Result<(Base, Parts), Invalid> {
    let shown = || quote(text);
    if text.is_empty() {
        return Err(Invalid::new("path-empty", "the path is empty")
            .with_hint("write `.` for the project's own folder"));
    }
    if text.len() > LONGEST {
        let problem = format!("{} is longer than {LONGEST} bytes", shown());
        return Err(Invalid::new("path-length", problem));
    }
    // Nearly every text has plain characters only, which are told by their bytes.
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if !is_plain && text.chars().any(char::is_control) {
        let problem = format!("{} contains a control character", shown());
        return Err(Invalid::new("path-control", problem));
    }
    let (base, mut rest) = if let Some(rest) = text.strip_prefix('/') {
        (Base::Root, rest)
    } else if let Some(rest) = text.strip_prefix('~') {
        if !rest.is_empty() && !rest.starts_with('/') {
            let problem = format!("{} names another user's home", shown());
            return Err(Invalid::new("path-user", problem).with_hint(
                "write `~/` for your own home, the absolute path, or `\\~` for the character",
            ));
        }
        (Base::Home, rest)
    } else {
        (Base::Relative, text)
    };

    let mut parts = Parts::new();
    while !rest.is_empty() {
        let component;
        (component, rest) = byte::split_once(rest, b'/').unwrap_or((rest, ""));
        match Component::parse(component, text)? {
            Component::Deep if parts.last() == Some(&Part::Deep) => {}
            Component::Deep => parts.push(Part::Deep),
            Component::Glob(glob) => parts.push(Part::Glob(glob)),
            Component::Literal(name) => match &*name {
                "" | "." => {}
                ".." => climb(base, &mut parts, text)?,
                name => parts.push(Part::Name(name.into())),
            },
        }
    }
    check_reach(base, &parts, || text.to_owned())?;
    // A pattern names a tree anyway, so `folder/**` is the folder.
    if parts.last() == Some(&Part::Deep) {
        parts.pop();
    }
    Ok((base, parts))
}

impl Anchor {
    /// Takes a folder apart.
    fn at(folder: &Path) -> Result<Self, Invalid> {
        let names = names_along(folder)?;
        let mut text = Some(String::new());
        for name in &names {
            let Part::Name(name) = name else { continue };
            text = text.filter(|_| can_stand_in_text(name)).map(|text| text + "/" + name);
        }
        Ok(Self { names, text })
    }
}

/// Returns the names along a folder that patterns start from.
fn names_along(folder: &Path) -> Result<Vec<Part>, Invalid> {
    let bad_anchor = || {
        let problem =
            format!("the folder {} cannot anchor a path", quote(&folder.to_string_lossy()));
        Invalid::new("path-anchor", problem).with_hint("it must be absolute and valid UTF-8")
    };
    if !folder.is_absolute() {
        return Err(bad_anchor());
    }
    let name = |name: &OsStr| name.to_str().map(|name| Part::Name(name.into()));
    normal_components(folder).into_iter().map(|part| name(part).ok_or_else(bad_anchor)).collect()
}

/// Resolves one `..` by text.
fn climb(base: Base, parts: &mut Parts, text: &str) -> Result<(), Invalid> {
    match (parts.last(), base) {
        (Some(Part::Deep | Part::Glob(_)), _) => {
            let shown = quote(text);
            let problem = format!("{shown} has a `..` after a wildcard, which cannot be enforced");
            return Err(
                Invalid::new("path-climb", problem).with_hint("write the path without `..`")
            );
        }
        (Some(Part::Name(_)), _) => drop(parts.pop()),
        // As for the kernel, the folder above `/` is `/`.
        (None | Some(Part::Parent), Base::Root) => {}
        (None | Some(Part::Parent), Base::Home | Base::Relative) => parts.push(Part::Parent),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_patterns_are_read_as_all_are() {
        let components =
            ["", ".", "..", "**", "*", "a", "b c", "~", "x*", "\\*", "[a]", "é", "\u{7}", ".git"];
        let mut texts: Vec<String> = ["", "/", "~", "~/", "~x", "./"].map(Into::into).into();
        let mut from = 0;
        for _ in 0..3 {
            let to = texts.len();
            for at in from..to {
                for component in components {
                    let start = texts[at].clone();
                    let slash = if start.is_empty() || start.ends_with('/') { "" } else { "/" };
                    texts.push(format!("{start}{slash}{component}"));
                    texts.push(format!("{start}{slash}{component}/"));
                }
            }
            from = to;
        }
        texts.push("/a".repeat(2048));
        texts.push("/a".repeat(2049));
        for (root, home) in [
            ("/srv/app", Some("/home/user")),
            ("/", Some("/")),
            ("/srv/../app/./x", None),
            ("relative", Some("relative")),
        ] {
            let anchors = Anchors { root: root.into(), home: home.map(Into::into) };
            let anchorage = Anchorage::new(&anchors);
            let mut plain = 0;
            for text in &texts {
                let whole = text.parse::<PathPattern>().and_then(|path| path.anchored(&anchors));
                if let Some(quick) = read_plain(text, &anchorage) {
                    plain += 1;
                    assert_eq!(Ok(&quick), whole.as_ref(), "{text:?} in {anchors:?}");
                }
                assert_eq!(PathPattern::read_at(text, &anchorage), whole, "{text:?}");
            }
            assert!(plain > 100, "{plain} in {anchors:?}");
        }
    }
}
