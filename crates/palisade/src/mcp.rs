//! MCP by HTTP: a server of ours that listens, and a server of others that is spoken to.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;

use palisade_gate::mcp::Settings;
pub use palisade_gate::mcp::{CannotReach, Far, Heard, Hears, Open, Out, Post, Reply, Served};

use crate::proxy::{CannotServe, Names, demanded, system_authorities};
use crate::session::Request;

/// Listens for clients. Beyond this machine a token is demanded of them.
///
/// # Errors
///
/// When others could connect without one, and when the address cannot be had.
pub fn listen(
    at: SocketAddr,
    token: Option<String>,
    names: Names,
    served: Arc<dyn Served>,
) -> Result<Open, CannotServe> {
    demanded(at, token.as_deref())?;
    let failed = |source| CannotServe::Listen { listen: at, source };
    let listener = TcpListener::bind(at).map_err(failed)?;
    Open::new(Settings { listener, names, token }, served).map_err(failed)
}

/// Makes ready to speak to a server of others, whom `authority` certifies, or this machine's.
///
/// # Errors
///
/// When its address cannot be used, or who certifies it cannot be read.
pub fn far(
    request: &Request,
    url: &str,
    token: Option<&str>,
    authority: Option<&Path>,
    hears: Hears,
) -> Result<Far, CannotReach> {
    let authorities = match authority {
        Some(path) => std::fs::read(path)?,
        None => system_authorities(request).unwrap_or_default(),
    };
    Far::new(url, token, &authorities, hears)
}
