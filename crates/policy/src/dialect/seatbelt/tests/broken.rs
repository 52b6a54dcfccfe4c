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
