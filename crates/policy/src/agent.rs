//! Agents that Palisade knows: what each needs of a machine to work behind walls.
//!
//! They are files under `policies/agents/`. One holds for an agent that no policy speaks of: it stands
//! below everything that people say, opens the agent's own state and login, and no other's. What in
//! that state is read as a program at the next start stays as it is.

use std::path::Path;
use std::sync::Arc;

use crate::key::{Field as _, Refusals, Sourced, nearest};
use crate::layer::{Layer, Origin, Scope};
use crate::name::{Anchors, Folder, PathPattern};
use crate::policy::{Document, Policy, Profile};
use crate::text::{self, Diagnostic, Node, Source, Span, Value};

/// What is known of one agent.
#[derive(Clone, Debug)]
pub struct AgentPreset {
    /// The name that `--agent` takes.
    pub name: &'static str,
    /// What it is.
    pub about: String,
    /// The programs that are it.
    pub programs: Vec<String>,
    /// How it does one task and ends; `{instructions}` stands for the task.
    pub headless: Vec<String>,
    /// What became of the sandbox it brings itself.
    pub sandbox: String,
    /// Words behind the program that switch that off.
    pub flags: Vec<String>,
    /// Words that take the place of those.
    pub unless: Vec<String>,
    /// Folders that it keeps its state in, and writes.
    pub state: Vec<Sourced<Folder>>,
    /// What else it needs: its login, its hosts, its variables.
    pub policy: Policy,
    /// Built-in entries of what is protected that would keep it from its state.
    lifts: Vec<Sourced<PathPattern>>,
}

macro_rules! texts {
    ($($name:literal),+ $(,)?) => {
        [$(($name, concat!("policies/agents/", $name, ".yaml"),
            include_str!(concat!("../../../policies/agents/", $name, ".yaml")))),+]
    };
}

/// Every text: the agent, the file, and what stands in it.
const TEXTS: [(&str, &str, &str); 11] = texts![
    "aider", "amp", "claude", "codex", "copilot", "cursor", "droid", "gemini", "goose", "opencode",
    "qwen",
];

/// Returns the names of all agents that are known, sorted.
pub fn names() -> impl Iterator<Item = &'static str> {
    TEXTS.iter().map(|(name, ..)| *name)
}

/// Returns the text of the file about an agent.
pub fn text_of(name: &str) -> Option<&'static str> {
    TEXTS.iter().find(|(known, ..)| *known == name).map(|(.., text)| *text)
}

/// Writes what is known of an agent as a policy file that does the same: the text of the file about
/// it, in which what is no policy is a comment.
pub fn as_policy(name: &str) -> Option<String> {
    let text = text_of(name)?;
    let (facts, policy) = text.split_once("\npolicy:\n")?;
    let mut written = String::new();
    for line in facts.lines() {
        let mark = if line.starts_with('#') { "" } else { "# " };
        written.push_str(&format!("{mark}{line}\n"));
    }
    written.push_str(&format!("agents:\n  {name}:\n"));
    let (mut section, mut done) = ("", false);
    for line in policy.lines() {
        if !line.starts_with("   ") {
            section = line.trim();
        }
        // Of everybody's list, which an entry replaces, it keeps the project.
        let opens = section == "files:" && !done;
        let line = match line.trim_start().strip_prefix("write:").filter(|_| opens) {
            Some("") => format!("{line}\n      - \".\""),
            Some(_) => line.replacen("write: [", "write: [\".\", ", 1),
            None => line.to_owned(),
        };
        done |= line.contains("\".\"");
        written.extend(line.lines().map(|line| format!("  {line}\n")));
    }
    Some(written)
}

/// Reads what is known of an agent; nothing if none of that name is.
///
/// # Errors
///
/// When a path of the project or the home cannot be named.
pub fn named(name: &str, anchors: &Anchors) -> Result<Option<AgentPreset>, Vec<Diagnostic>> {
    let Some((name, file, text)) = TEXTS.iter().find(|(known, ..)| *known == name) else {
        return Ok(None);
    };
    let home = anchors.home.clone().unwrap_or_else(|| "/nonexistent".into());
    let anchors = Anchors { root: anchors.root.clone(), home: Some(home) };
    read(name, &Source::new(file, text), &anchors).map(Some)
}

/// Returns where all known agents but one keep their state, which is nobody else's to read: it holds
/// what was said and read in other projects. What two of them share is left out.
///
/// # Errors
///
/// As [`named`].
pub fn states_of_others(
    name: &str,
    anchors: &Anchors,
) -> Result<Vec<(&'static str, Folder)>, Vec<Diagnostic>> {
    let own = named(name, anchors)?.map(|own| own.state).unwrap_or_default();
    let mut others = Vec::new();
    for other in names().filter(|other| *other != name) {
        let Some(preset) = named(other, anchors)? else { continue };
        let folders = preset.state.into_iter().map(|folder| folder.value);
        others.extend(folders.map(|folder| (other, folder)));
    }
    others.retain(|(_, folder)| {
        let theirs = folder.as_pattern();
        let own = own.iter().map(|own| own.value.as_pattern());
        !own.into_iter().any(|own| own.covers(theirs) || theirs.covers(own))
    });
    Ok(others)
}

