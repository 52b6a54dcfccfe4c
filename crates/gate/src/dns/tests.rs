use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use palisade_policy::name::HostName;
use proptest::prelude::*;

use super::{
    Answer, Asked, Carrier, Fault, GATEWAY, Kind, LONGEST, MOST_NAMES, Names, Query, Remember,
};

const A: u16 = 1;

fn name(text: &str) -> HostName {
    text.parse().unwrap()
}

/// A name as labels; `text` may hold any byte but a dot within them.
fn wire(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for label in text.split('.').filter(|label| !label.is_empty()) {
        out.push(u8::try_from(label.len()).unwrap());
        out.extend(label.as_bytes());
    }
    out.push(0);
    out
}

/// A message with these flags and counts, and then `rest`.
fn message(flags: u16, counts: [u16; 4], rest: &[u8]) -> Vec<u8> {
    let numbers = [0xABCD, flags].into_iter().chain(counts);
    numbers.flat_map(u16::to_be_bytes).chain(rest.iter().copied()).collect()
}

fn question(name: &[u8], kind: u16, class: u16) -> Vec<u8> {
    [name, &kind.to_be_bytes(), &class.to_be_bytes()].concat()
}

fn ask(text: &str, kind: u16) -> Vec<u8> {
    message(0x0100, [1, 0, 0, 0], &question(&wire(text), kind, 1))
}

/// The record of EDNS with this size, version and options.
fn opt(size: u16, version: u8, options: &[u8]) -> Vec<u8> {
    let length = u16::try_from(options.len()).unwrap();
    let size = size.to_be_bytes();
    [&[0, 0, 41], &size[..], &[0, version, 0x80, 0], &length.to_be_bytes(), options].concat()
}

fn ask_edns(text: &str, record: &[u8]) -> Vec<u8> {
    message(0x0100, [1, 0, 0, 1], &[question(&wire(text), A, 1), record.to_vec()].concat())
}

/// The numbers of a header.
fn head(answer: &[u8]) -> [u16; 6] {
    std::array::from_fn(|at| u16::from_be_bytes([answer[2 * at], answer[2 * at + 1]]))
}

fn fault(message: &[u8]) -> Option<Fault> {
    Query::read(message).err().map(|rejected| rejected.fault)
}

#[test]
fn a_question_is_read_as_it_is_meant() {
    let host = |text: &str| Asked::Host(name(text));
    let cases = [
        ("example.com", host("example.com"), "as it stands"),
        ("eXaMPLE.CoM", host("example.com"), "case does not matter"),
        ("xn--bcher-kva.example", host("xn--bcher-kva.example"), "an international name"),
        ("", Asked::Other, "the root"),
        ("_sip._tcp.example.com", Asked::Other, "a service"),
        ("exa\0mple.com", Asked::Other, "a NUL"),
        ("exa mple.com", Asked::Other, "a blank"),
        ("bücher.example", Asked::Other, "bytes beyond ASCII"),
        ("127.0.0.1", Asked::Other, "an address as a name"),
        ("0x7f000001", Asked::Other, "an address to some resolvers"),
        ("-x.example.com", Asked::Other, "no host is called that"),
        ("1.2.0.192.in-addr.arpa", Asked::Address([192, 0, 2, 1].into()), "an address"),
        ("1.2.0.192.IN-ADDR.ARPA", Asked::Address([192, 0, 2, 1].into()), "in capitals"),
        ("256.2.0.192.in-addr.arpa", host("256.2.0.192.in-addr.arpa"), "no address"),
        ("01.2.0.192.in-addr.arpa", host("01.2.0.192.in-addr.arpa"), "a zero too many"),
        ("2.0.192.in-addr.arpa", host("2.0.192.in-addr.arpa"), "a network"),
        ("1.0.0.2.ip6.arpa", host("1.0.0.2.ip6.arpa"), "a network"),
    ];
    for (text, asked, because) in cases {
        assert_eq!(Query::read(&ask(text, A)).unwrap().asked, asked, "{text:?}: {because}");
    }
    let six = format!("1.{}d.f.ip6.arpa", "0.".repeat(29));
    let address: Ipv6Addr = "fd00::1".parse().unwrap();
    assert_eq!(Query::read(&ask(&six, 12)).unwrap().asked, Asked::Address(address.into()));
    assert_eq!(Query::read(&ask(&six, 12)).unwrap().kind, Kind::Ptr);
}

