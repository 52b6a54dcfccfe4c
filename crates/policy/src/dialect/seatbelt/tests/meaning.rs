//! What profiles come to: files.

use super::*;

/// Reads rules and returns `hide`, `allow_read`, `write` and `protect`, separated by ` | `.
fn meaning(rules: &str) -> String {
    match read_rules(rules) {
        Ok((policy, _)) => files(&policy).map(|list| list.join(" ")).join(" | "),
        Err(problems) => format!("error: {}", codes(&problems).join(" ")),
    }
}

#[test]
fn the_last_rule_that_matches_counts() {
    let table = [
        ("", "/ |  |  | "),
        ("(allow file-read*)", " |  |  | "),
        ("(allow file*)", " |  | / | "),
        ("(allow file-read*)(deny file-read*)", "/ |  |  | "),
        ("(deny file-read*)(allow file-read*)", " |  |  | "),
        ("(allow file-read* (subpath \"/a\"))", "/ | /a |  | "),
        ("(allow file-read* (subpath \"/a\") (subpath \"/b\"))", "/ | /a /b |  | "),
        (
            "(allow file-read* (subpath \"/a\"))(deny file-read* (subpath \"/a/b\"))",
            "/ /a/b | /a |  | ",
        ),
        ("(deny file-read* (subpath \"/a/b\"))(allow file-read* (subpath \"/a\"))", "/ | /a |  | "),
        ("(allow file-read*)(deny file-read* (subpath \"/a\"))", "/a |  |  | "),
        (
            "(allow file-read*)(deny file-read* (subpath \"/a\"))(allow file-read* (subpath \"/a/b\"))",
            "/a | /a/b |  | ",
        ),
        (
            "(allow file-read* (subpath \"/a\"))(allow file-read* (subpath \"/a/b\"))",
            "/ | /a |  | ",
        ),
        ("(allow file-read-data (subpath \"/a\"))", "/ | /a |  | "),
        ("(allow file-read-metadata)", "/ |  |  | "),
        ("(allow file-write* (subpath \"/a\"))", "/ |  | /a | "),
        (
            "(allow file-write* (subpath \"/a\"))(deny file-write* (subpath \"/a/b\"))",
            "/ |  | /a | /a/b",
        ),
        (
            "(deny file-write* (subpath \"/a/b\"))(allow file-write* (subpath \"/a\"))",
            "/ |  | /a | ",
        ),
        (
            "(deny file-write* (subpath \"/a\"))(allow file-write* (subpath \"/a/b\"))",
            "/ |  | /a/b | ",
        ),
        ("(allow file-write* (subpath \"/a\"))(deny file-write*)", "/ |  |  | "),
        ("(deny file-write* (subpath \"/etc\"))", "/ |  |  | /etc"),
        ("(allow file-write*)(deny file-write* (subpath \"/a\"))", "/ |  | / | /a"),
        // Denying a part denies the whole there.
        (
            "(allow file-write* (subpath \"/a\"))(deny file-write-unlink (subpath \"/a/b\"))",
            "/ |  | /a | /a/b",
        ),
        ("(allow file-read*)(deny file-read-metadata (subpath \"/a\"))", "/a |  |  | "),
        (
            "(allow file-write* (subpath \"/a\"))(deny file-write* (require-all (subpath \"/a/b\") (vnode-type SYMLINK)))",
            "/ |  | /a | /a/b",
        ),
        // Whether the last rule or the narrower operation counts, nobody says.
        (
            "(deny file-read-data (subpath \"/a\"))(allow file-read* (subpath \"/a\"))",
            "error: uncertain-order",
        ),
        (
            "(deny file-write-unlink (subpath \"/a/b\"))(allow file-write* (subpath \"/a\"))",
            "error: uncertain-order",
        ),
        ("(deny file-read* (subpath \"/a\"))(allow file*)", "error: uncertain-order"),
        (
            "(deny file-read-data (subpath \"/a\"))(allow file-read* (subpath \"/b\"))",
            "/ /a | /b |  | ",
        ),
        // What a policy cannot say.
        (
            "(allow file-write* (subpath \"/a\"))(deny file-write* (subpath \"/a/b\"))(allow file-write* (subpath \"/a/b/c\"))",
            "error: not-expressible",
        ),
        ("(allow file-write-data (subpath \"/a\"))", "error: not-expressible"),
        ("(allow file-write-create (literal \"/a/b\"))", "error: not-expressible"),
        ("(allow file-write* (prefix \"/a/b\"))", "error: not-expressible"),
        (
            "(allow file-read*)(deny file-read* (regex #\"^/a/(.*/)?x(/|$)\"))(allow file-read* (subpath \"/a/b\"))",
            "error: not-expressible",
        ),
    ];
    for (rules, wanted) in table {
        assert_eq!(meaning(rules), wanted, "{rules}");
    }
}

