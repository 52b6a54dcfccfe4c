//! What is told of a network.

use std::net::SocketAddr;
use std::time::Duration;

/// One connection, or a question about a name that may not be reached.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Connection {
    /// When it began, since the doors were opened.
    pub at: Duration,
    /// Who was meant.
    pub host: String,
    /// Its port; none for a question about a name.
    pub port: Option<u16>,
    /// The address that was dialled, if one was.
    pub address: Option<SocketAddr>,
    /// How it came to us.
    pub via: Via,
    /// What became of it.
    pub verdict: Verdict,
    /// The rule that says so, if one does.
    pub rule: Option<String>,
    /// Bytes to the other side.
    pub sent: u64,
    /// Bytes from there.
    pub received: u64,
    /// How long it took.
    pub duration: Duration,
    /// What plain requests were for: their methods and paths, of the first of them.
    pub requests: Vec<String>,
    /// How many more there were.
    pub more_requests: u64,
}

/// What became of a connection. The texts are names that never change.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// It came about, and ended by itself.
    Allowed,
    /// It was not made, or cut before anything was passed on, because it may not be.
    Refused(&'static str),
    /// It was cut in its course, because of what came through it.
    Cut(&'static str),
    /// It might have been made; the other side, or the way there, did not have it so.
    Failed(&'static str),
    /// It was made, and who asked for it was gone.
    Untaken,
}

impl Verdict {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Refused(_) => "refused",
            Self::Cut(_) => "cut",
            Self::Failed(_) => "failed",
            Self::Untaken => "untaken",
        }
    }

    /// Returns why it is not simply allowed, if there is more to say than the word.
    pub fn code(self) -> Option<&'static str> {
        match self {
            Self::Allowed | Self::Untaken => None,
            Self::Refused(code) | Self::Cut(code) | Self::Failed(code) => Some(code),
        }
    }
}

/// How many plain requests of one connection are told, and how much of each.
const REQUESTS: usize = 32;
const SHOWN: usize = 256;

impl Connection {
    /// Remembers a plain request that came through.
    pub fn saw(&mut self, method: &str, path: &str) {
        if self.requests.len() >= REQUESTS {
            self.more_requests = self.more_requests.saturating_add(1);
            return;
        }
        let mut text = format!("{method} {path}");
        if let Some((cut, _)) = text.char_indices().nth(SHOWN) {
            text.truncate(cut);
            text.push('…');
        }
        self.requests.push(text);
    }
}

/// What somebody inside wants.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Wanted {
    /// Who is to be reached.
    pub host: String,
    /// At which port.
    pub port: u16,
    /// By which plain request, where that is what is asked about: its method and path.
    pub request: Option<String>,
    /// The rule that has it asked, as it is written.
    pub rule: Option<String>,
}

/// How a connection came to us.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Via {
    /// By itself.
    Direct,
    /// Through the proxy, by CONNECT.
    Connect,
    /// Through the proxy, as a request.
    Http,
    /// Through the proxy, by SOCKS.
    Socks,
    /// It is a question about a name.
    Name,
}

impl Via {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Connect => "connect",
            Self::Http => "http",
            Self::Socks => "socks",
            Self::Name => "name",
        }
    }
}

/// All of it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Report {
    /// The first of them.
    pub connections: Vec<Connection>,
    /// How many more there were.
    pub more: u64,
    /// Bytes sent, by all.
    pub sent: u64,
    /// Bytes received, by all.
    pub received: u64,
    /// What went wrong with the doors themselves.
    pub trouble: Vec<String>,
}
