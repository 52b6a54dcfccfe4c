//! One answer: read, have it judged, pass it on, and ask again where that is the way.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::{Bytes, Incoming};
use hyper::header::CONTENT_ENCODING;
use hyper::{HeaderMap, Method, Request, Response, Uri};
use tokio::time::timeout;

use super::body::{Body, Step};
use super::counters::count;
use super::decode::Decoder;
use super::head::{answer_plainly, is_utf8, pass_on, text};
use super::{Judged, Shared, Who};
use crate::llm::{Api, Asked, Call, Ending, OnRefusal, Problem, Reader, Refused, Ruling, STATE};

/// How often a model may be refused in one turn.
const ATTEMPTS: u32 = 3;

/// How long what was passed on may take to leave, before a connection is broken off.
const FLUSH: Duration = Duration::from_millis(100);

const ENDED: &str = "Three attempts in a row were blocked for security, so this turn ends here. \
                     Do not try the same again: stay inside the project directory, or ask the user.";
const NOT_ASKED: &str = "The model could not be asked again, so this turn ends here.";

/// What a request looks like, for asking again.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) method: Method,
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
}

/// One answer on its way.
#[derive(Debug)]
pub(super) struct Exchange {
    shared: Arc<Shared>,
    api: Api,
    line: Line,
    /// The request; none if it could not be read, and then nobody is asked again.
    asked: Option<Asked>,
    who: Who,
    reader: Reader,
    source: Source,
    attempts: u32,
}

/// Where bytes come from.
#[derive(Debug)]
struct Source {
    body: Option<Incoming>,
    decoder: Decoder,
}

/// What comes next.
#[derive(Debug)]
enum Next {
    Bytes(Vec<u8>),
    End(Vec<u8>),
    /// What the client is told instead of the rest.
    Problem(Problem),
    /// The upstream broke off, and so do we.
    Broken(io::Error),
}

impl Exchange {
    pub(super) fn new(
        shared: Arc<Shared>,
        api: Api,
        line: Line,
        asked: Option<Asked>,
        who: Who,
    ) -> Self {
        let on = if asked.is_some() { shared.on } else { OnRefusal::Answer };
        let reader = Reader::new(api, on).knowing(asked.as_ref());
        let source = Source { body: None, decoder: Decoder::Plain };
        Self { shared, api, line, asked, who, reader, source, attempts: 0 }
    }

    /// Returns the answer to a client, as soon as the first of it may be passed on.
    pub(super) async fn answer(mut self, response: Response<Incoming>) -> Response<Body> {
        let (mut parts, body) = response.into_parts();
        let Some(decoder) = Decoder::of(text(&parts.headers, CONTENT_ENCODING)) else {
            let message = "the upstream compresses its answer in a way that cannot be read";
            return self.problem(&Problem::new(502, message));
        };
        if !is_utf8(&parts.headers) {
            let message = "the upstream answers in another character set than UTF-8";
            return self.problem(&Problem::new(502, message));
        }
        self.source = Source { body: Some(body), decoder };
        pass_on(&mut parts.headers);
        answer_plainly(&mut parts.headers);
        let first = match self.next().await {
            Next::Bytes(bytes) => bytes,
            Next::End(bytes) => return Response::from_parts(parts, Body::known(bytes)),
            Next::Problem(problem) => return self.problem(&problem),
            Next::Broken(error) => {
                let message = format!("the upstream broke off: {error}");
                return self.problem(&Problem::new(502, message));
            }
        };
        let first = Bytes::from(first);
        let rest = Box::new(self).step();
        let step = Step::new(async move { (Ok(first), Some(rest)) });
        Response::from_parts(parts, Body::Made(Some(step)))
    }

    /// Returns the way to the next piece of the answer.
    fn step(mut self: Box<Self>) -> Step {
        Step::new(async move {
            match self.next().await {
                Next::Bytes(bytes) => (Ok(bytes.into()), Some(self.step())),
                Next::End(bytes) => (Ok(bytes.into()), None),
                Next::Problem(problem) => {
                    self.tell_problem(&problem);
                    (Ok(problem.event(self.api).into()), None)
                }
                Next::Broken(error) => {
                    let message = format!("the upstream broke off: {error}");
                    self.tell_problem(&Problem::new(502, message));
                    // What came before is on its way; a connection that breaks takes it along.
                    tokio::time::sleep(FLUSH).await;
                    (Err(error), None)
                }
            }
        })
    }

    /// Reads on until there is something to pass on.
    async fn next(&mut self) -> Next {
        loop {
            let read = match timeout(self.shared.patience, self.source.read()).await {
                Err(_) => {
                    return Next::Problem(Problem::new(
                        504,
                        "the upstream has been silent for too long",
                    ));
                }
                Ok(Err(error)) => {
                    count(&self.shared.counters.upstream, 1);
                    return Next::Broken(error);
                }
                Ok(Ok(read)) => read,
            };
            if let Some(bytes) = read {
                match self.push(&bytes) {
                    Ok(out) if out.is_empty() => {}
                    Ok(out) => return Next::Bytes(out),
                    Err(problem) => return Next::Problem(problem),
                }
                continue;
            }
            let (mut out, ending) = match self.end() {
                Ok(ended) => ended,
                Err(problem) => return Next::Problem(problem),
            };
            let Ending::Refused(refused) = ending else {
                self.remember();
                return Next::End(out);
            };
            self.attempts += 1;
            let last = if self.attempts >= ATTEMPTS {
                count(&self.shared.counters.ended, 1);
                ENDED
            } else if self.again(&refused).await {
                if out.is_empty() {
                    continue;
                }
                return Next::Bytes(out);
            } else {
                NOT_ASKED
            };
            self.remember();
            out.extend(self.reader.give_up(last));
            return Next::End(out);
        }
    }

