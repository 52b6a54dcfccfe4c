//! What a hook answers, in each agent's own format.

use serde_json::{Map, Value as Json, json};

use super::agent::{Agent, Form, Rewrite, Stage};

/// What a hook prints, and how it ends.
#[derive(Clone, Debug, Eq, PartialEq)]
#[must_use]
pub struct Reply {
    /// What goes to standard output; nothing leaves the agent to its own prompts.
    pub stdout: String,
    /// What goes to standard error.
    pub stderr: String,
    /// The exit code.
    pub code: u8,
}

/// The exit code that all agents but Copilot take for a refusal. Others mean to them that the hook is
/// broken, and the call goes on; Copilot refuses at any.
pub(super) const CLOSED: u8 = 2;

impl Reply {
    /// Says nothing: the agent goes on as it would without a hook.
    pub(super) fn silent() -> Self {
        Self { stdout: String::new(), stderr: String::new(), code: 0 }
    }

    /// Refuses because something is wrong with us or with what was told.
    pub fn closed(agent: Agent, why: &str) -> Self {
        let why = format!("palisade: {why}; the call is refused");
        Self { code: CLOSED, ..Self::refusal(agent, Stage::Before, "", &why) }
    }

    /// Refuses a call.
    pub(super) fn refusal(agent: Agent, stage: Stage, event: &str, why: &str) -> Self {
        let facts = agent.facts();
        let stdout = match (facts.form, stage) {
            (Form::Nested, Stage::Permission) => json!({ "hookSpecificOutput": {
                "hookEventName": event,
                "decision": { "behavior": "deny", "message": why },
            }}),
            (form, _) => decision(form, event, "deny", Some(why)),
        };
        let code = match stage {
            // Some agents heed only what is printed there.
            Stage::Permission => 0,
            Stage::Before | Stage::Shell | Stage::Read | Stage::Other => facts.refused,
        };
        Self { stdout: format!("{stdout}\n"), stderr: format!("{why}\n"), code }
    }

    /// Has a person asked, by the agent.
    pub(super) fn question(agent: Agent, event: &str, why: &str) -> Self {
        let stdout = decision(agent.facts().form, event, "ask", Some(why));
        Self { stdout: format!("{stdout}\n"), ..Self::silent() }
    }

    /// Lets a call pass without the agent's own prompt.
    pub(super) fn allowed(agent: Agent, stage: Stage, event: &str) -> Self {
        let stdout = match (agent.facts().form, stage) {
            (Form::Nested, Stage::Permission) => json!({ "hookSpecificOutput": {
                "hookEventName": event,
                "decision": { "behavior": "allow" },
            }}),
            (form, _) => decision(form, event, "allow", None),
        };
        Self { stdout: format!("{stdout}\n"), ..Self::silent() }
    }

    /// Lets a call pass with another input; none if the agent has no way for that.
    pub(super) fn rewritten(
        agent: Agent,
        event: &str,
        input: Map<String, Json>,
        auto_allow: bool,
    ) -> Option<Self> {
        let facts = agent.facts();
        let mut answer = match auto_allow || facts.form == Form::Plugin {
            true => decision(facts.form, event, "allow", None),
            false if facts.form == Form::Nested => {
                json!({ "hookSpecificOutput": { "hookEventName": event } })
            }
            false => json!({}),
        };
        match facts.rewrite {
            Rewrite::Whole => answer["hookSpecificOutput"]["updatedInput"] = input.into(),
            Rewrite::Merged => {
                let changed = json!({ "hookEventName": event, "tool_input": input });
                answer["hookSpecificOutput"] = changed;
            }
            Rewrite::Arguments => answer["modifiedArgs"] = input.into(),
            Rewrite::Plugin => answer["args"] = input.into(),
            Rewrite::No => return None,
        }
        Some(Self { stdout: format!("{answer}\n"), ..Self::silent() })
    }
}

/// Writes a decision.
fn decision(form: Form, event: &str, word: &str, why: Option<&str>) -> Json {
    let mut answer = Map::new();
    let mut put = |name: &str, value: Json| drop(answer.insert(name.to_owned(), value));
    match form {
        Form::Nested => {
            // Some versions want the event's name even where they told none that can be read.
            let event = if event.is_empty() { "PreToolUse" } else { event };
            let mut inner = json!({ "hookEventName": event, "permissionDecision": word });
            if let Some(why) = why {
                inner["permissionDecisionReason"] = why.into();
            }
            put("hookSpecificOutput", inner);
        }
        Form::Flat => {
            put("permissionDecision", word.into());
            why.into_iter().for_each(|why| put("permissionDecisionReason", why.into()));
        }
        Form::Decision | Form::Plugin => {
            put("decision", word.into());
            why.into_iter().for_each(|why| put("reason", why.into()));
        }
        Form::Permission => {
            put("permission", word.into());
            for name in ["user_message", "agent_message"] {
                why.into_iter().for_each(|why| put(name, why.into()));
            }
        }
    }
    Json::Object(answer)
}
