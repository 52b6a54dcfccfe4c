//! Who knocks: a program that was given this address, or a page in somebody's browser.
//!
//! A page can have its own name lead to this machine, and then ask a proxy here as if it were its
//! own server. So the name under which a client reaches the proxy must be one of the proxy's, and
//! a request that a page of another place makes is refused.

use std::net::{IpAddr, SocketAddr};

use hyper::header::{HOST, ORIGIN};
use hyper::http::uri::Authority;
use hyper::{HeaderMap, Uri};

use super::head::text;
use crate::llm::Problem;

/// Names that lead nowhere but to this machine, whoever answers for them.
const LOCAL: [&str; 2] = ["localhost", "host.palisade.internal"];

/// The names of a proxy, and the pages that may use it.
#[derive(Debug)]
pub(crate) struct Door {
    address: SocketAddr,
    usual: u16,
    hosts: Vec<Authority>,
    origins: Vec<String>,
}

impl Door {
    /// Makes one for an address. A host without a port may be asked for at any.
    pub(crate) fn new(address: SocketAddr, tls: bool, names: Names) -> Self {
        let usual = if tls { 443 } else { 80 };
        Self { address, usual, hosts: names.hosts, origins: names.origins }
    }

    /// Lets a request in, or says why not.
    pub(crate) fn admit(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
        let mut named = false;
        for host in headers.get_all(HOST) {
            named = true;
            let host = host.to_str().ok().and_then(|host| host.parse::<Authority>().ok());
            if !host.as_ref().is_some_and(|host| self.is_own(host)) {
                return Err(self.foreign(host.as_ref().map_or("?", Authority::as_str)));
            }
        }
        match uri.authority() {
            Some(authority) if !self.is_own(authority) => {
                return Err(self.foreign(authority.as_str()));
            }
            None if !named => {
                return Err(Problem::new(
                    400,
                    "the request names no host: it lacks the header `host`",
                ));
            }
            Some(_) | None => {}
        }
        let mut shown = false;
        for origin in headers.get_all(ORIGIN) {
            shown = true;
            let origin = origin.to_str().unwrap_or("?");
            if !self.origins.iter().any(|known| known.eq_ignore_ascii_case(origin)) {
                return Err(page(origin));
            }
        }
        // What a page asks for without saying where it comes from: a picture, a link, a frame.
        let site = text(headers, "sec-fetch-site").unwrap_or("none");
        if !shown && !matches!(site, "none" | "same-origin") {
            return Err(page("another site"));
        }
        Ok(())
    }

    fn is_own(&self, host: &Authority) -> bool {
        if host.as_str().contains('@') {
            return false;
        }
        let name = host.host().strip_suffix('.').unwrap_or(host.host());
        let port = match (host.port(), host.port_u16()) {
            (None, _) => self.usual,
            (Some(_), Some(port)) => port,
            (Some(_), None) => return false,
        };
        let configured = self.hosts.iter().any(|known| {
            known.host().eq_ignore_ascii_case(name)
                && known.port_u16().is_none_or(|own| own == port)
        });
        configured || (port == self.address.port() && self.is_here(name))
    }

    /// Whether a name without its port is this machine's. An address cannot be made to lead
    /// elsewhere, so any will do where the proxy listens at all of them.
    fn is_here(&self, name: &str) -> bool {
        let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        match bare.parse::<IpAddr>() {
            Ok(ip) => {
                let own = self.address.ip();
                ip.is_loopback() || ip == own || own.is_unspecified()
            }
            Err(_) => LOCAL.iter().any(|local| local.eq_ignore_ascii_case(name)),
        }
    }

    fn foreign(&self, host: &str) -> Problem {
        let host: String = host.chars().take(100).collect();
        Problem::new(
            403,
            format!(
                "this proxy is not `{host}`: a client reaches it as {}, or under a name that \
                 --allow-host lists",
                self.address
            ),
        )
    }
}

/// Other names of a proxy, and the pages that may use it.
#[derive(Clone, Debug, Default)]
pub struct Names {
    hosts: Vec<Authority>,
    origins: Vec<String>,
}

/// A name or an origin that is none.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{text}` is no {what}")]
pub struct BadName {
    text: String,
    what: &'static str,
}

impl Names {
    /// Adds a name, perhaps with a port, under which clients may reach the proxy.
    ///
    /// # Errors
    ///
    /// When it is no host.
    pub fn add_host(&mut self, text: &str) -> Result<(), BadName> {
        let bad = || BadName { text: text.into(), what: "host, with or without a port" };
        let host: Authority = text.parse().map_err(|_| bad())?;
        let port = text.strip_prefix(host.host()).unwrap_or("@");
        let odd = !port.is_empty() && host.port_u16().is_none();
        if host.host().is_empty() || text.contains('*') || odd {
            return Err(bad());
        }
        self.hosts.push(host);
        Ok(())
    }

