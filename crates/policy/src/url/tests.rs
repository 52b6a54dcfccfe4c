//! Whom URLs reach, and who may be reached.

use super::*;

fn word(judged: &Judged) -> &'static str {
    judged.refusal.map_or("yes", Refusal::code)
}

#[test]
fn a_host_is_read_as_browsers_do() {
    #[rustfmt::skip]
    let cases = [
        // url                                  host                    port        spelled
        ("https://Example.COM./x",              "example.com",          Some(443),  Spelled::Plainly),
        ("http://user:p@example.com:81/",       "example.com",          Some(81),   Spelled::Plainly),
        ("ws://example.com",                    "example.com",          Some(80),   Spelled::Plainly),
        ("ssh://git@example.com/x.git",         "example.com",          None,       Spelled::Plainly),
        ("ftp://example.com/",                  "example.com",          Some(21),   Spelled::Plainly),
        ("http://[2001:4860::1]:8080/",         "[2001:4860::1]",       Some(8080), Spelled::Plainly),
        ("http://bücher.example/",              "xn--bcher-kva.example", Some(80),  Spelled::Plainly),
        ("http://0x7f.1/",                      "127.0.0.1",            Some(80),   Spelled::Oddly),
        ("http://2130706433/",                  "127.0.0.1",            Some(80),   Spelled::Oddly),
        ("http://%65xample.com/",               "example.com",          Some(80),   Spelled::Oddly),
        ("http://ｅxample.com/",                "example.com",          Some(80),   Spelled::Oddly),
        ("http://exam\tple.com/",               "example.com",          Some(80),   Spelled::Oddly),
        ("http:\\\\example.com\\x",             "example.com",          Some(80),   Spelled::Plainly),
        ("http:example.com",                    "example.com",          Some(80),   Spelled::Plainly),
        ("http://[::ffff:127.0.0.1]/",          "127.0.0.1",            Some(80),   Spelled::Plainly),
    ];
    for (url, host, port, spelled) in cases {
        let parsed = host_of(url).unwrap();
        assert_eq!((&*parsed.host.to_string(), parsed.port), (host, port), "{url}");
        assert_eq!(parsed.spelled, spelled, "{url}");
    }
    let long = format!("http://example.com/{}", "a".repeat(20_000));
    #[rustfmt::skip]
    let bad = [
        ("example.com/x",           "url-syntax"),
        ("http://",                 "url-syntax"),
        ("http://a b/",             "url-syntax"),
        ("http://example.com:99999", "url-syntax"),
        ("http://1.2.3.4.5/",       "url-syntax"),
        ("http://[fe80::1%25eth0]/", "url-syntax"),
        ("mailto:ann@example.com",  "url-host"),
        ("file:///etc/passwd",      "url-host"),
        ("http://a_b.example/",     "host-character"),
        ("ssh://2130706433/x",      "host-address"),
        ("",                        "url-syntax"),
        (&long,                     "url-length"),
    ];
    for (url, code) in bad {
        assert_eq!(host_of(url).unwrap_err().code(), code, "{url}");
    }
}

