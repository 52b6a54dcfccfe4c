//! A server of ours: who may speak, and how what is said comes back.
//!
//! Whoever connects is looked at first; then the names it uses, the page it speaks for, and its token.
//! Only then is a body read.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{ACCEPT, ALLOW, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HeaderMap};
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::net::TcpStream;
use tokio::runtime::{self, Runtime};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::{Interval, interval, sleep, timeout};

use super::{EVENTS, JSON, MESSAGE, METHOD, NAME, SESSION, VERSION, is_type, name};
use crate::proxy::Names;
use crate::proxy::door::Door;

/// Most connections at once; others wait.
const CONNECTIONS: usize = 256;
/// How long a client may take to begin, and to go on with a body.
const BEGIN: Duration = Duration::from_secs(30);
/// How long it may take for the whole of it.
const WHOLE: Duration = Duration::from_secs(300);
/// How often a stream that has nothing to say says so.
const ALIVE: Duration = Duration::from_secs(15);
/// Most messages that wait for a client to read them.
const WAITING: usize = 16;

/// What a client said.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Heard {
    /// Its message, as it came.
    pub message: Vec<u8>,
    /// The session that it names.
    pub session: Option<String>,
    /// What its headers say: the version, the method, and the name of what it is for.
    pub version: Option<String>,
    /// The method.
    pub method: Option<String>,
    /// The name.
    pub name: Option<String>,
}

/// What becomes of it.
pub enum Reply {
    /// The first message that was said is the answer.
    Answer {
        /// The status of HTTP.
        status: u16,
        /// The session that it began.
        session: Option<String>,
    },
    /// There is none.
    Accepted,
    /// Messages come as they are said, until nobody is left to say one. This is called when that is so,
    /// or when the client is gone.
    Stream(Box<dyn FnOnce() + Send>),
}

impl std::fmt::Debug for Reply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Answer { .. } => "Answer",
            Self::Accepted => "Accepted",
            Self::Stream(_) => "Stream",
        })
    }
}

/// Where messages for one request are said.
#[derive(Clone, Debug)]
pub struct Out(Sender<Vec<u8>>);

impl Out {
    /// Says one. A client that does not read is not waited for.
    pub fn say(&self, message: Vec<u8>) {
        self.0.try_send(message).ok();
    }
}

/// Who is served by.
pub trait Served: Send + Sync {
    /// Whether a process at this address may speak at all.
    fn admits(&self, peer: SocketAddr, own: SocketAddr) -> bool;
    /// Takes a message.
    fn hear(&self, heard: Heard, out: Out) -> Reply;
    /// Ends a session; false if there is none.
    fn end(&self, session: &str) -> bool;
}

/// What a server needs to be opened.
#[derive(Debug)]
pub struct Settings {
    /// Where clients connect.
    pub listener: TcpListener,
    /// Under which other names it is reached, and which pages may use it.
    pub names: Names,
    /// What clients must show, if anything.
    pub token: Option<String>,
}

/// A server that is open. It closes when it is dropped.
#[derive(Debug)]
pub struct Open {
    address: SocketAddr,
    runtime: Option<Runtime>,
}

struct Shared {
    address: SocketAddr,
    door: Door,
    token: Option<String>,
    served: Arc<dyn Served>,
}

impl Open {
    /// Opens one.
    ///
    /// # Errors
    ///
    /// When the listener cannot be used.
    pub fn new(settings: Settings, served: Arc<dyn Served>) -> io::Result<Self> {
        let Settings { listener, names, token } = settings;
        let mut builder = runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(2).thread_name("pal-mcp").enable_all().build()?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let door = Door::new(address, false, names);
        let shared = Arc::new(Shared { address, door, token, served });
        let listener = {
            let _entered = runtime.enter();
            tokio::net::TcpListener::from_std(listener)?
        };
        runtime.spawn(accept(listener, shared));
        Ok(Self { address, runtime: Some(runtime) })
    }

