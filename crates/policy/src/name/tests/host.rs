//! Host names, host patterns and sets of them.

use super::*;

fn host(text: &str) -> Host {
    text.parse().unwrap()
}

fn pattern(text: &str) -> HostPattern {
    text.parse().unwrap()
}

fn denied(text: &str) -> WideHost {
    text.parse().unwrap()
}

#[test]
fn a097_wildcard_matches_any_depth_but_not_the_apex() {
    #[rustfmt::skip]
    let cases = [
        // host                         pattern                     matches because
        ("api.github.com",              "*.github.com",             true,   "one level below"),
        ("a.b.github.com",              "*.github.com",             true,   "any depth"),
        ("raw.githubusercontent.com",   "*.githubusercontent.com",  true,   "one level below"),
        ("github.com",                  "*.github.com",             false,  "the apex is not below itself"),
        ("raw.githubusercontent.com",   "*.github.com",             false,  "another domain"),
        ("malicious-github.com",        "*.github.com",             false,  "a suffix is not a subdomain"),
        ("github.com.evil.test",        "*.github.com",             false,  "a prefix is not a subdomain"),
        ("api.github.com.evil.test",    "*.github.com",             false,  "a prefix is not a subdomain"),
        ("github.com",                  ".github.com",              true,   "a leading dot is both"),
        ("a.b.github.com",              ".github.com",              true,   "a leading dot is both"),
        ("malicious-github.com",        ".github.com",              false,  "a suffix is not a subdomain"),
        ("api.github.com",              "github.com",               false,  "a name alone is that name"),
        ("com",                         "*.github.com",             false,  "above is not below"),
    ];
    for (name, text, expected, because) in cases {
        assert_eq!(pattern(text).matches(&host(name), 443), expected, "{name} {text}: {because}");
        assert_eq!(denied(text).matches(&host(name), 443), expected, "{name} {text}: {because}");
    }
}

#[test]
fn a098_only_a_leading_wildcard_is_a_pattern_and_none_that_grants_everything() {
    for text in [
        "example.com",
        "*.github.com",
        "localhost",
        "not-a-domain",
        "*.github.io",
        "*.co.uk",
        ".example.com",
        "example.com.",
        "api.example.com:443",
        "*.example.com:8443",
        "[::1]",
        "[2001:db8::1]:443",
        "192.0.2.1",
        "192.0.2.0/24:443",
        "[2001:db8::/32]",
        "10.0.0.0/8",
    ] {
        assert!(text.parse::<HostPattern>().is_ok(), "{text}");
        assert!(text.parse::<WideHost>().is_ok(), "{text}");
    }

    for text in ["*", "*:22", "*.com", ".com", "*.com:443", "0.0.0.0/0", "8.0.0.0/7", "[::/0]"] {
        let code = text.parse::<HostPattern>().unwrap_err().code();
        let wide = ["host-everything", "host-top-level", "host-network-wide"];
        assert!(wide.contains(&code), "{text} must not grant: {code}");
        assert!(text.parse::<WideHost>().is_ok(), "{text} may refuse");
    }

    #[rustfmt::skip]
    let cases = [
        // neither grants nor refuses
        ("github.*",                    "host-wildcard"),
        ("*example.com",                "host-wildcard"),
        ("a.*.example.com",             "host-wildcard"),
        ("*.*.example.com",             "host-wildcard"),
        ("**.example.com",              "host-wildcard"),
        ("www*.example.com",            "host-wildcard"),
        (".*.example.com",              "host-wildcard"),
        ("*.",                          "host-empty"),
        (".",                           "host-empty"),
        ("..example.com",               "host-label"),
    ];
    for (text, code) in cases {
        assert_eq!(text.parse::<HostPattern>().unwrap_err().code(), code, "{text}");
        assert_eq!(text.parse::<WideHost>().unwrap_err().code(), code, "{text}");
    }
}

