//! Looking through tokens for calls whose meaning is known.

use std::borrow::Cow;

use super::meaning::Meaning;
use super::mention::mentions;
use super::names::{Bound, Chain, Names, Tail};
use super::sink::Sink;
use super::stream::{Commas, Range, Stream};
use super::token::{Kind, Lexer, Special, Token};
use super::value::decodes;
use crate::command::{Act, Concern, Language, Run};

/// What is particular to a language of calls.
#[derive(Debug)]
pub(super) struct Dialect {
    pub(super) language: Language,
    pub(super) special: Special,
    /// What a function means, by its full name with dots.
    pub(super) function: fn(&str) -> Option<Meaning>,
    /// What a method of an unknown object means, if its name says it all. Place 0 of its
    /// arguments is the object.
    pub(super) method: fn(&str) -> Option<Meaning>,
    /// The one name of a function that has several.
    pub(super) canonical: for<'p> fn(Cow<'p, str>) -> Cow<'p, str>,
    /// Takes in what import statements bind.
    pub(super) import: for<'t> fn(&mut Names<'t>, &Stream<'t>),
    /// Looks at a token for what only this language has.
    pub(super) extra: for<'t> fn(&mut Scan<'t, '_>, &Stream<'t>, usize),
    /// Modules that are known wherever they are members.
    pub(super) reached: &'static [&'static str],
    /// Modules that can start programs or reach all others: handing one on hides what is called.
    pub(super) powers: &'static [&'static str],
    /// Joins strings.
    pub(super) joins: &'static str,
    pub(super) calls: Calls,
}

/// How functions are called.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Calls {
    /// With or without parentheses.
    Bare,
    /// With parentheses only.
    Parens,
}

/// The state of looking through some code.
#[derive(Debug)]
pub(super) struct Scan<'t, 's> {
    pub(super) dialect: &'static Dialect,
    pub(super) names: Names<'t>,
    /// The code.
    pub(super) text: &'t str,
    pub(super) out: Sink<'t, 's>,
    /// Whether the code repeats something.
    pub(super) loops: bool,
    /// Where names stand that make text from other text that nobody can read, in order.
    pub(super) decoders: Vec<usize>,
}

impl<'t, 's> Scan<'t, 's> {
    /// Reads `text` and says what it does.
    pub(super) fn run(dialect: &'static Dialect, text: &'t str, mut out: Sink<'t, 's>) {
        let Ok(lexer) = Lexer::read(text, dialect.special) else {
            out.raise(Concern::Unclear, 0, text.len());
            return out.finish();
        };
        if lexer.evaluates {
            out.raise(Concern::Evaluates, 0, text.len());
        }
        let fills = lexer.fills;
        let streams = Stream::all(lexer.streams);
        let mut names = Names::new(dialect);
        for stream in &streams {
            (dialect.import)(&mut names, stream);
        }
        names.bind(&streams);
        names.interpolate(text, &fills, &streams);
        let choice = names.loops(&streams);
        // Some texts are made of what a loop finds.
        names.bind(&streams);
        names.interpolate(text, &fills, &streams);
        let repeats = |name: &str| matches!(name, "for" | "while" | "loop" | "until" | "iter");
        let mut words = streams.iter().flat_map(|stream| &stream.tokens).filter_map(Token::name);
        let loops = words.any(repeats);
        let all = streams.iter().flat_map(|stream| &stream.tokens);
        let decoding = all.filter(|token| token.name().is_some_and(decodes));
        let mut decoders: Vec<_> = decoding.map(|token| token.start).collect();
        decoders.sort_unstable();
        if names.stars.len() > STARS {
            out.raise(Concern::Unclear, 0, text.len());
            names.stars.truncate(STARS);
        }
        let mut scan = Self { dialect, names, text, out, loops, decoders };
        match choice {
            Some(choice) => {
                for value in choice.values {
                    scan.names.bounds.insert(choice.name.clone(), Bound::Text(value));
                    scan.names.bind(&streams);
                    scan.names.interpolate(text, &fills, &streams);
                    streams.iter().for_each(|stream| scan.stream(stream));
                }
            }
            None => streams.iter().for_each(|stream| scan.stream(stream)),
        }
        mentions(&streams, &scan.names, &mut scan.out);
        if streams.iter().any(Stream::is_cut) {
            scan.out.raise(Concern::Unclear, 0, text.len());
        }
        scan.out.finish();
    }

