//! Diffs of every kind.

use super::*;
use crate::text::Span;

#[test]
fn a_unified_diff_names_two_files_and_each_counts() {
    let text =
        "--- a/src/x.rs\t2026-01-01 10:00:00\n+++ b/src/x.rs\t2026-01-02\n@@ -1 +1 @@\n-x\n+y\n";
    assert_eq!(paths(text), ["a/src/x.rs", "b/src/x.rs"]);
    // The same with the line ends of another system, and with another way to write names.
    assert_eq!(paths(&text.replace('\n', "\r\n")), ["a/src/x.rs", "b/src/x.rs"]);
    let text = "--- old.c 2026-01-01 10:00\n+++ my file.c\n@@ -1 +1 @@\n-x\n+y\n";
    let expected = ["old.c 2026-01-01 10:00", "old.c", "old.c 2026-01-01", "my file.c", "my"];
    assert_eq!(paths(text), expected);
}

#[test]
fn making_and_removing_are_told_by_the_null_device() {
    let made = "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+x\n";
    assert_eq!(deeds(made), [("b/new.txt".into(), Deed::Create)]);
    let removed = "--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
    assert_eq!(deeds(removed), [("a/old.txt".into(), Deed::Delete)]);
}

#[test]
fn git_headers_say_more_than_hunks() {
    use Deed::{Change, CopyFrom, CopyTo, Create, Delete, Mode, MoveFrom, MoveTo};
    let git = |body: &str| deeds(&format!("diff --git a/x b/x\n{body}"));
    let both =
        |deed: &Deed| vec![("a/x".to_owned(), deed.clone()), ("b/x".to_owned(), deed.clone())];
    #[rustfmt::skip]
    let cases = [
        ("new file mode 100644\nindex 000..e69de29\n",          Create,        "an empty file"),
        ("deleted file mode 100644\nindex e69de29..000\n",      Delete,        "the same, away"),
        ("old mode 100644\nnew mode 100755\n",                  Mode,          "chmod"),
        ("index 1..2 100644\nGIT binary patch\nliteral 1\nIc\n",Change,        "binary"),
        ("index 1..2 120000\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-y\n+z/w\n", link("z/w"), "a link leads elsewhere"),
        ("new file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+../up\n\\ No newline at end of file\n", link("../up"), "a new link"),
        ("new file mode 0120777\nGIT binary patch\nliteral 3\nKc\n", Deed::Link(Target::Unknown), "a link in a binary patch"),
        ("old mode 100644\nnew mode 120000\n",                  Deed::Link(Target::Unknown), "a file becomes a link"),
        ("deleted file mode 120000\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-../up\n", Deed::Unlink, "a link goes away"),
    ];
    for (body, deed, because) in cases {
        assert_eq!(git(body), both(&deed), "{because}");
    }
    let renamed = git("similarity index 90%\nrename from x\nrename to y/z\n");
    assert_eq!(renamed[2..], [("x".into(), MoveFrom), ("y/z".into(), MoveTo)]);
    let copied = git("similarity index 90%\ncopy from x\ncopy to \"y/\\303\\244\"\n");
    assert_eq!(copied[2..], [("x".into(), CopyFrom), ("y/ä".into(), CopyTo)]);
}