#[test]
fn a099_case_and_final_dot_do_not_matter_and_an_address_is_not_a_name() {
    #[rustfmt::skip]
    let cases = [
        // host                     pattern                 matches because
        ("GITHUB.com",              "github.com",           true,   "case is folded in the host"),
        ("github.com",              "GitHub.COM",           true,   "case is folded in the pattern"),
        ("api.github.com.",         "*.github.com",         true,   "a final dot is the same name"),
        ("api.github.com",          "*.github.com.",        true,   "in the pattern too"),
        ("BÜCHER.example",          "xn--bcher-kva.example", true,  "one name, two spellings"),
        ("XN--BCHER-KVA.example",   "bücher.example",       true,   "one name, two spellings"),
        ("192.0.2.1",               "192.0.2.1",            true,   "an address matches itself"),
        ("[2001:DB8:0::1]",         "[2001:db8::1]",        true,   "one address, two spellings"),
        ("[::ffff:192.0.2.1]",      "192.0.2.1",            true,   "the same machine"),
        ("192.0.2.1",               "[::ffff:192.0.2.1]",   true,   "the same machine"),
        ("192.0.2.77",              "192.0.2.0/24",         true,   "inside the network"),
        ("192.0.3.1",               "192.0.2.0/24",         false,  "outside the network"),
        ("192.0.2.1",               "*.example.com",        false,  "an address has no domain"),
        ("192.0.2.1",               "one.example.com",      false,  "an address is not a name"),
        ("one.example.com",         "192.0.2.1",            false,  "a name is not an address"),
        ("one.example.com",         "10.0.0.0/8",           false,  "a name is not an address"),
        ("192.0.2.1",               "[2001:db8::/32]",      false,  "another family"),
        ("[2001:db9::1]",           "[2001:db8::/32]",      false,  "outside the network"),
        ("gıthub.com",              "github.com",           false,  "a dotless i is another letter"),
        ("192.0.2.1",               "[fd00::/16]",              false,  "IPv4 is not in an IPv6 network"),
    ];
    for (name, text, expected, because) in cases {
        assert_eq!(pattern(text).matches(&host(name), 443), expected, "{name} {text}: {because}");
    }
    for name in ["192.0.2.1", "[2001:db8::1]", "example.com"] {
        assert!(denied("*").matches(&host(name), 443), "`*` refuses {name}");
    }
    assert!(!denied("*.com").matches(&host("192.0.2.1"), 443));
}

#[test]
fn a_port_narrows_a_pattern() {
    assert!(pattern("example.com").matches(&host("example.com"), 22));
    assert!(pattern("example.com:22").matches(&host("example.com"), 22));
    assert!(!pattern("example.com:22").matches(&host("example.com"), 2222));
    assert!(!pattern("example.com:22").matches(&host("example.com"), 0));
    assert!(denied("*:22").matches(&host("192.0.2.1"), 22));
    assert!(!denied("*:22").matches(&host("192.0.2.1"), 443));
}

