//! Bad input: one clear error with its place, never a panic, never half a profile.

use super::*;

#[test]
fn bad_texts_are_errors_with_a_place() {
    let deep = format!("(version 1)\n{}", "(".repeat(10_000));
    let many = format!("(version 1)\n({})", "a ".repeat(crate::text::MAX_NODES + 1));
    let long = format!("(version 1)\n;{}", "x".repeat(crate::text::MAX_TEXT));
    let table: &[(&str, &str)] = &[
        ("", "empty"),
        (" \n\t ; only a comment", "empty"),
        ("(version 1)\0", "control-character"),
        ("(version 1)\u{7}", "control-character"),
        (&deep, "too-deep"),
        (&many, "too-many-values"),
        (&long, "too-long"),
        ("(deny default)", "version"),
        ("(version 2)\n(allow default)", "version"),
        ("(version)\n(allow default)", "version"),
        ("(version \"1\")\n(allow default)", "version"),
        ("(version 1)\n\"text\"\n(allow default)", "statement"),
        ("(version 1)\n()\n(allow default)", "statement"),
        ("(version 1)\n((allow default))\n(allow default)", "statement"),
        ("(version 1)\n#t\n(allow default)", "statement"),
        ("(version 1)\n(allow)\n(allow default)", "rule"),
        ("(version 1)\n(allow default (subpath \"/a\"))", "rule"),
        ("(version 1)\n(allow default)\n(import system.sb)", "unknown-statement"),
        ("(version 1)\n(allow default)\n`(x)", "notation"),
        ("(version 1)\n(allow default)\n#|x|#", "notation"),
        ("(version 1)\n(allow default)\n(deny file-read* (regex #\"a\\\"))", "escape"),
        ("key: value", "version"),
        ("{\"key\": 1}", "notation"),
    ];
    for (text, code) in table {
        let problems = read_text(text).unwrap_err();
        let head: String = text.chars().take(60).collect();
        assert_eq!(problems[0].code(), *code, "{head:?}: {problems:?}");
        let placed = problems[0].place().is_some();
        assert!(placed || matches!(*code, "empty" | "too-long"), "{head:?}");
        assert!(!problems[0].to_string().contains(|c: char| c.is_control() && c != '\n'));
    }
}

#[test]
fn bad_rules_are_errors() {
    let table = [
        ("(allow file-read* \"/usr\")", "filter"),
        ("(allow file-read* 7)", "filter"),
        ("(allow file-read* (subpath))", "filter"),
        ("(allow file-read* (subpath 7))", "wrong-type"),
        ("(allow file-read* (subpath #t))", "wrong-type"),
        ("(allow file-read* (subpath \"usr\"))", "path-relative"),
        ("(allow file-read* (subpath \"\"))", "path-relative"),
        ("(allow file-read* (subpath \"/a/../etc\"))", "path-climb"),
        ("(allow file-read* (subpath \"/a\\nb\"))", "path-control"),
        ("(allow file-read* (subpath (param \"HOME\")))", "parameter"),
        ("(allow file-read* (subpath (param _RW1)))", "wrong-type"),
        ("(allow file-read* (subpath (string-append \"/a\" 1)))", "wrong-type"),
        ("(allow file-read* (require-not (subpath \"/a\") (subpath \"/b\")))", "filter"),
        ("(allow file-read* (require-all))", "filter"),
        ("(allow file-read* (global-name \"x\"))", "not-expressible"),
        ("(allow file-read* (target self))", "not-expressible"),
        ("(allow file-read* (remote ip \"*:*\"))", "not-expressible"),
        (
            "(allow file-read* (require-all (vnode-type DIRECTORY) (subpath \"/a\")))",
            "not-expressible",
        ),
        ("(allow file-write* (regex #\"[.]lock$\"))", "regex"),
        ("(deny file-read* (regex #\"^/a/(b\"))", "regex"),
        ("(deny file-read* (regex #\"^/a/x{3}\"))", "regex"),
        ("(deny file-read* (regex #\"^/a/\\d+\"))", "regex"),
        ("(deny file-read* (regex #\"^/.*\\.pem$\"))", "regex"),
        ("(allow network-outbound (remote ip \"example.com:443\"))", "address"),
        ("(allow network-outbound (remote ip \"10.0.0.1:443\"))", "address"),
        ("(allow network-outbound (remote ip \"localhost:0\"))", "address"),
        ("(allow network-outbound (remote))", "address"),
        ("(allow network-outbound (remote carrier \"*:*\"))", "address"),
        ("(deny file-map-executable)", "not-expressible"),
    ];
    for (rule, code) in table {
        let problems = read_rules(rule).unwrap_err();
        assert_eq!(codes(&problems), [code], "{rule}");
        assert_eq!(problems[0].place().unwrap().line, 4, "{rule}");
    }
    let long =
        format!("(allow file-read* (subpath (string-append {})))", "\"/aaaaaaa\"".repeat(600));
    assert_eq!(codes(&read_rules(&long).unwrap_err()), ["path-length"]);
    let long = format!("(allow file-read* (regex \"^/{}\"))", "a".repeat(5000));
    assert_eq!(codes(&read_rules(&long).unwrap_err()), ["path-length"]);
    let wide = format!("(allow {} {})", "file* ".repeat(20_000), "(literal \"/\")".repeat(20_000));
    assert_eq!(read_rules(&wide).unwrap_err().len(), 2, "once for reading, once for writing");
    let many = "(allow file-read* (literal \"/a\"))".repeat(1100);
    assert!(codes(&read_rules(&many).unwrap_err()).contains(&"not-expressible"));
}