#[test]
fn a_dot_within_a_label_makes_no_other_name() {
    let evil = question(b"\x0bexample.com\x04evil\x04test\0", A, 1);
    let query = Query::read(&message(0, [1, 0, 0, 0], &evil)).unwrap();
    assert_eq!(query.asked, Asked::Other);
    let whole = question(b"\x0bexample.com\0", A, 1);
    assert_eq!(Query::read(&message(0, [1, 0, 0, 0], &whole)).unwrap().asked, Asked::Other);
}

#[test]
fn kinds_are_told_apart() {
    let cases = [
        (1, Kind::A),
        (28, Kind::Aaaa),
        (12, Kind::Ptr),
        (64, Kind::Svcb),
        (65, Kind::Https),
        (255, Kind::Any),
        (16, Kind::Other(16)),
    ];
    for (number, kind) in cases {
        assert_eq!(Query::read(&ask("example.com", number)).unwrap().kind, kind);
    }
}

#[test]
fn what_is_no_question_is_rejected_with_the_answer_that_is_due() {
    let plain = question(&wire("example.com"), A, 1);
    let long = "a".repeat(63);
    let fits = format!("{long}.{long}.{long}.{}", "a".repeat(61));
    let too_long = format!("{long}.{long}.{long}.{}", "a".repeat(62));
    let with = |tail: &[u8]| [plain.as_slice(), tail].concat();
    let one = [1, 0, 0, 0];
    #[rustfmt::skip]
    let cases = [
        // message                                                  fault                  code
        (vec![],                                                    Some(Fault::Short),    None),
        (vec![0; 11],                                               Some(Fault::Short),    None),
        (message(0x8100, one, &plain),                              Some(Fault::Answer),   None),
        (message(0x2900, one, &plain),                              Some(Fault::Opcode),   Some(4)),
        (message(0x0100, [0, 0, 0, 0], &[]),                        Some(Fault::Counts),   Some(1)),
        (message(0x0100, [2, 0, 0, 0], &with(&plain)),              Some(Fault::Counts),   Some(1)),
        (message(0x0100, [257, 0, 0, 0], &plain),                   Some(Fault::Counts),   Some(1)),
        (message(0x0100, [1, 1, 0, 0], &plain),                     Some(Fault::Counts),   Some(1)),
        (message(0x0100, [1, 0, 1, 0], &plain),                     Some(Fault::Counts),   Some(1)),
        (message(0x0100, [1, 0, 0, 2], &plain),                     Some(Fault::Counts),   Some(1)),
        (message(0x0100, one, &question(b"\xC0\x0C", A, 1)),        Some(Fault::Name),     Some(1)),
        (message(0x0100, one, &question(b"\x01a\xC0\x0C", A, 1)),   Some(Fault::Name),     Some(1)),
        (message(0x0100, one, &question(&[&[64], &[b'a'; 64][..], &[0]].concat(), A, 1)),
                                                                    Some(Fault::Name),     Some(1)),
        (message(0x0100, one, b"\x07exam"),                         Some(Fault::Name),     Some(1)),
        (message(0x0100, one, &wire("example.com")),                Some(Fault::Tail),     Some(1)),
        (ask(&fits, A),                                             None,                  None),
        (ask(&too_long, A),                                         Some(Fault::Name),     Some(1)),
        (message(0x0100, one, &with(b"x")),                         Some(Fault::Tail),     Some(1)),
        (message(0x0100, one, &question(&wire("example.com"), A, 3)), Some(Fault::Class),  Some(5)),
        (message(0x0100, one, &question(&wire("example.com"), A, 255)), Some(Fault::Class), Some(5)),
        (message(0x0100, [1, 0, 0, 1], &plain),                     Some(Fault::Tail),     Some(1)),
        (ask_edns("example.com", &opt(1232, 0, &[])),               None,                  None),
        (ask_edns("example.com", &opt(1232, 0, &[0; 64])),          None,                  None),
        (ask_edns("example.com", &opt(1232, 0, &[0; 5000])),        Some(Fault::Long),     Some(1)),
        (ask_edns("example.com", &opt(1232, 0, &[0; 64])[..40]),    Some(Fault::Tail),     Some(1)),
        (ask_edns("example.com", &[0, 0, 250, 0, 1, 0, 0, 0, 0, 0, 0]), Some(Fault::Tail), Some(1)),
        (ask_edns("example.com", &opt(1232, 1, &[])),               Some(Fault::Version),  Some(0)),
    ];
    for (place, (message, expected, code)) in cases.into_iter().enumerate() {
        let read = Query::read(&message);
        assert_eq!(read.as_ref().err().map(|rejected| rejected.fault), expected, "case {place}");
        let answer = read.err().and_then(|rejected| Some(head(rejected.answer()?)));
        assert_eq!(answer.map(|answer| answer[1] & 15), code, "case {place}");
        if let Some([id, flags, ..]) = answer {
            assert_eq!(id, 0xABCD, "case {place}");
            assert_eq!(flags & 0x8000, 0x8000, "case {place}: it is an answer");
        }
    }
    let later = Query::read(&ask_edns("example.com", &opt(1232, 1, &[]))).unwrap_err();
    assert_eq!(later.answer().map(|answer| answer[17]), Some(1), "16 is 1 in the upper half");
}

