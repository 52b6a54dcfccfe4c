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
    /// Why it did not come about, if it did not; a name that never changes.
    pub refused: Option<&'static str>,
    /// The rule that says so, if one does.
    pub rule: Option<String>,
    /// Bytes to the other side.
    pub sent: u64,
    /// Bytes from there.
    pub received: u64,
    /// How long it took.
    pub duration: Duration,
    /// What a plain request was for: its method and path.
    pub request: Option<String>,
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
