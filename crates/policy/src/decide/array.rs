//! Arrays: what their elements are, where the text says so.
//!
//! An array is kept as the value of its variable: a part that is not known, for whoever takes it
//! for a plain text, and behind it each element with a mark in front.

use super::child::{Ownership, Speech};
use super::scope::Value;
use super::walk::{Input, Walk};
use crate::command::{Arg, Certainty, HOLE};
use crate::shell::{Assignment, AssignmentMode, Operation, Parameter, Piece, Quoting, Word};

/// Stands in front of an element. Texts that contain it are refused before anything reads them.
const MARK: char = '\u{FDD3}';

/// Most elements that are followed.
const MOST_ELEMENTS: usize = 64;

/// What a declaration says of the variable that it names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Shape {
    /// It is an array: `-a`, `-A`.
    Array,
    /// Nothing: it is what it was before.
    Untold,
}

impl Walk<'_> {
    /// Returns the value of `x=(…)` and `x+=(…)`, and judges what runs in it; `None` where it is no
    /// array, and unknown where it cannot be told which elements it has.
    pub(super) fn array<'t>(
        &mut self,
        text: &'t str,
        assignment: &Assignment<'t>,
    ) -> Option<Value> {
        let [Piece::Array(elements)] = &*assignment.value.pieces else { return None };
        let mut values = match assignment.mode {
            AssignmentMode::Replace => Some(Vec::new()),
            AssignmentMode::Append => self.scope.variable(&assignment.name).and_then(elements_of),
        };
        for element in elements {
            let mut words = Vec::new();
            if let Some(subscript) = &element.subscript {
                self.subscript(text, subscript);
                let value = self.value(text, &element.value);
                self.hidden_subscript(&value.text, element.span);
                self.names_secret(&value, element.span);
                // Otherwise it is found by another key than its place.
                let next = values.as_ref().map(Vec::len);
                let at = subscript.settled().and_then(|at| at.parse().ok());
                values = values.filter(|_| at.is_some() && at == next);
                if let Some(values) = &mut values {
                    values.push(value);
                }
                continue;
            }
            self.expand(text, &element.value, &mut words);
            for word in &words {
                self.hidden_subscript(&word.text, word.span);
                self.names_secret(&Value::from(word), word.span);
                self.fits_secret(word);
            }
            let one_each = |word: &Arg<'_>| match word.certainty {
                Certainty::Known | Certainty::Partial => !word.text.contains(MARK),
                Certainty::Pattern | Certainty::Many => false,
            };
            values = values.filter(|_| words.iter().all(one_each));
            if let Some(values) = &mut values {
                values.extend(words.iter().map(Value::from));
            }
        }
        let followed = |values: &Vec<Value>| {
            values.len() <= MOST_ELEMENTS
                && self.speech == Speech::Bash
                && assignment.subscript.is_none()
        };
        Some(values.filter(followed).map_or_else(Value::unknown, |values| kept(&values)))
    }

    /// `declare -a x='(…)'`: the shell reads what stands in quotes once more, as it does `x=(…)`.
    pub(super) fn compound(&mut self, name: &str, shape: Shape, arg: &Arg<'_>, args: &[Arg<'_>]) {
        let Some((_, value)) = arg.text.split_once('=').filter(|(_, v)| v.starts_with('(')) else {
            return; // nearly always
        };
        // `declare x=$y` splits nothing, though other commands do.
        let mut text = format!("{name}={value}");
        let mut certainty = arg.certainty;
        let behind = args.iter().skip_while(|other| !std::ptr::eq(*other, arg)).skip(1);
        for other in behind.take_while(|other| other.span == arg.span) {
            text.push(' ');
            text.push_str(&other.text);
            certainty = certainty.max(other.certainty);
        }
        let is_array = shape == Shape::Array
            || self.scope.variable(name).is_some_and(|known| elements_of(known).is_some());
        // It may have become one where nobody looked: by `read -a`, in a file that was read.
        let runs = ["$(", "${", "`", "<(", ">("].iter().any(|sign| text.contains(sign));
        if !text.ends_with([')', HOLE]) || !is_array && !runs {
            return;
        }
        let code = Arg { text: text.into(), certainty, span: arg.span, verbatim: None };
        let ownership = std::mem::replace(&mut self.ownership, Ownership::Here);
        self.aside(|walk| walk.nested(&code, &Input::Inherited));
        self.ownership = ownership;
    }

    /// Returns what an array is after `x[1]=value`.
    pub(super) fn with_element(&self, assignment: &Assignment<'_>, value: Value) -> Value {
        let at = assignment.subscript.as_ref().and_then(Word::settled);
        let at = at.and_then(|at| at.parse::<usize>().ok());
        let known = match self.scope.variable(&assignment.name) {
            Some(value) => elements_of(value),
            None => Some(Vec::new()),
        };
        let (Some(at), Some(mut values)) = (at, known) else { return Value::unknown() };
        let plain = value.certainty == Certainty::Known && !value.text.contains(MARK);
        if !plain || at > values.len() || at >= MOST_ELEMENTS || self.speech != Speech::Bash {
            return Value::unknown();
        }
        match values.get_mut(at) {
            Some(element) => *element = value,
            None => values.push(value),
        }
        kept(&values)
    }

    /// Returns what `${x[1]}` and `${x[i]}` become.
    pub(super) fn element(&self, parameter: &Parameter<'_>) -> Value {
        let Some(subscript) = &parameter.subscript else { return Value::unknown() };
        let mut at = match &*subscript.pieces {
            [Piece::Literal(text) | Piece::Quoted(text)] => Value::known(text.as_ref()),
            [Piece::Parameter(inner)]
                if inner.operation == Operation::Value && inner.subscript.is_none() =>
            {
                self.named(&inner.name)
            }
            _ => return Value::unknown(),
        };
        if at.certainty == Certainty::Known && at.text.parse::<usize>().is_err() {
            at = self.named(&at.text);
        }
        let at = Some(at).filter(|at| at.certainty == Certainty::Known);
        let known = self.scope.variable(&parameter.name).and_then(elements_of);
        match (at.and_then(|at| at.text.parse::<usize>().ok()), known) {
            (Some(at), Some(elements)) => {
                elements.get(at).cloned().unwrap_or_else(|| Value::known(""))
            }
            (Some(_) | None, _) => Value::unknown(),
        }
    }

    /// Returns what `"${x[@]}"` stands for, where that is known.
    pub(super) fn all_elements(&self, parameter: &Parameter<'_>) -> Option<Vec<Value>> {
        let all = parameter.subscript.as_ref().and_then(Word::settled) == Some("@");
        let whole = parameter.quoting == Quoting::Quoted && parameter.operation == Operation::Value;
        let known = self.scope.variable(&parameter.name).filter(|_| all && whole)?;
        elements_of(known)
    }
}

/// Returns what a variable is without a subscript: an array's first element.
pub(super) fn first_of(value: &Value) -> Value {
    match elements_of(value) {
        Some(elements) => elements.into_iter().next().unwrap_or_else(|| Value::known("")),
        None => value.clone(),
    }
}

fn kept(elements: &[Value]) -> Value {
    let mut text = HOLE.to_string();
    for element in elements {
        text.push(MARK);
        text.push_str(&element.text);
    }
    // An array of nothing is one all the same.
    if elements.is_empty() {
        text.push(MARK);
        text.push_str(NOTHING);
    }
    Value { text, certainty: Certainty::Partial }
}

/// What stands for the elements where there are none.
const NOTHING: &str = "\u{FDD4}";

fn elements_of(value: &Value) -> Option<Vec<Value>> {
    let elements = value.text.strip_prefix(HOLE)?.strip_prefix(MARK)?;
    if elements == NOTHING {
        return Some(Vec::new());
    }
    let element = |text: &str| {
        let certainty = if text.contains(HOLE) { Certainty::Partial } else { Certainty::Known };
        Value { text: text.to_owned(), certainty }
    };
    Some(elements.split(MARK).map(element).collect())
}
