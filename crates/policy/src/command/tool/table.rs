//! The arrays that the build makes of `tools.txt`, and how to find one's way in them.

use std::cmp::Ordering;

use super::grammar::{Effect, Grammar, Inner, Named, Opt, Role, Rule, Run, Slot, Term, Value};
use super::hash;
use crate::command::{Concern, Extent, Language};

include!(concat!(env!("OUT_DIR"), "/tools.rs"));

/// Finds a tool's grammar.
pub(super) fn grammar(name: &str) -> Option<&'static Grammar> {
    let start = hash::start(name);
    let mut at = hash::place(start, name.len(), TOOL_PLACES.len());
    loop {
        let tool = TOOLS.get(usize::from(*TOOL_PLACES.get(at)?))?;
        if tool.is(name, start) {
            return GRAMMARS.get(usize::from(tool.at));
        }
        at = (at + 1) % TOOL_PLACES.len();
    }
}

impl Grammar {
    /// Returns the spellings of options, sorted.
    pub(super) fn names(&self) -> &'static [Named] {
        self.names.of(&NAMES)
    }

    /// Returns the option that one of the names belongs to.
    pub(super) fn option(&self, name: &Named) -> Option<&'static Opt> {
        self.options.of(&OPTIONS).get(usize::from(name.at))
    }

    /// Returns what the first operands are.
    pub(super) fn slots(&self) -> &'static [Slot] {
        self.slots.of(&SLOTS)
    }

    /// Returns what depends on options and operands.
    pub(super) fn rules(&self) -> &'static [Rule] {
        self.rules.of(&RULES)
    }

    /// Finds a subcommand.
    pub(super) fn sub(&self, name: &str) -> Option<&'static Self> {
        // Most tools have none.
        if self.subs.len == 0 { None } else { find(self.subs.of(&SUBS), name) }
    }

    /// Returns how a subcommand that is not listed is read.
    pub(super) fn other(&self) -> Option<&'static Self> {
        GRAMMARS.get(usize::from(self.other?))
    }
}

impl Rule {
    /// Returns the conditions, all of which must hold.
    pub(super) fn terms(&self) -> &'static [Term] {
        self.terms.of(&TERMS)
    }
}

impl Named {
    /// Compares the name with another, of which `start` are the first bytes.
    pub(super) fn order(&self, other: &str, start: u64) -> Ordering {
        self.start.cmp(&start).then_with(|| self.text().cmp(other))
    }

    /// Tells whether it is a name, of which `start` are the first bytes.
    fn is(&self, name: &str, start: u64) -> bool {
        // Names of up to eight bytes are told by their start and their length.
        self.start == start
            && usize::from(self.len) == name.len()
            && (name.len() <= 8 || self.text() == name)
    }

    /// Returns the name.
    pub(super) fn text(&self) -> &'static str {
        let from = self.from as usize;
        TEXT.get(from..from + usize::from(self.len)).unwrap_or_default()
    }
}

impl Run {
    fn of<T>(self, all: &'static [T]) -> &'static [T] {
        let from = self.from as usize;
        all.get(from..from + usize::from(self.len)).unwrap_or_default()
    }
}

/// Finds a name among sorted ones.
#[inline(always)]
pub(super) fn exact<'n>(all: &'n [Named], name: &str) -> Option<&'n Named> {
    let start = hash::start(name);
    let first = all.partition_point(|known| known.start < start);
    let mut alike = all.get(first..)?.iter().take_while(|known| known.start == start);
    alike.find(|known| known.is(name, start))
}

fn find(all: &[Named], name: &str) -> Option<&'static Grammar> {
    GRAMMARS.get(usize::from(exact(all, name)?.at))
}
