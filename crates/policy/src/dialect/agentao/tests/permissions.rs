//! What `permissions.json` means.

use super::*;
use crate::name::{Found, Host};
use crate::policy::{Action, Rule};

const USERS: &str = "/home/dev/.agentao/permissions.json";
const PROJECTS: &str = "/proj/app/.agentao/permissions.json";

fn permissions(text: &str) -> World {
    World::default().with(USERS, text)
}

fn rules(text: &str) -> Vec<Rule> {
    let policy = permissions(text).policy(Trust::NotTrusted);
    let lists = policy.commands.rules.lists();
    lists.iter().flat_map(|list| list.rules.iter().map(|rule| rule.value.clone())).collect()
}

fn one(rule: &str) -> Rule {
    let mut found = rules(&format!(r#"{{"rules":[{rule}]}}"#));
    assert_eq!(found.len(), 1, "{rule}");
    found.remove(0)
}

#[test]
fn a070_only_the_users_rules_count_and_the_projects_are_named() {
    let allow = r#"{"rules":[{"tool":"*","action":"allow"}]}"#;
    let deny = r#"{"rules":[{"tool":"x","action":"deny"}]}"#;
    let both = World::default().with(USERS, deny).with(PROJECTS, allow);
    for trust in [Trust::NotTrusted, Trust::Trusted] {
        let policy = both.policy(trust);
        let lists = policy.commands.rules.lists();
        let found: Vec<&Rule> =
            lists.iter().flat_map(|list| list.rules.iter().map(|rule| &rule.value)).collect();
        assert_eq!(found.len(), 1, "{trust:?}");
        assert_eq!(found[0].action, Some(Action::Deny), "{trust:?}");
    }
    let readings = both.readings().unwrap();
    let note = &readings[1].notes[0];
    assert_eq!(note.code(), "project-permissions");
    assert!(note.message().contains(PROJECTS), "{}", note.message());
    // One that is broken is not looked at either.
    assert_eq!(World::default().with(PROJECTS, "{").notes(), ["project-permissions"]);
    // A person who names the file speaks for it.
    let source = Source::new(PROJECTS, deny);
    let inputs = [Input { source: &source, layer: Layer::CommandLine }];
    let named = both.ask(|around| read(&inputs, around)).unwrap();
    assert_eq!(named[0].document.policy.commands.rules.lists()[0].rules.len(), 1);
}

#[test]
fn a_tool_fills_its_expression_and_an_argument_is_searched() {
    let rule = one(r#"{"tool":"write_.*|replace","args":{"path":"\\.env$"},"action":"deny"}"#);
    assert_eq!(rule.tool.matches("write_file"), Found::Yes);
    assert_eq!(rule.tool.matches("my_replace"), Found::No);
    assert_eq!(rule.args["path"].search("a/.env"), Found::Yes);
    assert_eq!(rule.args["path"].search("a/.envrc"), Found::No);
    let every = one(r#"{"action":"deny"}"#);
    assert_eq!(every.tool.matches("anything"), Found::Yes, "no tool means every tool");
    // What is no expression is compared as it is, with a warning.
    let plain = r#"{"tool":"a(","args":{"command":"x["},"action":"deny"}"#;
    let rule = one(plain);
    assert_eq!((rule.tool.matches("a("), rule.tool.matches("a")), (Found::Yes, Found::No));
    assert_eq!(rule.args["command"].search("x["), Found::Yes);
    assert_eq!(rule.args["command"].search("xx["), Found::No, "equal, not contained");
    assert_eq!(rule.args["command"].search("x[\n"), Found::No);
    assert_eq!(permissions(&format!(r#"{{"rules":[{plain}]}}"#)).notes(), ["regex", "regex"]);
}

#[test]
fn an_action_is_read_in_any_case_and_what_is_unknown_asks() {
    #[rustfmt::skip]
    let cases: [(&str, Action, &[&str]); 7] = [
        // rule                              action          notes
        (r#"{"action":"allow"}"#,            Action::Allow,  &[]),
        (r#"{"action":"Allow"}"#,            Action::Allow,  &[]),
        (r#"{"action":"DENY"}"#,             Action::Deny,   &[]),
        (r#"{"tool":"x"}"#,                  Action::Ask,    &["no-action"]),
        (r#"{"action":""}"#,                 Action::Ask,    &["unknown-word"]),
        (r#"{"action":"allowed"}"#,          Action::Ask,    &["unknown-word"]),
        (r#"{"action":"allow "}"#,           Action::Ask,    &["unknown-word"]),
    ];
    for (rule, action, notes) in cases {
        assert_eq!(one(rule).action, Some(action), "{rule}");
        assert_eq!(permissions(&format!(r#"{{"rules":[{rule}]}}"#)).notes(), notes, "{rule}");
    }
}

#[test]
fn a_glob_for_a_tool_is_warned_of_and_denies_what_it_means() {
    let rule = |action: &str| format!(r#"{{"tool":"mcp_github_*","action":"{action}"}}"#);
    assert_eq!(one(&rule("deny")).tool.matches("mcp_github_push"), Found::Yes);
    assert_eq!(one(&rule("deny")).tool.matches("mcp_gitlab_push"), Found::No);
    for action in ["allow", "ask"] {
        assert_eq!(one(&rule(action)).tool.matches("mcp_github_push"), Found::No, "{action}");
    }
    assert_eq!(permissions(&format!(r#"{{"rules":[{}]}}"#, rule("allow"))).notes(), ["glob"]);
    for tool in ["mcp_github_.*", "*", "x+", "a|b*"] {
        let rule = format!(r#"{{"rules":[{{"tool":"{tool}","action":"deny"}}]}}"#);
        assert_eq!(permissions(&rule).notes(), [""; 0], "{tool}");
    }
}

#[test]
fn a083_a_dot_before_a_domain_means_it_and_everything_below() {
    let rule = one(
        r#"{"tool":"web_fetch","domain":{"allowlist":[".Example.COM","exact.test"]},"action":"allow"}"#,
    );
    let domain = rule.domain.unwrap();
    assert_eq!(&*domain.url_arg, "url");
    let matches = |host: &str| {
        let host: Host = host.parse().unwrap();
        domain.hosts.iter().any(|pattern| pattern.matches(&host, 443))
    };
    #[rustfmt::skip]
    let cases = [
        // host                      matches  because
        ("example.com",              true,    "itself"),
        ("EXAMPLE.com",              true,    "in any case"),
        ("a.example.com",            true,    "below"),
        ("a.b.example.com",          true,    "any depth"),
        ("notexample.com",           false,   "not a part of another name"),
        ("example.com.evil.test",    false,   "not the beginning of another"),
        ("exact.test",               true,    "no dot: itself"),
        ("a.exact.test",             false,   "no dot: nothing below"),
        ("127.0.0.1",                false,   "no name"),
    ];
    for (host, expected, because) in cases {
        assert_eq!(matches(host), expected, "{host}: {because}");
    }
    let text = include_str!("../fixtures/permissions.json");
    let found = rules(text);
    let hosts = |at: usize| -> Vec<String> {
        found[at].domain.iter().flat_map(|d| d.hosts.iter().map(ToString::to_string)).collect()
    };
    assert_eq!(hosts(2), [".example.com", "docs.example.org"]);
    assert_eq!(hosts(3), ["localhost", "127.0.0.1", "169.254.169.254", "[::1]"]);
    assert_eq!(&*found[3].domain.as_ref().unwrap().url_arg, "link");
    assert_eq!(found.len(), 6, "`.internal` is a rule of its own");
    assert_eq!(permissions(text).notes(), [""; 0]);
}

#[test]
fn a083_a_whole_top_level_domain_is_denied_in_the_url_and_never_allowed() {
    let rule = one(r#"{"tool":"web_fetch","domain":{"blocklist":[".internal"]},"action":"deny"}"#);
    assert_eq!((rule.domain.as_ref(), rule.action), (None, Some(Action::Deny)));
    #[rustfmt::skip]
    let cases = [
        // url                                       denied
        ("http://metadata.google.internal/x",        true),
        ("https://INTERNAL",                         true),
        ("internal:8080/x",                          true),
        ("a.internal",                               true),
        ("http://user:pw@db.internal:5432",          true),
        ("http://db.internal./x",                    true),
        (" //db.internal?x",                         true),
        ("https://internal.example.com/",            false),
        ("https://example.com/a.internal/",          false),
        ("https://example.com/?next=x.internal",     false),
        ("https://notinternal/",                     false),
        ("https://x.internal.example.com",           false),
    ];
    for (url, denied) in cases {
        let found = rule.args["url"].search(url);
        assert_eq!(found, if denied { Found::Yes } else { Found::No }, "{url}");
    }
    let allow = r#"{"rules":[{"domain":{"allowlist":[".internal"]},"action":"allow"}]}"#;
    assert_eq!(rules(allow), []);
    assert_eq!(permissions(allow).notes(), ["no-host", "host-top-level"]);
}

#[test]
fn a_host_that_matches_nothing_there_denies_here_and_opens_nothing() {
    for host in ["*.example.com", "example.com:8080", "10.0.0.0/8"] {
        let rule = |action: &str| {
            format!(r#"{{"rules":[{{"domain":{{"allowlist":["{host}"]}},"action":"{action}"}}]}}"#)
        };
        assert_eq!(rules(&rule("deny")).len(), 1, "{host}");
        assert_eq!(rules(&rule("allow")), [], "{host}");
        assert_eq!(permissions(&rule("allow")).notes(), ["no-host", "foreign-host"], "{host}");
    }
    // A blocklist in a rule that allows would allow what it names.
    let mixed = r#"{"domain":{"allowlist":["a.test"],"blocklist":["b.test"]},"action":"allow"}"#;
    let hosts = one(mixed).domain.unwrap().hosts;
    assert_eq!(hosts.iter().map(ToString::to_string).collect::<Vec<_>>(), ["a.test"]);
    assert_eq!(permissions(&format!(r#"{{"rules":[{mixed}]}}"#)).notes(), ["blocklist-allows"]);
}

#[test]
fn broken_rules_refuse_everything() {
    #[rustfmt::skip]
    let cases = [
        // text                                                  code            named
        ("",                                                     "empty",        ""),
        ("{",                                                    "json",         ""),
        ("[]",                                                   "wrong-type",   "permissions.json"),
        (r#"{"rules":{}}"#,                                      "wrong-type",   "rules"),
        (r#"{"rules":null}"#,                                    "wrong-type",   "rules"),
        (r#"{"rules":[1]}"#,                                     "wrong-type",   "rules[0]"),
        (r#"{"rules":[{"tool":1}]}"#,                            "wrong-type",   "rules[0].tool"),
        (r#"{"rules":[{"tool":""}]}"#,                           "tool-empty",   "empty"),
        (r#"{"rules":[{"action":true}]}"#,                       "wrong-type",   "rules[0].action"),
        (r#"{"rules":[{"args":[]}]}"#,                           "wrong-type",   "rules[0].args"),
        (r#"{"rules":[{"args":{"command":1}}]}"#,                "wrong-type",   "rules[0].args.command"),
        (r#"{"rules":[{},{"domain":[]}]}"#,                      "wrong-type",   "rules[1].domain"),
        (r#"{"rules":[{"domain":{"blocklist":"x"}}]}"#,          "wrong-type",   "rules[0].domain.blocklist"),
        (r#"{"rules":[{"domain":{"blocklist":[7]}}]}"#,          "wrong-type",   "rules[0].domain.blocklist"),
        (r#"{"rules":[{"domain":{"url_arg":7}}]}"#,              "wrong-type",   "rules[0].domain.url_arg"),
        (r#"{"rules":[{"domain":{"blocklist":["."]}}]}"#,        "host-empty",   "."),
        (r#"{"rules":[{"domain":{"blocklist":["http://x"]}}]}"#, "",             "http"),
    ];
    for (text, code, named) in cases {
        let found = permissions(text).readings().unwrap_err();
        assert!(code.is_empty() || found[0].code() == code, "{text}: {}", found[0].code());
        assert!(found[0].message().contains(named), "{text}: {}", found[0].message());
    }
    assert_eq!(rules("{}"), []);
    assert_eq!(permissions(r#"{"rules":[],"mode":"plan"}"#).notes(), ["unknown-key"]);
}
