//! Native policies written for srt, and read again.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::subsequence;
use serde_json::Value as Json;

use super::*;
use crate::dialect::Written;
use crate::policy::NetworkMode;

fn native(text: &str) -> Policy {
    let source = Source::new("policy.yaml", text);
    Document::parse(&source, Layer::User, &anchors())
        .unwrap_or_else(|problems| panic!("{}", problems[0]))
        .policy
}

fn written(policy: &Policy) -> Written {
    around(|around| write::write(policy, around))
}

fn lost(written: &Written) -> Vec<String> {
    written.lost.iter().map(|lost| format!("{}: {}", lost.key, lost.value)).collect()
}

#[test]
fn a112_generated_settings_have_all_five_keys_and_the_workspace_first() {
    let text = "version: 1\n\
        files: { write: [/var/cache/build, ., ~/out], hide: [~/.ssh], protect: [.env] }\n\
        network: { mode: allow-list, allow: [example.com, .example.org], deny: [bad.test] }\n";
    let written = written(&native(text));
    let settings: Json = serde_json::from_str(&written.text).unwrap();
    let (files, network) = (&settings["filesystem"], &settings["network"]);
    assert_eq!(files["allowWrite"][0], "/proj/app");
    assert_eq!(files["allowWrite"].as_array().unwrap().len(), 3);
    assert_eq!(files["denyRead"], serde_json::json!(["/home/dev/.ssh"]));
    assert_eq!(files["denyWrite"], serde_json::json!(["/proj/app/.env"]));
    let hosts = ["example.com", "example.org", "*.example.org"];
    assert_eq!(network["allowedDomains"], serde_json::json!(hosts));
    assert_eq!(network["deniedDomains"], serde_json::json!(["bad.test"]));
    assert_eq!(notes(&reading(&written.text)).len(), 1, "only that credentials are readable");
    assert_eq!(lost(&written), Vec::<String>::new());
}

#[test]
fn a112_the_required_keys_are_written_for_any_policy_and_never_refuse_everything() {
    let policies = [
        Policy::default(),
        native("version: 1\n"),
        native("version: 1\nnetwork: { mode: disabled }\n"),
        resolved(&[]).policy,
    ];
    for policy in policies {
        let written = written(&policy);
        let settings: Json = serde_json::from_str(&written.text).unwrap();
        for (section, key) in [
            ("network", "allowedDomains"),
            ("network", "deniedDomains"),
            ("filesystem", "denyRead"),
            ("filesystem", "allowWrite"),
            ("filesystem", "denyWrite"),
        ] {
            let list = settings[section][key].as_array();
            assert!(list.is_some(), "{section}.{key} is missing in {}", written.text);
            assert!(!list.unwrap().iter().any(|entry| entry == "/" || entry == "*"), "{key}");
        }
        assert_eq!(problems(&written.text), []);
    }
    // A policy that says so itself is taken at its word.
    let shut = native("version: 1\nfiles: { protect: [/] }\nnetwork: { deny: ['*'] }\n");
    let settings: Json = serde_json::from_str(&written(&shut).text).unwrap();
    assert_eq!(settings["filesystem"]["denyWrite"], serde_json::json!(["/"]));
    assert_eq!(settings["network"]["deniedDomains"], serde_json::json!(["*"]));
}

#[test]
fn what_srt_cannot_say_is_listed_and_nothing_wider_is_written() {
    #[rustfmt::skip]
    let cases = [
        ("network: { mode: disabled }",                              "network.mode: disabled"),
        ("network: { mode: monitor }",                               "network.mode: monitor"),
        ("network: { mode: allow-list, allow: [intranet] }",         "network.allow: intranet"),
        ("network: { mode: allow-list, allow: [10.0.0.0/8] }",       "network.allow: 10.0.0.0/8"),
        ("network: { deny: ['*.test'] }",                            "network.deny: *.test"),
        ("network: { deny: ['10.0.0.0/8:22'] }",                     "network.deny: 10.0.0.0/8:22"),
        ("network: { ask: [ask.example.com] }",                      "network.ask: ask.example.com"),
        ("files: { hide: ['keys/[!a]'] }",                           "files.hide: /proj/app/keys/[!a]"),
        ("files: { protect: ['**/*.lock'] }",                        "files.protect: /proj/app/**/*.lock"),
        ("files: { hide: ['**/*.pem'] }",                            "files.hide: /proj/app/**/*.pem"),
        ("files: { protect: ['**/.git/hooks'] }",                    "files.protect: /proj/app/**/.git/hooks"),
        ("files: { protect: ['keys/[!a]'] }",                        "files.protect: /proj/app/keys/[!a]"),
        ("network: { mode: allow-list, allow: [a.example.com], ask: [.example.com] }", "network.ask: .example.com"),
        ("files: { caches: shared }",                                "files.caches: shared"),
        ("require: landlock",                                        "require: landlock"),
        ("limits: { timeout: 30s }",                                 "limits.timeout: 30s"),
        ("commands: { deny: [sudo, dd] }",                           "commands.deny: sudo, dd"),
        ("env: { pass: [CI] }",                                      "env.pass: CI"),
    ];
    for (text, expected) in cases {
        let written = written(&native(&format!("version: 1\n{text}\n")));
        assert_eq!(lost(&written), [expected], "{text}");
        let again = reading(&written.text).document.policy;
        assert_eq!(again.network.mode.value(), NetworkMode::DenyAll, "{text}");
        assert_eq!(again.network.allow.entries(), [], "{text}");
    }
}

