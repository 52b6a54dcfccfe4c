//! Each lint speaks where it should, and is silent where it should be.

use std::collections::BTreeSet;

use super::*;
use crate::layer::{Choice, Layer, Stack, Trust, resolve};
use crate::policy::Document;
use crate::text::Source;

fn anchors() -> Anchors {
    Anchors { root: "/proj/app".into(), home: Some("/home/dev".into()) }
}

fn resolved(text: &str) -> Policy {
    let source = Source::new("user.yaml", text);
    let document = Document::parse(&source, Layer::User, &anchors())
        .unwrap_or_else(|problems| panic!("{}", problems[0]));
    let mut stack = Stack::new(&anchors()).unwrap();
    stack.push(Layer::User, document);
    resolve(&stack, &Choice::default(), Trust::NotTrusted).unwrap().policy
}

fn lints(policy: &Policy) -> Vec<Lint> {
    let checked = ["/home/dev/profiles/checked.sb".parse().unwrap()];
    let anchors = anchors();
    let cwd = "/proj/app/src".as_ref();
    lint(policy, &Context { anchors: &anchors, cwd, checked: &checked, own: &[] })
}

/// Checks rows of code, policy and whether the lint speaks.
fn check_table(cases: &[(&str, &str, bool, &str)]) {
    for (code, text, speaks, because) in cases {
        let found = lints(&resolved(text));
        let named: Vec<&Lint> = found.iter().filter(|lint| lint.code.starts_with(code)).collect();
        assert_eq!(!named.is_empty(), *speaks, "{code} {text}: {because}: {found:?}");
        for lint in named {
            assert!(!lint.message.is_empty() && !lint.fix.is_empty(), "{code}: says what to do");
        }
    }
}

#[test]
fn a185_profiles_without_rules_and_odd_write_sets_are_pointed_out() {
    #[rustfmt::skip]
    check_table(&[
        ("L001", "profile: workspace-write-no-network",                              true,  "on, and no rules"),
        ("L001", "{ profile: readonly, commands: { rules: [] } }",                   true,  "an empty list is no rule"),
        ("L001", "{ profile: readonly, commands: { rules: [{ tool: x, action: ask }] } }", false, "there is a rule"),
        ("L001", "{ profile: readonly, commands: { deny: [dd] } }",                  false, "something is refused"),
        ("L001", "{ profile: readonly, require: none }",                             false, "the sandbox is off"),
        ("L001", "limits: { timeout: 5s }",                                          false, "nobody chose a profile"),
        ("L002", "{ profile: workspace-write, files: { write: [] } }",               true,  "the write set is missing"),
        ("L002", "{ profile: readonly, files: { write: [] } }",                      false, "readonly means it"),
        ("L002", "profile: workspace-write",                                         false, "the project is writable"),
        ("L003", "files: { write: [/data] }",                                        true,  "the cwd is elsewhere"),
        ("L003", "files: { write: [/proj/app/srcs] }",                               true,  "a name that begins alike is elsewhere"),
        ("L003", "files: { write: [/data, .] }",                                     false, "one of them holds the cwd"),
        ("L003", "files: { write: [src] }",                                          false, "the cwd itself"),
        ("L004", "files: { write: [/] }",                                            true,  "the whole disk"),
        ("L004", "files: { write: ['~'] }",                                          true,  "the home folder"),
        ("L004", "files: { write: [/home/dev/../dev] }",                             true,  "however it is spelled"),
        ("L004", "files: { write: [/home] }",                                        true,  "and what it lies in"),
        ("L004", "files: { write: [., ~/.cache/x] }",                                false, "folders below it"),
        ("L005", "profile: ~/profiles/mine.sb",                                      true,  "never checked"),
        ("L005", "profile: ~/profiles/checked.sb",                                   false, "checked"),
        ("L005", "profile: readonly",                                                false, "ours are"),
        ("L005", "commands: { rules: [{ tool: x, profile: ~/profiles/mine.sb }] }",  true,  "a rule may pick it"),
        ("L005", "commands: { rules: [{ tool: x, profile: ~/profiles/checked.sb }] }", false, "checked"),
        ("L002", "files: { write: [] }",                                             false, "nobody chose a profile"),
    ]);
}

