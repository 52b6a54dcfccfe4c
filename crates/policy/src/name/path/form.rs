//! How a pattern is kept in memory.
//!
//! Policies have a hundred patterns, each is cloned several times at every start, and nearly all of
//! them are names and `**` alone. Those are one text, of which paths are parts.

use std::collections::BTreeSet;
use std::ops::{Deref, Range};
use std::sync::Arc;

use smallvec::SmallVec;

use super::Base;
use crate::name::glob::Glob;
use crate::text::byte;

/// One component of a pattern, while it is read and made.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Part {
    /// `**`
    Deep,
    Glob(Glob),
    Name(Arc<str>),
    /// `..`, only at the start of what is not absolute.
    Parent,
}

/// One component of a pattern, as it is looked at.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Piece<'p> {
    Deep,
    Glob(&'p Glob),
    Name(&'p str),
    Parent,
}

/// The components of a pattern: nearly always few.
pub(super) type Pieces<'p> = SmallVec<[Piece<'p>; 12]>;

/// The same pattern always has the same form, so that forms can be compared.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Form {
    /// Names and `**` alone, a slash before each.
    Plain(Base, Arc<str>),
    /// Anything else, and a name that is `**` itself.
    Parts(Base, Arc<[Part]>),
}

/// A name in a pattern.
#[derive(Clone, Debug)]
pub(crate) struct NameIn {
    text: Arc<str>,
    at: Range<usize>,
}

const DEEP: &str = "**";

impl Form {
    pub(super) fn new(base: Base, parts: &[Part]) -> Self {
        let mut text = String::with_capacity(64);
        for part in parts {
            text.push('/');
            text.push_str(match part {
                Part::Deep => DEEP,
                Part::Name(name) if can_stand_in_text(name) => name,
                Part::Name(_) | Part::Glob(_) | Part::Parent => {
                    return Self::Parts(base, parts.into());
                }
            });
        }
        Self::Plain(base, text.into())
    }

    /// Returns the same in memory of its own, but for what is among `texts`.
    pub(super) fn apart(&self, texts: &mut BTreeSet<Arc<str>>) -> Self {
        let mut own = |text: &Arc<str>| {
            texts.get(&**text).cloned().unwrap_or_else(|| {
                let own: Arc<str> = Arc::from(&**text);
                texts.insert(Arc::clone(&own));
                own
            })
        };
        match self {
            Self::Plain(base, text) => Self::Plain(*base, own(text)),
            Self::Parts(base, parts) => {
                let parts = parts.iter().map(|part| match part {
                    Part::Name(name) => Part::Name(own(name)),
                    Part::Glob(_) | Part::Deep | Part::Parent => part.clone(),
                });
                Self::Parts(*base, parts.collect())
            }
        }
    }

    pub(super) fn base(&self) -> Base {
        match self {
            Self::Plain(base, _) | Self::Parts(base, _) => *base,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Plain(_, text) => text.is_empty(),
            Self::Parts(_, parts) => parts.is_empty(),
        }
    }

    pub(super) fn pieces(&self) -> Pieces<'_> {
        match self {
            Self::Plain(_, text) => names(text).map(|(name, _)| Piece::of(name)).collect(),
            Self::Parts(_, parts) => parts.iter().map(Part::piece).collect(),
        }
    }

    pub(super) fn parts(&self) -> Vec<Part> {
        match self {
            Self::Plain(_, text) => names(text)
                .map(|(name, _)| match Piece::of(name) {
                    Piece::Name(name) => Part::Name(name.into()),
                    Piece::Deep | Piece::Glob(_) | Piece::Parent => Part::Deep,
                })
                .collect(),
            Self::Parts(_, parts) => parts.to_vec(),
        }
    }

    pub(super) fn first(&self) -> Option<Piece<'_>> {
        match self {
            Self::Plain(_, text) => names(text).next().map(|(name, _)| Piece::of(name)),
            Self::Parts(_, parts) => parts.first().map(Part::piece),
        }
    }

    pub(super) fn last(&self) -> Option<Piece<'_>> {
        match self {
            Self::Plain(_, text) => text.rsplit_once('/').map(|(_, name)| Piece::of(name)),
            Self::Parts(_, parts) => parts.last().map(Part::piece),
        }
    }

    /// Returns the plain names in it.
    pub(super) fn plain_names(&self) -> SmallVec<[NameIn; 12]> {
        match self {
            Self::Plain(_, text) => names(text)
                .filter(|(name, _)| *name != DEEP)
                .map(|(_, at)| NameIn { text: Arc::clone(text), at })
                .collect(),
            Self::Parts(_, parts) => parts.iter().filter_map(NameIn::of).collect(),
        }
    }
}

