//! Between a client and another server.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use palisade::mcp::{self, Hears, Post};
use palisade::policy::decide::{Answer, Axis};
use palisade::policy::text::visible;
use palisade::proxy::read_token;
use palisade::rpc::{self, Line, Message};
use palisade::{Guard, Request, Sandbox};
use serde_json::{Map, Value as Json, json};

use super::GateArgs;
use super::peer::VERSION;
use super::pins::{Pinned, Pins};
use super::tools::because;
use crate::command::beside::{self, Beside};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::Ui;

/// Most requests of a client that are not answered yet.
const WAITING: usize = 4096;

/// What a client waits for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Awaited {
    /// A list of tools.
    List,
    Other,
}

const CANCELLED: &str = "notifications/cancelled";

struct Gate {
    sandbox: Sandbox,
    guard: Guard,
    ui: Ui,
    name: String,
    accept: bool,
    pins: Mutex<Pins>,
    /// Requests that are not answered yet, by their `id` as it was written.
    awaited: Mutex<BTreeMap<String, Awaited>>,
    client: Mutex<io::Stdout>,
    /// How often somebody was told that a message was not passed on.
    told: AtomicUsize,
}

/// Stands in front of a server until one of both sides is gone.
pub(super) fn stand(request: &Request, args: &GateArgs, ui: &Ui) -> Result<Exit, Failure> {
    let sandbox = beside::sandbox(request, ui)?;
    let root = &sandbox.session().root().path;
    let about = match &args.http {
        Some(url) => json!([args.name, url, root]).to_string(),
        None => json!([args.name, args.server, root]).to_string(),
    };
    let state = request.places().state;
    let pins = Pins::of(state.as_deref(), &about).map_err(|error| {
        Failure::io("pins", "what the server's tools said cannot be read", &error)
            .hint("look into the folder `mcp` of palisade's state")
    })?;
    let gate = Arc::new(Gate {
        guard: Guard::new(sandbox.session()),
        sandbox: sandbox.clone(),
        ui: ui.clone(),
        name: args.name.clone(),
        accept: args.accept_changes,
        pins: Mutex::new(pins),
        awaited: Mutex::default(),
        client: Mutex::new(io::stdout()),
        told: AtomicUsize::new(0),
    });
    match &args.http {
        Some(url) => spoken_to(gate, request, args, url),
        None => started(gate, &args.server, ui),
    }
}

/// Speaks to a server that runs already, somewhere.
fn spoken_to(
    gate: Arc<Gate>,
    request: &Request,
    args: &GateArgs,
    url: &str,
) -> Result<Exit, Failure> {
    let token = match &args.token_file {
        None => None,
        Some(path) => Some(read_token(path).map_err(|error| {
            Failure::new(error.code(), error.to_string()).caused_by(&error).file(path)
        })?),
    };
    let inwards = Arc::clone(&gate);
    let hears: Hears = Arc::new(move |message, id| gate.hear_server(&message, id));
    let far = mcp::far(request, url, token.as_deref(), args.server_ca.as_deref(), hears);
    let far = far.map_err(|error| Failure::new("server", error.to_string()).caused_by(&error))?;
    inwards.hear_client(|message, line| far.send(post(message, line)));
    far.close();
    Ok(Exit::Success)
}

/// Says of a message what its headers repeat.
fn post(message: &Message, line: Vec<u8>) -> Post {
    let (id, method, params) = match message {
        Message::Request { id, method, params } => (Some(id.clone()), Some(method), Some(params)),
        Message::Notification { method, params } => (None, Some(method), Some(params)),
        Message::Response { .. } => (None, None, None),
    };
    let text = |key: &str| params.and_then(|it| it.get(key)?.as_str()).map(str::to_owned);
    let name = match method.map(String::as_str) {
        Some("tools/call" | "prompts/get") => text("name"),
        Some("resources/read") => text("uri"),
        Some(_) | None => None,
    };
    let version = params.and_then(|it| it.get("_meta")?.get(VERSION)?.as_str()).map(str::to_owned);
    let cancels = method.is_some_and(|method| method == CANCELLED);
    let cancels = params.filter(|_| cancels).and_then(|it| it.get("requestId")).cloned();
    Post { line, id, method: method.cloned(), name, version, cancels }
}

