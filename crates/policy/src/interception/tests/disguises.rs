//! Paths, patterns and commands where one does not look for them.

use super::*;
use Answer::{Allow, Ask, Deny};

#[test]
fn a154_a_parameter_called_shell_may_hold_the_command() {
    for call in [
        json!({ "shell": "rm -rf /etc" }),
        json!({ "command": "ls", "shell": "rm -rf /etc" }),
        json!({ "shell": "/bin/rm", "args": ["-rf", "/etc"] }),
        json!({ "shell": "bash", "args": ["-c", "rm -rf /etc"] }),
        json!({ "shell": "bash", "input": "rm -rf /etc" }),
        json!({ "shell": ["bash", "-c", "rm -rf /etc"] }),
        json!({ "bash": "rm -rf /etc" }),
        json!({ "terminal": "rm -rf /etc" }),
        json!({ "run": "rm -rf /etc" }),
        json!({ "command": "ls", "shell": "/srv/other/sh" }),
    ] {
        let verdict = hook("bash", call.clone());
        assert_ne!(verdict.answer, Allow, "{call}");
        assert!(!codes(&verdict).contains(&"no-paths"), "{call}: it was seen");
    }
    let hidden = json!({ "path": "a", "shell": "rm -rf /etc" });
    assert_eq!(hook("write_file", hidden).answer, Deny, "of any tool");
    for call in [
        json!({ "shell": "bash", "command": "ls" }),
        json!({ "shell": "/usr/bin/zsh", "command": "ls" }),
        json!({ "shell": "powershell.exe", "command": "ls" }),
        json!({ "shell": true, "command": "ls" }),
        json!({ "shell": "cargo test" }),
        json!({ "shell": "bash", "args": ["-c", "ls"] }),
    ] {
        assert_eq!(hook("bash", call.clone()).answer, Allow, "{call}");
    }
    assert_eq!(hook("write_file", json!({ "path": "a", "shell": "fish" })).answer, Allow);
}

#[test]
fn a146_keys_of_objects_are_paths_where_they_look_like_one() {
    #[rustfmt::skip]
    let cases = [
        ("edit_files",  json!({ "changes": { "/etc/passwd": "x" } }),                 Deny),
        ("edit_files",  json!({ "changes": { "/etc/file": "x" } }),                   Deny),
        ("edit_files",  json!({ "changes": { "../x": { "edits": [] } } }),            Deny),
        ("edit_files",  json!({ "updates": [{ "~/.bashrc": "x" }] }),                 Deny),
        ("edit_files",  json!({ "edits": { ".git/hooks/pre-commit": "x" } }),         Deny),
        ("write_files", json!({ "files": { ".mcp.json": "x" } }),                     Deny),
        ("write_files", json!({ "/etc/passwd": "x" }),                                Deny),
        ("write_files", json!({ "map": { "C:\\Windows\\x": "x" } }),                  Deny),
        ("move_file",   json!({ "renames": { "a": "/etc/x" } }),                      Deny),
        ("move_file",   json!({ "renames": { "a": "../../x" } }),                     Deny),
        ("edit_files",  json!({ "changes": { "src/a.rs": "x", "b": "y" } }),          Allow),
        ("write_file",  json!({ "path": "a", "headers": { "text/html": "x" } }),      Allow),
        ("write_file",  json!({ "path": "a", "content": { "/users": { "get": 1 } } }), Allow),
        ("move_file",   json!({ "path": "a", "renames": { "a": "b/c" } }),            Allow),
        ("move_file",   json!({ "path": "a", "note": "see / and ../x for more" }),    Allow),
    ];
    for (tool, call, answer) in cases {
        let verdict = hook(tool, call.clone());
        assert_eq!(verdict.answer, answer, "{tool} {call}: {:?}", codes(&verdict));
    }
}

