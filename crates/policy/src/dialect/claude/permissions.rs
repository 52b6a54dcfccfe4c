//! The `permissions` section: rules of the form `Tool` and `Tool(specifier)`.

use super::super::Surroundings;
use super::super::srt::domain;
use super::super::srt::lower::items;
use super::super::srt::schema::note;
use super::command::Specifier;
use super::{Asks, Managed, path, sandbox};
use crate::dialect::glob;
use crate::key::{Field as _, Reader, Refusals, RuleLists, Setting, Sourced};
use crate::name::{PathPattern, WideHost};
use crate::policy::{Action, Policy, Profile};
use crate::text::{Entry, Node, Span, Value, visible};

/// Tools that carry a shell's text as `command`.
const SHELLS: &str = "Bash|bash|shell|run_shell_command";
/// Tools that read, and tools that edit, each with the argument that holds the path.
const READERS: [(&str, &str); 2] = [("Read", "file_path"), ("Grep|Glob|LS", "path")];
const EDITORS: [(&str, &str); 2] =
    [("Edit|Write|MultiEdit", "file_path"), ("NotebookEdit", "notebook_path")];

pub(super) fn lower(
    node: &Node,
    (managed, asks): (&Managed, Asks),
    around: &Surroundings<'_>,
    policy: &mut Policy,
    cx: &mut Reader<'_>,
) {
    let mut list = List { rules: Vec::new(), around, policy, cx };
    for (key, action) in [("deny", Action::Deny), ("ask", Action::Ask), ("allow", Action::Allow)] {
        let said = node.find(key);
        if action == Action::Allow && managed.rules.leaves_out(said, list.cx) {
            continue;
        }
        let action = match (action, asks) {
            (Action::Ask, Asks::Never) => Action::Deny,
            (Action::Allow | Action::Ask | Action::Deny, _) => action,
        };
        for item in items(said) {
            list.take(item, action);
        }
    }
    if let Some(mode) = node.find("defaultMode") {
        list.take_mode(mode);
    }
    let rules = Node { value: Value::List(list.rules), span: node.span };
    if !items(Some(&rules)).is_empty() {
        policy.commands.rules = RuleLists::read(&rules, cx).unwrap_or_default();
    }
    if let Some(more) = node.find("additionalDirectories") {
        let folders = sandbox::directories(more, around, cx);
        sandbox::add_writable(folders, more, managed, around, policy, cx);
    }
}

/// The rules of one file while they are read, in the order in which they count.
struct List<'l, 'a, 's> {
    rules: Vec<Node>,
    around: &'l Surroundings<'s>,
    policy: &'l mut Policy,
    cx: &'l mut Reader<'a>,
}

