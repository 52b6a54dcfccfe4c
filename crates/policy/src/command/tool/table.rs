//! The arrays that the build makes of `tools.txt`, and how to find one's way in them.

use std::cmp::Ordering;

use super::grammar::{Effect, Grammar, Inner, Named, Opt, Role, Rule, Run, Slot, Term, Value};
use crate::command::{Concern, Extent, Language};

include!(concat!(env!("OUT_DIR"), "/tools.rs"));

/// Finds a tool's grammar.
pub(super) fn grammar(name: &str) -> Option<&'static Grammar> {
    let start = start(name);
    let mut at = tool_place(start, name.len());
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
        find(self.subs.of(&SUBS), name)
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

/// Returns the first eight bytes of a name as a number that is in order as names are.
pub(super) fn start(name: &str) -> u64 {
    if let Some(first) = name.as_bytes().first_chunk() {
        return u64::from_be_bytes(*first);
    }
    let shorter = name.bytes().fold(0, |number, byte| number << 8 | u64::from(byte));
    shorter.checked_shl(64 - 8 * u32::try_from(name.len()).unwrap_or(8)).unwrap_or(0)
}

/// Finds a name among sorted ones.
pub(super) fn exact<'n>(all: &'n [Named], name: &str) -> Option<&'n Named> {
    let start = start(name);
    let first = all.partition_point(|known| known.start < start);
    let mut alike = all.get(first..)?.iter().take_while(|known| known.start == start);
    alike.find(|known| known.is(name, start))
}

/// Returns where a tool is looked for first among `TOOL_PLACES`; the build puts it there.
fn tool_place(start: u64, length: usize) -> usize {
    let mixed = (start ^ length as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    usize::try_from(mixed).unwrap_or_default() % TOOL_PLACES.len()
}

fn find(all: &[Named], name: &str) -> Option<&'static Grammar> {
    GRAMMARS.get(usize::from(exact(all, name)?.at))
}
