//! Tool calls: what stands in their arguments, and may it happen?
//!
//! A model asks for a tool by its name and hands over arguments as JSON. [`Interception::judge`]
//! finds every path, patch and command in them, wherever it stands and however it is spelled, and
//! holds each against the policy. The strictest finding is the verdict. It is the same for hooks,
//! for MCP and for the proxy; [`Door`] tells them apart.
//!
//! | Module | Question it answers |
//! | --- | --- |
//! | `tool` | Whose arguments are looked at? |
//! | `arguments` | What stands in them? |
//! | `parameter`, `spelling` | What does a parameter hold? |
//! | `path` | Which paths may a text mean? |
//! | `command` | Which commands stand in them? |
//! | `walk`, `remembered` | May all of that happen? |
//! | `danger`, `danger_rules` | Which commands are called dangerous? |
//! | `verdict` | How is it told? |
//! | `access` | Which tools may a model and an agent use? |
//! | `order` | Who is asked first? |

mod access;
mod arguments;
mod command;
mod danger;
mod danger_rules;
mod order;
mod parameter;
mod path;
mod remembered;
mod spelling;
mod tool;
mod verdict;
mod walk;

#[cfg(test)]
mod tests;

pub use access::{Access, AccessPolicies, AccessPolicy, DefaultAccess, User};
pub use arguments::MAX_TEXT;
pub use danger::Dangers;
pub use order::{Stage, Turn};
pub use tool::UnknownTool;
pub(crate) use tool::is_shell;
pub use verdict::{Finding, Outcome, ToolVerdict, Violation};

use std::sync::OnceLock;

use serde_json::{Map, Value as Json};

use crate::decide::{Answer, Axis, Judge};
use crate::effort::{Counted, Effort};
use crate::jail::{Ground, Lookup, WindowsRoot};
use crate::key::{Grants, Sourced};
use crate::layer::{Layer, Origin};
use crate::permission::{Decision, Nature, Source, ToolCall};
use crate::policy::{Policy, Preset, Tools};
use crate::text::visible;
use arguments::Arguments;
use parameter::Parameters;
use remembered::Remembered;
use tool::{Attention, Sort};
use walk::{Aim, Strictness, Walk, reason};

/// A tool call, as a model makes it.
#[derive(Clone, Copy, Debug)]
pub struct Call<'c> {
    /// The tool's name.
    pub tool: &'c str,
    /// Its arguments, as JSON.
    pub arguments: &'c str,
    /// The folder in which the tool works, absolute.
    pub cwd: &'c str,
}

/// Where a call is judged (Ruling 31).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Door {
    /// In a hook or an MCP server: always, and strictly.
    Hook,
    /// In the proxy: if `tools.enabled`, strictly if `tools.strict`, and by the rules about
    /// dangerous commands as well.
    Proxy,
}

/// A policy about tool calls, made ready. Built once, asked for every call.
#[derive(Clone, Debug)]
pub struct Interception {
    tools: Tools,
    /// Made when the first call is judged: who decides commands alone has no use for it.
    parameters: OnceLock<Parameters>,
    /// Decides where a folder above the root counts as inside.
    widened: Option<Box<Judge>>,
    /// Whether the preset is a mode, which has a say about every tool.
    mode: Mode,
    /// The root, if the project lies on Windows.
    windows: Option<WindowsRoot>,
    /// Compiled when the first command is judged.
    dangers: OnceLock<Dangers>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Mode {
    None,
    Some,
}

/// One thing that was looked at.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Seen {
    /// What it is.
    pub what: What,
    /// The JSON pointer of the parameter.
    pub pointer: String,
    /// Its text.
    pub text: String,
    /// What was decided about it.
    pub answer: Answer,
}

/// What was looked at.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum What {
    /// A path, or several.
    Path,
    /// A patch.
    Patch,
    /// A command.
    Command,
}

