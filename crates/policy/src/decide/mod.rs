//! Deciding: may this call happen?
//!
//! [`Judge::decide`] is pure and the same everywhere: it reads what is asked for, finds every
//! program that would run, every file that would be touched and every host that would be reached,
//! and holds each against the policy. The strictest finding is the verdict.

mod array;
mod builtin;
mod bulk;
mod change;
mod child;
mod concern;
mod default;
mod disk;
mod evaluated;
mod expand;
mod feed;
mod fetched;
mod flow;
mod followed;
mod foreign;
mod format;
mod function;
mod git;
mod guessed;
mod harm;
mod host;
mod implicit;
mod kept;
mod late;
mod launched;
mod matched;
mod mention;
mod moved;
pub(crate) mod notes;
mod ordinary;
mod parameter;
mod path;
mod perform;
mod place;
mod printed;
mod program;
mod recipe;
mod roster;
mod said;
mod scope;
mod sent;
mod sight;
mod simple;
mod sought;
mod speech;
mod split;
mod stray;
mod strict;
mod told;
mod trace;
mod trap;
mod tree;
mod turned;
mod unseen;
mod value;
mod variable;
mod verdict;
mod walk;
mod written;

pub use trace::{Step, Touch};
pub use verdict::{Answer, Axis, Permit, Reason, Verdict};

use serde_json::{Map, Value as Json};

use crate::command::Arg;
use crate::command::tool::Knowledge;
use crate::interception::is_shell;
use crate::jail::{Ground, Lookup, Standing};
use crate::key::Sourced;
use crate::name::{CommandName, ToolPattern};
use crate::permission::{Decision, Names, Permissions, PrefixRules, ShellCall, Spoken, ToolCall};
use crate::policy::{Policy, Preset, Profile, ShellUse};
use crate::shell;
use crate::text::{Span, byte};
use host::Hosts;
use trace::Trace;
use walk::{Input, Walk};

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Call<'c> {
    /// The command.
    pub command: Asked<'c>,
    /// The folder it is to run in, absolute.
    pub cwd: &'c str,
}

/// A command, in one of the two forms in which agents give it.
#[derive(Clone, Copy, Debug)]
pub enum Asked<'c> {
    /// A program and its arguments; no shell is involved.
    Argv(&'c [String]),
    /// Shell text.
    Shell(&'c str),
    /// Words in one text, that are to run without a shell.
    Words(&'c str),
}

/// The tool that runs a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Running<'r> {
    /// The names that it goes by, the whole one first.
    pub(crate) names: &'r [&'r str],
    /// All of its arguments.
    pub(crate) args: &'r Map<String, Json>,
}

/// How a preset decides.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Style {
    /// Source 1: every path in the root, no inline code, no metacharacters, no questions.
    Runner,
    /// Ours: what walls hold may run, what cannot be understood is asked.
    Confined,
}

/// A policy, made ready for deciding. Built once, asked for every call.
#[derive(Clone, Debug)]
pub struct Judge {
    ground: Ground,
    home: Option<String>,
    style: Style,
    denied: Vec<Sourced<CommandName>>,
    interpreters: Vec<Sourced<CommandName>>,
    shell_use: ShellUse,
    network: Hosts,
    knowledge: Knowledge,
    permissions: Permissions,
}

impl Judge {
    /// Makes a policy ready for the project at `root`.
    pub fn new(policy: &Policy, root: &str, home: Option<&str>, lookup: &dyn Lookup) -> Self {
        let style = match policy.preset.value() {
            Preset::Runner => Style::Runner,
            Preset::Confined
            | Preset::AgentaoFullAccess
            | Preset::AgentaoPlan
            | Preset::AgentaoReadOnly
            | Preset::AgentaoWorkspaceWrite => Style::Confined,
        };
        Self {
            ground: Ground::new(policy, root, home, lookup),
            home: home.map(str::to_owned),
            style,
            denied: policy.commands.deny.entries().to_vec(),
            interpreters: policy.commands.interpreters.entries().to_vec(),
            shell_use: policy.commands.shell.value(),
            network: Hosts::new(&policy.network),
            knowledge: Knowledge::Table,
            permissions: Permissions::new(policy),
        }
    }

