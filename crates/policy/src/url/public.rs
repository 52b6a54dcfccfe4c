//! Which hosts belong to the public Internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::name::Host;

/// Networks of IPv4 that are not public: the first address, and how many bits of it count.
#[rustfmt::skip]
const CLOSED: [([u8; 4], u32); 18] = [
    ([0, 0, 0, 0], 8),          // this host
    ([10, 0, 0, 0], 8),         // private
    ([100, 64, 0, 0], 10),      // behind a carrier's NAT; metadata of one cloud
    ([127, 0, 0, 0], 8),        // loopback
    ([168, 63, 129, 16], 32),   // services of a cloud, for its machines only
    ([169, 254, 0, 0], 16),     // link-local, and the metadata of most clouds
    ([172, 16, 0, 0], 12),      // private
    ([192, 0, 0, 0], 24),       // protocol assignments
    ([192, 0, 2, 0], 24),       // documentation
    ([192, 31, 196, 0], 24),    // AS112
    ([192, 88, 99, 0], 24),     // relays to IPv6
    ([192, 168, 0, 0], 16),     // private
    ([192, 175, 48, 0], 24),    // AS112
    ([198, 18, 0, 0], 15),      // benchmarks
    ([198, 51, 100, 0], 24),    // documentation
    ([203, 0, 113, 0], 24),     // documentation
    ([224, 0, 0, 0], 4),        // multicast
    ([240, 0, 0, 0], 4),        // reserved, broadcast
];

/// Networks of IPv6 within 2000::/3 that are not public, or lead to IPv4.
const CLOSED_6: [([u16; 2], u32); 4] = [
    ([0x2001, 0], 23),     // protocol assignments, Teredo
    ([0x2001, 0xDB8], 32), // documentation
    ([0x2002, 0], 16),     // 6to4
    ([0x3FFF, 0], 20),     // documentation
];

/// Ends of names that are resolved on the spot: this machine, this network, this cloud.
const LOCAL: [&str; 12] = [
    "corp",
    "home",
    "home.arpa",
    "internal",
    "intranet",
    "lan",
    "local",
    "localdomain",
    "localhost",
    "onion",
    "private",
    "test",
];

/// Services that resolve any name below theirs to an address that is part of the name, or to
/// loopback.
const MIRRORS: [&str; 8] = [
    "lacolhost.com",
    "localtest.me",
    "lvh.me",
    "nip.io",
    "sslip.io",
    "traefik.me",
    "vcap.me",
    "xip.io",
];

/// Returns whether `host` can be a host of the public Internet: not this machine, its network, its
/// cloud's metadata or an address set aside.
///
/// Of a name only its spelling is known; where it leads is for whoever resolves it to check.
pub fn is_public(host: &Host) -> bool {
    match host {
        Host::Ip(IpAddr::V4(address)) => is_public_4(*address),
        Host::Ip(IpAddr::V6(address)) => is_public_6(*address),
        Host::Name(name) => {
            let name = name.as_str();
            let ends_in = |end: &&str| {
                name.strip_suffix(*end).is_some_and(|head| head.is_empty() || head.ends_with('.'))
            };
            name.contains('.') && !LOCAL.iter().chain(&MIRRORS).any(ends_in)
        }
    }
}

fn is_public_4(address: Ipv4Addr) -> bool {
    let address = u32::from(address);
    !CLOSED.iter().any(|(start, bits)| {
        let start = u32::from_be_bytes(*start);
        (address ^ start) >> (32 - bits) == 0
    })
}

fn is_public_6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    let start = u32::from(first) << 16 | u32::from(second);
    first >> 13 == 1
        && !CLOSED_6.iter().any(|([a, b], bits)| {
            (start ^ (u32::from(*a) << 16 | u32::from(*b))) >> (32 - bits) == 0
        })
}