impl Interception {
    /// Makes a policy ready for the project at `root`.
    pub fn new(policy: &Policy, root: &str, home: Option<&str>, lookup: &dyn Lookup) -> Self {
        let mode = match policy.preset.value() {
            Preset::Confined | Preset::Runner => Mode::None,
            Preset::AgentaoFullAccess
            | Preset::AgentaoPlan
            | Preset::AgentaoReadOnly
            | Preset::AgentaoWorkspaceWrite => Mode::Some,
        };
        let levels = policy.tools.allow_parent.value().0;
        let wider = if levels == 0 {
            None
        } else {
            // The way to the home folder may be a link; the grant would be read without it.
            let ground = Ground::new(policy, root, home, lookup);
            let real = home.map(|home| ground.place(home, "/", lookup).path);
            let homes: Vec<&str> = home.into_iter().chain(real.as_deref()).collect();
            above(ground.root(), &homes, levels)
        };
        Self {
            tools: policy.tools.clone(),
            parameters: OnceLock::new(),
            widened: wider.and_then(|folder| {
                let mut policy = policy.clone();
                let mut write = policy.files.write.entries().to_vec();
                let origin = Origin::of(Layer::BuiltIn);
                write.push(Sourced { value: folder.parse().ok()?, origin });
                policy.files.write = Grants::new(write);
                Some(Box::new(Judge::new(&policy, root, home, lookup)))
            }),
            mode,
            windows: None,
            dangers: OnceLock::new(),
        }
    }

    /// Judges as for a project on Windows, by its text: without case, with `/` for `\`, with drives
    /// and shares. Policy, judge and calls are then to be made for [`WindowsRoot::folder`].
    #[must_use]
    pub fn on_windows(mut self, root: WindowsRoot) -> Self {
        self.windows = Some(root);
        self
    }

    fn parameters(&self) -> &Parameters {
        self.parameters.get_or_init(|| Parameters::new(&self.tools))
    }

    /// Decides one call.
    pub fn judge(
        &self,
        call: &Call<'_>,
        door: Door,
        judge: &Judge,
        lookup: &dyn Lookup,
    ) -> ToolVerdict {
        self.decide(call, door, judge, lookup, None).0
    }

    /// Decides one call, and tells everything that was looked at.
    pub fn explain(
        &self,
        call: &Call<'_>,
        door: Door,
        judge: &Judge,
        lookup: &dyn Lookup,
    ) -> (ToolVerdict, Vec<Seen>) {
        let (verdict, seen) = self.decide(call, door, judge, lookup, Some(Vec::new()));
        (verdict, seen.unwrap_or_default())
    }

