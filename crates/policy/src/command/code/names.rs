//! What names stand for: modules under other names, functions, and strings that never change.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::VALUE_DEPTH;
use super::meaning::Meaning;
use super::scan::Dialect;
use super::stream::{Range, Stream};
use super::token::Token;
use super::value::Value;
use crate::command::Language;

/// What is known of the names in some code.
#[derive(Debug)]
pub(super) struct Names<'t> {
    pub(super) dialect: &'static Dialect,
    pub(super) bounds: BTreeMap<String, Bound<'t>>,
    /// Modules all of whose names were imported.
    pub(super) stars: Vec<String>,
    /// Classes that are written out in the code: what they import, they have as members.
    pub(super) classes: Vec<String>,
    /// Bytes of the code that import statements cover.
    pub(super) skips: BTreeMap<usize, usize>,
    /// Texts with code in them, with what is known put there, by where they begin.
    pub(super) filled: BTreeMap<usize, String>,
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Bound<'t> {
    /// A function that is written out in the code.
    Function,
    /// A list of names of files, each in a folder that is known elsewhere.
    Listing,
    /// A module or a function of one.
    Path(String),
    /// A string.
    Text(Value<'t>),
    /// Different things at different times.
    Various,
}

/// A name with what follows it: `a.b["c"](…)`.
#[derive(Debug)]
pub(super) struct Chain {
    pub(super) path: String,
    /// The token behind it, which opens the arguments if it is called.
    pub(super) end: usize,
    pub(super) tail: Tail,
    /// Where the last member's dot stands, if there is one.
    pub(super) dot: Option<usize>,
}

/// What a chain ends with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Tail {
    /// Arguments of a call.
    Call(Range),
    /// A subscript that is not known.
    Dynamic,
    None,
}

impl<'t> Names<'t> {
    pub(super) fn new(dialect: &'static Dialect) -> Self {
        Self {
            dialect,
            bounds: BTreeMap::new(),
            stars: Vec::new(),
            classes: Vec::new(),
            skips: BTreeMap::new(),
            filled: BTreeMap::new(),
        }
    }

    /// Makes `name` stand for a module or one of its functions.
    pub(super) fn alias(&mut self, name: &str, path: &str) {
        let path = path.strip_prefix("node:").unwrap_or(path);
        // Of two meanings the one that matters stays.
        if let Some(Bound::Path(old)) = self.bounds.get(name)
            && self.function(old).is_some()
        {
            return;
        }
        self.bounds.insert(name.to_owned(), Bound::Path(path.to_owned()));
    }

    /// Notes that the bytes of some tokens bind names and do nothing else.
    pub(super) fn skip(&mut self, stream: &Stream<'t>, range: Range) {
        let (start, end) = stream.bytes(range);
        self.skips.insert(start, end);
    }

    /// Returns what a function means.
    pub(super) fn function(&self, path: &str) -> Option<Meaning> {
        let known =
            |path: &str| (self.dialect.function)(&(self.dialect.canonical)(Cow::Borrowed(path)));
        known(path).or_else(|| self.stars.iter().find_map(|star| known(&format!("{star}.{path}"))))
    }