    /// Decides as if the table of tools had no row for the program that a call begins with, to
    /// measure what is understood of tools that nobody thought of (Ruling 19).
    #[must_use]
    pub fn without_table(mut self) -> Self {
        self.knowledge = Knowledge::Shape;
        self
    }

    /// Returns the project root, free of links.
    pub fn root(&self) -> &str {
        self.ground.root()
    }

    /// Returns where paths lead, and what may be done there.
    pub fn ground(&self) -> &Ground {
        &self.ground
    }

    /// Decides one call.
    pub fn decide(&self, call: &Call<'_>, lookup: &dyn Lookup) -> Verdict {
        self.walk(call, lookup, Trace::Off).0
    }

    /// Decides one call, and tells how.
    pub fn explain(&self, call: &Call<'_>, lookup: &dyn Lookup) -> (Verdict, Vec<Step>) {
        self.walk(call, lookup, Trace::On(Vec::new()))
    }

    /// Returns what one check alone has to say about a call.
    pub fn axis(&self, axis: Axis, call: &Call<'_>, lookup: &dyn Lookup) -> Vec<Reason> {
        let verdict = self.decide(call, lookup);
        verdict.reasons().iter().filter(|reason| reason.axis == axis).cloned().collect()
    }

    /// Decides a tool call in the folder `cwd`: shell text as a command, any other by rules and
    /// mode alone.
    pub fn decide_tool(&self, call: &ToolCall<'_>, cwd: &str, lookup: &dyn Lookup) -> Decision {
        if !is_shell(call.tool) {
            return self.permissions.decide(call);
        }
        let Some(command) = Spoken::of(call.args) else {
            // A shell that is given something else than a command: nobody can tell what it runs.
            return self.permissions.decide(call).at_least(Answer::Ask);
        };
        let asked = Call { command: command.asked(), cwd };
        let text = &asked.text();
        let shell = ShellCall { tools: Names::Only(call.tool), args: call.args, text };
        let mut found = self.start(&asked, lookup, Trace::Off);
        self.find(&mut found, &asked, lookup);
        if self.runs_no_shell() && matches!(asked.command, Asked::Argv(_)) {
            let message = "this tool is a shell, and the policy says that none runs";
            found.refuse("shell-never", Axis::Structure, message.into(), whole(&asked));
        }
        let notes = found.notes.take().unwrap_or_default();
        let profile = self.permissions.profile(&shell, &notes);
        let verdict = self.permissions.settle(&shell, found.reasons, &notes);
        Decision::of(&verdict, call.tool, profile)
    }

    /// Decides one call that the tool of this name makes: rules that allow mean that tool, and rules
    /// that narrow any shell narrow it too.
    pub fn decide_as(&self, tool: &str, call: &Call<'_>, lookup: &dyn Lookup) -> Verdict {
        let running = Running { names: &[tool], args: &Map::new() };
        self.decide_listing(call, running, lookup).0
    }

    /// Returns the profile that the rules pick for a call, made by this tool or else by any shell;
    /// none leaves the policy's own.
    pub fn profile(
        &self,
        tool: Option<&str>,
        call: &Call<'_>,
        lookup: &dyn Lookup,
    ) -> Option<Profile> {
        let mut found = self.start(call, lookup, Trace::Off);
        self.find(&mut found, call, lookup);
        let notes = found.notes.take()?;
        let text = call.text();
        let own = tool.as_slice();
        let tools = if own.is_empty() { Names::AnyShell } else { Names::Runs(own) };
        let shell = ShellCall { tools, args: &Map::new(), text: &text };
        self.permissions.profile(&shell, &notes)
    }

    /// Denies tools for one run, whatever the policy says.
    #[must_use]
    pub fn denying(mut self, tools: impl IntoIterator<Item = ToolPattern>) -> Self {
        self.permissions.inject(tools);
        self
    }

    /// Takes away the floor beneath Agentao's modes. Only a program that embeds this can, and only
    /// for modes: what `confined` denies is not touched.
    #[must_use]
    pub fn without_floor(mut self) -> Self {
        self.permissions.lift_floor();
        self
    }

