//! What Palisade keeps for itself is nobody's to read behind the walls.

use std::fs;
use std::process::Stdio;

use palisade_testkit::hosts::{DROPPED, FILTERED};

use crate::agents::awaited;
use crate::kit::{PALISADE, World, as_both};
use crate::levels::prepared;

const SECRETS: [&str; 5] = [
    "trust/pins",
    "workspaces/list.txt",
    "placeholders/journal",
    "caches/other-0123456789abcdef-0/cache/upper/object",
    "later/unheard-of",
];

const LOOK: &str = "for file in $(cat files); do cat $file; done 2>/dev/null\n\
    ls -R ~/.local/state/palisade 2>/dev/null | grep -e other -e pins -e journal -e list.txt\n\
    test -n \"$XDG_CACHE_HOME\" && at=$XDG_CACHE_HOME || at=~/.cache\n\
    cat $at/kept; mkdir -p $at; echo warm > $at/kept; echo looked\n";

fn world(from: World, state: &str) -> World {
    let mut home = from.home;
    let mut files = String::new();
    for secret in SECRETS {
        home = home.file(format!("{state}/{secret}"), format!("secret of {secret}\n"));
        files += &format!("{}\n", home.path(format!("{state}/{secret}")).display());
    }
    let world = World { home, ..from };
    world.write("look.sh", LOOK);
    world.write("files", files);
    world
}

#[test]
fn what_is_kept_for_all_projects_is_hidden_and_this_ones_caches_are_not() {
    as_both(|from| {
        let world = world(from, ".local/state/palisade");
        let run = |arguments: &[&str]| {
            let ran = world.run(&[&["run"], arguments, &["--", "sh", "look.sh"]].concat());
            assert_eq!(ran.code, Some(0), "{}", ran.stderr);
            ran.stdout
        };
        // There is no `~/.cache`: the project's own lies in the folder.
        assert_eq!(run(&[]), "looked\n");
        assert_eq!(run(&[]), "warm\nlooked\n", "what was written is there at the next run");
        fs::create_dir(world.home.path(".cache")).unwrap();
        assert!(run(&[]).ends_with("looked\n"));
        assert_eq!(run(&[]), "warm\nlooked\n", "over the real one, too");
        fs::remove_file(world.home.path(".local/state/palisade/workspaces/list.txt")).unwrap();
        assert_eq!(run(&["--agent", "claude"]), "looked\n", "an agent has its own");
        assert_eq!(run(&["--agent", "claude"]), "warm\nlooked\n");
        // The probe works: outside all of it is read.
        let outside = world.finish(world.command("sh").arg("look.sh"));
        assert_eq!(outside.stdout.matches("secret of").count(), 4, "{}", outside.stdout);
    });
}

#[test]
fn what_may_only_read_leaves_nothing_for_others_to_execute() {
    as_both(|world| {
        world.write("package.json", "{}");
        fs::create_dir(world.home.path(".npm")).unwrap();
        let run = |profile: &str, script: &str| {
            let ran = world.run(&["run", "--profile", profile, "--", "sh", "-c", script]);
            ran.stdout
        };
        run("readonly", "echo planted > ~/.npm/planted");
        assert_eq!(run("workspace-write", "cat ~/.npm/planted; echo own > ~/.npm/own"), "");
        assert_eq!(run("workspace-write", "cat ~/.npm/own"), "own\n", "who may write keeps it");
        assert_eq!(run("readonly", "cat ~/.npm/own"), "");
    });
}

#[test]
fn a_plan_shows_the_caches_that_a_run_has_and_hides_those_of_others() {
    as_both(|from| {
        let world = world(from, ".local/state/palisade");
        let plan = || world.run(&["plan", "--", "sh", "look.sh"]).stdout;
        // The first plan is that of the first run.
        let (first, hidden) = (plan(), ".local/state/palisade/caches ");
        let keeps = |plan: &str| {
            let mut kept = plan.lines().filter(|line| line.starts_with("keep "));
            kept.any(|line| line.contains("palisade/caches/") && line.contains("/cache/upper "))
        };
        assert_eq!(world.run(&["run", "--", "sh", "look.sh"]).stdout, "looked\n");
        for shown in [first, plan()] {
            assert!(keeps(&shown), "{shown}");
            assert!(!shown.contains(hidden), "{shown}");
            assert!(shown.contains("caches/other-0123456789abcdef-0"), "{shown}");
        }
        // Who wants none has none, and a run would not either.
        let world = world.user_policy("files: { caches: off }\n");
        let off = world.run(&["plan", "--", "sh", "look.sh"]).stdout;
        assert!(!keeps(&off) && off.contains(hidden), "{off}");
    });
}

