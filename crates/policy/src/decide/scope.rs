//! What is known of the shell's state at one point of a text.

use std::borrow::Cow;
use std::rc::Rc;

use smallvec::SmallVec;

use super::roster::{MOST_NAMES, Named, Room, Roster, fit, merge};
pub(super) use super::value::{Origin, Value};
use crate::command::{HOLE, Holed as _};

/// The working folder, the variables and the parameters, as far as the text itself tells.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Scope {
    /// Every folder that may be the working folder here; with a [`HOLE`] if it cannot be told.
    cwds: SmallVec<[String; 1]>,
    /// By name, in order. They are shared with the states before: most of them never change.
    variables: Vec<Rc<Variable>>,
    /// `$1` and those behind it; none if nobody knows them.
    parameters: Option<Rc<[Value]>>,
    /// Variables that do not become what they are given: `readonly`, `declare -i`, those that a
    /// trap may change at any time.
    odd: Roster,
    /// Variables whose values come from elsewhere: whoever wrote those may have written anything.
    foreign: Roster,
    /// Variables that hold what a file holds.
    pub(super) kept: Roster,
    /// Variables of the function at hand, by name, in order.
    locals: Vec<Local>,
    /// Functions that are defined here, whichever way led here.
    defined: Roster,
    /// Whether something may change the working folder at any time.
    adrift: bool,
    /// Whether there was more of something than is followed, so that some of it is missing.
    crowded: bool,
    /// Whether this point is never reached: the way here passes an `exit`.
    pub(super) ended: bool,
}

#[derive(Clone, Debug, Eq, PartialEq)]
struct Variable {
    name: Rc<str>,
    value: Value,
    export: Export,
}

/// A variable of a function, with what it hides.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Local {
    name: Rc<str>,
    hidden: Option<Rc<Variable>>,
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

/// Longest value that is followed; a longer one is as good as unknown.
pub(super) const LONGEST_VALUE: usize = 4096;

/// Most of `$1` and those behind it that are followed; more are as good as unknown.
const MOST_PARAMETERS: usize = 256;

/// Most working folders that are kept apart; beyond that the folder is not known.
const MOST_CWDS: usize = 4;
/// Longest working folder that is followed.
const LONGEST_CWD: usize = 1024;

impl Scope {
    pub(super) fn new(cwd: &str) -> Self {
        Self { cwds: SmallVec::from_buf([cwd.to_owned()]), ..Self::default() }
    }

