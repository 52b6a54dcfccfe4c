//! Tokens with their brackets paired.

use std::cell::Cell;

use super::token::Token;

/// How many tokens of a statement are looked at where more would mean no more.
pub(super) const MOST: usize = 256;

/// Tokens, and for each bracket the place of its partner.
#[derive(Debug)]
pub(super) struct Stream<'t> {
    pub(super) tokens: Vec<Token<'t>>,
    mates: Vec<usize>,
    /// Whether something was too long to be looked at to its end: the code is then not understood.
    pub(super) cut: Cell<bool>,
}

/// Some tokens, from the first up to, but not including, the second.
pub(super) type Range = (usize, usize);

impl<'t> Stream<'t> {
    pub(super) fn new(tokens: Vec<Token<'t>>) -> Self {
        let mut mates: Vec<usize> = (0..tokens.len()).collect();
        let mut opens = Vec::new();
        let mut pair = |from: usize, to: usize| {
            if let Some(mate) = mates.get_mut(from) {
                *mate = to;
            }
        };
        for (at, token) in tokens.iter().enumerate() {
            if token.opens() {
                opens.push(at);
            } else if token.closes()
                && let Some(open) = opens.pop()
            {
                pair(open, at);
                pair(at, open);
            }
        }
        // What is never closed reaches to the end.
        for open in opens {
            pair(open, tokens.len());
        }
        Self { tokens, mates, cut: Cell::new(false) }
    }

    pub(super) fn token(&self, at: usize) -> Option<&Token<'t>> {
        self.tokens.get(at)
    }

    /// Returns the token before `at`.
    pub(super) fn before(&self, at: usize) -> Option<&Token<'t>> {
        at.checked_sub(1).and_then(|at| self.token(at))
    }

    pub(super) fn is(&self, at: usize, wanted: &str) -> bool {
        self.token(at).is_some_and(|token| token.is(wanted))
    }

    pub(super) fn name(&self, at: usize) -> Option<&str> {
        self.token(at).and_then(Token::name)
    }

    /// Returns the partner of the bracket at `at`, or `at`.
    pub(super) fn mate(&self, at: usize) -> usize {
        self.mates.get(at).copied().unwrap_or(at)
    }

    /// Returns the token behind `at`, or behind the bracket that opens there.
    pub(super) fn after(&self, at: usize) -> usize {
        self.mate(at).max(at) + 1
    }

    /// Returns the bytes that some tokens cover.
    pub(super) fn bytes(&self, (from, to): Range) -> (usize, usize) {
        let start = self.token(from).map_or(0, |token| token.start);
        let end = self.before(to).map_or(start, |token| token.end);
        (start, end.max(start))
    }

    /// Splits some tokens at commas.
    pub(super) fn split(&self, (from, to): Range) -> Vec<Range> {
        let mut parts = Vec::new();
        let (mut start, mut at) = (from, from);
        while at < to {
            let breaks = self.token(at).is_some_and(Token::is_break);
            if breaks || self.is(at, ",") {
                if start < at {
                    parts.push((start, at));
                }
                start = at + 1;
            }
            at = self.after(at);
        }
        if start < to {
            parts.push((start, to));
        }
        parts
    }

    /// Returns where the expression at `at` ends: a statement's end, or a comma if `commas` end it.
    pub(super) fn expression_end(&self, at: usize, commas: Commas) -> usize {
        let mut end = at;
        while let Some(token) = self.token(end) {
            let word = token.name().is_some_and(|name| ENDS.contains(&name));
            let comma = commas == Commas::End && token.is(",");
            if token.is_break() || token.closes() || word || comma || self.is_beyond(at, end) {
                return end;
            }
            end = self.after(end);
        }
        self.tokens.len()
    }

    /// Returns whether one of the first of some tokens is a name that `wanted` accepts.
    pub(super) fn any_name(&self, (from, to): Range, wanted: fn(&str) -> bool) -> bool {
        // Nested calls ask this of the same tokens again and again.
        let to = to.min(self.tokens.len());
        let to = if self.is_beyond(from, to) { from + MOST } else { to };
        let tokens = self.tokens.get(from..to).unwrap_or_default();
        tokens.iter().filter_map(Token::name).any(wanted)
    }

    /// Returns where the object begins whose member's dot stands at `dot`.
    pub(super) fn receiver(&self, dot: usize) -> usize {
        let mut at = dot;
        for _ in 0..MOST {
            let Some(token) = self.before(at) else { return at };
            if token.closes() {
                at = self.mate(at - 1).min(at - 1);
                let called =
                    self.before(at).is_some_and(|token| token.name().is_some() || token.closes());
                if called {
                    continue;
                }
            } else if token.ends_value() {
                at -= 1;
            } else {
                return at;
            }
            if !self.before(at).is_some_and(Token::is_dot) {
                return at;
            }
            at -= 1;
        }
        self.cut.set(true);
        at
    }

    /// Whether `at` is farther from `from` than is looked, which is noted.
    pub(super) fn is_beyond(&self, from: usize, at: usize) -> bool {
        let beyond = at.saturating_sub(from) > MOST;
        if beyond {
            self.cut.set(true);
        }
        beyond
    }
}

/// Whether a comma ends an expression.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Commas {
    End,
    Stay,
}

/// Words that end an expression: what follows them is another.
const ENDS: [&str; 9] = ["and", "do", "else", "for", "if", "or", "then", "unless", "while"];
