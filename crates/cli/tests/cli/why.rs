//! What `palisade why` says is what a command finds: every answer is compared with what one tried.

use std::fs;

use serde_json::{Value as Json, json};

use crate::kit::{World, as_both};

/// Tries to read and to change each path of a list. A folder is changed by making something in it.
const TRY: &str = r#"import json, os, sys
told = {}
for path in json.load(open("paths.json")):
    it = {"reads": False, "tried": None}
    try:
        it["reads"] = "secret" in open(path).read() if not os.path.isdir(path) else None
    except OSError as error:
        it["reads"] = False
    try:
        if os.path.isdir(path): open(path + "/made", "w").write("x")
        else: open(path, "a").write("-changed")
    except OSError as error:
        it["tried"] = error.errno
    told[path] = it
json.dump(told, open("told.json", "w"))
"#;

const POLICY: &str = "version: 1
files: { hide: ['**/.env'] }
network: { mode: allow-list, allow: [api.example.com, '*.example.org:8443'], deny: [bad.example.org], ask: [ask.example.com] }
";

/// Returns what `why` says of a path or a host.
fn why(world: &World, about: &str) -> Json {
    world.json(&["why", about, "--json"])
}

#[test]
fn what_it_says_of_paths_is_what_a_command_finds() {
    as_both(|world| {
        let world = world.user_policy(POLICY);
        let secret = "secret";
        for file in [".ssh/id", "notes.txt", ".config/gh/hosts.yml"] {
            let path = world.home.path(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, secret).unwrap();
        }
        for file in ["src/main.rs", ".env", ".git/config", ".git/HEAD", ".bashrc"] {
            world.write(file, secret);
        }
        let outside = ["/etc/hosts", "/etc/passwd", "/var/tmp/palisade-why", "/opt/palisade-why"];
        let inside =
            ["src/main.rs", "src/new.rs", ".env", ".git/config", ".git/HEAD", ".bashrc", ".vscode"];
        let home = [".ssh/id", "notes.txt", ".config/gh/hosts.yml", ".ssh/new"];
        let text = |path: std::path::PathBuf| path.to_str().unwrap().to_owned();
        let mut paths: Vec<String> = outside.map(str::to_owned).into();
        paths.extend(inside.map(|file| text(world.project.path(file))));
        paths.extend(home.map(|file| text(world.home.path(file))));

        let said: Vec<Json> = paths.iter().map(|path| why(&world, path)).collect();
        world.write("paths.json", json!(paths).to_string());
        world.write("try.py", TRY);
        let ran = world.run(&["run", "--", "/usr/bin/python3", "try.py"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let told = fs::read_to_string(world.project.path("told.json")).unwrap();
        let told: Json = serde_json::from_str(&told).unwrap();

        let mut kinds = Vec::new();
        for (path, said) in paths.iter().zip(&said) {
            let now = fs::read_to_string(path).unwrap_or_default();
            let was_secret = now.starts_with(secret);
            // What the host has there was read, or what it has there was changed.
            if was_secret {
                assert_eq!(said["reads"], told[path]["reads"], "{path}: {said:#} {told:#}");
            }
            let is_changed = now.ends_with("-changed") || now == "x";
            assert_eq!(said["writes"], is_changed, "{path}: {said:#} {told:#}");
            kinds.push(said["finds"].as_str().unwrap().to_owned());
        }
        for kind in [
            "writable",
            "readable",
            "protected",
            "reserved",
            "nothing",
            "covered",
            "own",
            "replaced",
        ] {
            assert!(kinds.iter().any(|it| it == kind), "{kind}: {kinds:?}");
        }
    });
}

#[test]
fn what_it_says_of_hosts_is_what_a_command_reaches() {
    as_both(|world| {
        let world = world.user_policy(POLICY);
        let names = [
            ("api.example.com", "allow", 0),
            ("x.example.org:8443", "allow", 0),
            ("bad.example.org:8443", "deny", 126),
            ("other.example.com", "deny", 126),
            ("ask.example.com", "ask", 3),
        ];
        for (name, answer, code) in names {
            let ran = world.run(&["why", name, "--json"]);
            assert_eq!(ran.code, Some(code), "{name}: {}{}", ran.stdout, ran.stderr);
            let said: Json = serde_json::from_str(&ran.stdout).unwrap();
            assert_eq!(said["answer"], answer, "{name}: {said:#}");
            let host = name.split(':').next().unwrap();
            let ran = world.run(&["run", "--", "/usr/bin/getent", "hosts", host]);
            assert_eq!(ran.code == Some(0), answer != "deny", "{name}: {}", ran.stderr);
        }
    });
    let said = why(&World::new(), "https://example.com/x");
    assert_eq!((&said["answer"], &said["code"]), (&json!("deny"), &json!("no-network")));
}

#[test]
fn what_it_says_of_a_command_is_what_check_says() {
    let world = World::new();
    for argv in [&["--", "ls"][..], &["--", "rm", "-rf", "/etc"], &["--shell", "cat ~/.ssh/id"]] {
        let why = world.run(&[&["why", "--json"], argv].concat());
        let check = world.run(&[&["check", "--json"], argv].concat());
        assert_eq!(why.code, check.code, "{argv:?}: {}", why.stderr);
        let (why, check): (Json, Json) = (
            serde_json::from_str(&why.stdout).unwrap(),
            serde_json::from_str(&check.stdout).unwrap(),
        );
        assert_eq!(why["reasons"], check["reasons"], "{argv:?}");
    }
}

#[test]
fn it_names_the_step_and_the_line_and_what_to_do() {
    let world = World::new();
    let ran = world.run(&["why", "~/.ssh"]);
    assert!(ran.stdout.contains("files.hide (built-in policies/builtin.yaml"), "{}", ran.stdout);
    assert!(ran.stdout.contains("files.unhide"), "{}", ran.stdout);
    let ran = world.run(&["why", "/etc/passwd"]);
    assert!(ran.stdout.contains("of the plan: seal-root"), "{}", ran.stdout);
    assert_eq!(world.run(&["why"]).code, Some(2));
    assert_eq!(world.run(&["why", "--host", "a b"]).code, Some(125));
}
