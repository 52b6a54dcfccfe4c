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
