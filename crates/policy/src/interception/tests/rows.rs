//! The acceptance rows about what is checked.

use std::collections::BTreeMap;

use super::*;
use Answer::{Allow, Deny};

const DOCUMENTED_TOOLS: [&str; 20] = [
    "write_to_file",
    "write_file",
    "fsWrite",
    "replace_in_file",
    "str_replace",
    "strReplace",
    "edit_file",
    "patch_file",
    "apply_diff",
    "apply_patch",
    "delete_file",
    "deleteFile",
    "remove_file",
    "create_file",
    "move_file",
    "rename_file",
    "copy_file",
    "insert_content",
    "search_and_replace",
    "generate_image",
];

#[test]
fn a145_every_documented_tool_is_intercepted_and_tools_that_read_are_not() {
    let world = World::proxy(false);
    for tool in DOCUMENTED_TOOLS {
        let verdict = world.proxied(tool, json!({ "path": "/etc/x" }));
        assert_eq!((verdict.answer, verdict.outcome), (Deny, Outcome::Judged), "{tool}");
        let diff = "--- a/src/x\n+++ b/src/x\n@@ -1 +1 @@\n-a\n+b\n";
        let verdict = world.proxied(tool, json!({ "path": "src/x", "diff": diff }));
        assert_eq!((verdict.answer, verdict.outcome), (Allow, Outcome::Judged), "{tool}");
    }
    for tool in ["read_file", "list_files", "list_dir", "list_directory", "grep", "search_files"] {
        let verdict = world.proxied(tool, json!({ "path": "/etc/hosts" }));
        assert_eq!((verdict.answer, verdict.outcome), (Allow, Outcome::NotIntercepted), "{tool}");
        // What the policy hides is hidden from every tool.
        let verdict = world.proxied(tool, json!({ "path": "~/.ssh/id_ed25519" }));
        assert_eq!(codes(&verdict), ["hidden-path"], "{tool}");
    }
    for tool in ["Write", "MultiEdit", "NotebookEdit", "str_replace_editor", "replace", "Bash"] {
        let verdict = hook(tool, json!({ "file_path": "/etc/x", "command": "view" }));
        assert_eq!(verdict.answer, Deny, "{tool}, as agents call theirs");
    }
    let verdict = hook("mcp__files__write_file", json!({ "path": "../x" }));
    assert_eq!(codes(&verdict), ["outside-root"], "a server's name in front frees no tool");
}

#[test]
fn a146_every_documented_parameter_is_read_in_every_shape() {
    const NAMES: [&str; 17] = [
        "path",
        "file_path",
        "filepath",
        "file",
        "target",
        "target_file",
        "destination",
        "dest",
        "source",
        "src",
        "fileName",
        "filePath",
        "image",
        "paths",
        "files",
        "file_list",
        "targets",
    ];
    let world = World::proxy(true);
    for name in NAMES {
        let shapes = [
            (json!({ name: "/etc/x" }), format!("/{name}")),
            (json!({ name: ["a", "/etc/x"] }), format!("/{name}/1")),
            (json!({ name: [{ "path": "/etc/x" }] }), format!("/{name}/0/path")),
            (json!({ name: { "file_path": "/etc/x" } }), format!("/{name}/file_path")),
            (json!({ name: { "target_file": "/etc/x" } }), format!("/{name}/target_file")),
            (json!({ "edits": [{ "to": { name: "/etc/x" } }] }), format!("/edits/0/to/{name}")),
        ];
        for (arguments, pointer) in shapes {
            let verdict = world.proxied("write_file", arguments.clone());
            assert_eq!(pointers(&verdict), [pointer.as_str()], "{arguments}");
        }
    }
    for name in ["patch", "diff"] {
        let text = "--- a/x\n+++ b/../../x\n@@ -1 +1 @@\n-a\n+b\n";
        let verdict = world.proxied("write_file", json!({ name: text }));
        assert_eq!(pointers(&verdict), [format!("/{name}")], "{name}");
        let verdict = world.proxied("write_file", json!({ name: "../outside.patch" }));
        assert_eq!(verdict.answer, Deny, "{name} may be the path of one");
    }
    #[rustfmt::skip]
    let spelled = [
        "targetFile", "target-file", "TargetFile", "TARGET_FILE", "newPath", "old_path",
        "notebook_path", "absolutePath", "relative-workspace-path", "workingDirectory", "uri",
        "cwd", "workdir", "directory", "dir", "outputDir", "file_paths", "filename",
    ];
    for name in spelled {
        let value = if name == "uri" { "file:///etc/x" } else { "/etc/x" };
        let verdict = world.proxied("write_file", json!({ "a": [{ "b": { name: value } }] }));
        assert_eq!(pointers(&verdict), [format!("/a/0/b/{name}")], "{name}");
    }
    let verdict = world.proxied("write_file", json!({ "path": "a", "content": "/etc/x ../../x" }));
    assert_eq!(verdict.answer, Allow, "content is no path");
}

