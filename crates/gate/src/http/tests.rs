use proptest::prelude::*;

use super::{
    Authority, Body, ESTABLISHED, Fault, Head, LONGEST, MOST_HEADERS, Reader, Reading, Status,
    Target, Version, refuse, to_server,
};

fn read(bytes: &[u8]) -> Result<Reading, Fault> {
    Reader::default().read(bytes)
}

fn head(bytes: &[u8]) -> Head {
    match read(bytes) {
        Ok(Reading::Head(head)) => *head,
        other => panic!("{}: {other:?}", bytes.escape_ascii()),
    }
}

fn authority(text: &str) -> Authority {
    Authority::read(text.as_bytes()).unwrap()
}

/// A request for a path with these lines after Host.
fn get(lines: &str) -> Vec<u8> {
    format!("GET / HTTP/1.1\r\nHost: example.com\r\n{lines}\r\n").into_bytes()
}

/// A request for this target, with the Host of `example.com`.
fn target(method: &str, target: &str) -> Vec<u8> {
    format!("{method} {target} HTTP/1.1\r\nHost: example.com\r\n\r\n").into_bytes()
}

#[test]
fn every_form_of_a_target_is_read() {
    let origin = |path: &str| Target::Origin(path.into());
    let absolute = |path: &str| Target::Absolute(path.into());
    #[rustfmt::skip]
    let cases = [
        ("GET", "/",                              origin("/"),          "example.com"),
        ("GET", "/a/../b?c=%00&d=http://x.test/", origin("/a/../b?c=%00&d=http://x.test/"), "example.com"),
        ("GET", "//evil.test/x",                  origin("//evil.test/x"), "example.com"),
        ("PUT", "/bücher",                        origin("/bücher"),    "example.com"),
        ("GET", "http://example.com",             absolute("/"),        "example.com"),
        ("GET", "HTTP://EXAMPLE.com./x",          absolute("/x"),       "example.com"),
        ("GET", "http://example.com?q",           absolute("/?q"),      "example.com"),
        ("GET", "http://example.com:80/x@y",      absolute("/x@y"),     "example.com:80"),
        ("CONNECT", "example.com:443",            Target::Connect,      "example.com:443"),
        ("OPTIONS", "*",                          Target::Asterisk,     "example.com"),
    ];
    for (method, text, expected, host) in cases {
        let bytes = target(method, text);
        let head = head(&bytes);
        assert_eq!((head.method.as_str(), &head.target), (method, &expected), "{text}");
        assert_eq!(head.authority, authority(host), "{text}");
        assert_eq!(head.length, bytes.len(), "{text}");
    }
}

