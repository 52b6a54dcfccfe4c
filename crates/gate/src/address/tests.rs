use std::net::IpAddr;

use palisade_policy::name::{Host, HostPattern, HostSet, WideHost};
use palisade_policy::url::is_public;
use proptest::prelude::*;

use super::{Addresses, Own, Refusal};

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn allowed(patterns: &[&str]) -> Addresses {
    let patterns: Vec<HostPattern> = patterns.iter().map(|text| text.parse().unwrap()).collect();
    Addresses { allowed: HostSet::new(&patterns), ..Addresses::default() }
}

#[test]
fn only_public_addresses_are_dialled() {
    #[rustfmt::skip]
    let cases = [
        ("93.184.215.14",             None),
        ("2606:2800:21f::1",          None),
        ("9.255.255.255",             None),
        ("11.0.0.0",                  None),
        ("172.15.255.255",            None),
        ("172.32.0.0",                None),
        ("100.63.255.255",            None),
        ("100.128.0.0",               None),
        ("198.17.255.255",            None),
        ("198.20.0.0",                None),
        ("127.0.0.1",                 Some(Refusal::Loopback)),
        ("127.255.255.254",           Some(Refusal::Loopback)),
        ("::1",                       Some(Refusal::Loopback)),
        ("0.0.0.0",                   Some(Refusal::Unspecified)),
        ("0.1.2.3",                   Some(Refusal::Unspecified)),
        ("::",                        Some(Refusal::Unspecified)),
        ("169.254.169.254",           Some(Refusal::Metadata)),
        ("168.63.129.16",             Some(Refusal::Metadata)),
        ("100.100.100.200",           Some(Refusal::Metadata)),
        ("fd00:ec2::254",             Some(Refusal::Metadata)),
        ("169.254.0.1",               Some(Refusal::LinkLocal)),
        ("fe80::1",                   Some(Refusal::LinkLocal)),
        ("febf::1",                   Some(Refusal::LinkLocal)),
        ("10.0.0.1",                  Some(Refusal::Private)),
        ("10.255.0.1",                Some(Refusal::Private)),
        ("172.16.0.1",                Some(Refusal::Private)),
        ("172.31.255.255",            Some(Refusal::Private)),
        ("192.168.1.1",               Some(Refusal::Private)),
        ("100.64.0.1",                Some(Refusal::Private)),
        ("100.127.255.255",           Some(Refusal::Private)),
        ("fc00::1",                   Some(Refusal::Private)),
        ("fd00:aaaa::1",              Some(Refusal::Private)),
        ("fd00:5a4b::1",              Some(Refusal::Private)),
        ("fec0::1",                   Some(Refusal::Private)),
        ("224.0.0.1",                 Some(Refusal::Multicast)),
        ("239.255.255.255",           Some(Refusal::Multicast)),
        ("ff02::1",                   Some(Refusal::Multicast)),
        ("255.255.255.255",           Some(Refusal::Broadcast)),
        ("240.0.0.1",                 Some(Refusal::Reserved)),
        ("192.0.0.1",                 Some(Refusal::Reserved)),
        ("100::1",                    Some(Refusal::Reserved)),
        ("4000::1",                   Some(Refusal::Reserved)),
        ("5f00::1",                   Some(Refusal::Reserved)),
        ("2001:10::1",                Some(Refusal::Reserved)),
        ("192.0.2.1",                 Some(Refusal::Documentation)),
        ("198.51.100.1",              Some(Refusal::Documentation)),
        ("203.0.113.1",               Some(Refusal::Documentation)),
        ("2001:db8::1",               Some(Refusal::Documentation)),
        ("3fff:fff::1",               Some(Refusal::Documentation)),
        ("198.18.0.1",                Some(Refusal::Benchmark)),
        ("198.19.255.255",            Some(Refusal::Benchmark)),
        ("2001:2::1",                 Some(Refusal::Benchmark)),
        ("::ffff:127.0.0.1",          Some(Refusal::Embedded)),
        ("::ffff:93.184.215.14",      Some(Refusal::Embedded)),
        ("::127.0.0.1",               Some(Refusal::Embedded)),
        ("::ffff:0:127.0.0.1",        Some(Refusal::Embedded)),
        ("2002:7f00:1::1",            Some(Refusal::Embedded)),
        ("2001::1",                   Some(Refusal::Embedded)),
        ("64:ff9b::127.0.0.1",        Some(Refusal::Embedded)),
        ("64:ff9b::93.184.215.14",    Some(Refusal::Embedded)),
        ("64:ff9b:1::10.0.0.1",       Some(Refusal::Embedded)),
        ("64:ff9b:1:ffff::1",         Some(Refusal::Embedded)),
        ("2606:2800::5efe:10.0.0.1",  Some(Refusal::Embedded)),
        ("2606:2800::200:5efe:10.0.0.1", Some(Refusal::Embedded)),
    ];
    let addresses = Addresses::default();
    for (text, refusal) in cases {
        assert_eq!(addresses.judge(address(text), 443).err(), refusal, "{text}");
    }
}

