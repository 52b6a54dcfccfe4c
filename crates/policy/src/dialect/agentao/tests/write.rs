//! What `sandbox.json` can say comes back, and what it cannot is listed.

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::super::write::write;
use super::*;
use crate::dialect::Written;
use crate::policy::Rule;

fn written(world: &World, policy: &Policy) -> Written {
    world.ask(|around| write(policy, around))
}

/// Works out a native policy.
fn native(text: &str) -> Policy {
    let mut stack = Stack::new(&anchors()).unwrap();
    let source = Source::new("policy.yaml", text);
    stack.push(Layer::User, Document::parse(&source, Layer::User, &anchors()).unwrap());
    resolve(&stack, &Choice::default(), Trust::NotTrusted).unwrap().policy
}

fn rules(policy: &Policy) -> Vec<Rule> {
    let lists = policy.commands.rules.lists().iter();
    lists.flat_map(|list| list.rules.iter().map(|rule| rule.value.clone())).collect()
}

#[test]
fn what_the_format_cannot_say_is_listed_and_never_wider() {
    #[rustfmt::skip]
    let cases = [
        // native policy                                             profile                       root             lost
        ("profile: readonly",                                        "readonly",                   json!(null),     ""),
        ("profile: workspace-write",                                 "workspace-write",            json!(null),     ""),
        ("files: { write: [/data] }",                                "workspace-write-no-network", json!("/data"),  ""),
        ("files: { write: [/data, .] }",                             "workspace-write-no-network", json!(null),     "files.write"),
        ("files: { write: [] }\nnetwork: { mode: disabled }",        "readonly",                   json!(null),     "network.mode"),
        ("network: { mode: monitor }",                               "workspace-write-no-network", json!(null),     "network.mode"),
        ("network: { mode: allow-list, allow: [a.test] }",           "workspace-write-no-network", json!(null),     "network.allow"),
        ("network: { deny: [a.test] }",                              "workspace-write-no-network", json!(null),     "network.deny"),
        ("files: { hide: [secrets] }",                               "workspace-write-no-network", json!(null),     "files.hide"),
        ("commands: { deny: [git] }",                                "workspace-write-no-network", json!(null),     "commands.deny"),
        ("commands: { rules: [{ tool: x, action: deny }] }",         "workspace-write-no-network", json!(null),     "commands.rules"),
        ("commands: { rules: [{ tool: x.*, profile: readonly }] }",  "workspace-write-no-network", json!(null),     "commands.rules"),
        ("require: none",                                            "workspace-write-no-network", json!(null),     "require"),
        ("profile: /gone/my.yaml\nfiles: { write: [] }",             "readonly",                   json!(null),     "profile"),
    ];
    for (text, profile, root, lost) in cases {
        let Written { text: out, lost: left } = written(&World::default(), &native(text));
        let json: Json = serde_json::from_str(&out).unwrap();
        assert_eq!(json["enabled"], json!(true), "{text}");
        assert_eq!(json["default_profile"], json!(profile), "{text}");
        assert_eq!(json["workspace_root"], root, "{text}");
        assert!(lost.is_empty() || left.iter().any(|lost_| lost_.key == lost), "{text}: {left:?}");
        let world = World::default().with(USER, &out);
        assert_eq!(world.notes(), [""; 0], "{text}: it reads back");
    }
}

