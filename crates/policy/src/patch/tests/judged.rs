//! What is decided about patches.

use std::collections::BTreeMap;

use super::super::{Naming, judge};
use crate::builtin::BuiltIn;
use crate::decide::{Answer, Verdict};
use crate::jail::{Entry, Ground, Lookup, NoLookup};
use crate::key::{Grants, Sourced};
use crate::layer::{Layer, Origin};
use crate::name::{Anchors, Folder};

const ROOT: &str = "/srv/app";

/// A disk on which nothing lies but these links.
struct Links(BTreeMap<&'static str, &'static str>);

impl Lookup for Links {
    fn look(&self, path: &str) -> Entry {
        let below = |link: &&str| link.strip_prefix(path).is_some_and(|it| it.starts_with('/'));
        match self.0.get(path) {
            Some(target) => Entry::Link((*target).into()),
            None if self.0.keys().any(below) => Entry::Folder,
            None => Entry::Absent,
        }
    }
}

fn ground() -> Ground {
    let anchors = Anchors { root: ROOT.into(), home: Some("/home/ann".into()) };
    let mut policy = BuiltIn::read(&anchors).unwrap().policy().clone();
    let said = |path: &str| Sourced {
        value: Folder::literal(path.as_ref()).unwrap(),
        origin: Origin::of(Layer::User),
    };
    policy.files.write = Grants::new(vec![said(ROOT), said("/srv/shared")]);
    Ground::new(&policy, ROOT, Some("/home/ann"), &NoLookup)
}

fn on(disk: &dyn Lookup, text: &str) -> Verdict {
    judge(text, Naming::InPatch, &ground(), ROOT, disk)
}

/// The first reason, or `-`.
fn code(text: &str) -> &'static str {
    on(&NoLookup, text).reasons().first().map_or("-", |reason| reason.code)
}

fn change(path: &str) -> String {
    format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-x\n+y\n")
}

fn made_link(name: &str, target: &str) -> String {
    format!(
        "diff --git a/{name} b/{name}\nnew file mode 120000\n--- /dev/null\n+++ b/{name}\n\
         @@ -0,0 +1 @@\n+{target}\n\\ No newline at end of file\n"
    )
}

#[test]
fn a151_every_path_in_a_diff_is_checked() {
    #[rustfmt::skip]
    let cases = [
        // what                                                         code
        (change("src/x.rs"),                                            "-"),
        (change("../x.rs"),                                             "outside-root"),
        (change("src/../../x.rs"),                                      "outside-root"),
        ("--- a/x\n+++ /etc/x\n@@ -1 +1 @@\n-x\n+y\n".into(),           "outside-root"),
        ("--- /etc/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n".into(),           "outside-root"),
        ("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+y\n".into(),          "-"),
        ("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n".into(),          "-"),
        ("--- /srv/shared/x\n+++ /srv/shared/x\n@@ -1 +1 @@\n-x\n+y\n".into(), "-"),
        ("--- /tmp/x\n+++ /tmp/x\n@@ -1 +1 @@\n-x\n+y\n".into(),        "outside-root"),
        ("*** a/x\n--- ../x\n***************\n*** 1 ****\n! x\n--- 1 ----\n! y\n".into(), "outside-root"),
        ("Index: ~/.bashrc\n5c5\n< x\n---\n> y\n".into(),               "outside-root"),
        ("--- a/x\n+++ b/..\\..\\x\n@@ -1 +1 @@\n-x\n+y\n".into(),      "outside-root"),
        ("--- a/x\n+++ C:\\x\n@@ -1 +1 @@\n-x\n+y\n".into(),            "outside-root"),
        ("--- a/x\n+++ \"b/\\000\"\n@@ -1 +1 @@\n-x\n+y\n".into(),      "impossible-path"),
    ];
    for (text, expected) in cases {
        assert_eq!(code(&text), expected, "{text}");
    }
}