#[test]
fn answers_echo_the_question_with_its_case() {
    let query = Query::read(&ask("eXaMple.com", A)).unwrap();
    let answer = Answer::A(Ipv4Addr::new(198, 18, 0, 1)).write(&query, Carrier::Udp);
    assert_eq!(head(&answer), [0xABCD, 0x8180, 1, 1, 0, 0]);
    let mut expected = question(b"\x07eXaMple\x03com\0", A, 1);
    expected.extend([0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 198, 18, 0, 1]);
    assert_eq!(answer[12..], expected);

    let query = Query::read(&ask("example.com", 28)).unwrap();
    let answer = Answer::Aaaa("fd00:5a4b::1".parse().unwrap()).write(&query, Carrier::Tcp);
    assert_eq!(head(&answer)[3], 1);
    assert!(answer.ends_with(&[0, 16, 0xFD, 0, 0x5A, 0x4B, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]));
}

#[test]
fn nothing_may_be_remembered_or_not() {
    let query = Query::read(&ask("example.com", 65)).unwrap();
    #[rustfmt::skip]
    let cases = [
        (Answer::Nothing(Remember::No),               0x8180, 0),
        (Answer::Nothing(Remember::Seconds(5)),       0x8180, 1),
        (Answer::NoSuchName(Remember::No),            0x8183, 0),
        (Answer::NoSuchName(Remember::Seconds(5)),    0x8183, 1),
        (Answer::Failure,                             0x8182, 0),
        (Answer::Refused,                             0x8185, 0),
        (Answer::NotImplemented,                      0x8184, 0),
        (Answer::Malformed,                           0x8181, 0),
    ];
    for (answer, flags, authorities) in cases {
        let written = answer.write(&query, Carrier::Udp);
        assert_eq!(head(&written), [0xABCD, flags, 1, 0, authorities, 0], "{answer:?}");
        assert!(authorities == 0 || written.ends_with(&[0, 0, 0, 5]), "{answer:?}");
    }
}

#[test]
fn an_answer_that_does_not_fit_is_cut_and_marked() {
    let long = format!("{0}.{0}.{0}.{1}.example", "a".repeat(63), "b".repeat(53));
    let asked = format!("{0}.{0}.{0}.b", "a".repeat(63));
    let answer = Answer::Ptr(name(&long));
    let plain = Query::read(&ask(&asked, 12)).unwrap();
    let cut = answer.write(&plain, Carrier::Udp);
    // Both names together are just short enough; with EDNS they are not.
    assert_eq!((head(&cut)[1] & 0x0200, head(&cut)[3]), (0, 1));
    for (size, expected) in [(0, 0x0200), (512, 0x0200), (1232, 0), (65535, 0)] {
        let longer = format!("{asked}{}", "c".repeat(50));
        let query = Query::read(&ask_edns(&longer, &opt(size, 0, &[]))).unwrap();
        let udp = answer.write(&query, Carrier::Udp);
        assert_eq!(head(&udp)[1] & 0x0200, expected, "{size}");
        assert!(udp.len() <= usize::from(size.clamp(512, 1232)), "{size}");
        assert_eq!(head(&udp)[5], 1, "EDNS is answered by EDNS");
        assert!(udp.ends_with(&[0, 0, 41, 4, 0xD0, 0, 0, 0x80, 0, 0, 0]), "{size}");
        assert_eq!(head(&answer.write(&query, Carrier::Tcp))[1] & 0x0200, 0, "a stream has room");
    }
}

