//! Answers that are failures.
//!
//! They pass as they came where no client could take anything in them for a call. A client may not
//! look at the status, so what looks like a call ends the answer here too. One that leads elsewhere
//! is refused: a client that follows is out of our sight.

use std::sync::Arc;

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use tokio::time::timeout;

use super::Shared;
use super::body::Body;
use super::decode;
use super::head::{answer_plainly, is_utf8, pass_on, text};
use crate::llm::{Api, Call, OnRefusal, Problem, Reader, Ruling};

/// Longest failure that is passed on.
const MOST: usize = 1 << 20;

/// Passes a failure on, or says in the API's own words that there was one.
pub(super) async fn failed(
    shared: &Arc<Shared>,
    api: Api,
    response: Response<Incoming>,
) -> Result<Response<Body>, Problem> {
    let (mut parts, body) = response.into_parts();
    let status = parts.status;
    if status.is_informational() || (status.is_redirection() && status != StatusCode::NOT_MODIFIED)
    {
        let message = format!(
            "the upstream leads elsewhere ({status}), where nothing would be judged; name that \
             address with --upstream"
        );
        return Err(Problem::new(502, message));
    }
    let encoding = text(&parts.headers, CONTENT_ENCODING).map(str::to_owned);
    let read = read(shared, body).await?;
    let said = decode::whole(encoding.as_deref(), &read, MOST).ok();
    let said = said.filter(|_| is_utf8(&parts.headers)).filter(|said| is_harmless(said));
    pass_on(&mut parts.headers);
    answer_plainly(&mut parts.headers);
    let said = said.unwrap_or_else(|| {
        let message = format!("the upstream answered {status}, and more that cannot be read");
        shared.decides.tell(&format!("A failure was not passed on as it came: {message}"));
        parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        format!("{}\n", Problem::new(status.as_u16(), message).body(Some(api))).into_bytes()
    });
    Ok(Response::from_parts(parts, Body::known(said)))
}

async fn read(shared: &Arc<Shared>, mut body: Incoming) -> Result<Vec<u8>, Problem> {
    let mut read = Vec::new();
    loop {
        let Ok(frame) = timeout(shared.patience, body.frame()).await else {
            return Err(Problem::new(504, "the upstream has been silent for too long"));
        };
        let Some(frame) = frame else { return Ok(read) };
        let frame = frame.map_err(|_| Problem::new(502, "the upstream broke off"))?;
        if let Ok(bytes) = frame.into_data() {
            if read.len() + bytes.len() > MOST {
                return Err(Problem::new(502, "the upstream failed, and says more than 1 MiB"));
            }
            read.extend_from_slice(&bytes);
        }
    }
}

/// Whether no reader finds anything that looks like a call.
fn is_harmless(said: &[u8]) -> bool {
    let mut judge = |_: &Call| Ruling::Swallow(String::new());
    let mut reader = Reader::new(Api::Other, OnRefusal::Answer);
    reader.push(said, &mut judge).is_ok() && reader.end(&mut judge).is_ok()
}
