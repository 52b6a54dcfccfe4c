//! What is known of the shell's state at one point of a text.

use std::borrow::Cow;

use crate::command::{Certainty, HOLE, Holed as _};

/// The working folder, the variables and the parameters, as far as the text itself tells.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Scope {
    /// Every folder that may be the working folder here; with a [`HOLE`] if it cannot be told.
    cwds: Vec<String>,
    variables: Vec<Variable>,
    /// `$1` and those behind it; none if nobody knows them.
    parameters: Option<Vec<Value>>,
    /// Variables that do not become what they are given: `readonly`, `declare -i`, those that a
    /// trap may change at any time.
    odd: Vec<String>,
    /// Variables whose values come from elsewhere: whoever wrote those may have written anything.
    foreign: Vec<String>,
    /// Variables of the function at hand, with what they hide.
    locals: Vec<(String, Option<Variable>)>,
    /// Functions that are defined here, whichever way led here.
    defined: Vec<String>,
    /// Whether something may change the working folder at any time.
    adrift: bool,
    /// Whether this point is never reached: the way here passes an `exit`.
    pub(super) ended: bool,
}

/// A variable's value, as far as it is known.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Value {
    pub(super) text: String,
    pub(super) certainty: Certainty,
}

#[derive(Clone, Debug, Eq, PartialEq)]
struct Variable {
    name: String,
    value: Value,
    export: Export,
}

/// Whether programs are given a variable.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Export {
    /// It stays in the shell, or nobody can tell.
    Kept,
    Passed,
}

/// What of the variables a program is given.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Environment {
    /// Those that are exported.
    Passed,
    /// Nobody can tell which.
    Lost,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Origin {
    /// The text itself, or the machine.
    Here,
    /// The network.
    Elsewhere,
}

impl Origin {
    /// Where a value comes from that was made of what does. A number is a number, whoever sent it.
    pub(super) fn of(self, value: &Value) -> Self {
        if value.text.has_hole() { self } else { Self::Here }
    }
}

/// Longest value that is followed; a longer one is as good as unknown.
pub(super) const LONGEST_VALUE: usize = 4096;

/// What stands for the name of a commit or a branch.
const REVISION: &str = "0000000";

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

    /// The name of a commit or a branch: it leads nowhere else, but may be nothing at all.
    pub(super) fn revision() -> Self {
        Self { text: REVISION.to_owned(), certainty: Certainty::Pattern }
    }

    /// Whether this may turn out to be nothing, although it stands for something.
    pub(super) fn may_be_empty(&self) -> bool {
        self.certainty == Certainty::Pattern && self.text == REVISION
    }
}

impl Scope {
    pub(super) fn new(cwd: &str) -> Self {
        Self { cwds: vec![cwd.to_owned()], ..Self::default() }
    }

    /// Returns what a program that is a shell begins with: what it is given and nothing else.
    pub(super) fn child(&self, given: &[(String, Value)], environment: Environment) -> Self {
        let mut child = Self { cwds: self.cwds.clone(), ..Self::default() };
        for variable in self.variables.iter().filter(|variable| variable.name != "IFS") {
            let passed = variable.export == Export::Passed && environment == Environment::Passed;
            let value = if passed { variable.value.clone() } else { Value::unknown() };
            child.variables.push(Variable { value, ..variable.clone() });
        }
        if environment == Environment::Lost {
            child.forget("TMPDIR");
        }
        for (name, value) in given {
            child.assign(Cow::Borrowed(name), value.clone());
            child.export(name);
        }
        child
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
            || self.adrift
            || cwds.len() > MOST_CWDS
            || cwds.iter().any(|cwd| cwd.has_hole() || cwd.len() > LONGEST_CWD)
        {
            cwds = vec![HOLE.to_string()];
        }
        self.cwds = cwds;
    }

    pub(super) fn variable(&self, name: &str) -> Option<&Value> {
        self.variables.iter().find(|known| known.name == name).map(|known| &known.value)
    }

    pub(super) fn assign(&mut self, name: Cow<'_, str>, mut value: Value) {
        let lost = value.text.len() > LONGEST_VALUE || is_special(&name) || self.is_odd(&name);
        if lost {
            value = Value::unknown();
        }
        match self.variables.iter_mut().find(|known| known.name == name) {
            Some(known) => known.value = value,
            None => {
                let name = name.into_owned();
                self.variables.push(Variable { name, value, export: Export::Kept });
            }
        }
    }

    /// Forgets a variable's value, not that it has one: `read x`, `unset x`.
    pub(super) fn forget(&mut self, name: &str) {
        self.assign(Cow::Borrowed(name), Value::unknown());
    }

    /// Forgets every value: a file that was read into the shell may have changed them all.
    pub(super) fn forget_all(&mut self) {
        self.forget("TMPDIR");
        for variable in &mut self.variables {
            variable.value = Value::unknown();
        }
        self.parameters = None;
    }

    /// Gives a variable to programs from here on.
    pub(super) fn export(&mut self, name: &str) {
        match self.variables.iter_mut().find(|known| known.name == name) {
            Some(known) => known.export = Export::Passed,
            // What these hold is known without a word.
            None if matches!(name, "HOME" | "PWD" | "TMPDIR") => {}
            None => {
                let (name, value) = (name.to_owned(), Value::unknown());
                self.variables.push(Variable { name, value, export: Export::Passed });
            }
        }
    }

    /// Takes a variable from programs.
    pub(super) fn keep(&mut self, name: &str) {
        if let Some(known) = self.variables.iter_mut().find(|known| known.name == name) {
            known.export = Export::Kept;
        }
    }

    /// From here on a variable does not become what it is given.
    pub(super) fn set_apart(&mut self, name: &str) {
        if !self.is_odd(name) {
            self.odd.push(name.to_owned());
        }
    }