#[test]
fn a_tool_gets_the_strictest_profile_that_any_of_its_calls_gets() {
    let shell = |profile: &str| json!([{ "tool": "run_shell_command", "profile": profile }]);
    let args = "args: { command: '^git ' }";
    let sh = "tool: run_shell_command";
    let (loose, offline, tight) = ("workspace-write", "workspace-write-no-network", "readonly");
    #[rustfmt::skip]
    let cases = [
        // rules                                                                              written           because
        (format!("{{ {sh}, profile: {loose} }}"),                                             shell(loose),     "nothing is distinguished"),
        (format!("{{ {sh}, {args}, profile: {loose} }}"),                                     json!([]),        "Agentao would open the network to every call"),
        (format!("{{ {sh}, {args}, profile: {tight} }}"),                                     shell(tight),     "git was to write nothing"),
        (format!("{{ {sh}, {args}, profile: {tight} }}, {{ {sh}, profile: {loose} }}"),       shell(tight),     "the second would open what the first shut"),
        (format!("{{ {sh}, {args}, profile: {loose} }}, {{ {sh}, profile: {tight} }}"),       shell(tight),     "the first would open what the second shuts"),
        (format!("{{ {sh}, profile: {loose} }}, {{ {sh}, profile: {tight} }}"),               shell(loose),     "the second is never reached"),
        (format!("{{ tool: 'run_.*', profile: {tight} }}"),                                   shell(tight),     "an expression means the shell too"),
        (format!("{{ tool: '*', profile: {tight} }}, {{ {sh}, profile: {loose} }}"),          shell(tight),     "the star comes first"),
        (format!("{{ tool: 'run_.*', profile: {loose} }}"),                                   shell(loose),     "every call of it gets that"),
        (format!("{{ tool: 'x.*', profile: {loose} }}"),                                      json!([]),        "not the shell"),
        (format!("{{ {sh}, {args}, profile: {offline} }}"),                                   json!([]),        "the default says the same"),
        (format!("{{ {sh}, {args}, profile: /p/a.sb }}"),                                     shell(tight),     "files cannot be compared"),
    ];
    for (text, rules, because) in cases {
        let policy = native(&format!("commands: {{ rules: [{text}] }}"));
        let Written { text: out, lost } = written(&World::default().profile("/p/a.sb"), &policy);
        let out: Json = serde_json::from_str(&out).unwrap();
        assert_eq!(out["rules"], rules, "{text}: {because}");
        assert!(out["rules"].as_array().unwrap().iter().all(|rule| rule.get("args").is_none()));
        let listed = lost.iter().filter(|lost| lost.key == "commands.rules").count();
        let exact = text == format!("{{ {sh}, profile: {loose} }}")
            || text.starts_with(&format!("{{ {sh}, profile"));
        assert_eq!(listed == 0, exact, "{text}: {lost:?}");
    }
}

#[test]
fn a_rule_about_a_file_that_cannot_be_compared_says_that_the_text_may_be_wider() {
    let text = "commands: { rules: [{ tool: run_shell_command, args: { command: x }, profile: /p/a.sb }] }";
    let Written { lost, .. } = written(&World::default().profile("/p/a.sb"), &native(text));
    assert!(lost.iter().any(|lost| lost.key == "commands.rules" && lost.why.contains("wider")));
}

#[test]
fn shared_folders_for_temporary_files_are_listed() {
    let temp = |lost: &[crate::dialect::Lost]| {
        lost.iter().any(|lost| lost.key == "files.write" && lost.value.contains("/tmp"))
    };
    // Every built-in profile writes them.
    assert!(temp(&written(&World::default(), &native("profile: readonly")).lost));
    let world = World::default().profile("/p/a.sb");
    assert!(!temp(&written(&world, &native("profile: /p/a.sb")).lost), "a file says itself");
    let policy = native("files: { write: [., /tmp, /tmp/own] }");
    for name in ["srt", "bloom", "seatbelt"] {
        let write = crate::dialect::named(name).unwrap().write.unwrap();
        let lost = world.ask(|around| write(&policy, around)).lost;
        let values: Vec<_> = lost
            .iter()
            .filter(|lost| lost.why.contains("share"))
            .map(|lost| &*lost.value)
            .collect();
        assert_eq!(values, ["/tmp"], "{name}");
        let lost = world.ask(|around| write(&native("files: { write: [/tmp/own] }"), around)).lost;
        assert!(!lost.iter().any(|lost| lost.why.contains("share")), "{name}: a folder in it");
    }
}

