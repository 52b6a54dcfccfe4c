//! Which tools a model and an agent may use.

use serde_json::Value as Json;

use crate::decide::Answer;
use crate::name::{Found, Invalid, Pattern};

/// Policies about tools, the one that counts first.
#[derive(Clone, Debug, Default)]
pub struct AccessPolicies {
    policies: Vec<AccessPolicy>,
}

/// What one policy says, and of whom.
#[derive(Clone, Debug)]
pub struct AccessPolicy {
    /// What it is called in messages.
    pub name: String,
    /// Which models it is for.
    pub model: Pattern,
    /// Which agents it is for; none is all, and one that is not known is none of them.
    pub agent: Option<Pattern>,
    /// Tools that may be used, whatever else is said.
    pub allowed: Vec<Pattern>,
    /// Tools that may not.
    pub blocked: Vec<Pattern>,
    /// What holds for the others.
    pub default: DefaultAccess,
    /// What is said to whoever is refused.
    pub block_message: String,
    /// Of several that fit, the highest counts alone; of equals the first.
    pub priority: i64,
}

/// What holds for a tool that no list names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DefaultAccess {
    /// It may be used.
    Allow,
    /// It may not.
    Deny,
}

/// Who wants to use a tool.
#[derive(Clone, Copy, Debug)]
pub struct User<'u> {
    /// The model.
    pub model: &'u str,
    /// The agent, where it is known.
    pub agent: Option<&'u str>,
}

/// Whether a tool may be used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Access<'p> {
    /// Allow or deny.
    pub answer: Answer,
    /// The policy that says so; none if no policy fits.
    pub policy: Option<&'p str>,
    /// What is said to whoever is refused.
    pub message: Option<&'p str>,
}

const BLOCKED: &str = "This tool is not available. Use another one.";

impl AccessPolicies {
    /// Makes a list of policies.
    pub fn new(mut policies: Vec<AccessPolicy>) -> Self {
        policies.sort_by_key(|policy| std::cmp::Reverse(policy.priority));
        Self { policies }
    }

    /// Reads the list that stands under `access_policies`.
    ///
    /// # Errors
    ///
    /// Names the first entry that is wrong: a policy that cannot be used is never passed over.
    pub fn read(list: &Json) -> Result<Self, Invalid> {
        let entries = list.as_array().ok_or_else(|| wrong("access_policies", "is no list"))?;
        entries.iter().map(AccessPolicy::read).collect::<Result<_, _>>().map(Self::new)
    }

    /// Makes the policy that stands in place of all others, as a command line gives it: two lists
    /// with commas between the patterns.
    ///
    /// # Errors
    ///
    /// When a pattern is no regular expression.
    pub fn overriding(
        allowed: &str,
        blocked: &str,
        default: DefaultAccess,
    ) -> Result<Self, Invalid> {
        let list = |text: &str| {
            let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
            names.map(Pattern::ignoring_case).collect::<Result<Vec<_>, _>>()
        };
        Ok(Self::new(vec![AccessPolicy {
            name: "command line".into(),
            model: Pattern::ignoring_case(".*")?,
            agent: None,
            allowed: list(allowed)?,
            blocked: list(blocked)?,
            default,
            block_message: BLOCKED.into(),
            priority: i64::MAX,
        }]))
    }

    /// Returns whether `user` may use `tool`. Where no policy fits, it may.
    pub fn judge(&self, tool: &str, user: User<'_>) -> Access<'_> {
        let Some(policy) = self.policies.iter().find(|policy| policy.is_for(user)) else {
            return Access { answer: Answer::Allow, policy: None, message: None };
        };
        let answer = policy.answer(tool);
        let message = (answer == Answer::Deny).then_some(policy.block_message.as_str());
        Access { answer, policy: Some(&policy.name), message }
    }

    /// Takes tools that may not be used out of a request, and returns how many were taken. `name`
    /// tells what a tool is called.
    pub fn filter<T>(
        &self,
        tools: &mut Vec<T>,
        user: User<'_>,
        name: impl Fn(&T) -> &str,
    ) -> usize {
        let before = tools.len();
        tools.retain(|tool| self.judge(name(tool), user).answer == Answer::Allow);
        before - tools.len()
    }
}

impl AccessPolicy {
    fn read(entry: &Json) -> Result<Self, Invalid> {
        const KEYS: [&str; 8] = [
            "name",
            "model_pattern",
            "agent_pattern",
            "allowed_patterns",
            "blocked_patterns",
            "default_policy",
            "block_message",
            "priority",
        ];
        let map = entry.as_object().ok_or_else(|| wrong("access_policies", "holds no objects"))?;
        if let Some(key) = map.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(wrong(key, "is no key of an access policy"));
        }
        let text = |key: &'static str| match &entry[key] {
            Json::String(text) => Ok(Some(text.as_str())),
            Json::Null => Ok(None),
            Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => {
                Err(wrong(key, "is no text"))
            }
        };
        let needed = |key: &'static str| text(key)?.ok_or_else(|| wrong(key, "is missing"));
        let patterns = |key: &'static str| match &entry[key] {
            Json::Null => Ok(Vec::new()),
            Json::Array(list) => list
                .iter()
                .map(|item| {
                    Pattern::ignoring_case(
                        item.as_str().ok_or_else(|| wrong(key, "holds no texts"))?,
                    )
                })
                .collect(),
            Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Object(_) => {
                Err(wrong(key, "is no list"))
            }
        };
        Ok(Self {
            name: needed("name")?.into(),
            model: Pattern::ignoring_case(needed("model_pattern")?)?,
            agent: text("agent_pattern")?.map(Pattern::ignoring_case).transpose()?,
            allowed: patterns("allowed_patterns")?,
            blocked: patterns("blocked_patterns")?,
            default: match needed("default_policy")? {
                "allow" => DefaultAccess::Allow,
                "deny" => DefaultAccess::Deny,
                _ => return Err(wrong("default_policy", "is neither `allow` nor `deny`")),
            },
            block_message: text("block_message")?.unwrap_or(BLOCKED).into(),
            priority: entry.get("priority").map_or(Ok(0), |number| {
                number.as_i64().ok_or_else(|| wrong("priority", "is no whole number"))
            })?,
        })
    }

    /// Whether this policy is for a user. One that cannot be told is for them if it closes more
    /// than it opens, which nobody knows: so it is.
    fn is_for(&self, user: User<'_>) -> bool {
        let fits = |pattern: &Pattern, text: &str| pattern.search(text) != Found::No;
        let agent = match (&self.agent, user.agent) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(pattern), Some(agent)) => fits(pattern, agent),
        };
        agent && fits(&self.model, user.model)
    }

    fn answer(&self, tool: &str) -> Answer {
        // What opens must match for certain, what closes need not.
        if self.allowed.iter().any(|pattern| pattern.search(tool) == Found::Yes) {
            Answer::Allow
        } else if self.blocked.iter().any(|pattern| pattern.search(tool) != Found::No) {
            Answer::Deny
        } else {
            match self.default {
                DefaultAccess::Allow => Answer::Allow,
                DefaultAccess::Deny => Answer::Deny,
            }
        }
    }
}

fn wrong(key: &str, what: &str) -> Invalid {
    Invalid::new("access-policy", format!("`{}` {what}", crate::text::visible(key)))
}
