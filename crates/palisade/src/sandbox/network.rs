//! What a run is told of its network, and what is told of it.

use palisade_gate::traffic::{Connection, Report};
use palisade_plan::Order;
use palisade_plan::network::{PROXY_PORT, Rung};
use palisade_policy::policy::{Network, NetworkMode};
use serde_json::{Value, json};

use super::json::milliseconds;
use super::suggest::Suggestion;

/// What went through the network of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// How connections were led to us.
    pub rung: Rung,
    /// What there was.
    pub report: Report,
}

fn is_filtered(mode: NetworkMode) -> bool {
    matches!(mode, NetworkMode::AllowList | NetworkMode::Monitor)
}

/// Names the proxy to programs that look for one, unless the policy or the caller says otherwise.
pub(super) fn name_proxy(order: &mut Order, network: &Network) {
    if !is_filtered(order.network) || !network.proxy_env.value().0 {
        return;
    }
    let (http, socks) =
        (format!("http://127.0.0.1:{PROXY_PORT}"), format!("socks5h://127.0.0.1:{PROXY_PORT}"));
    let own = "localhost,127.0.0.1,::1".to_owned();
    let variables =
        [("HTTP_PROXY", &http), ("HTTPS_PROXY", &http), ("ALL_PROXY", &socks), ("NO_PROXY", &own)];
    for (name, value) in variables {
        for name in [name.to_owned(), name.to_lowercase()] {
            if !order.environment.iter().any(|(had, _)| *had == name) {
                order.environment.push((name, value.clone()));
            }
        }
    }
}

impl Traffic {
    /// Returns the smallest list of hosts that would have let the run pass.
    pub fn suggestion(&self) -> Suggestion {
        Suggestion::of(&self.report)
    }

    /// Returns what a program in another language reads.
    pub(super) fn json(&self) -> Value {
        let Report { connections, more, sent, received, trouble } = &self.report;
        json!({
            "rung": self.rung.word(),
            "connections": connections.iter().map(connection).collect::<Vec<_>>(),
            "more": more,
            "sent": sent,
            "received": received,
            "trouble": trouble,
        })
    }
}

fn connection(one: &Connection) -> Value {
    json!({
        "at_ms": milliseconds(one.at),
        "host": one.host,
        "port": one.port,
        "address": one.address.map(|address| address.ip().to_string()),
        "via": one.via.word(),
        "verdict": one.verdict.word(),
        "code": one.verdict.code(),
        "rule": one.rule,
        "sent": one.sent,
        "received": one.received,
        "duration_ms": milliseconds(one.duration),
        "request": one.requests.first(),
        "requests": one.requests,
        "more_requests": one.more_requests,
    })
}