#[test]
fn any_public_host_is_none_of_our_own() {
    let any = Allowed::read(["*"]).unwrap();
    #[rustfmt::skip]
    let cases = [
        // url                              verdict
        ("https://example.com/",            "yes"),
        ("https://bücher.example.org/",     "yes"),
        ("http://93.184.215.14/",           "yes"),
        ("http://[2606:4700::1111]/",       "yes"),
        ("https://user@example.com/",       "yes"),
        ("http://localhost/",               "host-not-public"),
        ("http://x.localhost/",             "host-not-public"),
        ("http://printer/",                 "host-not-public"),
        ("http://db.internal/",             "host-not-public"),
        ("http://127.0.0.1.nip.io/",        "host-not-public"),
        ("http://127.9.9.9/",               "host-not-public"),
        ("http://10.0.0.1/",                "host-not-public"),
        ("http://172.31.255.255/",          "host-not-public"),
        ("http://172.32.0.1/",              "yes"),
        ("http://100.127.255.255/",         "host-not-public"),
        ("http://100.128.0.1/",             "yes"),
        ("http://169.254.169.254/latest",   "host-not-public"),
        ("http://0xa9fea9fe/",              "host-not-public"),
        ("http://0/",                       "host-not-public"),
        ("http://255.255.255.255/",         "host-not-public"),
        ("http://[::1]/",                   "host-not-public"),
        ("http://[::ffff:10.0.0.1]/",       "host-not-public"),
        ("http://[64:ff9b::a00:1]/",        "host-not-public"),
        ("http://[2002:a00:1::]/",          "host-not-public"),
        ("http://[fd00:ec2::254]/",         "host-not-public"),
        ("http://[2001:db8::1]/",           "host-not-public"),
        ("http://1572395022/",              "host-odd-spelling"),
        ("http://ⓔxample.com/",             "host-odd-spelling"),
        ("ftp://example.com/",              "url-scheme"),
        ("file:///etc/passwd",              "url-unreadable"),
        ("http://example.com\\@10.0.0.1/",  "url-ambiguous"),
    ];
    for (url, verdict) in cases {
        assert_eq!(word(&judge_url(url, &any)), verdict, "{url}");
    }
}

#[test]
fn a_list_lets_through_what_every_reader_finds_on_it() {
    let list = Allowed::read(["allowed.example", "*.wide.example", "192.0.2.7", "one.example:443"]);
    let list = list.unwrap();
    #[rustfmt::skip]
    let cases = [
        // url                                          verdict
        ("http://allowed.example/",                     "yes"),
        ("http://ALLOWED.example.:8080/?q=x@y",         "yes"),
        ("http://u:p@allowed.example/",                 "yes"),
        ("http://a.b.wide.example",                     "yes"),
        ("http://192.0.2.7/",                           "yes"),
        ("https://one.example/",                        "yes"),
        ("http://one.example/",                         "host-not-listed"),
        ("http://wide.example/",                        "host-not-listed"),
        ("http://notallowed.example/",                  "host-not-listed"),
        ("http://sub.allowed.example/",                 "host-not-listed"),
        ("http://allowed.example@evil.example/",        "host-not-listed"),
        ("http://evil.example#@allowed.example/",       "host-not-listed"),
        ("http://evil.example\\@allowed.example/",      "host-not-listed"),
        ("http://allowed.example\\@evil.example/",      "url-ambiguous"),
        ("http://allowed.example#@evil.example/",       "url-ambiguous"),
        ("http://allowed.example\\@a.wide.example/",    "yes"),
        ("http://аllowed.example/",                     "host-not-listed"),
        ("http://allowed.example%00.evil.example/",     "url-unreadable"),
        ("allowed.example",                             "url-unreadable"),
    ];
    for (url, verdict) in cases {
        assert_eq!(word(&judge_url(url, &list)), verdict, "{url}");
    }
    assert!(Allowed::read(["*", "x.example"]).is_err(), "`*` stands alone");
    assert!(Allowed::read(["*.example"]).is_err());
}

#[test]
fn a_host_alone_is_judged_with_and_without_a_port() {
    let any = Allowed::read(["*"]).unwrap();
    #[rustfmt::skip]
    let cases = [
        // host                 read as             verdict
        (" Example.COM ",       "example.com",      "yes"),
        ("example.com.:443",    "example.com",      "yes"),
        ("::1",                 "[::1]",            "host-not-public"),
        ("[::1]:443",           "[::1]",            "host-not-public"),
        ("::ffff:10.0.0.1",     "10.0.0.1",         "host-not-public"),
        ("10.0.0.1:80",         "10.0.0.1",         "host-not-public"),
        ("127.1",               "",                 "url-unreadable"),
        ("fe80::1%lo0",         "",                 "url-unreadable"),
        ("a:b:c",               "",                 "url-unreadable"),
        ("x:99999",             "",                 "url-unreadable"),
        ("",                    "",                 "url-unreadable"),
    ];
    for (text, host, verdict) in cases {
        let judged = judge_host(text, &any);
        let read = judged.host.as_ref().map(ToString::to_string).unwrap_or_default();
        assert_eq!((&*read, word(&judged)), (host, verdict), "{text}");
    }
}