#[test]
fn a203_open_networks_idle_lists_and_bare_credentials_are_pointed_out() {
    #[rustfmt::skip]
    check_table(&[
        ("L006", "network: { mode: disabled }",                                      true,  "not confined"),
        ("L006", "profile: workspace-write",                                         true,  "nor by this profile"),
        ("L006", "network: { mode: monitor }",                                       false, "recorded at least"),
        ("L006", "network: { mode: deny-all }",                                      false, "closed"),
        ("L007", "network: { mode: deny-all, allow: [example.com] }",                true,  "nothing is reached"),
        ("L007", "network: { mode: disabled, allow: [example.com] }",                true,  "everything is reached"),
        ("L007", "network: { mode: allow-list, allow: [example.com] }",              false, "it counts"),
        ("L007", "network: { mode: monitor }",                                       false, "there is no list"),
        ("L018", "network: { mode: allow-list }",                                    true,  "nobody is listed"),
        ("L018", "network: { mode: allow-list, allow: [example.com] }",              false, "somebody is"),
        ("L018", "network: { mode: allow-list, host_ports: [80] }",                  false, "the host is"),
        ("L018", "network: { mode: allow-list, ask: ['*'] }",                        false, "a person is asked"),
        ("L019", "network: { unix: [/] }",                                           true,  "all of them"),
        ("L019", "network: { unix: [/run] }",                                        true,  "among them"),
        ("L019", "network: { unix: ['/var/run/docker*'] }",                          true,  "that very one"),
        ("L019", "network: { unix: [/run/user/1000/podman/podman.sock] }",           true,  "of any user"),
        ("L019", "network: { unix: [/run/postgresql] }",                             false, "a database"),
        ("L019", "network: { unix: [] }",                                            false, "none"),
        ("L018", "network: { mode: deny-all }",                                      false, "runs"),
        ("L018", "network: { mode: disabled }",                                      false, "runs"),
        ("L018", "profile: workspace-write",                                         false, "runs"),
        ("L018", "limits: { timeout: 5s }",                                          false, "nobody said a mode"),
        ("L004", "files: { write: [/, '~'] }",                                       true,  "the disk and the home"),
        ("L004", "files: { write: [.] }",                                            false, "the project"),
        ("L008", "files: { allow_read: ['~/.ssh'] }",                                true,  "hidden and opened again"),
        ("L008", "files: { allow_read: ['~/.ssh/config'] }",                         true,  "a part of it"),
        ("L008", "files: { allow_read: ['~'] }",                                     true,  "with all the rest"),
        ("L008", "files: { allow_read: ['~/notes'] }",                               false, "no credentials"),
        ("L009", "network: { mode: allow-list, allow: ['*.example.com'] }",          true,  "not the name itself"),
        ("L009", "network: { mode: allow-list, allow: ['*.example.com:443', 'example.com:80'] }", true, "not at that port"),
        ("L009", "network: { deny: ['*.example.com'] }",                             true,  "the name stays reachable"),
        ("L009", "network: { mode: allow-list, allow: ['*.example.com', example.com] }", false, "both are listed"),
        ("L009", "network: { mode: allow-list, allow: [.example.com] }",             false, "both in one"),
        ("L009", "network: { deny: ['*.example.com', .example.com] }",               false, "both are denied"),
    ]);
}

