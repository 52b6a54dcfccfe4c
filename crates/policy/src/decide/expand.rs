//! From words to arguments: what the shell will make of a word, as far as that can be told.

use std::borrow::Cow;

use super::default::Otherwise;
use super::scope::Value;
use super::walk::Walk;
use crate::command::{Arg, Certainty, Concern, HOLE, Holed as _};
use crate::shell::{MAX_TEXT, Operation, Piece, Quoting, Word};
use crate::text::Span;

/// What stands for a part that is not known.
const UNKNOWN: &str = "\u{FDD0}";

/// Most words that one word's braces may spread to before it counts as unknown.
const MOST_SPREAD: usize = 32;

/// Longest word for which room is made before it is read: what is written may become less.
const LONGEST_WRITTEN: usize = 256;

/// One argument in the making.
#[derive(Debug)]
struct Making {
    text: String,
    certainty: Certainty,
    /// Whether anything stands here that makes a word even if it is empty: a quote.
    solid: bool,
    /// What it is with the defaults that stand in it.
    otherwise: Option<Box<Otherwise>>,
}

impl Default for Making {
    fn default() -> Self {
        let certainty = Certainty::Known;
        Self { text: String::new(), certainty, solid: false, otherwise: None }
    }
}

impl Making {
    /// Nothing yet, with room for so much of what is written.
    fn with_room(written: usize) -> Self {
        Self { text: String::with_capacity(written.min(LONGEST_WRITTEN)), ..Self::default() }
    }

    fn finish<'t>(&mut self, span: Span) -> Arg<'t> {
        let made = std::mem::take(self);
        Arg { text: Cow::Owned(made.text), certainty: made.certainty, span, verbatim: None }
    }

    /// Adds text of which so much is known.
    fn push(&mut self, text: &str, certainty: Certainty) {
        // Values that double themselves stop here. What is written out is bounded already.
        if self.text.len() + text.len() > MAX_TEXT {
            UNKNOWN.clone_into(&mut self.text);
            self.certainty = Certainty::Many;
            return;
        }
        self.text.push_str(text);
        self.certainty = self.certainty.max(certainty);
    }

    /// Notes what may stand in for a part that is about to be added.
    fn stand_in(&mut self, default: &str, part: &Value) {
        if part.text.has_hole() {
            let before = self.otherwise.take();
            self.otherwise = Some(Otherwise::with(before, &self.text, default, part.text.len()));
        }
    }

    /// Returns the word with its defaults, if it has some.
    fn otherwise(&self) -> Option<String> {
        self.otherwise.as_ref()?.whole(&self.text)
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty() && !self.solid
    }
}