    /// Adds the origin of pages that may use the proxy.
    ///
    /// # Errors
    ///
    /// When it is none: a scheme, a host and perhaps a port.
    pub fn add_origin(&mut self, text: &str) -> Result<(), BadName> {
        let is_origin = text.split_once("://").is_some_and(|(scheme, host)| {
            let host: Result<Authority, _> = host.parse();
            !scheme.is_empty() && host.is_ok_and(|host| !host.as_str().contains(['@', '*']))
        });
        if !is_origin {
            let what = "origin: write it as https://host[:port], as browsers do";
            return Err(BadName { text: text.into(), what });
        }
        self.origins.push(text.to_owned());
        Ok(())
    }
}

fn page(origin: &str) -> Problem {
    let origin: String = origin.chars().take(100).collect();
    Problem::new(
        403,
        format!("a page of `{origin}` may not use this proxy; --allow-origin lists those that may"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    fn status(door: &Door, uri: &str, headers: &[(&'static str, &str)]) -> u16 {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_str(value).unwrap());
        }
        door.admit(&uri.parse().unwrap(), &map).map_or_else(|problem| problem.status, |()| 200)
    }

    #[test]
    fn the_host_must_be_one_of_the_proxy() {
        let mut names = Names::default();
        names.add_host("devbox.example:9000").unwrap();
        names.add_host("any.example").unwrap();
        let door = Door::new("127.0.0.1:8787".parse().unwrap(), false, names.clone());
        for (host, expected) in [
            ("127.0.0.1:8787", 200),
            ("localhost:8787", 200),
            ("LOCALHOST.:8787", 200),
            ("[::1]:8787", 200),
            ("host.palisade.internal:8787", 200),
            ("devbox.example:9000", 200),
            ("any.example", 200),
            ("Any.Example:1", 200),
            ("devbox.example:8787", 403),
            ("localhost", 403),
            ("localhost:80", 403),
            ("127.0.0.1:8788", 403),
            ("192.0.2.1:8787", 403),
            ("rebound.example:8787", 403),
            ("127.0.0.1.rebound.example:8787", 403),
            ("localhost.rebound.example:8787", 403),
            ("localhost:8787@rebound.example", 403),
            ("rebound.example@localhost:8787", 403),
            ("localhost:", 403),
            ("127.1:8787", 403),
            ("", 403),
        ] {
            assert_eq!(status(&door, "/v1/messages", &[("host", host)]), expected, "{host}");
        }
        assert_eq!(status(&door, "/", &[]), 400);
        assert_eq!(status(&door, "http://localhost:8787/", &[]), 200);
        assert_eq!(
            status(&door, "http://rebound.example:8787/", &[("host", "localhost:8787")]),
            403
        );
        let both = [("host", "localhost:8787"), ("host", "rebound.example:8787")];
        assert_eq!(status(&door, "/", &both), 403);
        let wide = Door::new("0.0.0.0:443".parse().unwrap(), true, names);
        for (host, expected) in [("192.0.2.1", 200), ("localhost", 200), ("rebound.example", 403)] {
            assert_eq!(status(&wide, "/", &[("host", host)]), expected, "{host}");
        }
    }

    #[test]
    fn pages_of_others_are_refused() {
        let mut names = Names::default();
        names.add_origin("http://localhost:3000").unwrap();
        let door = Door::new("127.0.0.1:8787".parse().unwrap(), false, names);
        let host = ("host", "127.0.0.1:8787");
        for (header, expected) in [
            (("origin", "http://localhost:3000"), 200),
            (("origin", "http://localhost:3001"), 403),
            (("origin", "https://page.example"), 403),
            (("origin", "null"), 403),
            (("origin", "http://127.0.0.1:8787"), 403),
            (("sec-fetch-site", "cross-site"), 403),
            (("sec-fetch-site", "same-site"), 403),
            (("sec-fetch-site", "none"), 200),
        ] {
            assert_eq!(status(&door, "/v1/messages", &[host, header]), expected, "{header:?}");
        }
        let two = [host, ("origin", "http://localhost:3000"), ("origin", "https://page.example")];
        assert_eq!(status(&door, "/", &two), 403);
        let allowed = [host, ("origin", "http://localhost:3000"), ("sec-fetch-site", "cross-site")];
        assert_eq!(status(&door, "/", &allowed), 200);
    }

    #[test]
    fn what_is_no_name_cannot_be_listed() {
        let mut names = Names::default();
        for bad in ["", "a b", "k@h", "*.example", "http://h", "h:x", "h:"] {
            assert!(names.add_host(bad).is_err(), "{bad}");
        }
        for bad in ["", "*", "null", "page.example", "https://", "https://a/b", "https://*.example"]
        {
            assert!(names.add_origin(bad).is_err(), "{bad}");
        }
    }
}
