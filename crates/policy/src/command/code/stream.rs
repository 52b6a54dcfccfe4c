//! Tokens with their brackets paired.

use std::cell::Cell;
use std::rc::Rc;

use super::token::{Kind, Token};

/// Tokens, and for each bracket the place of its partner.
#[derive(Debug)]
pub(super) struct Stream<'t> {
    pub(super) tokens: Vec<Token<'t>>,
    mates: Vec<usize>,
    /// For each token, where an expression that begins there ends: at a comma, or behind it.
    ends: Vec<[usize; 2]>,
    budget: Budget,
}

/// What may still be looked at, shared by all the streams of some code.
///
/// Nested calls ask the same of the same tokens again and again. Who looks at a token pays; when
/// nothing is left, nothing more is looked at, and the code is not understood.
#[derive(Clone, Debug)]
struct Budget(Rc<Cell<Option<usize>>>);

/// Some tokens, from the first up to, but not including, the second.
pub(super) type Range = (usize, usize);

impl<'t> Stream<'t> {
    /// Takes in all the streams of some code.
    pub(super) fn all(streams: Vec<Vec<Token<'t>>>) -> Vec<Self> {
        let budget = Budget(Rc::new(Cell::new(Some(BUDGET))));
        streams.into_iter().map(|tokens| Self::new(tokens, budget.clone())).collect()
    }

    fn new(tokens: Vec<Token<'t>>, budget: Budget) -> Self {
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
        let ends = ends(&tokens, &mates);
        Self { tokens, mates, ends, budget }
    }

    /// Pays for looking at so many tokens; tells whether that was possible.
    pub(super) fn pays(&self, tokens: usize) -> bool {
        let left = self.budget.0.get().and_then(|left| left.checked_sub(tokens));
        self.budget.0.set(left);
        left.is_some()
    }

    /// Returns whether there was more to look at than could be paid for.
    pub(super) fn is_cut(&self) -> bool {
        self.budget.0.get().is_none()
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
        while at < to && self.pays(1) {
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
        let [comma, statement] = self.ends.get(at).copied().unwrap_or([self.tokens.len(); 2]);
        match commas {
            Commas::End => comma,
            Commas::Stay => statement,
        }
    }

    /// Returns whether one of some tokens is a name that `wanted` accepts.
    pub(super) fn any_name(&self, (from, to): Range, wanted: fn(&str) -> bool) -> bool {
        let tokens = self.tokens.get(from..to.min(self.tokens.len())).unwrap_or_default();
        let mut names = tokens.iter().take_while(|_| self.pays(1)).filter_map(Token::name);
        names.any(wanted)
    }

    /// Returns where the object begins whose member's dot stands at `dot`.
    pub(super) fn receiver(&self, dot: usize) -> usize {
        let mut at = dot;
        while self.pays(1) {
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
        at
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

/// How many tokens may be looked at, each as often as it is asked about: a few milliseconds.
const BUDGET: usize = 200_000;

/// Finds where expressions end, from the last to the first: each goes on behind its first token.
fn ends(tokens: &[Token<'_>], mates: &[usize]) -> Vec<[usize; 2]> {
    let mut ends = vec![[tokens.len(); 2]; tokens.len()];
    for (at, token) in tokens.iter().enumerate().rev() {
        let word = matches!(&token.kind, Kind::Name(name) if ENDS.contains(&&**name));
        let next = mates.get(at).map_or(at, |mate| at.max(*mate)) + 1;
        let behind = ends.get(next).copied().unwrap_or([tokens.len(); 2]);
        let [comma, statement] = behind;
        if let Some(end) = ends.get_mut(at) {
            *end = match token.is_break() || token.closes() || word {
                true => [at; 2],
                false if token.is(",") => [at, statement],
                false => [comma, statement],
            };
        }
    }
    ends
}
