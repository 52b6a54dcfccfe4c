//! From policies to profiles.

use super::*;

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
        ("files: { write: [.] }", " |  | /work/app | "),
        (
            "files: { write: [., /data], protect: [.git, '**/.env'] }",
            " |  | /work/app /data | /work/app/.git /work/app/**/.env",
        ),
        ("files: { hide: [~/.ssh], write: [] }", "/home/me/.ssh |  |  | "),
        ("files: { hide: [/], allow_read: [/usr, .] }", "/ | /usr /work/app |  | "),
        ("files: { hide: [/a, /a/b/c], allow_read: [/a/b] }", "/a /a/b/c | /a/b |  | "),
        ("files: { hide: ['/a/*.pem'], allow_read: [/a/x.pem] }", "/a/*.pem | /a/x.pem |  | "),
        ("files: { hide: ['/a/v[0-9]', '/a/w[!xy]?'] }", "/a/v[0-9] /a/w[!xy]? |  |  | "),
    ];
    for (text, wanted) in table {
        let (written, policy) = write_and_read(text);
        assert_eq!(written.lost, [], "{text}");
        assert_eq!(files(&policy).map(|list| list.join(" ")).join(" | "), wanted, "{text}");
    }
    for (mode, lost) in [("deny-all", 0), ("disabled", 0), ("monitor", 1)] {
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
        ("network: { mode: allow-list, deny: ['*'] }", "network.mode network.deny"),
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