#[test]
fn what_is_not_a_host_is_refused_with_what_to_write_instead() {
    #[rustfmt::skip]
    let cases = [
        ("",                            "host-empty",           "the host is empty", ""),
        (":443",                        "host-empty",           "`:443` names no host", "write a host, like `example.com`"),
        ("*",                           "host-everything",      "`*` is every host", "name the hosts, like `example.com` or `*.example.com`"),
        ("*.com",                       "host-top-level",       "`*.com` covers a whole top-level domain", "name at least one level more, like `*.example.com`"),
        ("github.*",                    "host-wildcard",        "`github.*` has a `*` that is not a whole first label", "a `*` stands before a dot at the start only, like `*.example.com`"),
        ("https://example.com/x",       "host-scheme",          "`https://example.com/x` is a URL", "write `example.com`"),
        ("https://a:b@example.com:80",  "host-scheme",          "`https://a:b@example.com:80` is a URL", "write `example.com:80`"),
        ("https://",                    "host-scheme",          "`https://` is a URL", "leave out `https://`"),
        ("example.com/path",            "host-path",            "`example.com/path` contains a path", "write `example.com`"),
        ("example.com:443/path",        "host-path",            "`example.com:443/path` contains a path", "write `example.com:443`"),
        (r"example.com\.evil.test",     "host-path",            r"`example.com\.evil.test` contains a path", "write `example.com`"),
        ("git@example.com",             "host-user",            "`git@example.com` contains a user name", "write `example.com`"),
        ("u:p@example.com:22",          "host-user",            "`u:p@example.com:22` contains a user name", "write `example.com:22`"),
        ("exa%6dple.com",               "host-percent",         "`exa%6dple.com` contains a `%`", "write the characters themselves, without percent-encoding"),
        ("example.com:0",               "port-range",           "the port `0` is out of range", "ports go from 1 to 65535"),
        ("example.com:65536",           "port-range",           "the port `65536` is out of range", "ports go from 1 to 65535"),
        ("example.com:",                "port-empty",           "the port is empty", "write a number from 1 to 65535, or leave out the `:`"),
        ("example.com:http",            "port-number",          "the port `http` is not a number", "write a number from 1 to 65535"),
        ("2001:db8::1:443",             "host-brackets",        "`2001:db8::1:443` looks like an IPv6 address without brackets", "write `[2001:db8::1:443]`, and a port after the brackets"),
        ("2001:db8::/32",               "host-brackets",        "`2001:db8::/32` looks like an IPv6 address without brackets", "write `[2001:db8::/32]`, and a port after the brackets"),
        ("a:b:c",                       "host-brackets",        "`a:b:c` looks like an IPv6 address without brackets", "write the address in brackets, like `[2001:db8::1]:443`"),
        ("[2001:db8::1",                "host-brackets",        "the bracket of `[2001:db8::1` is not closed where it should be", "write `[address]` or `[address]:port`"),
        ("[2001:db8::1]x",              "host-brackets",        "the bracket of `[2001:db8::1]x` is not closed where it should be", "write `[address]` or `[address]:port`"),
        ("[2001:db8::]/32",             "host-brackets",        "the bracket of `[2001:db8::]/32` is not closed where it should be", "write `[2001:db8::/32]`"),
        ("[example.com]",               "host-address",         "`example.com` is not an IPv6 address", "brackets are for IPv6 addresses only"),
        ("[192.0.2.1]",                 "host-address",         "`192.0.2.1` is not an IPv6 address", "brackets are for IPv6 addresses only"),
        ("[fe80::1%eth0]",              "host-zone",            "`[fe80::1%eth0]` names an interface", "leave out the `%` and what follows it"),
        ("192.0.2.1/24",                "host-network-bits",    "`192.0.2.1/24` names a host inside a network", "write `192.0.2.0/24` for the network"),
        ("[2001:db8::1/32]:443",        "host-network-bits",    "`[2001:db8::1/32]:443` names a host inside a network", "write `[2001:db8::/32]` for the network"),
        ("192.0.2.0/33",                "host-network",         "`192.0.2.0/33` is not a network", "end it with a number of bits, `/0` to `/32`"),
        ("192.0.2.0/+8",                "host-network",         "`192.0.2.0/+8` is not a network", "end it with a number of bits, `/0` to `/32`"),
        ("0.0.0.0/0",                   "host-network-wide",    "`0.0.0.0/0` is too wide to be allowed", "name smaller networks: at least `/8` for IPv4, `/16` for IPv6"),
        ("[::ffff:0:0/96]",             "host-network-wide",    "`[::ffff:0:0/96]` is too wide to be allowed", "name smaller networks: at least `/8` for IPv4, `/16` for IPv6"),
        (" example.com",                "host-blank",           "` example.com` contains a blank", "write one host without blanks"),
        ("a.test b.test",               "host-blank",           "`a.test b.test` contains a blank", "write one host without blanks"),
        ("example.com\0.evil.test",     "host-control",         r"`example.com\0.evil.test` contains a control character", ""),
        ("exam_ple.com",                "host-character",       "`exam_ple.com` contains `_`, which no host name has", "use letters, digits, `-` and dots"),
        ("-a.test",                     "host-label",           "`-a.test` has a label that starts or ends with `-`", ""),
        ("a..test",                     "host-label",           "`a..test` has an empty label", "put one dot between labels"),
        ("a.test..",                    "host-label",           "`a.test..` has an empty label", "put one dot between labels"),
        ("xn--a",                       "host-idna",            "`xn--a` is not a valid international name", ""),
        ("127.1",                       "host-address",         "`127.1` would be read as an address by some resolvers", "write an address as four decimal numbers, like `192.0.2.1`"),
    ];
    for (text, code, problem, hint) in cases {
        let invalid = text.parse::<HostPattern>().unwrap_err();
        let found = (invalid.code(), invalid.problem(), invalid.hint().unwrap_or_default());
        assert_eq!(found, (code, problem, hint), "{text:?}");
    }
}