    /// Tells the model what became of its calls, and asks it to go on.
    async fn again(&mut self, refused: &Refused) -> bool {
        let Some(asked) = &self.asked else { return false };
        let again = asked.again(refused);
        let text = again.text();
        if text.len() > super::REQUEST {
            return false;
        }
        count(&self.shared.counters.retries, 1);
        let Some(request) = self.line.request(text) else { return false };
        let sent = self.shared.upstreams.send(request, Some(self.api));
        let Ok(Ok(response)) = timeout(self.shared.patience, sent).await else {
            count(&self.shared.counters.upstream, 1);
            return false;
        };
        let decoder = Decoder::of(super::head::text(response.headers(), CONTENT_ENCODING));
        let reads = response.status().is_success() && is_utf8(response.headers());
        let (true, Some(decoder)) = (reads, decoder) else { return false };
        self.asked = Some(again);
        self.reader.resume();
        self.source = Source { body: Some(response.into_body()), decoder };
        true
    }

    fn push(&mut self, bytes: &[u8]) -> Result<Vec<u8>, Problem> {
        let Self { shared, who, reader, .. } = self;
        let read = reader.push(bytes, &mut |call| shared.rule(call, who));
        read.map_err(|fault| Problem::new(502, fault.to_string()))
    }

    fn end(&mut self) -> Result<(Vec<u8>, Ending), Problem> {
        let Self { shared, who, reader, .. } = self;
        let read = reader.end(&mut |call| shared.rule(call, who));
        read.map_err(|fault| Problem::new(502, fault.to_string()))
    }

    fn remember(&self) {
        if let Some((shown, own)) = self.reader.known_as() {
            self.shared.missing.rename(shown, own);
        }
        if let Some((names, calls)) = self.reader.missing() {
            self.shared.missing.add(names, &calls);
        }
    }

    fn problem(&self, problem: &Problem) -> Response<Body> {
        self.tell_problem(problem);
        super::handle::problem(Some(self.api), problem)
    }

    fn tell_problem(&self, problem: &Problem) {
        let line =
            format!("An answer was not passed on ({}): {}", self.api.word(), problem.message);
        self.shared.decides.tell(&line);
    }
}

impl Source {
    async fn read(&mut self) -> io::Result<Option<Bytes>> {
        let Some(body) = &mut self.body else { return Ok(None) };
        loop {
            let Some(frame) = body.frame().await else {
                self.body = None;
                let rest = self.decoder.end()?;
                return Ok(Some(rest.into()).filter(|rest: &Bytes| !rest.is_empty()));
            };
            let frame = frame.map_err(io::Error::other)?;
            let Ok(bytes) = frame.into_data() else { continue };
            return match self.decoder {
                Decoder::Plain => Ok(Some(bytes)),
                Decoder::Gzip(_) | Decoder::Unknown(_) | Decoder::Zlib(_) | Decoder::Deflate(_) => {
                    self.decoder.push(&bytes, STATE).map(|said| Some(said.into()))
                }
            };
        }
    }
}

impl Line {
    pub(super) fn request(&self, body: Vec<u8>) -> Option<Request<Body>> {
        let mut request = Request::builder()
            .method(self.method.clone())
            .uri(self.uri.clone())
            .body(Body::known(body))
            .ok()?;
        *request.headers_mut() = self.headers.clone();
        request.headers_mut().remove(CONTENT_ENCODING);
        Some(request)
    }
}

impl Shared {
    /// Has a call judged, and counts what was decided.
    fn rule(&self, call: &Call, who: &Who) -> Ruling {
        // Who judges looks at the disk: another thread takes over what else is to be done here.
        tokio::task::block_in_place(|| {
            let judge = |call: &Call| match call.flaw {
                Some(flaw) => Judged::Invalid(format!(
                    "Tool call blocked: {flaw}. Operation blocked for security."
                )),
                None => self.decides.judge(call, who),
            };
            let inner = call.inner();
            let mut judged = std::iter::once(call).chain(&inner).map(judge);
            let judged = judged.find(|judged| *judged != Judged::Allowed);
            let judged = judged.unwrap_or(Judged::Allowed);
            match judged {
                Judged::Allowed => {
                    count(&self.counters.allowed, 1);
                    Ruling::Release
                }
                Judged::Blocked(text) => {
                    count(&self.counters.blocked, 1);
                    Ruling::Swallow(text)
                }
                Judged::Invalid(text) => {
                    count(&self.counters.invalid, 1);
                    Ruling::Swallow(text)
                }
            }
        })
    }
}
