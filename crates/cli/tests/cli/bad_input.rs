//! What bad input gets: one clear error with its place, exit 125, nothing run, and never more than
//! 64 MiB of memory.

use std::fs::File;
use std::os::unix::net::UnixListener;
use std::process::Command;

use crate::kit::World;

/// Puts something at a path of the project.
type Make = fn(&World, &str);

/// What lies at the path.
#[derive(Clone, Copy)]
enum Content {
    Made(Make),
    Text(&'static str),
}

impl Content {
    fn put(self, world: &World, at: &str) {
        match self {
            Self::Made(make) => make(world, at),
            Self::Text(text) => world.write(at, text),
        }
    }
}

fn alias_bomb(world: &World, at: &str) {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let below = format!("*a{}", level - 1);
        let line = [below.as_str(); 10].join(", ");
        text.push_str(&format!("a{level}: &a{level} [{line}]\n"));
    }
    world.write(at, text);
}

fn gigabyte(world: &World, at: &str) {
    world.write(at, "version: 1\n");
    File::options().write(true).open(world.project.path(at)).unwrap().set_len(1 << 30).unwrap();
}

fn fifo(world: &World, at: &str) {
    world.write(&format!("{at}.beside"), "");
    let made = Command::new("mkfifo").arg(world.project.path(at)).status().unwrap();
    assert!(made.success());
}

fn socket(world: &World, at: &str) {
    world.write(&format!("{at}.beside"), "");
    drop(UnixListener::bind(world.project.path(at)).unwrap());
}

fn folder(world: &World, at: &str) {
    world.write(&format!("{at}/inside"), "");
}

fn dangling(world: &World, at: &str) {
    world.write(&format!("{at}.beside"), "");
    std::os::unix::fs::symlink("nowhere", world.project.path(at)).unwrap();
}

#[test]
fn bad_input_gets_one_clear_error_with_its_place() {
    use Content::{Made, Text};
    let nested: Make = |world, at| world.write(at, "[".repeat(10_000));
    let deep_map: Make = |world, at| world.write(at, "{a: ".repeat(10_000));
    let blocks: Make = |world, at| {
        let lines = (0..1_000).map(|depth| format!("{}a:\n", " ".repeat(depth)));
        world.write(at, lines.collect::<String>());
    };
    let not_utf8: Make = |world, at| world.write(at, b"version: 1\nroot: \xff\n");
    let nul: Make = |world, at| world.write(at, b"version: 1\n\nroot: \0\n");
    #[rustfmt::skip]
    let cases: [(&str, Content, &str, &str); 27] = [
        // file     content                                            code                   place
        ("p.yaml", Text("version: 1\nfiles: [a\n"),                   "yaml",                "p.yaml:2:8"),
        ("p.yaml", Text("version: 1\n\tfiles: {}\n"),                 "yaml",                "p.yaml:1:10"),
        ("p.yaml", Text("version: \"1\n"),                            "yaml",                "p.yaml:"),
        ("p.yaml", Text("version: 1\n---\nversion: 1\n"),             "several-documents",   "p.yaml:2:1"),
        ("p.yaml", Text("files: !!map {}\n"),                         "tag",                 "p.yaml:1:"),
        ("p.json", Text("{\n  \"version\": 1,,\n}"),                  "json",                "p.json:2:16"),
        ("p.json", Text("{ \"version\": 1 } x"),                      "json",                "p.json:1:18"),
        ("p.yaml", Text("limits: { timeout: [1] }\n"),                "wrong-type",          "p.yaml:1:20"),
        ("p.yaml", Text("files: yes\n"),                              "wrong-type",          "p.yaml:1:8"),
        ("p.yaml", Text("- version\n"),                               "wrong-type",          "p.yaml:1:1"),
        ("p.yaml", Text("version: 2\n"),                              "version",             "p.yaml:1:10"),
        ("p.yaml", Text("version: 1\nfile: {}\n"),                    "unknown-key",         "p.yaml:2:1"),
        ("p.yaml", Text("root: .\nversion: 1\nroot: /\n"),            "duplicate-key",       "p.yaml:3:1"),
        ("p.json", Text("{\"root\": \".\", \"root\": \"/\"}"),        "duplicate-key",       "p.json:1:15"),
        ("p.yaml", Text(""),                                          "policy-empty",        "p.yaml"),
        ("p.yaml", Text(" \n\u{feff}\n"),                             "empty",               "p.yaml"),
        ("p.yaml", Text("# nothing but a remark\n"),                  "empty",               "p.yaml"),
        ("p.yaml", Made(alias_bomb),                                  "too-many-values",     "p.yaml:5:"),
        ("p.yaml", Made(nested),                                      "too-deep",            "p.yaml:1:"),
        ("p.json", Made(nested),                                      "too-deep",            "p.json:1:"),
        ("p.yaml", Made(deep_map),                                    "too-deep",            "p.yaml:1:"),
        ("p.yaml", Made(blocks),                                      "too-deep",            "p.yaml:"),
        ("p.yaml", Made(not_utf8),                                    "policy-not-utf8",     "line 2"),
        ("p.yaml", Made(nul),                                         "policy-nul-byte",     "line 3"),
        ("p.yaml", Made(gigabyte),                                    "policy-too-large",    "p.yaml"),
        ("p.yaml", Made(folder),                                      "policy-is-folder",    "p.yaml"),
        ("p.yaml", Made(fifo),                                        "policy-is-fifo",      "p.yaml"),
    ];
    for (file, content, code, place) in cases {
        let world = World::new();
        content.put(&world, file);
        for arguments in [&["policy", "check", file][..], &["policy", "show", "--policy", file]] {
            expect(&world, arguments, code, place);
        }
        // The same, lying where it is found by itself.
        if file == "p.yaml" {
            let world = World::new();
            content.put(&world, ".palisade/policy.yaml");
            let place = place.replace("p.yaml", ".palisade/policy.yaml");
            expect(&world, &["policy", "show"], code, &place);
            expect(&world, &["trust", "--yes"], code, &place);
        }
    }
}

