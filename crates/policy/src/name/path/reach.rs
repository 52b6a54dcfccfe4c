//! A pattern against a path that is only partly known, and how deep it matches.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;

use smallvec::SmallVec;

use super::form::{Form, NameIn, Part, Piece, Pieces};
use super::{PathPattern, normal_components};
use crate::name::glob::{Component, Glob};

/// How a pattern stands to a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Reach {
    /// It names the path, or a folder above it: the deepest such has this many components.
    Named(usize),
    /// It names something below the path.
    Above,
    /// Neither.
    Apart,
}

/// One component of a path that is asked about.
#[derive(Clone, Debug)]
pub(crate) enum Step<'a> {
    /// This name.
    Name(&'a str),
    /// Every name that this shell pattern matches.
    Pattern(Glob),
    /// Any name at all.
    Any,
}

impl PathPattern {
    /// Returns how this pattern stands to the path that `names` leads to from `/`.
    pub(crate) fn reach(&self, names: &[Step<'_>]) -> Reach {
        if !self.is_absolute() {
            return Reach::Apart;
        }
        let parts: Pieces<'_> = self.form.pieces();
        // Most patterns begin with plain names, and most paths with others.
        for (part, name) in parts.iter().zip(names) {
            match (part, name) {
                (Piece::Name(part), Step::Name(name)) if part == name => {}
                (Piece::Name(_), Step::Name(_)) => return Reach::Apart,
                (Piece::Name(_) | Piece::Deep | Piece::Glob(_) | Piece::Parent, _) => break,
            }
        }
        // Bit n: the first n parts match the names seen so far. Nobody writes 63 components.
        if parts.len() > 63 {
            return Reach::Named(names.len());
        }
        let is_deep = |part: &Piece<'_>| matches!(part, Piece::Deep);
        let places = parts.iter().enumerate();
        let deep: u64 = places.filter(|(_, part)| is_deep(part)).map(|(at, _)| 1 << at).sum();
        let skip_deep = |mut state: u64| {
            // Several may follow one another.
            while state & deep & !(state >> 1) != 0 {
                state |= (state & deep) << 1;
            }
            state
        };
        let end = 1 << parts.len();
        let mut state = skip_deep(1);
        let mut named = (state & end != 0).then_some(0);
        for (place, name) in names.iter().enumerate() {
            let mut next = 0;
            let mut left = state;
            while left != 0 {
                let at = left.trailing_zeros() as usize;
                left &= left - 1;
                // The end has no part.
                let Some(part) = parts.get(at) else { break };
                next |= match part {
                    Piece::Deep => 1 << at,
                    Piece::Name(part) if name.may_be(part) => 1 << (at + 1),
                    Piece::Glob(glob) if name.may_match(glob) => 1 << (at + 1),
                    Piece::Name(_) | Piece::Glob(_) | Piece::Parent => 0,
                };
            }
            state = skip_deep(next);
            if state & end != 0 {
                named = Some(place + 1);
            }
        }
        // What waits at a `**` may have been carried here by it: no sign that the rest lies below.
        let above = parts
            .windows(2)
            .enumerate()
            .any(|(at, pair)| state >> (at + 1) & 1 == 1 && !pair.iter().any(is_deep));
        match named {
            Some(depth) => Reach::Named(depth),
            None if above => Reach::Above,
            None => Reach::Apart,
        }
    }

    /// Returns the components without wildcards: a path that lacks one of them cannot match.
    pub(crate) fn plain_names(&self) -> SmallVec<[NameIn; 12]> {
        self.form.plain_names()
    }

    /// Returns the first component, if it has no wildcards.
    pub(crate) fn first_plain_name(&self) -> Option<&str> {
        self.form.first()?.name()
    }

    /// Returns whether it is written in ASCII without upper-case letters.
    pub(crate) fn is_lower_ascii(&self) -> bool {
        let is_lower = |c: char| c.is_ascii() && !c.is_ascii_uppercase();
        // Without a branch for each byte: several are looked at at once.
        let lower = |byte: u8| byte.is_ascii() & !byte.is_ascii_uppercase();
        let are_lower = |text: &str| text.bytes().fold(true, |all, byte| all & lower(byte));
        match &self.form {
            Form::Plain(_, text) => are_lower(text),
            Form::Parts(_, parts) => parts.iter().all(|part| match part {
                Part::Name(name) => are_lower(name),
                Part::Deep | Part::Parent => true,
                Part::Glob(glob) => glob.is_written_in(is_lower),
            }),
        }
    }

    /// Returns this pattern with other names in it; none if it has a wildcard within a name. What
    /// is borrowed stays as it is.
    pub(crate) fn with_names(&self, other: impl Fn(&str) -> Cow<'_, str>) -> Option<Self> {
        let part = |part: Part| match &part {
            Part::Name(name) => Some(match other(name) {
                Cow::Borrowed(_) => part,
                Cow::Owned(name) => Part::Name(name.into()),
            }),
            Part::Deep => Some(Part::Deep),
            Part::Parent => Some(Part::Parent),
            Part::Glob(_) => None,
        };
        let parts = self.form.parts().into_iter().map(part).collect::<Option<Vec<_>>>()?;
        Some(Self::of(self.form.base(), &parts))
    }

    /// Returns whether a folder on the way to what this pattern names is named by a wildcard other
    /// than `**`.
    pub(crate) fn has_wild_folder(&self) -> bool {
        let Form::Parts(_, parts) = &self.form else { return false };
        let folders = parts.split_last().map_or(&[][..], |(_, folders)| folders);
        folders.iter().any(|part| match part {
            Part::Glob(_) => true,
            Part::Deep | Part::Name(_) | Part::Parent => false,
        })
    }

    /// Returns this pattern for a tree that is also reached as `to`; none if it lies elsewhere.
    pub(crate) fn moved(&self, from: &Path, to: &Path) -> Option<Self> {
        let name = |name: &OsStr| Some(Part::Name(name.to_str()?.into()));
        let from = normal_components(from).into_iter().map(name).collect::<Option<Vec<_>>>()?;
        let mut parts = normal_components(to).into_iter().map(name).collect::<Option<Vec<_>>>()?;
        parts.extend_from_slice(self.form.parts().strip_prefix(from.as_slice())?);
        Some(Self::of(self.form.base(), &parts))
    }
}

impl<'a> Step<'a> {
    /// Reads a component in which `*`, `?` and `[set]` are wildcards.
    pub(crate) fn pattern(text: &'a str) -> Self {
        if !text.bytes().any(|byte| matches!(byte, b'*' | b'?' | b'[' | b'\\')) {
            return Self::Name(text);
        }
        match Component::parse(text, text) {
            Ok(Component::Glob(glob)) => Self::Pattern(glob),
            Ok(Component::Literal(_)) => Self::Name(text),
            // To a shell a set without its end is no set.
            Err(invalid) if invalid.code() == "path-set" => Self::Name(text),
            Ok(Component::Deep) | Err(_) => Self::Any,
        }
    }

