//! The table of tools: what the words of several hundred tools do.
//!
//! `tools.txt` says it, one block for each tool, with examples that are run as tests; the build
//! turns it into constants. A tool that is not listed is read by the shape of its words
//! ([`Familiarity::Unknown`]).

mod general;
mod grammar;
mod hash;
mod inner;
mod landing;
mod name;
mod parallel;
mod read;
mod scan;
mod splice;
mod table;
mod upload;
mod variable;

use super::{Act, Arg, Concern};
use crate::text::Span;
use grammar::Grammar;
use scan::{Chain, Piece, Scan};

pub(super) use inner::{Prompt, typed};
pub use variable::{assignment, variable};

/// Whether the table knows a tool.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Familiarity {
    /// It has a row: what was added is what its words do.
    Known,
    /// It has none: what was added is what its words look like.
    Unknown,
}

/// What may be used to understand a tool's words.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Knowledge {
    /// The table, and the shape of words where it has no row.
    Table,
    /// The shape of words alone, as if the tool had no row: what is measured when asking how much
    /// is understood of tools that nobody thought of.
    Shape,
}

/// Adds to `acts` what the tool `name` does with `args`.
///
/// `name` is the last part of the program's path, with a version if it has one; `at` is where it
/// stands, for what no word in particular is to blame for.
pub fn acts<'t>(
    name: &str,
    at: Span,
    args: &[Arg<'t>],
    knowledge: Knowledge,
    acts: &mut Vec<Act<'t>>,
) -> Familiarity {
    let first = acts.len();
    let grammar = match knowledge {
        Knowledge::Table => table::grammar(name).or_else(|| spelled(name)),
        Knowledge::Shape => None,
    };
    match grammar {
        Some(grammar) if name == "tmux" => commands(grammar, args, at, acts),
        Some(grammar) => {
            read::read(grammar, args, at, acts);
            upload::forgive(first, acts);
            Familiarity::Known
        }
        None => {
            general::read(args, acts);
            Familiarity::Unknown
        }
    }
}

/// Returns the words that are neither options nor their values, of a tool that has a row.
pub(crate) fn operands<'a, 't>(name: &str, args: &'a [Arg<'t>]) -> Vec<&'a Arg<'t>> {
    let Some(grammar) = table::grammar(name).or_else(|| spelled(name)) else { return Vec::new() };
    let scan = Scan::new(Chain { grammar, outer: None }, args);
    let operand = |piece| match piece {
        Piece::Operand(at) | Piece::After(at) => args.get(at),
        Piece::Option { .. } | Piece::Stranger { .. } | Piece::Assignment(_) | Piece::Doubt(_) => {
            None
        }
    };
    scan.filter_map(operand).collect()
}

/// Reads commands of a tool that takes several, with `;` between them (`tmux`).
#[cold]
fn commands<'t>(
    grammar: &'static Grammar,
    args: &[Arg<'t>],
    at: Span,
    acts: &mut Vec<Act<'t>>,
) -> Familiarity {
    for command in args.split(|arg| arg.text == ";") {
        // `a\; b`: the mark may end a word.
        let ended = command.iter().position(|arg| arg.text.ends_with(';'));
        if let Some(arg) = ended.and_then(|at| command.get(at)) {
            acts.push(Act::Raise(Concern::Unclear, arg.span));
        }
        if !command.is_empty() || args.is_empty() {
            read::read(grammar, command, at, acts);
        }
    }
    Familiarity::Known
}

/// Finds a tool that is not listed by the very name.
fn spelled(name: &str) -> Option<&'static Grammar> {
    name::spellings(name).find_map(table::grammar).or_else(|| {
        // On disks that know no case `RM` is `rm`, and Windows knows none at all.
        if !name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return None;
        }
        let folded = name.to_ascii_lowercase();
        name::spellings(&folded).find_map(table::grammar)
    })
}

/// Answers whether an address is one of this machine.
pub fn is_own_machine(target: &str) -> bool {
    upload::is_loopback(target)
}

#[cfg(test)]
mod tests;