impl Walk<'_> {
    /// Appends the arguments that a word becomes; what runs inside it is judged on the way.
    pub(super) fn expand<'t>(&mut self, text: &'t str, word: &Word<'t>, args: &mut Vec<Arg<'t>>) {
        if push_written(text, word, args) {
            return;
        }
        if !word.pieces.iter().any(spreads) {
            return self.pieces(text, word.pieces.iter(), word.span, args);
        }
        let Some(spread) = spread(&word.pieces) else {
            for piece in &word.pieces {
                self.inside(text, piece);
            }
            self.raise(Concern::Obfuscates, word.span);
            args.push(Arg {
                text: Cow::Owned(HOLE.to_string()),
                certainty: Certainty::Many,
                span: word.span,
                verbatim: None,
            });
            return;
        };
        for pieces in spread {
            self.pieces(text, pieces.into_iter(), word.span, args);
        }
    }

    /// Appends the arguments that pieces side by side become.
    fn pieces<'p, 't: 'p>(
        &mut self,
        text: &'t str,
        pieces: impl Iterator<Item = &'p Piece<'t>>,
        span: Span,
        args: &mut Vec<Arg<'t>>,
    ) {
        let mut making = Making::with_room(span.end().saturating_sub(span.start()));
        let mut pieces = pieces.peekable();
        while let Some(piece) = pieces.next() {
            self.add(text, (piece, pieces.peek().copied()), span, &mut making, args);
        }
        if let Some(word) = making.otherwise() {
            self.may_be(word, making.certainty, span);
        }
        if !making.is_empty() {
            args.push(making.finish(span));
        }
    }

    /// Returns the one value that a word has where no splitting happens: in an assignment, behind a
    /// redirection, as a `case` subject.
    pub(super) fn value<'t>(&mut self, text: &'t str, word: &Word<'t>) -> Value {
        let mut making = Making::default();
        for (at, piece) in word.pieces.iter().enumerate() {
            match piece {
                // Neither braces nor patterns spread here.
                Piece::Brace(alternatives) => {
                    for alternative in alternatives {
                        drop(self.value(text, alternative));
                    }
                    making.push(UNKNOWN, Certainty::Partial);
                }
                Piece::Array(elements) => {
                    for element in elements {
                        drop(self.assigned(text, element));
                    }
                    making.push(UNKNOWN, Certainty::Partial);
                }
                Piece::Literal(_)
                | Piece::Quoted(_)
                | Piece::Glob { .. }
                | Piece::Tilde(_)
                | Piece::Parameter(_)
                | Piece::Command(..)
                | Piece::Arithmetic(..)
                | Piece::Process(_) => {
                    let mut part = self.part(text, piece);
                    if may_vanish(piece, &part, &making, word.pieces.get(at + 1)) {
                        part = Value::unknown();
                    }
                    self.heed_default(piece, &part, &mut making);
                    making.push(&part.text, part.certainty.min(Certainty::Partial));
                }
            }
        }
        let made = making.otherwise();
        if let Some(made) = &made {
            self.names_secret(&Value::known(made.as_str()), word.span);
        }
        self.defaults.made = made.map(String::into_boxed_str);
        let arg = making.finish(word.span);
        Value { text: arg.text.into_owned(), certainty: arg.certainty }
    }

    /// Judges what runs inside a word whose value nobody needs.
    pub(super) fn inside_word<'t>(&mut self, text: &'t str, word: &Word<'t>) {
        for piece in &word.pieces {
            self.inside(text, piece);
        }
    }

    fn inside<'t>(&mut self, text: &'t str, piece: &Piece<'t>) {
        match piece {
            Piece::Brace(words) => words.iter().for_each(|word| self.inside_word(text, word)),
            Piece::Glob { parts, .. } => {
                parts.iter().for_each(|word| self.inside_word(text, word));
            }
            Piece::Array(elements) => {
                for element in elements {
                    drop(self.assigned(text, element));
                }
            }
            Piece::Literal(_)
            | Piece::Quoted(_)
            | Piece::Tilde(_)
            | Piece::Parameter(_)
            | Piece::Command(..)
            | Piece::Arithmetic(..)
            | Piece::Process(_) => {
                drop(self.part(text, piece));
            }
        }
    }

    /// Adds a piece to the argument in the making; an unquoted value with blanks ends it and
    /// begins others.
    fn add<'t>(
        &mut self,
        text: &'t str,
        (piece, next): (&Piece<'t>, Option<&Piece<'t>>),
        span: Span,
        making: &mut Making,
        args: &mut Vec<Arg<'t>>,
    ) {
        // Text becomes itself.
        if let Piece::Literal(literal) | Piece::Quoted(literal) = piece {
            making.solid |= matches!(piece, Piece::Quoted(_));
            return making.push(literal, Certainty::Known);
        }
        if let Piece::Glob { text: pattern, parts } = piece
            && parts.is_empty()
        {
            return making.push(pattern, Certainty::Pattern);
        }
        if let Some(parameters) = self.all_parameters(piece) {
            return add_each(&parameters, piece, span, making, args);
        }
        let mut part = self.part(text, piece);
        if self.is_here(piece, &making.text, next) {
            part = Value { text: ".".to_owned(), certainty: Certainty::Pattern };
        } else if may_vanish(piece, &part, making, next) {
            part = Value::unknown();
        }
        self.heed_default(piece, &part, making);
        if is_quoted(piece) {
            making.solid = true;
            making.push(&part.text, part.certainty.min(Certainty::Partial));
            return;
        }
        if matches!(piece, Piece::Literal(_) | Piece::Glob { .. } | Piece::Brace(_)) {
            making.push(&part.text, part.certainty);
            return;
        }
        // A bare expansion: its value is split at blanks, and what is unknown may be many words. A
        // text that says what splits words makes every such value unknown.
        if self.scope.variable("IFS").is_some() {
            making.push(UNKNOWN, Certainty::Many);
            return;
        }
        let torn = part.text.has_hole();
        let mut words = part.text.split([' ', '\t', '\n']).peekable();
        while let Some(word) = words.next() {
            let certainty = match word.contains(['*', '?', '[']) {
                _ if torn && word.has_hole() => Certainty::Many,
                true => Certainty::Pattern,
                false if torn => Certainty::Known,
                false => part.certainty,
            };
            making.push(word, certainty);
            if words.peek().is_some() && !making.is_empty() {
                args.push(making.finish(span));
            }
        }
    }

    /// Notes what may stand in for a piece of a word.
    fn heed_default(&mut self, piece: &Piece<'_>, part: &Value, making: &mut Making) {
        if matches!(piece, Piece::Parameter(_))
            && let Some(default) = self.defaults.met.take()
        {
            making.stand_in(&default, part);
        }
    }

    /// Returns what one piece becomes, and judges what runs inside it.
    fn part<'t>(&mut self, text: &'t str, piece: &Piece<'t>) -> Value {
        match piece {
            Piece::Literal(literal) | Piece::Quoted(literal) => Value::known(literal.as_ref()),
            Piece::Glob { text: pattern, parts } => {
                for part in parts {
                    self.inside_word(text, part);
                }
                Value { text: pattern.clone().into_owned(), certainty: Certainty::Pattern }
            }
            Piece::Brace(alternatives) => match &**alternatives {
                // A sequence: one alternative, as written.
                [sequence] => {
                    let mut value = self.value(text, sequence);
                    if let Some((only, rest)) = value.text.split_once("..")
                        && rest.split("..").next() == Some(only)
                    {
                        return Value::known(only);
                    }
                    value.certainty = value.certainty_at_most(Certainty::Pattern);
                    value
                }
                alternatives => {
                    for alternative in alternatives {
                        self.inside_word(text, alternative);
                    }
                    Value::unknown()
                }
            },
            Piece::Tilde(user) => match (&**user, self.judge.home()) {
                ("", _) if self.scope.variable("HOME").is_some() => self.named("HOME"),
                ("", Some(home)) => Value::known(home),
                // Nobody keeps a text from saying that it is elsewhere.
                ("+", _) if self.scope.variable("PWD").is_none() => self.working_folder(),
                ("root", _) => Value::known("/root"),
                ("", None) | (_, _) => Value::unknown(),
            },
            Piece::Parameter(parameter) => self.parameter(text, parameter),
            Piece::Command(list, _) => self.substitution(text, list),
            Piece::Arithmetic(arithmetic, _) => {
                self.arithmetic(text, arithmetic);
                Value::token()
            }
            Piece::Process(list) => {
                let printed = self.substitution(text, list);
                self.note_stream(printed);
                Value::known("/dev/fd/63")
            }
            Piece::Array(elements) => {
                for element in elements {
                    drop(self.assigned(text, element));
                }
                Value::unknown()
            }
        }
    }

    /// Returns what `$@` or `$*` stand for, where that is known.
    fn all_parameters(&self, piece: &Piece<'_>) -> Option<Vec<Value>> {
        let Piece::Parameter(parameter) = piece else { return None };
        if parameter.subscript.is_some() {
            return self.all_elements(parameter);
        }
        let all = matches!(&*parameter.name, "@" | "*")
            && parameter.operation == Operation::Value
            && parameter.subscript.is_none();
        let parameters = self.scope.parameters().filter(|_| all)?;
        // What is not in quotes is split once more, and `"$*"` is one word.
        let whole = parameter.quoting == Quoting::Quoted && &*parameter.name == "@";
        let plain = |value: &Value| {
            value.certainty == Certainty::Known
                && !value.text.is_empty()
                && !value.text.contains([' ', '\t', '\n', '*', '?', '['])
        };
        let split = parameter.quoting == Quoting::Bare
            && self.scope.variable("IFS").is_none()
            && parameters.iter().all(plain);
        (whole || split).then(|| parameters.to_vec())
    }
}

