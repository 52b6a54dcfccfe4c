//! What is remembered of where agents work, when it is damaged: nothing is left open in silence.

use std::fs;
use std::path::PathBuf;

use crate::kit::{PALISADE, Ran, World, as_both};

/// Two places in the home folder, of which one is an agent's.
fn world(from: World) -> World {
    let home = from.home.file("a/Cargo.toml", "[package]\n").file("a/secret", "secret of a");
    let world = World { home: home.file("b/Cargo.toml", "[package]\n"), ..from };
    assert_eq!(run(&world, "a", &["--agent", "alpha", "--", "true"]).code, Some(0));
    world
}

fn run(world: &World, place: &str, arguments: &[&str]) -> Ran {
    let mut command = world.command(PALISADE);
    command.arg("run").args(arguments).current_dir(world.home.path(place));
    world.finish(&mut command)
}

fn entries(world: &World) -> Vec<PathBuf> {
    let folder = world.home.path(".local/state/palisade/workspaces");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|it| it == "workspace")).collect()
}

const LOOK: [&str; 5] = ["--agent", "beta", "--", "sh", "look.sh"];

#[test]
fn a_damaged_entry_stops_agents_and_names_the_file_and_the_remedy() {
    as_both(|from| {
        let world = world(from);
        fs::write(world.home.path("b/look.sh"), "cat ../a/secret; echo looked\n").unwrap();
        let whole = run(&world, "b", &LOOK);
        assert_eq!((whole.code, &*whole.stdout), (Some(0), "looked\n"), "{}", whole.stderr);
        let file = entries(&world)
            .into_iter()
            .find(|entry| fs::read(entry).unwrap().starts_with(b"alpha"))
            .unwrap();
        let bytes = fs::read(&file).unwrap();
        for broken in [&b""[..], b"\xff\xfe", &bytes[..bytes.len() - 1]] {
            fs::write(&file, broken).unwrap();
            let ran = run(&world, "b", &LOOK);
            assert_eq!(ran.code, Some(125), "{}{}", ran.stdout, ran.stderr);
            let name = file.file_name().unwrap().to_str().unwrap();
            for part in ["error[workspaces]", name, "hint: remove it"] {
                assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
            }
            assert!(!ran.stdout.contains("secret"), "{}", ran.stdout);
            let listed = world.run(&["agents", "workspaces", "--json"]);
            assert_eq!(listed.code, Some(125), "{}", listed.stdout);
            // Who is nobody hides nothing, and is not concerned.
            assert_eq!(run(&world, "b", &["--", "true"]).code, Some(0));
        }
        fs::remove_file(&file).unwrap();
        assert_eq!(run(&world, "b", &LOOK).stdout, "secret of alooked\n", "nobody works there");
        assert_eq!(run(&world, "a", &["--agent", "alpha", "--", "true"]).code, Some(0));
        assert_eq!(run(&world, "b", &LOOK).stdout, "looked\n", "it is known again");
    });
}