#[test]
fn a203_credentials_that_nothing_hides_are_listed() {
    let mut policy = resolved("limits: { timeout: 5s }");
    assert!(lints(&policy).iter().all(|lint| lint.code != "L008-credentials-visible"));
    policy.files.hide.retain(|hidden| !hidden.value.matches("/home/dev/.ssh".as_ref()));
    let found = lints(&policy);
    let visible: Vec<&Lint> =
        found.iter().filter(|lint| lint.code == "L008-credentials-visible").collect();
    assert_eq!(visible.len(), 1, "{found:?}");
    assert_eq!(visible[0].message, "credentials can be read: `~/.ssh`");
    assert_eq!(visible[0].fix, "add to `files.hide`: ~/.ssh");
}

#[test]
fn tools_variables_and_requirements_are_looked_over() {
    #[rustfmt::skip]
    check_table(&[
        ("L010", "tools: { exclude: ['.*'] }",                  true,  "frees all"),
        ("L010", "tools: { exclude: ['.*file.*'] }",            true,  "frees several"),
        ("L010", "tools: { patterns: ['.+'] }",                 true,  "watches all"),
        ("L010", "tools: { exclude: [write_file] }",            false, "one name is a decision"),
        ("L010", "tools: { exclude: ['mcp_.*'] }",              false, "none of the watched"),
        ("L010", "tools: { patterns: ['write_.*'] }",           false, "some of them"),
        ("L011", "env: { pass: [DEPLOY_TOKEN] }",               true,  "a secret"),
        ("L011", "env: { set: { DB_PASSWORD: x } }",            true,  "a secret in a file"),
        ("L011", "env: { pass: [EDITOR, 'DEPLOY_*'] }",         false, "no secret, and a beginning passes none"),
        ("L011", "env: { set: { EDITOR: ed } }",                false, "no secret"),
        ("L012", "require: none",                               true,  "no walls"),
        ("L012", "require: landlock",                           true,  "few walls"),
        ("L012", "require: external",                           true,  "somebody else's walls"),
        ("L012", "require: full",                               false, "all walls"),
        ("L013", "files: { unhide: ['~/.ssh'] }",               true,  "keys"),
        ("L013", "files: { unhide: ['~/.aws/config'] }",        true,  "a part of them"),
        ("L013", "files: { unhide: ['~'] }",                    true,  "all of them"),
        ("L013", "files: { unhide: ['~/.mozilla'] }",           false, "no credentials of ours"),
        ("L008", "files: { unhide: ['~/.ssh'] }",               false, "said once is enough"),
    ]);
}