    fn stream(&mut self, stream: &Stream<'t>) {
        let mut at = 0;
        while let Some(token) = stream.token(at) {
            at = match &token.kind {
                Kind::Shell(text) => {
                    let arg = self.out.arg(text.clone(), token.start, token.end);
                    self.out.act(Act::Run(Run::Shell(arg)));
                    at + 1
                }
                Kind::Name(_) => self.name(stream, at, token).max(at + 1),
                Kind::Break | Kind::Number | Kind::Pattern | Kind::Sign(_) | Kind::Text(..) => {
                    at + 1
                }
            };
        }
        // By now it is known whether there is a socket.
        for at in 0..stream.tokens.len() {
            (self.dialect.extra)(self, stream, at);
            self.variable(stream, at);
            self.mode(stream, at);
        }
    }

    /// Judges what the name at `at` stands for, and returns where to go on.
    fn name(&mut self, stream: &Stream<'t>, at: usize, token: &Token<'t>) -> usize {
        if let Some(&end) = self.names.skips.get(&token.start) {
            let tokens = stream.tokens.get(at..).unwrap_or_default();
            return at + tokens.partition_point(|token| token.start < end);
        }
        let before = stream.before(at);
        if before.is_some_and(|before| DEFINES.iter().any(|word| before.is(word))) {
            return at + 1;
        }
        let behind = |dot: usize| stream.before(dot).is_some_and(Token::ends_value);
        let reached = stream.is(at + 1, ".")
            && stream.name(at).is_some_and(|name| self.dialect.reached.contains(&name));
        if before.is_some_and(Token::is_dot) && behind(at - 1) && !reached {
            let Some(meaning) = stream.name(at).and_then(self.dialect.method) else {
                return at + 1;
            };
            let receiver = (stream.receiver(at - 1), at - 1);
            let args = self.arguments(stream, at + 1, meaning);
            self.method(stream, (receiver.0, at + 1), meaning, receiver, args);
            return at + 1;
        }
        let chain = self.names.chain(stream, at, 0);
        let whole = (at, chain.end);
        if chain.tail == Tail::None && self.hands_on(stream, at, &chain) {
            let (start, end) = stream.bytes(whole);
            self.out.raise(Concern::Evaluates, start, end);
            return chain.end;
        }
        if let Some(meaning) = self.names.function(&chain.path) {
            let next = stream.token(chain.end);
            let is_key = next.is_some_and(|next| {
                next.is_sign(&["=", "=>"])
                    || (next.is(":") && before.is_some_and(|token| token.is_sign(&["{", ",", "("])))
            });
            if is_key && chain.tail == Tail::None && chain.dot.is_none() {
                return chain.end;
            }
            let args = match chain.tail {
                Tail::Call(args) => Some(stream.split(args)),
                Tail::Dynamic => None,
                Tail::None => self.arguments(stream, chain.end, meaning),
            };
            self.apply(stream, whole, meaning, args.as_deref());
        } else if let Some(dot) = chain.dot {
            let member = chain.path.rsplit('.').next().unwrap_or_default();
            if let Some(meaning) = (self.dialect.method)(member) {
                let args = match chain.tail {
                    Tail::Call(args) => Some(stream.split(args)),
                    Tail::Dynamic | Tail::None => self.arguments(stream, chain.end, meaning),
                };
                self.method(stream, whole, meaning, (at, dot), args);
            }
        }
        chain.end
    }

