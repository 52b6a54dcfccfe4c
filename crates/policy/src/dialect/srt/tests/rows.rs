//! Acceptance rows.

use super::*;
use crate::name::Host;
use crate::policy::NetworkMode;

const BUILT_IN: Layer = Layer::BuiltIn;

fn denies(policy: &Policy, host: &str, port: u16) -> bool {
    let host: Host = host.parse().unwrap();
    policy.network.deny.values().any(|pattern| pattern.matches(&host, port))
}

fn allows(policy: &Policy, host: &str, port: u16) -> bool {
    let parsed: Host = host.parse().unwrap();
    let named = policy.network.allow.values().any(|pattern| pattern.matches(&parsed, port));
    policy.network.mode.value() == NetworkMode::AllowList && named && !denies(policy, host, port)
}

fn protects(policy: &Policy, path: &str) -> bool {
    policy.files.protect.values().any(|pattern| pattern.matches(path.as_ref()))
}

#[test]
fn a116_the_settings_file_of_the_home_and_named_ones_are_read() {
    let places = around(places);
    assert_eq!(places.len(), 1);
    assert_eq!(places[0].path, Path::new("/home/dev/.srt-settings.json"));
    assert_eq!(places[0].layer, Layer::User);

    let both = [
        ("first", include_str!("../fixtures/first-generation.json")),
        ("latest", include_str!("../fixtures/latest-generation.json")),
    ];
    for (name, text) in both {
        // A named file may have any name; it is JSON all the same.
        let source = Source::new("./sandbox.conf", text);
        let input = Input { source: &source, layer: Layer::CommandLine };
        let readings = around(|around| read(&[input], around));
        assert!(readings.is_ok(), "{name}: {}", readings.unwrap_err()[0]);
    }
    let first = reading(both[0].1).document.policy;
    assert_eq!(shown(first.files.write.values()), ["/proj/app/sub", "/home/dev/.cache/tool"]);
    assert_eq!(
        shown(first.files.protect.values()),
        ["/proj/app/sub/.env", "/proj/app/sub/config/production"]
    );
    assert!(first.network.local_binding.value().0);
    assert_eq!(shown(first.network.unix.values()), ["/run/agent.sock"]);
    let place = first.files.write.entries()[1].origin.place.unwrap();
    assert_eq!((place.line, place.column), (10, 25), "each value knows where it was said");
}

#[test]
fn a116_a_file_that_is_empty_or_broken_is_an_error_and_not_a_default() {
    #[rustfmt::skip]
    let cases = [
        ("",                                          "empty"),
        (" \n\t",                                     "empty"),
        ("{",                                         "json"),
        ("[]",                                        "wrong-type"),
        ("null",                                      "wrong-type"),
        (r#"{"netwrok":{}}"#,                         "unknown-key"),
        (r#"{"network":{"allow":[]}}"#,               "unknown-key"),
        (r#"{"filesystem":{"denyRead":"~/.ssh"}}"#,   "wrong-type"),
        ("network:\n  allowedDomains: []\n",          "json"),
    ];
    for (text, code) in cases {
        let problems = problems(text);
        assert!(!problems.is_empty(), "{text:?} was read");
        let found = problems[0].code();
        assert!(found == code || code == "json" && found != "empty", "{text:?}: {found}");
    }
    // One bad file among several spoils the reading; nothing of the others is used.
    let (good, bad) = (Source::new("a", "{}"), Source::new("b", "{"));
    let inputs = [&good, &bad].map(|source| Input { source, layer: Layer::User });
    assert!(around(|around| read(&inputs, around)).is_err());
}

#[test]
fn a117_denials_and_openings_are_kept_apart_with_their_depth() {
    let text = r#"{"filesystem": {
        "allowWrite": ["/data/a/b"], "denyWrite": ["/data", "/data/a/b/c"],
        "denyRead": ["/keys", "/keys/in/deep.pem"], "allowRead": ["/keys/in", "/keys/in/deep.pem"]
    }}"#;
    let policy = in_force(text);
    assert_eq!(shown(policy.files.write.values()), ["/data/a/b"]);
    // A denial above what is allowed counts, as does one below it.
    assert!(protects(&policy, "/data/a/b/file") && protects(&policy, "/data/a/b/c/file"));
    let own = |policy: &Policy| {
        let hidden = policy.files.hide.entries().iter();
        shown(hidden.filter(|entry| entry.origin.layer != BUILT_IN).map(|entry| &entry.value))
    };
    assert_eq!(own(&policy), ["/keys", "/keys/in/deep.pem"], "a re-opened path stays listed");
    assert_eq!(shown(policy.files.allow_read.values()), ["/keys/in", "/keys/in/deep.pem"]);
}

#[test]
fn a119_empty_lists_open_nothing_but_reads() {
    let text = r#"{"network":{"allowedDomains":[],"deniedDomains":[]},
        "filesystem":{"denyRead":[],"allowWrite":[],"denyWrite":[]}}"#;
    let policy = in_force(text);
    assert_eq!(shown(policy.files.write.values()), Vec::<String>::new());
    assert!(policy.files.write.is_explicit(), "not the project, as without any file");
    assert_eq!(policy.network.mode.value(), NetworkMode::DenyAll);
    assert_eq!(shown(policy.files.hide.values()), Vec::<String>::new(), "all is readable");
    let warned = notes(&reading(text)).join("\n");
    assert!(warned.contains("credentials-readable") && warned.contains("/home/dev/.ssh"));

    let policy = in_force("{}");
    assert_eq!(policy.network.mode.value(), NetworkMode::DenyAll);
    assert!(policy.files.write.is_explicit() && policy.files.write.entries().is_empty());
    assert!(policy.files.hide.values().any(|path| path.matches("/home/dev/.ssh/id".as_ref())));
}

