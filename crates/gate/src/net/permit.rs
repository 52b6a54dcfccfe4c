//! Whether a plain request may go on.

use palisade_policy::policy::Action;

use super::book::Entry;
use super::{Shared, Whom};
use crate::http::{Fault, Head, Status, Target, one_path, refuse};
use crate::traffic::Wanted;

/// Why a request may not.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Refusal {
    pub(super) status: Status,
    /// A name that never changes.
    pub(super) code: &'static str,
    why: String,
}

impl Refusal {
    fn new(status: Status, code: &'static str, why: impl Into<String>) -> Self {
        Self { status, code, why: why.into() }
    }

    /// Returns what the client is told.
    pub(super) fn answer(&self) -> Vec<u8> {
        refuse(self.status, self.code, &self.why)
    }
}

/// Headers by which some servers take another method or path than those of the first line.
const REPLACING: [&str; 11] = [
    "x-forwarded-method",
    "x-forwarded-path",
    "x-forwarded-uri",
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
    "x-original-method",
    "x-original-uri",
    "x-original-url",
    "x-rewrite-uri",
    "x-rewrite-url",
];

/// Checks that a request on a connection to somebody is for them.
pub(super) fn check_whom(head: &Head, whom: &Whom) -> Result<(), Refusal> {
    if head.target == Target::Connect {
        let why = "a connection cannot be asked for here";
        return Err(Refusal::new(Status::MethodNotAllowed, "http-connect", why));
    }
    let named = &head.authority;
    if named.host != whom.host || named.port.is_some_and(|port| port != whom.port) {
        let why = format!("this connection is not for {named}");
        return Err(Refusal::new(Status::Misdirected, "http-other-host", why));
    }
    Ok(())
}

/// Asks the rules for requests, and a person if they say so. The path becomes the one that was
/// judged.
pub(super) async fn check_rules(
    head: &mut Head,
    whom: &Whom,
    entry: &Entry,
    shared: &Shared,
) -> Result<(), Refusal> {
    let Whom { host, port } = whom;
    if !shared.rules.requests.covers(host, *port) {
        entry.saw(&head.method, &head.target.path());
        return Ok(());
    }
    let malformed = |fault: Fault| Refusal::new(fault.status(), fault.code(), fault.to_string());
    let (path, also) = match &head.target {
        Target::Absolute(path) | Target::Origin(path) => {
            let path = one_path(path).map_err(malformed)?;
            head.target = Target::Origin(path.sent);
            (path.judged, path.also)
        }
        Target::Asterisk | Target::Connect => (head.target.path(), Vec::new()),
    };
    entry.saw(&head.method, &path);
    // Where headers become variables, `-` and `_` are one.
    let name = |name: &str| name.to_ascii_lowercase().replace('_', "-");
    if head.headers.iter().any(|header| REPLACING.contains(&&*name(&header.name))) {
        return Err(malformed(Fault::Replaced));
    }
    let said = shared.rules.requests.judge(host, *port, &head.method, &path, &also);
    if let Some(rule) = &said.rule {
        entry.with(|it| it.rule = Some(rule.clone()));
    }
    let asked = format!("{} {path}", head.method);
    match said.action {
        Action::Allow => Ok(()),
        Action::Deny => {
            let rule = said.rule.as_deref().unwrap_or("http_rules: no rule allows it");
            let why = format!("the policy does not allow {asked} at {host} (network.{rule})");
            Err(Refusal::new(Status::Forbidden, "request-refused", why))
        }
        Action::Ask => {
            let rule = said.rule;
            let why = rule.as_deref().unwrap_or("http_rules");
            let why = format!("nobody agreed to {asked} at {host} (network.{why})");
            let request = Some(asked);
            let wanted = Wanted { host: host.to_string(), port: *port, request, rule };
            let answered = shared.asking.ask(wanted).await;
            answered.map_err(|code| Refusal::new(Status::Forbidden, code, why))
        }
    }
}
