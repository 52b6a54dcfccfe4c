//! One request: who asks, where does it go, and is its answer judged?

use std::io;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use hyper::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, PROXY_AUTHORIZATION, UPGRADE,
    USER_AGENT,
};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use tokio::time::timeout;

use super::body::Body;
use super::counters::count;
use super::decode::Unread;
use super::exchange::{Exchange, Line};
use super::failure::failed;
use super::head::{ask_plainly, only, pass_on, text};
use super::{AGENT_HEADER, REQUEST, ROOT_HEADER, Shared, TOKEN_HEADER, Who, decode};
use crate::llm::{Api, Asked, Problem};

/// How long a client may be silent in the middle of a request.
const SLOW: Duration = Duration::from_secs(60);

/// Answers one request.
pub(super) async fn handle(shared: Arc<Shared>, request: Request<Incoming>) -> Response<Body> {
    let path = request.uri().path().to_owned();
    if path == "/healthz" {
        return plain("application/json", "{\"status\":\"ok\"}\n");
    }
    let (api, answer) = match Api::of_path(&path) {
        Ok(api) => (api, answer(&shared, request, &path, api).await),
        Err(odd) => (None, Err(Problem::new(400, odd.to_string()))),
    };
    answer.unwrap_or_else(|refusal| {
        count(&shared.counters.refused, 1);
        shared
            .decides
            .tell(&format!("A request was refused ({}): {}", refusal.status, refusal.message));
        problem(api, &refusal)
    })
}

async fn answer(
    shared: &Arc<Shared>,
    mut request: Request<Incoming>,
    path: &str,
    api: Option<Api>,
) -> Result<Response<Body>, Problem> {
    shared.door.admit(request.uri(), request.headers())?;
    for name in [ROOT_HEADER, TOKEN_HEADER, AGENT_HEADER] {
        only(request.headers(), name)?;
    }
    if !is_known(shared, request.headers()) {
        let message = format!("this proxy wants its token in the header `{TOKEN_HEADER}`");
        return Err(Problem::new(401, message));
    }
    if shared.token.is_some() && text(request.headers(), PROXY_AUTHORIZATION).is_some() {
        request.headers_mut().remove(PROXY_AUTHORIZATION);
    }
    if path == "/metrics" {
        return Ok(plain("text/plain; version=0.0.4", &shared.counters.text()));
    }
    count(&shared.counters.requests, 1);
    // A trace tells its asker what it holds, keys among it; a question about no path is about the
    // proxy, which is no upstream.
    if request.method() == Method::TRACE || path == "*" {
        return Err(Problem::new(405, "this proxy passes on neither TRACE nor requests for `*`"));
    }
    if request.headers().contains_key(UPGRADE) || request.method() == Method::CONNECT {
        return Err(Problem::new(
            426,
            "this proxy speaks HTTP alone, and cannot judge what else is spoken",
        ));
    }
    match api.filter(|_| shared.decides.watches()) {
        Some(Api::Other) => by_shape(shared, request).await,
        Some(api) => judged(shared, request, api).await,
        None => {
            count(&shared.counters.unjudged, 1);
            passed(shared, request, api).await
        }
    }
}

/// Passes a request and its answer on as they come.
async fn passed(
    shared: &Arc<Shared>,
    mut request: Request<Incoming>,
    api: Option<Api>,
) -> Result<Response<Body>, Problem> {
    pass_on(request.headers_mut());
    let response = send(shared, request.map(Body::Passed), api).await?;
    let (mut parts, body) = response.into_parts();
    pass_on(&mut parts.headers);
    Ok(Response::from_parts(parts, Body::Passed(body)))
}

/// Passes a request on as it comes, and its answer as long as nothing in it looks like a call.
async fn by_shape(
    shared: &Arc<Shared>,
    request: Request<Incoming>,
) -> Result<Response<Body>, Problem> {
    let (mut parts, body) = request.into_parts();
    pass_on(&mut parts.headers);
    parts.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    let (method, uri) = (parts.method.clone(), parts.uri.clone());
    let line = Line { method, uri, headers: HeaderMap::new() };
    let request = Request::from_parts(parts, Body::Passed(body));
    let response = send(shared, request, Some(Api::Other)).await?;
    if !response.status().is_success() {
        return failed(shared, Api::Other, response).await;
    }
    let exchange = Exchange::new(shared.clone(), Api::Other, line, None, Who::default());
    Ok(exchange.answer(response).await)
}

