//! From policies to profiles.

use super::*;
use crate::layer::{Choice, Stack, Trust, resolve};

fn native(text: &str) -> Policy {
    Document::parse(&Source::new("policy.yaml", text), Layer::User, &anchors()).unwrap().policy
}

fn write_and_read(text: &str) -> (Written, Policy) {
    let written = with_world(|around| write::write(&native(text), around));
    let (policy, _) =
        read_text(&written.text).unwrap_or_else(|e| panic!("{}\n{e:?}", written.text));
    (written, policy)
}

#[test]
fn what_the_language_can_say_comes_back() {
    let table = [
        ("files: { write: [.] }", " |  | /proj/app | "),
        (
            "files: { write: [.], protect: [.git, '**/.env', '**/.git/hooks'] }",
            " |  | /proj/app | /proj/app/.git /proj/app/**/.env /proj/app/**/.git/hooks",
        ),
        ("files: { write: [., /data], protect: [.git] }", " |  | /proj/app /data | /proj/app/.git"),
        // What is hidden is not writable either.
        ("files: { write: [.], hide: [a/k] }", "/proj/app/a/k |  | /proj/app | /proj/app/a/k"),
        ("files: { hide: [~/.ssh], write: [] }", "/home/me/.ssh |  |  | "),
        ("files: { hide: [/], allow_read: [/usr, .] }", "/ | /usr /proj/app |  | "),
        ("files: { hide: [/a, /a/b/c], allow_read: [/a/b] }", "/a /a/b/c | /a/b |  | "),
        ("files: { hide: ['/a/*.pem'], allow_read: [/a/x.pem] }", "/a/*.pem | /a/x.pem |  | "),
        ("files: { hide: ['/a/v[0-9]', '/a/w[!xy]?'] }", "/a/v[0-9] /a/w[!xy]? |  |  | "),
    ];
    for (text, wanted) in table {
        let (written, policy) = write_and_read(text);
        assert_eq!(written.lost, [], "{text}");
        assert_eq!(files(&policy).map(|list| list.join(" ")).join(" | "), wanted, "{text}");
    }
    for (mode, lost) in [("deny-all", 0), ("disabled", 0), ("monitor", 2)] {
        let (written, policy) = write_and_read(&format!("network: {{ mode: {mode} }}"));
        assert_eq!(policy.network.mode.value().to_string(), mode);
        assert_eq!(written.lost.len(), lost, "{mode}");
    }
    let (written, policy) = write_and_read(
        "network: { mode: deny-all, host_ports: [8080], publish: [3000], unix: [/run/x, '/run/y*'], local_binding: true }",
    );
    assert_eq!(written.lost, []);
    let network = &policy.network;
    assert_eq!(shown(network.host_ports.values()), ["8080"]);
    assert_eq!(shown(network.publish.values()), ["3000"]);
    assert_eq!(shown(network.unix.values()), ["/run/x", "/run/y*"]);
    assert!(network.local_binding.value().0);
}

#[test]
fn what_the_language_cannot_say_is_listed_and_closed() {
    let table = [
        ("network: { mode: allow-list, allow: [example.com] }", "network.mode network.allow"),
        ("network: { mode: allow-list, deny: ['*'] }", "network.deny network.mode"),
        ("network: { mode: monitor, deny: [a.test] }", "network.deny network.mode"),
        ("network: { mode: disabled, deny: [a.test] }", "network.deny network.mode"),
        ("limits: { timeout: 30s }", "limits.timeout"),
        ("commands: { deny: [curl] }", "commands.deny"),
        ("preset: runner", "preset"),
        ("files: { caches: off }", "files.caches"),
        ("files: { hide: ['/a/**/x'], allow_read: [/a/x/y] }", "files.allow_read"),
        ("files: { hide: ['/a/*/x'], allow_read: ['/a/**/y'] }", "files.allow_read"),
    ];
    for (text, wanted) in table {
        let (written, policy) = write_and_read(text);
        let lost: Vec<&str> = written.lost.iter().map(|lost| lost.key.as_str()).collect();
        assert_eq!(lost.join(" "), wanted, "{text}");
        assert_eq!(policy.network.mode.value(), NetworkMode::DenyAll, "{text}");
        assert_eq!(files(&policy)[1], [""; 0], "{text}: nothing is opened in its place");
    }
}