/// Returns where `/**` begins in the text of a plain form.
pub(super) fn deep_in(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let star = from + byte::find(text.get(from..)?, b'*')?;
        let rest = star.checked_sub(1).and_then(|slash| text.as_bytes().get(slash..));
        if let Some([] | [b'/', ..]) = rest.and_then(|rest| rest.strip_prefix(b"/**")) {
            return Some(star - 1);
        }
        from = star + 1;
    }
}

/// Returns whether a name is told from all else in a text with slashes between names.
pub(super) fn can_stand_in_text(name: &str) -> bool {
    name != DEEP && !name.is_empty() && !name.contains('/')
}

/// Returns the components of a plain form, and where each stands.
fn names(text: &str) -> impl Iterator<Item = (&str, Range<usize>)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let rest = text.get(from + 1..)?;
        let length = byte::find(rest, b'/').unwrap_or(rest.len());
        let at = from + 1..from + 1 + length;
        from = at.end;
        Some((text.get(at.clone())?, at))
    })
}

impl Part {
    pub(super) fn piece(&self) -> Piece<'_> {
        match self {
            Self::Deep => Piece::Deep,
            Self::Glob(glob) => Piece::Glob(glob),
            Self::Name(name) => Piece::Name(name),
            Self::Parent => Piece::Parent,
        }
    }
}

impl<'p> Piece<'p> {
    fn of(name: &'p str) -> Self {
        if name == DEEP { Self::Deep } else { Self::Name(name) }
    }

    /// Returns the name, if this is one.
    pub(super) fn name(self) -> Option<&'p str> {
        match self {
            Self::Name(name) => Some(name),
            Self::Deep | Self::Glob(_) | Self::Parent => None,
        }
    }
}

impl NameIn {
    fn of(part: &Part) -> Option<Self> {
        match part {
            Part::Name(name) => Some(Self { text: Arc::clone(name), at: 0..name.len() }),
            Part::Deep | Part::Glob(_) | Part::Parent => None,
        }
    }
}

impl From<&str> for NameIn {
    fn from(name: &str) -> Self {
        Self { text: name.into(), at: 0..name.len() }
    }
}

impl Deref for NameIn {
    type Target = str;

    fn deref(&self) -> &str {
        self.text.get(self.at.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_the_same_in_either_form() {
        let name = |name: &str| Part::Name(name.into());
        let glob: super::super::PathPattern = "a*".parse().unwrap();
        let glob = glob.form.parts().remove(0);
        let all = [name("a"), name("b c"), name("**"), name("*"), name("**x"), Part::Deep, glob];
        for one in &all {
            for two in &all {
                for three in [&[][..], std::slice::from_ref(one), &[name("x"), Part::Deep]] {
                    let parts: Vec<Part> = [one, two].into_iter().chain(three).cloned().collect();
                    let form = Form::new(Base::Root, &parts);
                    assert_eq!(form.parts(), parts);
                    let pieces: Vec<Piece<'_>> = parts.iter().map(Part::piece).collect();
                    assert_eq!(form.pieces().to_vec(), pieces);
                    assert_eq!(form.first(), pieces.first().copied());
                    assert_eq!(form.last(), pieces.last().copied());
                    let names: Vec<&str> = pieces.iter().filter_map(|piece| piece.name()).collect();
                    let plain = form.plain_names();
                    assert_eq!(plain.iter().map(|name| &**name).collect::<Vec<_>>(), names);
                    if let Form::Plain(_, text) = &form {
                        assert_eq!(
                            deep_in(text).is_some(),
                            pieces.contains(&Piece::Deep),
                            "{text}"
                        );
                    }
                }
            }
        }
        let texts = [
            "/**",
            "/a/**/b",
            "*x/**/b",
            "/a**/**",
            "/**a/***/**",
            "/*",
            "/é*/**/x",
            "",
            "/a",
            "/***",
        ];
        for text in texts {
            let names: Vec<&str> = text.split('/').collect();
            let deep = names.iter().position(|name| *name == "**");
            let expected = deep.map(|deep| names[..deep].join("/").len());
            assert_eq!(deep_in(text), expected, "{text}");
        }
        assert!(Form::new(Base::Root, &[]).pieces().is_empty());
        assert!(matches!(Form::new(Base::Root, &[name("a/b")]), Form::Parts(..)));
    }
}