#[test]
fn a147_a_path_outside_the_root_is_blocked_and_one_inside_is_not() {
    #[rustfmt::skip]
    let cases = [
        // path                        answer   because
        ("/etc/passwd",                Deny,    "absolute, outside"),
        ("/srv/dev/app/src/main.rs",   Allow,   "absolute, inside"),
        ("src/main.rs",                Allow,   "relative to the root"),
        ("./src/../README.md",         Allow,   "climbs and stays"),
        ("../../etc/passwd",           Deny,    "climbs out"),
        ("src/../../app/x",            Allow,   "climbs out and comes back"),
        ("src/../../other/x",          Deny,    "climbs out by the way"),
        ("/srv/dev/app/../../../etc",  Deny,    "starts inside, ends outside"),
        ("/tmp/x",                     Deny,    "tools have no private /tmp"),
        (" /etc/passwd",               Deny,    "some tools take the blank away"),
        ("\"/etc/passwd\"",            Deny,    "some tools take the quotes away"),
        ("a\n/etc/passwd",             Deny,    "some tools read lines"),
        ("docs/Read me, please.txt",   Allow,   "blanks and commas are letters"),
        ("src/[id]/$page.tsx",         Allow,   "so are brackets and a dollar"),
    ];
    for (path, answer, because) in cases {
        assert_eq!(hook("write_file", json!({ "path": path })).answer, answer, "{path}: {because}");
    }
}

#[test]
fn a148_the_home_folder_is_known_in_every_spelling() {
    for path in ["~", "~/x", "~root/x", "$HOME", "$HOME/x", "${HOME}/x", "%USERPROFILE%\\x"] {
        let verdict = hook("write_file", json!({ "path": path }));
        assert_eq!(verdict.answer, Deny, "{path}");
        let at_home = World::at("/home/dev/app", "");
        let inside = path.replace("%\\", "%/") + "/app/x";
        let expected = if path.contains("root") || path.ends_with('x') { Deny } else { Allow };
        let verdict = at_home.hook("write_file", json!({ "path": inside }));
        assert_eq!(verdict.answer, expected, "{inside}");
    }
    let verdict = hook("write_file", json!({ "path": "$SOMEWHERE/x" }));
    assert_eq!(codes(&verdict), ["path-unknown"], "who knows where that is");
}

/// Links, and nothing else.
struct Links(BTreeMap<String, String>);

impl Lookup for Links {
    fn look(&self, path: &str) -> Entry {
        self.0.get(path).map_or(Entry::Absent, |target| Entry::Link(target.clone()))
    }
}