    /// Returns what a program that is a shell begins with: what it is given and nothing else.
    pub(super) fn child(&self, given: &[(String, Value)], environment: Environment) -> Self {
        let (cwds, kept) = (self.cwds.clone(), self.kept.clone());
        let mut child = Self { cwds, kept, ..Self::default() };
        for variable in self.variables.iter().filter(|variable| &*variable.name != "IFS") {
            let passed = variable.export == Export::Passed && environment == Environment::Passed;
            let given =
                if passed { Rc::clone(variable) } else { variable.valued(Value::unknown()) };
            child.variables.push(given);
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
        self.cwds = cwds.into();
    }

    pub(super) fn variable(&self, name: &str) -> Option<&Value> {
        self.known(name).map(|known| &known.value)
    }

    pub(super) fn assign(&mut self, name: Cow<'_, str>, mut value: Value) {
        let lost = value.text.len() > LONGEST_VALUE || is_special(&name) || self.is_odd(&name);
        if lost {
            value = Value::unknown();
        }
        match self.place(&name) {
            Ok(at) => self.change(at, |known| known.valued(value)),
            Err(at) => self.insert(at, &name, value, Export::Kept),
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
            if !variable.value.is_unknown() {
                *variable = variable.valued(Value::unknown());
            }
        }
        self.parameters = None;
    }

    /// Gives a variable to programs from here on.
    pub(super) fn export(&mut self, name: &str) {
        match self.place(name) {
            Ok(at) => self.change(at, |known| known.exported(Export::Passed)),
            // What these hold is known without a word.
            Err(_) if matches!(name, "HOME" | "PWD" | "TMPDIR") => {}
            Err(at) => self.insert(at, name, Value::unknown(), Export::Passed),
        }
    }

    /// Takes a variable from programs.
    pub(super) fn keep(&mut self, name: &str) {
        if let Ok(at) = self.place(name) {
            self.change(at, |known| known.exported(Export::Kept));
        }
    }

    /// From here on a variable does not become what it is given.
    pub(super) fn set_apart(&mut self, name: &str) {
        let room = self.odd.add(name);
        self.note(room);
    }

    /// Makes a variable the function's own.
    pub(super) fn localize(&mut self, name: &str) {
        let Err(at) = self.locals.binary_search_by(|known| (*known.name).cmp(name)) else { return };
        let hidden = self.known(name).cloned();
        self.locals.insert(at, Local { name: name.into(), hidden });
        let room = fit(&mut self.locals);
        self.note(room);
    }

    /// Begins a function, and returns what its end needs.
    pub(super) fn begin_function(&mut self, parameters: Option<Vec<Value>>) -> Outer {
        let outer = self.parameters.take();
        self.set_parameters(parameters);
        Outer { parameters: outer, locals: std::mem::take(&mut self.locals) }
    }

    /// Ends a function: what is its own goes with it.
    pub(super) fn end_function(&mut self, outer: Outer) {
        for Local { name, hidden } in std::mem::replace(&mut self.locals, outer.locals) {
            match (self.place(&name), hidden) {
                (Ok(at), Some(hidden)) => self.change(at, |_| hidden),
                (Ok(at), None) => drop(self.variables.remove(at)),
                (Err(at), Some(hidden)) => self.variables.insert(at, hidden),
                (Err(_), None) => {}
            }
        }
        let room = fit(&mut self.variables);
        self.note(room);
        self.parameters = outer.parameters;
    }

    /// Returns `$1` and those behind it, where they are known.
    pub(super) fn parameters(&self) -> Option<&[Value]> {
        self.parameters.as_deref()
    }

    pub(super) fn set_parameters(&mut self, parameters: Option<Vec<Value>>) {
        let followed = |all: &Vec<Value>| all.len() <= MOST_PARAMETERS && !self.is_odd("@");
        self.parameters = parameters.filter(followed).map(Rc::from);
    }

    /// Notes where a variable's value comes from.
    pub(super) fn note_origin(&mut self, name: &str, origin: Origin) {
        match origin {
            Origin::Elsewhere => {
                let room = self.foreign.add(name);
                self.note(room);
            }
            Origin::Here => self.foreign.remove(name),
        }
    }

    /// Whether a variable's value may come from elsewhere.
    pub(super) fn is_foreign(&self, name: &str) -> bool {
        self.foreign.holds(name)
    }

    fn is_odd(&self, name: &str) -> bool {
        self.odd.holds(name)
    }

    pub(super) fn define(&mut self, function: &str) {
        let room = self.defined.add(function);
        self.note(room);
    }

    pub(super) fn undefine(&mut self, function: &str) {
        self.defined.remove(function);
    }

    /// Whether a function is there, whichever way led here.
    pub(super) fn defines(&self, function: &str) -> bool {
        self.defined.holds(function)
    }

    /// Whether there was more of something than is followed.
    pub(super) fn is_crowded(&self) -> bool {
        self.crowded
    }

    /// Something that leaves the state `after` may happen at any time from here on.
    pub(super) fn disturb(&mut self, after: &Self) {
        let changed: Vec<Rc<str>> = after
            .variables
            .iter()
            .filter(|known| self.variable(&known.name) != Some(&known.value))
            .map(|known| Rc::clone(&known.name))
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
        if self.variables != other.variables {
            let mine = std::mem::take(&mut self.variables);
            let only = |their: &Rc<Variable>| Rc::new(Variable::unclear(&their.name));
            self.variables = merge(mine, &other.variables, Variable::meet, only);
        }
        if self.locals != other.locals {
            let mine = std::mem::take(&mut self.locals);
            let only = |their: &Local| Local::unclear(&their.name);
            self.locals = merge(mine, &other.locals, Local::meet, only);
        }
        self.defined.intersect(&other.defined);
        let rooms = [
            fit(&mut self.variables),
            fit(&mut self.locals),
            self.odd.unite(&other.odd),
            self.foreign.unite(&other.foreign),
            self.kept.unite(&other.kept),
        ];
        rooms.into_iter().for_each(|room| self.note(room));
        self.crowded |= other.crowded;
        if self.parameters != other.parameters {
            self.parameters = None;
        }
    }

    fn place(&self, name: &str) -> Result<usize, usize> {
        self.variables.binary_search_by(|known| (*known.name).cmp(name))
    }

    fn known(&self, name: &str) -> Option<&Rc<Variable>> {
        self.place(name).ok().and_then(|at| self.variables.get(at))
    }

    fn change(&mut self, at: usize, changed: impl FnOnce(&Variable) -> Rc<Variable>) {
        if let Some(known) = self.variables.get_mut(at) {
            *known = changed(known);
        }
    }

    fn insert(&mut self, at: usize, name: &str, value: Value, export: Export) {
        if self.variables.len() < MOST_NAMES {
            self.variables.insert(at, Rc::new(Variable { name: name.into(), value, export }));
        } else {
            self.crowded = true;
        }
    }

    fn note(&mut self, room: Room) {
        self.crowded |= room == Room::None;
    }
}

impl Variable {
    /// One of which no more is known than its name.
    fn unclear(name: &Rc<str>) -> Self {
        Self { name: Rc::clone(name), value: Value::unknown(), export: Export::Kept }
    }

    fn valued(&self, value: Value) -> Rc<Self> {
        Rc::new(Self { name: Rc::clone(&self.name), value, export: self.export })
    }

    fn exported(&self, export: Export) -> Rc<Self> {
        Rc::new(Self { export, ..self.clone() })
    }

    /// What differs on another way is not known after.
    fn meet(self: Rc<Self>, other: Option<&Rc<Self>>) -> Rc<Self> {
        let same = other.filter(|other| other.value == self.value);
        let export = match other {
            Some(other) if other.export == self.export => self.export,
            Some(_) | None => Export::Kept,
        };
        if export == self.export && (same.is_some() || self.value.is_unknown()) {
            return self;
        }
        let value = same.map_or_else(Value::unknown, |same| same.value.clone());
        Rc::new(Self { name: Rc::clone(&self.name), value, export })
    }
}

impl Local {
    /// What it hides may be anything.
    fn unclear(name: &Rc<str>) -> Self {
        Self { name: Rc::clone(name), hidden: Some(Rc::new(Variable::unclear(name))) }
    }

    /// What is the function's own on one way only may be its own or not.
    fn meet(self, other: Option<&Self>) -> Self {
        if other == Some(&self) { self } else { Self::unclear(&self.name) }
    }
}

impl Named for Rc<Variable> {
    fn name(&self) -> &str {
        &self.name
    }
}

impl Named for Local {
    fn name(&self) -> &str {
        &self.name
    }
}

/// What a function's end puts back.
#[derive(Debug)]
pub(super) struct Outer {
    parameters: Option<Rc<[Value]>>,
    locals: Vec<Local>,
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