#[test]
fn each_name_has_its_own_addresses_and_keeps_them() {
    let mut names = Names::default();
    let first = names.give(&name("example.com")).unwrap();
    assert_eq!(first.v4, Ipv4Addr::new(198, 18, 0, 1));
    assert_eq!(first.v6, "fd00:5a4b::1".parse::<Ipv6Addr>().unwrap());
    let second = names.give(&name("other.test")).unwrap();
    assert_ne!(first, second);
    assert_eq!(names.give(&name("EXAMPLE.com.")), Ok(first), "the same name");
    assert_eq!(names.find(&name("other.test")), Some(second));
    assert_eq!(names.find(&name("third.test")), None);
    for address in [IpAddr::V4(second.v4), second.v6.into(), second.v4.to_ipv6_mapped().into()] {
        assert_eq!(names.name(address), Some(&name("other.test")), "{address}");
    }
    let strangers = [
        "198.18.0.0",
        "198.18.0.3",
        "198.19.255.255",
        "198.17.255.255",
        "198.20.0.1",
        "0.0.0.1",
        "10.255.0.1",
        "fd00:5a4b::",
        "fd00:5a4b::3",
        "fd00:5a4b::1:0:1",
        "fd00:aaaa::1",
        "::1",
    ];
    for address in strangers {
        assert_eq!(names.name(address.parse().unwrap()), None, "{address}");
    }
}

#[test]
fn the_table_of_names_is_bounded() {
    let mut names = Names::default();
    for number in 0..MOST_NAMES {
        let local = names.give(&name(&format!("n{number}.test"))).unwrap();
        assert!(Names::is_local(local.v4.into()) && Names::is_local(local.v6.into()));
        assert_eq!(names.name(local.v6.into()), names.name(local.v4.into()));
    }
    let full = names.give(&name("one-more.test")).unwrap_err();
    assert_eq!(full.code(), "dns-names-full");
    assert_eq!(names.find(&name("one-more.test")), None);
    assert_eq!(names.give(&name("n0.test")).unwrap().v4, Ipv4Addr::new(198, 18, 0, 1));
    assert_eq!(names.find(&name("n4095.test")).unwrap().v4, Ipv4Addr::new(198, 18, 16, 0));
}

#[test]
fn the_gateway_is_no_names_address() {
    assert!(!Names::is_local(GATEWAY.v4.into()) && !Names::is_local(GATEWAY.v6.into()));
    for (address, local) in [
        ("198.18.0.0", true),
        ("198.19.255.255", true),
        ("::ffff:198.18.0.1", true),
        ("198.17.255.255", false),
        ("198.20.0.0", false),
        ("fd00:5a4b::ffff:ffff", true),
        ("fd00:5a4b::1:0:0", false),
    ] {
        assert_eq!(Names::is_local(address.parse().unwrap()), local, "{address}");
    }
}

proptest! {
    /// Whatever comes in, an answer is short, and is never one to an answer.
    #[test]
    fn any_bytes_are_read_or_rejected(
        id in any::<u16>(),
        flags in prop_oneof![Just(0x0100_u16), any::<u16>()],
        rest in prop::collection::vec(prop_oneof![0_u8..4, any::<u8>()], 0..300),
    ) {
        let mut bytes: Vec<u8> = [id, flags, 1, 0, 0].into_iter().flat_map(u16::to_be_bytes).collect();
        bytes.extend(rest);
        match Query::read(&bytes) {
            Ok(query) => {
                let answer = Answer::NoSuchName(Remember::Seconds(1)).write(&query, Carrier::Udp);
                prop_assert!(answer.len() <= 512);
                prop_assert_eq!(fault(&answer), Some(Fault::Answer));
            }
            Err(rejected) => {
                let answered = rejected.answer().is_some();
                prop_assert_eq!(answered, !matches!(rejected.fault, Fault::Short | Fault::Answer));
            }
        }
    }

    /// A name in any case is one name, and its question comes back as it was.
    #[test]
    fn case_is_kept_on_the_wire_alone(text in "[a-cA-C]{1,8}(\\.[a-cA-C]{1,8}){0,4}") {
        let query = Query::read(&ask(&text, A)).unwrap();
        prop_assert_eq!(&query.asked, &Asked::Host(name(&text.to_lowercase())));
        let answer = Answer::Failure.write(&query, Carrier::Udp);
        prop_assert_eq!(&answer[12..], &question(&wire(&text), A, 1)[..]);
        prop_assert!(answer.len() <= LONGEST);
    }
}
