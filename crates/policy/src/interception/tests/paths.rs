//! How paths are spelled.

use super::*;
use Answer::{Allow, Deny};

#[test]
fn a207_addresses_images_and_code_are_not_taken_for_paths() {
    let jpeg = format!("/9j/{}", "4AAQSkZJRgABAQ".repeat(20));
    #[rustfmt::skip]
    let cases = [
        // name      value                                        answer  because
        ("image",    "https://example.com/a.png",                 Allow,  "an address"),
        ("image",    "data:image/png;base64,iVBORw0KGgo/AAA/BBB", Allow,  "an image"),
        ("image",    jpeg.as_str(),                               Allow,  "an image, bare"),
        ("source",   "fn main() {\n    println!(\"/etc/x\");\n}",  Allow,  "code"),
        ("source",   "// see /etc/x\nlet a = 1;",                 Allow,  "code with a remark"),
        ("source",   "const root = '/etc';",                      Allow,  "code in one line"),
        ("target",   "es2022",                                    Allow,  "a word"),
        ("target",   "x86_64-unknown-linux-gnu",                  Allow,  "a word"),
        ("target",   "git+ssh://example.com/a/b.git",             Allow,  "an address"),
        ("image",    "/etc/a.png",                                Deny,   "a path"),
        ("source",   "../../a.rs",                                Deny,   "a path"),
        ("target",   "~/x",                                       Deny,   "a path"),
        ("target",   "/etc/cron.d/a(1)",                          Deny,   "a path with odd letters"),
        ("image",    "file:///etc/a.png",                         Deny,   "a path, as an address"),
        ("target",   "x://a/../../../../../etc/x",                Deny,   "an address that climbs"),
        ("source",   "C:\\Windows\\system.ini",                   Deny,   "a path of Windows"),
        ("path",     "/etc/(a)",                                  Deny,   "a path is always one"),
    ];
    for (name, value, answer, because) in cases {
        let verdict = hook("generate_image", json!({ "path": "out.png", name: value }));
        assert_eq!(verdict.answer, answer, "{name}={value}: {because}");
    }
    let verdict = hook("generate_image", json!({ "image": "https://example.com/a.png" }));
    assert_eq!(codes(&verdict), ["no-paths"], "an address does not stand in for a path");
}

#[test]
fn uris_are_read_as_the_paths_they_stand_for() {
    #[rustfmt::skip]
    let cases = [
        ("file:///srv/dev/app/a",           Allow),
        ("file://localhost/srv/dev/app/a",  Allow),
        ("file:/srv/dev/app/a",             Allow),
        ("FILE:///srv/dev/app/a%20b",       Allow),
        ("file:///etc/x",                   Deny),
        ("file:/etc/x",                     Deny),
        ("FILE:///etc/x",                   Deny),
        ("file://localhost/etc/x",          Deny),
        ("file://server/share/x",           Deny),
        ("file:///srv/dev/app/%2e%2e/x",    Deny),
        ("file:///srv/dev/app/%252e%252e/x", Deny),
        ("file:///srv/dev/app/..%2fx",      Deny),
        ("file:///etc/x?/srv/dev/app",      Deny),
        ("file:///C:/Windows/x",            Deny),
        ("file://~/x",                      Deny),
        ("file:///srv/dev/app/%00",         Deny),
        ("https://example.com/",            Allow),
    ];
    for (uri, answer) in cases {
        let verdict = hook("write_file", json!({ "path": "a", "documentUri": uri }));
        assert_eq!(verdict.answer, answer, "{uri}");
    }
}

#[test]
fn windows_spellings_are_read_both_ways() {
    #[rustfmt::skip]
    let cases = [
        ("src\\main.rs",           Allow),
        ("src\\..\\a",             Allow),
        ("..\\..\\x",              Deny),
        ("src\\../..\\../x",       Deny),
        ("C:\\Windows\\x",         Deny),
        ("c:/Windows/x",           Deny),
        ("C:..\\x",                Deny),
        ("\\\\server\\share\\x",   Deny),
        ("//server/share/x",       Deny),
        ("\\\\?\\C:\\x",           Deny),
        ("\\etc\\x",               Deny),
        ("a:b.txt",                Allow),
    ];
    for (path, answer) in cases {
        assert_eq!(hook("write_file", json!({ "path": path })).answer, answer, "{path}");
    }
}

