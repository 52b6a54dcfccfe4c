//! Patches that can be read in two ways.

use super::*;

const EVIL: &str = "--- a/etc\n+++ b/../../etc/x\n@@ -0,0 +1 @@\n+evil\n";

#[test]
fn lines_of_an_honest_hunk_are_no_headers() {
    // A comment of SQL, taken away; a file about patches, changed.
    let text = "--- a/x.sql\n+++ b/x.sql\n@@ -1,5 +1,4 @@\n--- /etc/old\n *** Begin\n\
                \x20--- /etc/a\n \n-diff --git a/etc /etc\n+x\n";
    assert_eq!(paths(text), ["a/x.sql", "b/x.sql"]);
}

#[test]
fn a_hunk_that_promises_too_much_hides_nothing() {
    for header in
        ["@@ -1,9 +1,9 @@", "@@ -1,3 +1,4 @@", "@@ -1,99999999999999999999 +1 @@", "@@ -x +y @@"]
    {
        let text = format!("--- a/x\n+++ b/x\n{header}\n-x\n+y\n{EVIL}");
        assert!(paths(&text).contains(&"b/../../etc/x".to_owned()), "{header}");
    }
    let git = "--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n-x\n+y\ndiff --git a/../y b/../y\nold mode 1\n";
    assert_eq!(paths(git), ["a/x", "b/x", "a/../y", "b/../y"]);
}

#[test]
fn a_hunk_that_promises_too_little_hides_nothing() {
    for header in ["@@ -0,0 +0,0 @@", "@@ -1 +1 @@"] {
        let text = format!("--- a/x\n+++ b/x\n{header}\n-x\n+y\n-z\n+w\n{EVIL}");
        assert!(paths(&text).contains(&"b/../../etc/x".to_owned()), "{header}");
    }
}

#[test]
fn headers_that_fill_a_hunk_exactly_count_as_well() {
    // By counting, all of it is text of `x`; for those who do not count, it is another file.
    let text = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-x\n--- /etc/a\n+++ /etc/x\n+y\n";
    assert_eq!(paths(text), ["a/x", "b/x", "/etc/a", "/etc/x"]);
    // An empty line is a line of the hunk for some, and its end for others.
    let text = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n\n --- /etc/a\n +++ /etc/x\n";
    assert_eq!(paths(text), ["a/x", "b/x", "/etc/a", "/etc/x"]);
}

#[test]
fn what_patch_leaves_out_in_front_of_lines_hides_nothing() {
    for front in ["  ", "\t", "XX "] {
        let text: String = EVIL.lines().map(|line| format!("{front}{line}\n")).collect();
        assert!(paths(&text).contains(&"b/../../etc/x".to_owned()), "{front:?}");
    }
    let forwarded = EVIL.replace("---", "- - ---").replace("a/etc", "a/../y");
    assert_eq!(paths(&forwarded), ["a/../y", "b/../../etc/x"]);
}

#[test]
fn names_need_not_stand_side_by_side() {
    let text = "--- /etc/x\nnoise\n\nIndex: /etc/y\n*** /etc/z\nnoise\n@@ -1 +1 @@\n-x\n+y\n";
    assert_eq!(paths(text), ["/etc/x", "/etc/y", "/etc/z"]);
    // Behind the last hunk nothing happens any more.
    assert_eq!(paths("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n--- /etc/x\n*** /etc/y\n"), ["a", "b"]);
}

#[test]
fn a_tab_or_a_quote_does_not_end_a_name_for_everybody() {
    let text = "--- a/x\t/../../../etc/y\n+++ \"b/x\" /../../../etc/y\n@@ -1 +1 @@\n-x\n+y\n";
    let expected = ["a/x", "a/x\t/../../../etc/y", "b/x", "\"b/x\" /../../../etc/y"];
    assert_eq!(paths(text), expected);
}

#[test]
fn the_text_of_a_link_is_known_or_it_is_not() {
    let link = |hunks: &str| {
        let head = "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n";
        deeds(&format!("{head}{hunks}")).into_iter().find(|(path, _)| path == "b/l").unwrap().1
    };
    let unknown = Deed::Link(Target::Unknown);
    assert_eq!(link("@@ -0,0 +1 @@\n+x\n"), super::link("x"));
    assert_eq!(link("@@ -0,0 +1,2 @@\n+x\n+y\n"), super::link("x\ny"));
    assert_eq!(link("@@ -0,0 +1,3 @@\n+x\n"), unknown, "shorter than it says");
    assert_eq!(link("@@ -0,0 +1 @@\n+x\n@@ -5,0 +6 @@\n+/../..\n"), unknown, "in two parts");
    assert_eq!(link("@@ -0,0 +1 @@\n+++ x\n"), unknown, "it looks like a header");
    assert_eq!(link(&format!("@@ -0,0 +1 @@\n+{}\n", "x/".repeat(4096))), unknown, "too long");
    assert_eq!(link(""), unknown, "no text at all");
}

#[test]
fn a_file_is_moved_once_and_from_somewhere() {
    for moves in [
        "rename from a\nrename from b\nrename to c\n",
        "rename to c\nrename from a\n",
        "rename from a\nrename to b\ncopy to c\n",
    ] {
        assert_eq!(refused(&format!("diff --git a/x b/x\n{moves}")), "patch-confused", "{moves}");
    }
}