#[test]
fn a_profile_under_which_nothing_runs_or_only_some_programs_is_refused() {
    let table = [
        ("(version 1)(deny default)", &["nothing-runs", "nothing-runs"][..]),
        ("(version 1)(deny default)(allow process-fork)", &["nothing-runs"]),
        ("(version 1)(deny default)(allow process*)(deny process-exec)", &["nothing-runs"]),
        ("(version 1)(allow default)(deny process-fork)", &["nothing-runs"]),
        (
            "(version 1)(deny default)(allow process-fork)(allow process-exec (literal \"/bin/ls\"))",
            &["not-expressible"],
        ),
        ("(version 1)(allow default)(deny process-exec (subpath \"/opt\"))", &["not-expressible"]),
        (
            "(version 1)(allow default)(deny process-exec (literal \"/x\"))(allow process*)",
            &["not-expressible"],
        ),
        ("(version 1)(allow default)", &[]),
        ("(version 1)(deny default)(allow process-exec process-fork)", &[]),
        ("(version 1)(deny default)(allow process-fork)(allow process-exec (subpath \"/\"))", &[]),
        ("(version 1)(allow default)(allow process-exec (literal \"/bin/ls\"))", &[]),
        ("(version 1)(allow default)(deny process-exec (literal \"/x\"))(allow process-exec)", &[]),
    ];
    for (text, wanted) in table {
        assert_eq!(codes(&read_text(text).err().unwrap_or_default()), wanted, "{text}");
    }
}

#[test]
fn exceptions_that_multiply_are_refused_before_they_fill_the_memory() {
    let list = |count: usize, one: &dyn Fn(usize) -> String| -> String {
        (0..count).map(one).collect::<Vec<_>>().join(" ")
    };
    let product = |places: usize, exceptions: usize, times: usize| {
        let places = list(places, &|at| format!("(subpath \"/a/{at}\")"));
        let except = list(exceptions, &|at| format!("(regex #\"^/b/x{at}(/|$)\")"));
        let nots = format!("(require-not (require-any {except}))").repeat(times);
        format!("(allow file-read* (require-all (require-any {places}) {nots}))")
    };
    let many = |places: usize| list(places, &|at| format!("(subpath \"/a/{at}\")"));
    let pairs = format!("(require-any {})", many(900)).repeat(8);
    let rules = product(90, 100, 1).repeat(30); // each fits, together they do not
    let table = [
        product(300, 100, 1),
        product(900, 900, 8),
        product(20, 100, 8),
        format!("(deny file-read* (require-all {pairs}))"),
        rules,
    ];
    for text in table {
        let problems = read_rules(&text).unwrap_err();
        assert!(codes(&problems).contains(&"not-expressible"), "{problems:?}");
        assert!(problems[0].to_string().contains("too many places"), "{}", problems[0]);
    }
    let (policy, _) = read_rules(&product(20, 100, 1)).unwrap();
    assert_eq!(files(&policy)[1].len(), 20, "a usual number is read");
}

#[test]
fn what_cannot_be_enforced_says_what_to_do_instead() {
    let table = [
        "(allow file-read* \"/usr\")",
        "(allow file-read* (subpath))",
        "(allow file-read* (require-not (subpath \"/a\") (subpath \"/b\")))",
        "(allow file-read* (target self))",
        "(allow file-read* (require-not (require-not (subpath \"/a\"))))",
        "(allow file-read* (require-not (literal \"/usr\")))",
        "(allow file-read* (require-all (vnode-type DIRECTORY) (subpath \"/a\")))",
        "(allow file-read* (regex #\"^/a/[^/]*$\"))",
        "(allow file-write-data (subpath \"/a\"))",
        "(allow file-write* (prefix \"/a/b\"))",
        "(allow file-write*)(deny file-write* (subpath \"/a\"))(allow file-write* (subpath \"/a/b\"))",
        "(allow network-outbound (remote unix-socket (target self)))",
        "(allow network-outbound (remote ip \"*:443\"))",
        "(allow network-outbound (target self))",
        "(allow network*)(deny network-outbound (remote ip \"*:25\"))",
        "(allow network-inbound (remote ip \"localhost:3000\"))",
        "(deny file-map-executable)",
        "(deny process-exec (literal \"/x\"))",
        "(allow default (subpath \"/a\"))",
    ];
    for rules in table {
        for problem in read_rules(rules).unwrap_err() {
            assert!(problem.to_string().contains("\n"), "{rules}");
            assert!(format!("{problem:?}").contains("hint: Some("), "{rules}: {problem:?}");
        }
    }
}