/// Returns the name that may have been meant: of an agent that is known, or one of `others`.
pub fn meant<'n>(name: &str, others: &[&'n str]) -> Option<&'n str> {
    let mut known: Vec<&'n str> = TEXTS.iter().map(|(name, ..)| *name).collect();
    known.extend(others);
    nearest(name, &known)
}

/// Returns the agent that a program is, by its name alone.
pub fn of_program(program: &str) -> Option<&'static str> {
    let program = program.rsplit('/').next().unwrap_or(program);
    let is = |text: &str| {
        let list = text.lines().find_map(|line| line.strip_prefix("programs: ["));
        let list = list.and_then(|list| list.strip_suffix(']')).unwrap_or_default();
        list.split(", ").any(|known| known == program)
    };
    TEXTS.iter().find(|(_, _, text)| is(text)).map(|(name, ..)| *name)
}

impl AgentPreset {
    /// Returns a command with the words that switch the agent's own sandbox off: one inside another
    /// takes away what the inner one needs, and ours is the one that was asked for.
    pub fn adapted(&self, argv: &[String]) -> Vec<String> {
        let mut words = argv.to_vec();
        let program = argv.first().and_then(|program| program.rsplit('/').next());
        let is_agent = program.is_some_and(|program| self.programs.iter().any(|it| it == program));
        let replaced = argv.iter().skip(1).any(|word| {
            let option = word.split('=').next().unwrap_or(word);
            self.unless.iter().any(|other| other == option)
        });
        if is_agent && !replaced {
            words.splice(1..1, self.flags.iter().cloned());
        }
        words
    }

    /// Returns the names of the variables that switch the agent's own sandbox off.
    pub fn switches(&self) -> impl Iterator<Item = &str> {
        self.policy.env.set.iter().map(|(name, _)| name.as_str()).filter(|name| {
            // Agents name them so.
            name.ends_with("_SANDBOX")
        })
    }

    /// Returns the command that does one task.
    pub fn task(&self, instructions: &str) -> Vec<String> {
        let filled = |word: &String| match word.as_str() {
            "{instructions}" => instructions.to_owned(),
            word => word.to_owned(),
        };
        self.headless.iter().map(filled).collect()
    }

    /// Opens the agent's state in a policy that is otherwise settled. Where that lets nothing be
    /// written, nothing is.
    pub(crate) fn open_state(&self, policy: &mut Policy) {
        let readonly = policy.profile.value() == Profile::Readonly;
        if readonly || policy.files.write.entries().is_empty() {
            return;
        }
        let open = policy.files.write.entries().iter().chain(&self.state);
        let open = open.cloned().collect();
        policy.files.write.replace(open);
    }
}

impl AgentPreset {
    /// Whether a policy names a folder of the agent's state among what may be written.
    pub(crate) fn is_opened_by(&self, policy: &Policy, root: &Path) -> bool {
        let mut named = policy.files.write.values().filter(|folder| folder.path() != root);
        named.any(|folder| self.state.iter().any(|state| state.value == *folder))
    }

    /// Keeps, in a policy that opens the agent's state by name, what is read as a program at its next
    /// start, one by one, and lifts what would keep all of the state from being written.
    pub(crate) fn keep_programs(&self, policy: &mut Policy) {
        let mut own = self.policy.files.protect.entries().to_vec();
        own.retain(|entry| !policy.files.protect.values().any(|known| *known == entry.value));
        policy.files.protect.merge(Refusals::new(own).lifting(self.lifts.clone()));
    }
}

fn read(
    name: &'static str,
    source: &Source,
    anchors: &Anchors,
) -> Result<AgentPreset, Vec<Diagnostic>> {
    let tree = text::parse(source).map_err(|problem| vec![problem])?;
    let missing = |key: &str| {
        let message = format!("`{key}` is missing, or is of another kind");
        vec![Diagnostic::new(source, "agent", message).at(Span::default())]
    };
    let word = |key: &str| {
        let text = tree.find(key).and_then(Node::text);
        text.map(str::to_owned).ok_or_else(|| missing(key))
    };
    let policy = tree.find("policy").ok_or_else(|| missing("policy"))?;
    let mut policy = Document::read(source, policy, Layer::Preset, anchors)?.policy;
    let state = policy.files.write.entries().to_vec();
    policy.files.write = Default::default();
    let origin = Origin {
        scope: Scope::Agent(Arc::from(name)),
        file: Some(source.shared_name()),
        ..Origin::of(Layer::Preset)
    };
    let mut lifted = Vec::new();
    for lift in words(&tree, "lifts") {
        let value = lift.parse::<PathPattern>().and_then(|path| path.anchored(anchors));
        let value = value.map_err(|_| missing("lifts"))?;
        lifted.push(Sourced { value, origin: origin.clone() });
    }
    policy.files.protect.merge(Refusals::new(Vec::new()).lifting(lifted.clone()));
    Ok(AgentPreset {
        name,
        about: word("about")?,
        programs: words(&tree, "programs"),
        headless: words(&tree, "headless"),
        sandbox: word("sandbox")?,
        flags: words(&tree, "flags"),
        unless: words(&tree, "unless"),
        state,
        policy,
        lifts: lifted,
    })
}

fn words(tree: &Node, key: &str) -> Vec<String> {
    match tree.find(key).map(|node| &node.value) {
        Some(Value::List(items)) => {
            items.iter().filter_map(Node::text).map(str::to_owned).collect()
        }
        Some(_) | None => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