impl List<'_, '_, '_> {
    fn take(&mut self, item: &Node, action: Action) {
        let Some(text) = item.text().map(str::trim) else { return };
        let (tool, specifier) = match text.split_once('(') {
            None => (text, None),
            Some((tool, rest)) => match rest.strip_suffix(')') {
                Some(specifier) => (tool, Some(specifier)),
                None => ("", None),
            },
        };
        if tool.is_empty() || !tool.chars().all(is_of_name) {
            let message = format!("`{}` is not a permission rule", visible(text));
            let problem = self.cx.complaint("claude-rule", message, item.span);
            self.cx.report(problem.expected("expected `Tool` or `Tool(specifier)`"));
            return;
        }
        match (tool, specifier) {
            ("Bash", specifier) => self.bash(item, specifier.unwrap_or("*"), action),
            ("Read" | "Edit", Some(specifier)) => self.file(item, tool, specifier, action),
            ("WebFetch", Some(specifier)) => self.fetch(item, specifier, action),
            ("Agent" | "Task", Some(name)) => {
                self.push(item, "Agent|Task", &[("subagent_type", &exactly(name))], action);
            }
            (_, None) => self.tool(item, tool, action),
            (_, Some(specifier)) => self.other(item, tool, specifier, action),
        }
    }

    fn bash(&mut self, item: &Node, specifier: &str, action: Action) {
        let specifier = Specifier::new(specifier);
        if specifier == Specifier::Every {
            return self.push(item, SHELLS, &[], action);
        }
        let expression = match action {
            Action::Allow => specifier.allowing(),
            Action::Ask | Action::Deny => specifier.refusing(),
        };
        match expression {
            Some(expression) => self.push(item, SHELLS, &[("command", &expression)], action),
            None => self.leave_out(item, "it would allow whatever the program is told to start"),
        }
    }

    /// Adds rules about paths; what may not be read or edited is kept away from commands too.
    fn file(&mut self, item: &Node, tool: &str, specifier: &str, action: Action) {
        let (tools, refused) = match tool {
            "Read" => (READERS, Wall::Hide),
            _ => (EDITORS, Wall::Protect),
        };
        if matches!(specifier, "*" | "**") {
            return tools.iter().for_each(|(tools, _)| self.push(item, tools, &[], action));
        }
        let cwd = self.around.cwd;
        let pattern = match path::pattern(specifier, action, self.cx.anchors(), cwd) {
            Ok(pattern) => pattern,
            Err(invalid) if action == Action::Allow => {
                return self.leave_out(item, invalid.problem());
            }
            Err(invalid) => {
                self.cx.invalid::<()>(item, &invalid);
                return;
            }
        };
        let expression = path::expression(&pattern, action, cwd);
        for (tools, argument) in tools {
            self.push(item, tools, &[(argument, &expression)], action);
        }
        if action == Action::Deny {
            self.wall(refused, pattern, item);
        }
    }

    fn wall(&mut self, wall: Wall, value: PathPattern, item: &Node) {
        let list = match wall {
            Wall::Hide => &mut self.policy.files.hide,
            Wall::Protect => &mut self.policy.files.protect,
        };
        let mut entries = list.entries().to_vec();
        entries.push(Sourced { value, origin: self.cx.origin(item.span) });
        *list = Refusals::new(entries);
    }

    fn fetch(&mut self, item: &Node, specifier: &str, action: Action) {
        let Some(host) = specifier.strip_prefix("domain:") else {
            return self.other(item, "WebFetch", specifier, action);
        };
        if host == "*" && action != Action::Allow {
            return self.tool(item, "WebFetch", action);
        }
        match (domain::granted(host), action) {
            (Ok(pattern), _) => {
                let hosts = text_node(&pattern.to_string(), item.span);
                let hosts = Node { value: Value::List(vec![hosts]), span: item.span };
                let domain = map_node(vec![("hosts", hosts)], item.span);
                self.push_with(item, "WebFetch", vec![("domain", domain)], action);
                if action == Action::Deny {
                    let mut deny = self.policy.network.deny.entries().to_vec();
                    let origin = self.cx.origin(item.span);
                    deny.push(Sourced { value: WideHost::from(pattern), origin });
                    self.policy.network.deny = Refusals::new(deny);
                }
            }
            (Err(invalid), Action::Allow) => self.leave_out(item, invalid.problem()),
            (Err(invalid), Action::Ask | Action::Deny) => {
                self.cx.invalid::<()>(item, &invalid);
            }
        }
    }

    /// Adds a rule about a whole tool, or about all tools of an MCP server.
    fn tool(&mut self, item: &Node, tool: &str, action: Action) {
        let server = tool.strip_prefix("mcp__");
        if action == Action::Allow && tool.contains('*') {
            let head = server.and_then(|server| server.split_once("__"));
            let named = head.is_some_and(|(server, _)| !server.is_empty() && !server.contains('*'));
            if !named {
                return self.leave_out(item, "a `*` allows only the tools of one MCP server");
            }
        }
        let expression = match (tool, server) {
            ("*", _) => "*".to_owned(),
            (_, Some(server)) if !server.contains("__") && !server.contains('*') => {
                format!("{}(?:__.*)?", globbed(tool))
            }
            ("Read", _) => READERS.map(|(tools, _)| tools).join("|"),
            ("Edit", _) => EDITORS.map(|(tools, _)| tools).join("|"),
            (_, _) => globbed(tool),
        };
        self.push(item, &expression, &[], action);
    }

    /// Takes a specifier that only some tools have, or that we do not know: what refuses or asks is
    /// taken for the whole tool, what allows is left out.
    fn other(&mut self, item: &Node, tool: &str, specifier: &str, action: Action) {
        if action == Action::Allow {
            return self.leave_out(item, "this specifier is not known here");
        }
        match (tool, specifier.split_once(':')) {
            ("Write" | "MultiEdit" | "NotebookEdit", _) => {
                self.file(item, "Edit", specifier, action);
            }
            ("Grep" | "Glob" | "LS", _) => self.file(item, "Read", specifier, action),
            (_, Some((parameter, value)))
                if !parameter.is_empty() && parameter.chars().all(is_of_name) =>
            {
                self.push(item, &globbed(tool), &[(parameter, &exactly(value))], action);
            }
            (_, _) => {
                let message = format!("the rule holds for every call of `{}`", visible(tool));
                note(self.cx, "stricter", message, item);
                self.tool(item, tool, action);
            }
        }
    }

    /// Reads the mode that a session starts in.
    fn take_mode(&mut self, mode: &Node) {
        match mode.text() {
            Some("bypassPermissions") => {
                let message = "`bypassPermissions` is never honoured; every call is judged";
                note(self.cx, "never", message.into(), mode);
            }
            Some("plan") => {
                let origin = self.cx.origin(mode.span);
                self.policy.profile = Setting::new(Sourced { value: Profile::Readonly, origin });
                let message = "`plan` holds for as long as this file says so: nothing is writable";
                note(self.cx, "stricter", message.into(), mode);
            }
            // What no rule above allows is refused without asking.
            Some("dontAsk") => self.push(mode, "*", &[], Action::Deny),
            Some("acceptEdits" | "auto") => {
                let message = "the mode is not carried over; edits are judged like other calls";
                note(self.cx, "not-carried", message.into(), mode);
            }
            Some(_) | None => {}
        }
    }

    fn leave_out(&mut self, item: &Node, why: &str) {
        let rule = visible(item.text().unwrap_or_default());
        note(self.cx, "not-carried", format!("`{rule}` allows nothing: {why}"), item);
    }

    fn push(&mut self, item: &Node, tools: &str, args: &[(&str, &str)], action: Action) {
        let nodes = args.iter().map(|(name, text)| (*name, text_node(text, item.span))).collect();
        let args = (!args.is_empty()).then(|| ("args", map_node(nodes, item.span)));
        self.push_with(item, tools, args.into_iter().collect(), action);
    }

    /// Adds a rule in the native notation, so that it is read by the one door there is.
    fn push_with(&mut self, item: &Node, tools: &str, also: Vec<(&str, Node)>, action: Action) {
        let why = format!("{action} {}", visible(item.text().unwrap_or_default()));
        let mut entries = vec![
            ("tool", text_node(tools, item.span)),
            ("action", text_node(action.word(), item.span)),
            ("justification", text_node(&why, item.span)),
        ];
        entries.extend(also);
        self.rules.push(map_node(entries, item.span));
    }
}

#[derive(Clone, Copy)]
enum Wall {
    Hide,
    Protect,
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '*')
}

fn exactly(text: &str) -> String {
    let literal: String = text.chars().map(glob::literal).collect();
    format!("^{}$", literal.replace(r"\*", r"[\s\S]*"))
}

fn globbed(tool: &str) -> String {
    tool.chars().map(glob::literal).collect::<String>().replace(r"\*", ".*")
}

fn text_node(text: &str, span: Span) -> Node {
    Node { value: Value::Text(text.into()), span }
}

fn map_node(entries: Vec<(&str, Node)>, span: Span) -> Node {
    let entries =
        entries.into_iter().map(|(key, value)| Entry { key: key.into(), key_span: span, value });
    Node { value: Value::Map(entries.collect()), span }
}