    fn decide(
        &self,
        call: &Call<'_>,
        door: Door,
        judge: &Judge,
        lookup: &dyn Lookup,
        seen: Option<Vec<Seen>>,
    ) -> (ToolVerdict, Option<Vec<Seen>>) {
        let mut verdict = ToolVerdict {
            answer: Answer::Allow,
            outcome: Outcome::Disabled,
            findings: Vec::new(),
            passed: Vec::new(),
            tool: String::new(),
            root: String::new(),
        };
        if door == Door::Proxy && !self.tools.enabled.value().0 {
            return (verdict, seen);
        }
        let strict = door == Door::Hook || self.tools.strict.value().0;
        let strictness = if strict { Strictness::Strict } else { Strictness::Lenient };
        let attention = tool::attention(&self.tools, call.tool);
        let aim = match attention {
            Attention::Intercepted(sort) => Aim::Change(sort),
            Attention::Excluded | Attention::Reads | Attention::Harmless | Attention::Unknown => {
                Aim::Read
            }
        };
        let held;
        let judge = match self.widened.as_deref() {
            None => judge,
            Some(wider) if !judge.is_of_one_run() => wider,
            Some(wider) => {
                held = judge.clone().on(wider.ground());
                &held
            }
        };
        let effort = Effort::of_one_call();
        let counted = Counted { disk: lookup, effort: &effort };
        let lookup: &dyn Lookup = &Remembered::new(&counted);
        let names = tool::names(call.tool);
        let names: Vec<&str> = names.iter().map(|name| &**name).collect();
        let empty = Map::new();
        let ruled = if judge.has_rules() { ruled(call.arguments, aim) } else { Some(Map::new()) };
        let mut walk = Walk {
            judge,
            lookup,
            parameters: self.parameters(),
            dangers: (door == Door::Proxy).then_some(&self.dangers),
            strictness,
            aim,
            names: &names,
            args: ruled.as_ref().unwrap_or(&empty),
            cwd: call.cwd,
            windows: self.windows.as_ref(),
            folders: other_root(judge.root(), call.cwd),
            effort: &effort,
            found: None,
            findings: Vec::new(),
            passed: Vec::new(),
            judged: 0,
            commands: 0,
            patches: 0,
            seen,
        };
        verdict.outcome = self.look(&mut walk, call, attention);
        // The proxy leaves alone what it does not intercept.
        if door == Door::Hook && attention != Attention::Excluded {
            walk.hosts(call.arguments);
        }
        if attention != Attention::Excluded && ruled.is_none() {
            let message = "there are rules about arguments, and these cannot be read".to_owned();
            let unreadable = reason("arguments-unreadable", Axis::Rule, message);
            walk.refuse(unreadable, String::new(), call.tool, None);
        } else if attention != Attention::Excluded {
            self.apply_rules(&mut walk, call, judge, lookup);
        }
        let is_shell = attention != Attention::Excluded && is_shell(call.tool);
        if is_shell && judge.runs_no_shell() && !walk.has("shell-never") {
            let message = "this tool is a shell, and the policy says that none runs".to_owned();
            let never = reason("shell-never", Axis::Structure, message);
            walk.refuse(never, String::new(), call.tool, None);
        }
        if effort.is_spent() {
            let message = "the call holds more than can be judged at once".to_owned();
            let too_many = reason("arguments-too-many", Axis::Structure, message);
            walk.refuse(too_many, String::new(), call.tool, None);
        }
        walk.sorted();
        verdict.answer =
            walk.findings.first().map_or(Answer::Allow, |finding| finding.reason.answer);
        verdict.findings = walk.findings;
        verdict.passed = walk.passed;
        verdict.tool = call.tool.to_owned();
        verdict.root = self.windows.as_ref().map_or(judge.root(), WindowsRoot::text).to_owned();
        (verdict, walk.seen)
    }

    fn look(&self, walk: &mut Walk<'_>, call: &Call<'_>, attention: Attention) -> Outcome {
        match attention {
            Attention::Excluded => return Outcome::Excluded,
            Attention::Harmless => {
                walk.files_at_addresses(call.arguments);
                return Outcome::NotIntercepted;
            }
            Attention::Unknown => {
                let message = format!("the tool `{}` is not known", visible(call.tool));
                let mut unknown = reason("tool-unknown", Axis::Name, message);
                let hint = "add it to tools.patterns if it takes paths or commands, to tools.exclude if not";
                unknown.hint = Some(hint.to_owned());
                walk.doubt(unknown, String::new(), call.tool);
                return Outcome::NotIntercepted;
            }
            Attention::Reads => {
                walk.text(call.arguments);
                return Outcome::NotIntercepted;
            }
            Attention::Intercepted(_) => walk.text(call.arguments),
        }
        let is_shell = walk.aim == Aim::Change(Sort::Shell);
        let applies = walk.aim == Aim::Change(Sort::Patch) && tool::applies(call.tool);
        let (found, hint) = if is_shell {
            (walk.commands, "name it in a parameter such as `command`")
        } else if applies {
            // A path tells where a patch lies or what it is for, and not what it does.
            (walk.patches, "put its text into a parameter such as `patch`")
        } else {
            (walk.judged, "name the file in a parameter such as `path`")
        };
        if found > 0 || !walk.findings.is_empty() {
            return Outcome::Judged;
        }
        let mut nothing = if is_shell {
            reason("no-paths", Axis::Path, "the call names no command".to_owned())
        } else if applies {
            reason("no-patch", Axis::Path, "the call holds no patch".to_owned())
        } else {
            let message = "the call names no path, no patch and no command".to_owned();
            reason("no-paths", Axis::Path, message)
        };
        nothing.hint = Some(hint.to_owned());
        walk.doubt(nothing, String::new(), call.tool);
        Outcome::NothingFound
    }

