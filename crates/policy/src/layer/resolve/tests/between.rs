//! Files of several systems in one layer.

use proptest::prelude::*;

use super::properties::{answers, any_document};
use super::*;
use crate::dialect;
use crate::key::{Field, Row};
use crate::policy::{Reach, Reached};

/// Works out what files of the user's say, each in its dialect.
fn beside(files: &[(&str, &str)]) -> Policy {
    beside_for(files, &Choice::default())
}

fn beside_for(files: &[(&str, &str)], choice: &Choice) -> Policy {
    let mut stack = Stack::new(&anchors()).unwrap();
    for (dialect, text) in files {
        let source = Source::new("x.yaml", text);
        let document = Document::parse(&source, Layer::User, &anchors()).unwrap();
        stack.push(Layer::User, Document { dialect: dialect::named(dialect), ..document });
    }
    resolve(&stack, choice, Trust::NotTrusted).unwrap().policy
}

/// Returns every value that a person is shown, without where it came from.
fn values(policy: &Policy) -> Vec<(String, Vec<serde_json::Value>)> {
    let mut rows = Vec::new();
    policy.rows("", &mut rows);
    let value = |row: Row| (row.key, row.values.into_iter().map(|v| v.value).collect());
    rows.into_iter().map(value).collect()
}

#[test]
fn an_option_beside_lists_of_another_system_opens_nothing_and_closes() {
    let listed = "files: { write: [.] }\nnetwork: { mode: allow-list, allow: [a.test] }";
    let with = |option: &str, dialect: &str, text: &str| {
        let mut stack = Stack::new(&anchors()).unwrap();
        for (dialect, text) in [(dialect::named(dialect), text), (None, option)] {
            let source = Source::new("x.yaml", text);
            let document = Document::parse(&source, Layer::CommandLine, &anchors()).unwrap();
            stack.push(Layer::CommandLine, Document { dialect, ..document });
        }
        let policy = resolve(&stack, &Choice::default(), Trust::NotTrusted).unwrap().policy;
        (writes(&policy), policy.network.mode.value())
    };
    let inside = || vec!["/proj/app".to_owned()];
    use NetworkMode::{AllowList, DenyAll, Disabled};
    #[rustfmt::skip]
    let cases = [
        ("profile: workspace-write",            "srt",     listed,              inside(), AllowList),
        ("profile: workspace-write-no-network", "srt",     listed,              inside(), DenyAll),
        ("profile: readonly",                   "srt",     listed,              vec![],   DenyAll),
        ("profile: readonly",                   "native",  listed,              inside(), AllowList),
        // A profile of another system's is replaced, with what it may write.
        ("profile: workspace-write",            "agentao", "profile: readonly", inside(), Disabled),
        ("profile: readonly",                   "agentao", "profile: workspace-write\nfiles: { write: [/data] }", vec![], DenyAll),
    ];
    for (option, dialect, text, write, mode) in cases {
        assert_eq!(with(option, dialect, text), (write, mode), "{option} beside {dialect}");
    }
}

#[test]
fn of_two_systems_that_speak_with_one_voice_the_stricter_holds() {
    let (tight, offline, loose) =
        ("profile: readonly", "profile: workspace-write-no-network", "profile: workspace-write");
    let moved = "profile: workspace-write\nfiles: { write: [/data] }";
    let listed = "files: { write: [.] }\nnetwork: { mode: allow-list, allow: [a.test, b.test] }";
    let other = "files: { write: [., /data] }\nnetwork: { mode: allow-list, allow: [b.test] }";
    use NetworkMode::{AllowList, DenyAll, Disabled};
    #[rustfmt::skip]
    let cases = [
        // earlier                later                   writes                 mode        profile
        (("native", tight),       ("agentao", loose),     vec![],                DenyAll,    "readonly"),
        (("agentao", tight),      ("native", loose),      vec![],                DenyAll,    "readonly"),
        (("agentao", loose),      ("native", tight),      vec![],                DenyAll,    "readonly"),
        (("native", loose),       ("agentao", offline),   vec!["/proj/app"],     DenyAll,    "workspace-write-no-network"),
        (("agentao", offline),    ("native", loose),      vec!["/proj/app"],     DenyAll,    "workspace-write-no-network"),
        (("native", tight),       ("agentao", moved),     vec![],                DenyAll,    "readonly"),
        // Within one system the later file counts.
        (("agentao", tight),      ("agentao", loose),     vec!["/proj/app"],     Disabled,   "workspace-write"),
        (("native", tight),       ("native", loose),      vec!["/proj/app"],     Disabled,   "workspace-write"),
        // A list of ours replaces what our own profiles supply, not what another system says.
        (("agentao", tight),      ("native", moved),      vec![],                DenyAll,    "readonly"),
        (("native", moved),       ("agentao", tight),     vec![],                DenyAll,    "readonly"),
        // Systems that say it in lists.
        (("agentao", tight),      ("srt", listed),        vec![],                DenyAll,    "readonly"),
        (("srt", listed),         ("agentao", loose),     vec!["/proj/app"],     AllowList,  "workspace-write-no-network"),
        (("srt", listed),         ("bloom", other),       vec!["/proj/app"],     AllowList,  "workspace-write-no-network"),
    ];
    for (earlier, later, write, mode, profile) in cases {
        let policy = beside(&[earlier, later]);
        let mut found = writes(&policy);
        found.dedup(); // both systems say it
        assert_eq!(found, write, "{earlier:?} {later:?}");
        assert_eq!(policy.network.mode.value(), mode, "{earlier:?} {later:?}");
        assert_eq!(policy.profile.value().to_string(), profile, "{earlier:?} {later:?}");
    }
    let both = beside(&[("srt", listed), ("bloom", other)]);
    let mut allow: Vec<String> = both.network.allow.values().map(ToString::to_string).collect();
    allow.dedup();
    assert_eq!(allow, ["b.test"], "what both allow");
}