#[test]
fn an_address_in_disguise_is_not_a_name() {
    for text in [
        "127.1",
        "2130706433",
        "0x7f.1",
        "0x7f000001",
        "0X7F000001",
        "0x",
        "0177.0.0.1",
        "127.0.0.1.",
        "1.2.3.4.5",
        "256.0.0.1",
        "example.1",
        "１２７.0.0.1",
        "127。0。0。1",
        "*.0.0.1",
        ".0.1",
    ] {
        assert_eq!(text.parse::<HostPattern>().unwrap_err().code(), "host-address", "{text}");
        assert!(text.parse::<Host>().is_err(), "{text}");
    }
    for text in ["0xg.example", "1.example", "127.0.0.1.example.com", "0x7f.example"] {
        assert!(text.parse::<HostName>().is_ok(), "{text}");
    }
    assert_eq!(host("[::ffff:192.0.2.1]"), Host::Ip("192.0.2.1".parse().unwrap()));
    for text in ["[fe80::1%1]", "::1", "[::1", "[::1]:80", "example.com:80"] {
        assert!(text.parse::<Host>().is_err(), "{text}");
    }
}

#[test]
fn lengths_are_those_of_dns() {
    let label = "a".repeat(63);
    assert!(format!("{label}.test").parse::<HostName>().is_ok());
    assert_eq!(format!("{label}a.test").parse::<HostName>().unwrap_err().code(), "host-label");

    let longest = format!("{label}.{label}.{label}.{}", "a".repeat(61));
    assert_eq!(longest.len(), 253);
    assert!(longest.parse::<HostName>().is_ok());
    assert_eq!(format!("{longest}a").parse::<HostName>().unwrap_err().code(), "host-length");
    assert_eq!(format!("*.{longest}").parse::<HostPattern>().unwrap_err().code(), "host-length");
    assert_eq!("a.".repeat(100_000).parse::<HostName>().unwrap_err().code(), "host-length");
}