#[test]
fn rules_that_are_never_asked_are_pointed_out() {
    let rules = |list: &str| format!("commands: {{ rules: [{list}] }}");
    let beside = |key: &str, list: &str| format!("{key}\n{}", rules(list));
    #[rustfmt::skip]
    let cases = [
        ("L014", rules("{ tool: x, domain: { hosts: [] }, action: deny }"),                    true,  "no host"),
        ("L014", rules("{ tool: x, domain: { hosts: [example.com] }, action: deny }"),         false, "a host"),
        ("L014", beside("preset: agentao:full-access", "{ tool: x, action: ask }"),            true,  "the mode allows first"),
        ("L014", beside("preset: agentao:full-access", "{ tool: x, action: deny }"),           false, "a denial holds"),
        ("L014", beside("preset: agentao:workspace-write", "{ tool: x, action: ask }"),        false, "rules are asked first"),
        ("L014", beside("preset: agentao:plan", "{ tool: run_shell_command, action: allow }"), true,  "the mode decides"),
        ("L014", beside("preset: agentao:plan", "{ tool: x, action: allow }"),                 false, "the mode says nothing"),
        ("L014", beside("preset: agentao:read-only", "{ tool: run_shell_command, action: allow }"), true, "no shell"),
        ("L015", rules("{ tool: '*', action: ask }, { tool: x, action: deny }"),               true,  "every tool"),
        ("L015", rules("{ tool: x, action: deny }, { tool: '*', action: ask }"),               false, "the wide one comes last"),
        ("L015", rules("{ tool: 'a|b', action: ask }, { tool: b, action: deny }"),             true,  "one of several"),
        ("L015", rules("{ tool: 'a|b', action: ask }, { tool: 'b|c', action: deny }"),         false, "not all of them"),
        ("L015", rules("{ tool: a, args: { p: x }, action: ask }, { tool: a, args: { p: x, q: y }, action: deny }"), true, "with more conditions"),
        ("L015", rules("{ tool: a, args: { p: x, q: y }, action: ask }, { tool: a, args: { p: x }, action: deny }"), false, "with fewer"),
        ("L015", rules("{ tool: a, args: { p: '^git ' }, action: allow }, { tool: a, args: { p: '^git push' }, action: deny }"), true, "a longer beginning"),
        ("L015", rules("{ tool: a, args: { p: '^git push' }, action: allow }, { tool: a, args: { p: '^git ' }, action: deny }"), false, "a shorter one"),
        ("L015", rules("{ tool: a, args: { p: '^git ' }, action: allow }, { tool: a, args: { p: '^git |^hg ' }, action: deny }"), false, "or another"),
        ("L015", rules("{ tool: a, args: { p: '^ab' }, action: allow }, { tool: a, args: { p: '^ab*' }, action: deny }"), false, "the last may be absent"),
        ("L015", rules("{ tool: a, args: { p: '.*' }, action: allow }, { tool: a, action: deny }"), true, "any text"),
        ("L015", rules("{ tool: a, domain: { hosts: [.example.com] }, action: allow }, { tool: a, domain: { hosts: [api.example.com] }, action: deny }"), true, "hosts"),
        ("L015", rules("{ tool: a, domain: { hosts: [api.example.com] }, action: allow }, { tool: a, domain: { hosts: [.example.com] }, action: deny }"), false, "more hosts"),
        ("L015", rules("{ tool: a, action: allow }, { tool: a, profile: readonly }"),          false, "another question"),
    ];
    let rows: Vec<(&str, &str, bool, &str)> =
        cases.iter().map(|(code, text, speaks, why)| (*code, &**text, *speaks, *why)).collect();
    check_table(&rows);
}

#[test]
fn keys_without_effect_on_what_runs_are_pointed_out() {
    #[rustfmt::skip]
    check_table(&[
        ("L017", "network: { mode: disabled, deny: [example.com] }",                 true,  "nobody watches"),
        ("L017", "network: { mode: deny-all, deny: [example.com] }",                 false, "nothing is reached"),
        ("L017", "{ profile: workspace-write, network: { deny: [example.com] } }",   true,  "this profile says so too"),
        ("L017", "profile: workspace-write",                                         false, "our own list is no promise of theirs"),
        ("L017", "network: { mode: disabled, budget: { upload: 1MiB } }",            true,  "nobody counts"),
        ("L017", "network: { mode: disabled, budget: { upload: none } }",            false, "no limit was set"),
        ("L017", "network: { mode: disabled, strict: true }",                        true,  "nobody looks"),
        ("L017", "network: { mode: disabled, ask: [example.com] }",                  true,  "nobody asks"),
        ("L017", "network: { mode: deny-all, ask: [example.com] }",                  true,  "nobody asks"),
        ("L017", "network: { mode: monitor, ask: [example.com] }",                   false, "somebody does"),
        ("L017", "network: { mode: disabled, http_rules: [{ host: example.com, action: deny }] }", true, "nobody reads"),
        ("L017", "network: { publish: [3000] }",                                     false, "it is reached"),
        ("L017", "network: { mode: disabled, publish: [3000] }",                     true,  "it is the host's"),
        ("L017", "network: { host_ports: [5432] }",                                  true,  "no network"),
        ("L017", "network: { mode: monitor, host_ports: [5432] }",                   false, "it is reached"),
        ("L017", "network: { unix: [/run/x.sock] }",                                 false, "it is open"),
        ("L017", "network: { mode: disabled, local_binding: false }",                true,  "nobody refuses"),
        ("L017", "network: { mode: disabled, local_binding: true }",                 false, "they may"),
        ("L017", "network: { local_binding: false }",                                false, "nobody outside reaches them"),
        ("L017", "network: { mode: deny-all, allow: [example.com] }",                false, "a lint of its own"),
        ("L017", "confirm: { backend: web }",                                        true,  "nobody is asked"),
        ("L017", "confirm: { backend: web }",                                        true,  "nobody is asked"),
        ("L017", "confirm: { backend: deny }",                                       false, "as it says"),
        ("L017", "audit: { otlp: 'https://example.com/v1' }",                        true,  "TLS is not spoken"),
        ("L017", "audit: { path: /var/log/x, rotate_size: 4KiB }",                   true,  "a file is larger"),
        ("L017", "audit: { path: /var/log/x, rotate_size: 64KiB }",                  false, "as it says"),
        ("L017", "audit: { path: /var/log/x, rotate_size: none }",                   false, "as it says"),
        ("L017", "audit: { path: /var/log/x, rotate_age: 5s }",                      true,  "a file is older"),
        ("L017", "audit: { path: /var/log/x, rotate_age: 1h }",                      false, "as it says"),
        ("L017", "audit: { path: /var/log/x }",                                      false, "it is written"),
    ]);
}