    /// Follows the name at `at`.
    pub(super) fn chain(&self, stream: &Stream<'t>, at: usize, depth: usize) -> Chain {
        let head = stream.name(at).unwrap_or_default();
        let path = match self.bounds.get(head) {
            Some(Bound::Path(path)) if stream.pays(path.len()) => path.clone(),
            Some(
                Bound::Function | Bound::Listing | Bound::Path(_) | Bound::Text(_) | Bound::Various,
            )
            | None => head.to_owned(),
        };
        let mut chain = Chain { path, end: at + 1, tail: Tail::None, dot: None };
        let mut start = at;
        if depth >= VALUE_DEPTH || !stream.pays(1) {
            return chain;
        }
        loop {
            let end = chain.end;
            let close = stream.mate(end);
            if stream.token(end).is_some_and(Token::is_dot)
                && let Some(member) = stream.name(end + 1)
            {
                match self.bounds.get(member) {
                    Some(Bound::Path(path))
                        if self.classes.contains(&chain.path) && stream.pays(path.len()) =>
                    {
                        chain.path.clone_from(path);
                    }
                    Some(_) | None => chain.push(member),
                }
                chain.dot = Some(end);
                chain.end = end + 2;
            } else if stream.is(end, "[") {
                let subscript = self.value(stream, (end + 1, close), depth + 1);
                match subscript.known() {
                    Some(member)
                        if chain
                            .path
                            .strip_suffix("sys.modules")
                            .is_some_and(|head| head.is_empty() || head.ends_with(['.', '_'])) =>
                    {
                        chain.path = member.to_owned();
                    }
                    Some(member) if self.dialect.language == Language::Node => {
                        chain.push(member);
                        chain.dot = Some(end);
                    }
                    Some(_) | None => {
                        chain.tail = Tail::Dynamic;
                        return chain;
                    }
                }
                chain.end = close + 1;
            } else if stream.is(end, "(") || (stream.is(end, "?.") && stream.is(end + 1, "(")) {
                chain.end += usize::from(stream.is(end, "?."));
                let close = stream.mate(chain.end);
                let args = (chain.end + 1, close);
                let Some(path) = self.called(stream, &chain.path, args, depth) else {
                    chain.tail = Tail::Call(args);
                    return chain;
                };
                chain.path = path;
                chain.dot = None;
                chain.end = close + 1;
                // `(await import("x")).y`
                while stream.is(chain.end, ")") {
                    let open = stream.mate(chain.end);
                    let plain =
                        open + 1 == start || (open + 2 == start && stream.is(open + 1, "await"));
                    let called = stream.before(open).is_some_and(Token::ends_value);
                    if !plain || called {
                        break;
                    }
                    (start, chain.end) = (open, chain.end + 1);
                }
            } else {
                return chain;
            }
        }
    }

    /// Returns what a call stands for that names a module or a member: `require("fs")`.
    fn called(&self, stream: &Stream<'t>, path: &str, args: Range, depth: usize) -> Option<String> {
        match self.function(path)? {
            Meaning::Import(place) => {
                let part = *stream.split(args).get(place)?;
                let module = self.value(stream, part, depth + 1);
                let module = module.known()?;
                Some(module.strip_prefix("node:").unwrap_or(module).to_owned())
            }
            Meaning::Attribute => {
                let parts = stream.split(args);
                let (object, member) = (*parts.first()?, *parts.get(1)?);
                stream.name(object.0)?;
                let object = self.chain(stream, object.0, depth + 1);
                let member = self.value(stream, member, depth + 1);
                Some(format!("{}.{}", object.path, member.known()?))
            }
            Meaning::Argv(_)
            | Meaning::Build
            | Meaning::Code(_)
            | Meaning::CodeAll
            | Meaning::CodeInto(..)
            | Meaning::Connect(_)
            | Meaning::Copy(..)
            | Meaning::Delete(..)
            | Meaning::DeleteAll(_)
            | Meaning::Dial(_)
            | Meaning::Enter(_)
            | Meaning::Fetch(..)
            | Meaning::Find(_)
            | Meaning::Fork
            | Meaning::Link(..)
            | Meaning::Load(_)
            | Meaning::Move(..)
            | Meaning::Open(..)
            | Meaning::Raise(_)
            | Meaning::Read(_)
            | Meaning::ReadNamed(_)
            | Meaning::ReadOr(..)
            | Meaning::Rewrite(_)
            | Meaning::Script(_)
            | Meaning::Send(_)
            | Meaning::Shelf(_)
            | Meaning::Shell(_)
            | Meaning::Socket(_)
            | Meaning::Source(_)
            | Meaning::Write(_)
            | Meaning::WriteAll
            | Meaning::WriteKey(..)
            | Meaning::WriteNamed(_) => None,
        }
    }
}

impl Chain {
    fn push(&mut self, member: &str) {
        self.path.push('.');
        self.path.push_str(member);
    }
}
