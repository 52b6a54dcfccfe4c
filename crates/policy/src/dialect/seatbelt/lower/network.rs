//! `network`: whether anything connects, and the few ends that a profile can name.

use super::super::endpoint::{Endpoint, Protocols, Side, Where};
use super::super::filter::{Filter, Test};
use super::super::operation::{Operation, Ways};
use super::super::place::Place;
use super::super::rule::{Rule, Rules, Verdict, note};
use super::{inexpressible, sourced};
use crate::key::{Grants, Opening, Reader, Setting};
use crate::name::{PathPattern, Port};
use crate::policy::{NetworkMode, Policy};
use crate::text::Span;

/// Works out `network`.
pub(super) fn lower(rules: &Rules, policy: &mut Policy, cx: &mut Reader<'_>) {
    let start = (rules.default, rules.default_span);
    let mut state = State {
        outbound: start,
        inbound: start,
        bind: start,
        host_ports: Vec::new(),
        publish: Vec::new(),
        unix: Vec::new(),
    };
    let mut narrow = false;
    for Rule { verdict, operation, filter, span } in &rules.rules {
        let Operation::Network(ways) = *operation else { continue };
        match filter {
            None => {
                state.take_all(*verdict, ways, *span, Sockets::Too);
                if narrow && ways == Ways::All && *verdict == Verdict::Allow {
                    let message = "whether this takes back a narrower `deny` before is not certain";
                    let problem = cx.complaint("uncertain-order", message.into(), *span);
                    cx.report(problem.hint("put the `deny` last"));
                }
            }
            Some(filter) => state.take_filter(filter, *verdict, ways, *span, cx),
        }
        narrow |= *verdict == Verdict::Deny && ways != Ways::All;
    }
    state.settle(policy, cx);
}

struct State {
    outbound: (Verdict, Span),
    inbound: (Verdict, Span),
    bind: (Verdict, Span),
    host_ports: Vec<(Port, Span)>,
    publish: Vec<(Port, Span)>,
    unix: Vec<(PathPattern, Span)>,
}

/// Whether a statement about all connections is about Unix sockets too.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Sockets {
    Not,
    Too,
}

impl State {
    fn take_all(&mut self, verdict: Verdict, ways: Ways, span: Span, sockets: Sockets) {
        if matches!(ways, Ways::All | Ways::Outbound) {
            self.outbound = (verdict, span);
            self.host_ports.clear();
            if sockets == Sockets::Too {
                self.unix.clear();
            }
        }
        if matches!(ways, Ways::All | Ways::Inbound) {
            self.inbound = (verdict, span);
            self.publish.clear();
        }
        if matches!(ways, Ways::All | Ways::Bind) {
            self.bind = (verdict, span);
        }
    }

    fn take_filter(
        &mut self,
        filter: &Filter,
        verdict: Verdict,
        ways: Ways,
        span: Span,
        cx: &mut Reader<'_>,
    ) {
        match &filter.test {
            Test::Any(parts) => {
                parts.iter().for_each(|part| self.take_filter(part, verdict, ways, span, cx));
            }
            Test::Network(Endpoint::Address {
                protocols: Protocols::Every,
                host: Where::Anywhere,
                port: None,
                ..
            }) => self.take_all(verdict, ways, span, Sockets::Not),
            Test::Network(Endpoint::Address { side, host, port, .. }) => {
                let narrow = Narrow { side: *side, host: *host, port: *port };
                match verdict {
                    Verdict::Allow => self.allow(narrow, ways, filter.span, cx),
                    Verdict::Deny => self.deny(narrow, ways, filter.span, cx),
                }
            }
            Test::Network(Endpoint::Unix { side, places }) => {
                self.take_sockets((*side, places), verdict, ways, filter.span, cx);
            }
            Test::Path(places) => {
                // A bare path is either end; the own one is meant where something is refused.
                let side = match (verdict, ways) {
                    (Verdict::Deny, Ways::All) => Side::Local,
                    (Verdict::Allow | Verdict::Deny, _) => Side::Remote,
                };
                self.take_sockets((side, places), verdict, ways, filter.span, cx);
            }
            Test::All(_) | Test::Foreign | Test::Not(_) | Test::Vnode => {
                let message = "connections cannot be told apart by this".into();
                let hint = "use (remote …), (local …), or no filter at all";
                inexpressible(cx, message, hint, filter.span);
            }
        }
    }

