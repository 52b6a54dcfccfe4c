//! Names and addresses in every spelling: one that is listed is reached, and none passes for it.

use serde_json::{Value as Json, json};

use crate::kit::{World, as_both};
use crate::town::{Town, Visit};

const LISTED: &str = "network: { mode: allow-list, allow: [web.test] }\n";

/// Asserts that nothing among these came from a server, by a word of each way that says so.
fn assert_refused(tried: &Json, visit: &Visit) {
    let words = ["400 ", "403 ", "421 ", "socks 2", "no name"];
    match tried {
        Json::Array(all) => all.iter().for_each(|one| assert_refused(one, visit)),
        Json::Object(all) => all.values().for_each(|one| assert_refused(one, visit)),
        Json::String(text) => {
            assert!(words.iter().any(|word| text.starts_with(word)), "{text}: {}", visit.all());
        }
        Json::Number(errno) => {
            let known = [111, 113].map(|errno| json!(errno));
            assert!(known.contains(&json!(errno)), "{errno}: {}", visit.all());
        }
        Json::Null | Json::Bool(_) => panic!("{}", visit.all()),
    }
}

#[test]
fn e063_a_name_with_a_nul_is_nobody_s() {
    Town::default().both(LISTED, include_str!("town/e063.py"), &[], |visit| {
        let tried = visit.tried.as_object().unwrap();
        assert_eq!(tried.len(), 1 + 5 * 4 + 12, "{}", visit.all());
        for (name, found) in tried {
            let expected = match name.split(' ').next() {
                Some("plain") => json!("served"),
                Some("socks" | "letter") => json!("socks 2"),
                Some("dns") => json!(3),
                Some(_) | None => json!("400 http-control"),
            };
            assert_eq!(*found, expected, "{name}: {}", visit.all());
        }
        assert_eq!(visit.seen.len(), 1, "{}", visit.all());
    });
}

#[test]
fn e064_an_empty_list_allows_nobody() {
    let tries = include_str!("town/e064.py");
    for list in ["allow: []", "deny: []", "allow: [], deny: [other.test]"] {
        let policy = format!("network: {{ mode: allow-list, {list} }}\n");
        Town::default().both(&policy, tries, &[], |visit| {
            let expected = json!({
                "name": "no name", "address": 113, "http": "403 host-not-listed",
                "connect": "403 host-not-listed", "socks": "socks 2", "socks_address": "socks 2",
            });
            assert_eq!(visit.tried, expected, "{list}: {}", visit.all());
            assert!(visit.seen.is_empty(), "{list}: {}", visit.all());
        });
    }
    Town::default().both(LISTED, tries, &[], |visit| {
        let expected = json!({
            "name": "served", "address": 113, "http": "served",
            "connect": "served", "socks": "served", "socks_address": "socks 2",
        });
        assert_eq!(visit.tried, expected, "{}", visit.all());
    });
}

#[test]
fn e065_whoever_does_not_heed_the_variables_reaches_no_more() {
    for proxy_env in [true, false] {
        let policy =
            format!("network: {{ mode: allow-list, allow: [web.test], proxy_env: {proxy_env} }}\n");
        Town::default().both(&policy, include_str!("town/e065.py"), &[], |visit| {
            let refused = if proxy_env { "403" } else { "no" };
            let expected = json!({
                "web.test": ["served", "served", "served", "no", "served"],
                "other.test": [refused, "no", "no", "no", "no"],
                "93.184.216.99": [refused, "no", "no", "no", "no"],
            });
            assert_eq!(visit.tried, expected, "{}", visit.all());
            assert_eq!(visit.reached(), ["93.184.216.34:80"]);
        });
    }
}

#[test]
fn e066_an_address_is_refused_in_every_spelling_unless_it_is_listed() {
    let policy = "network: { mode: allow-list, allow: [web.test, 93.184.216.40] }\n";
    Town::default().both(policy, include_str!("town/e066.py"), &[], |visit| {
        let mut tried = visit.tried.clone();
        let listed = tried.as_object_mut().unwrap().remove("listed").unwrap();
        assert_eq!(listed, json!(vec!["served"; 6]), "{}", visit.all());
        assert_eq!(tried.as_object().map(serde_json::Map::len), Some(36 + 9 + 14));
        assert_refused(&tried, &visit);
        assert_eq!(visit.reached(), ["93.184.216.40:8080", "93.184.216.40:9000"]);
    });
}

