//! The Agent Client Protocol: between an editor and an agent that is confined.
//!
//! An agent asks its editor's user before it does something (`session/request_permission`). What the
//! policy decides is answered here, and what it leaves to a person goes on to the editor. The editor
//! would also read files and start commands for the agent, outside of the walls that the agent is
//! behind: that it can is not told to the agent, which has tools of its own, and is refused if asked
//! for.
//!
//! Nothing here reads or writes: messages go in, and what to send comes out.
//!
//! | Module | Question it answers |
//! | --- | --- |
//! | `call` | What does a question for permission ask for? |
//! | `option` | Which answer says what was decided? |

mod call;
mod option;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use palisade_policy::decide::Answer;
use palisade_policy::interception::Finding;
use palisade_policy::text::visible;
use serde_json::{Map, Value as Json, json};

use crate::decision::Guard;
use crate::rpc::{self, Fault, Message};
use crate::trust::ContentHash;
use call::Decided;

/// Stands between the two.
#[derive(Debug)]
pub struct Adapter {
    guard: Guard,
    /// The folder of each session.
    folders: BTreeMap<String, String>,
    /// Sessions that the editor has asked for, by the number of the request.
    opening: BTreeMap<String, String>,
    /// Questions that went on to the editor, each with the answers that it may give.
    asked: BTreeMap<String, Waiting>,
    /// What is to be remembered.
    noted: Vec<Noted>,
}

/// A question that went on to the editor.
#[derive(Debug)]
struct Waiting {
    offered: Vec<String>,
    /// Which of them lets the call happen.
    allows: Vec<String>,
    call: String,
}

/// What is to be remembered of a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Noted {
    /// It was judged.
    Judged {
        /// What the call was judged as.
        tool: &'static str,
        /// What the agent calls it.
        call_id: Option<String>,
        /// The answer.
        answer: Answer,
        /// Why it is no allow.
        findings: Vec<Finding>,
    },
    /// A person was asked, and said so.
    Answered {
        /// Whether it may happen.
        agreed: bool,
        /// A hash of what was shown.
        call: String,
    },
}

/// What to send, and to whom.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// To the agent.
    ToAgent(Vec<u8>),
    /// To the editor.
    ToEditor(Vec<u8>),
}

/// Most sessions, and most requests that wait, of which something is remembered.
const MOST: usize = 1024;

/// What an editor does for an agent outside of its walls.
const OUTSIDE: &str = "palisade: the editor does this outside of the walls; use tools of your own";

impl Adapter {
    /// Makes one that goes by what `guard` says.
    pub fn new(guard: Guard) -> Self {
        let (folders, opening, asked) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { guard, folders, opening, asked, noted: Vec::new() }
    }

    /// Returns what is to be remembered since this was last asked for.
    pub fn noted(&mut self) -> Vec<Noted> {
        std::mem::take(&mut self.noted)
    }

    /// Takes a line of the agent's. What is no message is dropped: an editor need not read it.
    pub fn hear_agent(&mut self, line: &[u8]) -> Option<Said> {
        let message = Message::read(line).ok()?;
        // As it was read, and not as it was written: an editor may read another message there.
        let line = message.line();
        match message {
            Message::Request { id, method, params } => match method.as_str() {
                "session/request_permission" => Some(self.permission(&id, params)),
                method if method.starts_with("session/") => Some(Said::ToEditor(line)),
                method => {
                    let message = format!("{OUTSIDE} (`{}`)", visible(method));
                    Some(to_agent(&rpc::error(&id, rpc::METHOD_NOT_FOUND, &message, Json::Null)))
                }
            },
            Message::Notification { method, .. } => {
                let is_told = method.starts_with("session/") || method.starts_with("$/");
                // One that wants no answer cannot be answered by a person either.
                let asks = method == "session/request_permission";
                (is_told && !asks).then_some(Said::ToEditor(line))
            }
            Message::Response { id, answer } => {
                self.opened(&id, answer.ok().as_ref());
                Some(Said::ToEditor(line))
            }
        }
    }

    /// Takes a line of the editor's.
    pub fn hear_editor(&mut self, line: &[u8]) -> Option<Said> {
        let message = Message::read(line);
        let line = message.as_ref().map(Message::line).unwrap_or_default();
        match message {
            Ok(Message::Request { id, method, params }) => {
                Some(self.request(&id, &method, params, line))
            }
            Ok(Message::Notification { .. }) => Some(Said::ToAgent(line)),
            Ok(Message::Response { id, answer }) => {
                let Some(Waiting { offered, allows, call }) = self.asked.remove(&id.to_string())
                else {
                    return Some(Said::ToAgent(line));
                };
                let agreed = answer.as_ref().is_ok_and(|it| option::selects(it, &allows));
                self.noted.push(Noted::Answered { agreed, call });
                // An answer that was not offered could mean anything to the agent.
                Some(match answer {
                    Ok(result) if !option::is_one_of(&result, &offered) => {
                        to_agent(&rpc::result(&id, option::cancelled()))
                    }
                    Ok(_) | Err(_) => Said::ToAgent(line),
                })
            }
            Err(fault) => Some(to_editor(&fault.answer())),
        }
    }