#[test]
fn covering_is_exact() {
    #[rustfmt::skip]
    let cases = [
        // outer                inner                   covers  because
        ("*.x.test",            "a.x.test",             true,   "a name below"),
        ("*.x.test",            "*.x.test",             true,   "itself"),
        ("*.x.test",            "*.a.x.test",           true,   "all below something below"),
        ("*.x.test",            ".a.x.test",            true,   "something below, and all below it"),
        (".x.test",             "x.test",               true,   "the apex"),
        (".x.test",             "*.x.test",             true,   "below the apex"),
        ("x.test",              "x.test:443",           true,   "one port of all"),
        ("10.0.0.0/8",          "10.1.0.0/16:22",       true,   "a network inside"),
        ("10.0.0.0/8",          "[::ffff:10.0.0.1]",    true,   "the same address"),
        ("*.x.test",            "x.test",               false,  "the apex is not below"),
        ("*.x.test",            ".x.test",              false,  "the apex is not below"),
        ("x.test",              ".x.test",              false,  "one name is not a tree"),
        ("a.x.test",            "*.x.test",             false,  "one name is not a tree"),
        ("*.x.test",            "*.ax.test",            false,  "a suffix is not a subdomain"),
        ("*.a.x.test",          "*.x.test",             false,  "narrower"),
        ("x.test:443",          "x.test",               false,  "one port is not all"),
        ("x.test:443",          "x.test:80",            false,  "another port"),
        ("10.1.0.0/16",         "10.0.0.0/8",           false,  "narrower"),
        ("*.x.test",            "10.0.0.1",             false,  "a name never covers an address"),
        ("10.0.0.0/8",          "a.x.test",             false,  "an address never covers a name"),
    ];
    for (outer, inner, expected, because) in cases {
        assert_eq!(pattern(outer).covers(&pattern(inner)), expected, "{outer} {inner}: {because}");
        assert_eq!(denied(outer).cancels(&pattern(inner)), expected, "{outer} {inner}: {because}");
    }
    assert!(denied("*").covers(&denied("0.0.0.0/0")));
    assert!(denied("*").covers(&denied("*.com")));
    assert!(!denied("*.com").covers(&denied("*")));
    assert!(!denied("0.0.0.0/0").covers(&denied("*")));
}

#[test]
fn a_set_finds_the_first_of_its_patterns() {
    let patterns = ["b.x.test:22", "*.x.test", "b.x.test", "10.0.0.0/8", ".y.test", "10.0.0.1"];
    let patterns = patterns.map(pattern);
    let set = HostSet::new(&patterns);
    #[rustfmt::skip]
    let cases = [
        ("b.x.test",        22,     Some(0)),
        ("b.x.test",        443,    Some(1)),
        ("10.0.0.1",        443,    Some(3)),
        ("y.test",          443,    Some(4)),
        ("x.test",          443,    None),
        ("evil-y.test",     443,    None),
        ("y.test.evil.test", 443,   None),
        ("test",            443,    None),
        ("[2001:db8::1]",   443,    None),
    ];
    for (name, port, expected) in cases {
        assert_eq!(set.find(&host(name), port), expected, "{name}:{port}");
    }
    assert_eq!(HostSet::new([]).find(&host("a.test"), 443), None);
    let refusals = HostSet::of_wide(&[denied("*.com"), denied("*:22")]).find(&host("[::1]"), 22);
    assert_eq!(refusals, Some(1));
}

#[test]
fn a_network_that_is_everything_under_another_name_cannot_be_granted() {
    #[rustfmt::skip]
    let cases = [
        // pattern             granted  because
        ("192.0.2.0/24",       true,    "a network"),
        ("[2001:db8::/32]",    true,    "a network"),
        ("[::1]",              true,    "loopback, named as itself"),
        ("10.0.0.0/08",        false,   "one spelling per number"),
        ("0.0.0.0",            false,   "this machine, by its odd name"),
        ("0.0.0.0/8",          false,   "this machine, by its odd name"),
        ("[::]",               false,   "this machine, by its odd name"),
        ("[::/16]",            false,   "holds loopback and all of IPv4"),
        ("[::/96]",            false,   "holds loopback"),
        ("[64:ff9b::/96]",     false,   "all of IPv4 through a translator"),
        ("[64:ff9b::/32]",     false,   "and wider"),
        ("[2002::/16]",        false,   "all of IPv4 through a tunnel"),
    ];
    for (text, granted, because) in cases {
        assert_eq!(text.parse::<HostPattern>().is_ok(), granted, "{text}: {because}");
        assert_eq!(text.parse::<WideHost>().is_ok(), text != "10.0.0.0/08", "{text} is refusable");
    }
}
