//! Which hosts are reached, in each mode: seen from inside and from outside.

use std::fs;
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::kit::{World, as_both};
use crate::town::{Town, Visit};

const LISTED: &str = "network: { mode: allow-list, allow: [web.test] }\n";

#[test]
fn a091_in_mode_deny_all_no_connection_of_any_kind_is_made() {
    let tries = include_str!("town/a091.py");
    Town::default().both("network: { mode: deny-all }\n", tries, &[], |visit| {
        let expected = json!({
            "own": "own", "name": "no name", "address": 101, "six": 101, "port_22": 101,
            "udp": 101, "udp_six": 101, "dns": 101, "host": 111, "own_of_host": 101,
            "metadata": 101, "proxy": 111, "raw": 93, "ping": 93,
        });
        assert_eq!(visit.tried, expected, "{}", visit.all());
        assert!(visit.seen.is_empty(), "{}", visit.all());
        assert_eq!(visit.told["network"], Json::Null);
    });
    // The same tries get through where nobody filters.
    Town::default().both("network: { mode: disabled }\n", tries, &[], |visit| {
        let reached = visit.reached();
        for host in ["93.184.216.34:80", "93.184.216.34:22", "127.0.0.1:6379", "169.254.169.254:80"]
        {
            assert!(reached.iter().any(|it| it == host), "{host}: {}", visit.all());
        }
        assert_eq!(visit.of_kind("udp").count(), 2, "{}", visit.all());
    });
}

#[test]
fn a096_nothing_leaves_but_what_is_listed_though_no_proxy_is_asked() {
    Town::default().both(LISTED, include_str!("town/a096.py"), &[], |visit| {
        let mut expected = json!({
            "http": "served", "https": "served",
            "other": "no name", "other_https": "no name", "below": "no name",
            "same": 113, "fast": 113,
        });
        // A refusal is the same in both families.
        for port in [22, 80, 443, 9000] {
            expected[format!("raw {port}")] = json!(113);
            expected[format!("raw six {port}")] = json!(113);
        }
        for port in [443, 9000] {
            expected[format!("udp {port}")] = json!(111);
            expected[format!("udp six {port}")] = json!(111);
        }
        assert_eq!(visit.tried, expected, "{}", visit.all());
        assert_eq!(visit.reached(), ["93.184.216.34:443", "93.184.216.34:80"]);
        assert_eq!(visit.of_kind("tcp").count(), visit.seen.len(), "{}", visit.all());
        assert!(!visit.arrived("secret"), "{}", visit.all());
        assert_eq!(visit.codes("other.test"), ["name-not-listed"]);
    });
}

#[test]
fn an_address_is_not_let_through_where_all_that_is_unknown_is_asked_about() {
    let tries = "from inside import *\nshow(listed=get('web.test'), other=tcp('other.test', 80), \
        address=tcp('93.184.216.41', 80), six=tcp('2606:2800:21f:cb07::1', 80), \
        proxied=tunnel('93.184.216.41:80'), home=tcp('169.254.169.254', 80))\nfinish()\n";
    for mode in ["monitor", "allow-list"] {
        let policy = format!("network: {{ mode: {mode}, allow: [web.test], ask: ['*'] }}\n");
        Town::default().both(&policy, tries, &[], |visit| {
            let code = if mode == "monitor" { "ask-refused" } else { "host-not-listed" };
            let expected = json!({
                "listed": "served", "other": 113, "address": 113, "six": 113,
                "proxied": format!("403 {code}"), "home": 113,
            });
            assert_eq!(visit.tried, expected, "{mode}: {}", visit.all());
            assert_eq!(visit.reached(), ["93.184.216.34:80"], "{mode}: {}", visit.all());
            assert_eq!(visit.codes("93.184.216.41"), [code, code], "{mode}");
            // One for each family.
            assert_eq!(visit.codes("other.test"), ["ask-refused"; 2], "{mode}");
        });
    }
}

/// One of Bloom's examples, for an agent: who is reached, and what is written and read.
fn example(world: World, text: &str, agent: &'static str) -> (Visit, Vec<&'static str>) {
    let mut home = world.home.file(".bloom/config.yaml", text);
    for file in [".ssh/id", ".gnupg/key", "Documents/x", "notes"] {
        home = home.file(file, "text");
    }
    let world = World { home: home.file(".cache/packages/there", ""), ..world };
    let names = "93.184.216.34 git.example.com api.example.com evil.example.com \
        packages.example.org a.b.raw.example.com raw.example.com www.search.example.com \
        packages.example.org.evil.test evilsearch.example.com";
    let options = vec!["--policy", "bloom:", "--agent", agent];
    let town = Town { options, ..Town::of(&[names]) };
    let visit = town.visit(&world, "", include_str!("town/a107.py"), &[]);
    // What is written to a cache that is not listed stays in the sandbox: so this is looked at.
    let places = [
        ("made", world.project.path("made")),
        ("~/made", world.home.path("made")),
        ("~/.cache/packages/made", world.home.path(".cache/packages/made")),
    ];
    (visit, places.into_iter().filter(|(_, path)| path.exists()).map(|(name, _)| name).collect())
}

