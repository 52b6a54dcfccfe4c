//! Asking a person, remembering what happened, and the outer wrapper.

use std::fmt;
use std::str::FromStr;

use serde_json::{Value as Json, json};

use super::choice::{OtlpFormat, SpanNames};
use crate::key::{
    Item, Limit, Reader, Setting, Strictest, Strictness, section, text_item, unknown_word,
};
use crate::name::{ByteSize, Folder, Host, Invalid, Period};
use crate::text::{Node, visible};

section! {
    /// Asking a person.
    pub struct Confirm {
        /// Who is asked: the person at the terminal, a program of yours, a service that signs its
        /// answers (over plain http), or nobody. `web` is not built yet: with it every question is
        /// answered with no.
        backend: Setting<Backend>,
        /// How long an answer may take; silence means no.
        timeout: Setting<Limit<Period>>,
    }
}

section! {
    /// The record of what happened.
    pub struct Audit {
        /// The file that events are appended to, each with the hash of the one before it.
        path: Setting<Folder>,
        /// Size at which a new file is begun; the old one is put away under the number of its first record.
        rotate_size: Setting<Limit<ByteSize>>,
        /// Age at which a new file is begun.
        rotate_age: Setting<Limit<Period>>,
        /// An OpenTelemetry collector that gets a span for each run, over plain http.
        otlp: Setting<Endpoint>,
        /// How spans are written for it.
        otlp_format: Setting<OtlpFormat>,
        /// What spans are called.
        span_names: Setting<SpanNames>,
    }
}

/// Who is asked when the policy says `ask`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Backend {
    /// Nobody: every question is answered with no.
    Deny,
    /// A program, by its path.
    Program(Box<str>),
    /// The person at the terminal.
    Terminal,
    /// The page of `palisade watch`.
    Web,
    /// A service that answers signed requests.
    Webhook(Endpoint),
}

impl FromStr for Backend {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text.split_once(':') {
            Some(("program", path))
                if path.starts_with('/') && !path.contains(char::is_control) =>
            {
                Ok(Self::Program(path.into()))
            }
            Some(("program", _)) => {
                Err(Invalid::new("backend", "the program needs an absolute path")
                    .with_hint("write `program:/path/to/program`"))
            }
            Some(("webhook", url)) => url.parse().map(Self::Webhook),
            _ => match text {
                "deny" => Ok(Self::Deny),
                "terminal" => Ok(Self::Terminal),
                "web" => Ok(Self::Web),
                _ => Err(unknown_word(
                    text,
                    &["terminal", "deny", "web", "program:PATH", "webhook:URL"],
                )),
            },
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deny => f.write_str("deny"),
            Self::Program(path) => write!(f, "program:{path}"),
            Self::Terminal => f.write_str("terminal"),
            Self::Web => f.write_str("web"),
            Self::Webhook(url) => write!(f, "webhook:{url}"),
        }
    }
}

text_item!(Backend, "`terminal`, `deny`, `web`, `program:PATH` or `webhook:URL`");

impl Strictest for Backend {
    fn strictest() -> Self {
        Self::Deny
    }
}

impl Strictness for Backend {
    fn within(&self, base: &Self) -> bool {
        *self == Self::Deny || self == base
    }
}

/// An `http` or `https` address that we send something to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Endpoint(Box<str>);

impl FromStr for Endpoint {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let wrong = |problem: String| {
            Invalid::new("endpoint", problem)
                .with_hint("write an address such as `https://example.com/path`")
        };
        let shown = visible(text);
        if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err(wrong(format!("`{shown}` has blanks or control characters in it")));
        }
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let rest =
            rest.ok_or_else(|| wrong(format!("`{shown}` is not an http or https address")))?;
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.contains('@') {
            return Err(wrong(format!("`{shown}` carries credentials")));
        }
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
            _ => (authority, None),
        };
        if port.is_some_and(|port| port.parse::<u16>().is_err()) {
            return Err(wrong(format!("`{shown}` has no valid port")));
        }
        host.parse::<Host>().map_err(|invalid| wrong(format!("`{shown}`: {invalid}")))?;
        Ok(Self(text.into()))
    }
}

impl Endpoint {
    /// Returns whether it wants TLS, which nothing here speaks.
    pub fn is_encrypted(&self) -> bool {
        self.0.starts_with("https:")
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

text_item!(Endpoint, "an http or https address");

impl Strictness for Endpoint {
    fn within(&self, base: &Self) -> bool {
        self == base
    }
}

/// A command that every confined command is started through.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Wrapper(pub Vec<String>);

impl Item for Wrapper {
    fn read(node: &Node, cx: &mut Reader<'_>) -> Option<Self> {
        let mut argv = Vec::new();
        for item in cx.list(node)? {
            let text = cx.text("text", item)?;
            if text.contains('\0') {
                return cx.expected("text without a NUL", item);
            }
            argv.push(text.to_owned());
        }
        Some(Self(argv))
    }
    fn json(&self) -> Json {
        json!(self.0)
    }
    fn schema() -> Json {
        json!({ "type": "array", "items": { "type": "string" } })
    }
    fn takes() -> String {
        "a list: the command and its arguments".into()
    }
}

impl Strictness for Wrapper {
    fn within(&self, base: &Self) -> bool {
        self == base
    }
}

impl Strictness for Folder {
    fn within(&self, base: &Self) -> bool {
        self == base
    }
}