#[test]
fn a_target_that_names_another_host_is_refused() {
    #[rustfmt::skip]
    let cases = [
        ("GET", "http://evil.test/",                   Fault::HostDiffers),
        ("GET", "http://example.com:8080/",            Fault::HostDiffers),
        ("GET", "http://example.com.evil.test/",       Fault::HostDiffers),
        ("CONNECT", "evil.test:443",                   Fault::HostDiffers),
        ("GET", "http://example.com@evil.test/",       Fault::User),
        ("GET", "http://evil.test@example.com/",       Fault::User),
        ("GET", "http://u:p@example.com/",             Fault::User),
        ("CONNECT", "u@example.com:443",               Fault::User),
        ("GET", "http://example%2ecom/",               Fault::Host),
        ("GET", "http://evil.test%00.example.com/",    Fault::Host),
        ("GET", "http://[fe80::1%25eth0]/",            Fault::Host),
        ("GET", "http://evil.test\\.example.com/",     Fault::Host),
        ("GET", "http:///x",                           Fault::Host),
        ("GET", "http://bücher.example/",              Fault::Host),
        ("GET", "http://ｅxample.com/",                Fault::Host),
        ("GET", "http://*.example.com/",               Fault::Host),
        ("GET", "http://2130706433/",                  Fault::Host),
        ("GET", "http://0x7f000001/",                  Fault::Host),
        ("GET", "http://0X7F.0.0.1/",                  Fault::Host),
        ("GET", "http://0177.0.0.1/",                  Fault::Host),
        ("GET", "http://127.1/",                       Fault::Host),
        ("GET", "http://127.0.0.1./",                  Fault::Host),
        ("GET", "http://127.0.0.256/",                 Fault::Host),
        ("GET", "http://0/",                           Fault::Host),
        ("GET", "http://::1/",                         Fault::Host),
        ("GET", "http://[::1/",                        Fault::Host),
        ("GET", "http://[127.0.0.1]/",                 Fault::Host),
        ("GET", "http://example.com:/",                Fault::Port),
        ("GET", "http://example.com:0/",               Fault::Port),
        ("GET", "http://example.com:080/",             Fault::Port),
        ("GET", "http://example.com:65616/",           Fault::Port),
        ("GET", "http://example.com:+80/",             Fault::Port),
        ("GET", "https://example.com/",                Fault::Scheme),
        ("GET", "ftp://example.com/",                  Fault::Scheme),
        ("GET", "file:///etc/passwd",                  Fault::Scheme),
        ("GET", "http:/example.com/",                  Fault::Target),
        ("GET", "example.com",                         Fault::Target),
        ("GET", "example.com:80",                      Fault::Target),
        ("GET", "*",                                   Fault::Target),
        ("GET", "",                                    Fault::Target),
        ("GET", "/x#y",                                Fault::Target),
        ("GET", "http://example.com#@evil.test/",      Fault::Target),
        ("GET", "/x\ty",                               Fault::Target),
        ("CONNECT", "example.com",                     Fault::Port),
        ("CONNECT", "example.com:",                    Fault::Port),
        ("CONNECT", "/",                               Fault::Host),
        ("CONNECT", "*",                               Fault::Host),
        ("CONNECT", "http://example.com:443",          Fault::Host),
        ("CONNECT", "example.com:443/x",               Fault::Port),
        ("connect", "example.com:443",                 Fault::RequestLine),
        ("Get", "/",                                   Fault::RequestLine),
        ("", "/",                                      Fault::RequestLine),
        ("GET ", "/",                                  Fault::RequestLine),
        ("GET\t/", "/",                                Fault::RequestLine),
        ("GET", "/x y",                                Fault::RequestLine),
        ("TRACE", "/",                                 Fault::Method),
        ("TRACK", "/",                                 Fault::Method),
    ];
    for (method, text, fault) in cases {
        assert_eq!(read(&target(method, text)), Err(fault), "{method} {text}");
    }
}

#[test]
fn addresses_are_hosts_in_their_one_spelling() {
    #[rustfmt::skip]
    let cases = [
        ("127.0.0.1",              "127.0.0.1"),
        ("[::1]",                  "[::1]"),
        ("[::ffff:127.0.0.1]",     "127.0.0.1"),
        ("[0:0:0:0:0:0:0:1]:8080", "[::1]:8080"),
    ];
    for (text, expected) in cases {
        let bytes = format!("GET / HTTP/1.1\r\nHost: {text}\r\n\r\n");
        assert_eq!(head(bytes.as_bytes()).authority.to_string(), expected, "{text}");
    }
}

