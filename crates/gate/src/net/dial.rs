//! From a host to a connection: resolved once, judged, and that very address dialled.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use palisade_policy::name::{Host, HostName};
use palisade_policy::policy::is_outer;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::book::Entry;
use super::rules::Judged;
use super::{Shared, Whom};
use crate::address::Addresses;
use crate::traffic::{Verdict, Wanted};

/// How long a resolver may take.
const RESOLVING: Duration = Duration::from_secs(15);

/// How long a connection may take to be made, if there is another address to try.
const NEXT: Duration = Duration::from_secs(10);

/// The same for the last one: as long as kernels wait by themselves.
const LAST: Duration = Duration::from_secs(130);

/// Most addresses of one name that are tried.
const TRIED: usize = 8;

/// Why there is no connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Failed {
    /// It may not be made; a name that never changes.
    Refused(&'static str),
    /// The name leads nowhere.
    NoName,
    /// The other side refuses.
    Closed,
    /// There is no way.
    Unreachable,
    /// There is no answer.
    Late,
}

impl Failed {
    /// Returns a name that never changes, for logs, tests and the manual.
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Refused(code) => code,
            Self::NoName => "name-unknown",
            Self::Closed => "connection-refused",
            Self::Unreachable => "unreachable",
            Self::Late => "timeout",
        }
    }

    fn verdict(self) -> Verdict {
        match self {
            Self::Refused(code) => Verdict::Refused(code),
            Self::NoName | Self::Closed | Self::Unreachable | Self::Late => {
                Verdict::Failed(self.code())
            }
        }
    }
}

/// Judges a connection and makes it; what it finds out goes into the entry.
pub(super) async fn dial(shared: &Shared, whom: &Whom, entry: &Entry) -> Result<TcpStream, Failed> {
    match try_dial(shared, whom, entry).await {
        Ok(stream) => {
            entry.dialled();
            Ok(stream)
        }
        Err(failed) => {
            entry.judged(failed.verdict());
            Err(failed)
        }
    }
}

async fn try_dial(shared: &Shared, whom: &Whom, entry: &Entry) -> Result<TcpStream, Failed> {
    let Whom { host, port } = whom;
    let port = *port;
    let judges = match shared.rules.judge(host, port) {
        Judged::Allowed(rule) => {
            entry.with(|it| it.rule = rule);
            &shared.rules.addresses
        }
        Judged::Refused { code, rule } => {
            entry.with(|it| it.rule = rule);
            return Err(Failed::Refused(code));
        }
        Judged::Asked(rule) => {
            entry.with(|it| it.rule.clone_from(&rule));
            let judges = match host {
                // Who agrees to an address agrees to that one, whatever it is.
                Host::Ip(_) => &shared.rules.asked_addresses,
                Host::Name(_) => &shared.rules.addresses,
            };
            if let Host::Ip(_) = host {
                // Nobody is asked about one that is not dialled anyway. Apart: its room would be kept in
                // every connection for as long as that lasts.
                Box::pin(addresses(shared, host, port, judges)).await?;
            }
            let wanted = Wanted { host: host.to_string(), port, request: None, rule };
            shared.asking.ask(wanted).await.map_err(Failed::Refused)?;
            judges
        }
    };
    let addresses = addresses(shared, host, port, judges).await?;
    let mut failed = Failed::Unreachable;
    let mut left = addresses.into_iter().peekable();
    while let Some(address) = left.next() {
        let patience = if left.peek().is_some() { NEXT } else { LAST };
        // A name that leads to an address about which a person is to be asked is no way around that.
        if let (Host::Name(_), Some(rule)) = (host, shared.rules.asks_at(address.ip(), port)) {
            entry.with(|it| it.rule = Some(rule.clone()));
            let host = address.ip().to_string();
            let wanted = Wanted { host, port, request: None, rule: Some(rule) };
            if let Err(code) = shared.asking.ask(wanted).await {
                failed = Failed::Refused(code);
                continue;
            }
        }
        entry.dials(address);
        match timeout(patience, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                // Whoever speaks does it with small words, too.
                stream.set_nodelay(true).ok();
                return Ok(stream);
            }
            Ok(Err(error)) if error.kind() == ErrorKind::ConnectionRefused => {
                failed = Failed::Closed;
            }
            Ok(Err(error)) if error.kind() == ErrorKind::TimedOut => failed = Failed::Late,
            Ok(Err(_)) => failed = Failed::Unreachable,
            Err(_) => failed = Failed::Late,
        }
    }
    Err(failed)
}

/// Returns the addresses that may be dialled for a host.
async fn addresses(
    shared: &Shared,
    host: &Host,
    port: u16,
    judges: &Addresses,
) -> Result<Vec<SocketAddr>, Failed> {
    if is_outer(host) {
        // Whichever of the two somebody listens at.
        let own = [IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()];
        let left = own.into_iter().filter(|address| !judges.denies(*address, port));
        let left: Vec<_> = left.map(|address| SocketAddr::from((address, port))).collect();
        return if left.is_empty() { Err(Failed::Refused("address-denied")) } else { Ok(left) };
    }
    let found = match host {
        Host::Ip(address) => vec![*address],
        Host::Name(name) => resolved(shared, name).await?,
    };
    let mut refused = None;
    let mut allowed = Vec::new();
    for address in found {
        match judges.judge(address, port) {
            Ok(address) => allowed.push(SocketAddr::from((address, port))),
            Err(refusal) => refused = refused.or(Some(refusal.code())),
        }
    }
    allowed.truncate(TRIED);
    match (allowed.is_empty(), refused) {
        (false, _) => Ok(allowed),
        (true, Some(code)) => Err(Failed::Refused(code)),
        (true, None) => Err(Failed::NoName),
    }
}

/// Asks the host's own table, and then its resolver for the name as it is: no other is tried. Who
/// asks for a name that is being looked up already waits for the same answer.
async fn resolved(shared: &Shared, name: &HostName) -> Result<Vec<IpAddr>, Failed> {
    if let Some(known) = shared.hosts.get(name) {
        return Ok(known.clone());
    }
    let lookup = Arc::clone(shared.lookups().entry(name.clone()).or_default());
    let found = lookup.get_or_init(|| look_up(name)).await.clone();
    // The next who asks looks anew.
    let mut lookups = shared.lookups();
    if lookups.get(name).is_some_and(|it| Arc::ptr_eq(it, &lookup)) {
        lookups.remove(name);
    }
    found
}

async fn look_up(name: &HostName) -> Result<Vec<IpAddr>, Failed> {
    let asked: io::Result<Vec<IpAddr>> =
        match timeout(RESOLVING, tokio::net::lookup_host(format!("{name}.:0"))).await {
            Ok(found) => found.map(|found| found.map(|address| address.ip()).collect()),
            Err(_) => return Err(Failed::Late),
        };
    asked.map_err(|_| Failed::NoName)
}