#[test]
fn e067_other_spellings_of_a_name_are_that_name_or_nobody_s() {
    let tries = include_str!("town/e067.py");
    // Lists may be written as people write names; the wire may not.
    for list in ["web.test, bücher.test", "WEB.Test., xn--bcher-kva.test", "web。test, BÜCHER.test"]
    {
        let policy = format!("network: {{ mode: allow-list, allow: [\"{list}\"] }}\n")
            .replace(", b", "\", \"b")
            .replace(", x", "\", \"x")
            .replace(", B", "\", \"B");
        Town::default().both(&policy, tries, &[], |visit| {
            for (name, ways) in visit.tried["same"].as_object().unwrap() {
                assert_eq!(*ways, json!(["served", "served", "served"]), "{name}: {}", visit.all());
            }
            assert_eq!(visit.tried["other"].as_object().map(serde_json::Map::len), Some(27));
            assert_refused(&visit.tried["other"], &visit);
            assert_eq!(visit.tried["direct"], json!(vec!["served"; 7]), "{}", visit.all());
            assert_eq!(visit.tried["direct_other"], json!(["no name", "no name"]));
            assert_eq!(visit.tried["sni"], json!(["served", "served", 104, 104, 104]));
            assert!(!visit.arrived("evil"), "{}", visit.all());
        });
    }
}

#[test]
fn e067_lists_hold_no_spelling_that_somebody_could_read_otherwise() {
    let world = World::new();
    for (text, code) in [
        ("web%2etest", "host-percent"),
        ("user@web.test", "host-user"),
        ("web.test/path", "host-path"),
        ("0x7f.1", "host-address"),
        ("web..test", "host-label"),
        ("xn--zzzzz---.test", "host-idna"),
    ] {
        world.write("net.yaml", format!("network: {{ mode: allow-list, allow: [\"{text}\"] }}\n"));
        let ran = world.run(&["run", "--policy", "net.yaml", "--", "touch", "made"]);
        assert_eq!(ran.code, Some(125), "{text}: {}", ran.stderr);
        assert!(ran.stderr.contains(&format!("error[{code}]")), "{text}: {}", ran.stderr);
        assert!(!world.project.path("made").exists(), "{text}");
    }
}

#[test]
fn e068_patterns_are_compared_label_by_label() {
    let names = "93.184.216.34 a.example.com b.a.example.com example.com evilexample.com \
        evil-example.com example.com.evil.test a.example.com.evil.test example.org a.example.org \
        evilexample.org bad.example.com a.bad.example.com xample.com com";
    let policy = "network: { mode: allow-list, allow: [\"*.example.com\", .example.org], \
                  deny: [.bad.example.com] }\n";
    Town::of(&[names]).both(policy, include_str!("town/e068.py"), &[], |visit| {
        let reached = ["a.example.com", "b.a.example.com", "example.org", "a.example.org"];
        for (name, ways) in visit.tried.as_object().unwrap() {
            let expected = reached.contains(&name.as_str());
            assert_eq!(*ways, json!(vec![expected; 3]), "{name}: {}", visit.all());
        }
        assert_eq!(visit.of_kind("tcp").count(), 3 * reached.len(), "{}", visit.all());
    });
    as_both(|world| {
        for (pattern, code) in [("*", "host-everything"), ("*.com", "host-top-level")] {
            let policy = format!("network: {{ mode: allow-list, allow: [\"{pattern}\"] }}\n");
            world.write("net.yaml", policy);
            let ran = world.run(&["run", "--policy", "net.yaml", "--", "touch", "made"]);
            assert_eq!(ran.code, Some(125), "{}", ran.stderr);
            assert!(ran.stderr.contains(&format!("error[{code}]")), "{}", ran.stderr);
            assert!(!world.project.path("made").exists());
        }
    });
}

#[test]
fn e069_a_name_is_resolved_once_for_each_connection_and_that_address_is_dialled() {
    let town = Town {
        dns: json!({
            "turning.test": [["93.184.216.35"], ["127.0.0.1"], ["10.9.0.7"]],
            "mixed.test": [["127.0.0.1", "93.184.216.36"]],
            "metadata.test": [["169.254.169.254"], ["93.184.216.37"]],
        }),
        ..Town::of(&[])
    };
    let policy =
        "network: { mode: allow-list, allow: [turning.test, mixed.test, metadata.test] }\n";
    town.both(policy, include_str!("town/e069.py"), &[], |visit| {
        // A client that is refused at one address of a name tries the other.
        let expected = json!({
            "turning": ["served", 113, "403 address-private"],
            "mixed": ["served", "served"],
            "metadata": "served",
            "again": "served",
        });
        assert_eq!(visit.tried, expected, "{}", visit.all());
        let codes = ["", "address-loopback", "address-private", "address-private"];
        assert_eq!(visit.codes("turning.test"), codes);
        assert_eq!(visit.codes("metadata.test"), ["address-metadata", "", ""]);
        let reached = ["35:8080", "36:8080", "36:9000", "37:8080"];
        assert_eq!(visit.reached(), reached.map(|end| format!("93.184.216.{end}")));
        // One question of each kind for each connection: what was judged is what was dialled.
        for (name, dialled) in [("turning.test", 4), ("mixed.test", 2), ("metadata.test", 3)] {
            let asked = visit.of_kind("dns").filter(|it| it["name"] == name && it["type"] == 1);
            assert_eq!(asked.count(), dialled, "{name}: {}", visit.all());
        }
    });
}