    /// Says that a line was too long to be read.
    pub fn too_long() -> Said {
        let fault = Fault {
            id: Json::Null,
            code: rpc::INVALID_REQUEST,
            message: "the message is too long, and was not passed on".to_owned(),
        };
        to_editor(&fault.answer())
    }

    /// Takes a request of the editor's.
    fn request(
        &mut self,
        id: &Json,
        method: &str,
        mut params: Map<String, Json>,
        line: Vec<u8>,
    ) -> Said {
        if method == "initialize" {
            params.insert(
                "clientCapabilities".to_owned(),
                confined(params.get("clientCapabilities")),
            );
            let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
            return to_agent(&message);
        }
        let Some(cwd) = params.get("cwd").filter(|_| method.starts_with("session/")) else {
            return Said::ToAgent(line);
        };
        let folder = cwd.as_str().filter(|cwd| self.is_inside(cwd)).map(str::to_owned);
        let Some(folder) = folder else {
            let shown = visible(&cwd.to_string());
            let root = visible(self.guard.root());
            let message = format!(
                "the session's folder {shown} is not in the project `{root}`; start `palisade acp` \
                 with --root for it"
            );
            return to_editor(&rpc::error(id, rpc::INVALID_PARAMS, &message, Json::Null));
        };
        match params.get("sessionId").and_then(Json::as_str) {
            Some(session) => remember(&mut self.folders, session.to_owned(), folder),
            None => remember(&mut self.opening, id.to_string(), folder),
        }
        Said::ToAgent(line)
    }

    /// Notes the folder of a session that the agent has opened.
    fn opened(&mut self, id: &Json, result: Option<&Json>) {
        let Some(folder) = self.opening.remove(&id.to_string()) else { return };
        if let Some(session) = result.and_then(|it| it.get("sessionId")).and_then(Json::as_str) {
            remember(&mut self.folders, session.to_owned(), folder);
        }
    }

    fn is_inside(&self, folder: &str) -> bool {
        let folder = Path::new(folder);
        let real = folder.canonicalize().ok().filter(|_| folder.is_absolute());
        real.is_some_and(|real| real.starts_with(self.guard.root()))
    }

    /// Answers a question, or hands it on without the answers that would end all questions.
    fn permission(&mut self, id: &Json, mut params: Map<String, Json>) -> Said {
        let session = params.get("sessionId").and_then(Json::as_str);
        let folder = session.and_then(|session| self.folders.get(session));
        let cwd = folder.map_or_else(|| self.guard.root(), String::as_str);
        let call = params.get("toolCall");
        let judge = AssertUnwindSafe(|| call::judged(&self.guard, call, cwd));
        let Decided { answer: decided, findings } =
            catch_unwind(judge).unwrap_or_else(|_| Decided::failed());
        let call_id = call.and_then(|call| call.get("toolCallId")).and_then(Json::as_str);
        let call_id = call_id.map(|id| id.chars().take(200).collect());
        let tool = call::name(call);
        self.noted.push(Noted::Judged { tool, call_id, answer: decided, findings });
        let options = params.get("options").and_then(Json::as_array).cloned().unwrap_or_default();
        let answered = match decided {
            Answer::Allow => option::allowing(&options),
            Answer::Deny => Some(option::refusing(&options)),
            Answer::Ask => None,
        };
        if let Some(outcome) = answered {
            return to_agent(&rpc::result(id, outcome));
        }
        // A person who cannot say yes need not be asked.
        if option::allowing(&options).is_none() || self.asked.len() >= MOST {
            return to_agent(&rpc::result(id, option::refusing(&options)));
        }
        let shown = call.map(Json::to_string).unwrap_or_default();
        let call = ContentHash::of([(Path::new("call"), shown.as_bytes())]).to_string();
        let allows = option::names(&options, "allow_once");
        let (options, offered) = option::offered(options);
        self.asked.insert(id.to_string(), Waiting { offered, allows, call });
        params.insert("options".to_owned(), options.into());
        let method = "session/request_permission";
        to_editor(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    }
}

/// Leaves out of what an editor can do what it would do outside of the walls.
fn confined(capabilities: Option<&Json>) -> Json {
    let mut capabilities = capabilities.and_then(Json::as_object).cloned().unwrap_or_default();
    capabilities.insert("fs".to_owned(), json!({ "readTextFile": false, "writeTextFile": false }));
    capabilities.insert("terminal".to_owned(), false.into());
    // By these an editor would start a command of the agent's for a login.
    capabilities.remove("auth");
    capabilities.remove("_meta");
    capabilities.into()
}

fn remember(map: &mut BTreeMap<String, String>, key: String, value: String) {
    if map.len() < MOST || map.contains_key(&key) {
        map.insert(key, value);
    }
}

fn to_agent(message: &Json) -> Said {
    Said::ToAgent(message.to_string().into_bytes())
}

fn to_editor(message: &Json) -> Said {
    Said::ToEditor(message.to_string().into_bytes())
}
