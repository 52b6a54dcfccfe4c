//! A reverse proxy between an agent and a model.
//!
//! Requests are passed on to an upstream as they come. The answers of the four APIs that
//! [`crate::llm`] reads are judged on the way back; those of any other path pass as they are.
//!
//! | Module | What it does |
//! | --- | --- |
//! | `open` | opens the door: a listener, TLS, connections |
//! | `handle` | one request: who asks, where does it go, is it judged? |
//! | `exchange` | one answer: read, judge, pass on, ask again |
//! | `upstream` | where requests go, and how they get there |
//! | `door` | under which names it is reached, and which pages may use it |
//! | `failure` | answers that are failures |
//! | `head` | which headers are passed on |
//! | `body` | bodies of both directions |
//! | `decode` | bodies that are compressed |
//! | `missing` | results of calls that a server waits for and no client saw |
//! | `counters` | what there was |

pub(crate) mod body;
mod counters;
mod decode;
pub(crate) mod door;
mod exchange;
mod failure;
mod handle;
mod head;
mod missing;
mod open;
pub(crate) mod upstream;

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use crate::llm::{Call, OnRefusal};
pub use door::{BadName, Names};
pub use open::{CannotOpen, Proxy};
pub use upstream::{BadUpstream, Upstreams};

/// Longest request (Ruling 30).
pub const REQUEST: usize = 32 << 20;

/// The header by which a client chooses its project.
pub const ROOT_HEADER: &str = "x-palisade-root";
/// The header by which a client shows that it may ask at all.
pub const TOKEN_HEADER: &str = "x-palisade-token";
/// The header by which a client says which agent it is.
pub const AGENT_HEADER: &str = "x-palisade-agent";

/// What a proxy needs to be opened.
#[derive(Debug)]
pub struct Settings {
    /// Where clients connect.
    pub listener: TcpListener,
    /// Where requests go.
    pub upstreams: Upstreams,
    /// Under which other names it is reached, and which pages may use it.
    pub names: Names,
    /// What clients must show, if anything.
    pub token: Option<String>,
    /// The certificates and the key that clients are shown, as PEM.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
    /// Whom an upstream may be certified by, as PEM.
    pub authorities: Vec<u8>,
    /// How long an upstream may be silent.
    pub patience: Duration,
    /// What is done about refused calls.
    pub on: OnRefusal,
}

/// Who wants to use a tool.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Who {
    /// The model.
    pub model: String,
    /// The agent, as it names itself.
    pub agent: Option<String>,
    /// The project, as an absolute path.
    pub root: String,
}

/// What was decided about a call.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Judged {
    /// It may happen.
    Allowed,
    /// It may not, and this is what the model is told.
    Blocked(String),
    /// It could not be judged, so it may not.
    Invalid(String),
}

/// Who decides, and who is told.
pub trait Decides: std::fmt::Debug + Send + Sync {
    /// Whether calls are judged at all.
    fn watches(&self) -> bool;
    /// Returns the project of a conversation: the one that the client chose, or one of those that
    /// it mentions, or the usual one.
    ///
    /// # Errors
    ///
    /// When the client chose one that it may not choose.
    fn root(&self, chosen: Option<&str>, mentioned: &[String]) -> Result<String, String>;
    /// Whether a tool may be offered.
    fn offers(&self, tool: &str, who: &Who) -> bool;
    /// Decides a call.
    fn judge(&self, call: &Call, who: &Who) -> Judged;
    /// Tells what happened. It is never told a header or a body.
    fn tell(&self, line: &str);
}

/// What all connections share.
#[derive(Debug)]
struct Shared {
    upstreams: upstream::Dialer,
    door: door::Door,
    token: Option<String>,
    patience: Duration,
    on: OnRefusal,
    decides: Arc<dyn Decides>,
    counters: counters::Counters,
    missing: missing::Missing,
}