#[test]
fn an_address_that_is_refused_as_part_of_a_network_is_not_allowed_by_itself() {
    let text = "version: 1\n\
        network: { mode: allow-list, allow: [10.1.2.3, 192.0.2.1], deny: [10.0.0.0/8] }\n";
    let settings: Json = serde_json::from_str(&written(&native(text)).text).unwrap();
    assert_eq!(settings["network"]["allowedDomains"], serde_json::json!(["192.0.2.1"]));
    assert_eq!(settings["network"]["deniedResolvedAddresses"], serde_json::json!(["10.0.0.0/8"]));
}

#[test]
fn a_question_about_all_that_no_list_knows_takes_nothing_back() {
    for asked in ["'*'", "'*:443'"] {
        let text = format!(
            "version: 1\nnetwork: {{ mode: allow-list, allow: [a.example.com, b.example.com], \
             deny: [b.example.com], ask: [{asked}] }}\n"
        );
        let written = written(&native(&text));
        let settings: Json = serde_json::from_str(&written.text).unwrap();
        let (allowed, denied) = (["a.example.com", "b.example.com"], ["b.example.com"]);
        assert_eq!(settings["network"]["allowedDomains"], serde_json::json!(allowed));
        assert_eq!(settings["network"]["deniedDomains"], serde_json::json!(denied));
        assert_eq!(lost(&written), [format!("network.ask: {}", asked.trim_matches('\''))]);
    }
}

#[test]
fn a_host_that_is_asked_about_is_refused_where_nobody_is_asked() {
    let text = "version: 1\n\
        network: { mode: allow-list, allow: ['*.example.com', ask.test], \
                   ask: [api.example.com, ask.test] }\n";
    let written = written(&native(text));
    let settings: Json = serde_json::from_str(&written.text).unwrap();
    let (allowed, denied) = (["*.example.com"], ["api.example.com", "ask.test"]);
    assert_eq!(settings["network"]["allowedDomains"], serde_json::json!(allowed));
    assert_eq!(settings["network"]["deniedDomains"], serde_json::json!(denied));
    assert_eq!(lost(&written), ["network.ask: api.example.com, ask.test"]);
}

const HOSTS: &[&str] = &[
    "example.com",
    "*.example.com",
    ".example.org",
    "api.example.net:8443",
    ".tree.test:443",
    "192.0.2.1",
    "[2001:db8::1]:443",
    "localhost",
    "xn--bcher-kva.example",
];
const DENIED: &[&str] = &["*", "*:22", "bad.example.com", "10.0.0.0/8", "[fd00::/8]", "[::1]"];
const FOLDERS: &[&str] = &[".", "/", "~/out", "/srv/a b", "/srv/\\[id]", "/srv/back\\\\slash"];
const PATTERNS: &[&str] =
    &["~/.ssh", "**/*.pem", "/srv/v?/[a-c]x", "/srv/\\*", "/etc/\\~x", ".env", "/opt/*/keys"];
const SOCKETS: &[&str] = &["/run/a.sock", "/", "/run/user/*/bus"];

fn some(of: &'static [&'static str]) -> impl Strategy<Value = Vec<&'static str>> {
    subsequence(of, 0..=of.len())
}

/// Returns values in srt's words: a tree of names is two patterns there.
fn set<T: ToString>(values: impl Iterator<Item = T>) -> BTreeSet<String> {
    let halves = |text: String| match text.strip_prefix('.') {
        Some(name) => vec![name.to_owned(), format!("*{text}")],
        None => vec![text],
    };
    values.flat_map(|value| halves(value.to_string())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_policy_comes_back_from_srt_whole(
        (allow, deny, unix) in (some(HOSTS), some(DENIED), some(SOCKETS)),
        (write, hide, protect, open) in
            (some(FOLDERS), some(PATTERNS), some(PATTERNS), some(PATTERNS)),
        (strict, binding) in (any::<bool>(), any::<bool>()),
    ) {
        let mode = if allow.is_empty() { "deny-all" } else { "allow-list" };
        let text = serde_json::json!({
            "version": 1,
            "files": { "write": write, "hide": hide, "protect": protect, "allow_read": open },
            "network": {
                "mode": mode, "allow": allow, "deny": deny, "unix": unix,
                "strict": strict, "local_binding": binding,
            },
        });
        let policy = native(&text.to_string());
        let written = written(&policy);
        let again = reading(&written.text).document.policy;

        prop_assert_eq!(set(policy.files.write.values()), set(again.files.write.values()));
        prop_assert_eq!(set(policy.files.hide.values()), set(again.files.hide.values()));
        prop_assert_eq!(set(policy.files.protect.values()), set(again.files.protect.values()));
        prop_assert_eq!(set(policy.files.allow_read.values()), set(again.files.allow_read.values()));
        prop_assert_eq!(set(policy.network.allow.values()), set(again.network.allow.values()));
        prop_assert_eq!(set(policy.network.deny.values()), set(again.network.deny.values()));
        prop_assert_eq!(set(policy.network.unix.values()), set(again.network.unix.values()));
        prop_assert_eq!(policy.network.mode.value(), again.network.mode.value());
        // Unset reads as strict; srt's own default is the other one, so compare what was said.
        prop_assert_eq!(strict, again.network.strict.sourced().is_some_and(|on| on.value.0));
        prop_assert_eq!(binding, again.network.local_binding.value().0);
        let only_wildcards = written.lost.iter().all(|lost| lost.why.contains("it is written"));
        prop_assert!(only_wildcards, "{:?}", written.lost);
    }
}
