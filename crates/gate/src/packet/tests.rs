use proptest::prelude::*;

use super::{Fault, Packet};

const SYN: u8 = 0x02;

/// From port 40000 to port 443, with these flags.
fn tcp(flags: u8) -> Vec<u8> {
    let mut bytes = vec![0x9C, 0x40, 0x01, 0xBB, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, flags];
    bytes.extend([0xFF, 0xFF, 0, 0, 0, 0]);
    bytes
}

/// From 10.255.0.1 to 198.18.0.7, with these options and this field of fragments.
fn v4(options: &[u8], fragment: u16, protocol: u8, rest: &[u8]) -> Vec<u8> {
    let header = u8::try_from(20 + options.len()).unwrap();
    let whole = u16::from(header) + u16::try_from(rest.len()).unwrap();
    let mut bytes = vec![0x40 | (header / 4), 0];
    bytes.extend(whole.to_be_bytes());
    bytes.extend([0, 1]);
    bytes.extend(fragment.to_be_bytes());
    bytes.extend([64, protocol, 0, 0, 10, 255, 0, 1, 198, 18, 0, 7]);
    bytes.extend(options);
    bytes.extend(rest);
    bytes
}

/// From fd00:aaaa::1 to fd00:5a4b::7.
fn v6(next: u8, rest: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x60, 0, 0, 0];
    bytes.extend(u16::try_from(rest.len()).unwrap().to_be_bytes());
    bytes.extend([next, 64]);
    bytes.extend([0xFD, 0, 0xAA, 0xAA, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    bytes.extend([0xFD, 0, 0x5A, 0x4B, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]);
    bytes.extend(rest);
    bytes
}

/// A header of options of this many bytes, and what follows it.
fn extension(next: u8, length: u8, rest: &[u8]) -> Vec<u8> {
    let mut bytes = vec![next, length];
    bytes.resize(8 + usize::from(length) * 8, 0);
    bytes.extend(rest);
    bytes
}

#[test]
fn a_packet_says_who_wants_to_reach_whom() {
    let four = Packet {
        source: "10.255.0.1:40000".parse().unwrap(),
        destination: "198.18.0.7:443".parse().unwrap(),
        is_syn: true,
    };
    let six = Packet {
        source: "[fd00:aaaa::1]:40000".parse().unwrap(),
        destination: "[fd00:5a4b::7]:443".parse().unwrap(),
        is_syn: true,
    };
    let not = |packet: Packet| Packet { is_syn: false, ..packet };
    #[rustfmt::skip]
    let cases = [
        (v4(&[], 0, 6, &tcp(SYN)),                     four,       "plain"),
        (v4(&[], 0x4000, 6, &tcp(SYN)),                four,       "must not be fragmented"),
        (v4(&[1, 1, 1, 0], 0, 6, &tcp(SYN)),           four,       "options"),
        (v4(&[7, 4, 0, 0], 0, 6, &tcp(SYN)),           four,       "an option with a length"),
        (v4(&[], 0, 6, &tcp(SYN | 0xC0)),              four,       "with ECN"),
        (v4(&[], 0, 6, &tcp(0x12)),                    not(four),  "an answer"),
        (v4(&[], 0, 6, &tcp(0x10)),                    not(four),  "within a connection"),
        (v4(&[], 0, 6, &tcp(SYN | 0x01)),              not(four),  "begins and ends at once"),
        (v4(&[], 0, 6, &tcp(SYN | 0x04)),              not(four),  "begins and resets at once"),
        (v4(&[], 0, 6, &tcp(0)),                       not(four),  "no flags"),
        (v6(6, &tcp(SYN)),                             six,        "plain"),
        (v6(0, &extension(6, 0, &tcp(SYN))),           six,        "options for every hop"),
        (v6(60, &extension(6, 2, &tcp(SYN))),          six,        "options for the end"),
        (v6(0, &extension(60, 0, &extension(6, 0, &tcp(SYN)))), six, "both"),
        (v6(6, &tcp(0x10)),                            not(six),   "within a connection"),
    ];
    for (bytes, expected, because) in cases {
        assert_eq!(Packet::read(&bytes), Ok(expected), "{because}");
        let cut = bytes.len() - 1;
        assert_eq!(Packet::read(&bytes[..cut]), Err(Fault::Short), "{because}, one byte less");
    }
}

#[test]
fn only_the_first_bytes_need_to_be_there() {
    let mut rest = tcp(SYN);
    rest.extend([b'x'; 1000]);
    let bytes = v4(&[], 0, 6, &rest);
    assert!(Packet::read(&bytes[..128]).is_ok());
}

#[test]
fn what_hides_its_destination_is_refused() {
    let with = |mut bytes: Vec<u8>, at: usize, byte: u8| {
        bytes[at] = byte;
        bytes
    };
    let plain = || v4(&[], 0, 6, &tcp(SYN));
    let chain = (0..9).fold((6, tcp(SYN)), |(next, rest), _| (60, extension(next, 0, &rest)));
    #[rustfmt::skip]
    let cases = [
        (vec![],                                       Fault::Short,    "nothing"),
        (vec![0x45],                                   Fault::Short,    "a first byte"),
        (with(plain(), 0, 0x55),                       Fault::Version,  "version 5"),
        (with(plain(), 0, 0x44),                       Fault::Length,   "a header that is too short"),
        (with(plain(), 3, 39),                         Fault::Length,   "shorter than its headers"),
        (with(plain(), 3, 4),                          Fault::Length,   "shorter than its own header"),
        (with(plain(), 32, 0x40),                      Fault::Length,   "a header of TCP too short"),
        (with(plain(), 32, 0xF0),                      Fault::Length,   "a header of TCP too long"),
        (v4(&[], 0x2000, 6, &tcp(SYN)),                Fault::Fragment, "the first fragment"),
        (v4(&[], 0x0001, 6, &tcp(SYN)),                Fault::Fragment, "a later fragment"),
        (v4(&[], 0, 17, &tcp(SYN)),                    Fault::Protocol, "UDP"),
        (v4(&[], 0, 4, &plain()),                      Fault::Protocol, "IPv4 in IPv4"),
        (v4(&[131, 7, 4, 127, 0, 0, 1, 0], 0, 6, &tcp(SYN)), Fault::Route, "a loose route"),
        (v4(&[1, 137, 3, 4], 0, 6, &tcp(SYN)),         Fault::Route,    "a strict route"),
        (v4(&[7, 0, 0, 0], 0, 6, &tcp(SYN)),           Fault::Route,    "an option without length"),
        (v4(&[7, 40, 0, 0], 0, 6, &tcp(SYN)),          Fault::Route,    "an option too long"),
        (v6(44, &extension(6, 0, &tcp(SYN))),          Fault::Fragment, "a fragment"),
        (v6(60, &extension(44, 0, &tcp(SYN))),         Fault::Fragment, "a fragment behind options"),
        (v6(43, &extension(6, 0, &tcp(SYN))),          Fault::Route,    "a route"),
        (v6(60, &extension(0, 0, &extension(6, 0, &tcp(SYN)))), Fault::Protocol, "out of order"),
        (v6(51, &extension(6, 0, &tcp(SYN))),          Fault::Protocol, "authenticated"),
        (v6(17, &tcp(SYN)),                            Fault::Protocol, "UDP"),
        (v6(59, &tcp(SYN)),                            Fault::Protocol, "nothing follows"),
        (v6(chain.0, &chain.1),                        Fault::Protocol, "too many headers"),
        (v6(60, &extension(6, 255, &tcp(SYN))[..60]),  Fault::Short,    "a header that is not there"),
        (with(v6(6, &tcp(SYN)), 5, 19),                Fault::Length,   "shorter than its headers"),
        (with(v6(60, &extension(6, 0, &tcp(SYN))), 5, 7), Fault::Length, "shorter than its options"),
    ];
    for (bytes, fault, because) in cases {
        assert_eq!(Packet::read(&bytes), Err(fault), "{because}");
    }
}

proptest! {
    /// Any bytes are read or refused, and what follows the headers does not matter.
    #[test]
    fn what_follows_the_headers_does_not_matter(
        first in prop_oneof![Just(0x45_u8), Just(0x60), any::<u8>()],
        rest in prop::collection::vec(prop_oneof![Just(6_u8), Just(0), any::<u8>()], 0..200),
    ) {
        let bytes: Vec<u8> = [first].into_iter().chain(rest).collect();
        if let Ok(packet) = Packet::read(&bytes) {
            let longer: Vec<u8> = bytes.iter().copied().chain([1, 2, 3]).collect();
            prop_assert_eq!(Packet::read(&longer), Ok(packet));
        }
    }
}
