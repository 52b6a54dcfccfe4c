//! What a word is where a default stands in for a variable: `${x:-/a}/b` may be `/a/b`.

use super::scope::{LONGEST_VALUE, Value};
use super::walk::Walk;
use crate::command::Certainty;
use crate::shell::{Operation, Parameter};
use crate::text::Span;

/// Most variables of which it is kept what they may be.
const MOST_KEPT: usize = 256;

/// What was found to be possible on the way.
#[derive(Debug, Default)]
pub(super) struct Defaults {
    /// What the parameter may be that was looked at last.
    pub(super) met: Option<Box<str>>,
    /// What the word may be whose value was looked at last.
    pub(super) made: Option<Box<str>>,
    /// What variables may be.
    kept: Vec<(Box<str>, Box<str>)>,
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

    fn keep(&mut self, name: &str, made: Option<Box<str>>) {
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
    pub(super) fn may_be(&mut self, word: String, span: Span) {
        if let Some((name, value)) = word.split_once('=') {
            self.names_secret(&Value::known(value), span);
            self.defaults.keep(name, Some(value.into()));
        }
        self.names_secret(&Value::known(word), span);
    }
}