impl Value {
    fn certainty_at_most(&self, most: Certainty) -> Certainty {
        if self.certainty == Certainty::Known { most } else { self.certainty }
    }
}

/// Adds words that stand for themselves; the first and the last join with what is around them.
fn add_each<'t>(
    parameters: &[Value],
    piece: &Piece<'_>,
    span: Span,
    making: &mut Making,
    args: &mut Vec<Arg<'t>>,
) {
    let quoted = matches!(piece, Piece::Parameter(found) if found.quoting == Quoting::Quoted);
    for (at, value) in parameters.iter().enumerate() {
        if at > 0 {
            args.push(making.finish(span));
        }
        making.solid |= quoted;
        making.push(&value.text, value.certainty);
    }
}

/// Whether a value that begins a word may be nothing, so that the `/` behind it begins the path.
fn may_vanish(piece: &Piece<'_>, value: &Value, making: &Making, next: Option<&Piece<'_>>) -> bool {
    let changes = matches!(piece, Piece::Parameter(found) if found.operation == Operation::Changed);
    let slash =
        matches!(next, Some(Piece::Literal(text) | Piece::Quoted(text)) if text.starts_with('/'));
    (changes && value.certainty != Certainty::Known || value.may_be_empty())
        && slash
        && making.text.is_empty()
}