/// Starts a server behind walls.
fn started(gate: Arc<Gate>, server: &[String], ui: &Ui) -> Result<Exit, Failure> {
    let Beside { run, mut to, from } = beside::start(&gate.sandbox, server)?;
    let stop = run.stop();
    let (inwards, outwards) = (Arc::clone(&gate), gate);
    let reader = thread::spawn(move || {
        let mut from = BufReader::new(from);
        while let Ok(Some(line)) = rpc::next_line(&mut from, rpc::MAX_MESSAGE) {
            match line {
                Line::Whole(line) => drop(outwards.hear_server(&line, None)),
                // Who waits for it waits in vain, and is not flooded.
                Line::TooLong => outwards.dropped("a message of the server is too long"),
            }
        }
    });
    thread::spawn(move || {
        inwards.hear_client(|_, line| send(&mut to, &line));
        drop(to);
        // The client is gone: the server gets the end of its input, and a moment to leave.
        thread::sleep(std::time::Duration::from_secs(2));
        stop.iter().for_each(palisade::Stop::now);
    });
    let outcome = run.wait()?;
    reader.join().ok();
    Ok(beside::ended(&outcome, "server", ui))
}

impl Gate {
    fn hear_client(&self, mut send: impl FnMut(&Message, Vec<u8>) -> io::Result<()>) {
        let mut from = io::stdin().lock();
        while let Ok(Some(line)) = rpc::next_line(&mut from, rpc::MAX_MESSAGE) {
            let line = match line {
                Line::Whole(line) => line,
                Line::TooLong => {
                    self.refuse(&Json::Null, "the message is too long, and was not passed on");
                    continue;
                }
            };
            let message = match Message::read(&line) {
                Ok(message) => message,
                Err(fault) => {
                    self.say(fault.answer().to_string().as_bytes());
                    continue;
                }
            };
            let passes = match &message {
                Message::Request { id, method, params } => self.passes(id, method, params),
                // A call that wants no answer would be made without one.
                Message::Notification { method, params } => {
                    if let Some(id) = params.get("requestId").filter(|_| method == CANCELLED) {
                        self.answered(id);
                    }
                    // One that begins a session without an answer would leave it behind.
                    !matches!(method.as_str(), "tools/call" | "initialize")
                }
                Message::Response { .. } => true,
            };
            // As it was read, and not as it was written: a server may read another message there.
            if passes && send(&message, message.line()).is_err() {
                return;
            }
        }
    }

    /// Whether a request goes to the server; one that does not is answered.
    fn passes(&self, id: &Json, method: &str, params: &Map<String, Json>) -> bool {
        match method {
            "tools/call" => match self.recorded(id, params) {
                None => self.awaits(id, Awaited::Other),
                Some(why) => {
                    let mut result =
                        json!({ "content": [{ "type": "text", "text": why }], "isError": true });
                    if params.get("_meta").is_some_and(|meta| meta.get(VERSION).is_some()) {
                        result["resultType"] = "complete".into();
                    }
                    self.say(rpc::result(id, result).to_string().as_bytes());
                    false
                }
            },
            "tools/list" => self.awaits(id, Awaited::List),
            _ => self.awaits(id, Awaited::Other),
        }
    }

    /// Notes a request that the server is to answer, once.
    fn awaits(&self, id: &Json, what: Awaited) -> bool {
        let mut awaited = self.awaited.lock().unwrap_or_else(PoisonError::into_inner);
        let key = id.to_string();
        if awaited.len() >= WAITING || awaited.contains_key(&key) {
            drop(awaited);
            self.refuse(id, "too many requests are not answered yet, or one of this `id`");
            return false;
        }
        awaited.insert(key, what);
        true
    }

    /// Says why a call must not be made, and tells whoever watches if it could not be recorded.
    fn recorded(&self, id: &Json, params: &Map<String, Json>) -> Option<String> {
        let denial = self.denial(&id.to_string(), params);
        if let Some(trouble) = self.sandbox.not_recorded() {
            self.ui.say(&format!("warning: {}", visible(&trouble)));
        }
        denial
    }

    /// Says why a call must not be made; none if it may.
    fn denial(&self, id: &str, params: &Map<String, Json>) -> Option<String> {
        let Some(tool) = params.get("name").and_then(Json::as_str) else {
            return Some("palisade: the call names no tool".to_owned());
        };
        if is_misspelt(params, "name") || is_misspelt(params, "arguments") {
            return Some("palisade: the call is told in two ways".to_owned());
        }
        let named = self.named(tool);
        if self.pins().is_changed(tool) {
            let why = format!(
                "the tool `{}` says something else of itself than when it was first seen",
                visible(tool)
            );
            self.sandbox.refuse_tool(&named, Some(id), "tool-changed", &why);
            return Some(format!(
                "palisade: {why}; its user can accept that (`palisade mcp gate --accept-changes`)"
            ));
        }
        let arguments = params.get("arguments").cloned().unwrap_or_else(|| json!({}));
        let (arguments, cwd) = (arguments.to_string(), self.guard.root());
        let verdict = self.sandbox.judge_tool_in(&named, Some(id), &arguments, cwd);
        match verdict.answer {
            Answer::Allow => None,
            Answer::Ask => Some(format!("{}; nobody can be asked here", because(&verdict))),
            Answer::Deny => Some(because(&verdict)),
        }
    }