#[test]
fn what_is_not_a_file_gets_one_clear_error() {
    let world = World::new();
    socket(&world, "socket.yaml");
    dangling(&world, "link.yaml");
    for (file, code) in [
        ("gone.yaml", "policy-missing"),
        ("no/such/folder.yaml", "policy-missing"),
        ("socket.yaml", "policy-is-socket"),
        ("/dev/zero", "policy-is-device"),
    ] {
        expect(&world, &["policy", "check", file], code, file);
        expect(&world, &["policy", "show", "--policy", file], code, file);
    }
    // Of what lies outside the project nothing is told when its files are checked.
    expect(&world, &["policy", "check", "link.yaml"], "policy-outside-root", "link.yaml");
    expect(
        &world,
        &["policy", "show", "--policy", "link.yaml"],
        "policy-dangling-link",
        "link.yaml",
    );
}

#[test]
fn an_error_for_programs_is_one_object_that_says_nothing_was_executed() {
    let world = World::with_policy("version: 1\nnetwrok: {}\n");
    let ran = world.run(&["policy", "show", "--json"]);
    assert_eq!(ran.code, Some(125));
    let error: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    insta::assert_snapshot!(format!("{error:#}"), @r#"
    {
      "error": {
        "code": "unknown-key",
        "message": "unknown key `netwrok`",
        "file": "/home/dev/app/.palisade/policy.yaml",
        "line": 2,
        "hint": "did you mean `network`?"
      },
      "executed": false
    }
    "#);
    assert_eq!(ran.stderr, "");
}

fn expect(world: &World, arguments: &[&str], code: &str, place: &str) {
    let ran = world.run_in_64_mib(arguments);
    let told = format!("{arguments:?} {code}: {:?}\n{}{}", ran.code, ran.stdout, ran.stderr);
    assert_eq!(ran.code, Some(125), "{told}");
    assert_eq!(ran.stdout, "", "{told}");
    assert_eq!(ran.stderr.matches("error[").count(), 1, "{told}");
    assert!(ran.stderr.contains(&format!("error[{code}]")), "{told}");
    assert!(ran.stderr.contains(place), "{place}: {told}");
}