    fn walk(&self, call: &Call<'_>, lookup: &dyn Lookup, trace: Trace) -> (Verdict, Vec<Step>) {
        let mut walk = self.start(call, lookup, trace);
        self.find(&mut walk, call, lookup);
        let reasons = std::mem::take(&mut walk.reasons);
        let verdict = match walk.notes.take() {
            None => Verdict::of(reasons),
            Some(notes) => {
                let (tools, args) = (Names::AnyShell, &Map::new());
                let shell = ShellCall { tools, args, text: &walk.asked };
                self.permissions.settle(&shell, reasons, &notes)
            }
        };
        (verdict, walk.trace.into_steps())
    }

    /// Decides one call that a tool makes, and returns the words of every command in it.
    pub(crate) fn decide_listing(
        &self,
        call: &Call<'_>,
        tool: Running<'_>,
        lookup: &dyn Lookup,
    ) -> (Verdict, Vec<Vec<String>>) {
        let mut walk = self.start(call, lookup, Trace::Off);
        walk.notes = Some(Box::default());
        walk.asked = call.text();
        self.find_in(&mut walk, call, lookup);
        let notes = walk.notes.take().unwrap_or_default();
        let reasons = std::mem::take(&mut walk.reasons);
        let (tools, args) = (Names::Runs(tool.names), tool.args);
        let shell = ShellCall { tools, args, text: &walk.asked };
        let verdict = self.permissions.settle(&shell, reasons, &notes);
        (verdict, notes.parts.into_iter().map(|part| part.argv).collect())
    }

    /// Returns whether the policy says that no shell runs.
    pub(crate) fn runs_no_shell(&self) -> bool {
        self.shell_use == ShellUse::Never
    }

    /// Returns whether it was told something that its policy does not say.
    pub(crate) fn is_of_one_run(&self) -> bool {
        self.permissions.are_of_one_run()
    }

    /// Decides the same with other places to work in.
    pub(crate) fn on(mut self, ground: &Ground) -> Self {
        self.ground = ground.clone();
        self
    }

    /// Returns whether a rule about hosts allows the address that a tool call names.
    pub(crate) fn allows_address(&self, call: &ToolCall<'_>, address: &str) -> bool {
        self.permissions.allow_address(call, address)
    }

    /// Returns whether rules, a mode or the denials of one run have a say.
    pub(crate) fn has_rules(&self) -> bool {
        !self.permissions.is_silent()
    }

    /// Returns what rules about the first words of commands say; none if they say nothing.
    pub fn judge_prefixes(
        &self,
        rules: &PrefixRules,
        call: &Call<'_>,
        lookup: &dyn Lookup,
    ) -> Option<Answer> {
        let mut walk = self.start(call, lookup, Trace::Off);
        walk.notes = Some(Box::default());
        self.find_in(&mut walk, call, lookup);
        let notes = walk.notes.take().unwrap_or_default();
        rules.judge(&notes, &walk.reasons)
    }

