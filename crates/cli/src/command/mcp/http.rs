//! Clients that connect: sessions of the generation with a handshake, and requests that tell
//! everything themselves.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use palisade::Request;
use palisade::mcp::{Heard, Out as Wire, Reply, Served, listen};
use palisade::proxy::{CannotServe, Names, read_token};
use palisade::rpc::{self, Message};
use serde_json::{Map, Value as Json, json};

use super::ServeArgs;
use super::peer::{Peer, SHAKEN, STATELESS, VERSION};
use super::server::{Out, Server};
use super::whose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::Ui;

/// Most sessions, and how long one is kept that nobody uses when there is no room for another.
const SESSIONS: usize = 64;
const UNUSED: Duration = Duration::from_secs(600);

/// What headers say is not what the message says.
const HEADER_MISMATCH: i64 = -32020;
/// The version is one that we do not speak.
const UNSUPPORTED_VERSION: i64 = -32022;

/// Listens until the process is ended.
pub(super) fn serve(
    request: &Request,
    args: &ServeArgs,
    at: SocketAddr,
    ui: &Ui,
) -> Result<Exit, Failure> {
    let token = match &args.token_file {
        None => None,
        Some(path) => Some(read_token(path).map_err(|error| {
            Failure::new(error.code(), error.to_string()).caused_by(&error).file(path)
        })?),
    };
    if token.is_none() && !whose::CAN_TELL {
        return Err(Failure::new("no-token", "who connects cannot be told on this system")
            .hint("put a token into a file and name it with --token-file"));
    }
    let mut names = Names::default();
    for host in &args.allow_host {
        names.add_host(host).map_err(|error| Failure::new("name", error.to_string()))?;
    }
    let is_open = token.is_some();
    let server = Server::new(request, ui)?;
    let sessions = Sessions { server, is_open, known: Mutex::default() };
    let open = listen(at, token, names, Arc::new(sessions)).map_err(|error| failure(&error))?;
    ui.data(&format!("listening at {}\n", open.url()))?;
    open.wait();
    Ok(Exit::Success)
}

fn failure(error: &CannotServe) -> Failure {
    let told = Failure::new(error.code(), error.to_string()).caused_by(error);
    match error.hint() {
        Some(hint) => told.hint(hint),
        None => told,
    }
}

struct Sessions {
    server: Arc<Server>,
    /// Whether a token says who may speak, and not whose process it is.
    is_open: bool,
    known: Mutex<BTreeMap<String, Session>>,
}

struct Session {
    peer: Arc<Peer>,
    used: Instant,
}

impl Served for Sessions {
    fn admits(&self, peer: SocketAddr, own: SocketAddr) -> bool {
        self.is_open || whose::is_ours(peer, own)
    }

    fn hear(&self, heard: Heard, wire: Wire) -> Reply {
        let out: Out = Arc::new(move |message: &Json| wire.say(message.to_string().into_bytes()));
        let refuse = |status, id: &Json, code, message: &str, data| {
            out(&rpc::error(id, code, message, data));
            Reply::Answer { status, session: None }
        };
        let message = match Message::read(&heard.message) {
            Ok(message) => message,
            Err(fault) => {
                out(&fault.answer());
                return Reply::Answer { status: 400, session: None };
            }
        };
        let (id, method, params) = parts(&message);
        let told = params.and_then(|it| it.get("_meta")?.get(VERSION)?.as_str());
        if told.is_some() || heard.version.as_deref() == Some(STATELESS) {
            if let Some(why) = mismatch(&heard, told, method, params) {
                return refuse(400, &id, HEADER_MISMATCH, &why, Json::Null);
            }
            if told != Some(STATELESS) {
                let data = json!({ "supported": [STATELESS], "requested": told });
                let message = "this version is spoken by sessions alone, or not at all";
                return refuse(400, &id, UNSUPPORTED_VERSION, message, data);
            }
            return hears(&Peer::new(&self.server), message, out, true);
        }
        let wants_answer = matches!(message, Message::Request { .. });
        // Without an `id` nobody would learn the name of the session, and end it.
        if method == Some("initialize") && heard.session.is_none() && wants_answer {
            let Some((name, peer)) = self.begun() else {
                return refuse(
                    503,
                    &id,
                    rpc::INTERNAL_ERROR,
                    "too many sessions go on",
                    Json::Null,
                );
            };
            peer.hear(message, &out);
            return Reply::Answer { status: 200, session: Some(name) };
        }
        let wrong = |status, why| refuse(status, &id, rpc::INVALID_REQUEST, why, Json::Null);
        let Some(session) = &heard.session else {
            return wrong(400, "no session is named: begin with `initialize`");
        };
        if heard.version.as_deref().is_some_and(|version| !SHAKEN.contains(&version)) {
            return wrong(400, "nobody speaks this version");
        }
        match self.used(session) {
            Some(peer) => hears(&peer, message, out, false),
            None => wrong(404, "there is no such session"),
        }
    }

