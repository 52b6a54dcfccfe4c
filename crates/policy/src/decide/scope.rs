//! What is known of the shell's state at one point of a text.

use std::borrow::Cow;

use crate::command::{Certainty, HOLE};

/// The working folder and the variables, as far as the text itself tells.
///
/// Functions are not kept: their bodies are judged where they are defined, and a program of the
/// same name is judged where it is called, because the definition may never have run.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Scope {
    /// Every folder that may be the working folder here; with a [`HOLE`] if it cannot be told.
    cwds: Vec<String>,
    variables: Vec<(String, Value)>,
    /// Whether this point is never reached: the way here passes an `exit`.
    pub(super) ended: bool,
}

/// A variable's value, as far as it is known.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Value {
    pub(super) text: String,
    pub(super) certainty: Certainty,
}

/// Longest value that is followed; a longer one is as good as unknown.
pub(super) const LONGEST_VALUE: usize = 4096;

/// Most working folders that are kept apart; beyond that the folder is not known.
const MOST_CWDS: usize = 4;
/// Longest working folder that is followed.
const LONGEST_CWD: usize = 1024;

impl Value {
    /// A value that only running tells.
    pub(super) fn unknown() -> Self {
        Self { text: HOLE.to_string(), certainty: Certainty::Partial }
    }

    /// A value that is wholly known.
    pub(super) fn known(text: impl Into<String>) -> Self {
        Self { text: text.into(), certainty: Certainty::Known }
    }

    /// A value that is not known, but is one plain word without `/`: a number, a date.
    pub(super) fn token() -> Self {
        Self { text: "1000".to_owned(), certainty: Certainty::Pattern }
    }
}

impl Scope {
    pub(super) fn new(cwd: &str) -> Self {
        Self { cwds: vec![cwd.to_owned()], variables: Vec::new(), ended: false }
    }

    /// Returns every folder that may be the working folder; never none.
    pub(super) fn cwds(&self) -> &[String] {
        &self.cwds
    }

    /// Moves to other working folders.
    pub(super) fn enter(&mut self, mut cwds: Vec<String>) {
        cwds.sort_unstable();
        cwds.dedup();
        if cwds.is_empty()
            || cwds.len() > MOST_CWDS
            || cwds.iter().any(|cwd| cwd.contains(HOLE) || cwd.len() > LONGEST_CWD)
        {
            cwds = vec![HOLE.to_string()];
        }
        self.cwds = cwds;
    }

    pub(super) fn variable(&self, name: &str) -> Option<&Value> {
        self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    pub(super) fn assign(&mut self, name: Cow<'_, str>, mut value: Value) {
        if value.text.len() > LONGEST_VALUE {
            value = Value::unknown();
        }
        match self.variables.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.variables.push((name.into_owned(), value)),
        }
    }

    /// Forgets a variable's value, not that it has one: `read x`, `unset x`.
    pub(super) fn forget(&mut self, name: &str) {
        self.assign(Cow::Borrowed(name), Value::unknown());
    }

    /// Forgets every value: a file that was read into the shell may have changed them all.
    pub(super) fn forget_all(&mut self) {
        for (_, value) in &mut self.variables {
            *value = Value::unknown();
        }
    }

    /// Joins with the state of another way through the text: what differs is not known after.
    pub(super) fn join(&mut self, other: &Self) {
        if other.ended || self == other {
            return;
        }
        if self.ended {
            *self = other.clone();
            return;
        }
        if self.cwds != other.cwds {
            let both = self.cwds.iter().chain(&other.cwds).cloned().collect();
            self.enter(both);
        }
        for (name, value) in &mut self.variables {
            if other.variable(name) != Some(value) {
                *value = Value::unknown();
            }
        }
        for (name, _) in &other.variables {
            if self.variable(name).is_none() {
                self.variables.push((name.clone(), Value::unknown()));
            }
        }
    }
}