/// Where a patch lies, in its own words.
fn lie(text: &str) -> Option<String> {
    let Lie { span, .. } = read(text).unwrap().lie?;
    text.get(span.start()..span.end()).map(str::to_owned)
}

#[test]
fn a_patch_that_is_not_what_its_headers_say_is_told_with_its_place() {
    let hunk = |header: &str, lines: &str| format!("--- a/x\n+++ b/x\n{header}\n{lines}");
    #[rustfmt::skip]
    let cases = [
        // header                              lines                      because
        ("@@ -1,3 +1,3 @@",                    "-x\n+y\n",                "fewer lines"),
        ("@@ -1,3 +1,3 @@",                    "-x\n+y\n z\n",           "one line fewer"),
        ("@@ -1 +1 @@",                        "",                         "none"),
        ("@@ -1 +1 @@",                        "-x\n+y\n+z\n",           "one more"),
        ("@@ -1 +1 @@",                        "-x\n+y\n-z\n",           "one more on the other side"),
        ("@@ -1 +1 @@",                        "-x\n+y\n z\n",           "one more on both"),
        ("@@ -0,0 +0,0 @@",                    "+y\n",                    "none were promised"),
        ("@@ -1 +1,2 @@",                      "-x\n-z\n+y\n+w\n",       "another side"),
        ("@@ -1 +1,18446744073709551615 @@",   "-x\n+y\n",                "no text is that long"),
        ("@@ -1 +1,99999999999999999999 @@",   "-x\n+y\n",                "nor is that a number"),
        ("@@ -1 +x @@",                        "-x\n+y\n",                "nor is that"),
        ("@@ -1,2 +1,2 @@",                    "-x\n+y\n\\ No newline\n", "a note is no line"),
    ];
    for (header, lines, because) in cases {
        let text = hunk(header, lines);
        assert_eq!(lie(&text).as_deref(), Some(header), "{because}");
        let later = format!("{}{text}", hunk("@@ -1 +1 @@ fine", "-x\n+y\n"));
        assert_eq!(lie(&later).as_deref(), Some(header), "in the second file: {because}");
    }
    let body = "*** Begin Patch\n*** Add File: x\n+x\n";
    assert_eq!(lie(body).as_deref(), Some("*** Begin Patch"));
    assert_eq!(lie(&format!("{body}{body}*** End Patch\n")).as_deref(), Some("*** Begin Patch"));
    let after = format!("{body}*** End Patch\n{}", hunk("@@ -1 +1,2 @@", "-x\n+y\n"));
    assert_eq!(lie(&after).as_deref(), Some("@@ -1 +1,2 @@"), "behind a body");
}

#[test]
fn a_patch_that_is_what_it_says_is_no_lie() {
    #[rustfmt::skip]
    let honest = [
        "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-x\n+y\n z\n@@ -9 +9 @@\n-x\n+y\n",
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n\\ No newline at end of file\n",
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n--- a/z\n+++ b/z\n@@ -1 +1 @@\n-x\n+y\n",
        "From: a\n\n---\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n-- \n2.50.0\n",
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n--\n2.50.0\n",
        "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n-x\n+y\n\n z\n",
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n\nThat is all.\n",
        "--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+x\n+y\n",
        "*** Begin Patch\n*** Update File: x\n@@ -1,9 +1,9 @@\n-x\n+y\n*** End Patch\n",
        "*** Update File: x\n@@\n-x\n+y\n",
        "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n",
    ];
    for text in honest {
        assert_eq!(lie(text), None, "{text}");
    }
}

#[test]
fn names_are_counted_while_they_are_read() {
    for line in ["+++ b/x\n", "*** Add File: x\n", "diff --git a/x b/x\n"] {
        // Behind the last name that is taken stands what no reader would take.
        let text = format!("{}content-transfer-encoding: base64\n", line.repeat(MAX_NAMES + 1));
        assert_eq!(refused(&text), "patch-too-many-names", "{line}");
    }
}

/// Each would take minutes if any part of the text were looked at again and again.
#[test]
fn time_grows_with_the_text_and_not_faster() {
    const SIZE: usize = 512 << 10;
    let fill = |piece: &str| piece.repeat(SIZE / piece.len());
    let texts = [
        format!("--- a\n+++ b\n@@ -1,99999999 +1,99999999 @@\n{}", fill("+x\n")),
        format!("--- a\n+++ b\n{}", fill("@@ -1,99999999 +1,99999999 @@\n+x\n")),
        format!("diff --git {}\n", fill("a b/")),
        format!("diff --git {}\n", fill(" a")),
        format!("diff --git a/{} b/{}\n", "x ".repeat(SIZE / 4), "x ".repeat(SIZE / 4)),
        format!("--- {}\n+++ b\n", fill(" 2026-01-01")),
        format!("--- x{}y\n+++ b\n", fill(" ")),
        format!("--- \"{}\n+++ b\n", fill("\\141")),
        format!("--- {}\n+++ b\n", fill("../")),
        format!("+++ {}\n", fill("\r+++ a")),
        fill("- "),
        fill("\n"),
        fill("X"),
        fill("*** "),
    ];
    for text in texts {
        // What is found is told elsewhere; here it only ends.
        if let Ok(patch) = read(&text) {
            let readings = patch.touched.iter().map(|touched| touched.readings().len());
            assert!(readings.max() <= Some(16));
        }
    }
}
