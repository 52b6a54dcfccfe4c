//! The section `sandboxing:`.

use super::whole::{anywhere, unanchored};
use super::{Interception, SECTION};
use crate::builtin::BuiltIn;
use crate::dialect::{Input, Reading, Surroundings, settled};
use crate::key::{Grants, Guard, Levels, Line, Reader, Replaceable, Setting, Sourced};
use crate::name::Found;
use crate::policy::{Document, ToolRegex, Tools};
use crate::text::{Diagnostic, Entry, Node, Value};

/// Every key of the section.
const KEYS: [&str; 7] = [
    "enabled",
    "strict_mode",
    "allow_parent_access",
    "custom_tool_patterns",
    "excluded_tools",
    "default_tool_patterns",
    "path_parameter_names",
];

/// Returns whether the section of a file switches interception on or off.
pub(super) fn switch(tree: &Node) -> Option<bool> {
    match tree.find(SECTION)?.find("enabled")?.value {
        Value::Bool(on) => Some(on),
        Value::List(_) | Value::Map(_) | Value::Null | Value::Number(_) | Value::Text(_) => None,
    }
}

/// Reads one file; its other sections are not ours.
///
/// # Errors
///
/// Every problem of the section, in its order.
pub(super) fn read(
    input: &Input<'_>,
    tree: &Node,
    around: &Surroundings<'_>,
    interception: Interception,
) -> Result<Reading, Vec<Diagnostic>> {
    let mut cx = Reader::new(input.source, around.anchors, input.layer);
    let mut document = Document::default();
    if cx.map(tree).is_some() {
        match tree.find(SECTION) {
            Some(section) => {
                let ours = BuiltIn::read(around.anchors)?.policy().tools.clone();
                let mut lowering = Lowering { cx: &mut cx, ours, interception };
                document.policy.tools = lowering.tools(section);
            }
            None => {
                let message = format!("there is no section `{SECTION}` in this file");
                let note = Diagnostic::new(input.source, "no-section", message).warning();
                cx.report(note.hint("without it the proxy intercepts no tool call"));
            }
        }
    }
    Ok(Reading { layer: input.layer, document, notes: settled(cx.into_problems())? })
}

/// Where in a tool's name a pattern is looked for.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Reach {
    Anywhere,
    Whole,
}

/// The section on its way to becoming `tools`.
struct Lowering<'c, 'a> {
    cx: &'c mut Reader<'a>,
    /// What the built-in policy says of tools.
    ours: Tools,
    interception: Interception,
}

impl Lowering<'_, '_> {
    fn tools(&mut self, section: &Node) -> Tools {
        let mut tools = Tools::default();
        let (mut defaults, mut custom) = (None, Vec::new());
        for entry in self.cx.map(section).unwrap_or_default() {
            match &*entry.key {
                "enabled" => {
                    if let Some(Sourced { value, origin }) = self.switch(entry) {
                        tools.enabled = Setting::new(Sourced { value: Guard(value), origin });
                    }
                }
                "strict_mode" => {
                    if let Some(Sourced { value, origin }) = self.idle_switch(entry) {
                        tools.strict = Setting::new(Sourced { value: Guard(value), origin });
                    }
                }
                "allow_parent_access" => {
                    if let Some(Sourced { value, origin }) = self.idle_switch(entry) {
                        let value = Levels(u8::from(value));
                        tools.allow_parent = Setting::new(Sourced { value, origin });
                    }
                }
                "custom_tool_patterns" => {
                    custom = self.patterns(entry, Reach::Anywhere).unwrap_or_default();
                }
                "excluded_tools" => {
                    let excluded = self.patterns(entry, Reach::Whole).unwrap_or_default();
                    tools.exclude = Grants::new(excluded);
                }
                "default_tool_patterns" => {
                    defaults = self.patterns(entry, Reach::Whole).map(|list| (entry, list));
                }
                "path_parameter_names" => tools.path_parameters = self.parameters(entry),
                _ => self.cx.unknown_key(entry, &KEYS),
            }
        }
        tools.patterns = match defaults {
            Some((entry, defaults)) => self.replaced(entry, defaults, custom),
            None => Replaceable::new(custom),
        };
        tools
    }

    /// Reads `default_tool_patterns`, which stands in place of the built-in list.
    fn replaced(
        &mut self,
        entry: &Entry,
        defaults: Vec<Sourced<ToolRegex>>,
        custom: Vec<Sourced<ToolRegex>>,
    ) -> Replaceable<ToolRegex> {
        let kept: Vec<&ToolRegex> = defaults.iter().chain(&custom).map(|e| &e.value).collect();
        if kept.is_empty() {
            let message = "there is no pattern left, so no tool would be intercepted".into();
            let problem = self.cx.complaint("no-patterns", message, entry.value.span);
            self.cx.report(match self.interception {
                Interception::On => problem.hint("take `default_tool_patterns` out, or fill it"),
                // The flag may still switch it on, and then this list must not be empty.
                Interception::Off => problem.warning().hint("the built-in list stays"),
            });
            return Replaceable::default();
        }
        let dropped: Vec<String> = self
            .ours
            .patterns
            .values()
            .filter(|tool| !kept.iter().any(|kept| includes(kept, tool)))
            .map(ToString::to_string)
            .collect();
        let same = defaults.len() == self.ours.patterns.entries().len()
            && self.ours.patterns.values().all(|tool| defaults.iter().any(|e| e.value == *tool));
        if same {
            return Replaceable::new(custom);
        }
        self.note_dropped(entry, "tools", &dropped);
        let said = self.cx.origin(entry.value.span);
        Replaceable::replacing(defaults.into_iter().chain(custom).collect(), said)
    }