/// An example, its text and an agent of it; who is reached (nobody filters where none is named), what
/// is written, and what is read.
type Case<'c> = (&'c str, &'c str, &'c str, Option<&'c [&'c str]>, &'c [&'c str], &'c [&'c str]);

#[test]
fn a107_the_examples_behave_as_they_say() {
    let agents = include_str!("../../../policy/src/dialect/bloom/fixtures/agents.yaml");
    let development = include_str!("../../../policy/src/dialect/bloom/fixtures/development.yaml");
    let research = include_str!("../../../policy/src/dialect/bloom/fixtures/research.yaml");
    let build = include_str!("../../../policy/src/dialect/bloom/fixtures/build.yaml");
    let offline = include_str!("../../../policy/src/dialect/bloom/fixtures/offline.yaml");
    let development_hosts =
        ["git.example.com", "packages.example.org", "a.b.raw.example.com"].as_slice();
    #[rustfmt::skip]
    let cases: [Case<'_>; 7] = [
        // example     text         agent      reached                                           written                            read
        ("conservative", agents,    "claude",  Some(&["git.example.com", "api.example.com"]),    &["made"],                           &["~/Documents/x", "~/notes"]),
        ("relaxed",    agents,      "copilot", None,                                             &["made"],                           &["~/Documents/x", "~/notes"]),
        ("strict",     agents,      "codex",   Some(&[]),                                        &["made"],                           &["~/notes"]),
        ("development", development, "claude", Some(development_hosts),                          &["made"],                           &["~/Documents/x", "~/notes"]),
        ("research",   research,    "claude",  Some(&["www.search.example.com"]),                &["made"],                           &["~/Documents/x", "~/notes"]),
        ("build",      build,       "claude",  Some(&["packages.example.org"]),                  &["made", "~/.cache/packages/made"], &["~/Documents/x", "~/notes"]),
        ("offline",    offline,     "claude",  Some(&[]),                                        &["made"],                           &["~/Documents/x", "~/notes"]),
    ];
    for (name, text, agent, reached, written, read) in cases {
        as_both(|world| {
            let (visit, left) = example(world, text, agent);
            let (tried, all) = (&visit.tried, visit.all());
            match reached {
                Some(hosts) => {
                    assert_eq!(tried["reached"], json!(hosts), "{name}: {all}");
                    let is_filtered = !hosts.is_empty();
                    let proxied = if is_filtered { hosts } else { &[] };
                    assert_eq!(tried["proxied"], json!(proxied), "{name}: {all}");
                    assert_eq!(tried["address"], json!(false), "{name}: {all}");
                    assert_eq!(visit.seen.is_empty(), hosts.is_empty(), "{name}: {all}");
                }
                None => {
                    assert_eq!(tried["reached"].as_array().map(Vec::len), Some(9), "{name}: {all}");
                    assert_eq!(tried["address"], json!(true), "{name}: {all}");
                }
            }
            assert_eq!(left, written, "{name}: {all}");
            assert_eq!(tried["read"], json!(read), "{name}: {all}");
        });
    }
}

#[test]
fn a124_a_listed_name_that_leads_home_is_refused_unless_the_address_is_listed_too() {
    let town = Town {
        dns: json!({ "named.test": [["127.0.0.1"]], "gained.test": [["93.184.217.9"]] }),
        gains: json!({ "gained.test": ["93.184.217.9"] }),
        ..Town::of(&[
            "127.0.0.1 loop.test",
            "::1 loop6.test",
            "::ffff:127.0.0.1 mapped.test",
            "169.254.169.254 meta.test",
            "169.254.7.7 link.test",
            "10.9.0.7 private.test",
            "93.184.217.1 own.test",
            "0.0.0.0 zero.test",
            "93.184.216.34 web.test",
        ])
    };
    let codes = [
        ("loop", "address-loopback"),
        ("loop6", "address-loopback"),
        ("mapped", "address-embedded"),
        ("meta", "address-metadata"),
        ("link", "address-link-local"),
        ("private", "address-private"),
        ("own", "address-own"),
        ("zero", "address-unspecified"),
        ("named", "address-loopback"),
        ("gained", "address-own"),
    ];
    let names: Vec<&str> = codes.iter().map(|(name, _)| *name).chain(["web"]).collect();
    let listed: Vec<String> = names.iter().map(|name| format!("{name}.test")).collect();
    let tries = include_str!("town/a124.py");
    let served = json!(["served", "served", "served", "served"]);
    let policy = format!("network: {{ mode: allow-list, allow: [{}] }}\n", listed.join(", "));
    town.both(&policy, tries, &names, |visit| {
        for (name, code) in codes {
            let refused = format!("403 {code}");
            let expected = json!([113, refused, refused, "socks 2"]);
            assert_eq!(visit.tried[name], expected, "{name}: {}", visit.all());
        }
        assert_eq!(visit.tried["web"], served, "{}", visit.all());
        assert_eq!(visit.reached(), ["93.184.216.34:80", "93.184.216.34:9000"]);
    });
    let also = "127.0.0.1, 10.9.0.0/16, 93.184.217.1, 169.254.7.7";
    let policy = format!("network: {{ mode: allow-list, allow: [{}, {also}] }}", listed.join(", "));
    town.both(&policy, tries, &names, |visit| {
        for name in ["loop", "mapped", "link", "private", "own", "named", "web"] {
            assert_eq!(visit.tried[name], served, "{name}: {}", visit.all());
        }
        for name in ["loop6", "meta", "zero"] {
            assert_eq!(visit.tried[name][0], 113, "{name}: {}", visit.all());
            assert_eq!(visit.tried[name][3], "socks 2", "{name}: {}", visit.all());
        }
    });
}