#[test]
fn paths_stand_in_keys_and_in_texts_of_json() {
    #[rustfmt::skip]
    let cases = [
        (json!({ "files": { "/etc/x": "content" } }),                          "/files/~1etc~1x"),
        (json!({ "path": "a", "arguments": "{\"path\":\"/etc/x\"}" }),          "/arguments/path"),
        (json!({ "paths": "[\"a\",\"/etc/x\"]" }),                               "/paths/1"),
        (json!({ "paths": "a, /etc/x" }),                                      "/paths"),
        (json!({ "files": [{ "name": "/etc/x", "content": "" }] }),            "/files/0/name"),
        (json!({ "from": "a", "to": "/etc/x", "path": "a" }),                  "/to"),
    ];
    for (arguments, pointer) in cases {
        let verdict = hook("write_file", arguments.clone());
        assert_eq!(pointers(&verdict), [pointer], "{arguments}");
    }
    let text = serde_json::to_string(&json!({ "path": "/etc/x" }).to_string()).unwrap();
    let verdict = World::new("").text(Door::Hook, "write_file", &text);
    assert_eq!(codes(&verdict), ["outside-root"], "all of the arguments in one text");
}

#[test]
fn what_a_tool_does_decides_what_must_be_allowed() {
    #[rustfmt::skip]
    let cases = [
        ("write_file",  json!({ "path": ".git/hooks/pre-commit" }),               Deny),
        ("copy_file",   json!({ "source": ".git/config", "destination": "a" }),   Allow),
        ("copy_file",   json!({ "source": "a", "destination": ".git/config" }),   Deny),
        ("copy_file",   json!({ "source": "/etc/x", "destination": "a" }),        Deny),
        ("move_file",   json!({ "source": ".git/config", "destination": "a" }),   Deny),
        ("move_file",   json!({ "source": "a", "destination": "b" }),             Allow),
        ("delete_file", json!({ "path": ".git" }),                                Deny),
        ("delete_file", json!({ "path": "build" }),                               Allow),
    ];
    for (tool, arguments, answer) in cases {
        assert_eq!(hook(tool, arguments.clone()).answer, answer, "{tool} {arguments}");
    }
}

#[test]
fn a_list_of_parameters_that_replaces_ours_is_all_there_is() {
    let mut world = World::new("");
    let said = Origin::of(Layer::User);
    let name = Sourced { value: crate::key::Line("where".into()), origin: said.clone() };
    let mut tools = world.interception.tools.clone();
    tools.path_parameters = crate::key::Replaceable::replacing(vec![name], said);
    world.interception.parameters = Parameters::new(&tools).into();
    assert_eq!(codes(&world.hook("write_file", json!({ "where": "/etc/x" }))), ["outside-root"]);
    let verdict = world.hook("write_file", json!({ "where": "a", "path": "/etc/x" }));
    assert_eq!(verdict.answer, Allow);
}

#[test]
fn a_second_path_stands_beside_the_first_under_many_names() {
    for (tool, call) in [
        ("write_file", json!({ "path": "src/a.py", "uri": "/etc/passwd", "content": "x" })),
        ("write_file", json!({ "path": "src/a.py", "fileUri": "/etc/passwd" })),
        ("write_file", json!({ "path": "src/a.py", "save_as": "/etc/passwd" })),
        ("rename_file", json!({ "path": "src/a.py", "rename_to": "/etc/x" })),
        ("copy_file", json!({ "path": "src/a.py", "copy_to": "/etc/x" })),
        ("copy_file", json!({ "src": "src/a.py", "into": "/etc" })),
        ("copy_file", json!({ "path": "x", "input": "/etc/passwd" })),
        ("write_file", json!({ "base": "/etc", "path": "passwd" })),
    ] {
        assert_ne!(hook(tool, call.clone()).answer, Allow, "{tool} {call}");
    }
    for (tool, call) in [
        ("rename_file", json!({ "path": "src/a.py", "rename_to": "src/b.py" })),
        ("write_file", json!({ "path": "src/a.py", "input": "text", "content": "/* a */" })),
        ("read_file", json!({ "path": "src/a.py", "include": ["*.py"] })),
    ] {
        assert_eq!(hook(tool, call.clone()).answer, Allow, "{tool} {call}");
    }
}

