//! Which headers are passed on: all but those about one connection, and ours.

use hyper::HeaderMap;
use hyper::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, HOST, HeaderName, HeaderValue,
    TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};

use super::{AGENT_HEADER, ROOT_HEADER, TOKEN_HEADER};

/// What is about one connection.
const OURS: [HeaderName; 6] = [CONNECTION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE, HOST];

/// Takes out what is not for who is next.
pub(super) fn pass_on(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.iter().chain(&OURS) {
        headers.remove(name);
    }
    for name in [ROOT_HEADER, TOKEN_HEADER, AGENT_HEADER, "keep-alive", "proxy-connection"] {
        headers.remove(name);
    }
}

/// Asks for an answer that can be read.
pub(super) fn ask_plainly(headers: &mut HeaderMap) {
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers.remove(CONTENT_LENGTH);
}

/// Takes out what is not true of an answer that was read.
pub(super) fn answer_plainly(headers: &mut HeaderMap) {
    headers.remove(CONTENT_ENCODING);
    headers.remove(CONTENT_LENGTH);
}

/// Returns a header as text.
pub(super) fn text(headers: &HeaderMap, name: impl hyper::header::AsHeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
