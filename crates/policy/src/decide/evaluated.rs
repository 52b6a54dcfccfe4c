//! What the shell evaluates besides commands: tests, arithmetic, subscripts, assignments.

use std::rc::Rc;

use super::child::Speech;
use super::scope::{Origin, Value};
use super::walk::Walk;
use crate::command::{Certainty, Concern};
use crate::shell::{Arithmetic, Assignment, AssignmentMode, Parameter, Piece, Word};
use crate::text::Span;

impl Walk<'_> {
    /// `[[ … ]]`: nothing runs but what is substituted, and what `-v` evaluates.
    pub(super) fn test<'t>(&mut self, text: &'t str, words: &[Word<'t>]) {
        for (at, word) in words.iter().enumerate() {
            let (value, origin) = self.value_and_origin(text, word);
            self.hidden_subscript(&value.text, word.span);
            self.tested(&value, word.span);
            let beside = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
            let counted = beside.filter_map(|at| words.get(at)?.settled()).any(is_comparison);
            let named = self.scope.is_foreign(&value.text);
            if counted && (origin == Origin::Elsewhere || named) {
                self.raise(Concern::Evaluates, word.span);
            }
        }
        for pair in words.windows(2) {
            let [operator, operand] = pair else { continue };
            let evaluates = matches!(&*operator.pieces, [Piece::Literal(word)] if **word == *"-v");
            if evaluates {
                self.subscript(text, operand);
            }
        }
    }

    /// Returns the value of a word, and where it comes from.
    pub(super) fn value_and_origin<'t>(
        &mut self,
        text: &'t str,
        word: &Word<'t>,
    ) -> (Value, Origin) {
        let (value, met) = self.looking(|walk| walk.value(text, word));
        let origin = met.of(&value);
        (value, origin)
    }

    /// Looks at something, and tells where the values come from that it came upon.
    pub(super) fn looking<R>(&mut self, look: impl FnOnce(&mut Self) -> R) -> (R, Origin) {
        let before = std::mem::replace(&mut self.met, Origin::Here);
        let found = look(self);
        let met = self.met;
        self.met = met.max(before);
        (found, met)
    }

    /// A text such as `a[$(id)]` that is kept as data is run by whoever takes it for a variable.
    pub(super) fn hidden_subscript(&mut self, text: &str, span: Span) {
        if text.split_once('[').is_some_and(|(_, rest)| substitutes(rest)) {
            self.raise(Concern::Evaluates, span);
        }
    }

    /// A subscript is arithmetic: what is substituted in it is evaluated once more.
    pub(super) fn subscript<'t>(&mut self, text: &'t str, subscript: &Word<'t>) {
        let (value, met) = self.looking(|walk| walk.value(text, subscript));
        let evaluated = met == Origin::Elsewhere
            || substitutes(&value.text)
            || subscript.pieces.iter().any(|piece| match piece {
                Piece::Command(..) | Piece::Process(_) => true,
                // `'a[$(id)]'` in quotes: the shell's arithmetic runs it all the same.
                Piece::Literal(text) | Piece::Quoted(text) | Piece::Glob { text, .. } => {
                    substitutes(text)
                }
                Piece::Brace(_)
                | Piece::Tilde(_)
                | Piece::Parameter(_)
                | Piece::Arithmetic(..)
                | Piece::Array(_) => false,
            });
        if evaluated {
            self.raise(Concern::Evaluates, subscript.span);
        }
    }

    pub(super) fn arithmetic<'t>(&mut self, text: &'t str, arithmetic: &Arithmetic<'t>) {
        let before = self.met;
        let (value, met) = self.looking(|walk| walk.value(text, &arithmetic.expression));
        // `$1` and its kin are put there before anything is computed.
        self.hidden_subscript(&value.text, arithmetic.expression.span);
        // What is computed is a number.
        self.met = before;
        if met == Origin::Elsewhere {
            self.raise(Concern::Evaluates, arithmetic.expression.span);
        }
        if runs_in_subscript(&arithmetic.expression) {
            self.raise(Concern::Evaluates, arithmetic.expression.span);
        }
        // A variable's value is evaluated too: a value that itself holds a substitution runs it.
        for name in &arithmetic.names {
            let runs = self.scope.is_foreign(name)
                || self
                    .scope
                    .variable(name)
                    .is_some_and(|value| substitutes(&value.text) || value.text.contains('['));
            if runs {
                self.raise(Concern::Evaluates, arithmetic.expression.span);
            }
        }
        self.computed(arithmetic);
    }

    /// `x=1`, `x++`: what is assigned in arithmetic is a number after.
    fn computed(&mut self, arithmetic: &Arithmetic<'_>) {
        let assigns = arithmetic.expression.pieces.iter().any(|piece| match piece {
            Piece::Literal(text) | Piece::Quoted(text) | Piece::Glob { text, .. } => {
                text.contains(['=', '+', '-'])
            }
            Piece::Brace(_)
            | Piece::Tilde(_)
            | Piece::Parameter(_)
            | Piece::Command(..)
            | Piece::Arithmetic(..)
            | Piece::Process(_)
            | Piece::Array(_) => false,
        });
        for name in arithmetic.names.iter().filter(|_| assigns) {
            if self.scope.variable(name).is_some_and(|value| value.text.parse::<i64>().is_err()) {
                Rc::make_mut(&mut self.scope).assign(name.clone(), Value::unknown());
            }
        }
    }

    /// `${x@P}`: the value is expanded once more, substitutions and all.
    pub(super) fn evaluated(&mut self, parameter: &Parameter<'_>) {
        let span = parameter.words.first().map_or_else(Span::default, |word| word.span);
        self.raise(Concern::Evaluates, span);
    }

    /// Returns the value of one assignment, and judges what runs in it.
    pub(super) fn assigned<'t>(&mut self, text: &'t str, assignment: &Assignment<'t>) -> Value {
        if let Some(subscript) = &assignment.subscript {
            self.subscript(text, subscript);
        }
        if let Some(array) = self.array(text, assignment) {
            return array;
        }
        let value = self.value(text, &assignment.value);
        self.defaults.assign(&assignment.name);
        self.hidden_subscript(&value.text, assignment.span);
        self.names_secret(&value, assignment.span);
        match assignment.mode {
            AssignmentMode::Replace if assignment.subscript.is_none() => value,
            // Some shells take `x+=y` for a program.
            AssignmentMode::Append
                if assignment.subscript.is_none() && self.speech == Speech::Bash =>
            {
                match self.scope.variable(&assignment.name) {
                    Some(old)
                        if old.certainty == Certainty::Known
                            && value.certainty == Certainty::Known =>
                    {
                        let value = Value::known(format!("{}{}", old.text, value.text));
                        self.names_secret(&value, assignment.span);
                        value
                    }
                    Some(_) | None => Value::unknown(),
                }
            }
            AssignmentMode::Replace => self.with_element(assignment, value),
            AssignmentMode::Append => Value::unknown(),
        }
    }
}

/// Whether a text substitutes a command.
pub(super) fn substitutes(text: &str) -> bool {
    text.contains("$(") || text.contains('`')
}

/// Operators of `[[ … ]]` whose operands are arithmetic.
fn is_comparison(word: &str) -> bool {
    matches!(word, "-eq" | "-ge" | "-gt" | "-le" | "-lt" | "-ne")
}

/// Whether an expression substitutes a command between brackets: what it prints is evaluated.
fn runs_in_subscript(expression: &Word<'_>) -> bool {
    let mut depth = 0_i32;
    expression.pieces.iter().any(|piece| match piece {
        Piece::Literal(text) | Piece::Quoted(text) | Piece::Glob { text, .. } => {
            for byte in text.bytes() {
                depth += i32::from(byte == b'[') - i32::from(byte == b']');
            }
            depth > 0 && substitutes(text)
        }
        Piece::Command(..) | Piece::Process(_) => depth > 0,
        Piece::Brace(_)
        | Piece::Tilde(_)
        | Piece::Parameter(_)
        | Piece::Arithmetic(..)
        | Piece::Array(_) => false,
    })
}
