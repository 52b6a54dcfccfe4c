//! Which headers are passed on: all but those about one connection, and ours.

use hyper::HeaderMap;
use hyper::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName,
    HeaderValue, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};

use super::{AGENT_HEADER, ROOT_HEADER, TOKEN_HEADER};
use crate::llm::Problem;

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

/// Returns a header of ours. Of two, nobody knows which is meant.
pub(super) fn only<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h str>, Problem> {
    if headers.get_all(name).iter().nth(1).is_some() {
        return Err(Problem::new(400, format!("the request holds the header `{name}` twice")));
    }
    Ok(text(headers, name))
}

/// Whether a body is read as UTF-8, as far as its head says.
pub(super) fn is_utf8(headers: &HeaderMap) -> bool {
    let fits = |value: &HeaderValue| {
        let Ok(value) = value.to_str() else { return false };
        let value = value.to_ascii_lowercase();
        let mut sets = value.split("charset").skip(1);
        sets.all(|set| {
            let set = set.trim_start_matches([' ', '\t', '=', '"', '\'']);
            let set = set.split([';', ',', ' ', '"', '\'']).next().unwrap_or_default();
            matches!(set, "utf-8" | "utf8" | "us-ascii")
        })
    };
    headers.get_all(CONTENT_TYPE).iter().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_character_set_is_told_by_the_head() {
        for (kind, fits) in [
            ("application/json", true),
            ("text/event-stream; charset=utf-8", true),
            ("text/event-stream;charset=\"UTF-8\"", true),
            ("text/event-stream; charset=utf-16", false),
            ("application/json; Charset = 'UTF-16LE'", false),
            ("application/json; charset=utf-8; charset=utf-32", false),
            ("application/json; charset=utf-7", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
            assert_eq!(is_utf8(&headers), fits, "{kind}");
        }
    }
}