#[test]
fn a_literal_never_grows_into_what_a_folder_holds() {
    let table = [
        ("(allow file-read* (literal \"/\"))", "/ |  |  | "),
        ("(allow file-read* (literal \"/usr\"))", "/ |  |  | "),
        ("(allow file-read* (literal \"/a\") (subpath \"/a/b\"))", "/ | /a/b |  | "),
        ("(allow file-read* (literal \"/a/file\"))", "/ | /a/file |  | "),
        ("(allow file-write* (literal \"/usr\"))", "/ |  |  | "),
        ("(allow file-write* (literal \"/a/file\"))", "/ |  | /a/file | "),
        ("(allow file-read*)(deny file-read* (literal \"/usr\"))", "/usr |  |  | "),
        (
            "(allow file-write* (subpath \"/proj\"))(deny file-write* (literal \"/proj/app\"))",
            "error: not-expressible",
        ),
        ("(deny file-write* (literal \"/proj/app\"))", "/ |  |  | "),
        ("(allow file-read* (regex #\"^/a/[^/]*$\"))", "error: not-expressible"),
    ];
    for (rules, wanted) in table {
        assert_eq!(meaning(rules), wanted, "{rules}");
    }
    let (_, notes) = read_rules("(allow file-read* (literal \"/usr\"))").unwrap();
    assert_eq!(codes(&notes), ["folder-only"]);
}

#[test]
fn where_nothing_lies_yet_a_literal_opens_nothing_for_writing() {
    let table = [
        ("(allow file-write* (literal \"/a/file\"))", "/ |  | /a/file | ", &[][..]),
        ("(allow file-write* (literal \"/a/new\"))", "/ |  |  | ", &["missing"]),
        ("(allow file-write* (path \"/a/new\"))", "/ |  |  | ", &["missing"]),
        ("(allow file-write* (regex #\"^/a/new$\"))", "/ |  |  | ", &["missing"]),
        (
            "(allow file-write* (require-all (subpath \"/a\") (literal \"/a/new\")))",
            "/ |  |  | ",
            &["missing"],
        ),
        (
            "(allow file-write* (subpath \"/a\"))(deny file-write* (subpath \"/a/new\"))(allow file-write* (literal \"/a/new\"))",
            "/ |  | /a | /a/new",
            &["missing"],
        ),
        (
            "(allow file-write* (subpath \"/a\"))(allow file-write* (literal \"/a/new\"))",
            "/ |  | /a | ",
            &[],
        ),
        ("(allow file-write* (subpath \"/a/new\"))", "/ |  | /a/new | ", &[]),
        ("(allow file-write* (literal \"/dev/null\"))", "/ |  |  | ", &[]),
        ("(allow file-read* (literal \"/a/new\"))", "/ | /a/new |  | ", &["missing"]),
    ];
    for (rules, wanted, notes) in table {
        assert_eq!(meaning(rules), wanted, "{rules}");
        assert_eq!(codes(&read_rules(rules).unwrap().1), notes, "{rules}");
    }
}

#[test]
fn exceptions_leave_what_was_said_before() {
    let table = [
        (
            "(allow file-write* (require-all (subpath \"/a\") (require-not (subpath \"/a/b\"))))",
            "/ |  | /a | /a/b",
        ),
        (
            "(allow file-write* (subpath \"/a/b\"))(allow file-write* (require-all (subpath \"/a\") (require-not (subpath \"/a/b\"))))",
            "/ |  | /a | ",
        ),
        (
            "(allow file-read*)(deny file-read* (require-all (subpath \"/a\") (require-not (subpath \"/a/b\"))))",
            "/a | /a/b |  | ",
        ),
        ("(allow file-read* (require-not (subpath \"/a\")))", "/a |  |  | "),
        ("(allow file-read* (require-all (subpath \"/a\") (subpath \"/a/b\")))", "/ | /a/b |  | "),
        ("(allow file-read* (require-all (subpath \"/a\") (subpath \"/b\")))", "/ |  |  | "),
        (
            "(allow file-read* (require-all (subpath \"/a\") (require-not (subpath \"/\"))))",
            "/ |  |  | ",
        ),
        (
            "(allow file-read* (require-any (subpath \"/a\") (require-all (subpath \"/b\"))))",
            "/ | /a /b |  | ",
        ),
        ("(allow file-read* (require-not (literal \"/usr\")))", "error: not-expressible"),
        (
            "(allow file-read* (require-not (require-not (subpath \"/a\"))))",
            "error: not-expressible",
        ),
        (
            "(allow file-read* (require-all (subpath \"/a\") (require-not (vnode-type SOCKET))))",
            "error: not-expressible",
        ),
    ];
    for (rules, wanted) in table {
        // A closed exception is listed under what was closed before: only what is enforced counts.
        let found = meaning(rules).replace("/ /a ", "/a ").replace("/ /a/b |", "/ |");
        assert_eq!(found, wanted, "{rules}");
    }
}