    /// Holds a call against the rules of the policy. Commands have been held against them already.
    fn apply_rules(
        &self,
        walk: &mut Walk<'_>,
        call: &Call<'_>,
        judge: &Judge,
        lookup: &dyn Lookup,
    ) {
        let is_command = walk.aim == Aim::Change(Sort::Shell) && walk.commands > 0;
        if is_command || !judge.has_rules() {
            return;
        }
        for (at, name) in walk.names.iter().enumerate() {
            let asked = ToolCall { tool: name, args: walk.args, nature: Nature::of(name) };
            let decision = judge.decide_tool(&asked, call.cwd, lookup);
            let is_ruled = match decision.source {
                Source::Hardline | Source::Injected | Source::UserRule => true,
                // Where neither rule nor mode speaks, what was found in the arguments is all there
                // is; and a mode speaks of the tool by its whole name.
                Source::ModePreset => false,
            };
            let speaks = is_ruled || at == 0 && self.mode == Mode::Some;
            if decision.answer != Answer::Allow && speaks {
                walk.refuse(by(decision), String::new(), call.tool, None);
            }
            // Who writes rules about one server's tool means that one.
            if is_ruled {
                break;
            }
        }
    }
}

impl What {
    /// Returns the word that programs read.
    pub fn word(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Patch => "patch",
            Self::Command => "command",
        }
    }
}

/// Returns the arguments that rules are held against; none if programs may read different ones.
fn ruled(arguments: &str, aim: Aim) -> Option<Map<String, Json>> {
    let is_json = arguments.trim_start().starts_with(['{', '[', '"']);
    if arguments.trim().is_empty() || aim == Aim::Change(Sort::Shell) && !is_json {
        return Some(Map::new());
    }
    let inner: Option<String> = serde_json::from_str(arguments).ok();
    let arguments = inner.as_deref().unwrap_or(arguments);
    if Arguments::read(arguments).fault.is_some() {
        return None;
    }
    serde_json::from_str(arguments).ok()
}

/// The reason that a decision of the rules is.
fn by(decision: Decision) -> crate::decide::Reason {
    let Decision { answer, tag, justification, origin, .. } = decision;
    let message = match justification {
        Some(why) => format!("{tag}: {why}"),
        None => format!("{tag} says so"),
    };
    crate::decide::Reason { answer, origin, ..reason("rule", Axis::Rule, message) }
}

/// Relative paths start in the folder of the call; some tools have them start in the root.
fn other_root(root: &str, cwd: &str) -> Vec<String> {
    if cwd == root { Vec::new() } else { vec![root.to_owned()] }
}

/// Returns the folder some levels above the root, but neither `/` nor the home folder, nor what
/// holds it; none if there is no such folder.
fn above(root: &str, homes: &[&str], levels: u8) -> Option<String> {
    let holds_home = |folder: &str| {
        let mut below = homes.iter().filter_map(|home| home.strip_prefix(folder));
        below.any(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let mut found = None;
    let mut folder = root.trim_end_matches('/');
    for _ in 0..levels {
        folder = folder.rsplit_once('/').map_or("", |(parent, _)| parent);
        if folder.is_empty() || holds_home(folder) {
            break;
        }
        found = Some(folder.to_owned());
    }
    found
}
