//! One component of a path pattern: `*`, `?`, `[set]` and literal characters.

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::str::Chars;

use super::{Invalid, quote};

/// A component with at least one wildcard. It never crosses a `/`, and it matches hidden names:
/// a rule about `*` is about everything there.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Glob(Vec<Token>);

/// What one component of a pattern's text says.
pub(super) enum Component<'t> {
    Literal(Cow<'t, str>),
    Glob(Glob),
    /// `**`
    Deep,
}

#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Token {
    /// `?`
    Any,
    Char(char),
    /// `*`
    Many,
    Set(Sense, Vec<(char, char)>),
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Sense {
    In,
    NotIn,
}

impl<'t> Component<'t> {
    /// Parses one component of the pattern `pattern`.
    pub(super) fn parse(text: &'t str, pattern: &str) -> Result<Self, Invalid> {
        if text == "**" {
            return Ok(Self::Deep);
        }
        if !text.bytes().any(|byte| matches!(byte, b'*' | b'?' | b'[' | b'\\')) {
            return Ok(Self::Literal(text.into())); // nearly all of them
        }
        let mut tokens = Vec::with_capacity(text.len().min(16));
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            tokens.push(match c {
                '*' => Token::Many,
                '?' => Token::Any,
                '[' => set(&mut chars, pattern)?,
                '\\' => Token::Char(escaped(&mut chars, pattern)?),
                c => Token::Char(c),
            });
        }
        if tokens.windows(2).any(|pair| pair == [Token::Many, Token::Many]) {
            let problem = format!("{} has a `**` glued to other characters", quote(pattern));
            return Err(Invalid::new("path-stars", problem).with_hint(
                "write `**` as a whole component, like `src/**/test`, or a single `*`",
            ));
        }
        let literal: Option<String> = tokens
            .iter()
            .map(|token| match token {
                Token::Char(c) => Some(*c),
                Token::Any | Token::Many | Token::Set(..) => None,
            })
            .collect();
        Ok(literal.map_or_else(|| Self::Glob(Glob(tokens)), |name| Self::Literal(name.into())))
    }
}

impl Glob {
    /// Returns whether every character that is written in it is one of these.
    pub(super) fn is_written_in(&self, one_of_these: impl Fn(char) -> bool) -> bool {
        self.0.iter().all(|token| match token {
            Token::Any | Token::Many => true,
            Token::Char(c) => one_of_these(*c),
            Token::Set(_, ranges) => {
                ranges.iter().all(|(low, high)| one_of_these(*low) && one_of_these(*high))
            }
        })
    }

    /// Returns whether every name that matches is a hidden one.
    pub(super) fn starts_with_dot(&self) -> bool {
        self.0.first() == Some(&Token::Char('.'))
    }

    /// Returns whether `name`, a whole component of a path, falls under this pattern.
    pub(super) fn matches(&self, name: &str) -> bool {
        let (mut token, mut rest) = (0, name.chars());
        // Only the last `*` need ever give more: what stands before it has matched its least.
        let mut retry: Option<(usize, Chars<'_>)> = None;
        loop {
            let step = match (self.0.get(token), rest.clone().next()) {
                (None, None) => return true,
                (Some(Token::Many), _) if token + 1 == self.0.len() => return true,
                (Some(Token::Many), _) => {
                    retry = Some((token, rest.clone()));
                    token += 1;
                    continue;
                }
                (Some(Token::Any), Some(_)) => true,
                (Some(Token::Char(c)), Some(found)) => *c == found,
                (Some(Token::Set(sense, ranges)), Some(found)) => {
                    let inside = ranges.iter().any(|(low, high)| (*low..=*high).contains(&found));
                    inside == (*sense == Sense::In)
                }
                (None, Some(_)) | (Some(_), None) => false,
            };
            if step {
                token += 1;
                rest.next();
                continue;
            }
            let Some((many, from)) = &mut retry else { return false };
            if from.next().is_none() {
                return false;
            }
            (token, rest) = (*many + 1, from.clone());
        }
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for token in &self.0 {
            match token {
                Token::Any => f.write_char('?')?,
                Token::Char(c) => write_literal(f, *c)?,
                Token::Many => f.write_char('*')?,
                Token::Set(sense, ranges) => {
                    f.write_str(if *sense == Sense::In { "[" } else { "[!" })?;
                    for (low, high) in ranges {
                        write_in_set(f, *low)?;
                        if low != high {
                            f.write_char('-')?;
                            write_in_set(f, *high)?;
                        }
                    }
                    f.write_char(']')?;
                }
            }
        }
        Ok(())
    }
}

/// Prints a character so that it is read back as itself.
pub(super) fn write_literal(f: &mut fmt::Formatter<'_>, c: char) -> fmt::Result {
    if matches!(c, '*' | '?' | '[' | '\\') {
        f.write_char('\\')?;
    }
    f.write_char(c)
}

fn write_in_set(f: &mut fmt::Formatter<'_>, c: char) -> fmt::Result {
    if matches!(c, ']' | '[' | '\\' | '-' | '!' | '^') {
        f.write_char('\\')?;
    }
    f.write_char(c)
}

fn escaped(chars: &mut Chars<'_>, pattern: &str) -> Result<char, Invalid> {
    chars.next().ok_or_else(|| {
        let problem = format!("{} has a `\\` with nothing after it to escape", quote(pattern));
        Invalid::new("path-backslash", problem)
            .with_hint("write `\\\\` for a backslash; a `/` cannot be part of a name")
    })
}

/// Parses a set whose `[` has been read.
fn set(chars: &mut Chars<'_>, pattern: &str) -> Result<Token, Invalid> {
    let unclosed = || {
        Invalid::new("path-set", format!("{} has a `[` without its `]`", quote(pattern)))
            .with_hint("close the set, or write `\\[` for the character")
    };
    let sense = match chars.clone().next() {
        Some('!' | '^') => {
            chars.next();
            Sense::NotIn
        }
        Some(_) | None => Sense::In,
    };
    let mut ranges = Vec::new();
    loop {
        let low = match chars.next().ok_or_else(unclosed)? {
            // First in its set a `]` is a member, as in every shell.
            ']' if !ranges.is_empty() => return Ok(Token::Set(sense, ranges)),
            '[' if chars.as_str().starts_with([':', '.', '=']) => {
                let problem = format!("{} has a named class in a set", quote(pattern));
                return Err(Invalid::new("path-class", problem)
                    .with_hint("write the range instead, like `[a-z]`"));
            }
            '\\' => escaped(chars, pattern)?,
            c => c,
        };
        let mut ahead = chars.clone();
        let high = match (ahead.next(), ahead.next()) {
            (Some('-'), Some(end)) if end != ']' => {
                chars.next();
                match chars.next().ok_or_else(unclosed)? {
                    '\\' => escaped(chars, pattern)?,
                    c => c,
                }
            }
            _ => low,
        };
        if high < low {
            let problem = format!("{} has a range that runs backwards", quote(pattern));
            return Err(Invalid::new("path-range", problem)
                .with_hint(format!("write {}", quote(&format!("{high}-{low}")))));
        }
        ranges.push((low, high));
    }
}