#[test]
fn a119_no_list_of_srt_shows_what_another_file_hides() {
    let open = reading(r#"{"filesystem":{"denyRead":[]}}"#).document;
    let source = Source::new("policy.yaml", "version: 1\nfiles: { hide: [~/.ssh] }\n");
    for (srt, native) in [
        (Layer::User, Layer::User),
        (Layer::CommandLine, Layer::User),
        (Layer::User, Layer::Project),
    ] {
        let hides = Document::parse(&source, native, &anchors()).unwrap();
        let policy = resolved(&[(native, hides), (srt, open.clone())]).policy;
        assert_eq!(shown(policy.files.hide.values()), ["/home/dev/.ssh"], "{srt} over {native}");
    }
    let project = read_in(r#"{"filesystem":{"denyRead":[]}}"#, Layer::Project).unwrap();
    assert!(notes(&project)[0].contains("credentials-readable"), "{:?}", notes(&project));
    let Resolved { policy, ignored, .. } = resolved(&[(Layer::Project, project.document)]);
    assert!(policy.files.hide.values().any(|path| path.matches("/home/dev/.ssh/id".as_ref())));
    assert!(ignored.iter().any(|part| part.key == "files.unhide"), "until it is trusted");
}

#[test]
fn a122_git_hooks_stay_protected_whatever_is_said_of_git_config() {
    for (said, noted) in [("true", true), ("false", false)] {
        let text =
            format!(r#"{{"filesystem":{{"allowWrite":["/proj/app"],"allowGitConfig":{said}}}}}"#);
        let policy = in_force(&text);
        assert!(protects(&policy, "/proj/app/.git/hooks/pre-commit"), "{said}");
        assert!(protects(&policy, "/proj/app/sub/.git/hooks/x"), "{said}");
        assert!(!protects(&policy, "/proj/app/.git/objects/x"), "{said}");
        assert!(!protects(&policy, "/proj/app/.git/index"), "{said}");
        assert_eq!(protects(&policy, "/proj/app/.git/config"), !noted, "{said}");
        let found = notes(&reading(&text)).iter().any(|note| note.contains("allowGitConfig"));
        assert_eq!(found, noted, "{said}");
    }
}

#[test]
fn a123_denied_hosts_win_and_ports_restrict() {
    let text = r#"{"network":{
        "allowedDomains":["example.com","*.example.com:8443","[2001:db8::1]:443","localhost"],
        "deniedDomains":["bad.example.com","*:22","[2001:db8::2]"]}}"#;
    let policy = in_force(text);
    #[rustfmt::skip]
    let cases = [
        // host                 port  allowed
        ("example.com",         443,  true),
        ("EXAMPLE.com",         80,   true),
        ("a.b.example.com",     8443, true),
        ("[2001:db8::1]",       443,  true),
        ("localhost",           80,   true),
        ("a.example.com",       443,  false),
        ("bad.example.com",     8443, false),
        ("example.com",         22,   false),
        ("[2001:db8::1]",       80,   false),
        ("[2001:db8::2]",       443,  false),
        ("malicious-example.com", 8443, false),
        ("example.com.evil.test", 443, false),
    ];
    for (host, port, allowed) in cases {
        assert_eq!(allows(&policy, host, port), allowed, "{host}:{port}");
    }
    let everything = r#"{"network":{"allowedDomains":["example.com"],"deniedDomains":["*"]}}"#;
    assert!(!allows(&in_force(everything), "example.com", 443));
}

#[test]
fn a123_what_srt_refuses_as_a_host_is_refused_here() {
    let with = |list: &str, entry: &str| format!(r#"{{"network":{{"{list}":["{entry}"]}}}}"#);
    for good in [
        "example.com",
        "*.example.io",
        "localhost",
        "*.co.uk",
        "api.example.com:443",
        "*.example.com:8443",
        "[::1]",
        "[2001:db8::1]:443",
        "192.0.2.1",
    ] {
        assert_eq!(problems(&with("allowedDomains", good)), [], "{good}");
        assert_eq!(problems(&with("deniedDomains", good)), [], "{good}");
    }
    for bad in [
        "not-a-domain",
        "https://example.com",
        "example.com/path",
        "*.com",
        "*.",
        "*example.com",
        ".example.com",
        "example.com.",
        "2001:db8::1:443",
        "::1",
        "example.*",
        "a.*.example.com",
        "*.localhost",
        "",
        "example.com:0",
        "example.com:https",
        "10.0.0.0/8",
        "[::1",
        "a b.test",
    ] {
        for list in ["allowedDomains", "deniedDomains"] {
            let problems = problems(&with(list, bad));
            assert_eq!(problems.len(), 1, "{list} {bad:?}");
            assert!(problems[0].place().is_some(), "{list} {bad:?}");
        }
    }
    for deny_only in ["*", "*:22"] {
        assert_eq!(problems(&with("deniedDomains", deny_only)), []);
        assert_eq!(problems(&with("allowedDomains", deny_only)).len(), 1, "{deny_only}");
    }
}

#[test]
fn a131_ignored_violations_change_no_rule() {
    let with = r#"{"filesystem":{"denyWrite":["/x"]},"ignoreViolations":{"*":["/x","/"]}}"#;
    let without = r#"{"filesystem":{"denyWrite":["/x"]}                                    }"#;
    assert_eq!(reading(with).document, reading(without).document);
    let said = notes(&reading(with));
    assert!(said[0].contains("silences reports only"), "{said:?}");
    assert_eq!(notes(&reading(without)), Vec::<String>::new());
    assert_eq!(problems(r#"{"ignoreViolations":{"*":"/x"}}"#)[0].code(), "wrong-type");
    assert_eq!(problems(r#"{"ignoreViolations":["*"]}"#)[0].code(), "wrong-type");
}

/// The loading half of the row; `run --settings` takes the file in the issue about running.
#[test]
fn a202_a_file_with_the_three_keys_of_bloom_loads() {
    let policy = in_force(include_str!("../fixtures/bloom-three-keys.json"));
    assert_eq!(shown(policy.files.write.values()), ["/proj/app", "/var/cache/build"]);
    assert_eq!(policy.network.mode.value(), NetworkMode::AllowList);
    assert_eq!(shown(policy.network.deny.values()), Vec::<String>::new());
    let mut hidden = shown(policy.files.hide.values());
    hidden.sort();
    hidden.dedup(); // ours and the file's
    assert_eq!(hidden, ["/home/dev/.aws", "/home/dev/.gnupg", "/home/dev/.ssh"]);
    assert!(protects(&policy, "/proj/app/.git/hooks/x"), "and what is always protected is");
    // Each of the five may be missing on its own, and counts as empty.
    for text in ["{}", r#"{"network":{}}"#, r#"{"filesystem":{}}"#] {
        let policy = in_force(text);
        assert_eq!(policy.network.mode.value(), NetworkMode::DenyAll, "{text}");
        assert_eq!(policy.files.write.entries(), [], "{text}");
    }
    assert_eq!(problems(r#"{"network":{"allowedDomains":null}}"#)[0].code(), "wrong-type");
}