    /// Returns where clients connect.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Waits for ever.
    pub fn wait(&self) {
        if let Some(runtime) = &self.runtime {
            runtime.block_on(std::future::pending::<()>());
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn accept(listener: tokio::net::TcpListener, shared: Arc<Shared>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(permit) = room.clone().acquire_owned().await else { return };
        let Ok((stream, peer)) = listener.accept().await else {
            // Out of descriptors, perhaps: others end, and then there is room again.
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        let shared = shared.clone();
        tokio::spawn(async move {
            connection(stream, peer, &shared).await;
            drop(permit);
        });
    }
}

async fn connection(stream: TcpStream, peer: SocketAddr, shared: &Arc<Shared>) {
    let own = stream.local_addr().unwrap_or(shared.address);
    let asked = shared.clone();
    let admitted = tokio::task::spawn_blocking(move || asked.served.admits(peer, own)).await;
    if !admitted.unwrap_or(false) {
        return;
    }
    stream.set_nodelay(true).ok();
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(BEGIN);
    builder.http2().timer(TokioTimer::new()).max_concurrent_streams(64);
    let begun = AtomicBool::new(false);
    let service = service_fn(|request| {
        begun.store(true, Ordering::Relaxed);
        let shared = shared.clone();
        async move { Ok::<_, Infallible>(answered(&shared, request).await) }
    });
    let serving = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(serving);
    // How a connection ends is its client's business; one that says nothing keeps no place.
    if timeout(BEGIN, &mut serving).await.is_err() && begun.load(Ordering::Relaxed) {
        serving.await.ok();
    }
}

async fn answered(shared: &Arc<Shared>, request: Request<Incoming>) -> Response<Told> {
    answer(shared, request).await.unwrap_or_else(|Refused(status, why)| {
        let told = serde_json::json!({ "jsonrpc": "2.0", "id": null,
                                       "error": { "code": -32600, "message": why } });
        let mut response = told_at_once(status, JSON, told.to_string().into_bytes());
        if status == 405 {
            response
                .headers_mut()
                .insert(ALLOW, hyper::header::HeaderValue::from_static("POST, DELETE"));
        }
        if status == 401 {
            let bearer = hyper::header::HeaderValue::from_static("Bearer");
            response.headers_mut().insert(hyper::header::WWW_AUTHENTICATE, bearer);
        }
        response
    })
}

/// A request that is not heard: the status, and why.
struct Refused(u16, &'static str);

async fn answer(
    shared: &Arc<Shared>,
    request: Request<Incoming>,
) -> Result<Response<Told>, Refused> {
    let headers = request.headers();
    if let Err(problem) = shared.door.admit(request.uri(), headers) {
        return Err(Refused(
            problem.status,
            "the request is for another host, or a page of another place made it",
        ));
    }
    if !is_known(shared, headers) {
        return Err(Refused(401, "this server wants its token: `authorization: Bearer TOKEN`"));
    }
    if request.uri().path() != "/mcp" {
        return Err(Refused(404, "there is nothing here; speak to /mcp"));
    }
    let session = one(headers, SESSION)?;
    match *request.method() {
        Method::POST => {}
        Method::DELETE => {
            let session = session.ok_or(Refused(400, "no session is named"))?;
            let served = shared.served.clone();
            let ended = tokio::task::spawn_blocking(move || served.end(&session)).await;
            return match ended {
                Ok(true) => Ok(told_at_once(204, JSON, Vec::new())),
                Ok(false) | Err(_) => Err(Refused(404, "there is no such session")),
            };
        }
        // There is nothing that we would say unasked.
        _ => return Err(Refused(405, "messages are posted here")),
    }
    if !one(headers, CONTENT_TYPE.as_str())?.is_some_and(|value| is_type(&value, JSON)) {
        return Err(Refused(415, "a message is application/json"));
    }
    if !accepts(headers) {
        let why = "an answer is application/json or text/event-stream, and both must be accepted";
        return Err(Refused(406, why));
    }
    let name = match one(headers, NAME)? {
        None => None,
        Some(value) => Some(name::read(&value).ok_or(Refused(400, "`mcp-name` cannot be read"))?),
    };
    let (version, method) = (one(headers, VERSION)?, one(headers, METHOD)?);
    let message = whole(request.into_body()).await?;
    let heard = Heard { message, session, version, method, name };
    let (out, mut said) = channel(WAITING);
    let served = shared.served.clone();
    let reply = tokio::task::spawn_blocking(move || served.hear(heard, Out(out))).await;
    match reply.map_err(|_| Refused(500, "an error of ours"))? {
        Reply::Accepted => Ok(told_at_once(202, JSON, Vec::new())),
        Reply::Answer { status, session } => {
            let answer = said.try_recv().map_err(|_| Refused(500, "an error of ours"))?;
            let mut response = told_at_once(status, JSON, answer);
            let session = session.and_then(|session| session.parse().ok());
            session.map(|session| response.headers_mut().insert(SESSION, session));
            Ok(response)
        }
        Reply::Stream(ended) => {
            let mut alive = interval(ALIVE);
            alive.reset();
            Ok(response(200, EVENTS, Told::Stream { said, alive, ended: Some(ended) }))
        }
    }
}

/// Returns a header that may be there once.
fn one(headers: &HeaderMap, name: &str) -> Result<Option<String>, Refused> {
    let mut all = headers.get_all(name).iter();
    let Some(first) = all.next() else { return Ok(None) };
    let text = first.to_str().map_err(|_| Refused(400, "a header is no text"))?;
    if all.next().is_some() {
        return Err(Refused(400, "a header stands there twice"));
    }
    Ok(Some(text.to_owned()))
}

/// Whether a client takes both kinds of answers; one that says nothing takes all.
fn accepts(headers: &HeaderMap) -> bool {
    let lists: Vec<&str> =
        headers.get_all(ACCEPT).iter().filter_map(|it| it.to_str().ok()).collect();
    let takes = |wanted: &str, any: &str| {
        let mut kinds = lists.iter().flat_map(|list| list.split(','));
        kinds.any(|kind| [wanted, any, "*/*"].iter().any(|known| is_type(kind, known)))
    };
    lists.is_empty() || takes(JSON, "application/*") && takes(EVENTS, "text/*")
}

/// Whether a client showed what it must.
fn is_known(shared: &Shared, headers: &HeaderMap) -> bool {
    let Some(token) = &shared.token else { return true };
    let Ok(Some(shown)) = one(headers, AUTHORIZATION.as_str()) else { return false };
    let Some((scheme, shown)) = shown.split_once(' ') else { return false };
    // Every byte is compared, so that time tells nothing.
    let differs = shown.bytes().zip(token.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b));
    scheme.eq_ignore_ascii_case("bearer") && shown.len() == token.len() && differs == 0
}

async fn whole(mut body: Incoming) -> Result<Vec<u8>, Refused> {
    const LONG: Refused = Refused(413, "the message is too long");
    if body.size_hint().lower() > MESSAGE as u64 {
        return Err(LONG);
    }
    let read = async {
        let mut read = Vec::new();
        loop {
            let frame = timeout(BEGIN, body.frame())
                .await
                .map_err(|_| Refused(408, "it takes too long"))?;
            let Some(frame) = frame else { return Ok(read) };
            let frame = frame.map_err(|_| Refused(400, "the message broke off"))?;
            if let Ok(bytes) = frame.into_data() {
                if read.len() + bytes.len() > MESSAGE {
                    return Err(LONG);
                }
                read.extend_from_slice(&bytes);
            }
        }
    };
    timeout(WHOLE, read).await.unwrap_or(Err(Refused(408, "it takes too long")))
}

fn told_at_once(status: u16, kind: &'static str, body: Vec<u8>) -> Response<Told> {
    response(status, kind, Told::Known(Some(body.into()).filter(|it: &Bytes| !it.is_empty())))
}

fn response(status: u16, kind: &'static str, body: Told) -> Response<Told> {
    let mut response = Response::new(body);
    *response.status_mut() =
        hyper::StatusCode::from_u16(status).unwrap_or(hyper::StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, hyper::header::HeaderValue::from_static("no-store"));
    response
}

/// What is told: at once, or as it is said.
enum Told {
    Known(Option<Bytes>),
    Stream { said: Receiver<Vec<u8>>, alive: Interval, ended: Option<Box<dyn FnOnce() + Send>> },
}

impl hyper::body::Body for Told {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Known(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Stream { said, alive, .. } => {
                if let Poll::Ready(next) = said.poll_recv(cx) {
                    return Poll::Ready(next.map(|message| {
                        let event = [b"event: message\ndata: ", &*message, b"\n\n"].concat();
                        Ok(Frame::data(event.into()))
                    }));
                }
                alive.poll_tick(cx).map(|_| Some(Ok(Frame::data(Bytes::from_static(b": \n\n")))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Known(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Known(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Self::Stream { .. } => SizeHint::default(),
        }
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        if let Self::Stream { ended, .. } = self
            && let Some(ended) = ended.take()
        {
            ended();
        }
    }
}