    fn is_open(&self, ways: Ways) -> bool {
        let open = |side: &(Verdict, Span)| side.0 == Verdict::Allow;
        match ways {
            Ways::All => open(&self.outbound) || open(&self.inbound) || open(&self.bind),
            Ways::Bind => open(&self.bind),
            Ways::Inbound => open(&self.inbound),
            Ways::Outbound => open(&self.outbound),
        }
    }

    fn allow(&mut self, end: Narrow, ways: Ways, span: Span, cx: &mut Reader<'_>) {
        if matches!(ways, Ways::All | Ways::Outbound) && !self.is_open(Ways::Outbound) {
            self.allow_outbound(end, span, cx);
        }
        if matches!(ways, Ways::All | Ways::Inbound) && !self.is_open(Ways::Inbound) {
            self.allow_inbound(end, ways, span, cx);
        }
        if ways == Ways::Bind && !self.is_open(Ways::Bind) {
            allow_bind(end, span, cx);
        }
    }

    /// Only the other end of what goes out can be named, and only on the host.
    fn allow_outbound(&mut self, end: Narrow, span: Span, cx: &mut Reader<'_>) {
        match (end.host, end.side, end.port) {
            (Where::Anywhere, ..) => {
                let message =
                    "only all connections can be allowed, not one port or protocol of all hosts";
                let hint = "allow all with (allow network-outbound), or list hosts in a policy's \
                            `network.allow`";
                inexpressible(cx, message.into(), hint, span);
            }
            (Where::Localhost, Side::Remote, Some(port)) => {
                self.host_ports.push((port, span));
                let port = port.number();
                let message =
                    format!("inside, the host's port {port} is `host.palisade.internal:{port}`");
                note(cx, "localhost", message, span);
            }
            (Where::Localhost, Side::Remote, None) | (Where::Localhost, Side::Local, _) => {
                let message = "inside, `localhost` is the sandbox's own; the host's stays closed";
                note(cx, "localhost", message.into(), span);
            }
        }
    }

    /// Only the own end of what comes in can be named.
    fn allow_inbound(&mut self, end: Narrow, ways: Ways, span: Span, cx: &mut Reader<'_>) {
        match (end.side, end.port) {
            (Side::Local, Some(port)) => self.publish.push((port, span)),
            (Side::Remote, Some(_)) if ways == Ways::Inbound => {
                let message = "what comes in cannot be told apart by where it comes from".into();
                let hint = "name the own port: (allow network-inbound (local ip \"localhost:…\"))";
                inexpressible(cx, message, hint, span);
            }
            (Side::Local, None) | (Side::Remote, _) => {
                let message = "servers inside are reachable only through `network.publish`";
                note(cx, "localhost", message.into(), span);
            }
        }
    }

    fn deny(&mut self, end: Narrow, ways: Ways, span: Span, cx: &mut Reader<'_>) {
        if self.is_open(ways) {
            let message = "where connections are open, single ends of them cannot be closed".into();
            let hint = "deny all of them, or list hosts in a policy's `network.deny`";
            return inexpressible(cx, message, hint, span);
        }
        // What is left to close are single ports; a part of the protocols closes them whole.
        for (ways_in, side, ports) in [
            ([Ways::All, Ways::Outbound], Side::Remote, &mut self.host_ports),
            ([Ways::All, Ways::Inbound], Side::Local, &mut self.publish),
        ] {
            if !ways_in.contains(&ways) || ports.is_empty() {
                continue;
            }
            if end.port.is_some() && end.side != side {
                let message = "ports are allowed before, and by this end they cannot be told apart";
                let hint = "name the same end in both, `remote` going out and `local` coming in";
                inexpressible(cx, message.into(), hint, span);
                return;
            }
            ports.retain(|found| end.port.is_some_and(|port| port != found.0));
        }
    }