    /// Makes a variable the function's own.
    pub(super) fn localize(&mut self, name: &str) {
        if self.locals.iter().any(|(known, _)| known == name) {
            return;
        }
        let hidden = self.variables.iter().find(|known| known.name == name).cloned();
        self.locals.push((name.to_owned(), hidden));
    }

    /// Begins a function, and returns what its end needs.
    pub(super) fn begin_function(&mut self, parameters: Option<Vec<Value>>) -> Outer {
        let outer = self.parameters.take();
        self.set_parameters(parameters);
        Outer { parameters: outer, locals: std::mem::take(&mut self.locals) }
    }

    /// Ends a function: what is its own goes with it.
    pub(super) fn end_function(&mut self, outer: Outer) {
        for (name, hidden) in std::mem::replace(&mut self.locals, outer.locals) {
            self.variables.retain(|known| known.name != name);
            self.variables.extend(hidden);
        }
        self.parameters = outer.parameters;
    }

    /// Returns `$1` and those behind it, where they are known.
    pub(super) fn parameters(&self) -> Option<&[Value]> {
        self.parameters.as_deref()
    }

    pub(super) fn set_parameters(&mut self, parameters: Option<Vec<Value>>) {
        self.parameters = parameters.filter(|_| !self.is_odd("@"));
    }

    /// Notes where a variable's value comes from.
    pub(super) fn note_origin(&mut self, name: &str, origin: Origin) {
        let known = self.is_foreign(name);
        match origin {
            Origin::Elsewhere if !known => self.foreign.push(name.to_owned()),
            Origin::Here if known => self.foreign.retain(|foreign| foreign != name),
            Origin::Elsewhere | Origin::Here => {}
        }
    }

    /// Whether a variable's value may come from elsewhere.
    pub(super) fn is_foreign(&self, name: &str) -> bool {
        self.foreign.iter().any(|foreign| foreign == name)
    }

    fn is_odd(&self, name: &str) -> bool {
        self.odd.iter().any(|odd| odd == name)
    }

    pub(super) fn define(&mut self, function: &str) {
        if !self.defines(function) {
            self.defined.push(function.to_owned());
        }
    }

    pub(super) fn undefine(&mut self, function: &str) {
        self.defined.retain(|known| known != function);
    }

    /// Whether a function is there, whichever way led here.
    pub(super) fn defines(&self, function: &str) -> bool {
        self.defined.iter().any(|known| known == function)
    }

    /// Something that leaves the state `after` may happen at any time from here on.
    pub(super) fn disturb(&mut self, after: &Self) {
        let changed: Vec<String> = after
            .variables
            .iter()
            .filter(|known| self.variable(&known.name) != Some(&known.value))
            .map(|known| known.name.clone())
            .collect();
        for name in changed {
            self.set_apart(&name);
            self.forget(&name);
        }
        if self.parameters != after.parameters {
            self.set_apart("@");
            self.parameters = None;
        }
        if self.cwds != after.cwds {
            self.adrift = true;
            self.enter(Vec::new());
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
        self.adrift |= other.adrift;
        if self.cwds != other.cwds {
            let both = self.cwds.iter().chain(&other.cwds).cloned().collect();
            self.enter(both);
        }
        for variable in &mut self.variables {
            let same = other.variables.iter().find(|known| known.name == variable.name);
            if same.is_none_or(|same| same.value != variable.value) {
                variable.value = Value::unknown();
            }
            if same.is_none_or(|same| same.export != variable.export) {
                variable.export = Export::Kept;
            }
        }
        for variable in &other.variables {
            if self.variable(&variable.name).is_none() {
                self.forget(&variable.name);
            }
        }
        for name in &other.odd {
            self.set_apart(name);
        }
        for name in &other.foreign {
            self.note_origin(name, Origin::Elsewhere);
        }
        self.defined.retain(|name| other.defines(name));
        if self.parameters != other.parameters {
            self.parameters = None;
        }
        self.join_locals(other);
    }

    /// What is the function's own on one way only may be its own or not.
    fn join_locals(&mut self, other: &Self) {
        let unclear = |name: &str| {
            let (name, value) = (name.to_owned(), Value::unknown());
            Some(Variable { name, value, export: Export::Kept })
        };
        for (name, hidden) in &mut self.locals {
            if !other.locals.iter().any(|(known, same)| known == name && same == hidden) {
                *hidden = unclear(name);
            }
        }
        for (name, _) in &other.locals {
            if !self.locals.iter().any(|(known, _)| known == name) {
                self.locals.push((name.clone(), unclear(name)));
            }
        }
    }
}

/// What a function's end puts back.
#[derive(Debug)]
pub(super) struct Outer {
    parameters: Option<Vec<Value>>,
    locals: Vec<(String, Option<Variable>)>,
}

/// Variables that the shell sets itself, whatever they are given.
fn is_special(name: &str) -> bool {
    matches!(
        name,
        "_" | "BASH"
            | "BASHOPTS"
            | "BASHPID"
            | "COLUMNS"
            | "COMPREPLY"
            | "COPROC"
            | "DIRSTACK"
            | "EPOCHREALTIME"
            | "EPOCHSECONDS"
            | "EUID"
            | "FUNCNAME"
            | "GROUPS"
            | "HISTCMD"
            | "LINENO"
            | "LINES"
            | "MAPFILE"
            | "OLDPWD"
            | "PIPESTATUS"
            | "PPID"
            | "PWD"
            | "RANDOM"
            | "SECONDS"
            | "SHELLOPTS"
            | "SHLVL"
            | "SRANDOM"
            | "UID"
    ) || ["BASH_", "COMP_", "READLINE_"].iter().any(|start| name.starts_with(start))
}
