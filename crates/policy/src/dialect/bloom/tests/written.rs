//! A policy in Bloom's words.

use proptest::prelude::*;

use super::*;
use crate::dialect::Written;
use crate::name::Host;
use crate::policy::{NetworkMode, Policy, Reach, Reached};

fn native(text: &str) -> Policy {
    let source = Source::new("policy.yaml", text);
    let document = Document::parse(&source, Layer::User, &anchors());
    document.unwrap_or_else(|problems| panic!("{}", problems[0])).policy
}

fn written(policy: &Policy) -> Written {
    within(&[], |around| (BLOOM.write.unwrap())(policy, around))
}

fn lost(written: &Written) -> Vec<String> {
    written.lost.iter().map(|lost| format!("{}: {}", lost.key, lost.value)).collect()
}

#[test]
fn what_bloom_can_say_is_written_and_reads_back_the_same() {
    let policy = native(
        "version: 1
files: { write: [., /tmp/build], hide: [~/.ssh, ~/.aws, ~/.kube], unhide: [~/.gnupg] }
network: { mode: allow-list, allow: [.example.com, '*.example.org', 'db.example.net:5432', '[2001:db8::1]'] }
limits: { processes: 64 }",
    );
    let written = written(&policy);
    insta::assert_snapshot!(written.text, @r#"
    sandbox:
      enabled: true
      networkPolicy: allow-list
      allowedDomains:
        - "example.com"
        - "*.example.com"
        - "*.example.org"
        - "db.example.net:5432"
        - "[2001:db8::1]"
      writablePaths:
        - "/tmp/build"
      denyReadPaths:
        - "/home/dev/.ssh"
        - "/home/dev/.aws"
        - "/home/dev/.kube"
      processLimit: 64
    "#);
    assert_eq!(lost(&written), [""; 0]);
    let reading = config(&written.text);
    assert_eq!(codes(&reading), ["credentials-readable"]);
    let back = resolved(&[reading], "anyone", "");
    assert_eq!(shown(&back, "files.write"), ["/proj/app", "/tmp/build"]);
    assert_eq!(shown(&back, "network.mode"), ["allow-list"]);
    assert_eq!(shown(&back, "limits.processes"), ["64"]);
    #[rustfmt::skip]
    let hidden = [("/home/dev/.ssh", true), ("/home/dev/.kube", true), ("/home/dev/.gnupg", false)];
    for (path, expected) in hidden {
        assert_eq!(hides(&back, path), expected, "{path}");
    }
}

#[test]
fn what_bloom_cannot_say_is_listed() {
    #[rustfmt::skip]
    let cases = [
        ("require: full",                                       "require: full"),
        ("preset: runner",                                      "preset: runner"),
        ("files: { protect: [.git/hooks] }",                    "files.protect: /proj/app/.git/hooks"),
        ("files: { allow_read: [~/.ssh/config] }",              "files.allow_read: /home/dev/.ssh/config"),
        ("files: { unhide: [~/.kube] }",                        "files.unhide: /home/dev/.kube"),
        ("files: { hide: ['*.pem'] }",                          "files.hide: /proj/app/*.pem"),
        ("files: { hide: ['/a/\\*'] }",                         "files.hide: /a/\\*"),
        ("files: { write: [., '/a/\\*'] }",                     "files.write: /a/\\*"),
        ("network: { mode: allow-list, allow: [10.0.0.0/8] }",  "network.allow: 10.0.0.0/8"),
        ("network: { mode: disabled, allow: [a.example.com] }", "network.allow: a.example.com"),
        ("network: { deny: [a.example.com] }",                  "network.deny: a.example.com"),
        ("network: { strict: true }",                           "network.strict: true"),
        ("network: { budget: { upload: 1KiB } }",               "network.budget.upload: 1KiB"),
        ("commands: { deny: [dd, sudo] }",                      "commands.deny: dd, sudo"),
        ("limits: { memory: 1GiB }",                            "limits.memory: 1GiB"),
        ("limits: { processes: 0 }",                            "limits.processes: 0"),
        ("env: { set: { A: b } }",                              "env.set: {\"A\":\"b\"}"),
        ("profile: workspace-write",                            "profile: workspace-write"),
        ("files: { write: [/tmp] }",                            "files.write: the workspace, read-only"),
    ];
    for (text, expected) in cases {
        let written = written(&native(&format!("version: 1\n{text}")));
        assert!(lost(&written).iter().any(|lost| lost == expected), "{text}: {:?}", lost(&written));
        assert!(try_read(&[(CONFIG, Layer::User, &written.text)], &[]).is_ok(), "{}", written.text);
    }
}

#[test]
fn a_host_that_is_denied_or_asked_for_is_not_written_as_allowed() {
    let policy = native(
        "version: 1
network:
  mode: allow-list
  allow: [a.example.com, bad.example.com, '*.ask.example.com', '*.example.net', '*.example.org']
  deny: ['*.example.com:443', bad.example.com, ads.example.net]
  ask: [.ask.example.com]",
    );
    let back = of_config(&written(&policy).text, "");
    assert_eq!(shown(&back, "network.allow"), ["*.example.org"]);
    let lost = lost(&written(&policy));
    for host in ["a.example.com", "bad.example.com", "*.ask.example.com", "*.example.net"] {
        assert!(lost.contains(&format!("network.allow: {host}")), "{host}: {lost:?}");
    }
}

#[test]
fn an_open_network_that_refuses_some_hosts_is_written_closed() {
    for (text, mode) in [
        ("network: { mode: disabled }", "disabled"),
        ("network: { mode: monitor }", "monitor"),
        ("network: { mode: disabled, deny: [a.test] }", "deny-all"),
        ("network: { mode: monitor, deny: [a.test] }", "deny-all"),
        ("network: { mode: monitor, ask: [a.test] }", "deny-all"),
        ("network: { mode: monitor, ask: ['*'] }", "deny-all"),
    ] {
        let written = written(&native(text));
        assert_eq!(shown(&of_config(&written.text, ""), "network.mode"), [mode], "{text}");
        let listed = written.lost.iter().any(|lost| lost.key == "network.mode");
        assert_eq!(listed, mode == "deny-all", "{text}");
    }
}

fn hosts() -> impl Strategy<Value = Vec<&'static str>> {
    let hosts = [
        "a.test",
        "*.a.test",
        ".a.test",
        "b.a.test",
        "b.a.test:80",
        "*.a.test:80",
        "10.1.0.0/16",
        "10.1.2.3",
    ];
    prop::collection::vec(prop::sample::select(hosts.to_vec()), 0..4)
}