#[test]
fn a146_a_pattern_is_judged_by_what_it_may_name() {
    #[rustfmt::skip]
    let cases = [
        ("glob",         json!({ "pattern": "/etc/**" }),                             Ask),
        ("Glob",         json!({ "pattern": "/etc/s*" }),                             Ask),
        ("glob",         json!({ "pattern": "/**" }),                                 Ask),
        ("glob",         json!({ "pattern": "~/**" }),                                Ask),
        ("glob",         json!({ "pattern": "~/.s*/id_*" }),                          Ask),
        ("glob",         json!({ "pattern": "~/.ssh/*" }),                            Deny),
        ("search_files", json!({ "path": ".", "filePattern": "~/.ssh/*" }),           Deny),
        ("list_files",   json!({ "path": "/etc/shad?w" }),                            Ask),
        ("delete_file",  json!({ "path": "*" }),                                      Ask),
        ("delete_file",  json!({ "path": "./**/*" }),                                 Ask),
        ("delete_file",  json!({ "paths": ["a", "*.*"] }),                            Ask),
        ("delete_file",  json!({ "path": ".*" }),                                     Ask),
        ("delete_file",  json!({ "pattern": "/etc/**" }),                             Deny),
        ("move_file",    json!({ "source": "*", "destination": "old" }),              Ask),
        ("Glob",         json!({ "pattern": ".ssh/*", "path": "/home/dev" }),         Deny),
        ("Glob",         json!({ "pattern": "{.ssh,x}/*", "path": "/home/dev" }),     Deny),
        ("Glob",         json!({ "pattern": "~/{a,{b,.ssh}}/*" }),                    Deny),
        ("Glob",         json!({ "pattern": "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}/x" }), Deny),
        ("Glob",         json!({ "pattern": "shadow", "path": "/etc" }),              Ask),
        ("codebase_search", json!({ "query": "x", "target_directories": ["~/.ssh"] }), Deny),
        ("codebase_search", json!({ "query": "x", "target_directories": ["src"] }),   Allow),
        ("codebase_search", json!({ "queries": ["/x/"], "query": ["~/.ssh"] }),       Allow),
        ("Glob",         json!({ "pattern": "src/**/*.{ts,tsx}", "path": "." }),      Allow),
        ("Glob",         json!({ "pattern": "*.{h,hpp}", "path": "/usr/include" }),   Allow),
        ("glob",         json!({ "pattern": "**/*.rs" }),                             Allow),
        ("glob",         json!({ "pattern": "*" }),                                   Allow),
        ("glob",         json!({ "pattern": "/usr/include/*.h" }),                    Allow),
        ("grep",         json!({ "pattern": "/etc/.*", "path": "." }),                Allow),
        ("replace",      json!({ "path": "a", "pattern": "/x/.*" }),                  Allow),
        ("delete_file",  json!({ "path": "pages/[id].tsx" }),                         Allow),
        ("delete_file",  json!({ "path": "build/*" }),                                Allow),
        ("delete_file",  json!({ "path": "*.log" }),                                  Allow),
        ("write_file",   json!({ "path": "*" }),                                      Allow),
    ];
    for (tool, call, answer) in cases {
        let verdict = hook(tool, call.clone());
        assert_eq!(verdict.answer, answer, "{tool} {call}: {:?}", codes(&verdict));
    }
    assert_eq!(codes(&hook("delete_file", json!({ "path": "*" }))), ["bulk-delete"]);
}

#[test]
fn a146_a_folder_and_a_name_are_one_path_in_two_parameters() {
    #[rustfmt::skip]
    let cases = [
        ("write_file",  json!({ "dir": "/etc", "filename": "passwd" }),               Deny),
        ("write_file",  json!({ "path": ".git", "name": "HEAD" }),                    Deny),
        ("write_file",  json!({ "dirname": ".git/hooks", "basename": "pre-commit" }), Deny),
        ("delete_file", json!({ "path": ".git", "file_name": "config" }),             Deny),
        ("read_file",   json!({ "dir": "/etc", "filename": "shadow" }),               Ask),
        ("read_file",   json!({ "path": "/etc", "name": "shadow" }),                  Ask),
        ("read_file",   json!({ "dir": "~", "filename": ".ssh/id_rsa" }),             Deny),
        ("read_file",   json!({ "location": "~", "entry": 1, "file": ".netrc" }),     Deny),
        ("read_file",   json!({ "dir": "/etc", "filename": "hosts" }),                Allow),
        ("read_file",   json!({ "dir": "src", "filename": "main.rs" }),               Allow),
        ("write_file",  json!({ "dir": "src", "filename": "main.rs" }),               Allow),
        ("write_file",  json!({ "path": "src", "name": "main.rs" }),                  Allow),
    ];
    for (tool, call, answer) in cases {
        let verdict = hook(tool, call.clone());
        assert_eq!(verdict.answer, answer, "{tool} {call}: {:?}", codes(&verdict));
    }
}

#[test]
fn a152_applying_no_patch_does_not_pass_as_checked() {
    for call in [
        json!({ "path": "a" }),
        json!({ "patch": "" }),
        json!({ "patch": "fix.diff" }),
        json!({ "path": "a", "input": " \n" }),
    ] {
        let verdict = hook("apply_patch", call.clone());
        assert_eq!(verdict.answer, Deny, "{call}");
        let verdict = World::proxy(false).proxied("apply_patch", call.clone());
        assert_eq!(verdict.answer, Allow, "{call}: not strictly");
        assert_ne!(verdict.outcome, Outcome::Judged, "{call}");
        assert!(!verdict.passed.is_empty(), "{call}: and it is told");
    }
    let edit = json!({ "path": "a", "edits": [{ "old": "x", "new": "y" }] });
    assert_eq!(hook("patch_file", edit).answer, Allow, "an edit under another name");
}
