//! The protocol, in both generations: with a handshake, and with everything in each request.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use palisade::policy::name::Period;
use palisade::policy::text::visible;
use palisade::rpc::{self, Fault, Message};
use palisade::{Answered, Stop};
use serde_json::{Map, Value as Json, json};

use super::server::{Out, Server};
use super::tools::{self, Asks, Told};

/// The versions with a handshake, the newest last.
pub(super) const SHAKEN: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// The version in which each request tells everything.
pub(super) const STATELESS: &str = "2026-07-28";

/// Where a request says which version it speaks, and what its client can do.
pub(super) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// Most calls of one client that go on at the same time, and of all.
const CALLS: usize = 64;
const ALL_CALLS: usize = 256;

thread_local! {
    /// Whether the call of this thread was agreed to.
    pub(super) static AGREED: Cell<bool> = const { Cell::new(false) };
}

/// A client, and what goes on for it.
pub(super) struct Peer {
    server: Arc<Server>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Whether the client of a handshake can ask its user.
    elicits: bool,
    asked: u64,
    answers: BTreeMap<String, Sender<Json>>,
    calls: BTreeMap<String, Ongoing>,
}

/// A call that goes on.
#[derive(Default)]
struct Ongoing {
    stop: Option<Stop>,
    /// It was cancelled, perhaps before it had begun.
    is_cancelled: bool,
}

impl Ongoing {
    fn cancel(&mut self) {
        self.is_cancelled = true;
        self.stop.iter().for_each(Stop::now);
    }

    fn began(&mut self, stop: Option<Stop>) {
        self.stop = stop;
        if self.is_cancelled {
            self.cancel();
        }
    }
}

impl Peer {
    pub(super) fn new(server: &Arc<Server>) -> Arc<Self> {
        Arc::new(Self { server: Arc::clone(server), state: Mutex::default() })
    }

    /// Takes a message; what is said of it goes to `out`.
    pub(super) fn hear(self: &Arc<Self>, message: Message, out: &Out) {
        match message {
            Message::Request { id, method, params } => self.asked(id, &method, params, out),
            Message::Notification { method, params } if method == "notifications/cancelled" => {
                let id = params.get("requestId").map(Json::to_string).unwrap_or_default();
                self.state().calls.get_mut(&id).into_iter().for_each(Ongoing::cancel);
            }
            Message::Notification { .. } => {}
            Message::Response { id, answer } => {
                let waits = self.state().answers.remove(&id.to_string());
                if let (Some(waits), Ok(answer)) = (waits, answer) {
                    waits.send(answer).ok();
                }
            }
        }
    }

    /// Ends what goes on: nobody is left to hear of it.
    pub(super) fn leave(&self) {
        let mut state = self.state();
        state.calls.values_mut().for_each(Ongoing::cancel);
        state.answers.clear();
    }

    /// Whether nothing goes on.
    pub(super) fn is_idle(&self) -> bool {
        self.state().calls.is_empty()
    }

    fn asked(self: &Arc<Self>, id: Json, method: &str, params: Map<String, Json>, out: &Out) {
        let meta = params.get("_meta").and_then(Json::as_object);
        let is_stateless = meta.is_some_and(|meta| meta.contains_key(VERSION));
        let whole = |mut result: Json| {
            if is_stateless {
                result["resultType"] = "complete".into();
            }
            rpc::result(&id, result)
        };
        let info = json!({ "name": "palisade", "version": env!("CARGO_PKG_VERSION") });
        let answer = match method {
            "initialize" => {
                let elicits = params.get("capabilities").and_then(|it| it.get("elicitation"));
                self.state().elicits = elicits.is_some();
                let wanted = params.get("protocolVersion").and_then(Json::as_str);
                let version = SHAKEN.into_iter().find(|known| Some(*known) == wanted);
                let version = version.unwrap_or("2025-11-25");
                let capabilities = json!({ "tools": { "listChanged": false } });
                whole(json!({ "protocolVersion": version, "capabilities": capabilities,
                              "serverInfo": info, "instructions": tools::INSTRUCTIONS }))
            }
            "server/discover" => {
                let versions: Vec<&str> = SHAKEN.into_iter().chain([STATELESS]).collect();
                whole(json!({ "supportedVersions": versions, "capabilities": { "tools": {} },
                              "serverInfo": info, "instructions": tools::INSTRUCTIONS,
                              "ttlMs": 3_600_000, "cacheScope": "private" }))
            }
            "ping" => whole(json!({})),
            "tools/list" => {
                let mut list = json!({ "tools": tools::list() });
                if is_stateless {
                    (list["ttlMs"], list["cacheScope"]) = (3_600_000.into(), "private".into());
                }
                whole(list)
            }
            "tools/call" => return self.called(id, params, is_stateless, out),
            _ => {
                let message = format!("nobody knows the method `{method}`");
                rpc::error(&id, rpc::METHOD_NOT_FOUND, &message, Json::Null)
            }
        };
        out(&answer);
    }

