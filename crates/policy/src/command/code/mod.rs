//! Reading inline code: what `python -c`, `node -e`, `perl -ne`, `awk` and `sed` would do.
//!
//! Each language has a small lexer of its own rules, so that a word in a string is no call and a
//! quote in a comment opens nothing. What the tokens call is looked up by name: calls that start,
//! change, delete, evaluate or connect become [`Act`]s, everything else is harmless. Code that
//! cannot be read to its end is [`Concern::Unclear`].

mod apply;
mod awk;
mod bind;
mod environment;
mod escape;
mod file;
mod fill;
mod interpolation;
mod loops;
mod meaning;
mod mention;
mod mode;
mod names;
mod node;
mod patch;
mod perl;
mod php;
mod python;
mod redirect;
mod ruby;
mod scan;
mod sed;
mod sink;
mod source;
mod spread;
mod stream;
mod token;
mod value;

#[cfg(test)]
mod tests;

use self::scan::Scan;
use self::sink::Sink;
use super::tool::{self, Prompt};
use super::{Act, Arg, Certainty, Concern, Holed as _, Language};
use crate::shell::MAX_ARGV;
use crate::text::Span;

/// Adds to `acts` what `code` does.
///
/// `span` is the place of all of the code in the person's text, and `at` the place of its first
/// byte there if it stands there byte for byte: acts then carry places of their own. Code with a
/// [`HOLE`] is only known in part, and so [`Concern::Evaluates`]. Shell text has its own parser:
/// here it is [`Concern::Unclear`], as is any other language.
pub fn acts<'t>(
    language: Language,
    code: &'t str,
    span: Span,
    at: Option<usize>,
    acts: &mut Vec<Act<'t>>,
) {
    if code.len() > MAX_ARGV {
        return acts.push(Act::Raise(Concern::Unclear, span));
    }
    let certainty = if code.has_hole() { Certainty::Partial } else { Certainty::Known };
    let typed = || Arg { verbatim: at, certainty, ..Arg::known(code, span) };
    if language == Language::Sql {
        return tool::typed(Prompt::Client, &typed(), acts);
    }
    if language == Language::Editor {
        return tool::typed(Prompt::Editor, &typed(), acts);
    }
    let mut out = Sink::new(span, at, acts);
    if code.has_hole() {
        out.raise(Concern::Evaluates, 0, code.len());
    }
    match language {
        Language::Python => Scan::run(&python::DIALECT, code, out),
        Language::Node => Scan::run(&node::DIALECT, code, out),
        Language::Perl => Scan::run(&perl::DIALECT, code, out),
        Language::Ruby => Scan::run(&ruby::DIALECT, code, out),
        Language::Php => php::read(code, out),
        Language::Awk => awk::read(code, out),
        Language::Sed => sed::read(code, out),
        Language::Patch => patch::read(code, out),
        Language::Source => source::read(code, out),
        Language::Shell | Language::Sql | Language::Editor | Language::Other => {
            out.raise(Concern::Unclear, 0, code.len());
        }
    }
}

/// Whether a part of awk or sed code that is not known stands where a statement, a command or a flag
/// may stand, and not where a number, a pattern or a text does.
pub fn has_open_hole(language: Language, code: &str) -> bool {
    match language {
        Language::Awk => awk::has_open_hole(code),
        Language::Sed => sed::has_open_hole(code),
        // Nobody runs it here.
        Language::Source => false,
        Language::Shell
        | Language::Python
        | Language::Node
        | Language::Perl
        | Language::Ruby
        | Language::Php
        | Language::Sql
        | Language::Editor
        | Language::Patch
        | Language::Other => code.has_hole(),
    }
}

/// How deep code may be nested in itself.
const DEPTH: usize = 32;

/// How deep a value may be nested to be told before it is there.
const VALUE_DEPTH: usize = 12;