#[test]
fn a126_plain_requests_are_filtered_as_connections_are() {
    let policy = "network: { mode: allow-list, allow: [.web.test], deny: [bad.web.test] }\n";
    Town::default().both(policy, include_str!("town/a126.py"), &[], |visit| {
        let expected = json!({
            "listed": "served", "listed_port": "served", "posted": "served",
            "other": "403 host-not-listed", "other_connect": "403 host-not-listed",
            "address": "403 host-not-listed", "address_connect": "403 host-not-listed",
            "denied": "403 host-denied", "denied_connect": "403 host-denied",
            "said_otherwise": "421 http-host-differs",
            "second": "served, 403 host-not-listed",
            "direct": "served",
            "direct_otherwise": 104, "direct_nameless": 104, "direct_absolute": 104,
            "tunnel": "served", "tunnel_otherwise": 104,
        });
        assert_eq!(visit.tried, expected, "{}", visit.all());
        assert!(!visit.arrived("other"), "{}", visit.all());
        assert_eq!(visit.reached(), ["93.184.216.34:80", "93.184.216.34:8080"]);
    });
}

#[test]
fn a127_when_the_supervisor_dies_every_connection_and_every_process_does() {
    let town = Town { kill: Some("answered"), ..Town::default() };
    as_both(|world| {
        let visit = town.visit(&world, LISTED, include_str!("town/a127.py"), &[]);
        assert_eq!(visit.code, Some(128 + 9), "{}", visit.all());
        let killed = visit.seen.iter().position(|it| it["kind"] == "killed").unwrap();
        assert!(killed >= 2, "it was answered before: {}", visit.all());
        assert_eq!(killed, visit.seen.len() - 1, "nobody came after: {}", visit.all());
        let alive = || fs::metadata(world.project.path("alive")).unwrap().len();
        let before = alive();
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(alive(), before, "nobody inside is left");
    });
}

/// The same in the ways that are taken where the kernel has no queue, or no rules.
fn lowered(word: &str) -> Town {
    Town { env: vec![("PALISADE_NETWORK_RUNG", word.to_owned())], ..Town::default() }
}

#[test]
fn the_lower_ways_let_no_more_out_than_the_best() {
    let tries = include_str!("town/a096.py");
    lowered("redirect").both(LISTED, tries, &[], |visit| {
        assert_eq!(visit.told["network"]["rung"], "redirect");
        for (name, found) in visit.tried.as_object().unwrap() {
            let expected = match name.as_str() {
                "http" | "https" => json!("served"),
                "other" | "other_https" | "below" => json!("no name"),
                name if name.starts_with("udp") => json!(111),
                // It stands, and is cut before a byte has passed.
                _ => json!(104),
            };
            assert_eq!(*found, expected, "{name}: {}", visit.all());
        }
        assert_eq!(visit.reached(), ["93.184.216.34:443", "93.184.216.34:80"]);
        assert!(!visit.arrived("secret"), "{}", visit.all());
    });
    // A word that is not understood is the lowest way: only the proxy is there.
    for word in ["none", "best"] {
        lowered(word).both(LISTED, include_str!("town/e064.py"), &[], |visit| {
            assert_eq!(visit.told["network"]["rung"], "none", "{}", visit.all());
            let expected = json!({
                "name": 111, "address": 111, "http": "served",
                "connect": "served", "socks": "served", "socks_address": "socks 2",
            });
            assert_eq!(visit.tried, expected, "{}", visit.all());
            assert_eq!(visit.reached(), ["93.184.216.34:80", "93.184.216.34:9000"]);
        });
    }
}