    fn end(&self, session: &str) -> bool {
        let ended = self.known().remove(session);
        ended.inspect(|session| session.peer.leave()).is_some()
    }
}

impl Sessions {
    /// Begins a session, in the place of one that nobody uses where there is no other.
    fn begun(&self) -> Option<(String, Arc<Peer>)> {
        let name = unguessable().ok()?;
        let mut known = self.known();
        if known.len() >= SESSIONS {
            let is_unused = |it: &Session| it.peer.is_idle() && it.used.elapsed() >= UNUSED;
            let oldest = known.iter().filter(|(_, it)| is_unused(it)).min_by_key(|(_, it)| it.used);
            let oldest = oldest.map(|(name, _)| name.clone())?;
            known.remove(&oldest);
        }
        let peer = Peer::new(&self.server);
        known.insert(name.clone(), Session { peer: Arc::clone(&peer), used: Instant::now() });
        Some((name, peer))
    }

    fn used(&self, name: &str) -> Option<Arc<Peer>> {
        let mut known = self.known();
        let session = known.get_mut(name)?;
        session.used = Instant::now();
        Some(Arc::clone(&session.peer))
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, Session>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hands a message on. A call is answered by a stream: somebody may have to be asked meanwhile.
fn hears(peer: &Arc<Peer>, message: Message, out: Out, is_stateless: bool) -> Reply {
    let (is_call, is_request) = match &message {
        Message::Request { method, .. } => (method == "tools/call", true),
        Message::Notification { .. } | Message::Response { .. } => (false, false),
    };
    let known = match &message {
        Message::Request { method, .. } => is_known(method),
        Message::Notification { .. } | Message::Response { .. } => true,
    };
    peer.hear(message, &out);
    if !is_request {
        return Reply::Accepted;
    }
    if !is_call {
        let status = if is_stateless && !known { 404 } else { 200 };
        return Reply::Answer { status, session: None };
    }
    let peer = Arc::clone(peer);
    Reply::Stream(Box::new(move || {
        // A client that leaves wants no more of what it asked for; one with a session says so itself.
        if is_stateless {
            peer.leave();
        }
    }))
}

fn is_known(method: &str) -> bool {
    matches!(method, "initialize" | "server/discover" | "ping" | "tools/list" | "tools/call")
}

/// Returns the `id`, the method and the parameters of a message.
fn parts(message: &Message) -> (Json, Option<&str>, Option<&Map<String, Json>>) {
    match message {
        Message::Request { id, method, params } => (id.clone(), Some(method), Some(params)),
        Message::Notification { method, params } => (Json::Null, Some(method), Some(params)),
        Message::Response { id, .. } => (id.clone(), None, None),
    }
}

/// Says where headers tell something else than the message: others went by them.
fn mismatch(
    heard: &Heard,
    told: Option<&str>,
    method: Option<&str>,
    params: Option<&Map<String, Json>>,
) -> Option<String> {
    let wants_name = method == Some("tools/call");
    let name = params.and_then(|it| it.get("name")?.as_str()).filter(|_| wants_name);
    let pairs = [
        ("mcp-protocol-version", heard.version.as_deref(), told),
        ("mcp-method", heard.method.as_deref(), method),
        ("mcp-name", heard.name.as_deref().filter(|_| wants_name), name),
    ];
    let differs = pairs.into_iter().find(|(_, header, body)| header != body);
    differs.map(|(header, ..)| format!("the header `{header}` and the message do not agree"))
}

/// Returns 128 random bits as text.
fn unguessable() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
