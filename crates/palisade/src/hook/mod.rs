//! Hooks of coding agents: their calls are read, judged, and answered in their own format.
//!
//! An agent starts a hook before each of its tools, tells it of the call on standard input, and goes
//! by what it prints and by its exit code. Most of them go on when a hook breaks. So whatever goes
//! wrong here is an answer too, one that refuses: [`Hook::answer`] has no error.
//!
//! | Module | Question it answers |
//! | --- | --- |
//! | `agent` | In what do agents differ? |
//! | `input` | What is about to be done? |
//! | `answer` | How is a verdict told? |
//! | `wrap` | Which command runs behind walls instead? |
//! | `install` | What stands in an agent's settings? |

mod agent;
mod answer;
mod input;
pub mod install;
mod jsonc;
mod wrap;

#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use palisade_audit::{Because, CannotRecord, Judged};
use palisade_policy::decide::{Answer, Axis};
use palisade_policy::interception::{Finding, ToolVerdict};
use palisade_policy::text::visible;
use serde_json::Value as Json;

pub use agent::{Agent, UnknownAgent};
pub use answer::Reply;
pub use input::MAX_INPUT;

use crate::decision::Guard;
use crate::sandbox::{judged, tell_hook};
use crate::session::{OpenError, Request, Session};
use agent::Stage;
use input::{Call, Heard, Unreadable};

/// A hook of one agent.
#[derive(Clone, Debug)]
pub struct Hook {
    /// Whose.
    pub agent: Agent,
    /// Whether what is allowed passes without the agent's own prompts.
    pub auto_allow: bool,
    /// The program that runs allowed shell commands behind walls, if any does: ours.
    pub wrap: Option<PathBuf>,
}

impl Hook {
    /// Answers what the agent told. `request` says where the hook was started and what was said on
    /// its command line. Whatever fails refuses.
    pub fn answer(&self, told: &[u8], request: Request) -> Reply {
        let answer = AssertUnwindSafe(|| self.judged(told, request.clone()));
        let why = match catch_unwind(answer) {
            Ok(Ok(reply)) => return reply,
            Ok(Err(why)) => why,
            Err(_) => "judging the call failed".to_owned(),
        };
        let mut reply = Reply::closed(self.agent, &why);
        let recorded = catch_unwind(AssertUnwindSafe(|| self.record_failure(&request, &why)));
        if let Ok(Err(error)) = recorded {
            reply.stderr.push_str(&format!("palisade: {}\n", visible(&error.to_string())));
        }
        reply
    }

    /// Remembers a refusal that no verdict explains, in the log of the project that the hook was started
    /// in. Where its policy cannot be used, nobody knows of a log.
    fn record_failure(&self, request: &Request, why: &str) -> Result<(), CannotRecord> {
        let agent = self.agent.name();
        let Ok(session) = Session::open_for(request, agent) else { return Ok(()) };
        let (verdict, axis) = (Answer::Deny.word(), Axis::Structure.word());
        let reason = Because { answer: verdict, code: "hook-failed", axis, message: why };
        let (reasons, agent) = (vec![reason], Some(agent));
        let judged = Judged { tool: "unknown", call_id: None, verdict, reasons, agent };
        crate::history::record_tool(&session, request, judged)
    }

    fn judged(&self, told: &[u8], request: Request) -> Result<Reply, String> {
        let agent = self.agent;
        let call = match input::read(agent, told) {
            Ok(Heard::Call(call)) => call,
            Ok(Heard::Nothing) => return Ok(Reply::silent()),
            Err(Unreadable(why)) => return Err(why),
        };
        let began = (SystemTime::now(), Instant::now());
        let (request, session, cwd) = opened(agent, &call, request)?;
        let guard = Guard::new(&session);
        let mut verdict = guard.tool_call(&call.tool, &call.arguments, &cwd);
        let (stage, event, tool) = (call.stage, call.event.clone(), call.tool.clone());
        let (event, call_id) = (event.as_str(), call.call_id.clone());
        let mut reply = match verdict.answer {
            Answer::Deny => Reply::refusal(agent, stage, event, &told_of(&verdict)),
            // The agent is about to ask.
            Answer::Ask if stage == Stage::Permission => Reply::silent(),
            Answer::Ask if agent.facts().asks && !call.unasked => {
                Reply::question(agent, event, &told_of(&verdict))
            }
            Answer::Ask => {
                let why = format!("{}; nobody can be asked here", told_of(&verdict));
                Reply::refusal(agent, stage, event, &why)
            }
            Answer::Allow => {
                let (reply, instead) = self.allowed(&guard, *call, &cwd)?;
                verdict = instead.unwrap_or(verdict);
                reply
            }
        };
        let judged = judged(&tool, call_id.as_deref(), &verdict, Some(agent.name()));
        if let Err(error) = crate::history::record_tool(&session, &request, judged) {
            reply.stderr.push_str(&format!("palisade: {}\n", visible(&error.to_string())));
        }
        if session.policy().audit.otlp.sourced().is_some() {
            let called = (tool.as_str(), call_id.as_deref());
            if let Some(why) = tell_hook(&session, &request, began, called, &verdict) {
                reply.stderr.push_str(&format!("palisade: {}\n", visible(&why)));
            }
        }
        Ok(reply)
    }

