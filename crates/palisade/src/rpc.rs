//! JSON-RPC 2.0, one message a line: what programs say to `palisade serve` and to MCP servers.

use std::io::{self, BufRead};

use serde_json::{Map, Value as Json, json};

use crate::json::{self, Unread};

/// The longest message that is read.
pub const MAX_MESSAGE: usize = 32 << 20;

/// What a message is.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// It wants an answer.
    Request {
        /// What the answer is known by: a text or a number.
        id: Json,
        /// What is asked for.
        method: String,
        /// With what; an empty object where nothing is said.
        params: Map<String, Json>,
    },
    /// It wants none.
    Notification {
        /// What is told.
        method: String,
        /// With what.
        params: Map<String, Json>,
    },
    /// It is an answer.
    Response {
        /// What it is known by.
        id: Json,
        /// What came of it.
        answer: Result<Json, Json>,
    },
}

/// What is wrong with a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// What the message is known by, as far as it tells.
    pub id: Json,
    /// The number of the standard.
    pub code: i64,
    /// In words.
    pub message: String,
}

/// A text is no JSON.
pub const PARSE_ERROR: i64 = -32700;
/// JSON is no message.
pub const INVALID_REQUEST: i64 = -32600;
/// Nobody knows the method.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The method is not for such parameters.
pub const INVALID_PARAMS: i64 = -32602;
/// An error of ours.
pub const INTERNAL_ERROR: i64 = -32603;

impl Message {
    /// Reads one line.
    ///
    /// # Errors
    ///
    /// Says what to answer.
    pub fn read(line: &[u8]) -> Result<Self, Fault> {
        let fault = |id: &Json, code, message: &str| Fault {
            id: id.clone(),
            code,
            message: message.to_owned(),
        };
        let told = match json::read(line) {
            Ok(told) => told,
            Err(Unread::Broken(_)) => {
                return Err(fault(&Json::Null, PARSE_ERROR, "this is no JSON"));
            }
            // Nobody knows which of both the other side means, an `id` least of all.
            Err(twice @ Unread::Twice(_)) => {
                return Err(fault(&Json::Null, INVALID_REQUEST, &twice.to_string()));
            }
        };
        let Json::Object(mut told) = told else {
            let message = "a message is one object; several at once are not taken";
            return Err(fault(&Json::Null, INVALID_REQUEST, message));
        };
        let id = match told.remove("id") {
            None => None,
            Some(id @ (Json::String(_) | Json::Number(_))) => Some(id),
            Some(_) => {
                let message = "`id` is a text or a number";
                return Err(fault(&Json::Null, INVALID_REQUEST, message));
            }
        };
        let known = id.clone().unwrap_or_default();
        if told.get("jsonrpc").and_then(Json::as_str) != Some("2.0") {
            return Err(fault(&known, INVALID_REQUEST, "`jsonrpc` is not \"2.0\""));
        }
        let params = match told.remove("params") {
            None => Map::new(),
            Some(Json::Object(params)) => params,
            Some(_) => return Err(fault(&known, INVALID_PARAMS, "`params` is no object")),
        };
        match (told.remove("method"), id) {
            (Some(Json::String(method)), Some(id)) => Ok(Self::Request { id, method, params }),
            (Some(Json::String(method)), None) => Ok(Self::Notification { method, params }),
            (Some(_), _) => Err(fault(&known, INVALID_REQUEST, "`method` is no text")),
            (None, Some(id)) => match (told.remove("result"), told.remove("error")) {
                (Some(result), None) => Ok(Self::Response { id, answer: Ok(result) }),
                (None, Some(error)) => Ok(Self::Response { id, answer: Err(error) }),
                _ => Err(fault(&id, INVALID_REQUEST, "there is no `method`")),
            },
            (None, None) => Err(fault(&known, INVALID_REQUEST, "there is no `method`")),
        }
    }
}

impl Message {
    /// Returns the message as one line that everybody reads alike: nothing but what was read here is in
    /// it, each key once, and nothing that could end a line.
    pub fn line(&self) -> Vec<u8> {
        let line = match self {
            Self::Request { id, method, params } => {
                json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
            }
            Self::Notification { method, params } => {
                json!({ "jsonrpc": "2.0", "method": method, "params": params })
            }
            Self::Response { id, answer: Ok(told) } => result(id, told.clone()),
            Self::Response { id, answer: Err(error) } => {
                json!({ "jsonrpc": "2.0", "id": id, "error": error })
            }
        };
        line.to_string().into_bytes()
    }
}