#[test]
fn what_is_closed_cannot_be_moved_to_where_it_is_open() {
    let text = "files: { write: [.], hide: [a/k, '**/.env'], protect: ['**/.git/hooks'] }";
    let (written, _) = write_and_read(text);
    for rule in [
        "(deny file-write* (subpath \"/proj/app/a/k\"))",
        "(deny file-write-unlink (literal (param \"_RW1\")))",
        "(deny file-write-unlink (literal \"/proj/app/a\"))",
        r#"(deny file-write-unlink (regex "^/proj/app/(.*/)?\\.git$"))"#,
    ] {
        let (before, _) =
            written.text.split_once(rule).unwrap_or_else(|| panic!("{}", written.text));
        assert!(before.contains("(allow file-write* "), "{rule}: it comes last");
    }
    assert_eq!(written.lost, []);
    // Where that cannot be said, it is listed.
    for (text, path) in [
        ("files: { write: [.], protect: ['*/x'] }", "/proj/app/*/x"),
        ("files: { write: [., /data], protect: ['**/.env'] }", "/proj/app/**/.env"),
    ] {
        let (written, _) = write_and_read(text);
        let lost: Vec<&str> = written.lost.iter().map(|lost| &*lost.value).collect();
        assert_eq!(lost, [path], "{text}");
    }
    // A profile that pins a folder for nothing's sake is refused.
    let open = "(allow file-read*)(allow file-write* (subpath \"/a\"))";
    let alone = format!("{open}(deny file-write-unlink (literal \"/a/b\"))");
    assert!(read_rules(&alone).is_ok(), "one file is protected as it is");
    let lifted = format!(
        "{open}(deny file-write* (subpath \"/a/b/c\"))(deny file-write-unlink (literal \"/a/b\"))(allow file-write* (subpath \"/a/b/c\"))"
    );
    assert_eq!(codes(&read_rules(&lifted).unwrap_err()), ["not-expressible"]);
}

#[test]
fn open_connections_do_not_open_the_sockets_of_the_host() {
    let closed = "(deny network-outbound (remote unix-socket))\n";
    for mode in ["monitor", "disabled"] {
        let text = format!("network: {{ mode: {mode}, host_ports: [8080], unix: [/run/x] }}");
        let (written, policy) = write_and_read(&text);
        let (before, after) = written.text.split_once(closed).unwrap();
        assert!(before.contains("(allow network"), "{mode}");
        assert!(after.contains("(remote unix-socket (subpath \"/run/x\"))"), "{mode}");
        assert!(!after.contains("(allow network-outbound)"), "{mode}");
        assert!(!after.contains("(allow network*)"), "{mode}");
        assert_eq!(shown(policy.network.unix.values()), ["/run/x"], "{mode}");
        let ports = written.lost.iter().find(|lost| lost.key == "network.host_ports");
        let wanted = (mode == "monitor").then_some("8080"); // else they are the host's own
        assert_eq!(ports.map(|lost| lost.value.as_str()), wanted, "{mode}");
    }
    let (written, _) = write_and_read("network: { mode: monitor }");
    assert!(written.lost.iter().any(|l| l.key == "network.host_ports" && l.value == "none"));
    let (written, _) = write_and_read("network: { mode: deny-all, unix: [/run/x] }");
    assert!(!written.text.contains("(allow network-outbound)"));
}

#[test]
fn what_a_chosen_preset_brings_is_listed() {
    let lost = |preset: &str| -> Vec<String> {
        let text = format!("version: 1\npreset: {preset}\n");
        let document =
            Document::parse(&Source::new("policy.yaml", &text), Layer::User, &anchors()).unwrap();
        let mut stack = Stack::new(&anchors()).unwrap();
        stack.push(Layer::User, document);
        let policy = resolve(&stack, &Choice::default(), Trust::NotTrusted).unwrap().policy;
        let written = with_world(|around| write::write(&policy, around));
        written.lost.into_iter().map(|lost| lost.key).collect()
    };
    let has = |keys: &[String], key: &str| keys.iter().any(|found| found == key);
    let runner = lost("runner");
    assert!(has(&runner, "commands.deny"), "{runner:?}");
    assert!(has(&runner, "limits.timeout"), "{runner:?}");
    let usual = lost("confined");
    assert!(!has(&usual, "commands.deny"), "{usual:?}");
}
