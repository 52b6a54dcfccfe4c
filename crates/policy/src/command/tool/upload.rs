//! Sending files: to whom it matters.

use crate::command::{Act, Concern, Holed as _};

/// Drops what was said of sending, from `first` on, if all that is talked to is this machine.
pub(super) fn forgive(first: usize, acts: &mut Vec<Act<'_>>) {
    let own = acts.get(first..).unwrap_or_default();
    let mut hosts = own.iter().filter_map(Act::host);
    if hosts.next().is_none_or(|host| !is_loopback(host)) || !hosts.all(is_loopback) {
        return;
    }
    let mut at = 0;
    acts.retain(|act| {
        at += 1;
        at <= first
            || !matches!(act, Act::Send(_) | Act::Raise(Concern::Exfiltrates | Concern::Floods, _))
    });
}

/// Tells addresses of this machine, as URLs, `host:port` or `user@host:path`.
pub(super) fn is_loopback(target: &str) -> bool {
    let rest = target.split_once("://").map_or(target, |(_, rest)| rest);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = rest.get(..end).unwrap_or(rest);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if host == "::1" || host.starts_with("[::1]") {
        return true;
    }
    let host = host.split(':').next().unwrap_or(host);
    let address = host.strip_prefix("127.");
    let is_address = |rest: &str| {
        rest.split('.').count() == 3 && rest.split('.').all(|part| part.parse::<u8>().is_ok())
    };
    !host.has_hole()
        && (host.eq_ignore_ascii_case("localhost")
            || host == "0.0.0.0"
            || address.is_some_and(is_address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_told_from_others_that_look_like_it() {
        for own in [
            "localhost",
            "localhost:3000/x",
            "http://127.0.0.1:80/a",
            "http://user:word@localhost/",
            "[::1]:80",
            "me@localhost:file",
        ] {
            assert!(is_loopback(own), "{own}");
        }
        for other in [
            "example.com",
            "http://localhost.example.com/",
            "http://localhost@example.com/",
            "http://example.com/@localhost",
            "http://example.com?@localhost",
            "127.0.0.1.example.com",
            "127.1.example",
            "",
        ] {
            assert!(!is_loopback(other), "{other}");
        }
    }
}
