//! Another server: messages go there one by one, and come back in answers and streams.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use serde_json::{Value as Json, json};
use tokio::runtime::{self, Runtime};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

use super::{EVENTS, JSON, MESSAGE, METHOD, NAME, SESSION, VERSION, is_type, name};
use crate::llm::sse::Splitter;
use crate::proxy::body::Body;
use crate::proxy::upstream::{Carrier, client};

/// How long a server may take to begin an answer.
const PATIENCE: Duration = Duration::from_secs(300);
/// How long it may take to hear what wants no answer, and to end a session.
const SHORT: Duration = Duration::from_secs(10);
/// How long after a stream has ended the next one is asked for.
const AGAIN: Duration = Duration::from_secs(5);
/// Most requests at once.
const AT_ONCE: usize = 64;

/// A message for the server.
#[derive(Clone, Debug, Default)]
pub struct Post {
    /// The message.
    pub line: Vec<u8>,
    /// What its answer is known by, if it wants one.
    pub id: Option<Json>,
    /// Its method; none for an answer.
    pub method: Option<String>,
    /// The name of what it is for.
    pub name: Option<String>,
    /// The version that it names itself, where each request tells everything.
    pub version: Option<String>,
    /// The request that is not wanted any more.
    pub cancels: Option<Json>,
}

/// Who hears what the server says: returns whether that was the answer to the request of this `id`.
pub type Hears = Arc<dyn Fn(Vec<u8>, Option<&Json>) -> bool + Send + Sync>;