#[test]
fn what_the_policy_lists_is_dialled_at_its_port() {
    let addresses = allowed(&["10.1.0.0/16", "127.0.0.1:5432", "[fd12:3456::1]", "example.com"]);
    #[rustfmt::skip]
    let cases = [
        ("10.1.2.3",          443,  Ok("10.1.2.3")),
        ("10.2.0.1",          443,  Err(Refusal::Private)),
        ("127.0.0.1",         5432, Ok("127.0.0.1")),
        ("127.0.0.1",         5433, Err(Refusal::Loopback)),
        ("127.0.0.2",         5432, Err(Refusal::Loopback)),
        ("::1",               5432, Err(Refusal::Loopback)),
        ("::ffff:127.0.0.1",  5432, Ok("127.0.0.1")),
        ("::127.0.0.1",       5432, Err(Refusal::Embedded)),
        ("fd12:3456::1",      22,   Ok("fd12:3456::1")),
        ("fd12:3456::2",      22,   Err(Refusal::Private)),
        ("93.184.215.14",     22,   Ok("93.184.215.14")),
    ];
    for (text, port, expected) in cases {
        assert_eq!(addresses.judge(address(text), port), expected.map(address), "{text}:{port}");
    }
}

#[test]
fn a_refusal_of_the_policy_goes_before_all_else() {
    let denied: Vec<WideHost> = vec!["10.1.2.0/24".parse().unwrap(), "9.9.9.9".parse().unwrap()];
    let addresses = Addresses { denied: HostSet::of_wide(&denied), ..allowed(&["10.1.0.0/16"]) };
    assert_eq!(addresses.judge(address("10.1.2.3"), 80), Err(Refusal::Denied));
    assert_eq!(addresses.judge(address("::ffff:10.1.2.3"), 80), Err(Refusal::Denied));
    assert_eq!(addresses.judge(address("9.9.9.9"), 80), Err(Refusal::Denied));
    assert_eq!(addresses.judge(address("10.1.3.3"), 80), Ok(address("10.1.3.3")));
}

#[test]
fn this_machine_is_not_reached_by_its_public_address() {
    let own = vec![address("93.184.215.14"), address("2606:2800:21f::1")];
    let own = Own::asked(move || own.clone());
    let addresses = Addresses { own, ..allowed(&["9.9.9.9"]) };
    assert_eq!(addresses.judge(address("93.184.215.14"), 22), Err(Refusal::Own));
    assert_eq!(addresses.judge(address("2606:2800:21f::1"), 22), Err(Refusal::Own));
    assert_eq!(addresses.judge(address("93.184.215.15"), 22), Ok(address("93.184.215.15")));
}

proptest! {
    /// Nothing is dialled that is not public, however it is spelled.
    #[test]
    fn what_is_dialled_is_public(
        bits in any::<u128>(),
        start in prop_oneof![Just(0_u128), Just(0x64_FF9B << 96), 0_u128..0x1_0000],
        short in any::<u32>(),
    ) {
        let wide = IpAddr::V6((bits >> 16 | start << 112).into());
        let low = IpAddr::V6((start | u128::from(short)).into());
        for address in [wide, low, IpAddr::V4(short.into())] {
            if let Ok(dialled) = Addresses::default().judge(address, 443) {
                prop_assert_eq!(dialled, address);
                prop_assert!(is_public(&Host::from(dialled)), "{}", dialled);
            }
        }
    }
}