#[test]
fn a149_a_link_that_leads_outside_is_blocked_also_above_the_file() {
    let links =
        [("/srv/dev/app/out", "/etc"), ("/srv/dev/app/in", "src"), ("/srv/dev/app/f", "/etc/x")];
    let disk = Links(links.map(|(from, to)| (from.to_owned(), to.to_owned())).into());
    let world = World::new("");
    for (path, answer) in [
        ("out", Deny),
        ("out/x", Deny),
        ("in/../out/x", Deny),
        ("f", Deny),
        ("in/x", Allow),
        ("plain/x", Allow),
    ] {
        let arguments = json!({ "path": path }).to_string();
        let verdict = world.seen(Door::Hook, "write_file", &arguments, &disk);
        assert_eq!(verdict.answer, answer, "{path}");
        if answer == Deny {
            assert_eq!(codes(&verdict), ["link-leads-outside"], "{path}");
        }
    }
    let verdict = world.seen(Door::Hook, "delete_file", r#"{"path":"f"}"#, &disk);
    assert_eq!(verdict.answer, Allow, "removing the link leaves alone what it leads to");
}

#[test]
fn a150_the_root_is_inside_and_its_neighbour_with_the_same_beginning_is_not() {
    for (path, answer) in [
        (ROOT, Allow),
        ("/srv/dev/app/", Allow),
        (".", Allow),
        ("/srv/dev/app-2/x", Deny),
        ("/srv/dev/application", Deny),
        ("../app2/x", Deny),
    ] {
        assert_eq!(hook("write_file", json!({ "path": path })).answer, answer, "{path}");
    }
    assert_eq!(hook("delete_file", json!({ "path": "." })).answer, Deny, "but not to be deleted");
}

#[test]
fn a152_strict_blocks_what_names_no_path_and_otherwise_it_passes_and_is_told() {
    #[rustfmt::skip]
    let cases = [
        // arguments                       code                    because
        (json!({}),                        "no-paths",             "nothing at all"),
        (json!({ "content": "x" }),        "no-paths",             "no path"),
        (json!({ "path": null }),          "no-paths",             "null is no path"),
        (json!({ "path": "" }),            "path-blank",           "an empty one"),
        (json!({ "path": "  \t" }),        "path-blank",           "a blank one"),
        (json!({ "path": "a\u{0}b" }),     "path-nul",             "one that no program could use"),
        (json!({ "path": "a".repeat(5000) }), "impossible-path",   "one that is too long"),
        (json!([1]),                       "arguments-not-object", "no object"),
    ];
    let (strict, lenient) = (World::proxy(true), World::proxy(false));
    for (arguments, code, because) in cases {
        let verdict = strict.proxied("write_file", arguments.clone());
        assert_eq!(verdict.answer, Deny, "{because}");
        assert!(codes(&verdict).contains(&code), "{because}: {:?}", codes(&verdict));
        let verdict = lenient.proxied("write_file", arguments);
        assert_eq!(verdict.answer, Allow, "{because}: {:?}", codes(&verdict));
        assert!(verdict.passed.iter().any(|it| it.reason.code == code), "{because}: it is told");
    }
    let verdict = strict.proxied("frobnicate", json!({ "path": "src/x" }));
    assert_eq!(codes(&verdict), ["tool-unknown"]);
    let verdict = lenient.proxied("frobnicate", json!({ "path": "src/x" }));
    assert_eq!((verdict.answer, verdict.passed.len()), (Allow, 1));
    let verdict = lenient.proxied("write_file", json!({ "path": "/etc/x\u{0}.txt" }));
    assert_eq!(verdict.answer, Deny, "a program in C sees /etc/x");
    let verdict = strict.proxied("read_file", json!({}));
    assert_eq!(verdict.answer, Allow, "tools that read need not name a file");
}

#[test]
fn a153_the_parent_counts_as_inside_by_levels_and_never_the_root_of_the_disk_or_the_home() {
    #[rustfmt::skip]
    let cases = [
        // root                levels  path                   answer   because
        ("/srv/dev/app",       0,      "../lib/x",            Deny,    "off"),
        ("/srv/dev/app",       1,      "../lib/x",            Allow,   "a sibling"),
        ("/srv/dev/app",       1,      "/srv/dev",            Allow,   "the parent"),
        ("/srv/dev/app",       1,      "/srv/x",              Deny,    "two levels up"),
        ("/srv/dev/app",       2,      "/srv/x",              Allow,   "two levels up"),
        ("/srv/dev/app",       8,      "/etc/x",              Deny,    "never the disk"),
        ("/srv",               1,      "/etc/x",              Deny,    "never the disk"),
        ("/home/dev/app",      1,      "/home/dev/x",         Deny,    "never the home"),
        ("/home/dev/a/b",      5,      "/home/dev/a/x",       Allow,   "up to the home"),
        ("/home/dev/a/b",      5,      "/home/dev/x",         Deny,    "up to the home"),
        ("/home/dev/a/b",      5,      "/home/other/x",       Deny,    "nor above it"),
    ];
    for (root, levels, path, answer, because) in cases {
        let world = World::at(root, &format!("tools: {{ allow_parent: {levels} }}"));
        let verdict = world.hook("write_file", json!({ "path": path }));
        assert_eq!(verdict.answer, answer, "{root} {levels} {path}: {because}");
        let command = format!("touch {path}");
        let verdict = world.hook("bash", json!({ "command": command }));
        assert_eq!(verdict.answer, answer, "{root} {levels} {command}: {because}");
    }
}

#[test]
fn a156_every_bad_path_is_listed() {
    let arguments = json!({ "paths": ["/etc/a", "src/b", "../c"], "file": "~/d", "cwd": "/" });
    let verdict = hook("edit_file", arguments);
    assert_eq!(pointers(&verdict), ["/paths/0", "/paths/2", "/file", "/cwd"]);
    let violation = verdict.violation().unwrap();
    assert_eq!(violation.metadata["paths"], json!(["/etc/a", "../c", "~/d", "/"]));
    let also = "Also outside: '../c', '~/d', '/'.";
    assert!(violation.error_to_model.ends_with(also), "{}", violation.error_to_model);
}

#[test]
fn a157_an_exclusion_frees_exactly_the_tools_it_names() {
    let world =
        World::new("tools: { enabled: true, strict: true, exclude: [write_file, 'mcp_.*'] }");
    let bad = json!({ "path": "/etc/x" });
    for (tool, answer) in [
        ("write_file", Allow),
        ("Write_File", Allow),
        ("mcp_anything", Allow),
        ("write_files", Deny),
        ("my_write_file", Deny),
        ("mcp__files__write_file", Allow),
        ("files.write_file", Deny),
        ("edit_file", Deny),
    ] {
        assert_eq!(world.proxied(tool, bad.clone()).answer, answer, "{tool}");
        assert_eq!(world.hook(tool, bad.clone()).answer, answer, "{tool}");
    }
    assert_eq!(world.proxied("write_file", bad).outcome, Outcome::Excluded);
}

#[test]
fn a158_a_violation_is_told_in_the_documented_words() {
    let verdict = hook("write_file", json!({ "path": "/etc/passwd", "content": "x" }));
    let told = verdict.violation().unwrap().to_json();
    assert_eq!(told["should_swallow"], true);
    let text = "File sandboxing violation: Path '/etc/passwd' is outside project directory \
                '/srv/dev/app'. Operation blocked for security.";
    assert_eq!(told["error_to_model"], text);
    let metadata = &told["metadata"];
    assert_eq!(metadata["decision"], "blocked");
    assert_eq!(metadata["path"], "/etc/passwd");
    assert_eq!(metadata["project_root"], ROOT);
    assert_eq!(metadata["code"], "outside-root");
    assert_eq!(metadata["pointer"], "/path");
    assert_eq!(metadata["tool_name"], "write_file");
    let line = "File sandboxing violation detected for tool 'write_file'";
    assert_eq!(verdict.log_line().as_deref(), Some(line));
    let verdict = hook("write_file", json!({ "path": "x" }));
    assert_eq!((verdict.violation(), verdict.log_line()), (None, None));
}

#[test]
fn nothing_is_judged_in_a_proxy_that_does_not_intercept() {
    let world = World::new("");
    let verdict = world.proxied("write_file", json!({ "path": "/etc/x" }));
    assert_eq!((verdict.answer, verdict.outcome), (Allow, Outcome::Disabled));
    assert_eq!(world.hook("write_file", json!({ "path": "/etc/x" })).answer, Deny, "hooks do");
}

#[test]
fn a_rule_of_the_policy_holds_for_tools_too() {
    let rules = "commands:\n  rules:\n    - { tool: write_file, args: { path: 'secret' }, action: deny }\n    - { tool: edit_file, action: ask }\n";
    let world = World::new(rules);
    assert_eq!(codes(&world.hook("write_file", json!({ "path": "secret.txt" }))), ["rule"]);
    assert_eq!(world.hook("write_file", json!({ "path": "open.txt" })).answer, Allow);
    assert_eq!(world.hook("edit_file", json!({ "path": "open.txt" })).answer, Answer::Ask);
    let read_only = World::new("preset: agentao:read-only");
    assert_eq!(read_only.hook("write_file", json!({ "path": "a" })).answer, Deny);
    assert_eq!(read_only.hook("read_file", json!({ "path": "a" })).answer, Allow);
}

#[test]
fn addresses_of_tools_are_held_against_the_network_of_the_policy() {
    let world = World::new(
        "network: { mode: allow-list, allow: [docs.example.com], deny: [bad.example] }\n",
    );
    for (url, answer) in [
        ("https://docs.example.com/x", Allow),
        ("https://bad.example/", Deny),
        ("https://other.example/", Deny),
        ("http://169.254.169.254/latest", Deny),
        ("http://0xa9.0xfe.0xa9.0xfe/", Deny),
    ] {
        let verdict = world.hook("WebFetch", json!({ "url": url, "prompt": "https://x.example" }));
        assert_eq!(verdict.answer, answer, "{url}: {:?}", codes(&verdict));
    }
    assert_eq!(world.hook("WebFetch", json!({ "urls": ["http://bad.example"] })).answer, Deny);
    // Without a word about the network only the keys of the machine are kept.
    assert_eq!(hook("WebFetch", json!({ "url": "https://example.com/" })).answer, Allow);
    let metadata = json!({ "url": "http://169.254.169.254/" });
    assert_eq!(hook("WebFetch", metadata).answer, Deny);
}
