//! A value, as far as a text tells it, and where it comes from.

use crate::command::{Certainty, HOLE, Holed as _};

/// A variable's value, as far as it is known.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Value {
    pub(super) text: String,
    pub(super) certainty: Certainty,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Origin {
    /// The text itself, or the machine.
    Here,
    /// The network.
    Elsewhere,
}

impl Origin {
    /// Where a value comes from that was made of what does. A number is a number, whoever sent it.
    pub(super) fn of(self, value: &Value) -> Self {
        if value.text.has_hole() { self } else { Self::Here }
    }
}

/// What stands for the name of a commit or a branch.
const REVISION: &str = "0000000";

impl Value {
    /// A value that only running tells.
    pub(super) fn unknown() -> Self {
        Self { text: HOLE.to_string(), certainty: Certainty::Partial }
    }

    /// A value that is wholly known.
    pub(super) fn known(text: impl Into<String>) -> Self {
        Self { text: text.into(), certainty: Certainty::Known }
    }

    /// A value that is not known, but is one plain word without `/`: a number, a date.
    pub(super) fn token() -> Self {
        Self { text: "1000".to_owned(), certainty: Certainty::Pattern }
    }

    /// The name of a commit or a branch: it leads nowhere else, but may be nothing at all.
    pub(super) fn revision() -> Self {
        Self { text: REVISION.to_owned(), certainty: Certainty::Pattern }
    }

    /// Whether nothing is known of it.
    pub(super) fn is_unknown(&self) -> bool {
        self.certainty == Certainty::Partial
            && self.text.len() == HOLE.len_utf8()
            && self.text.has_hole()
    }

    /// Whether this may turn out to be nothing, although it stands for something.
    pub(super) fn may_be_empty(&self) -> bool {
        self.certainty == Certainty::Pattern && self.text == REVISION
    }
}