    /// Returns whether a powerful module is used as a value, and not just given another name.
    fn hands_on(&self, stream: &Stream<'t>, at: usize, chain: &Chain) -> bool {
        let name = stream.name(at).unwrap_or_default();
        let bound = self.names.bounds.get(name);
        // Some are there without being asked for.
        let given = match self.dialect.language {
            Language::Ruby => true,
            Language::Node => name == "fs",
            Language::Python
            | Language::Perl
            | Language::Php
            | Language::Awk
            | Language::Sed
            | Language::Shell
            | Language::Sql
            | Language::Editor
            | Language::Patch
            | Language::Source
            | Language::Other => false,
        };
        let imported = chain.path != name || bound.is_some() || given;
        let path = match chain.dot {
            None => chain.path.as_str(),
            // `random._os`
            Some(_) if matches!(bound, Some(Bound::Path(_))) => {
                let member = chain.path.rsplit('.').next().unwrap_or_default();
                let known = self.dialect.reached.contains(&member);
                if known { member.trim_start_matches('_') } else { chain.path.as_str() }
            }
            Some(_) => return false,
        };
        if !imported || !self.dialect.powers.contains(&path) {
            return false;
        }
        let mut from = at;
        while stream.before(from).is_some_and(|before| before.is("await") || before.is("(")) {
            from -= 1;
        }
        let shows = |name: &str| matches!(name, "hasattr" | "dir" | "help" | "print" | "type");
        let shown =
            stream.is(from, "(") && stream.before(from).and_then(Token::name).is_some_and(shows);
        let target =
            from.checked_sub(2).filter(|_| stream.before(from).is_some_and(|token| token.is("=")));
        let renamed = target.is_some_and(|target| {
            let member = stream.before(target).is_some_and(Token::is_dot);
            stream.is(target, "}")
                || (stream.name(target).is_some() && !member && is_simple(stream, target))
        });
        // Behind `cp = require("x")` nothing may follow that takes it on.
        let ends = stream.token(chain.end).is_none_or(|next| next.is_break() || next.is(","));
        let set = stream.is(chain.end, "=");
        let declares = |name: &str| {
            matches!(
                name,
                "let"
                    | "var"
                    | "const"
                    | "global"
                    | "include"
                    | "extend"
                    | "module"
                    | "is_a"
                    | "when"
            )
        };
        let declared = stream.before(at).and_then(Token::name).is_some_and(declares);
        !(shown || set || declared || (renamed && ends))
    }

    /// Returns the arguments that begin at `at`, or `None` if nothing is called there.
    fn arguments(&self, stream: &Stream<'t>, at: usize, meaning: Meaning) -> Option<Vec<Range>> {
        if stream.is(at, "(") {
            return Some(stream.split((at + 1, stream.mate(at))));
        }
        if self.dialect.calls == Calls::Parens && !matches!(meaning, Meaning::Script(_)) {
            return None;
        }
        let starts = stream.token(at).is_some_and(|token| {
            token.is_sign(&["[", "-", "*", "\\", "{", "<", "@", "$", "&", "%"])
                || (!token.is_break() && !matches!(token.kind, Kind::Sign(_)))
        });
        if !starts {
            return Some(Vec::new());
        }
        Some(stream.split((at, stream.expression_end(at, Commas::Stay))))
    }

    /// Applies a method: its object is the first of its arguments.
    fn method(
        &mut self,
        stream: &Stream<'t>,
        whole: Range,
        meaning: Meaning,
        receiver: Range,
        args: Option<Vec<Range>>,
    ) {
        let Some(args) = args else { return };
        let mut all = vec![receiver];
        all.extend(args);
        self.apply(stream, whole, meaning, Some(&all));
    }
}

/// Whether the name at `at` is all that is given a value: not `a = b = …`, and not the type in
/// `a: b = …`.
fn is_simple(stream: &Stream<'_>, at: usize) -> bool {
    match stream.before(at) {
        Some(before) if before.is(":") => {
            let word = at.checked_sub(2).and_then(|at| stream.token(at));
            word.is_none_or(|word| {
                ["else", "try", "finally", ")"].iter().any(|wanted| word.is(wanted))
            })
        }
        Some(before) => !before.is("="),
        None => true,
    }
}

/// How many modules' names may be imported all at once.
pub(super) const STARS: usize = 16;

/// Words before the name of a function that is being written.
const DEFINES: [&str; 5] = ["def", "function", "class", "sub", "fn"];