    /// Begins with nothing found. What is begun is large, and made where it stays.
    #[inline(always)]
    fn start<'j>(&'j self, call: &Call<'j>, lookup: &'j dyn Lookup, trace: Trace) -> Walk<'j> {
        Walk::new(self, lookup, (call.cwd, written(call)), trace)
    }

    fn find(&self, walk: &mut Walk<'_>, call: &Call<'_>, lookup: &dyn Lookup) {
        // Where nobody asks for notes, none are taken.
        if !self.permissions.is_silent() {
            walk.notes = Some(Box::default());
            walk.asked = call.text();
        }
        self.find_in(walk, call, lookup);
    }

    fn find_in(&self, walk: &mut Walk<'_>, call: &Call<'_>, lookup: &dyn Lookup) {
        match call.command {
            Asked::Argv(argv) => self.argv(walk, argv),
            Asked::Shell(_) if self.shell_use == ShellUse::Never => {
                let message = "this is shell text, and the policy says that none runs";
                walk.refuse("shell-never", Axis::Structure, message.into(), whole(call));
            }
            Asked::Shell(text) | Asked::Words(text) if is_blank(text) => {
                let message = "there is no command: the text is empty";
                walk.refuse("empty-argv", Axis::Name, message.into(), whole(call));
            }
            Asked::Shell(text) => walk.shell_text(text, &Input::Inherited),
            Asked::Words(text) => walk.words(text),
        }
        walk.uncalled();
        walk.conclude();
        self.working_folder(walk, call, lookup);
    }

    fn argv(&self, walk: &mut Walk<'_>, argv: &[String]) {
        // Each word costs one byte more: a list of empty ones is long too.
        let length = argv.iter().fold(0_usize, |sum, word| sum.saturating_add(word.len() + 1));
        if length > shell::MAX_ARGV {
            let message =
                format!("the arguments are {length} bytes long, the limit is {}", shell::MAX_ARGV);
            return walk.refuse("too-long", Axis::Structure, message, Span::new(0, 0));
        }
        let mut at = 0;
        let mut args = Vec::with_capacity(argv.len());
        for text in argv {
            let span = Span::new(at, at + quoted(text).len());
            at = span.end() + 1;
            if let Err(unparsed) = shell::check_characters(text) {
                walk.refuse(unparsed.code, Axis::Structure, unparsed.message, span);
            }
            args.push(Arg::known(text.as_str(), span));
        }
        if self.style == Style::Runner {
            walk.metacharacters(&args);
        }
        let whole = Span::new(0, at.saturating_sub(1));
        walk.call(&args, whole, &Input::Inherited);
    }

    /// The folder a call is to run in is the caller's to choose, but inside the walls.
    fn working_folder(&self, walk: &mut Walk<'_>, call: &Call<'_>, lookup: &dyn Lookup) {
        if call.cwd == self.ground.root() {
            return;
        }
        let place = self.ground.place(call.cwd, "/", lookup);
        let fine = match (place.standing, self.style) {
            (Standing::Root | Standing::Inside, _)
            | (Standing::Granted | Standing::Temp, Style::Confined) => true,
            (
                Standing::Granted
                | Standing::Temp
                | Standing::Device
                | Standing::Outside(_)
                | Standing::Unknowable(_),
                _,
            ) => false,
        };
        if !fine {
            let message = format!("the working folder `{}` is outside project root", call.cwd);
            walk.report(Reason {
                answer: Answer::Deny,
                code: "cwd-outside",
                axis: Axis::Path,
                message,
                span: whole(call),
                origin: None,
                hint: Some("go to a folder of the project, or name one with --cwd".into()),
            });
        }
    }

    fn home(&self) -> Option<&str> {
        self.home.as_deref()
    }

    /// Returns the policy's line that denies a program by its name.
    fn denied(&self, name: &str) -> Option<&Sourced<CommandName>> {
        if self.denied.is_empty() {
            return None;
        }
        // `mkfs.xfs` is `mkfs`, and on some disks `RM` is `rm`.
        let stem = byte::split_once(name, b'.').map_or(name, |(stem, _)| stem);
        self.denied.iter().find(|entry| {
            let listed = entry.value.as_str();
            name.eq_ignore_ascii_case(listed) || stem.eq_ignore_ascii_case(listed)
        })
    }
}

impl Call<'_> {
    /// Returns the text that spans of reasons point into: the shell text itself, or the arguments
    /// as a person would type them.
    pub fn text(&self) -> String {
        match self.command {
            Asked::Shell(text) | Asked::Words(text) => text.to_owned(),
            Asked::Argv(argv) => {
                let words: Vec<String> = argv.iter().map(|word| quoted(word)).collect();
                words.join(" ")
            }
        }
    }
}

/// Returns whether a text has nothing but blanks. Nearly every one begins with a letter.
fn is_blank(text: &str) -> bool {
    !text.as_bytes().first().is_some_and(u8::is_ascii_graphic) && text.trim().is_empty()
}

/// Returns the text as a person wrote it, where it is shell text.
fn written<'c>(call: &Call<'c>) -> &'c str {
    match call.command {
        Asked::Shell(text) => text,
        Asked::Argv(_) | Asked::Words(_) => "",
    }
}

fn whole(call: &Call<'_>) -> Span {
    Span::new(0, call.text().len())
}

/// Writes a word so that a shell reads it as that word.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests;