proptest! {
    #[test]
    fn no_host_is_reached_that_the_policy_refuses_or_asks_about(
        allow in hosts(), deny in hosts(), ask in hosts(), asks_for_rest in any::<bool>(),
        mode in prop::sample::select(vec!["allow-list", "monitor", "disabled", "deny-all"]),
    ) {
        let ask: Vec<&str> = ask.into_iter().chain(asks_for_rest.then_some("*")).collect();
        let list = |hosts: &[&str]| format!("['{}']", hosts.join("', '")).replace("['']", "[]");
        let text = format!(
            "network: {{ mode: {mode}, allow: {}, deny: {}, ask: {} }}", list(&allow), list(&deny), list(&ask),
        );
        let policy = native(&text);
        let back = of_config(&written(&policy).text, "").policy;
        let reached = |policy: &Policy, host: &Host, port: u16| {
            let judged = Reach::new(&policy.network).judge(host, port);
            match policy.network.mode.value() {
                NetworkMode::DenyAll => false,
                NetworkMode::AllowList => matches!(judged, Reached::Allowed(_)),
                // Nobody asks in `disabled`; what is written does not go beyond who would.
                NetworkMode::Monitor | NetworkMode::Disabled => {
                    !matches!(judged, Reached::Denied(_) | Reached::Asked(_))
                }
            }
        };
        for host in ["a.test", "b.a.test", "c.b.a.test", "10.1.2.3", "10.1.9.9", "d.test"] {
            for port in [80, 443] {
                let host: Host = host.parse().unwrap();
                prop_assert!(reached(&policy, &host, port) || !reached(&back, &host, port), "{}:{} {}", host, port, text);
            }
        }
    }
}

#[test]
fn a_policy_that_says_nothing_is_written_strictly() {
    let written = written(&Policy::default());
    insta::assert_snapshot!(written.text, @r#"
    sandbox:
      enabled: true
      networkPolicy: deny-all
      allowedDomains: []
      writablePaths: []
      workspaceWritable: false
      denyReadPaths:
        - "/home/dev/.ssh"
        - "/home/dev/.aws"
        - "/home/dev/.gnupg"
    "#);
    let back = of_config(&written.text, "");
    assert_eq!(shown(&back, "files.write"), [""; 0]);
    assert_eq!(back.unconfined, None);
}

#[test]
fn the_policy_in_force_reads_back_as_confining_as_it_was() {
    let before = of_config(include_str!("../fixtures/agents.yaml"), "codex");
    let after = of_config(&written(&before.policy).text, "codex");
    for key in ["files.write", "network.mode", "network.allow", "limits.processes"] {
        assert_eq!(shown(&before, key), shown(&after, key), "{key}");
    }
    for hidden in before.policy.files.hide.values() {
        assert!(after.policy.files.hide.values().any(|path| path.covers(hidden)), "{hidden}");
    }
}