#[test]
fn too_many_entries_stop_agents_until_those_are_forgotten_that_are_gone() {
    let world = world(World::new());
    fs::write(world.home.path("b/look.sh"), "cat ../a/secret; echo looked\n").unwrap();
    let folder = world.home.path(".local/state/palisade/workspaces");
    for number in 0..4096 {
        fs::write(folder.join(format!("{number}.workspace")), "").unwrap();
    }
    let ran = run(&world, "b", &LOOK);
    assert_eq!((ran.code, &*ran.stdout), (Some(125), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("`palisade agents forget --gone`"), "{}", ran.stderr);
    for number in 0..4096 {
        fs::remove_file(folder.join(format!("{number}.workspace"))).unwrap();
    }
    fs::remove_dir_all(world.home.path("a")).unwrap();
    let forgot = world.run(&["agents", "forget", "--gone"]);
    assert_eq!((forgot.code, &*forgot.stdout), (Some(0), "forgotten: 1\n"), "{}", forgot.stderr);
    assert!(entries(&world).is_empty());
}

#[test]
fn a_place_that_was_moved_behind_a_link_is_hidden_under_both_names() {
    as_both(|from| {
        let world = world(from);
        fs::rename(world.home.path("a"), world.home.path("moved")).unwrap();
        std::os::unix::fs::symlink("moved", world.home.path("a")).unwrap();
        let look = "cat ../a/secret; cat ../moved/secret; echo looked\n";
        fs::write(world.home.path("b/look.sh"), look).unwrap();
        let ran = run(&world, "b", &LOOK);
        assert_eq!((ran.code, &*ran.stdout), (Some(0), "looked\n"), "{}", ran.stderr);
    });
}

/// What agents wrote down of other projects.
const STATE: [(&str, &str); 4] = [
    ("claude", ".claude/projects/p/talk.jsonl"),
    ("codex", ".codex/sessions/2026/talk.jsonl"),
    ("gemini", ".gemini/tmp/talk.json"),
    ("opencode", ".local/share/opencode/storage/talk.json"),
];

/// Returns whose state can be read.
fn read_by(world: &World, arguments: &[&str]) -> Vec<&'static str> {
    let files = STATE.map(|(_, file)| file).join(" ");
    let script = format!("for file in {files}; do cat ~/$file && echo; done; true\n");
    fs::write(world.home.path("b/talk.sh"), script).unwrap();
    let ran = run(world, "b", &[arguments, &["--", "sh", "talk.sh"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let known = STATE.iter().map(|(agent, _)| *agent);
    known.filter(|agent| ran.stdout.contains(&format!("said to {agent}"))).collect()
}

#[test]
fn what_one_agent_wrote_down_no_other_reads() {
    as_both(|from| {
        let mut home = from.home.file("b/Cargo.toml", "[package]\n");
        for (agent, file) in STATE {
            home = home.file(file, format!("said to {agent}"));
        }
        let world = World { home, ..from };
        for (agent, _) in STATE {
            assert_eq!(read_by(&world, &["--agent", agent]), [agent]);
        }
        assert!(read_by(&world, &["--agent", "nobody"]).is_empty());
        // Without an agent nothing is somebody else's.
        assert_eq!(read_by(&world, &[]), STATE.map(|(agent, _)| agent));
        let path = world.home.path(STATE[1].1);
        let read = ["--agent", "claude", "--", "cat", path.to_str().unwrap()];
        let denied = run(&world, "b", &read);
        assert_eq!(denied.code, Some(126), "{}", denied.stderr);
        assert!(denied.stderr.contains("state of another agent"), "{}", denied.stderr);
        // A person can say otherwise, for all or for one.
        let world = world.user_policy(
            "files: { unhide: [~/.gemini] }\nagents: { bot: { files: { write: [., ~/.codex] } } }\n",
        );
        assert_eq!(read_by(&world, &["--agent", "claude"]), ["claude", "gemini"]);
        assert_eq!(read_by(&world, &["--agent", "bot"]), ["codex", "gemini"]);
    });
}

#[test]
fn one_agent_is_forgotten_and_the_others_stay() {
    let world = World::new();
    for agent in ["claude", "codex"] {
        let ran = world.run(&["run", "--agent", agent, "--", "true"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }
    let forgot = world.run(&["agents", "forget", "--agent", "codex"]);
    assert!(forgot.stdout.ends_with(" is no workspace of `codex`\n"), "{}", forgot.stdout);
    let left = world.json(&["agents", "workspaces", "--json"]);
    let left: Vec<_> = left["workspaces"].as_array().unwrap().iter().collect();
    assert_eq!((left.len(), &left[0]["agent"]), (1, &"claude".into()));
    let again = world.run(&["agents", "forget", "--agent", "codex"]);
    assert!(again.stderr.contains("that agent has not worked there"), "{}", again.stderr);
}

#[test]
fn a_folder_inside_the_state_of_another_agent_can_be_read_and_nothing_beside_it() {
    as_both(|from| {
        let home = from.home.file("b/Cargo.toml", "[package]\n");
        let home = home.file(".claude/history", "said").file(".claude/projects/one", "shared");
        let world = World { home, ..from };
        let world = world.user_policy("files: { write: [., ~/.claude/projects] }\n");
        let script = "cat ~/.claude/history; cat ~/.claude/projects/one\n\
                      echo more > ~/.claude/projects/two; touch ~/.claude/here; true\n";
        fs::write(world.home.path("b/talk.sh"), script).unwrap();
        let ran = run(&world, "b", &["--agent", "codex", "--", "sh", "talk.sh"]);
        assert_eq!((ran.code, &*ran.stdout), (Some(0), "shared"), "{}", ran.stderr);
        assert!(ran.stderr.contains("lies in the state of `claude`"), "{}", ran.stderr);
        for file in ["projects/two", "here"] {
            assert!(!world.home.path(".claude").join(file).exists(), "{file}");
        }
        for (file, code) in [("history", 126), ("projects/one", 0)] {
            let path = world.home.path(format!(".claude/{file}"));
            let read = ["--agent", "codex", "--", "cat", path.to_str().unwrap()];
            assert_eq!(run(&world, "b", &read).code, Some(code), "{file}");
        }
    });
}
