//! What a word is where a default stands in for a variable: `${x:-/a}/b` may be `/a/b`.

use super::scope::{LONGEST_VALUE, Value};
use super::walk::{Input, Walk};
use crate::command::{Arg, Certainty};
use crate::shell::{Operation, Parameter};
use crate::text::Span;

/// Most variables of which it is kept what they may be.
const MOST_KEPT: usize = 256;

/// What the shell splits words at.
const BLANKS: [char; 3] = [' ', '\t', '\n'];

/// Options of `read` that take the next word.
const TAKE_VALUES: [char; 8] = ['a', 'd', 'i', 'N', 'n', 'p', 't', 'u'];

/// What was found to be possible on the way.
#[derive(Debug, Default)]
pub(super) struct Defaults {
    /// What the parameter may be that was looked at last.
    pub(super) met: Option<Box<str>>,
    /// What the word may be whose value was looked at last.
    pub(super) made: Option<Box<str>>,
    /// What the words of the command at hand may be.
    pub(super) words: Vec<Standing>,
    /// What variables may be.
    kept: Vec<(Box<str>, Box<str>)>,
}

/// A word with its defaults, and where it stands.
#[derive(Debug)]
pub(super) struct Standing {
    text: Box<str>,
    certainty: Certainty,
    span: Span,
}

impl Standing {
    /// Whether the command is another one with it: options are added, or words.
    fn reshapes(&self) -> bool {
        self.text.starts_with('-')
            || self.certainty == Certainty::Many && self.text.trim().contains(BLANKS)
    }

    /// The arguments that the word becomes.
    fn args(&self) -> Vec<Arg<'static>> {
        let arg =
            |text: &str, certainty| Arg { certainty, ..Arg::known(text.to_owned(), self.span) };
        if self.certainty != Certainty::Many {
            return vec![arg(&self.text, Certainty::Known)];
        }
        let words = self.text.split(BLANKS).filter(|word| !word.is_empty());
        let split = words.map(|word| match word.contains(['*', '?', '[']) {
            true => arg(word, Certainty::Pattern),
            false => arg(word, Certainty::Known),
        });
        split.collect()
    }
}

/// The text of a word in the making, with defaults.
#[derive(Debug)]
pub(super) struct Otherwise {
    text: String,
    /// Where in the text without them the part begins that is the same again.
    since: usize,
}

impl Defaults {
    /// Notes what a variable may be that was given the value looked at last.
    pub(super) fn assign(&mut self, name: &str) {
        let made = self.made.take();
        if made.is_some() || !self.kept.is_empty() {
            self.keep(name, made);
        }
    }

    /// Notes what the variables may be that `read` names, given the text that it reads.
    pub(super) fn read(&mut self, args: &[Arg<'_>], value: &Value) {
        let is_option = |arg: &Arg<'_>| arg.text.starts_with('-') && arg.text.len() > 1;
        let has_value = |arg: &Arg<'_>| is_option(arg) && arg.text.ends_with(TAKE_VALUES);
        let before = std::iter::once(None).chain(args.iter().map(Some));
        let pairs = args.iter().zip(before);
        let is_name = |(arg, before): &(&Arg<'_>, Option<&Arg<'_>>)| {
            !is_option(arg) && !before.is_some_and(has_value)
        };
        let mut names = pairs.filter(is_name).map(|(arg, _)| &*arg.text).peekable();
        let known = Some(&*value.text).filter(|_| value.certainty == Certainty::Known);
        let mut rest = known.and_then(|text| text.lines().next()).unwrap_or_default().trim();
        while let Some(name) = names.next() {
            let (word, behind) = match names.peek() {
                Some(_) => rest.split_once(BLANKS).unwrap_or((rest, "")),
                None => (rest, ""),
            };
            rest = behind.trim_start();
            self.keep(name, Some(word.into()).filter(|_| !word.is_empty()));
        }
    }

    pub(super) fn keep(&mut self, name: &str, made: Option<Box<str>>) {
        self.kept.retain(|(known, _)| **known != *name);
        if let Some(made) = made.filter(|_| self.kept.len() < MOST_KEPT) {
            self.kept.push((name.into(), made));
        }
    }

    fn of(&self, name: &str) -> Option<Box<str>> {
        let kept = self.kept.iter().find(|(known, _)| **known == *name);
        kept.map(|(_, text)| text.clone())
    }
}

impl Otherwise {
    /// Adds a default to what a word is so far, in the place of so much text that is not known.
    pub(super) fn with(
        before: Option<Box<Self>>,
        text: &str,
        default: &str,
        hole: usize,
    ) -> Box<Self> {
        let mut made = match before {
            Some(before) => before.whole(text).unwrap_or_default(),
            None => text.to_owned(),
        };
        made.push_str(default);
        Box::new(Self { text: made, since: text.len() + hole })
    }

    /// Returns the whole word, given its text without defaults.
    pub(super) fn whole(&self, text: &str) -> Option<String> {
        let rest = text.get(self.since..)?;
        (self.text.len() + rest.len() <= LONGEST_VALUE).then(|| [&*self.text, rest].concat())
    }
}

impl Walk<'_> {
    /// Returns what may stand in for a variable, and asks about it if that is the name of something
    /// hidden: `${x:-path}`.
    pub(super) fn stand_in<'t>(
        &mut self,
        text: &'t str,
        parameter: &Parameter<'t>,
    ) -> Option<Box<str>> {
        match parameter.operation {
            Operation::Value => self.defaults.of(&parameter.name),
            Operation::Default | Operation::Alternative => {
                let [word] = &*parameter.words else { return None };
                let value = self.value(text, word);
                self.names_secret(&value, word.span);
                match value.certainty {
                    Certainty::Known => Some(value.text.into()),
                    Certainty::Partial | Certainty::Pattern | Certainty::Many => {
                        self.defaults.made.take()
                    }
                }
            }
            Operation::Length
            | Operation::Indirect
            | Operation::Error
            | Operation::Evaluated
            | Operation::Changed => None,
        }
    }

    /// Asks about a word that is the name of something hidden with its defaults, or gives one to a
    /// variable or an option.
    pub(super) fn may_be(&mut self, word: String, certainty: Certainty, span: Span) {
        self.defaults.words.push(Standing { text: word.as_str().into(), certainty, span });
        if let Some((name, value)) = word.split_once('=') {
            self.names_secret(&Value::known(value), span);
            self.defaults.keep(name, Some(value.into()));
        }
        self.names_secret_near(&word, span);
        self.names_secret(&Value::known(word), span);
    }

    /// Judges a command as it is with the defaults that stand in its words, where that makes it
    /// another one: tools that take an unknown word for no option are given one that is known.
    pub(super) fn call_otherwise(
        &mut self,
        argv: &[Arg<'_>],
        words: &[Standing],
        span: Span,
        input: &Input,
    ) {
        if !words.iter().any(Standing::reshapes) {
            return; // nearly always
        }
        // What a function does with its words is looked at where it uses them.
        if argv.first().is_none_or(|program| self.functions_named(&program.text)) {
            return;
        }
        let mut otherwise = Vec::with_capacity(argv.len());
        for (at, arg) in argv.iter().enumerate() {
            let ends = argv.get(at + 1).is_none_or(|next| next.span != arg.span);
            match words.iter().find(|word| ends && word.span == arg.span) {
                Some(word) => otherwise.extend(word.args()),
                None => otherwise.push(arg.clone()),
            }
        }
        let habits = self.habits;
        self.aside(|walk| drop(walk.call(&otherwise, span, input)));
        self.habits = habits;
    }
}