#[test]
fn the_stricter_holds_for_every_key_in_either_order() {
    #[rustfmt::skip]
    let cases = [
        // wide                                       strict                                      key                    in force
        ("preset: confined",                          "preset: runner",                           "preset",              "runner"),
        ("require: external",                         "require: full",                            "require",             "full"),
        ("tools: { enabled: false }",                 "tools: { enabled: true }",                 "tools.enabled",       "true"),
        ("tools: { strict: false }",                  "tools: { strict: true }",                  "tools.strict",        "true"),
        ("tools: { allow_parent: 2 }",                "tools: { allow_parent: 1 }",               "tools.allow_parent",  "1"),
        ("tools: { exclude: [a, b] }",                "tools: { exclude: [b] }",                  "tools.exclude",       "b"),
        ("tools: { roots: [/a] }",                    "tools: { roots: [/a/b] }",                 "tools.roots",         "/a/b"),
        ("limits: { timeout: none }",                 "limits: { timeout: 5s }",                  "limits.timeout",      "5s"),
        ("limits: { processes: 9 }",                  "limits: { processes: 3 }",                 "limits.processes",    "3"),
        ("network: { strict: false }",                "network: { strict: true }",                "network.strict",      "true"),
        ("network: { mode: disabled }",               "network: { mode: monitor }",               "network.mode",        "monitor"),
        ("network: { budget: { upload: none } }",     "network: { budget: { upload: 1KiB } }",    "network.budget.upload", "1KiB"),
        ("network: { local_binding: true }",          "network: { local_binding: false }",        "network.local_binding", "false"),
        ("commands: { shell: judged }",               "commands: { shell: never }",               "commands.shell",      "never"),
        ("env: { set: { T: x } }",                    "env: { set: { T: '' } }",                  "env.set",             r#"{"T":""}"#),
        ("files: { unhide: ['~/.ssh', '~/.aws'] }",   "files: { unhide: ['~/.aws'] }",            "files.unhide",        "/home/dev/.aws"),
        ("confirm: { timeout: none }",                "confirm: { timeout: 1s }",                 "confirm.timeout",     "1s"),
    ];
    let shown = |policy: &Policy, key: &str| {
        let found = values(policy).into_iter().find(|(name, _)| name == key).unwrap().1;
        found.iter().map(crate::key::bare).collect::<Vec<_>>().join(" ")
    };
    for (wide, strict, key, expected) in cases {
        for dialects in [["native", "bloom"], ["srt", "proxy"], ["claude", "native"]] {
            let [one, other] = dialects;
            assert_eq!(shown(&beside(&[(one, strict)]), key), expected, "{key} alone");
            for files in [[(one, wide), (other, strict)], [(other, strict), (one, wide)]] {
                assert_eq!(shown(&beside(&files), key), expected, "{files:?}");
            }
        }
    }
    // Within one system the later file counts: the proxy's variables over its file.
    let on = ["tools: { enabled: true }", "tools: { enabled: false }"].map(|text| ("proxy", text));
    assert_eq!(shown(&beside(&on), "tools.enabled"), "false");
    let pass = beside(&[("native", "env: { pass: [A, B] }"), ("srt", "env: { pass: [B] }")]);
    let names: Vec<String> = pass.env.pass.values().map(ToString::to_string).collect();
    assert!(names.contains(&"B".to_owned()) && !names.contains(&"A".to_owned()), "{names:?}");
}

#[test]
fn what_one_system_says_for_an_agent_is_no_wider_than_another_says_for_all() {
    let agents = "agents: { codex: { network: { mode: disabled }, limits: { timeout: none } } }";
    let all = "network: { mode: deny-all }\nlimits: { timeout: 5s }";
    let codex = Choice { agent: Some("codex".into()), task: None };
    for files in [[("bloom", agents), ("native", all)], [("native", all), ("bloom", agents)]] {
        let policy = beside_for(&files, &codex);
        assert_eq!(policy.network.mode.value(), NetworkMode::DenyAll);
        assert_eq!(policy.limits.timeout.value().0.unwrap().to_string(), "5s");
    }
    let alone = beside_for(&[("bloom", agents)], &codex);
    assert_eq!(alone.network.mode.value(), NetworkMode::Disabled, "nobody says otherwise");
    // And the other way round: what one says for all is no wider than another says for the agent.
    let agents = "agents: { codex: { files: { write: [.] }, network: { mode: deny-all } } }";
    let all = "files: { write: [/] }\nnetwork: { mode: disabled }";
    for files in [[("bloom", agents), ("claude", all)], [("claude", all), ("bloom", agents)]] {
        let policy = beside_for(&files, &codex);
        assert_eq!(policy.network.mode.value(), NetworkMode::DenyAll);
        let mut found = writes(&policy);
        found.dedup();
        assert_eq!(found, ["/proj/app"]);
    }
}

#[test]
fn what_a_whole_policy_does_not_open_no_other_system_opens_beside_it() {
    let open = "network: { unix: [/run/x], host_ports: [80], publish: [81], local_binding: true }";
    let whole = "files: { write: [.] }\nnetwork: { mode: deny-all }";
    for files in [[("claude", open), ("srt", whole)], [("srt", whole), ("claude", open)]] {
        let Policy { network, .. } = beside(&files);
        assert_eq!(network.unix.values().count(), 0, "{files:?}");
        assert_eq!(network.host_ports.values().count() + network.publish.values().count(), 0);
        assert!(!network.local_binding.value().0);
    }
    let Policy { network, .. } = beside(&[("claude", open), ("bloom", whole)]);
    assert_eq!(network.unix.values().count(), 1, "Bloom does not speak of sockets");
    // Where one opens every host, the other's list holds.
    let (any, some) =
        ("network: { mode: disabled }", "network: { mode: allow-list, allow: [a.test] }");
    for files in [[("bloom", any), ("srt", some)], [("srt", some), ("bloom", any)]] {
        let Policy { network, .. } = beside(&files);
        assert_eq!(network.mode.value(), NetworkMode::AllowList);
        assert_eq!(network.allow.values().count(), 1, "{files:?}");
    }
}

#[test]
fn a_host_that_one_system_asks_about_is_not_reached_unasked() {
    let open = "network: { mode: allow-list, allow: [b.a.test, c.test] }";
    for asks in [
        "network: { mode: allow-list, allow: [b.a.test, c.test], ask: [b.a.test] }",
        "network: { mode: allow-list, allow: [b.a.test, c.test], ask: ['*.a.test'] }",
        "network: { mode: allow-list, allow: [b.a.test, c.test], ask: ['*.a.test:80'] }",
    ] {
        for files in [[("srt", open), ("bloom", asks)], [("bloom", asks), ("srt", open)]] {
            let Policy { network, .. } = beside(&files);
            let host = "b.a.test".parse().unwrap();
            let open = network.allow.values().any(|entry| entry.matches(&host, 80));
            let asked = network.ask.values().any(|entry| entry.matches(&host, 80));
            assert!(!open || asked, "{files:?}");
            let other = "c.test".parse().unwrap();
            assert!(network.allow.values().any(|entry| entry.matches(&other, 443)), "{files:?}");
        }
    }
}

#[test]
fn a_host_that_a_layer_allows_is_no_question_to_another_that_asks_about_the_rest() {
    let open = "network: { mode: allow-list, allow: [a.test] }";
    let asks = "network: { mode: allow-list, ask: ['*'], deny: [b.test] }";
    for layers in
        [[(Layer::System, open), (Layer::User, asks)], [(Layer::System, asks), (Layer::User, open)]]
    {
        let policy = resolved(&layers, Trust::NotTrusted).policy;
        let reach = Reach::new(&policy.network);
        let judged = |host: &str| reach.judge(&host.parse().unwrap(), 443);
        assert!(matches!(judged("a.test"), Reached::Allowed(_)), "{layers:?}");
        assert!(matches!(judged("b.test"), Reached::Denied(_)), "{layers:?}");
        assert!(matches!(judged("c.test"), Reached::Asked(_)), "{layers:?}");
        assert_eq!(judged("192.0.2.1"), Reached::Unlisted, "{layers:?}");
    }
    let project = [(Layer::User, asks), (Layer::Project, open)];
    let reach = Reach::new(&resolved(&project, Trust::NotTrusted).policy.network);
    assert!(matches!(reach.judge(&"a.test".parse().unwrap(), 443), Reached::Asked(_)));
    // What a project has a person asked about is asked about, though the user allows it.
    let project = [(Layer::User, open), (Layer::Project, "network: { ask: [a.test] }")];
    let reach = Reach::new(&resolved(&project, Trust::NotTrusted).policy.network);
    assert!(matches!(reach.judge(&"a.test".parse().unwrap(), 443), Reached::Asked(_)));
}

#[test]
fn what_one_system_lists_is_known_to_another_that_asks_about_all_it_does_not_know() {
    let lists = "network: { mode: allow-list, allow: [a.test, b.test], deny: [b.test] }";
    let asks = "network: { mode: allow-list, allow: [c.test], ask: ['*'] }";
    for files in [[("native", lists), ("bloom", asks)], [("bloom", asks), ("native", lists)]] {
        let reach = Reach::new(&beside(&files).network);
        let judged = |host: &str| reach.judge(&host.parse().unwrap(), 443);
        assert!(matches!(judged("a.test"), Reached::Allowed(_)), "{files:?}");
        assert!(matches!(judged("b.test"), Reached::Denied(_)), "{files:?}");
        // The first refuses what it does not list, and the second does not open it alone.
        assert_eq!(judged("c.test"), Reached::Unlisted, "{files:?}");
        assert_eq!(judged("d.test"), Reached::Unlisted, "{files:?}");
    }
    let both = "network: { mode: allow-list, allow: [a.test], ask: ['*'] }";
    let reach = Reach::new(&beside(&[("native", both), ("bloom", asks)]).network);
    let judged = |host: &str| reach.judge(&host.parse().unwrap(), 443);
    assert!(matches!(judged("a.test"), Reached::Allowed(_)));
    assert!(matches!(judged("c.test"), Reached::Allowed(_)));
    assert!(matches!(judged("d.test"), Reached::Asked(_)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_order_of_systems_makes_no_difference(
        a in any_document(), b in any_document(), c in any_document(), agent in any::<bool>(),
    ) {
        let choice = Choice { agent: agent.then(|| "codex".into()), task: None };
        let [a, b, c] = [("native", &*a), ("srt", &*b), ("agentao", &*c)];
        let one = beside_for(&[a, b, c], &choice);
        for order in [[c, b, a], [b, c, a], [a, c, b]] {
            let other = beside_for(&order, &choice);
            prop_assert_eq!(values(&one), values(&other));
            prop_assert_eq!(answers(&one), answers(&other));
        }
    }
}

#[test]
fn rules_beside_a_switch_that_is_off_hold_and_confine_nothing() {
    let off = || {
        let origin = Origin::of(Layer::User);
        [(Scope::Base, Sourced { value: false, origin })].into()
    };
    let rules = "commands: { rules: [{ tool: x, action: deny }] }";
    let parse = |text: &str| {
        Document::parse(&Source::new("x.yaml", text), Layer::User, &anchors()).unwrap()
    };
    let with = |dialect| {
        let mut stack = Stack::new(&anchors()).unwrap();
        stack.push(
            Layer::User,
            Document { enabled: off(), dialect: dialect::named("agentao"), ..parse("{}") },
        );
        stack.push(Layer::User, Document { dialect: dialect::named(dialect), ..parse(rules) });
        resolve(&stack, &Choice::default(), Trust::NotTrusted).unwrap()
    };
    let Resolved { policy, unconfined, .. } = with("agentao");
    assert!(unconfined.is_some(), "`permissions.json` builds no walls");
    assert_eq!(policy.require.value(), Require::None);
    assert!(policy.commands.rules.lists().iter().any(|list| !list.rules.is_empty()));
    assert!(with("native").unconfined.is_none(), "a file of ours does");
}