#[test]
fn a151_every_path_in_a_git_patch_is_checked() {
    #[rustfmt::skip]
    let cases = [
        ("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n",                     "-"),
        ("diff --git a/../x b/../x\nold mode 100644\nnew mode 100755\n",               "outside-root"),
        ("diff --git a/x b/x\nnew file mode 100644\n",                                 "-"),
        ("diff --git \"a/\\056./x\" \"b/\\056./x\"\nnew file mode 100644\n",           "outside-root"),
        ("diff --git a/../x b/../x\ndeleted file mode 100644\n",                       "outside-root"),
        ("diff --git a//etc/x b//etc/x\ndeleted file mode 100644\n",                   "outside-root"),
        ("diff --git a/x b/y\nrename from x\nrename to y\n",                           "-"),
        ("diff --git a/x b/y\nrename from x\nrename to ../y\n",                        "outside-root"),
        ("diff --git a/x b/y\nrename from x\nrename to d/../y\n",                       "outside-root"),
        ("diff --git a/x b/y\nrename from /etc/x\nrename to y\n",                      "outside-root"),
        ("diff --git a/x b/y\ncopy from x\ncopy to y\n",                               "-"),
        ("diff --git a/x b/y\ncopy from ../x\ncopy to y\n",                            "outside-root"),
        ("diff --git a/x b/y\ncopy from x\ncopy to /etc/y\n",                          "outside-root"),
        ("diff --git a/../x b/../x\nindex 1..2\nGIT binary patch\nliteral 1\nIc\n",    "outside-root"),
        ("diff --git a/.git/hooks/x b/.git/hooks/x\nnew file mode 100755\n",           "protected-path"),
    ];
    for (text, expected) in cases {
        assert_eq!(code(text), expected, "{text}");
    }
}

#[test]
fn a151_every_path_in_an_apply_patch_body_is_checked() {
    let body = |lines: &str| format!("*** Begin Patch\n{lines}\n*** End Patch\n");
    #[rustfmt::skip]
    let cases = [
        ("*** Add File: x\n+y",                                "-"),
        ("*** Add File: ../x\n+y",                             "outside-root"),
        ("  *** Add File:   /etc/x  \n+y",                     "outside-root"),
        ("*** Add File: \"/etc/x\"\n+y",                       "outside-root"),
        ("*** Add File:\n+y",                                  "impossible-path"),
        ("*** Update File: src/../x\n@@\n-x\n+y",              "-"),
        ("*** Update File: ~ann/x\n@@\n-x\n+y",                "outside-root"),
        ("*** Delete File: x",                                 "-"),
        ("*** Delete File: /srv/app-2/x",                      "outside-root"),
        ("*** Delete File: .",                                 "root-itself"),
        ("*** Update File: x\n*** Move to: y\n@@\n-x\n+y",     "-"),
        ("*** Update File: x\n*** Move to: ../y\n@@\n-x\n+y",  "outside-root"),
        ("*** Update File: .claude/settings.json\n@@\n-x\n+y", "protected-path"),
    ];
    for (lines, expected) in cases {
        assert_eq!(code(&body(lines)), expected, "{lines}");
    }
}

#[test]
fn a149_a_link_that_the_patch_makes_leads_where_it_says() {
    let through = |link: String| format!("{link}{}", change("l/x"));
    assert_eq!(code(&through(made_link("l", "sub"))), "-");
    assert_eq!(code(&made_link("some/where/l", "../../sub")), "-");
    assert_eq!(code(&through(made_link("l", ".."))), "link-leads-outside");
    assert_eq!(code(&through(made_link("l", "/srv/app-2"))), "link-leads-outside");
    assert_eq!(code(&through(made_link("l", ".git/hooks"))), "protected-path");
    // One link into the folder of another; behind the first it lies elsewhere.
    let two = made_link("deep/er/l", "../../..") + &made_link("m", "deep");
    assert_eq!(code(&two), "link-leads-outside");
    let inner = made_link("m", "deep/er") + &made_link("m/l", "../..") + &change("deep/er/l/x");
    assert_eq!(code(&inner), "link-leads-outside");
    // The order does not matter: a patch may be applied twice.
    assert_eq!(code(&(change("l/hooks/x") + &made_link("l", ".git"))), "protected-path");
    // Two links at one place.
    let both = made_link("l", "one") + &made_link("l", "two");
    assert_eq!(code(&(both + &change("l/x"))), "path-unseen");
    // A link that is not spelled out.
    let binary = "diff --git a/l b/l\nnew file mode 120000\nGIT binary patch\nliteral 2\nJc\n";
    assert_eq!(code(binary), "patch-link");
}