/// Passes a request on, and its answer once it is judged.
async fn judged(
    shared: &Arc<Shared>,
    request: Request<Incoming>,
    api: Api,
) -> Result<Response<Body>, Problem> {
    let (mut parts, body) = request.into_parts();
    let body = read(body).await?;
    let encoding = text(&parts.headers, CONTENT_ENCODING);
    let said = decode::whole(encoding, &body, REQUEST).map_err(|unread| match unread {
        Unread::Unknown => {
            Problem::new(415, "the request is compressed in a way that cannot be read")
        }
        Unread::TooMuch => too_large(),
    })?;
    let path = parts.uri.path().to_owned();
    let mut asked = Asked::read(api, &path, &said);
    let chosen = text(&parts.headers, ROOT_HEADER).map(str::to_owned);
    let mentioned = asked.as_ref().map(Asked::folders).unwrap_or_default();
    let root = shared.decides.root(chosen.as_deref(), &mentioned);
    let root = root.map_err(|why| Problem::new(403, why))?;
    let agent = text(&parts.headers, AGENT_HEADER).or(text(&parts.headers, USER_AGENT));
    let model = asked.as_ref().map(|asked| asked.model.clone()).unwrap_or_default();
    let who = Who { model, agent: agent.map(str::to_owned), root };

    let mut changed = false;
    if let Some(asked) = &mut asked {
        let taken = asked.offer(&mut |tool| shared.decides.offers(tool, &who));
        count(&shared.counters.filtered, taken as u64);
        changed |= taken > 0;
        let own = asked.previous().and_then(|name| shared.missing.own_name(name));
        if let Some(own) = own {
            asked.set_previous(&own);
            changed = true;
        }
        let missing = asked.previous().map(|name| shared.missing.of(name)).unwrap_or_default();
        if !missing.is_empty() {
            asked.add_results(&missing);
            changed = true;
        }
    }
    pass_on(&mut parts.headers);
    ask_plainly(&mut parts.headers);
    let line = Line { method: parts.method, uri: parts.uri, headers: parts.headers };
    let request = match &asked {
        Some(asked) if changed => line.request(asked.text()),
        Some(_) | None => line.request(body).map(|mut request| {
            // As it came, and so compressed as it came.
            if let Some(encoding) = line.headers.get(CONTENT_ENCODING) {
                request.headers_mut().insert(CONTENT_ENCODING, encoding.clone());
            }
            request
        }),
    };
    let request = request.ok_or_else(|| Problem::new(400, "the request cannot be passed on"))?;
    let response = send(shared, request, Some(api)).await?;
    if !response.status().is_success() {
        return failed(shared, api, response).await;
    }
    Ok(Exchange::new(shared.clone(), api, line, asked, who).answer(response).await)
}

async fn send(
    shared: &Arc<Shared>,
    request: Request<Body>,
    api: Option<Api>,
) -> Result<Response<Incoming>, Problem> {
    match timeout(shared.patience, shared.upstreams.send(request, api)).await {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(error)) if is_of_client(&error) => {
            Err(Problem::new(400, "the request broke off, or its pieces cannot be read"))
        }
        Ok(Err(error)) => {
            count(&shared.counters.upstream, 1);
            Err(Problem::new(502, format!("the upstream cannot be reached: {}", cause(&error))))
        }
        Err(_) => {
            count(&shared.counters.upstream, 1);
            Err(Problem::new(504, "the upstream does not answer"))
        }
    }
}

fn too_large() -> Problem {
    Problem::new(413, "the request is larger than 32 MiB")
}

/// Reads a request as a whole, as far as one may go.
async fn read(mut body: Incoming) -> Result<Vec<u8>, Problem> {
    if body.size_hint().lower() > REQUEST as u64 {
        return Err(too_large());
    }
    let mut read = Vec::new();
    loop {
        let Ok(frame) = timeout(SLOW, body.frame()).await else {
            return Err(Problem::new(408, "the request does not arrive"));
        };
        let Some(frame) = frame else { return Ok(read) };
        let frame = frame.map_err(|_| Problem::new(400, "the request broke off"))?;
        if let Ok(bytes) = frame.into_data() {
            if read.len() + bytes.len() > REQUEST {
                return Err(too_large());
            }
            read.extend_from_slice(&bytes);
        }
    }
}

/// Whether a client showed what it must.
fn is_known(shared: &Shared, headers: &HeaderMap) -> bool {
    let Some(token) = &shared.token else { return true };
    let bearer = text(headers, PROXY_AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
    let shown = text(headers, TOKEN_HEADER).or(bearer).unwrap_or_default();
    // Every byte is compared, so that time tells nothing.
    let differs = shown.bytes().zip(token.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b));
    shown.len() == token.len() && differs == 0
}

/// Whether a request could not be sent because of its body, which is the client's.
fn is_of_client(error: &io::Error) -> bool {
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = cause {
        if error.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_user) {
            return true;
        }
        cause = error.source();
    }
    false
}

fn cause(error: &io::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

fn plain(kind: &'static str, text: &str) -> Response<Body> {
    let mut response = Response::new(Body::known(text.to_owned()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// Tells a client what is wrong, in its API's own words.
pub(super) fn problem(api: Option<Api>, problem: &Problem) -> Response<Body> {
    let mut response = plain("application/json", &format!("{}\n", problem.body(api)));
    *response.status_mut() =
        StatusCode::from_u16(problem.status).unwrap_or(StatusCode::BAD_GATEWAY);
    response
}