#[test]
fn there_is_one_host() {
    let line = |line: &str, hosts: &[&str]| {
        let hosts: String = hosts.iter().map(|host| format!("Host:{host}\r\n")).collect();
        read(format!("{line}\r\n{hosts}\r\n").as_bytes()).map(|_| ())
    };
    #[rustfmt::skip]
    let cases = [
        ("GET / HTTP/1.1",                   &["example.com"][..],        Ok(())),
        ("GET / HTTP/1.1",                   &[][..],                     Err(Fault::HostMissing)),
        ("GET / HTTP/1.0",                   &[],                         Err(Fault::HostMissing)),
        ("GET / HTTP/1.1",                   &[""],                       Err(Fault::Host)),
        ("GET / HTTP/1.1",                   &["a.test", "b.test"],       Err(Fault::HostTwice)),
        ("GET / HTTP/1.1",                   &["a.test", "a.test"],       Err(Fault::HostTwice)),
        ("GET / HTTP/1.1",                   &["a.test, b.test"],         Err(Fault::Host)),
        ("GET / HTTP/1.1",                   &["a.test b.test"],          Err(Fault::Host)),
        ("GET / HTTP/1.1",                   &["b.test@a.test"],          Err(Fault::User)),
        ("GET / HTTP/1.1",                   &["a.test/x"],               Err(Fault::Host)),
        ("GET / HTTP/1.1",                   &["a.test:80:80"],           Err(Fault::Host)),
        ("GET http://a.test/ HTTP/1.1",      &["a.test:80"],              Ok(())),
        ("GET http://a.test:81/ HTTP/1.1",   &["a.test:81"],              Ok(())),
        ("GET http://a.test:81/ HTTP/1.1",   &["a.test"],                 Err(Fault::HostDiffers)),
        ("GET http://a.test/ HTTP/1.1",      &[],                         Err(Fault::HostMissing)),
        ("GET http://a.test/ HTTP/1.0",      &[],                         Ok(())),
        ("GET http://a.test/ HTTP/1.1",      &["a.test", "b.test"],       Err(Fault::HostTwice)),
        ("CONNECT a.test:443 HTTP/1.0",      &[],                         Ok(())),
        ("CONNECT a.test:443 HTTP/1.1",      &[],                         Ok(())),
        ("CONNECT a.test:443 HTTP/1.1",      &["a.test"],                 Ok(())),
        ("CONNECT a.test:443 HTTP/1.1",      &["a.test:443"],             Ok(())),
        ("CONNECT a.test:443 HTTP/1.1",      &["a.test:22"],              Err(Fault::HostDiffers)),
        ("CONNECT a.test:443 HTTP/1.1",      &["b.test:443"],             Err(Fault::HostDiffers)),
    ];
    for (text, hosts, expected) in cases {
        assert_eq!(line(text, hosts), expected, "{text} {hosts:?}");
    }
}

#[test]
fn what_smugglers_use_is_refused() {
    #[rustfmt::skip]
    let cases: [(&str, Fault); 30] = [
        ("Transfer-Encoding: chunked\r\nTrailer: Host\r\n",         Fault::Trailers),
        ("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",      Fault::Framing),
        ("Content-Length: 3\r\nContent-Length: 3\r\n",               Fault::Framing),
        ("Content-Length: 3\r\ncontent-length: 4\r\n",               Fault::Framing),
        ("Content-Length: 3, 3\r\n",                                 Fault::Framing),
        ("Content-Length: +3\r\n",                                   Fault::Framing),
        ("Content-Length: -3\r\n",                                   Fault::Framing),
        ("Content-Length: 0x3\r\n",                                  Fault::Framing),
        ("Content-Length: 3 \t3\r\n",                                Fault::Framing),
        ("Content-Length:\r\n",                                      Fault::Framing),
        ("Content-Length: 99999999999999999999\r\n",                 Fault::Framing),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", Fault::Framing),
        ("Transfer-Encoding: gzip, chunked\r\n",                     Fault::Framing),
        ("Transfer-Encoding: chunked, identity\r\n",                 Fault::Framing),
        ("Transfer-Encoding: xchunked\r\n",                          Fault::Framing),
        ("Transfer-Encoding:\r\n",                                   Fault::Framing),
        ("Transfer-Encoding : chunked\r\n",                          Fault::Header),
        ("Content-Length\t: 3\r\n",                                  Fault::Header),
        (": x\r\n",                                                  Fault::Header),
        ("no colon\r\n",                                             Fault::Header),
        ("Bücher: x\r\n",                                            Fault::Header),
        ("X: y\r\n folded\r\n",                                      Fault::Folded),
        ("X: y\r\n\tTransfer-Encoding: chunked\r\n",                 Fault::Folded),
        ("X: y\nTransfer-Encoding: chunked\r\n",                     Fault::Line),
        ("X: y\rTransfer-Encoding: chunked\r\n",                     Fault::Line),
        ("X: y\r\r\n",                                               Fault::Line),
        ("X: a\0b\r\n",                                              Fault::Control),
        ("X: a\x0bb\r\n",                                            Fault::Control),
        ("Connection: close, Host\r\n",                              Fault::Connection),
        ("Connection: x\r\nConnection: y ,\ttransfer-encoding\r\n",  Fault::Connection),
    ];
    for (lines, fault) in cases {
        assert_eq!(read(&get(lines)), Err(fault), "{}", lines.escape_debug());
    }
    #[rustfmt::skip]
    let firsts: [(&[u8], Fault); 9] = [
        (b"\r\nGET / HTTP/1.1\r\nHost: a.test\r\n\r\n",   Fault::RequestLine),
        (b"\r\n\r\n",                                     Fault::RequestLine),
        (b"GET /\r\n\r\n",                                Fault::RequestLine),
        (b"GET / HTTP/1.1 \r\nHost: a.test\r\n\r\n",      Fault::RequestLine),
        (b"GET / HTTP/2.0\r\nHost: a.test\r\n\r\n",       Fault::Version),
        (b"GET / HTTP/1.10\r\nHost: a.test\r\n\r\n",      Fault::Version),
        (b"GET / http/1.1\r\nHost: a.test\r\n\r\n",       Fault::RequestLine),
        (b"GET / HTTP/1.0\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n", Fault::Framing),
        (b"CONNECT a.test:443 HTTP/1.1\r\nContent-Length: 3\r\n\r\n", Fault::Framing),
    ];
    for (bytes, fault) in firsts {
        assert_eq!(read(bytes), Err(fault), "{}", bytes.escape_ascii());
    }
}

