//! MCP by HTTP ("streamable HTTP"): a message in each request, an answer or a stream of events back.
//!
//! What messages say is nothing that is decided here: they are handed to whoever judges them, and
//! what that says is carried back.
//!
//! | Module | What it does |
//! | --- | --- |
//! | `serve` | lets clients in, and hands on what they say |
//! | `far` | speaks to another server |
//! | `name` | names of tools in headers |

mod far;
mod name;
mod serve;

pub use far::{CannotReach, Far, Hears, Post};
pub use serve::{Heard, Open, Out, Reply, Served, Settings};

/// The longest message.
pub const MESSAGE: usize = 32 << 20;

/// The header that names a session.
const SESSION: &str = "mcp-session-id";
/// The header that names the version of the protocol.
const VERSION: &str = "mcp-protocol-version";
/// The headers that repeat what a message says, for those who do not read it.
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// Whether a media type is this one, whatever its parameters are.
fn is_type(value: &str, wanted: &str) -> bool {
    value.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(wanted)
}