#[test]
fn a_list_that_may_only_narrow_is_not_written_as_one_that_decides() {
    let project = r#"{"rules":[{"tool":"x","profile":"workspace-write"}]}"#;
    let world = world(r#"{"enabled":true}"#, project);
    let Written { text, lost } = written(&world, &world.policy(Trust::NotTrusted));
    let json: Json = serde_json::from_str(&text).unwrap();
    assert_eq!(json["rules"], json!([]));
    assert!(lost.iter().any(|lost| lost.key == "commands.rules"));
}

/// A `sandbox.json` that is on, from a small alphabet.
fn any_sandbox() -> impl Strategy<Value = Json> {
    let profile = prop::sample::select(vec![
        json!(null),
        json!(""),
        json!("readonly"),
        json!("workspace-write"),
        json!("workspace-write-no-network"),
        json!("strict"),
        json!("strict.sb"),
    ]);
    let tool = prop::sample::select(vec!["run_shell_command", "a.b*", "x", "(", "\\", "*", "é{"]);
    let args = prop::option::of(prop::sample::select(vec!["^git ", "rm\\s", "(?i)x|y"]));
    let rule = (tool, profile.clone(), args).prop_map(|(tool, profile, args)| {
        let mut rule = json!({ "tool": tool, "profile": profile });
        if let Some(args) = args {
            rule["args"] = json!({ "command": args });
        }
        rule
    });
    let root = prop::sample::select(vec![
        json!(null),
        json!("/data"),
        json!("."),
        json!("~/space"),
        json!("/proj/app"),
        json!("/odd [1]*?/~"),
    ]);
    let key = |value: BoxedStrategy<Json>| prop::option::weighted(0.7, value);
    (
        key(profile.boxed()),
        key(prop::collection::vec(rule, 0..4).prop_map(Json::Array).boxed()),
        key(root.boxed()),
    )
        .prop_map(|(profile, rules, root)| {
            let mut json = json!({ "enabled": true, "profiles_dir": "profiles" });
            for (key, value) in
                [("default_profile", profile), ("rules", rules), ("workspace_root", root)]
            {
                if let Some(value) = value {
                    json[key] = value;
                }
            }
            json
        })
}

proptest! {
    #[test]
    fn agentao_to_native_to_agentao_loses_nothing(sandbox in any_sandbox()) {
        let before = world(&sandbox.to_string(), "");
        let policy = before.policy(Trust::NotTrusted);
        let Written { text, lost } = written(&before, &policy);
        let after = world(&text, "");
        let again = after.policy(Trust::NotTrusted);
        prop_assert_eq!(again.profile.value(), policy.profile.value(), "{}", text);
        prop_assert_eq!(writes(&again), writes(&policy), "{}", text);
        prop_assert_eq!(again.network.mode.value(), policy.network.mode.value());
        // Of a tool without arguments the first rule is all there is to say.
        let first = |rules: Vec<Rule>| {
            let mut kept: Vec<Rule> = Vec::new();
            for rule in rules {
                if !kept.iter().any(|known| known.tool == rule.tool) {
                    kept.push(rule);
                }
            }
            kept
        };
        if rules(&policy).iter().all(|rule| rule.args.is_empty()) {
            prop_assert_eq!(rules(&again), first(rules(&policy)), "{}", text);
            prop_assert!(!lost.iter().any(|part| part.key == "commands.rules"), "{:?}", lost);
            // Written once more, it is the same text.
            prop_assert_eq!(&written(&after, &again).text, &text);
            let root = |policy: &Policy| policy.root.sourced().map(|root| root.value.path())
                .filter(|root| root != Path::new("/proj/app"));
            prop_assert_eq!(root(&again), root(&policy), "{}", text);
        }
        for part in lost {
            let carried = ["profile", "files.write", "network.mode"].contains(&part.key.as_str());
            prop_assert!(!carried || part.value.contains("/tmp"), "{:?}", part);
        }
    }

    #[test]
    fn no_text_makes_the_reader_stop(text in ".{0,200}", keys in any_sandbox()) {
        let cut = keys.to_string();
        for text in [text.as_str(), cut.get(..cut.len() / 2).unwrap_or_default()] {
            for name in [USER, PROJECT, "/home/dev/.agentao/permissions.json"] {
                drop(World::default().with(name, text).readings());
            }
        }
    }
}
