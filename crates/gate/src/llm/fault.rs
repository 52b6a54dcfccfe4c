//! What is wrong, in each API's own words.

use serde_json::{Value, json};

use super::Api;

/// Why an answer cannot be passed on.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Fault {
    /// It is neither events nor JSON, or can be read in two ways.
    #[error("the answer of the upstream cannot be read, so nothing of it is passed on")]
    Unreadable,
    /// More is held than may be.
    #[error("the answer of the upstream holds back more than 8 MiB")]
    TooLarge,
}

/// What a client is told instead of an answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Problem {
    /// The status.
    pub status: u16,
    /// What happened.
    pub message: String,
}

impl Problem {
    /// States what happened.
    pub fn new(status: u16, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    /// Returns the body of an answer that tells it.
    pub fn body(&self, api: Option<Api>) -> Value {
        let (message, status) = (&self.message, self.status);
        match api {
            Some(Api::Messages) => json!({
                "type": "error",
                "error": { "type": self.kind(), "message": message },
            }),
            Some(Api::Gemini) => json!({
                "error": { "code": status, "message": message, "status": self.canonical() },
            }),
            Some(Api::Chat | Api::Responses | Api::Other) | None => json!({
                "error": { "message": message, "type": self.kind(), "param": null, "code": self.kind() },
            }),
        }
    }

    /// Returns the event that tells it in the middle of a stream.
    pub fn event(&self, api: Api) -> Vec<u8> {
        let body = self.body(Some(api));
        match api {
            Api::Messages => format!("event: error\ndata: {body}\n\n"),
            Api::Responses => {
                let told = json!({
                    "type": "error", "code": self.kind(), "message": self.message, "param": null,
                });
                format!("event: error\ndata: {told}\n\n")
            }
            Api::Chat | Api::Gemini | Api::Other => format!("data: {body}\n\n"),
        }
        .into_bytes()
    }

    fn kind(&self) -> &'static str {
        match self.status {
            401 => "authentication_error",
            403 => "permission_error",
            413 => "request_too_large",
            400 | 405 | 415 | 426 => "invalid_request_error",
            408 | 504 => "timeout_error",
            _ => "api_error",
        }
    }

    fn canonical(&self) -> &'static str {
        match self.status {
            401 => "UNAUTHENTICATED",
            403 => "PERMISSION_DENIED",
            400 | 405 | 413 | 415 | 426 => "INVALID_ARGUMENT",
            408 | 504 => "DEADLINE_EXCEEDED",
            503 => "UNAVAILABLE",
            _ => "INTERNAL",
        }
    }
}