#[test]
fn a_list_that_closes_nothing_is_pointed_out() {
    #[rustfmt::skip]
    let cases = [
        // for everyone                     for the agent                      speaks  because
        ("files: { write: [., /data] }",    "files: { write: [] }",            true,   "an empty list"),
        ("files: { write: [., /data] }",    "files: { write: [.] }",           true,   "a shorter one"),
        ("files: { write: [.] }",           "files: { write: [/data] }",       false,  "it adds"),
        ("files: { write: [.] }",           "files: { write: [.] }",           false,  "it says the same"),
        ("files: { write: [.] }",           "network: { mode: deny-all }",     false,  "another key"),
        ("network: { allow: [a.test] }",    "network: { allow: [] }",          true,   "an empty list"),
    ];
    for (base, own, speaks, because) in cases {
        let source = Source::new("u.yaml", &format!("{base}\nagents: {{ codex: {{ {own} }} }}"));
        let document = Document::parse(&source, Layer::User, &anchors()).unwrap();
        let mut stack = Stack::new(&anchors()).unwrap();
        stack.push(Layer::User, document.clone());
        let choice = Choice { agent: Some("codex".into()), task: None };
        let policy = resolve(&stack, &choice, Trust::NotTrusted).unwrap().policy;
        let (anchors, own) = (anchors(), [&document.agents["codex"]]);
        let cwd = "/proj/app".as_ref();
        let found = lint(&policy, &Context { anchors: &anchors, cwd, checked: &[], own: &own });
        let found = found.iter().any(|lint| lint.code == "L016-list-closes-nothing");
        assert_eq!(found, speaks, "{base} {own:?}: {because}");
    }
}

#[test]
fn the_built_in_policy_has_nothing_to_be_pointed_out() {
    let policy = resolve(&Stack::new(&anchors()).unwrap(), &Choice::default(), Trust::NotTrusted);
    assert_eq!(lints(&policy.unwrap().policy), []);
}

#[test]
fn lints_say_where_and_why_and_their_codes_are_unique() {
    let found = lints(&resolved("network:\n  mode: disabled"));
    let open: Vec<&Lint> = found.iter().filter(|lint| lint.code == "L006-network-open").collect();
    let origin = open[0].origin.as_ref().unwrap();
    assert_eq!(origin.to_string(), "user user.yaml:2:9");
    assert!(open[0].explanation.ends_with('.'));
    let codes: BTreeSet<&str> = CHECKS.iter().map(|check| check.code).collect();
    assert_eq!(codes.len(), CHECKS.len());
}
