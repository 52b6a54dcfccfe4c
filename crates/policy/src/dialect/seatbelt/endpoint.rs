//! The ends of connections: `(remote ip "localhost:8080")`, `(remote unix-socket (subpath "/run"))`.

use super::filter::{Filter, Test};
use super::place::Place;
use super::sexp::Expr;
use super::string::{Known, complain, string};
use crate::key::Reader;
use crate::name::Port;
use crate::text::visible;

/// One end of a connection.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Endpoint {
    /// An address of a network.
    Address {
        /// Whose end.
        side: Side,
        /// Whether every protocol is meant.
        protocols: Protocols,
        /// Which host.
        host: Where,
        /// Which port; none means every one.
        port: Option<Port>,
    },
    /// A Unix socket.
    Unix {
        /// Whose end.
        side: Side,
        /// Where it lies; no places means every one.
        places: Vec<Place>,
    },
}

/// Which end of a connection is meant.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Side {
    /// The confined program's own.
    Local,
    /// The other one.
    Remote,
}

/// Which protocols an end is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Protocols {
    Every,
    Some,
}

/// The two hosts that the language knows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Where {
    Anywhere,
    Localhost,
}

/// Reads `(local …)` or `(remote …)`.
pub(super) fn read(
    head: &str,
    whole: &Expr,
    rest: &[Expr],
    known: Known<'_>,
    cx: &mut Reader<'_>,
) -> Option<Endpoint> {
    let side = if head == "local" { Side::Local } else { Side::Remote };
    let protocol = rest.first().and_then(Expr::symbol);
    match (protocol, rest) {
        (Some("unix" | "unix-socket"), [_]) => Some(Endpoint::Unix { side, places: Vec::new() }),
        (Some("unix" | "unix-socket"), [_, path]) => match Filter::read(path, known, cx)?.test {
            Test::Path(places) => Some(Endpoint::Unix { side, places }),
            Test::All(_)
            | Test::Any(_)
            | Test::Foreign
            | Test::Network(_)
            | Test::Not(_)
            | Test::Vnode => {
                let message = "expected the path of a socket".into();
                let hint = "such as (remote unix-socket (literal \"/run/example.sock\"))";
                complain(cx, "address", message, hint, path.span)
            }
        },
        (
            Some(
                protocol @ ("ip" | "ip4" | "ip6" | "tcp" | "tcp4" | "tcp6" | "udp" | "udp4"
                | "udp6"),
            ),
            [_, rest @ ..],
        ) if rest.len() < 2 => {
            let protocols = if protocol == "ip" { Protocols::Every } else { Protocols::Some };
            let text = match rest.first() {
                Some(address) => string(address, known, cx)?,
                None => "*:*".into(),
            };
            let Some((host, port)) = address(&text) else {
                let message = format!("`{}` is no address of this language", visible(&text));
                let problem = cx.complaint("address", message, whole.span);
                cx.report(problem.expected("`*` or `localhost`, a colon, and a port or `*`"));
                return None;
            };
            Some(Endpoint::Address { side, protocols, host, port })
        }
        _ => {
            let message = format!("`{head}` takes a protocol and an address");
            let problem = cx.complaint("address", message, whole.span);
            cx.report(
                problem.expected("such as (remote ip \"localhost:*\") or (remote unix-socket)"),
            );
            None
        }
    }
}

fn address(text: &str) -> Option<(Where, Option<Port>)> {
    let (host, port) = text.rsplit_once(':')?;
    let host = match host {
        "*" => Where::Anywhere,
        "localhost" => Where::Localhost,
        _ => return None,
    };
    let port = if port == "*" { None } else { Some(port.parse().ok()?) };
    Some((host, port))
}