#[test]
fn bodies_have_a_length() {
    #[rustfmt::skip]
    let cases = [
        ("",                                 Body::Length(0)),
        ("Content-Length: 12\r\n",           Body::Length(12)),
        ("Content-Length: 0012\r\n",         Body::Length(12)),
        ("Transfer-Encoding: Chunked\r\n",   Body::Chunked),
    ];
    for (lines, body) in cases {
        assert_eq!(head(&get(lines)).body, body, "{lines}");
    }
    let values = head(&get("X-Y: 1\r\nx-y:\t2 \r\nX-YZ: 3\r\n"));
    assert_eq!(values.values("x-Y").collect::<Vec<_>>(), [b"1", b"2"]);
    assert_eq!(head(b"GET / HTTP/1.0\r\nHost: a.test\r\n\r\n").version, Version::Http10);
}

#[test]
fn http_2_is_told_apart() {
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    assert_eq!(read(preface), Ok(Reading::Http2Preface));
    assert_eq!(read(&[&preface[..], &[0, 0, 0, 4]].concat()), Ok(Reading::Http2Preface));
    let mut reader = Reader::default();
    for end in 0..preface.len() {
        assert_eq!(reader.read(&preface[..end]), Ok(Reading::NeedMore), "{end}");
    }
    assert_eq!(reader.read(preface), Ok(Reading::Http2Preface));
    assert_eq!(read(b"PRI * HTTP/2.0\r\n\r\nXX"), Err(Fault::Version));
}

#[test]
fn heads_are_bounded() {
    let lines = |count: usize| get(&"X: y\r\n".repeat(count));
    // One is Host.
    assert_eq!(head(&lines(MOST_HEADERS - 1)).headers.len(), MOST_HEADERS);
    assert_eq!(read(&lines(MOST_HEADERS)), Err(Fault::Long));

    let rest = LONGEST - get("X: \r\n").len();
    let long = |size: usize| get(&format!("X: {}\r\n", "y".repeat(size)));
    assert_eq!(head(&long(rest)).length, LONGEST);
    assert_eq!(read(&long(rest + 1)), Err(Fault::Long));
    assert_eq!(read(&vec![b'G'; LONGEST]), Ok(Reading::NeedMore));
    assert_eq!(read(&vec![b'G'; LONGEST + 1]), Err(Fault::Long));
}

#[test]
fn what_follows_the_head_is_left_alone() {
    let whole = get("Content-Length: 2\r\n");
    let bytes = [&whole[..], b"\0\n"].concat();
    assert_eq!(head(&bytes).length, whole.len());
    assert_eq!(bytes[head(&bytes).length..], *b"\0\n");
}

