//! Hosts that a call's URL names, held against rules and modes.

use serde_json::{Map, Value as Json};

use crate::name::{Host, HostPattern, HostSet};
use crate::policy::{Action, DomainRule};
use crate::url::{Allowed, Spelled, host_of, is_public, judge_url, other_readings};

/// Whether a rule's hosts are those of the call. A URL that names no host matches no rule.
pub(super) fn names(domain: &DomainRule, action: Action, args: &Map<String, Json>) -> bool {
    let Some(value) = args.get(&*domain.url_arg) else { return false };
    match action {
        // Every program that reads the URL must find a host of the list.
        Action::Allow => value.as_str().is_some_and(|url| {
            let listed = Allowed::Listed(HostSet::new(&domain.hosts));
            judge_url(&absolute(url), &listed).refusal.is_none()
        }),
        Action::Ask | Action::Deny => any_text(value, DEEPEST, &|url| names_host(domain, url)),
    }
}

/// Deepest argument that is looked into; serde reads none that is deeper.
const DEEPEST: u8 = 129;

/// Whether a text of an argument is one that is looked for, wherever in it.
fn any_text(value: &Json, depth: u8, is: &dyn Fn(&str) -> bool) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return true };
    match value {
        Json::String(text) => is(text),
        Json::Array(items) => items.iter().any(|item| any_text(item, depth, is)),
        Json::Object(entries) => entries.values().any(|item| any_text(item, depth, is)),
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    }
}

/// Whether a URL names one of a rule's hosts, to whatever program.
pub(crate) fn names_host(domain: &DomainRule, url: &str) -> bool {
    let set = HostSet::new(&domain.hosts);
    hosts(url).iter().any(|(host, port)| set.find(host, *port).is_some())
}

/// What a mode for fetching makes of a URL.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Reach {
    /// A host of documentation that everybody may read.
    Known,
    /// This machine, its network, or its cloud.
    Closed,
    /// Any other host, or none that can be told.
    Open,
}

/// Returns what the URL of a fetching tool reaches.
pub(super) fn reach(args: &Map<String, Json>) -> Reach {
    let closed = |url: &str| hosts(url).iter().any(|(host, _)| !is_public(host));
    if args.get("url").is_some_and(|value| any_text(value, DEEPEST, &closed)) {
        return Reach::Closed;
    }
    let url = absolute(args.get("url").and_then(Json::as_str).unwrap_or_default());
    let known: Vec<HostPattern> = KNOWN.iter().filter_map(|host| host.parse().ok()).collect();
    let listed = Allowed::Listed(HostSet::new(&known));
    let plain = host_of(&url).is_ok_and(|parsed| parsed.spelled == Spelled::Plainly);
    if plain && judge_url(&url, &listed).refusal.is_none() { Reach::Known } else { Reach::Open }
}

/// Hosts that the modes allow to fetch from.
const KNOWN: [&str; 5] =
    [".github.com", ".docs.python.org", ".wikipedia.org", "r.jina.ai", ".readthedocs.io"];

/// Returns every host that a program may read in a URL, however it is spelled; none if there is none.
pub(crate) fn hosts(url: &str) -> Vec<(Host, u16)> {
    let url = absolute(url);
    let Ok(parsed) = host_of(&url) else { return Vec::new() };
    let port = parsed.port.unwrap_or_default();
    let others: Vec<Host> = other_readings(&url, &parsed.host).collect();
    std::iter::once(parsed.host).chain(others).map(|host| (host, port)).collect()
}

/// Returns the scheme of a URL of the web, and what follows its colon: `http:\\x` and `http:x` are
/// `http://x` to a browser.
pub(crate) fn of_web(url: &str) -> Option<(&str, &str)> {
    const WEB: [&str; 5] = ["http", "https", "ws", "wss", "ftp"];
    let (scheme, rest) = url.split_once(':')?;
    WEB.iter().any(|web| scheme.eq_ignore_ascii_case(web)).then_some((scheme, rest))
}

/// Adds the scheme and the slashes that a browser would add.
fn absolute(url: &str) -> String {
    const SLASHES: [char; 2] = ['/', '\\'];
    // Browsers leave these out, wherever they stand.
    let url = url.replace(['\t', '\n', '\r'], "");
    let url = url.trim_matches(|c: char| c.is_whitespace() || c.is_control());
    if let Some((scheme, rest)) = of_web(url) {
        return format!("{scheme}://{}", rest.trim_start_matches(SLASHES));
    }
    let is_scheme = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    };
    // In `host/?from=https://…` the scheme is that of another URL.
    if url.is_empty() || url.split_once("://").is_some_and(|(scheme, _)| is_scheme(scheme)) {
        return url.to_owned();
    }
    // An address of six is written without brackets where nobody needs a port.
    match url.parse::<std::net::Ipv6Addr>() {
        Ok(address) => format!("http://[{address}]"),
        Err(_) => format!("http://{}", url.trim_start_matches(SLASHES)),
    }
}