#[test]
fn a149_a_link_on_the_disk_is_followed() {
    let disk = Links(BTreeMap::from([
        ("/srv/app/out", "/etc"),
        ("/srv/app/in", "sub"),
        ("/srv/app/deep/er/up", "../../sub"),
    ]));
    let answer = |text: &str| on(&disk, text).answer();
    assert_eq!(answer(&change("in/x")), Answer::Allow);
    assert_eq!(answer(&change("out/x")), Answer::Deny);
    assert_eq!(answer(&change("out")), Answer::Deny);
    // The link itself may go. Where a patch puts another one there, the first may still be there.
    assert_eq!(answer("*** Delete File: out"), Answer::Allow);
    assert_eq!(answer(&(made_link("out", "sub") + &change("out/x"))), Answer::Deny);
    // A link that is moved leads elsewhere.
    let moved = |to: &str| format!("diff --git a/m b/m\nrename from deep/er/up\nrename to {to}\n");
    assert_eq!(answer(&moved("deep/ly/up")), Answer::Allow);
    assert_eq!(answer(&(moved("deep/ly/up") + &change("deep/ly/up/x"))), Answer::Allow);
    assert_eq!(answer(&(moved("up") + &change("up/x"))), Answer::Deny);
}

#[test]
fn a156_every_bad_path_is_listed() {
    let text = change("../x") + &change("fine") + "*** Add File: /etc/y\n";
    let verdict = on(&NoLookup, &text);
    let messages: Vec<&str> = verdict.reasons().iter().map(|it| it.message.as_str()).collect();
    assert_eq!(messages.len(), 3, "{messages:?}");
    assert_eq!(messages[2], "`/etc/y` is outside project root");
}

#[test]
fn a180_no_patch_changes_a_policy_file() {
    for path in [".palisade/policy.yaml", ".claude/settings.json", ".CODEX/config.toml"] {
        assert_eq!(code(&change(path)), "protected-path", "{path}");
        assert_eq!(code(&format!("*** Add File: {path}\n+x\n")), "protected-path", "{path}");
        assert_eq!(code(&format!("*** Update File: x\n*** Move to: {path}\n")), "protected-path");
    }
    assert_eq!(code(&change("palisade/policy.yaml")), "-");
}

#[test]
fn what_names_no_file_needs_another_who_does() {
    let hunk = "@@ -1 +1 @@\n-x\n+y\n";
    assert_eq!(code(hunk), "patch-unnamed");
    let beside = judge(hunk, Naming::Beside, &ground(), ROOT, &NoLookup);
    assert_eq!(beside.answer(), Answer::Allow);
    assert_eq!(code("1d\n"), "patch-ed-script");
}

#[test]
fn names_of_a_body_are_read_as_newer_tools_may_read_them() {
    let body = |line: &str| format!("*** Begin Patch\n*** {line}\n@@\n-a\n+b\n*** End Patch\n");
    for line in ["Update File: file:///etc/passwd", "Rename File: src/a.py -> .git/hooks/x"] {
        assert_ne!(code(&body(line)), "-", "{line}");
    }
    assert_eq!(code(&body("Rename File: src/a.py -> src/b.py")), "-");
}