    /// Answers a call that may happen, perhaps with another command in its place; returns what was said
    /// of that one, if it is refused.
    fn allowed(
        &self,
        guard: &Guard,
        call: Call,
        cwd: &str,
    ) -> Result<(Reply, Option<ToolVerdict>), String> {
        let Call { stage, event, tool, input, .. } = call;
        if let Some(program) = self.wrap.as_deref().filter(|_| stage == Stage::Before)
            && let Some(wrapped) = wrap::wrapped(self.agent, &tool, &input, program, guard.root())?
        {
            // Nobody else looks at what was put in its place.
            let judged = Json::from(wrapped.judged).to_string();
            let again = guard.tool_call(&tool, &judged, cwd);
            let input = wrapped.input;
            return match again.answer {
                Answer::Allow => Reply::rewritten(self.agent, &event, input, self.auto_allow)
                    .map(|reply| (reply, None))
                    .ok_or_else(|| "this agent heeds no other command".to_owned()),
                Answer::Ask | Answer::Deny => {
                    let why = format!("what would run instead is refused: {}", told_of(&again));
                    Ok((Reply::refusal(self.agent, stage, &event, &why), Some(again)))
                }
            };
        }
        // Codex calls a hook that allows broken. Our plugin wants to hear it.
        let speaks = self.auto_allow && self.agent != Agent::Codex || self.agent == Agent::OpenCode;
        let reply = match speaks {
            true => Reply::allowed(self.agent, stage, &event),
            false => Reply::silent(),
        };
        Ok((reply, None))
    }
}

/// Opens the project that the agent works in, and returns what was asked for and the call's folder.
///
/// The project is the one around the folder that the agent was started in, as far as it tells that:
/// a model goes where it likes, and must not choose its own project.
fn opened(
    agent: Agent,
    call: &Call,
    mut request: Request,
) -> Result<(Request, Session, String), String> {
    let variable =
        agent.facts().project.and_then(|name| request.env.get(name.as_ref() as &std::ffi::OsStr));
    let variable = variable.map(PathBuf::from).filter(|folder| folder.is_absolute());
    let started = variable.or_else(|| call.roots.first().cloned());
    let cwd = call.cwd.clone().or_else(|| started.clone());
    let cwd = cwd.unwrap_or_else(|| request.cwd.clone());
    let folder = started.unwrap_or_else(|| cwd.clone());
    for folder in [&cwd, &folder] {
        if !folder.is_absolute() || !folder.is_dir() {
            return Err(format!("there is no folder `{}`", shown(folder)));
        }
    }
    request.cwd = folder;
    let session = Session::open_for(&request, agent.name());
    let session = session.map_err(|error| unusable(&error))?;
    let cwd = cwd.into_os_string().into_string();
    let cwd = cwd.map_err(|_| "the working folder's name is no text".to_owned())?;
    Ok((request, session, cwd))
}

/// Says what is wrong with a policy, and where.
fn unusable(error: &OpenError) -> String {
    let first = error.diagnostics().first();
    let what = first.map_or_else(|| error.to_string(), |problem| problem.message().to_owned());
    let place = error.place().map(|(file, line)| match line {
        Some(line) => format!(" ({file}:{line})"),
        None => format!(" ({file})"),
    });
    visible(&format!("the policy cannot be used: {what}{}", place.unwrap_or_default()))
}

/// Tells a model why, and what it may do instead.
fn told_of(verdict: &ToolVerdict) -> String {
    const MOST: usize = 3;
    let one = |finding: &Finding| {
        let reason = &finding.reason;
        let hint = reason.hint.as_deref().map(|hint| format!(" ({})", visible(hint)));
        let message = visible(&reason.message);
        format!("{message} [{}]{}", reason.code, hint.unwrap_or_default())
    };
    let told: Vec<String> = verdict.findings.iter().take(MOST).map(one).collect();
    let more = verdict.findings.len().saturating_sub(MOST);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("palisade: {}{more}", told.join("; "))
}

fn shown(path: &Path) -> String {
    visible(&path.to_string_lossy())
}