#[test]
fn a_server_gets_the_path_and_nothing_meant_for_the_proxy() {
    let request = "POST http://example.com:8080/x?y HTTP/1.1\r\n\
        accept: */*\r\n\
        Host: EXAMPLE.com:8080\r\n\
        Proxy-Authorization: Basic c2VjcmV0\r\n\
        Proxy-Connection: keep-alive\r\n\
        Connection: keep-alive, X-Hop\r\n\
        Keep-Alive: timeout=5\r\n\
        X-Hop: 1\r\n\
        X-Hops: 2\r\n\
        TE: trailers\r\n\
        Upgrade: h2c\r\n\
        HTTP2-Settings: AAMAAABk\r\n\
        Transfer-Encoding: chunked\r\n\r\n";
    let written = to_server(&head(request.as_bytes())).unwrap();
    let expected = "POST /x?y HTTP/1.1\r\n\
        Host: example.com:8080\r\n\
        accept: */*\r\n\
        X-Hops: 2\r\n\
        Transfer-Encoding: chunked\r\n\
        Connection: close\r\n\r\n";
    assert_eq!(String::from_utf8(written).unwrap(), expected);

    let options = to_server(&head(&target("OPTIONS", "*"))).unwrap();
    assert!(options.starts_with(b"OPTIONS * HTTP/1.1\r\nHost: example.com\r\n"));
    assert_eq!(to_server(&head(&target("CONNECT", "example.com:443"))), None);
}

#[test]
fn a_refusal_is_for_programs_and_for_people() {
    let written = refuse(Status::Forbidden, "host-not-listed", "`evil.test` is not on the list");
    let expected = "HTTP/1.1 403 Forbidden\r\n\
        X-Proxy-Error: host-not-listed\r\n\
        Content-Type: text/plain; charset=utf-8\r\n\
        X-Content-Type-Options: nosniff\r\n\
        Content-Length: 41\r\n\
        Connection: close\r\n\r\n\
        palisade: `evil.test` is not on the list\n";
    assert_eq!(String::from_utf8(written).unwrap(), expected);

    let hostile = refuse(Status::BadRequest, "http-host", &"\u{1b}[2J\r\n\r\n<x>".repeat(1000));
    let hostile = String::from_utf8(hostile).unwrap();
    let (head, body) = hostile.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{head}");
    assert!(!body.trim_end().contains(char::is_control) && body.len() < 8000, "{body}");

    assert!(ESTABLISHED.starts_with(b"HTTP/1.1 200 ") && ESTABLISHED.ends_with(b"\r\n\r\n"));
    #[rustfmt::skip]
    let cases = [
        (Fault::Line.status(), "400"), (Fault::Method.status(), "405"),
        (Fault::HostDiffers.status(), "421"), (Fault::Long.status(), "431"),
        (Status::BadGateway, "502"), (Status::Unavailable, "503"),
        (Status::GatewayTimeout, "504"), (Fault::Version.status(), "505"),
    ];
    for (status, number) in cases {
        let start = format!("HTTP/1.1 {number} ");
        assert!(refuse(status, "code", "why").starts_with(start.as_bytes()), "{number}");
    }
}

proptest! {
    /// However the bytes are cut, they say the same; and what is passed on is read as it was.
    #[test]
    fn requests_are_read_alike_in_any_pieces(
        line in prop_oneof![
            Just("GET /"), Just("GET http://a.test/x"), Just("POST http://a.test"),
            Just("CONNECT a.test:1"), Just("OPTIONS *"),
        ],
        headers in prop::collection::vec(prop_oneof![
            Just("Host: a.test"), Just("host:b.test"), Just("X: y"), Just("Content-Length: 1"),
            Just("Transfer-Encoding: chunked"), Just("Connection: X"), Just(" z"), Just("Proxy-A: b"),
        ], 0..5),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let bytes = format!("{line} HTTP/1.1\r\n{}\r\n\r\n", headers.join("\r\n")).into_bytes();
        let all = read(&bytes);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len())).collect();
        cuts.sort_unstable();
        let mut reader = Reader::default();
        let end = cuts.into_iter().map(|cut| reader.read(&bytes[..cut]));
        let early = end.into_iter().find(|read| *read != Ok(Reading::NeedMore));
        prop_assert_eq!(&early.unwrap_or_else(|| reader.read(&bytes)), &all);
        if let Ok(Reading::Head(head)) = all
            && let Some(written) = to_server(&head)
        {
            let again = super::tests::head(&written);
            prop_assert_eq!(&again.authority, &head.authority);
            prop_assert_eq!(again.body, head.body);
            prop_assert_eq!(to_server(&again), Some(written));
        }
    }
}