    fn take_sockets(
        &mut self,
        (side, places): (Side, &[Place]),
        verdict: Verdict,
        ways: Ways,
        span: Span,
        cx: &mut Reader<'_>,
    ) {
        let made = match (ways, side) {
            (Ways::Bind | Ways::Inbound, _) => self.is_open(ways),
            (Ways::All, Side::Local) => self.is_open(Ways::Bind) || self.is_open(Ways::Inbound),
            (Ways::All | Ways::Outbound, _) => false,
        };
        if verdict == Verdict::Deny && made {
            let message = "where connections are open, making a socket cannot be refused".into();
            let hint = "deny writing where it would lie: (deny file-write* (subpath \"…\"))";
            return inexpressible(cx, message, hint, span);
        }
        if !matches!(ways, Ways::All | Ways::Outbound) {
            let message = "whether a socket can be made is up to the rules on writing".into();
            return note(cx, "unix-socket", message, span);
        }
        match verdict {
            Verdict::Allow if side == Side::Local => {
                let message = "this is only about the own end; the host's sockets stay closed";
                note(cx, "unix-socket", message.into(), span);
            }
            Verdict::Deny if self.unix.is_empty() => {} // the host's are closed anyway
            Verdict::Deny if places.is_empty() => self.unix.clear(),
            Verdict::Deny => {
                let message = "single sockets cannot be closed again".into();
                inexpressible(cx, message, "allow only those that are meant", span);
            }
            Verdict::Allow if places.is_empty() => {
                self.unix.extend(Place::everything().ok().map(|place| (place.pattern, span)));
            }
            Verdict::Allow => {
                self.unix.extend(places.iter().map(|place| (place.pattern.clone(), span)));
            }
        }
    }

    fn settle(self, policy: &mut Policy, cx: &mut Reader<'_>) {
        let (outbound, span) = self.outbound;
        let mode = match (outbound, self.inbound.0, self.bind.0) {
            (Verdict::Allow, Verdict::Allow, Verdict::Allow) => NetworkMode::Disabled,
            (Verdict::Allow, _, _) => {
                let message = "connections go out through Palisade and are recorded; none come in";
                note(cx, "outbound-only", message.into(), span);
                NetworkMode::Monitor
            }
            (Verdict::Deny, _, _) => NetworkMode::DenyAll,
        };
        let network = &mut policy.network;
        network.mode = Setting::new(sourced(mode, span, cx));
        if mode != NetworkMode::Disabled && self.bind.0 == Verdict::Allow {
            network.local_binding = Setting::new(sourced(Opening(true), self.bind.1, cx));
        }
        if mode != NetworkMode::Disabled && self.inbound.0 == Verdict::Allow {
            let message = "servers inside are reachable only through `network.publish`".into();
            note(cx, "localhost", message, self.inbound.1);
        }
        if mode != NetworkMode::DenyAll && self.unix.is_empty() {
            let message = "the host's Unix sockets stay closed; name them, or list `network.unix`";
            note(cx, "unix-socket", message.into(), span);
        }
        let network = &mut policy.network;
        network.host_ports = grants(self.host_ports, cx);
        network.publish = grants(self.publish, cx);
        network.unix = grants(self.unix, cx);
    }
}

/// Only all addresses can be bound, or loopback alone, which is the sandbox's own.
fn allow_bind(end: Narrow, span: Span, cx: &mut Reader<'_>) {
    match end.host {
        Where::Localhost => {
            let message = "inside, servers bind to loopback anyway; no other address is opened";
            note(cx, "localhost", message.into(), span);
        }
        Where::Anywhere => {
            let message = "only all addresses and ports can be bound, not some of them".into();
            let hint = "allow all with (allow network-bind), or loopback with \"localhost:*\"";
            inexpressible(cx, message, hint, span);
        }
    }
}

/// An address that is not every one.
#[derive(Clone, Copy)]
struct Narrow {
    side: Side,
    host: Where,
    port: Option<Port>,
}

fn grants<T>(found: Vec<(T, Span)>, cx: &Reader<'_>) -> Grants<T> {
    if found.is_empty() {
        return Grants::default();
    }
    Grants::new(found.into_iter().map(|(value, span)| sourced(value, span, cx)).collect())
}
