//! Parameters: what `$x` and `${x…}` become.

use std::rc::Rc;

use super::array::first_of;
use super::scope::{Origin, Value};
use super::walk::Walk;
use crate::command::{Certainty, Holed as _};
use crate::shell::{Operation, Parameter, Piece, Word};

impl Walk<'_> {
    /// Returns what an expansion becomes, and judges what runs inside it.
    pub(super) fn parameter<'t>(&mut self, text: &'t str, parameter: &Parameter<'t>) -> Value {
        if let Some(subscript) = &parameter.subscript {
            self.subscript(text, subscript);
        }
        for word in &parameter.words {
            // Each level is looked at more than once: those that are deep are too much.
            let flat = |piece: &Piece<'_>| matches!(piece, Piece::Literal(_) | Piece::Quoted(_));
            let deep = !word.pieces.iter().all(flat);
            if deep && self.step(word.span).is_none() {
                return Value::unknown();
            }
            let sign = word.span.start().checked_sub(1).and_then(|at| text.as_bytes().get(at));
            if parameter.operation == Operation::Changed && sign == Some(&b':') {
                // Offsets are arithmetic.
                let value = self.value(text, word);
                self.hidden_subscript(&value.text, word.span);
            } else {
                self.inside_word(text, word);
            }
        }
        let name = &*parameter.name;
        if self.scope.is_foreign(name) && parameter.operation != Operation::Length {
            self.met = Origin::Elsewhere;
        }
        self.defaulted(text, parameter);
        let stand_in = self.stand_in(text, parameter);
        let value = self.operated(text, parameter);
        self.defaults.met = stand_in;
        value
    }

    fn operated<'t>(&mut self, text: &'t str, parameter: &Parameter<'t>) -> Value {
        let name = &*parameter.name;
        match parameter.operation {
            Operation::Value if parameter.subscript.is_none() => self.named(name),
            // The value, if the text itself gives one; the default may stand for it otherwise.
            Operation::Default if parameter.subscript.is_none() => match self.named(name) {
                value if value.text.has_hole() || value.text.is_empty() => {
                    self.default(text, name, &parameter.words)
                }
                value => value,
            },
            Operation::Length => Value::token(),
            Operation::Changed if parameter.subscript.is_none() => self.changed(text, parameter),
            // The shell ends where there is none.
            Operation::Error if parameter.subscript.is_none() => match self.named(name) {
                value if value.text.is_empty() => Value::unknown(),
                value => value,
            },
            Operation::Evaluated => {
                self.evaluated(parameter);
                Value::unknown()
            }
            Operation::Value => self.element(parameter),
            Operation::Default
            | Operation::Indirect
            | Operation::Alternative
            | Operation::Error
            | Operation::Changed => Value::unknown(),
        }
    }

    /// `${x:=w}` sets `x`, and `${!x:=w}` sets whatever it names.
    fn defaulted<'t>(&mut self, text: &'t str, parameter: &Parameter<'t>) {
        let Some(word) = parameter.words.first() else { return };
        let sign = word.span.start().checked_sub(1).and_then(|at| text.as_bytes().get(at));
        let own = parameter.operation == Operation::Default && sign == Some(&b'=');
        let other = parameter.operation == Operation::Indirect;
        if other {
            Rc::make_mut(&mut self.scope).forget_all();
        }
        let known = self.scope.variable(&parameter.name);
        if own && known.is_none_or(|value| value.text.is_empty() || value.text.has_hole()) {
            let value = self.value(text, word);
            self.variable(&parameter.name, &value, word.span);
            Rc::make_mut(&mut self.scope).forget(&parameter.name);
            let known = Some(value).filter(|value| value.certainty == Certainty::Known);
            self.defaults.keep(&parameter.name, known.map(|value| value.text.into()));
        }
    }

    /// `${TMPDIR:-/tmp}`: the name says as much as the default does.
    fn default<'t>(&mut self, text: &'t str, name: &str, words: &[Word<'t>]) -> Value {
        match (name, words) {
            ("TMPDIR" | "TMP" | "TEMP", [word]) => self.value(text, word),
            _ => Value::unknown(),
        }
    }

    /// Returns the value of a variable.
    pub(super) fn named(&self, name: &str) -> Value {
        if let (Some(parameters), Ok(at)) = (self.scope.parameters(), name.parse::<usize>())
            && at > 0
        {
            return parameters.get(at - 1).cloned().unwrap_or_else(|| Value::known(""));
        }
        if let Some(value) = self.scope.variable(name) {
            return first_of(value);
        }
        match name {
            "HOME" => self.judge.home().map_or_else(Value::unknown, Value::known),
            "PWD" => self.working_folder(),
            "TMPDIR" => Value::known("/tmp"),
            "?" | "#" | "$" | "!" | "RANDOM" | "SECONDS" | "LINENO" | "UID" | "EUID" | "PPID"
            | "BASHPID" | "EPOCHSECONDS" | "EPOCHREALTIME" => Value::token(),
            _ => Value::unknown(),
        }
    }

    pub(super) fn working_folder(&self) -> Value {
        match self.scope.cwds() {
            [cwd] if !cwd.has_hole() => Value::known(cwd.as_str()),
            _ => Value::unknown(),
        }
    }
}
