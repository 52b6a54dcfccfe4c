//! What a diff says about one file.

use super::hunk::Part;
use super::name::Name;
use super::{Deed, Form, Target, Touched, Unreadable};

/// Longest text of a link that is looked at: the kernel takes no longer one.
const LONGEST_LINK: usize = 4096;

/// The lines about one file, from its first header to its last hunk.
#[derive(Debug, Default)]
pub(super) struct Section<'t> {
    names: Vec<(Side, Name<'t>, Weight)>,
    from: Option<(Way, Name<'t>)>,
    to: Option<(Way, Name<'t>)>,
    life: Life,
    kind: Kind,
    form: Option<Form>,
    change: Change,
    /// The new text, where it is that of a link.
    text: Option<String>,
}

/// Which line names a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Side {
    /// `---`, or `***` in a context diff.
    Old,
    /// `+++`.
    New,
    /// `diff --git`, `Index:`.
    Both,
}

/// Whether a name needs a hunk behind it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Weight {
    /// Without one the line is only text that looks like a header.
    WithHunk,
    /// The line is a header by itself.
    Alone,
}

/// What becomes of a file that has two names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Way {
    /// It loses the first.
    Move,
    /// It keeps both.
    Copy,
}

/// Whether there is a file before and after.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Life {
    #[default]
    Goes,
    Begins,
    Ends,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Kind {
    #[default]
    File,
    Link,
}

/// How much of a file changes.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
enum Change {
    #[default]
    Nothing,
    Mode,
    Text,
    /// In a form that is not looked into, or that can be read in two ways.
    Opaque,
}

impl<'t> Section<'t> {
    pub(super) fn name(&mut self, side: Side, name: Name<'t>, weight: Weight) {
        self.names.push((side, name, weight));
    }

    /// Makes the name on the line that starts at or behind `line` count, hunk or not.
    pub(super) fn confirm_from(&mut self, line: usize) {
        let since =
            self.names.iter_mut().rev().take_while(|(_, name, _)| name.span.start() >= line);
        since.for_each(|(_, _, weight)| *weight = Weight::Alone);
    }

    pub(super) fn moved(&mut self, side: Side, way: Way, name: Name<'t>) -> Result<(), Unreadable> {
        let is_next = match side {
            Side::Old => self.from.is_none() && self.to.is_none(),
            Side::New | Side::Both => self.from.is_some() && self.to.is_none(),
        };
        if !is_next {
            let message = "the patch moves or copies one file twice, or from nowhere";
            return Err(Unreadable::new("patch-confused", message, name.span));
        }
        let place = if side == Side::Old { &mut self.from } else { &mut self.to };
        *place = Some((way, name));
        Ok(())
    }

    /// Takes in a file mode. Any mode of a link makes the file one, before or after.
    pub(super) fn mode(&mut self, octal: &str, life: Life) {
        let digits: String = octal.trim().chars().take_while(|c| c.is_digit(8)).collect();
        if u32::from_str_radix(&digits, 8).is_ok_and(|mode| mode & 0o170_000 == 0o120_000) {
            self.kind = Kind::Link;
        }
        if life != Life::Goes {
            self.life = life;
        }
        self.change = self.change.max(Change::Mode);
    }

    /// Takes the names as git writes them.
    pub(super) fn is_git(&mut self) {
        self.form = Some(Form::Git);
    }

    pub(super) fn has_hunks(&self) -> bool {
        self.change >= Change::Text
    }

    pub(super) fn is_named(&self) -> bool {
        !self.names.is_empty() || self.from.is_some() || self.to.is_some()
    }

    pub(super) fn starts_hunk(&mut self) {
        // The text of a link is one line; what several hunks make of it cannot be told.
        let is_second = self.kind == Kind::Link && self.has_hunks();
        self.change = if is_second { Change::Opaque } else { self.change.max(Change::Text) };
    }

    pub(super) fn is_opaque(&mut self) {
        self.change = Change::Opaque;
    }

    /// Takes in a line of a hunk: those of the new side are what a link leads to.
    pub(super) fn line(&mut self, part: Part<'_>) {
        if self.kind == Kind::File {
            return;
        }
        match part {
            Part::Both(line) | Part::New(line) => {
                let text = self.text.get_or_insert_default();
                if text.len() + line.len() > LONGEST_LINK {
                    self.is_opaque();
                } else {
                    if !text.is_empty() {
                        text.push('\n');
                    }
                    text.push_str(line);
                }
            }
            Part::Old(_) | Part::Note => {}
            Part::Soft | Part::Foreign => self.is_opaque(),
        }
    }

    /// Returns what the section touches, and whether each name needs a hunk behind it.
    pub(super) fn close(self) -> Vec<(Touched, Weight)> {
        let nothing = |wanted: Side| {
            self.names.iter().any(|(side, name, _)| *side == wanted && name.is_nothing())
        };
        let life = match (self.life, nothing(Side::Old), nothing(Side::New)) {
            (Life::Goes, true, false) => Life::Begins,
            (Life::Goes, false, true) => Life::Ends,
            (life, _, _) => life,
        };
        let deed = match (life, self.kind, self.change) {
            (Life::Ends, Kind::Link, _) => Deed::Unlink,
            (Life::Ends, Kind::File, _) => Deed::Delete,
            (_, Kind::Link, Change::Text) => {
                Deed::Link(self.text.map_or(Target::Unknown, Target::Text))
            }
            (_, Kind::Link, _) => Deed::Link(Target::Unknown),
            (Life::Begins, Kind::File, _) => Deed::Create,
            (Life::Goes, Kind::File, Change::Mode) => Deed::Mode,
            (Life::Goes, Kind::File, _) => Deed::Change,
        };
        let ends =
            [(self.from, Deed::MoveFrom, Deed::CopyFrom), (self.to, Deed::MoveTo, Deed::CopyTo)];
        let moved = ends.into_iter().filter_map(|(end, moves, copies)| {
            let (way, name) = end?;
            Some((name, if way == Way::Move { moves } else { copies }, Form::Git, Weight::Alone))
        });
        let named = self.names.into_iter().filter(|(_, name, _)| !name.is_nothing());
        let named = named.map(|(_, name, weight)| {
            let has_side = name.text.find('/') == Some(1);
            let form = self.form.filter(|_| has_side).unwrap_or(Form::Prefixed);
            (name, deed.clone(), form, weight)
        });
        let all = named.chain(moved).map(|(name, deed, form, weight)| {
            let path = name.text.into_owned();
            (Touched { path, deed, span: name.span, form }, weight)
        });
        all.collect()
    }
}
