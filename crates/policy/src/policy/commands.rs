//! Which commands and tools may run.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::choice::{Profile, ShellUse};
use crate::key::{
    Item, Line, Reader, Refusals, RuleItem, RuleLists, Setting, choice, section, text_item,
};
use crate::name::{CommandName, Found, HostPattern, Pattern, ToolPattern};
use crate::permission::names_host;
use crate::text::Node;

section! {
    /// Which commands may run.
    pub struct Commands {
        /// Programs that no command may name. Words are judged, and not what a script starts: that the walls hold.
        deny: Refusals<CommandName>,
        /// Interpreters that may not be given code on the command line.
        interpreters: Refusals<CommandName>,
        /// Whether shell text may run.
        shell: Setting<ShellUse>,
        /// Rules for tool calls.
        rules: RuleLists<Rule>,
    }
}

choice! {
    /// What a rule says.
    pub enum Action {
        /// Refuse.
        Deny = "deny",
        /// Ask a person.
        Ask = "ask",
        /// Let it happen.
        Allow = "allow",
    }
}

text_item!(CommandName, "a program's name without folders");
text_item!(Pattern, "a regular expression", regex);
text_item!(ToolPattern, "a tool's name as a regular expression, or `*`", regex);

/// A rule for tool calls: if all its conditions hold, its action is the verdict of its list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rule {
    /// Which tools, by full match; `*` for all.
    pub tool: ToolPattern,
    /// Arguments that must match, by search.
    pub args: BTreeMap<String, Pattern>,
    /// Hosts the call's URL must name; if present, `args` is not looked at.
    pub domain: Option<DomainRule>,
    /// What happens; a rule that only picks a profile has none.
    pub action: Option<Action>,
    /// The profile for calls that match.
    pub profile: Option<Profile>,
    /// Why, for the person who reads the verdict.
    pub justification: Option<Line>,
}

/// Hosts that a rule is about.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DomainRule {
    /// The argument that holds the URL.
    pub url_arg: Box<str>,
    /// The hosts; one that matches makes the rule match.
    pub hosts: Vec<HostPattern>,
}

const RULE_KEYS: [&str; 8] =
    ["tool", "args", "domain", "action", "profile", "justification", "match", "not_match"];

impl Item for Rule {
    fn read(node: &Node, cx: &mut Reader<'_>) -> Option<Self> {
        let (mut tool, mut args, mut domain) = (None, BTreeMap::new(), None);
        let (mut action, mut profile, mut justification) = (None, None, None);
        for entry in cx.map(node)? {
            match &*entry.key {
                "tool" => tool = ToolPattern::read(&entry.value, cx),
                "args" => {
                    for arg in cx.map(&entry.value)? {
                        args.insert(arg.key.to_string(), Pattern::read(&arg.value, cx)?);
                    }
                }
                "domain" => domain = Some(read_domain(&entry.value, cx)?),
                "action" => action = Some(Action::read(&entry.value, cx)?),
                "profile" => profile = Some(Profile::read(&entry.value, cx)?),
                "justification" => justification = Some(Line::read(&entry.value, cx)?),
                "match" | "not_match" => {}
                _ => cx.unknown_key(entry, &RULE_KEYS),
            }
        }
        if node.find("tool").is_none() {
            return cx.missing_key("tool", node);
        }
        if action.is_none() && profile.is_none() {
            return cx.missing_key("action", node);
        }
        let rule = Self { tool: tool?, args, domain, action, profile, justification };
        rule.check_examples(node, cx);
        Some(rule)
    }

    fn json(&self) -> Json {
        let mut json = json!({ "tool": self.tool.to_string() });
        if !self.args.is_empty() {
            json["args"] =
                self.args.iter().map(|(k, v)| (k.clone(), json!(v.to_string()))).collect();
        }
        if let Some(domain) = &self.domain {
            let hosts: Vec<String> = domain.hosts.iter().map(ToString::to_string).collect();
            json["domain"] = json!({ "url_arg": domain.url_arg, "hosts": hosts });
        }
        if let Some(action) = self.action {
            json["action"] = json!(action.word());
        }
        if let Some(profile) = &self.profile {
            json["profile"] = profile.json();
        }
        if let Some(why) = &self.justification {
            json["justification"] = why.json();
        }
        json
    }

    fn schema() -> Json {
        let examples = json!({ "type": "array", "items": { "type": "string" } });
        json!({
            "type": "object",
            "properties": {
                "tool": ToolPattern::schema(),
                "args": { "type": "object", "additionalProperties": Pattern::schema() },
                "domain": {
                    "type": "object",
                    "properties": {
                        "url_arg": { "type": "string" },
                        "hosts": { "type": "array", "items": HostPattern::schema() },
                    },
                    "required": ["hosts"],
                    "additionalProperties": false,
                },
                "action": Action::schema(),
                "profile": Profile::schema(),
                "justification": Line::schema(),
                "match": examples,
                "not_match": examples,
            },
            "required": ["tool"],
            "additionalProperties": false,
        })
    }

    fn takes() -> String {
        "`{ tool, args, domain, action, profile, justification, match, not_match }`".into()
    }
}

impl RuleItem for Rule {
    fn rank(&self) -> u8 {
        match self.action {
            Some(Action::Deny) => 0,
            Some(Action::Ask) => 1,
            None => 2,
            Some(Action::Allow) => 3,
        }
    }

    fn widens(&self) -> bool {
        self.action == Some(Action::Allow) || self.profile.is_some()
    }
}

impl Rule {
    /// Checks the commands that the rule's author says it matches, and does not match: a policy
    /// that tests itself is wrong loudly.
    fn check_examples(&self, node: &Node, cx: &mut Reader<'_>) {
        for (key, wanted) in [("match", Found::Yes), ("not_match", Found::No)] {
            let Some(list) = node.find(key) else { continue };
            for example in cx.list(list).unwrap_or_default() {
                let Some(command) = cx.text("a command", example) else { continue };
                if cx.count_regex(example).is_none() {
                    return;
                }
                let (found, says) = match (&self.domain, self.args.get("command")) {
                    (Some(domain), _) => {
                        let named = names_host(domain, command);
                        (if named { Found::Yes } else { Found::No }, "it names hosts".into())
                    }
                    (None, Some(pattern)) => {
                        (pattern.search(command), format!("`args.command` is `{pattern}`"))
                    }
                    (None, None) => {
                        let message = "there is no `args.command` and no `domain` that these \
                                       examples could test"
                            .into();
                        cx.report(cx.complaint("example", message, list.span));
                        return;
                    }
                };
                if found != wanted {
                    let verb = if wanted == Found::Yes { "does not match" } else { "matches" };
                    let message = format!("the rule {verb} this example");
                    let problem = cx.complaint("example", message, example.span);
                    cx.report(problem.hint(format!("it is listed under `{key}`; {says}")));
                }
            }
        }
    }
}

fn read_domain(node: &Node, cx: &mut Reader<'_>) -> Option<DomainRule> {
    let mut domain = DomainRule { url_arg: "url".into(), hosts: Vec::new() };
    for entry in cx.map(node)? {
        match &*entry.key {
            "url_arg" => domain.url_arg = Line::read(&entry.value, cx)?.0,
            "hosts" => {
                for item in cx.list(&entry.value)? {
                    domain.hosts.push(HostPattern::read(item, cx)?);
                }
            }
            _ => cx.unknown_key(entry, &["url_arg", "hosts"]),
        }
    }
    if node.find("hosts").is_none() {
        return cx.missing_key("hosts", node);
    }
    Some(domain)
}
