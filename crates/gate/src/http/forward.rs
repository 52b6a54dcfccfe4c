//! How a request for a proxy becomes one for a server.

use std::collections::BTreeSet;

use super::head::{Head, Version, listed};
use super::target::Target;

/// Headers between a client and its proxy, next to those that start with `Proxy-` and those that
/// `Connection` names. `Transfer-Encoding` is not among them: the body is passed on as it is.
const OF_ONE_HOP: [&str; 6] =
    ["connection", "host", "http2-settings", "keep-alive", "te", "upgrade"];

/// Writes the head of a request as its server wants it: the path alone, whom it is for in `Host`,
/// and without what was between client and proxy.
///
/// The server is told to close the connection afterwards, so that no second request, which nobody
/// has looked at, can follow. None if the client asks for a connection, since no server gets that.
pub fn to_server(head: &Head) -> Option<Vec<u8>> {
    let path = match &head.target {
        Target::Absolute(path) | Target::Origin(path) => path.as_slice(),
        Target::Asterisk => b"*",
        Target::Connect => return None,
    };
    let version = match head.version {
        Version::Http10 => "HTTP/1.0",
        Version::Http11 => "HTTP/1.1",
    };
    // A head has room for many thousand names in `Connection`, so each header asks a set.
    let listed: BTreeSet<Vec<u8>> = listed(&head.headers).map(<[u8]>::to_ascii_lowercase).collect();
    let mut out = Vec::with_capacity(head.length);
    out.extend(head.method.as_bytes());
    out.push(b' ');
    out.extend(path);
    out.extend(format!(" {version}\r\nHost: {}\r\n", head.authority).as_bytes());
    for header in &head.headers {
        let name = header.name.to_ascii_lowercase();
        let is_of_one_hop = OF_ONE_HOP.contains(&&*name)
            || name.starts_with("proxy-")
            || listed.contains(name.as_bytes());
        if !is_of_one_hop {
            out.extend(header.name.as_bytes());
            out.extend(b": ");
            out.extend(&header.value);
            out.extend(b"\r\n");
        }
    }
    out.extend(b"Connection: close\r\n\r\n");
    Some(out)
}

/// Writes the head of a request anew, without its wish to speak another protocol from here on.
pub fn unswitched(head: &Head) -> Vec<u8> {
    const SWITCHING: [&str; 3] = ["connection", "http2-settings", "upgrade"];
    let path = match &head.target {
        Target::Absolute(path) | Target::Origin(path) => path.as_slice(),
        Target::Asterisk | Target::Connect => b"*",
    };
    let version = match head.version {
        Version::Http10 => "HTTP/1.0",
        Version::Http11 => "HTTP/1.1",
    };
    let mut out = [head.method.as_bytes(), b" ", path, b" ", version.as_bytes(), b"\r\n"].concat();
    let is_kept = |name: &&[u8]| {
        !name.is_empty()
            && !SWITCHING.iter().any(|switching| name.eq_ignore_ascii_case(switching.as_bytes()))
    };
    let listed: Vec<&[u8]> = listed(&head.headers).filter(is_kept).collect();
    for header in &head.headers {
        if !SWITCHING.iter().any(|switching| header.name.eq_ignore_ascii_case(switching)) {
            out.extend([header.name.as_bytes(), b": ", &header.value, b"\r\n"].concat());
        }
    }
    if !listed.is_empty() {
        out.extend([b"Connection: ", &*listed.join(&b", "[..]), b"\r\n"].concat());
    }
    out.extend(b"\r\n");
    out
}
