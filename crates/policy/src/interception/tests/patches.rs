//! Patches in arguments.

use super::*;
use Answer::{Allow, Deny};

#[test]
fn a151_every_target_of_a_patch_is_checked() {
    #[rustfmt::skip]
    let cases = [
        // patch                                                                       answer  because
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",                                    Allow,  "unified"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ /etc/y\n@@ -1 +1 @@\n-a\n+b\n", Deny, "the second file"),
        ("diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n",      Allow,  "a rename"),
        ("diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to ../y\n",   Deny,   "a rename out"),
        ("diff --git a/x b/y\nsimilarity index 100%\ncopy from /etc/x\ncopy to y\n",     Deny,   "a copy in"),
        ("diff --git a/../x b/../x\ndeleted file mode 100644\n",                        Deny,   "a delete"),
        ("*** Begin Patch\n*** Add File: src/a\n+x\n*** End Patch\n",                  Allow,  "a body"),
        ("*** Begin Patch\n*** Add File: /etc/a\n+x\n*** End Patch\n",                 Deny,   "a body, add"),
        ("*** Begin Patch\n*** Delete File: ../a\n*** End Patch\n",                    Deny,   "a body, delete"),
        ("*** Begin Patch\n*** Update File: a\n*** Move to: ../a\n@@\n-a\n+b\n*** End Patch\n", Deny, "a body, move"),
        ("*** Begin Patch\n*** Update File: .git/config\n@@\n-a\n+b\n*** End Patch\n",  Deny,   "a protected file"),
    ];
    for (patch, answer, because) in cases {
        for (tool, name) in [
            ("apply_patch", "patch"),
            ("apply_diff", "diff"),
            ("apply_patch", "input"),
            ("patch_file", "unifiedDiff"),
        ] {
            let verdict = hook(tool, json!({ name: patch }));
            assert_eq!(verdict.answer, answer, "{tool} {name}: {because}");
        }
        let verdict = World::new("").text(Door::Hook, "apply_patch", patch);
        assert_eq!(verdict.answer, answer, "as plain text: {because}");
        for arguments in [
            json!({ "command": ["apply_patch", patch] }),
            json!({ "command": format!("apply_patch <<'EOF'\n{patch}EOF\n") }),
            json!({ "cmd": ["bash", "-lc", format!("apply_patch <<'EOF'\n{patch}EOF\n")] }),
        ] {
            assert_eq!(hook("shell", arguments.clone()).answer, answer, "{arguments}: {because}");
        }
    }
}

#[test]
fn blocks_to_search_and_replace_need_a_path_beside_them() {
    let blocks = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n";
    assert_eq!(hook("replace_in_file", json!({ "path": "a", "diff": blocks })).answer, Allow);
    assert_eq!(hook("replace_in_file", json!({ "path": "../a", "diff": blocks })).answer, Deny);
    assert_eq!(hook("replace_in_file", json!({ "diff": blocks })).answer, Deny);
}

#[test]
fn a_patch_that_lies_is_refused_strictly_and_otherwise_passes_and_is_told() {
    for patch in [
        "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n-a\n+b\n",
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n+c\n",
        "--- a/x\n+++ b/x\n@@ -1 +1,18446744073709551615 @@\n-a\n+b\n",
        "*** Begin Patch\n*** Add File: src/a\n+x\n",
    ] {
        for (tool, arguments) in [
            ("apply_patch", json!({ "patch": patch })),
            ("shell", json!({ "command": ["apply_patch", patch] })),
        ] {
            let strict = World::proxy(true).proxied(tool, arguments.clone());
            assert_eq!((strict.answer, codes(&strict)), (Deny, vec!["patch-lies"]), "{patch}");
            assert_eq!(hook(tool, arguments.clone()).answer, Deny, "{patch}");
            let lenient = World::proxy(false).proxied(tool, arguments);
            assert_eq!(lenient.answer, Allow, "{patch}: {:?}", codes(&lenient));
            let passed: Vec<&str> = lenient.passed.iter().map(|it| it.reason.code).collect();
            assert_eq!(passed, ["patch-lies"], "{patch}");
        }
    }
    let outside = "--- a/x\n+++ /etc/x\n@@ -1,3 +1,3 @@\n-a\n+b\n";
    let lenient = World::proxy(false).proxied("apply_patch", json!({ "patch": outside }));
    assert_eq!(lenient.answer, Deny, "a lie excuses nothing");
}

#[test]
fn an_operation_on_a_file_is_judged_by_what_it_does() {
    for (operation, answer) in [
        (json!({ "type": "create_file", "path": "src/x", "diff": "+x" }), Allow),
        (
            json!({ "type": "create_file", "path": "src/x", "diff": "+a\n++++ /etc/x\n+--- b\n" }),
            Allow,
        ),
        (json!({ "type": "create_file", "path": "src/x", "diff": "" }), Allow),
        (json!({ "type": "update_file", "path": "src/x", "diff": "@@\n-a\n+b\n" }), Allow),
        (json!({ "type": "delete_file", "path": "src/x" }), Allow),
        (json!({ "type": "create_file", "path": "/etc/x", "diff": "+x" }), Deny),
        (json!({ "type": "create_file", "path": "../x", "diff": "+x" }), Deny),
        (json!({ "type": "update_file", "path": "/etc/x", "diff": "@@\n-a\n+b\n" }), Deny),
        (json!({ "type": "delete_file", "path": "/etc/x" }), Deny),
        (json!({ "type": "delete_file", "path": ".git/config" }), Deny),
        (json!({ "type": "create_file", "path": "a\n*** Add File: /etc/x", "diff": "+x" }), Deny),
        (
            json!({ "type": "create_file", "path": "a", "diff": "--- a\n+++ /etc/x\n@@ -1 +1 @@\n-a\n+b\n" }),
            Deny,
        ),
        (
            json!({ "type": "update_file", "path": "a", "move_to": "/etc/x", "diff": "@@\n-a\n+b\n" }),
            Deny,
        ),
        // What nobody knows is not done.
        (json!({ "type": "link_file", "path": "src/x" }), Deny),
        (json!({ "type": "delete_file" }), Deny),
    ] {
        for arguments in [operation.clone(), json!({ "operation": operation })] {
            let hooked = hook("apply_patch", arguments.clone());
            assert_eq!(hooked.answer, answer, "{arguments}: {:?}", codes(&hooked));
            let proxied = World::proxy(true).proxied("apply_patch_call", arguments.clone());
            assert_eq!(proxied.answer, answer, "{arguments}: {:?}", codes(&proxied));
        }
    }
}
