//! The host that a URL names.

use std::net::IpAddr;

use url::Url;

use crate::name::{Host, HostName, Invalid};

/// Longer ones are refused by servers and proxies alike.
const LONGEST: usize = 16 * 1024;

/// What a URL says about whom it reaches.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Parsed {
    /// The scheme, in lower case.
    pub scheme: String,
    /// The host.
    pub host: Host,
    /// The port, written or the scheme's own.
    pub port: Option<u16>,
    /// How the host is spelled.
    pub spelled: Spelled,
}

/// How a host is spelled.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Spelled {
    /// As everybody would.
    Plainly,
    /// As something that only turns into this host when it is read: `0x7f.1`, `%65xample.com`,
    /// `ｅxample.com`. Nobody writes that without a reason.
    Oddly,
}

/// Reads a URL and returns whom it reaches.
///
/// # Errors
///
/// A text that is no absolute URL, a URL without a host, and a host that no name or address can be.
///
/// # Examples
///
/// ```
/// use palisade_policy::url::host_of;
///
/// let parsed = host_of("https://user@API.example.com:8443/x")?;
/// assert_eq!(parsed.host.to_string(), "api.example.com");
/// assert_eq!(parsed.port, Some(8443));
/// # Ok::<(), palisade_policy::name::Invalid>(())
/// ```
pub fn host_of(text: &str) -> Result<Parsed, Invalid> {
    if text.len() > LONGEST {
        return Err(Invalid::new("url-length", format!("the URL is longer than {LONGEST} bytes")));
    }
    let url = Url::parse(text)
        .map_err(|error| Invalid::new("url-syntax", format!("this is no URL: {error}")))?;
    let host = match url.host() {
        // For schemes it does not know the standard leaves the host as it is; so does our check.
        Some(url::Host::Domain(name)) => name.parse()?,
        Some(url::Host::Ipv4(address)) => IpAddr::from(address).into(),
        Some(url::Host::Ipv6(address)) => IpAddr::from(address).into(),
        None => return Err(Invalid::new("url-host", "the URL names no host")),
    };
    let written = written_host(text);
    let spelled = if is_plain(written, &host) { Spelled::Plainly } else { Spelled::Oddly };
    let port = url.port_or_known_default();
    Ok(Parsed { scheme: url.scheme().to_owned(), host, port, spelled })
}

/// Returns every other host than `host` that an older parser might find: one that takes a
/// backslash for an ordinary character, and one that lets the authority run on to the first slash.
pub(crate) fn other_readings(text: &str, host: &Host) -> impl Iterator<Item = Host> {
    let known = host.to_string();
    let rest = text.split_once("://").map(|(_, rest)| rest);
    let ends: [&[char]; 2] = [&['/', '?', '#'], &['/']];
    ends.into_iter().filter_map(move |ends| {
        let other = host_in(rest?.split(ends).next()?);
        // Nearly always both are the same text, and nothing is left to parse.
        if other.eq_ignore_ascii_case(&known) { None } else { other.parse().ok() }
    })
}

/// Returns the host of an authority: after the user, before the port.
fn host_in(authority: &str) -> &str {
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if host.starts_with('[') {
        return host.find(']').and_then(|end| host.get(..=end)).unwrap_or(host);
    }
    host.split_once(':').map_or(host, |(host, _)| host)
}

/// Returns the host as it stands in the text.
fn written_host(text: &str) -> &str {
    let rest = text.split_once(':').map_or("", |(_, rest)| rest);
    let rest = rest.trim_start_matches(['/', '\\']);
    host_in(rest.split(['/', '\\', '?', '#']).next().unwrap_or_default())
}

fn is_plain(written: &str, host: &Host) -> bool {
    match host {
        Host::Name(name) => {
            let ends =
                |written: &str| written.trim_end_matches('.').eq_ignore_ascii_case(name.as_str());
            ends(written) || is_international(written, name)
        }
        Host::Ip(IpAddr::V4(address)) => written == address.to_string() || written.starts_with('['),
        Host::Ip(IpAddr::V6(_)) => true,
    }
}

/// Returns whether each label that is not ASCII stayed a label of its own script, rather than
/// turning into ASCII letters.
fn is_international(written: &str, name: &HostName) -> bool {
    let written = written.trim_end_matches('.');
    written.split('.').count() == name.as_str().split('.').count()
        && written.split('.').zip(name.as_str().split('.')).all(|(written, label)| {
            written.eq_ignore_ascii_case(label) || !written.is_ascii() && label.starts_with("xn--")
        })
}