    /// Reads `path_parameter_names`, which stands in place of the built-in list.
    fn parameters(&mut self, entry: &Entry) -> Replaceable<Line> {
        let mut names = Vec::new();
        let Some(items) = self.items(entry) else { return Replaceable::default() };
        if items.is_empty() {
            let message = format!("`{SECTION}.{}` is empty: no path would be seen", entry.key);
            let problem = self.cx.complaint("empty-list", message, entry.value.span);
            self.cx.report(problem.hint("leave the key out to keep the built-in names"));
        }
        for (text, node) in items {
            if text.trim().is_empty() || text.chars().any(char::is_control) {
                let what = "a parameter's name, not blank";
                self.wrong::<()>(entry, what, node);
            } else {
                names.push(Sourced { value: Line(text.into()), origin: self.cx.origin(node.span) });
            }
        }
        let dropped: Vec<String> = self
            .ours
            .path_parameters
            .values()
            .filter(|name| !names.iter().any(|kept| kept.value == **name))
            .map(|name| name.0.to_string())
            .collect();
        self.note_dropped(entry, "parameters", &dropped);
        Replaceable::replacing(names, self.cx.origin(entry.value.span))
    }

    fn note_dropped(&mut self, entry: &Entry, what: &str, dropped: &[String]) {
        if !dropped.is_empty() {
            let message = format!(
                "`{SECTION}.{}` drops {what} of the built-in list: {}",
                entry.key,
                dropped.join(", ")
            );
            let note = self.cx.complaint("shortened", message, entry.key_span).warning();
            self.cx.report(note.hint("what is not listed is not watched any more"));
        }
    }

    /// Reads a list of tools. The proxy looks for its patterns anywhere in a name. What adds to the
    /// tools that are watched does so here too; elsewhere a pattern stands for the whole name, and
    /// where that may differ the author is told. None if any of them is broken.
    fn patterns(&mut self, entry: &Entry, reach: Reach) -> Option<Vec<Sourced<ToolRegex>>> {
        let (mut patterns, mut partial) = (Vec::new(), Vec::new());
        let items = self.items(entry)?;
        let wanted = items.len();
        for (text, node) in items {
            let whole = unanchored(text);
            self.cx.count_regex(node)?;
            let parsed = whole.unwrap_or(text).parse::<ToolRegex>();
            let parsed = parsed.and_then(|value| match (reach, whole) {
                (Reach::Anywhere, None) => anywhere(text).parse(),
                (Reach::Anywhere | Reach::Whole, _) => Ok(value),
            });
            match parsed {
                Ok(value) => {
                    let known = self.ours.patterns.values().any(|tool| includes(&value, tool));
                    let differs = reach == Reach::Whole && whole.is_none();
                    if differs && !known && !text.contains(".*") {
                        partial.push(value.to_string());
                    }
                    patterns.push(Sourced { value, origin: self.cx.origin(node.span) });
                }
                Err(invalid) => {
                    let message = format!("`{SECTION}.{}`: {}", entry.key, invalid.problem());
                    let problem = self.cx.complaint(invalid.code(), message, node.span);
                    self.cx.report(match invalid.hint() {
                        Some(hint) => problem.hint(hint),
                        None => problem,
                    });
                }
            }
        }
        if !partial.is_empty() {
            let names = partial.join(", ");
            let message = format!("`{SECTION}.{}` stands for whole names here: {names}", entry.key);
            let note = self.cx.complaint("whole-names", message, entry.key_span).warning();
            self.cx.report(note.hint("write `.*name.*` for every tool with `name` in its name"));
        }
        (patterns.len() == wanted).then_some(patterns)
    }

    /// Reads a switch that only counts while calls are intercepted.
    fn idle_switch(&mut self, entry: &Entry) -> Option<Sourced<bool>> {
        let switch = self.switch(entry)?;
        if switch.value && self.interception == Interception::Off {
            let message = format!("`{SECTION}.{}` does nothing while it is off", entry.key);
            let note = self.cx.complaint("idle-switch", message, entry.key_span).warning();
            self.cx.report(note.hint("write `enabled: true` as well"));
        }
        Some(switch)
    }

    fn switch(&mut self, entry: &Entry) -> Option<Sourced<bool>> {
        match entry.value.value {
            Value::Bool(value) => Some(Sourced { value, origin: self.cx.origin(entry.value.span) }),
            Value::List(_) | Value::Map(_) | Value::Null | Value::Number(_) | Value::Text(_) => {
                self.wrong(entry, "true or false", &entry.value)
            }
        }
    }

    /// Returns the texts of a list; none if it is no list, or has anything else in it.
    fn items<'n>(&mut self, entry: &'n Entry) -> Option<Vec<(&'n str, &'n Node)>> {
        let Value::List(items) = &entry.value.value else {
            return self.wrong(entry, "a list of text", &entry.value);
        };
        let mut texts = Some(Vec::new());
        for item in items {
            match item.text() {
                Some(text) => texts.iter_mut().for_each(|texts| texts.push((text, item))),
                None => texts = self.wrong(entry, "text", item),
            }
        }
        texts
    }

    /// Complains about a value of another kind, and names its key.
    fn wrong<T>(&mut self, entry: &Entry, what: &str, found: &Node) -> Option<T> {
        self.cx.wrong_type(&format!("{SECTION}.{}", entry.key), what, found)
    }
}

/// Returns whether a pattern stands for everything that a built-in one stands for; of those, each
/// spells one name.
fn includes(pattern: &ToolRegex, ours: &ToolRegex) -> bool {
    pattern == ours || pattern.matches(&ours.to_string().replace('\\', "")) == Found::Yes
}