    /// Returns whether this component may be the name `part`.
    pub(crate) fn may_be(&self, part: &str) -> bool {
        match self {
            Self::Name(name) => *name == part,
            // A shell's wildcard leaves names with a dot in front alone, unless told otherwise.
            Self::Pattern(glob) => {
                (!part.starts_with('.') || glob.starts_with_dot()) && glob.matches(part)
            }
            Self::Any => true,
        }
    }

    /// Returns whether the component that `text` is may be the name `part`. Where its ends tell
    /// that it is not, the rest is not read.
    pub(crate) fn matches(text: &'a str, part: &str) -> bool {
        !differs(text.as_bytes(), part.as_bytes()) && Self::pattern(text).may_be(part)
    }

    fn may_match(&self, part: &Glob) -> bool {
        match self {
            Self::Name(name) => part.matches(name),
            Self::Pattern(_) | Self::Any => true,
        }
    }
}

/// Whether a component without sets and escapes is seen to be another one than `part` by what stands
/// before its first wildcard, or behind its last one.
fn differs(text: &[u8], part: &[u8]) -> bool {
    let is_wild = |byte: &u8| matches!(byte, b'*' | b'?');
    let start = text.iter().position(is_wild).and_then(|at| text.get(..at)).unwrap_or(text);
    let end = text.iter().rposition(is_wild).and_then(|at| text.get(at + 1..)).unwrap_or(text);
    // A wildcard in front matches no dot.
    let begins = part.starts_with(start) && !(start.is_empty() && part.first() == Some(&b'.'));
    if begins && part.ends_with(end) {
        return false;
    }
    // Of what is no pattern of one name, as `**` and `[`, nothing can be said this way.
    let mut before = 0;
    !text.iter().any(|&byte| {
        let is_star = std::mem::replace(&mut before, byte) == b'*';
        matches!(byte, b'[' | b'\\') || is_star && byte == b'*'
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_ends_of_a_component_tell_is_what_all_of_it_tells() {
        let texts = [
            "", "*", "**", "***", "?", "a", ".git", "*.git", "*.txt", ".*", ".", "..", "[.]git",
            "\\.git", "_*", "?git", "*t", "**t", "g*t", "é*", "*é", "[", "a**b", "git", "[_]*",
            "*i*", "_g?t", ".g*", "?", "*.gi?",
        ];
        let parts = ["", ".git", "_git", "..", ".", "a", "é", "git", "a.txt", "\u{e9}t"];
        let mut early = 0;
        for (text, part) in texts.iter().flat_map(|text| parts.map(|part| (*text, part))) {
            assert_eq!(
                Step::matches(text, part),
                Step::pattern(text).may_be(part),
                "{text} {part}"
            );
            early += usize::from(differs(text.as_bytes(), part.as_bytes()));
        }
        assert!(early > texts.len(), "most are told early: {early}");
    }
}