impl Fault {
    /// Says that a method is not for such parameters.
    pub fn params(message: impl Into<String>) -> Self {
        Self { id: Json::Null, code: INVALID_PARAMS, message: message.into() }
    }

    /// Returns the answer to whoever sent it.
    pub fn answer(&self) -> Json {
        error(&self.id, self.code, &self.message, Json::Null)
    }
}

/// Returns the answer to a request that was carried out.
pub fn result(id: &Json, result: Json) -> Json {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// Returns the answer to a request that was not; `data` is left out where it is null.
pub fn error(id: &Json, code: i64, message: &str, data: Json) -> Json {
    let mut error = json!({ "code": code, "message": message });
    if !data.is_null() {
        error["data"] = data;
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

/// Returns a message that wants no answer.
pub fn notification(method: &str, params: Json) -> Json {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

/// A line that was read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Line {
    /// This one.
    Whole(Vec<u8>),
    /// One that is too long; it was skipped.
    TooLong,
}

/// Reads the next line that is not blank, of at most `most` bytes; none at the end.
///
/// # Errors
///
/// As the reader.
pub fn next_line(from: &mut impl BufRead, most: usize) -> io::Result<Option<Line>> {
    loop {
        let mut line = Vec::new();
        let mut is_long = false;
        loop {
            let piece = match from.fill_buf() {
                Ok(piece) => piece,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if piece.is_empty() {
                let ended = line.trim_ascii().is_empty() && !is_long;
                return Ok((!ended).then(|| whole(line, is_long)));
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let taken = piece.get(..end.unwrap_or(piece.len())).unwrap_or_default();
            if line.len() + taken.len() > most {
                is_long = true;
                line = Vec::new();
            } else if !is_long {
                line.extend_from_slice(taken);
            }
            let used = end.map_or(piece.len(), |end| end + 1);
            from.consume(used);
            if end.is_some() {
                break;
            }
        }
        if is_long || !line.trim_ascii().is_empty() {
            return Ok(Some(whole(line, is_long)));
        }
    }
}

fn whole(line: Vec<u8>, is_long: bool) -> Line {
    if is_long { Line::TooLong } else { Line::Whole(line) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart() {
        let read = |text: &str| Message::read(text.as_bytes());
        let params = Map::new();
        assert_eq!(
            read(r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#),
            Ok(Message::Request { id: 1.into(), method: "a".into(), params: params.clone() })
        );
        assert_eq!(
            read(r#"{"jsonrpc":"2.0","method":"a","params":{}}"#),
            Ok(Message::Notification { method: "a".into(), params })
        );
        assert_eq!(
            read(r#"{"jsonrpc":"2.0","id":"x","result":null}"#),
            Ok(Message::Response { id: "x".into(), answer: Ok(Json::Null) })
        );
    }

    #[test]
    fn what_is_no_message_is_answered_by_its_number() {
        for (text, code) in [
            ("", PARSE_ERROR),
            ("{", PARSE_ERROR),
            ("\u{feff}{}", PARSE_ERROR),
            ("[]", INVALID_REQUEST),
            ("7", INVALID_REQUEST),
            ("{}", INVALID_REQUEST),
            (r#"{"jsonrpc":"1.0","id":1,"method":"a"}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":{},"method":"a"}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#, INVALID_REQUEST),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"b":[{"c":1,"c":2}]}}"#,
                INVALID_REQUEST,
            ),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","params":[1]}"#, INVALID_PARAMS),
        ] {
            assert_eq!(
                Message::read(text.as_bytes()).map_err(|fault| fault.code),
                Err(code),
                "{text}"
            );
        }
        let deep = "[".repeat(1_000_000);
        assert!(Message::read(deep.as_bytes()).is_err());
    }

    #[test]
    fn lines_are_bounded_and_a_long_one_spares_the_next() {
        let text = format!("\n \nab\r\n{}\ncd", "x".repeat(100));
        let mut from = io::BufReader::with_capacity(7, text.as_bytes());
        let mut lines = Vec::new();
        while let Some(line) = next_line(&mut from, 10).unwrap() {
            lines.push(line);
        }
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        assert_eq!(lines, [whole("ab\r"), Line::TooLong, whole("cd")]);
    }
}