    fn named(&self, tool: &str) -> String {
        format!("mcp__{}__{tool}", self.name)
    }

    /// Takes a message of the server's; returns whether it was the answer to the request of this `id`.
    fn hear_server(&self, line: &[u8], id: Option<&Json>) -> bool {
        let message = match Message::read(line) {
            Ok(message) => message,
            // A server that speaks no protocol would speak to whoever reads this.
            Err(fault) => {
                self.dropped(&format!("what the server says is no message ({})", fault.message));
                return false;
            }
        };
        let Message::Response { id: told, answer } = &message else {
            self.say(&message.line());
            return false;
        };
        match (self.answered(told), answer) {
            // A client may take an `id` for its own that is written otherwise, and a list that nobody
            // looked at for the one it asked for.
            (None, _) => {
                self.dropped("the server answers what was not asked");
                return false;
            }
            (Some(Awaited::List), Ok(result)) => {
                let listed = self.listed(result.clone());
                self.say(rpc::result(told, listed).to_string().as_bytes());
            }
            (Some(Awaited::List | Awaited::Other), _) => self.say(&message.line()),
        }
        id == Some(told)
    }

    /// Returns what was awaited under an `id`, and awaits it no more.
    fn answered(&self, id: &Json) -> Option<Awaited> {
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner).remove(&id.to_string())
    }

    /// Tells whoever watches that something was not passed on, as long as that is no flood.
    fn dropped(&self, what: &str) {
        const MOST: usize = 10;
        if self.told.fetch_add(1, Ordering::Relaxed) < MOST {
            self.ui.say(&format!("warning: {}; it was not passed on", visible(what)));
        }
    }

    /// Leaves out what the policy denies by name, and what says something else than before.
    fn listed(&self, mut result: Json) -> Json {
        if let Some(map) = result.as_object_mut() {
            // A client that cares for no case would read another list than the one that is looked at.
            map.retain(|key, list| {
                !is_spelling(key, "tools") || (key == "tools" && list.is_array())
            });
        }
        let Some(tools) = result.get_mut("tools").and_then(Json::as_array_mut) else {
            return result;
        };
        let mut pins = self.pins();
        tools.retain(|tool| {
            let Some(name) = tool.get("name").and_then(Json::as_str) else { return false };
            if tool.as_object().is_none_or(|tool| is_misspelt(tool, "name")) {
                return false;
            }
            let pinned = pins.see(name, tool, self.accept);
            pinned != Pinned::Changed && !self.is_denied(name)
        });
        // What cannot be remembered is compared again within this run.
        pins.keep().ok();
        result
    }

    /// Whether the policy denies a tool whatever it is called with.
    fn is_denied(&self, tool: &str) -> bool {
        let verdict = self.guard.tool_call(&self.named(tool), "{}", self.guard.root());
        let by_name = |axis| matches!(axis, Axis::Name | Axis::Rule);
        verdict
            .findings
            .iter()
            .any(|it| it.reason.answer == Answer::Deny && by_name(it.reason.axis))
    }

    fn refuse(&self, id: &Json, message: &str) {
        let answer = rpc::error(id, rpc::INVALID_REQUEST, message, Json::Null);
        self.say(answer.to_string().as_bytes());
    }

    fn say(&self, line: &[u8]) {
        let mut out = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        send(&mut *out, line).ok();
    }

    fn pins(&self) -> MutexGuard<'_, Pins> {
        self.pins.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a key is another, to readers that care for no case.
fn is_spelling(key: &str, of: &str) -> bool {
    key.to_uppercase() == of.to_uppercase()
}

/// Whether a key stands there in another spelling.
fn is_misspelt(map: &Map<String, Json>, of: &str) -> bool {
    map.keys().any(|key| key != of && is_spelling(key, of))
}

fn send(to: &mut impl Write, line: &[u8]) -> io::Result<()> {
    to.write_all(line.trim_ascii())?;
    to.write_all(b"\n")?;
    to.flush()
}
