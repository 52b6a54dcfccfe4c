//! Which addresses may be dialled once a name has been resolved.
//!
//! Whoever owns an allowed name decides where it leads: to this machine, to its network, to a
//! cloud's metadata. So each address that a resolver gives is judged, and exactly that address is
//! dialled.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use palisade_policy::name::{Host, HostSet};
use palisade_policy::url::is_public;

#[cfg(test)]
mod tests;

/// What decides about addresses, apart from what they are.
#[derive(Clone, Debug, Default)]
pub struct Addresses {
    /// What the policy allows: an address or a network in it may be dialled, whatever it is.
    pub allowed: HostSet,
    /// What the policy refuses; it goes before all else.
    pub denied: HostSet,
    /// The addresses of this machine's interfaces.
    pub own: Own,
}

/// Who knows the addresses of this machine's interfaces. It is asked each time: a machine gets
/// addresses, and loses them, while a box runs.
#[derive(Clone, Default)]
pub struct Own(Option<Arc<dyn Fn() -> Vec<IpAddr> + Send + Sync>>);

impl Own {
    /// Asks `know`, each time.
    pub fn asked(know: impl Fn() -> Vec<IpAddr> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(know)))
    }

    fn has(&self, address: IpAddr) -> bool {
        let known = self.0.as_ref().map(|know| know()).unwrap_or_default();
        known.into_iter().any(|own| own.to_canonical() == address)
    }
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Own").finish_non_exhaustive()
    }
}

/// Why an address is not dialled.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// The policy refuses it.
    #[error("the policy refuses this address")]
    Denied,
    /// It is this machine.
    #[error("this is a loopback address")]
    Loopback,
    /// It is no address, and systems take it for this machine.
    #[error("this is the address zero")]
    Unspecified,
    /// It tells a machine of a cloud its secrets.
    #[error("this is the address of a cloud's metadata")]
    Metadata,
    /// It is on the same wire.
    #[error("this is a link-local address")]
    LinkLocal,
    /// It is in somebody's own network.
    #[error("this is a private address")]
    Private,
    /// It is a group.
    #[error("this is a multicast address")]
    Multicast,
    /// It is everybody on the wire.
    #[error("this is the broadcast address")]
    Broadcast,
    /// It is set aside for examples.
    #[error("this address is for documentation")]
    Documentation,
    /// It is set aside for benchmarks, and stands for names inside a box.
    #[error("this address is for benchmarks")]
    Benchmark,
    /// It is an IPv4 address within an IPv6 one, by any of the ways there are.
    #[error("this address carries an IPv4 address")]
    Embedded,
    /// It is set aside for something else.
    #[error("this address is reserved")]
    Reserved,
    /// It is one of this machine's own.
    #[error("this is an address of this machine")]
    Own,
}

impl Addresses {
    /// Answers whether a name's address may be dialled at `port`, and returns the address to dial.
    ///
    /// An address that the policy lists, alone or by its network, is dialled even if it is
    /// private. IPv4 within IPv6 is then dialled as IPv4, since that is what was judged.
    ///
    /// # Errors
    ///
    /// Why it may not be.
    pub fn judge(&self, address: IpAddr, port: u16) -> Result<IpAddr, Refusal> {
        let canonical = address.to_canonical();
        if self.denies(address, port) {
            return Err(Refusal::Denied);
        }
        // `Host` keeps IPv4 within IPv6 as IPv4.
        if self.allowed.find(&Host::from(address), port).is_some() {
            return Ok(canonical);
        }
        if let Some(refusal) = nature(address) {
            return Err(refusal);
        }
        if self.own.has(canonical) {
            return Err(Refusal::Own);
        }
        Ok(canonical)
    }

    /// Returns whether the policy refuses an address, whatever else it says.
    pub fn denies(&self, address: IpAddr, port: u16) -> bool {
        self.denied.find(&Host::from(address), port).is_some()
    }
}

impl Refusal {
    /// Returns a name that never changes, for logs, tests and the manual.
    pub fn code(self) -> &'static str {
        match self {
            Self::Denied => "address-denied",
            Self::Loopback => "address-loopback",
            Self::Unspecified => "address-unspecified",
            Self::Metadata => "address-metadata",
            Self::LinkLocal => "address-link-local",
            Self::Private => "address-private",
            Self::Multicast => "address-multicast",
            Self::Broadcast => "address-broadcast",
            Self::Documentation => "address-documentation",
            Self::Benchmark => "address-benchmark",
            Self::Embedded => "address-embedded",
            Self::Reserved => "address-reserved",
            Self::Own => "address-own",
        }
    }
}

/// Returns why nobody's name may lead to an address of this kind.
///
/// The kinds found here only give the reason its name. What is public is said in one place, for
/// commands and for connections alike; whatever else is not public counts as reserved.
fn nature(address: IpAddr) -> Option<Refusal> {
    let known = match address {
        IpAddr::V4(address) => nature_4(address),
        IpAddr::V6(address) => nature_6(address),
    };
    known.or_else(|| (!is_public(&Host::Ip(address))).then_some(Refusal::Reserved))
}

fn nature_4(address: Ipv4Addr) -> Option<Refusal> {
    Some(match address.octets() {
        [0, ..] => Refusal::Unspecified,
        [127, ..] => Refusal::Loopback,
        [169, 254, 169, 254] | [168, 63, 129, 16] | [100, 100, 100, 200] => Refusal::Metadata,
        [169, 254, ..] => Refusal::LinkLocal,
        [10, ..] | [192, 168, ..] | [172, 16..=31, ..] | [100, 64..=127, ..] => Refusal::Private,
        [255, 255, 255, 255] => Refusal::Broadcast,
        [224..=239, ..] => Refusal::Multicast,
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => Refusal::Documentation,
        [198, 18 | 19, ..] => Refusal::Benchmark,
        _ => return None,
    })
}

fn nature_6(address: Ipv6Addr) -> Option<Refusal> {
    Some(match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Refusal::Unspecified,
        [0, 0, 0, 0, 0, 0, 0, 1] => Refusal::Loopback,
        // Compatible, mapped, translated; NAT64 of both kinds; 6to4; Teredo.
        [0, 0, 0, 0, 0, 0, ..]
        | [0, 0, 0, 0, 0, 0xFFFF, ..]
        | [0, 0, 0, 0, 0xFFFF, 0, ..]
        | [0x64, 0xFF9B, 0, 0, 0, 0, ..]
        | [0x64, 0xFF9B, 1, ..]
        | [0x2002, ..]
        | [0x2001, 0, ..] => Refusal::Embedded,
        // ISATAP, below any prefix.
        [_, _, _, _, 0 | 0x200, 0x5EFE, ..] => Refusal::Embedded,
        [0xFD00, 0xEC2, 0, 0, 0, 0, 0, 0x254] => Refusal::Metadata,
        [0xFC00..=0xFDFF, ..] => Refusal::Private,
        [0xFE80..=0xFEBF, ..] => Refusal::LinkLocal,
        // Site-local: abandoned, but some networks still have it.
        [0xFEC0..=0xFEFF, ..] => Refusal::Private,
        [0xFF00..=0xFFFF, ..] => Refusal::Multicast,
        [0x2001, 0xDB8, ..] | [0x3FFF, 0..=0xFFF, ..] => Refusal::Documentation,
        [0x2001, 2, 0, ..] => Refusal::Benchmark,
        _ => return None,
    })
}