/// Why a server cannot be spoken to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CannotReach {
    /// The address is none.
    #[error("`{0}` is no address of a server: {1}")]
    Address(String, &'static str),
    /// The system refused.
    #[error("no server can be spoken to")]
    Io(#[from] io::Error),
    /// TLS cannot be set up.
    #[error("TLS cannot be set up")]
    Tls(#[source] rustls::Error),
}

/// A server that is spoken to.
#[derive(Debug)]
pub struct Far {
    runtime: Runtime,
    posts: Sender<Post>,
    ended: std::sync::mpsc::Receiver<()>,
}

struct Shared {
    carrier: Carrier,
    uri: Uri,
    token: Option<HeaderValue>,
    hears: Hears,
    state: Mutex<State>,
}

/// Whether each request tells everything.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Generation {
    Older,
    Newer,
}

#[derive(Clone, Debug, Default)]
struct State {
    session: Option<HeaderValue>,
    version: Option<HeaderValue>,
}

impl Far {
    /// Makes one ready; nothing is sent yet.
    ///
    /// # Errors
    ///
    /// When the address cannot be used. A token is not sent where others could read it.
    pub fn new(
        url: &str,
        token: Option<&str>,
        authorities: &[u8],
        hears: Hears,
    ) -> Result<Self, CannotReach> {
        let bad = |why| CannotReach::Address(url.to_owned(), why);
        let uri: Uri = url.parse().map_err(|_| bad("it is no URL"))?;
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let authority =
            uri.authority().map(hyper::http::uri::Authority::as_str).unwrap_or_default();
        let is_near = host == "localhost"
            || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
        match uri.scheme_str() {
            _ if host.is_empty() => return Err(bad("it names no host")),
            _ if authority.contains('@') => return Err(bad("a token comes from a file")),
            Some("https") => {}
            Some("http") if is_near || token.is_none() => {}
            Some("http") => return Err(bad("a token goes nowhere but by https")),
            Some(_) | None => return Err(bad("its scheme is neither http nor https")),
        }
        let token = token.map(|token| HeaderValue::try_from(format!("Bearer {token}")));
        let mut token = token.transpose().map_err(|_| bad("the token is none"))?;
        token.iter_mut().for_each(|token| token.set_sensitive(true));
        let mut builder = runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(2).thread_name("pal-mcp").enable_all().build()?;
        let carrier = {
            let _entered = runtime.enter();
            client(authorities).map_err(CannotReach::Tls)?
        };
        let shared = Arc::new(Shared { carrier, uri, token, hears, state: Mutex::default() });
        let (posts, waiting) = channel(AT_ONCE);
        let (end, ended) = std::sync::mpsc::channel();
        runtime.spawn(async move {
            carry(shared, waiting).await;
            end.send(()).ok();
        });
        Ok(Self { runtime, posts, ended })
    }

    /// Sends a message, in its turn.
    ///
    /// # Errors
    ///
    /// When nobody carries messages any more.
    pub fn send(&self, post: Post) -> io::Result<()> {
        self.posts.blocking_send(post).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    /// Ends the session.
    pub fn close(self) {
        let Self { runtime, posts, ended } = self;
        drop(posts);
        ended.recv_timeout(SHORT).ok();
        runtime.shutdown_background();
    }
}

async fn carry(shared: Arc<Shared>, mut posts: Receiver<Post>) {
    let room = Arc::new(Semaphore::new(AT_ONCE));
    let mut listens = None;
    let mut asking: BTreeMap<String, (AbortHandle, Generation)> = BTreeMap::new();
    while let Some(post) = posts.recv().await {
        asking.retain(|_, (task, _)| !task.is_finished());
        if let Some(id) = &post.cancels {
            let asked = asking.remove(&id.to_string());
            // In the newer generation who leaves cancels; in the older the server is told first.
            if !matches!(asked, Some((_, Generation::Newer))) {
                timeout(SHORT, shared.post(post)).await.ok();
            }
            asked.iter().for_each(|(task, _)| task.abort());
            continue;
        }
        let Some(id) = post.id.clone() else {
            let begins = post.method.as_deref() == Some("notifications/initialized");
            // In order: what follows may build on it.
            timeout(SHORT, shared.post(post)).await.ok();
            if begins && listens.is_none() {
                listens = Some(tokio::spawn(listen(shared.clone())));
            }
            continue;
        };
        if post.method.as_deref() == Some("initialize") {
            shared.asked(post, id).await;
            continue;
        }
        let Ok(permit) = room.clone().try_acquire_owned() else {
            shared.failed(&id, "too many requests are not answered yet").await;
            continue;
        };
        let generation = if post.version.is_some() { Generation::Newer } else { Generation::Older };
        let (key, shared) = (id.to_string(), shared.clone());
        let task = tokio::spawn(async move {
            shared.asked(post, id).await;
            drop(permit);
        });
        asking.insert(key, (task.abort_handle(), generation));
    }
    // What was asked gets a moment to be answered.
    let all = u32::try_from(AT_ONCE).unwrap_or(u32::MAX);
    drop(timeout(SHORT / 5, room.acquire_many(all)).await);
    listens.iter().for_each(tokio::task::JoinHandle::abort);
    if shared.state().session.is_some() {
        let request = shared.request(Method::DELETE, Body::known(Vec::new()));
        timeout(SHORT / 5, shared.carrier.request(request)).await.ok();
    }
}

/// Hears what the server says unasked, as long as it wants to say something.
async fn listen(shared: Arc<Shared>) {
    loop {
        let mut request = shared.request(Method::GET, Body::known(Vec::new()));
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static(EVENTS));
        let Ok(Ok(response)) = timeout(PATIENCE, shared.carrier.request(request)).await else {
            return;
        };
        if response.status() != StatusCode::OK || !is_kind(response.headers(), EVENTS) {
            return;
        }
        if shared.stream(response.into_body(), None).await.is_err() {
            return;
        }
        sleep(AGAIN).await;
    }
}

impl Shared {
    fn state(&self) -> State {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn request(&self, method: Method, body: Body) -> Request<Body> {
        let mut request = Request::new(body);
        (*request.method_mut(), *request.uri_mut()) = (method, self.uri.clone());
        let State { session, version } = self.state();
        let headers = request.headers_mut();
        let known = [(SESSION, session), (VERSION, version)];
        for (name, value) in known {
            value.map(|value| headers.insert(name, value));
        }
        self.token.clone().map(|token| headers.insert(AUTHORIZATION, token));
        request
    }

    async fn post(&self, post: Post) -> Result<Response<Incoming>, String> {
        let mut request = self.request(Method::POST, Body::known(post.line));
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        if let Some(version) = post.version {
            headers.remove(SESSION);
            let name = post.name.as_deref().map(name::written);
            for (header, value) in [(VERSION, Some(version)), (METHOD, post.method), (NAME, name)] {
                if let Some(value) = value {
                    let value = HeaderValue::try_from(value);
                    headers.insert(header, value.map_err(|_| "it fits into no header")?);
                }
            }
        } else if post.method.as_deref() == Some("initialize") {
            headers.remove(SESSION);
            headers.remove(VERSION);
        }
        let sent = timeout(PATIENCE, self.carrier.request(request)).await;
        let sent = sent.map_err(|_| "the server does not answer".to_owned())?;
        sent.map_err(|error| format!("the server cannot be reached ({})", cause(&error)))
    }

    /// Sends a request, and has its answer heard; whatever goes wrong is an answer too.
    async fn asked(&self, post: Post, id: Json) {
        let begins = post.method.as_deref() == Some("initialize");
        let why = match self.post(post).await {
            Err(why) => why,
            Ok(response) => match self.answered(response, &id, begins).await {
                Ok(true) => return,
                Ok(false) => "the server did not answer the request".to_owned(),
                Err(why) => why,
            },
        };
        self.failed(&id, &why).await;
    }

    async fn answered(
        &self,
        response: Response<Incoming>,
        id: &Json,
        begins: bool,
    ) -> Result<bool, String> {
        let (status, headers) = (response.status(), response.headers().clone());
        if begins && status == StatusCode::OK {
            let session = headers.get(SESSION).cloned();
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            *state = State { session, version: None };
        }
        if status == StatusCode::OK && is_kind(&headers, EVENTS) {
            return self.stream(response.into_body(), Some(id)).await;
        }
        if is_kind(&headers, JSON) {
            let body = whole(response.into_body()).await?;
            if self.hear(body, Some(id.clone())).await {
                return Ok(true);
            }
        }
        Err(match status.as_u16() {
            200..=299 => return Ok(false),
            401 | 403 => format!("the server lets nobody in without its token ({status})"),
            404 if self.state().session.is_some() => {
                "the server knows nothing of this session any more".to_owned()
            }
            300..=399 => format!("the server is elsewhere ({status}), and is not followed there"),
            _ => format!("the server answers {status}"),
        })
    }

    /// Has each message of a stream heard; returns whether the one that is waited for was among them.
    async fn stream(&self, mut body: Incoming, id: Option<&Json>) -> Result<bool, String> {
        let (mut splitter, mut is_answered) = (Splitter::default(), false);
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else { break };
            let Ok(bytes) = frame.into_data() else { continue };
            let mut events = Vec::new();
            splitter.push(&bytes, |event| events.extend(event.data));
            if splitter.held() > 2 * MESSAGE {
                return Err("the server's message is too long".to_owned());
            }
            for event in events.into_iter().filter(|event| !event.is_empty()) {
                is_answered |= self.hear(event, id.cloned()).await;
            }
            // A server that does not end its stream keeps nobody's place.
            if is_answered {
                break;
            }
        }
        Ok(is_answered)
    }

    /// Hands a message on, by a thread that may wait.
    async fn hear(&self, message: Vec<u8>, id: Option<Json>) -> bool {
        if message.len() > MESSAGE {
            return false;
        }
        self.notice(&message);
        let hears = self.hears.clone();
        tokio::task::spawn_blocking(move || hears(message, id.as_ref())).await.unwrap_or(false)
    }

    /// Notes the version that was agreed on.
    fn notice(&self, message: &[u8]) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.version.is_some() {
            return;
        }
        let told: Option<Json> = serde_json::from_slice(message).ok();
        let version =
            told.as_ref().and_then(|it| it.get("result")?.get("protocolVersion")?.as_str());
        state.version = version.and_then(|version| version.parse().ok());
    }

    async fn failed(&self, id: &Json, why: &str) {
        let error = json!({ "code": -32000, "message": format!("palisade: {why}") });
        let message = json!({ "jsonrpc": "2.0", "id": id, "error": error });
        self.hear(message.to_string().into_bytes(), Some(id.clone())).await;
    }
}

async fn whole(mut body: Incoming) -> Result<Vec<u8>, String> {
    let mut read = Vec::new();
    loop {
        let frame = timeout(PATIENCE, body.frame()).await;
        let Some(frame) = frame.map_err(|_| "the server does not go on")? else { return Ok(read) };
        let frame = frame.map_err(|_| "the server's answer broke off")?;
        if let Ok(bytes) = frame.into_data() {
            if read.len() + bytes.len() > MESSAGE {
                return Err("the server's answer is too long".to_owned());
            }
            read.extend_from_slice(&bytes);
        }
    }
}

fn is_kind(headers: &HeaderMap, wanted: &str) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| is_type(kind, wanted))
}

/// Returns what an error comes from.
fn cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}
