//! The constants that the build makes of `tools.txt`.

use super::grammar::{Effect, Grammar, Inner, Opt, Role, Rule, Slot, Term, Value};
use crate::command::{Concern, Extent, Language};

include!(concat!(env!("OUT_DIR"), "/tools.rs"));

/// Finds a tool's grammar.
pub(super) fn grammar(name: &str) -> Option<&'static Grammar> {
    let at = TOOLS.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    TOOLS.get(at).map(|(_, grammar)| *grammar)
}