#[test]
fn state_in_a_place_that_is_hidden_from_a_run_keeps_nothing_for_it_and_says_so() {
    as_both(|world| {
        let state = world.home.path("ws/one/state");
        for place in ["ws/one", "ws/two"] {
            fs::create_dir_all(world.home.path(place)).unwrap();
            fs::write(world.home.path(place).join("Cargo.toml"), "[package]\n").unwrap();
        }
        let run = |agent: &str, place: &str| {
            let mut command = world.command(PALISADE);
            command.args(["run", "--agent", agent, "--json", "--", "true"]);
            command.env("XDG_STATE_HOME", &state).current_dir(world.home.path(place));
            let ran = world.finish(&mut command);
            assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
            ran.stdout
        };
        assert!(!run("one", "ws/one").contains("is not kept"));
        let told = run("two", "ws/two");
        for part in ["is not kept: it would lie in `/home/dev/ws/one/state", "let XDG_STATE_HOME"] {
            assert!(told.contains(part), "{told}");
        }
    });
}

#[test]
fn it_is_hidden_where_a_variable_puts_it_and_behind_a_link() {
    let moved = world(World::new(), "else/where/palisade");
    let mut run = moved.command(PALISADE);
    run.env("XDG_STATE_HOME", moved.home.path("else/where")).args(["run", "--", "sh", "look.sh"]);
    let ran = moved.finish(&mut run);
    assert_eq!((ran.code, &*ran.stdout), (Some(0), "looked\n"), "{}", ran.stderr);
    let linked = world(World::new(), "elsewhere/palisade");
    fs::create_dir_all(linked.home.path(".local")).unwrap();
    std::os::unix::fs::symlink("../elsewhere", linked.home.path(".local/state")).unwrap();
    let ran = linked.run(&["run", "--", "sh", "look.sh"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(0), "looked\n"), "{}", ran.stderr);
}

#[test]
fn without_namespaces_it_is_hidden_as_well() {
    as_both(|from| {
        let world = world(from, ".local/state/palisade").user_policy("require: landlock\n");
        let shell = format!("{DROPPED}{FILTERED}");
        let ran = prepared(&world, &shell, &["run", "--", "sh", "look.sh"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(!ran.stdout.contains("secret"), "{}", ran.stdout);
        assert!(ran.stdout.ends_with("looked\n"), "{}", ran.stdout);
    });
}

#[test]
fn what_is_made_in_it_during_a_run_is_hidden_from_that_run() {
    as_both(|world| {
        // Who has caches of its own can read those that another project gets meanwhile.
        let world = world.user_policy("files: { caches: off }\n");
        let made = ["trust/pins", "workspaces/list.txt", "placeholders/journal", "caches/other/x"];
        let state = world.home.path(".local/state/palisade");
        let files = made.map(|file| format!("{}\n", state.join(file).display())).concat();
        world.write("files", files);
        let wait = "touch begun; while ! test -e go; do sleep 0.05; done\n";
        world.write("look.sh", format!("{wait}for file in $(cat files); do cat $file; done\n"));
        let mut command = world.command(PALISADE);
        command.args(["run", "--", "sh", "look.sh"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        awaited(&world.project.path("begun"));
        for file in made {
            let path = state.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("secret of {file}\n")).unwrap();
        }
        world.write("go", "");
        let seen = child.wait_with_output().unwrap().stdout;
        assert_eq!(String::from_utf8_lossy(&seen), "");
        let outside = world.finish(world.command("sh").arg("look.sh"));
        assert_eq!(outside.stdout.matches("secret of").count(), 4, "{}", outside.stdout);
    });
}

#[test]
fn it_is_decided_that_nobody_reads_it() {
    let world = world(World::new(), ".local/state/palisade");
    let check = |path: &str| {
        let path = world.home.path(".local/state/palisade").join(path);
        world.run(&["check", "--", "cat", path.to_str().unwrap()]).code
    };
    for secret in ["trust/pins", "workspaces/list.txt", "placeholders/journal", "trust/new"] {
        assert_eq!(check(secret), Some(126), "{secret}");
    }
    assert_eq!(check("caches/this/cache/object"), Some(0));
    // Nobody is sent to a key that does not lift it; what it does lift is still told of.
    let hint = |path: &str| world.run(&["check", "--", "cat", path]).stdout;
    let own = hint(world.home.path(".local/state/palisade/trust/pins").to_str().unwrap());
    assert!(own.contains("no policy shows it") && !own.contains("files.unhide"), "{own}");
    let other = hint(world.home.path(".ssh/id_rsa").to_str().unwrap());
    assert!(other.contains("your own policy can show it with files.unhide"), "{other}");
}