    /// Carries a call out in a thread of its own.
    fn called(
        self: &Arc<Self>,
        id: Json,
        params: Map<String, Json>,
        is_stateless: bool,
        out: &Out,
    ) {
        let (key, refused) = (id.to_string(), id.clone());
        let Some(turn) = Turn::take(&self.server) else {
            let message = "too many calls go on";
            return out(&rpc::error(&id, rpc::INVALID_REQUEST, message, Json::Null));
        };
        {
            let mut state = self.state();
            if state.calls.len() >= CALLS || state.calls.contains_key(&key) {
                let message = "too many calls go on, or one of this `id` does";
                drop(state);
                return out(&rpc::error(&id, rpc::INVALID_REQUEST, message, Json::Null));
            }
            state.calls.insert(key.clone(), Ongoing::default());
        }
        let (peer, says, begins) = (Arc::clone(self), Arc::clone(out), key.clone());
        let begun = thread::Builder::new().spawn(move || {
            let call = AssertUnwindSafe(|| peer.carried_out(&key, &params, is_stateless, &says));
            let done = catch_unwind(call);
            drop(turn);
            peer.state().calls.remove(&key);
            let answer = match done {
                Ok(Ok(result)) => rpc::result(&id, result),
                Ok(Err(fault)) => Fault { id, ..fault }.answer(),
                Err(_) => rpc::error(&id, rpc::INTERNAL_ERROR, "an error of ours", Json::Null),
            };
            says(&answer);
        });
        if begun.is_err() {
            self.state().calls.remove(&begins);
            let message = "no thread can be had";
            out(&rpc::error(&refused, rpc::INTERNAL_ERROR, message, Json::Null));
        }
    }

    fn carried_out(
        &self,
        key: &str,
        params: &Map<String, Json>,
        is_stateless: bool,
        out: &Out,
    ) -> Result<Json, Fault> {
        let server = &*self.server;
        let name = params.get("name").and_then(Json::as_str);
        let name = name.ok_or_else(|| Fault::params("`name` is missing"))?;
        let none = Map::new();
        let arguments = match params.get("arguments") {
            None | Some(Json::Null) => &none,
            Some(Json::Object(arguments)) => arguments,
            Some(_) => return Err(Fault::params("`arguments` is no object")),
        };
        if !tools::is_known(name) {
            return Err(Fault::params(format!("there is no tool `{name}`")));
        }
        let asks = tools::asks(server, name, key, arguments);
        server.warn();
        let asks = match asks {
            Asks::Nobody => false,
            Asks::Denied(why) => return Ok(finished(Told::error(why), is_stateless)),
            Asks::Somebody(why) => {
                let hash = super::hash(&format!("{name} {}", json!(arguments)));
                let question = question(name, arguments, &why);
                let elicits = params.get("_meta").and_then(|meta| meta.get(CAPABILITIES));
                let elicits = elicits.is_some_and(|can| can.get("elicitation").is_some());
                let answer = match params.get("inputResponses").and_then(|it| it.get("confirm")) {
                    // An answer counts for the very call that was shown.
                    Some(answer)
                        if params.get("requestState").and_then(Json::as_str) == Some(&hash) =>
                    {
                        Some(answer.clone())
                    }
                    _ if is_stateless && elicits => {
                        let asked = json!({ "method": "elicitation/create", "params": question });
                        return Ok(json!({ "resultType": "input_required", "requestState": hash,
                                          "inputRequests": { "confirm": asked } }));
                    }
                    _ if is_stateless => None,
                    _ => self.elicited(question, out),
                };
                let said =
                    answer.map(|it| it["action"] == "accept" && it["content"]["run"] == true);
                let is_yes = said == Some(true);
                // Of a command that then runs, the sandbox records it.
                if !is_yes || name != "run_command" {
                    let said = match said {
                        Some(true) => Answered::Yes,
                        Some(false) => Answered::No,
                        None => Answered::Nobody,
                    };
                    server.sandbox.answered_tool(said, "mcp", &hash);
                }
                if !is_yes {
                    let why = format!("{why}; nobody agreed to it");
                    return Ok(finished(Told::error(why), is_stateless));
                }
                true
            }
        };
        AGREED.set(asks);
        let told = tools::call(server, name, arguments, |stop| {
            if let Some(call) = self.state().calls.get_mut(key) {
                call.began(stop);
            }
        });
        Ok(finished(told, is_stateless))
    }

    /// Has the client ask its user, and waits for the answer; none if it cannot.
    fn elicited(&self, question: Json, out: &Out) -> Option<Json> {
        let (sender, answer) = channel();
        let (id, time) = {
            let mut state = self.state();
            if !state.elicits {
                return None;
            }
            state.asked += 1;
            let id = Json::from(format!("ask-{}", state.asked));
            state.answers.insert(id.to_string(), sender);
            let policy = self.server.sandbox.session().policy();
            let time = policy.confirm.timeout.value().0.map(Period::duration);
            (id, time.unwrap_or(Duration::from_secs(300)))
        };
        let key = id.to_string();
        out(&json!({ "jsonrpc": "2.0", "id": id, "method": "elicitation/create",
                     "params": question }));
        let answer = answer.recv_timeout(time).ok();
        self.state().answers.remove(&key);
        answer
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call's turn among those of all clients.
struct Turn(Arc<Server>);

impl Turn {
    fn take(server: &Arc<Server>) -> Option<Self> {
        let turn = Self(Arc::clone(server));
        (server.ongoing.fetch_add(1, Ordering::Relaxed) < ALL_CALLS).then_some(turn)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.ongoing.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What a person reads: exactly what would be done.
fn question(name: &str, arguments: &Map<String, Json>, why: &str) -> Json {
    let shown = visible(&json!(arguments).to_string());
    json!({
        "message": format!("May {name} do this? {shown}\nBecause: {}", visible(why)),
        "requestedSchema": {
            "type": "object",
            "properties": { "run": { "type": "boolean", "title": "Let it", "default": false } },
            "required": ["run"],
        },
    })
}

fn finished(told: Told, is_stateless: bool) -> Json {
    let mut result =
        json!({ "content": [{ "type": "text", "text": told.text }], "isError": told.is_error });
    if let Some(structured) = told.structured {
        result["structuredContent"] = structured;
    }
    if is_stateless {
        result["resultType"] = "complete".into();
    }
    result
}
