use proptest::prelude::*;

use super::{Fault, Reading, Reply, Request, WELCOME, read_greeting, read_request};

fn named(name: &[u8]) -> Vec<u8> {
    let length = u8::try_from(name.len()).unwrap();
    [&[5, 1, 0, 3, length], name, &[0x01, 0xBB]].concat()
}

#[test]
fn a_greeting_without_login_is_accepted() {
    #[rustfmt::skip]
    let cases: [(&[u8], _, &str); 12] = [
        (&[5, 1, 0],          Ok(Reading::Done((), 3)),  "the usual one"),
        (&[5, 2, 2, 0],       Ok(Reading::Done((), 4)),  "among others"),
        (&[5, 1, 0, 5, 1],    Ok(Reading::Done((), 3)),  "the request follows at once"),
        (&[],                 Ok(Reading::NeedMore),     "nothing yet"),
        (&[5],                Ok(Reading::NeedMore),     "a version"),
        (&[5, 2, 0],          Ok(Reading::NeedMore),     "one way is missing"),
        (&[5, 1, 2],          Err(Fault::Login),         "a password is wanted"),
        (&[5, 0],             Err(Fault::Login),         "no way at all"),
        (&[5, 1, 0xFF],       Err(Fault::Login),         "not a way"),
        (&[4, 1, 0, 80],      Err(Fault::Version4),      "SOCKS4"),
        (b"GET / HTTP/1.1",   Err(Fault::Version),       "HTTP"),
        (&[0],                Err(Fault::Version),       "nothing known"),
    ];
    for (bytes, expected, because) in cases {
        assert_eq!(read_greeting(bytes), expected, "{because}");
    }
    assert_eq!(WELCOME, [5, 0]);
}

#[test]
fn a_request_names_a_host() {
    let cases = [
        (named(b"example.com"), "example.com"),
        (named(b"EXAMPLE.com."), "example.com"),
        (named(b"xn--bcher-kva.example"), "xn--bcher-kva.example"),
        (named(b"192.0.2.1"), "192.0.2.1"),
        (named(b"[::ffff:127.0.0.1]"), "127.0.0.1"),
        (vec![5, 1, 0, 1, 127, 0, 0, 1, 1, 0xBB], "127.0.0.1"),
        (
            [&[5, 1, 0, 4][..], &[0; 10], &[0xFF, 0xFF, 127, 0, 0, 1], &[1, 0xBB]].concat(),
            "127.0.0.1",
        ),
        ([&[5, 1, 0, 4][..], &[0; 15], &[1], &[1, 0xBB]].concat(), "[::1]"),
    ];
    for (bytes, host) in cases {
        let request = Request { host: host.parse().unwrap(), port: 443 };
        let done = Reading::Done(request, bytes.len());
        assert_eq!(read_request(&bytes), Ok(done.clone()), "{host}");
        for end in 0..bytes.len() {
            assert_eq!(read_request(&bytes[..end]), Ok(Reading::NeedMore), "{host}, {end} bytes");
        }
        let more = [&bytes[..], b"\x16\x03"].concat();
        assert_eq!(read_request(&more), Ok(done), "{host}: what follows is for later");
    }
}

#[test]
fn what_is_no_host_is_refused() {
    let names: [&[u8]; 22] = [
        b"",
        b"evil.test\0.example.com",
        b"\0",
        b"exa mple.com",
        b"example.com\r\n",
        "bücher.example".as_bytes(),
        "example\u{3002}com".as_bytes(),
        b"\xFF\xFE",
        b"user@example.com",
        b"example.com/path",
        b"example.com:80",
        b"http://example.com",
        b"exa%6dple.com",
        b".",
        b"..",
        b"*.example.com",
        b"2130706433",
        b"0x7f000001",
        b"0177.0.0.1",
        b"127.1",
        b"::1",
        b"[fe80::1%eth0]",
    ];
    for name in names {
        assert_eq!(read_request(&named(name)), Err(Fault::Host), "{}", name.escape_ascii());
    }
    assert_eq!(Fault::Host.answer()[1], 2, "not allowed by ruleset");
}

#[test]
fn other_requests_get_the_answer_that_is_due() {
    #[rustfmt::skip]
    let cases: [(&[u8], Fault, &[u8]); 7] = [
        (&[5, 2, 0, 1, 1, 2, 3, 4, 0, 80], Fault::Command,     &[5, 7, 0, 1, 0, 0, 0, 0, 0, 0]),
        (&[5, 3, 0, 1, 1, 2, 3, 4, 0, 80], Fault::Command,     &[5, 7, 0, 1, 0, 0, 0, 0, 0, 0]),
        (&[5, 9, 0, 1],                    Fault::Command,     &[5, 7, 0, 1, 0, 0, 0, 0, 0, 0]),
        (&[5, 1, 0, 2, 1],                 Fault::AddressKind, &[5, 8, 0, 1, 0, 0, 0, 0, 0, 0]),
        (&[5, 1, 1, 1, 1],                 Fault::Malformed,   &[5, 1, 0, 1, 0, 0, 0, 0, 0, 0]),
        (&[5, 1, 0, 1, 9, 9, 9, 9, 0, 0],  Fault::Port,        &[5, 1, 0, 1, 0, 0, 0, 0, 0, 0]),
        (&[4, 1, 0, 80],                   Fault::Version,     &[]),
    ];
    for (bytes, fault, answer) in cases {
        assert_eq!(read_request(bytes), Err(fault));
        assert_eq!(fault.answer(), answer, "{fault:?}");
    }
    assert_eq!(Fault::Version4.answer(), [0, 91, 0, 0, 0, 0, 0, 0]);
    assert_eq!(Fault::Login.answer(), [5, 0xFF]);
}

#[test]
fn replies_have_the_numbers_of_the_standard() {
    #[rustfmt::skip]
    let cases = [
        (Reply::Succeeded, 0), (Reply::Failure, 1), (Reply::NotAllowed, 2),
        (Reply::NetworkUnreachable, 3), (Reply::HostUnreachable, 4), (Reply::Refused, 5),
        (Reply::CommandNotSupported, 7), (Reply::AddressNotSupported, 8),
    ];
    for (reply, number) in cases {
        assert_eq!(reply.write(), [5, number, 0, 1, 0, 0, 0, 0, 0, 0]);
    }
}

proptest! {
    /// What was read does not change when more bytes come, nor does a refusal.
    #[test]
    fn more_bytes_change_nothing_that_was_said(
        head in prop_oneof![Just(vec![5_u8, 1, 0, 3]), Just(vec![5, 1, 0, 1]), Just(vec![5])],
        rest in prop::collection::vec(prop_oneof![0_u8..8, Just(b'a'), Just(b'.'), any::<u8>()], 0..40),
    ) {
        let bytes = [head, rest].concat();
        let all = (read_greeting(&bytes), read_request(&bytes));
        for end in 0..bytes.len() {
            let part = (read_greeting(&bytes[..end]), read_request(&bytes[..end]));
            prop_assert!(part.0 == Ok(Reading::NeedMore) || part.0 == all.0);
            prop_assert!(part.1 == Ok(Reading::NeedMore) || part.1 == all.1);
        }
    }
}
