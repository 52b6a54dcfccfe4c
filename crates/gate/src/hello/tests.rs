use proptest::prelude::*;

use super::{
    ALPN, ECH_LAST, ESNI, Fault, Hello, LONGEST, LONGEST_PEEK, Reading, SERVER_NAME, read,
};

fn short(bytes: &[u8]) -> Vec<u8> {
    [&[u8::try_from(bytes.len()).unwrap()], bytes].concat()
}

fn long(bytes: &[u8]) -> Vec<u8> {
    [&u16::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat()
}

fn extension(kind: u16, data: &[u8]) -> Vec<u8> {
    [&kind.to_be_bytes()[..], &long(data)].concat()
}

/// The extension that names these servers.
fn servers(names: &[&[u8]]) -> Vec<u8> {
    let list: Vec<u8> = names.iter().flat_map(|name| [vec![0], long(name)].concat()).collect();
    extension(SERVER_NAME, &long(&list))
}

/// A message, without its first four bytes.
fn body(extensions: &[Vec<u8>]) -> Vec<u8> {
    let start = [&[3, 3][..], &[7; 32], &short(&[9; 32]), &long(&[0x13, 1]), &short(&[0])].concat();
    [start, long(&extensions.concat())].concat()
}

fn message(body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap().to_be_bytes();
    [&[1], &length[1..], body].concat()
}

fn record(bytes: &[u8]) -> Vec<u8> {
    [&[22, 3, 1][..], &long(bytes)].concat()
}

fn client(extensions: &[Vec<u8>]) -> Vec<u8> {
    record(&message(&body(extensions)))
}

fn named(name: &str) -> Hello {
    Hello { server: Some(name.parse().unwrap()), ..Hello::default() }
}

#[test]
fn the_server_is_found() {
    let plain = || servers(&[b"example.com"]);
    let grease = extension(0x0A0A, &[]);
    let alpn = extension(ALPN, &long(&[short(b"h2"), short(b"http/1.1")].concat()));
    let encrypted = Hello { is_encrypted: true, ..named("example.com") };
    let protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let old = [&[3, 3][..], &[7; 32], &[0], &long(&[0, 47]), &short(&[0])].concat();
    #[rustfmt::skip]
    let cases = [
        (client(&[plain()]),                         named("example.com"),  "alone"),
        (client(&[grease, plain()]),                 named("example.com"),  "among others"),
        (client(&[servers(&[b"EXAMPLE.com"])]),      named("example.com"),  "in capitals"),
        (client(&[servers(&[b"example.com."])]),     named("example.com"),  "with a final dot"),
        (client(&[alpn, plain()]),                   Hello { protocols, ..named("example.com") }, "with protocols"),
        (client(&[plain(), extension(ECH_LAST, &[0; 9])]), encrypted.clone(), "with ECH"),
        (client(&[plain(), extension(0xFE08, &[0; 9])]), encrypted.clone(), "with an old draft of ECH"),
        (client(&[plain(), extension(0xFE0A, &[0; 9])]), encrypted.clone(), "with a draft between"),
        (client(&[plain(), extension(ESNI, &[])]),   encrypted,             "with a draft of ECH"),
        (client(&[]),                                Hello::default(),      "no extension"),
        (record(&message(&old)),                     Hello::default(),      "an old client"),
    ];
    for (bytes, hello, because) in cases {
        assert_eq!(read(&bytes), Ok(Reading::Hello(hello.clone())), "{because}");
        for end in 0..bytes.len() {
            assert_eq!(read(&bytes[..end]), Ok(Reading::NeedMore), "{because}, {end} bytes");
        }
        let more = [&bytes[..], b"\x17\x03\x03\x00\x01x"].concat();
        assert_eq!(read(&more), Ok(Reading::Hello(hello)), "{because}: early data follows");
    }
}

#[test]
fn records_may_split_the_message_anywhere() {
    let message = message(&body(&[servers(&[b"example.com"])]));
    for size in [2, 3, 4, 5, 7, 64, 100, message.len() - 1] {
        let bytes: Vec<u8> = message.chunks(size).flat_map(record).collect();
        assert_eq!(read(&bytes), Ok(Reading::Hello(named("example.com"))), "{size}");
        for end in 0..bytes.len() {
            assert_eq!(read(&bytes[..end]), Ok(Reading::NeedMore), "{size}, {end} bytes");
        }
    }
    let bytes: Vec<u8> = message.chunks(1).flat_map(record).collect();
    assert_eq!(read(&bytes), Err(Fault::Long), "a record for each byte");
}

#[test]
fn what_is_no_tls_is_told_apart() {
    let cases: [&[u8]; 7] = [
        b"GET / HTTP/1.1\r\n\r\n",
        b"SSH-2.0-x\r\n",
        b"\x80\x2e\x01\x03\x01",
        b"\x15\x03\x01\x00\x02\x02\x28",
        b"\x16\x02\x00\x00\x01",
        b"\x16\x03\x01\x00\x04\x02\x00\x00\x00",
        b"\0",
    ];
    for bytes in cases {
        assert_eq!(read(bytes), Ok(Reading::NotTls), "{}", bytes.escape_ascii());
    }
}

#[test]
fn what_servers_could_read_differently_is_refused() {
    let plain = || servers(&[b"example.com"]);
    let fine = message(&body(&[plain()]));
    let with_body = |tail: &[u8]| record(&message(&[&body(&[plain()])[..], tail].concat()));
    let lie = |by: i8| {
        let mut bytes = fine.clone();
        bytes[3] = bytes[3].wrapping_add_signed(by);
        record(&bytes)
    };
    let (first, second) = fine.split_at(20);
    let cipherless = [&[3, 3][..], &[7; 32], &[0], &long(&[]), &short(&[0])].concat();
    let odd = [&[3, 3][..], &[7; 32], &[0], &long(&[1, 2, 3]), &short(&[0])].concat();
    let session = [&[3, 3][..], &[7; 32], &short(&[1; 33]), &long(&[1, 2]), &short(&[0])].concat();
    #[rustfmt::skip]
    let cases = [
        (client(&[servers(&[b"example.com", b"evil.test"])]), Fault::Names,     "two names"),
        (client(&[servers(&[b"example.com", b"example.com"])]), Fault::Names,   "one name twice"),
        (client(&[servers(&[])]),                             Fault::Names,     "no name"),
        (client(&[extension(SERVER_NAME, &long(&[1, 0, 1, b'x']))]), Fault::Names, "another kind"),
        (client(&[extension(SERVER_NAME, &[])]),              Fault::Malformed, "an empty one"),
        (client(&[extension(SERVER_NAME, &[0, 9, 0])]),       Fault::Malformed, "a wrong length"),
        (client(&[extension(SERVER_NAME, &long(&[0, 0, 9]))]), Fault::Malformed, "a wrong length"),
        (client(&[plain(), plain()]),                         Fault::Twice,     "the extension twice"),
        (client(&[plain(), extension(9, &[]), extension(9, &[])]), Fault::Twice, "another twice"),
        (client(&[plain(), extension(ALPN, &[])]),            Fault::Malformed, "no protocols"),
        (client(&[plain(), extension(ALPN, &long(&[0]))]),    Fault::Malformed, "an empty protocol"),
        (client(&[plain(), vec![0, 9, 0, 4, 1]]),             Fault::Malformed, "an extension cut off"),
        (with_body(b"x"),                                     Fault::Malformed, "bytes at the end"),
        (record(&[&fine[..], b"x"].concat()),                 Fault::Malformed, "bytes behind it"),
        (record(&[&fine[..], &fine[..]].concat()),            Fault::Malformed, "a second message"),
        (lie(-1),                                             Fault::Malformed, "shorter than it is"),
        (record(&message(&cipherless)),                       Fault::Malformed, "no ciphers"),
        (record(&message(&odd)),                              Fault::Malformed, "half a cipher"),
        (record(&message(&session)),                          Fault::Malformed, "a long session"),
        (record(&message(&[])),                               Fault::Malformed, "an empty message"),
        ([record(first), record(&[]), record(second)].concat(), Fault::Record,  "an empty record"),
        ([record(first), b"\x15\x03\x01\x00\x02\x01\x00".to_vec()].concat(), Fault::Record, "an alert within"),
        ([record(first), b"\x17\x03\x01\x00\x01x".to_vec()].concat(), Fault::Record, "data within"),
        (b"\x16\x03\x01\x00\x00".to_vec(),                    Fault::Record,    "an empty record first"),
        (b"\x16\x03\x01\x40\x01".to_vec(),                    Fault::Record,    "a record too long"),
        (b"\x16\x03\x01\x00\x04\x01\x00\x40\x01".to_vec(),    Fault::Long,      "a message too long"),
        (b"\x16\x03\x01\x00\x04\x01\xff\xff\xff".to_vec(),    Fault::Long,      "far too long"),
    ];
    for (bytes, fault, because) in cases {
        assert_eq!(read(&bytes), Err(fault), "{because}");
    }
    assert_eq!(read(&lie(1)), Ok(Reading::NeedMore), "longer than it is: it may follow");
}

#[test]
fn a_record_that_goes_on_behind_the_message_is_waited_for() {
    let bytes = record(&[&message(&body(&[servers(&[b"example.com"])]))[..], b"xy"].concat());
    assert_eq!(read(&bytes[..bytes.len() - 2]), Ok(Reading::NeedMore), "the message is whole");
    assert_eq!(read(&bytes[..bytes.len() - 1]), Err(Fault::Malformed));
    assert_eq!(read(&bytes), Err(Fault::Malformed));
}

#[test]
fn what_is_no_name_of_a_host_is_refused() {
    let long = [b'a'; 254];
    let names: [&[u8]; 17] = [
        b"",
        b".",
        b"evil.test\0.example.com",
        b"example.com\0",
        b"exa mple.com",
        b"example.com\n",
        b"example..com",
        b"*.example.com",
        b"_dmarc.example.com",
        b"127.0.0.1",
        b"2130706433",
        b"0x7f.1",
        b"::1",
        b"[::1]",
        b"example.com:443",
        "bücher.example".as_bytes(),
        &long,
    ];
    for name in names {
        let bytes = client(&[servers(&[name])]);
        assert_eq!(read(&bytes), Err(Fault::Name), "{}", name.escape_ascii());
    }
}

#[test]
fn the_longest_message_can_be_peeked_at() {
    let rest = LONGEST - body(&[servers(&[b"example.com"])]).len() - 4;
    let fill = |size| [servers(&[b"example.com"]), extension(21, &vec![0; size])];
    let bytes = client_of(&body(&fill(rest)));
    assert_eq!(read(&bytes), Ok(Reading::Hello(named("example.com"))));
    assert!(bytes.len() <= LONGEST_PEEK);
    assert_eq!(read(&client_of(&body(&fill(rest + 1)))), Err(Fault::Long));
}

/// As few records as the message fits in.
fn client_of(body: &[u8]) -> Vec<u8> {
    message(body).chunks(LONGEST).flat_map(record).collect()
}

proptest! {
    /// What was said of the first bytes stands when more come, and no byte more is kept than may be.
    #[test]
    fn more_bytes_change_nothing_that_was_said(
        at in 0_usize..120,
        byte in any::<u8>(),
        size in 8_usize..200,
    ) {
        let mut message = message(&body(&[servers(&[b"example.com"]), extension(ECH_LAST, &[1; 9])]));
        if let Some(place) = message.get_mut(at) {
            *place = byte;
        }
        let bytes: Vec<u8> = message.chunks(size).flat_map(record).collect();
        let all = read(&bytes);
        for end in 0..bytes.len() {
            let part = read(&bytes[..end]);
            prop_assert!(part == Ok(Reading::NeedMore) || part == all, "{part:?} then {all:?}");
        }
    }
}