fn is_quoted(piece: &Piece<'_>) -> bool {
    match piece {
        Piece::Quoted(_) => true,
        Piece::Parameter(parameter) => {
            // `"$@"` is any number of words even in quotes.
            parameter.quoting == Quoting::Quoted && &*parameter.name != "@"
        }
        Piece::Command(_, quoting) | Piece::Arithmetic(_, quoting) => *quoting == Quoting::Quoted,
        // Neither is split: the shell makes one word of each.
        Piece::Tilde(_) | Piece::Process(_) => true,
        Piece::Literal(_) | Piece::Glob { .. } | Piece::Brace(_) | Piece::Array(_) => false,
    }
}

/// Spreads braces: one list of pieces for each word that they make, `None` if they are too many.
fn spread<'p, 't>(pieces: &'p [Piece<'t>]) -> Option<Vec<Vec<&'p Piece<'t>>>> {
    let mut words: Vec<Vec<&'p Piece<'t>>> = vec![Vec::with_capacity(pieces.len())];
    for piece in pieces {
        match piece {
            Piece::Brace(alternatives) if spreads(piece) => {
                let mut longer = Vec::new();
                for alternative in alternatives {
                    for tail in spread(&alternative.pieces)? {
                        for word in &words {
                            longer.push(word.iter().chain(&tail).copied().collect());
                            if longer.len() > MOST_SPREAD {
                                return None;
                            }
                        }
                    }
                }
                words = longer;
            }
            Piece::Brace(_)
            | Piece::Literal(_)
            | Piece::Quoted(_)
            | Piece::Glob { .. }
            | Piece::Tilde(_)
            | Piece::Parameter(_)
            | Piece::Command(..)
            | Piece::Arithmetic(..)
            | Piece::Process(_)
            | Piece::Array(_) => words.iter_mut().for_each(|word| word.push(piece)),
        }
    }
    Some(words)
}

/// Appends the argument that a word is, if it is only text.
#[inline(always)]
pub(super) fn push_written<'t>(text: &'t str, word: &Word<'t>, args: &mut Vec<Arg<'t>>) -> bool {
    let [Piece::Literal(literal) | Piece::Quoted(literal)] = &*word.pieces else { return false };
    let verbatim = match literal {
        Cow::Borrowed(part) => offset(text, part),
        Cow::Owned(_) => None,
    };
    let certainty = Certainty::Known;
    args.push(Arg { text: literal.clone(), certainty, span: word.span, verbatim });
    true
}

/// Returns whether a piece makes several words.
fn spreads(piece: &Piece<'_>) -> bool {
    matches!(piece, Piece::Brace(alternatives) if alternatives.len() > 1)
}

/// Returns where a word's text begins in `text`, if it stands there byte for byte.
pub(super) fn verbatim(text: &str, word: &Word<'_>) -> Option<usize> {
    match &*word.pieces {
        [Piece::Literal(Cow::Borrowed(part)) | Piece::Quoted(Cow::Borrowed(part))] => {
            offset(text, part)
        }
        _ => None,
    }
}

/// Returns where `part` begins in `text`, if it is a part of it and not a copy.
fn offset(text: &str, part: &str) -> Option<usize> {
    let at = (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    (at + part.len() <= text.len()).then_some(at)
}