#[test]
fn names_in_quotes_are_read_as_git_writes_them() {
    #[rustfmt::skip]
    let cases = [
        // header                                        names
        (r#"diff --git "a/\056\056/x" b/y"#,             vec!["a/../x", "b/y"]),
        (r#"diff --git a/y "b/t\tab \"q\" \\""#,         vec!["a/y", "b/t\tab \"q\" \\"]),
        (r#"diff --git "a/\346\227\245" "b/\n""#,        vec!["a/日", "b/\n"]),
        ("diff --git a/one b/two",                       vec!["a/one", "b/two"]),
        ("diff --git a/my file b/my file",               vec!["a/my file", "b/my file"]),
        ("diff --git my file my file",                   vec!["my file"]),
        ("diff --git old/my b/c new/my b/c",             vec!["old/my b/c", "old/my", "old/my b/c new/my", "b/c new/my b/c", "new/my b/c", "b/c"]),
    ];
    for (header, expected) in cases {
        assert_eq!(paths(&format!("{header}\nold mode 100644\n")), expected, "{header}");
    }
    let open = "--- \"a/x\n+++ \"b/\\q\"\n@@ -1 +1 @@\n-x\n+y\n";
    assert_eq!(paths(open), ["\"a/x", "a/x", "\"b/\\q\"", "b/\\q"]);
    assert_eq!(refused("--- \"a/\\377\"\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n"), "patch-name");
}

#[test]
fn context_diffs_and_other_systems_are_read() {
    let context = "Index: lib/x.c\n*** a/x.c\t2026\n--- b/x.c\t2026\n***************\n\
                   *** 1,2 ****\n! old\n  same\n--- 1,2 ----\n! new\n  same\n";
    assert_eq!(paths(context), ["lib/x.c", "a/x.c", "b/x.c"]);
    let subversion = "Index: x.txt\n=====\n--- x.txt\t(revision 1)\n+++ x.txt\t(working copy)\n\
                      @@ -1 +1 @@\n-x\n+y\n\nProperty changes on: d/y\n____\nAdded: p\n";
    assert_eq!(paths(subversion), ["x.txt", "d/y"]);
    let normal = "Index: x.txt\n5c5\n< old\n---\n> new\n";
    assert_eq!(paths(normal), ["x.txt"]);
}

#[test]
fn whatever_stands_around_a_patch_is_left_alone() {
    let mail = "From 0123 Mon Sep 17\nFrom: A <a@example.com>\nSubject: [PATCH] -- and more\n\
                Content-Transfer-Encoding: 8bit\n\nText.\n---\n x | 2 +-\n\n\
                diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n-- \n2.50.1\n";
    assert_eq!(paths(mail), ["a/x", "b/x"]);
    let two = format!("{mail}\n{}", mail.replace("/x", "/second"));
    assert_eq!(paths(&two), ["a/x", "b/x", "a/second", "b/second"]);
    let indented: String = mail.lines().map(|line| format!("    {line}\n")).collect();
    assert_eq!(paths(&indented), ["a/x", "b/x"]);
    assert_eq!(
        paths("patch -p1 <<'EOF'\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\nEOF\n"),
        ["a/x", "b/x"]
    );
}

#[test]
fn a_change_without_a_name_is_noticed() {
    for text in ["@@ -1 +1 @@\n-x\n+y\n", "5c5\n< x\n---\n> y\n"] {
        let patch = read(text).unwrap();
        assert_eq!((patch.touched.len(), patch.unnamed.map(Span::start)), (0, Some(0)), "{text}");
    }
    assert_eq!(
        read("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n@@ -5 +5 @@\n-x\n+y\n").unwrap().unnamed,
        None
    );
}

#[test]
fn what_is_no_patch_or_hides_one_is_refused() {
    let ed = "Index: x\n5c\nnew\n.\n3d\n";
    assert_eq!(refused(ed), "patch-ed-script");
    let behind = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n1,3d\n";
    assert_eq!(refused(behind), "patch-ed-script");
    let mail =
        "content-transfer-encoding: BASE64\n\nZGlmZg==\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n";
    assert_eq!(refused(mail), "patch-encoded");
    for text in ["", " \n", "hello", "--- a/x\n", "src/x.rs\n<<<<<<< SEARCH\nx\n=======\n"] {
        assert_eq!(refused(text), "patch-unknown", "{text:?}");
    }
    assert_eq!(refused(&"x".repeat(crate::patch::MAX_TEXT + 1)), "patch-too-long");
    let many = "diff --git a/x b/x\n".repeat(MAX_NAMES);
    assert_eq!(refused(&many), "patch-too-many-names");
}
