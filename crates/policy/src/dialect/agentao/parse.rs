//! The text of one `sandbox.json`, key by key.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::sandbox::{Said, Sandbox, ToolProfile};
use super::{text_of, unknown_key, with_tree};
use crate::dialect::{Input, Surroundings};
use crate::key::{Item, Reader};
use crate::name::{Folder, Invalid, Pattern};
use crate::text::{Diagnostic, Entry, Node, Value};

const KEYS: [&str; 6] =
    ["enabled", "platform", "default_profile", "rules", "profiles_dir", "workspace_root"];

/// Reads one file; none if it cannot be understood at all.
pub(super) fn parse(
    input: &Input<'_>,
    around: &Surroundings<'_>,
    problems: &mut Vec<Diagnostic>,
) -> Option<(Sandbox, Said<()>)> {
    with_tree(input, around, problems, |node, cx| {
        let mut file = Sandbox::default();
        if let Value::Map(entries) = &node.value {
            entries.iter().for_each(|entry| file.take(entry, input, cx));
        } else {
            cx.wrong_type::<()>("sandbox.json", "a map", node);
        }
        (file, Said::new((), node, input))
    })
}

impl Sandbox {
    fn take(&mut self, entry: &Entry, input: &Input<'_>, cx: &mut Reader<'_>) {
        let (key, node) = (&*entry.key, &entry.value);
        match key {
            "enabled" => match node.value {
                Value::Bool(on) => self.enabled = Some(Said::new(on, node, input)),
                Value::List(_)
                | Value::Map(_)
                | Value::Null
                | Value::Number(_)
                | Value::Text(_) => {
                    cx.wrong_type::<()>(key, "true or false", node);
                }
            },
            "platform" => {
                if text_of(key, node, cx).is_some_and(|platform| platform != "darwin") {
                    let message = "`platform` changes nothing: this holds on every platform".into();
                    cx.report(cx.complaint("platform", message, node.span).warning());
                }
            }
            "default_profile" => {
                let name = or_null(key, node, cx, |text, _| Some(Box::<str>::from(text)));
                let name = name.map(|name| name.filter(|name| !name.is_empty()));
                self.default_profile = name.map(|name| Said::new(name, node, input));
            }
            "profiles_dir" => {
                let folder = or_null(key, node, cx, |text, cx| folder(text, node, cx));
                self.profiles_dir = folder.map(|folder| Said::new(folder, node, input));
            }
            "workspace_root" => {
                let folder = or_null(key, node, cx, |text, cx| folder(text, node, cx));
                self.workspace_root = folder.map(|folder| Said::new(folder, node, input));
            }
            "rules" => {
                let Value::List(items) = &node.value else {
                    cx.wrong_type::<()>(key, "a list", node);
                    return;
                };
                let rules = items.iter().enumerate();
                let rules = rules.filter_map(|(at, item)| {
                    Some(Said::new(tool_profile(at, item, cx)?, item, input))
                });
                self.rules = Some(Said::new(rules.collect(), node, input));
            }
            _ => unknown_key(entry, &KEYS, cx),
        }
    }
}

/// Reads text or `null`; none if it is neither, or is no good.
fn or_null<T>(
    field: &str,
    node: &Node,
    cx: &mut Reader<'_>,
    read: impl FnOnce(&str, &mut Reader<'_>) -> Option<T>,
) -> Option<Option<T>> {
    match &node.value {
        Value::Null => Some(None),
        Value::Text(text) => read(text, cx).map(Some),
        Value::Bool(_) | Value::List(_) | Value::Map(_) | Value::Number(_) => {
            cx.wrong_type(field, "text or null", node)
        }
    }
}

/// Reads a folder. Its characters mean themselves: Agentao knows `~` and no wildcards.
fn folder(text: &str, node: &Node, cx: &mut Reader<'_>) -> Option<Folder> {
    let path: Result<PathBuf, Invalid> = match (text, text.strip_prefix("~/")) {
        ("", _) => {
            Err(Invalid::new("path-empty", "the path is empty")
                .with_hint("write null for the default"))
        }
        ("~", _) | (_, Some(_)) => match &cx.anchors().home {
            Some(home) => Ok(home.join(text.trim_start_matches('~').trim_start_matches('/'))),
            None => Err(Invalid::new("path-home", "`~` needs a home folder, and there is none")),
        },
        (other, None) if other.starts_with('~') => Err(Invalid::new(
            "path-user",
            "another user's home is not looked up; write the absolute path",
        )),
        (plain, None) => Ok(cx.anchors().root.join(plain)),
    };
    match path.and_then(|path| Folder::literal(&path)) {
        Ok(folder) => Some(folder),
        Err(invalid) => cx.invalid(node, &invalid),
    }
}

const RULE_KEYS: [&str; 3] = ["tool", "profile", "args"];

/// Reads one rule; none for a rule that picks no profile, which Agentao skips too.
fn tool_profile(at: usize, node: &Node, cx: &mut Reader<'_>) -> Option<ToolProfile> {
    let field = |name: &str| format!("rules[{at}].{name}");
    let Value::Map(entries) = &node.value else {
        return cx.wrong_type(&format!("rules[{at}]"), "a map", node);
    };
    let (mut tool, mut profile, mut args) = (None, None, BTreeMap::new());
    for entry in entries {
        let value = &entry.value;
        match &*entry.key {
            "tool" => tool = Some(text_of(&field("tool"), value, cx)?),
            "profile" => {
                profile = or_null(&field("profile"), value, cx, |text, _| Some(text.to_owned()))?;
            }
            "args" => {
                let Value::Map(patterns) = &value.value else {
                    return cx.wrong_type(&field("args"), "a map", value);
                };
                for arg in patterns {
                    text_of(&field(&format!("args.{}", arg.key)), &arg.value, cx)?;
                    args.insert(arg.key.to_string(), Pattern::read(&arg.value, cx)?);
                }
            }
            _ => unknown_key(entry, &RULE_KEYS, cx),
        }
    }
    let Some(tool) = tool.filter(|tool| !tool.is_empty()) else {
        return cx.wrong_type(&field("tool"), "a tool's name", node);
    };
    let Some(profile) = profile.filter(|profile| !profile.is_empty()) else {
        let message = format!("`rules[{at}]` picks no profile, so it is skipped");
        cx.report(cx.complaint("no-profile", message, node.span).warning());
        return None;
    };
    Some(ToolProfile { tool: tool.into(), profile: profile.into(), args })
}