#[test]
fn regular_expressions_become_patterns_or_errors() {
    let table = [
        (r"^/a/b$", "/a/b"),
        (r"^/a/b/", "/a/b"),
        (r"^/a/b", "/a/b*"),
        (r"^/a/b(/|$)", "/a/b"),
        (r"^/a/b(/.*)?$", "/a/b"),
        (r"^/a/.*", "/a"),
        (r"^/a/b.*$", "/a/b*"),
        (r"^/a/[^/]+\.pem(/|$)", "/a/?*.pem"),
        (r"^/a/[^/]*/x(/|$)", "/a/*/x"),
        (r"^/a/(.*/)?\.git/hooks(/|$)", "/a/**/.git/hooks"),
        (r"^/a/(b|c)d?/", "/a/bd /a/b /a/cd /a/c"),
        (r"^/a/v[0-9]/", "/a/v[0-9]"),
        (r"^/a/v[^0/]/", "/a/v[!0]"),
        (r"^/private/etc/ssl/", "/private/etc/ssl /etc/ssl"),
        (r"^/a/x.*y(/|$)", "/a/x*y /a/x*/**/*y"),
        (r"^/a\.b/", "/a.b"),
    ];
    for (regex, wanted) in table {
        let (policy, _) =
            read_rules(&format!("(allow file-read*)(deny file-read* (regex #\"{regex}\"))"))
                .unwrap();
        assert_eq!(shown(policy.files.hide.values()).join(" "), wanted, "{regex}");
    }
    for regex in [
        "a",
        "/a",
        "^a",
        ".*",
        "^/",
        "^/.*",
        r"^/a/(?=x)",
        r"^/a/[[:alpha:]]",
        r"^/a/[0-9]+/",
        r"^/a/x*",
        r"^/a|^/b",
        r"^/a/[",
        r"^/a/)",
        r"^/a/b{2}",
        r"^/a/\w",
        r"^/a/b$c",
        r"^/a/[a-]b-[/]",
        r"^/a/(x|y)(x|y)(x|y)(x|y)(x|y)(x|y)",
        r"^/[^/]*/x/",
        r"^/a\",
    ] {
        let rules = format!("(allow file-write* (regex \"{}\"))", regex.replace('\\', "\\\\"));
        match read_rules(&rules) {
            Ok((policy, _)) => assert_eq!((regex, files(&policy)[2].join("")), (regex, "/".into())),
            Err(problems) => assert_eq!(codes(&problems), ["regex"], "{regex}"),
        }
    }
}

#[test]
fn temporary_folders_and_devices_are_never_the_hosts() {
    for place in [
        "(subpath \"/tmp\")",
        "(subpath \"/private/tmp\")",
        "(subpath \"/var/tmp\")",
        "(regex #\"^/private/var/folders/\")",
        "(regex #\"^/private/var/folders/[^/]+/[^/]+/T/\")",
        "(literal \"/dev/null\")",
        "(subpath \"/dev\")",
        "(literal \"/dev/sda\")",
    ] {
        let (policy, _) = read_rules(&format!("(allow file-write* {place})")).unwrap();
        assert_eq!(files(&policy)[2], [""; 0], "{place}");
    }
    let (policy, _) = read_rules("(allow file-write* (subpath \"/tmp/mine\"))").unwrap();
    assert_eq!(files(&policy)[2], ["/tmp/mine"], "a folder somebody names is meant");
    let (policy, _) =
        read_rules("(allow file-read*)(deny file-read* (subpath \"/private/etc\"))").unwrap();
    assert_eq!(files(&policy)[0], ["/private/etc", "/etc"], "Linux has it elsewhere");
}

#[test]
fn constructs_of_public_profiles_are_read() {
    let (policy, _) = read_text(include_str!("../fixtures/browser.sb")).unwrap();
    let [hide, open, write, _] = files(&policy);
    assert_eq!(hide, ["/"]);
    let wanted = "/usr/lib /usr/share /private/etc/hosts /etc/hosts /opt/example-[0-9]/lib /etc/ssl /etc/ca-certificates";
    assert_eq!(open.join(" "), wanted);
    assert_eq!(write, [""; 0]);

    let (policy, _) = read_text(include_str!("../fixtures/agent.sb")).unwrap();
    let [hide, _, write, protect] = files(&policy);
    assert_eq!(hide, ["/home/me/.ssh", "/proj/app/secrets"]);
    assert_eq!(write, ["/proj/app", "/home/me/.cache/example"]);
    assert_eq!(protect, ["/proj/app/.git", "/proj/app/secrets", "/proj/app/**/.env"]);
    assert_eq!(policy.network.mode.value(), NetworkMode::Disabled);

    let (policy, _) = read_text(include_str!("../fixtures/build.sb")).unwrap();
    let [hide, open, write, protect] = files(&policy);
    assert_eq!((hide.join(" "), open.join(" ")), ("/home/me".into(), "/home/me/.toolchain".into()));
    assert_eq!((write.join(" "), protect.join(" ")), ("/proj/app".into(), "/proj/app/keep".into()));
    assert_eq!(shown(policy.network.host_ports.values()), ["8081"]);
    assert_eq!(shown(policy.network.publish.values()), ["3000"]);
    let sockets = ["/private/var/run/example.socket", "/var/run/example.socket"];
    assert_eq!(shown(policy.network.unix.values()), sockets);
}