#[test]
fn folders_above_the_root_do_not_open_a_home_that_is_reached_by_a_link() {
    /// `/home/dev` is a link to `/data/dev`.
    struct Moved;
    impl Lookup for Moved {
        fn look(&self, path: &str) -> Entry {
            match path {
                HOME => Entry::Link("/data/dev".into()),
                "/home" | "/data" | "/data/dev" | "/data/dev/code" | "/data/dev/code/app" => {
                    Entry::Folder
                }
                _ => Entry::Absent,
            }
        }
    }
    for root in ["/data/dev/code/app", "/home/dev/code/app"] {
        let world = World::on(root, "tools: { allow_parent: 3 }", &Moved);
        let judge = |path: &str| {
            let arguments = json!({ "path": path }).to_string();
            world.seen(Door::Hook, "write_file", &arguments, &Moved).answer
        };
        assert_eq!(judge("/data/dev/code/x"), Allow, "{root}");
        assert_eq!(judge("/data/dev/x"), Deny, "{root}: the home folder");
        assert_eq!(judge("/data/x"), Deny, "{root}: what holds it");
    }
}

#[test]
fn what_a_repository_stands_on_is_for_git_alone() {
    for path in [".git/objects", ".git/HEAD"] {
        assert_ne!(hook("delete_file", json!({ "path": path })).answer, Allow, "{path}");
    }
    assert_ne!(hook("write_file", json!({ "path": ".git/HEAD" })).answer, Allow);
    for path in ["src/a.py", "app/[id]/page.tsx", "build/*.o"] {
        assert_eq!(hook("delete_file", json!({ "path": path })).answer, Allow, "{path}");
    }
}

#[test]
fn what_is_searched_is_a_folder_and_the_names_in_it() {
    for (tool, arguments) in [
        ("Grep", json!({ "pattern": ".", "path": "/etc", "glob": "shadow" })),
        ("Grep", json!({ "pattern": ".", "path": "~", "glob": ".ssh/*" })),
        ("Grep", json!({ "pattern": "PRIVATE", "path": "/home/dev" })),
        ("Grep", json!({ "pattern": ".", "path": "/", "glob": "etc/shadow" })),
        ("grep_search", json!({ "query": ".", "includePattern": "/etc/shadow" })),
        ("grep_search", json!({ "query": ".", "include_pattern": "/home/dev/.ssh/*" })),
        ("Read", json!({ "file_path": "src/a.py", "also": "/etc/shadow" })),
        ("Read", json!({ "file_path": "/home/dev/.pgpass" })),
    ] {
        assert_ne!(hook(tool, arguments.clone()).answer, Allow, "{tool} {arguments}");
    }
    for (tool, arguments) in [
        ("Grep", json!({ "pattern": "shadow", "path": "/etc/nginx", "glob": "*.conf" })),
        ("Grep", json!({ "pattern": "/etc/shadow", "path": "src", "glob": "*.rs" })),
        ("Grep", json!({ "pattern": "x", "glob": "**/*.ts" })),
        ("Grep", json!({ "pattern": "x", "path": "/usr/include" })),
        ("Glob", json!({ "pattern": "*.md", "path": "/home/dev" })),
        ("grep_search", json!({ "query": "~/.ssh", "includePattern": "src/*.py" })),
        ("Read", json!({ "file_path": "src/a.py", "also": "/etc/hosts" })),
    ] {
        assert_eq!(hook(tool, arguments.clone()).answer, Allow, "{tool} {arguments}");
    }
}

#[test]
fn a_path_with_characters_that_nobody_sees_is_refused() {
    for path in ["src/\u{202e}gpj.py", "src/a\u{200b}.py", "\u{feff}src/a.py"] {
        let verdict = hook("write_file", json!({ "path": path, "content": "x" }));
        assert_eq!(verdict.answer, Deny, "{path:?}");
        assert!(codes(&verdict).contains(&"invisible-character"), "{path:?}");
    }
    for path in ["src/naïve.py", "docs/日本語.md", "docs/\u{26a0}\u{fe0f}.md", "src/a b.py"] {
        let verdict = hook("write_file", json!({ "path": path, "content": "\u{200b}" }));
        assert_eq!(verdict.answer, Allow, "{path:?}");
    }
}
