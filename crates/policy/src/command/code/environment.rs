//! Code that sets variables of the environment.

use super::scan::Scan;
use super::stream::{Commas, Stream};
use super::token::{Kind, Token};
use super::value::Sort;
use crate::command::Concern;
use crate::command::tool::assignment;

impl<'t> Scan<'t, '_> {
    /// Looks whether a variable is set at `at` that makes other programs run or load something.
    pub(super) fn variable(&mut self, stream: &Stream<'t>, at: usize) {
        let Some(token) = stream.token(at) else { return };
        if self.out.has_raised(Concern::Environment) {
            return;
        }
        let sets = match &token.kind {
            Kind::Name(name) => match name.as_ref() {
                "environ" | "environb" | "ENV" | "$ENV" | "env" | "$_ENV" => {
                    self.changes(stream, at)
                }
                "putenv" | "setenv" | "setEnv" => self.puts(stream, at),
                name => self.gives(stream, at, name),
            },
            Kind::Text(text, _) => self.gives(stream, at, text),
            Kind::Break | Kind::Number | Kind::Pattern | Kind::Shell(_) | Kind::Sign(_) => false,
        };
        if sets {
            self.out.raise(Concern::Environment, token.start, token.end);
        }
    }

    /// Judges a name that a value may follow, whatever it is a member of: `e["LD_PRELOAD"] = x`,
    /// `{LD_PRELOAD: x}`, `dict(LD_PRELOAD=x)`.
    fn gives(&self, stream: &Stream<'t>, at: usize, name: &str) -> bool {
        // Short names are names of other things too.
        if name.len() < LONG || assignment(name, None).is_none() {
            return false;
        }
        let closed = stream.token(at + 1).is_some_and(|next| next.is_sign(&["]", "}"]));
        self.assigned(stream, at + 1 + usize::from(closed), name)
            || (stream.before(at).is_some_and(|before| before.is("(")) && stream.is(at + 1, ","))
    }

    /// Judges what follows the environment's name.
    fn changes(&self, stream: &Stream<'t>, at: usize) -> bool {
        let next = at + 1;
        if stream.token(next).is_some_and(|next| next.is_sign(&["[", "{"])) {
            let close = stream.mate(next);
            let subscript = (next + 1, close);
            // In Perl a bare word is a text.
            let word = stream.name(next + 1).filter(|name| close == next + 2 && is_plain(name));
            let value = self.names.value(stream, subscript, 0);
            return match word.or_else(|| value.known()) {
                Some(name) => self.assigned(stream, close + 1, name),
                None => stream.token(close + 1).is_some_and(is_assignment) && !stream.is(at, "env"),
            };
        }
        let Some(member) =
            stream.name(next + 1).filter(|_| stream.token(next).is_some_and(Token::is_dot))
        else {
            return false;
        };
        match member {
            "update" | "setdefault" | "store" | "merge!" | "replace" | "set" | "__setitem__" => {
                let first = stream.token(next + 3);
                let variable = first.and_then(Token::name).is_some()
                    && !stream.token(next + 4).is_some_and(|next| next.is_sign(&["=", ":"]));
                let texts = first.is_some_and(Token::is_text) && stream.is(next + 4, ",");
                (variable && member == "update" && !stream.is(at, "env"))
                    || (texts && self.puts(stream, next + 1))
            }
            member => self.assigned(stream, next + 2, member),
        }
    }

    /// Judges `putenv("A=b")` and `putenv("A", "b")`.
    fn puts(&self, stream: &Stream<'t>, at: usize) -> bool {
        if !stream.is(at + 1, "(") {
            return false;
        }
        let args = stream.split((at + 2, stream.mate(at + 1)));
        let Some(first) = args.first() else { return false };
        let name = self.names.value(stream, *first, 0);
        if name.sort != Sort::Text {
            return true;
        }
        let value = args.get(1).map(|value| self.names.value(stream, *value, 0));
        let (name, value) = match name.text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (&*name.text, value.as_ref().and_then(|value| value.known())),
        };
        is_set(name, value)
    }

    /// Returns whether the variable is given a value by what stands at `at`.
    fn assigned(&self, stream: &Stream<'t>, at: usize, name: &str) -> bool {
        if !stream.token(at).is_some_and(is_assignment) {
            return false;
        }
        let end = stream.expression_end(at + 1, Commas::End);
        let value = self.names.value(stream, (at + 1, end), 0);
        is_set(name, value.known().filter(|_| !stream.is(at, "+=")))
    }
}

fn is_set(name: &str, value: Option<&str>) -> bool {
    name == "PATH" || name.contains(crate::command::HOLE) || assignment(name, value).is_some()
}

fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
}

fn is_assignment(token: &Token<'_>) -> bool {
    token.is_sign(&["=", "+=", ".=", "||=", "&&=", ":", "=>", ":="]) || token.is("??")
}

/// A variable's name of so many letters is nothing else.
const LONG: usize = 8;
