//! A placeholder that somebody else removes while a command runs.

use std::fs;
use std::thread;
use std::time::Duration;

use palisade_apply::{Outcome, Streams};
use palisade_plan::Layer;
use palisade_testkit::Project;

use crate::fallback::lacks;
use crate::{Place, all, as_both, out, pattern, started, started_awaited};

fn protecting(names: &[&str]) -> Place {
    let mut place = Place::with(Project::new().dir(".git/objects").file("plain", "x"));
    let patterns = names.iter().map(|name| pattern(place.project.root(), name));
    place.order.protect = patterns.collect();
    place
}

fn codes(outcome: &Outcome) -> Vec<&'static str> {
    outcome.notes.iter().map(|note| note.code).collect()
}

/// As `git clean -fd` and `git stash -u` do, once a sandbox has begun.
fn vacate(place: &Place, names: &[&str]) {
    while !place.project.path("up").exists() {
        thread::sleep(Duration::from_millis(1));
    }
    for name in names {
        fs::remove_dir(place.project.path(name)).unwrap();
    }
    fs::write(place.project.path("gone"), "").unwrap();
}

#[test]
fn a_name_whose_placeholder_is_removed_is_kept_again() {
    as_both("vacated::a_name_whose_placeholder_is_removed_is_kept_again", || {
        let mut place = protecting(&["**/.vscode", "**/.git/hooks", ".mcp.json"]);
        let script = "touch up; until test -e gone; do sleep 0.01; done; sleep 1; \
            for p in .vscode .git/hooks .mcp.json; do rmdir $p; mkdir $p; echo evil > $p; \
            echo evil > $p/x; mv $p away; done; rm -rf away up gone; echo fine";
        place.order.argv = ["sh", "-c", script].map(str::to_owned).into();
        let running = started(&place, Streams::default());
        vacate(&place, &[".vscode", ".git/hooks", ".mcp.json"]);
        let outcome = running.wait().unwrap();
        assert_eq!(out(&outcome), "fine\n", "{}", all(&outcome));
        assert_eq!(codes(&outcome), ["placeholder-again"; 3], "{:?}", outcome.notes);
        for (folder, count) in [("", 2), (".git", 1)] {
            let names: Vec<_> = fs::read_dir(place.project.path(folder)).unwrap().collect();
            assert_eq!(names.len(), count, "{folder}: {names:?}, {}", all(&outcome));
        }
        let told = lacks(&outcome, Layer::Protect);
        assert!(told.contains("in the place of a placeholder is set aside"), "{told}");
    });
}

#[test]
fn what_is_made_where_a_placeholder_was_is_set_aside() {
    as_both("vacated::what_is_made_where_a_placeholder_was_is_set_aside", || {
        let mut place = protecting(&["**/.vscode/tasks.json", "**/.git/hooks", ".mcp.json"]);
        let script = "touch up; until test -e gone; do :; done; mkdir .vscode .git/hooks; \
            echo evil > .vscode/tasks.json; echo fine > .vscode/other; echo evil > .mcp.json; \
            echo evil > .git/hooks/pre-commit";
        place.order.argv = ["sh", "-c", script].map(str::to_owned).into();
        // Nobody watches until it is waited for.
        let running = started_awaited(&place, Streams::default());
        vacate(&place, &[".vscode", ".git/hooks", ".mcp.json"]);
        while !place.project.path(".git/hooks/pre-commit").exists() {
            thread::sleep(Duration::from_millis(1));
        }
        let outcome = running.wait().unwrap();
        for name in [".vscode/tasks.json", ".git/hooks", ".mcp.json"] {
            assert!(!place.project.path(name).exists(), "{name}: {:?}", outcome.notes);
            assert!(place.project.path(format!("{name}.set-aside")).exists(), "{name}");
        }
        assert!(place.project.path(".vscode/other").exists(), "only what is protected");
        let aside = codes(&outcome).iter().filter(|code| **code == "set-aside").count();
        assert_eq!(aside, 3, "{:?}", outcome.notes);
    });
}

#[test]
fn what_the_host_puts_into_a_placeholder_stays() {
    as_both("vacated::what_the_host_puts_into_a_placeholder_stays", || {
        let mut place = protecting(&["**/.vscode", "**/.git/hooks"]);
        let script = "touch up; until test -e gone; do sleep 0.01; done; echo x > .vscode/evil; \
            cat .vscode/tasks.json";
        place.order.argv = ["sh", "-c", script].map(str::to_owned).into();
        let running = started(&place, Streams::default());
        while !place.project.path("up").exists() {
            thread::sleep(Duration::from_millis(1));
        }
        fs::write(place.project.path(".vscode/tasks.json"), "host\n").unwrap();
        fs::write(place.project.path("gone"), "").unwrap();
        let outcome = running.wait().unwrap();
        assert_eq!(out(&outcome), "host\n", "{}", all(&outcome));
        assert!(place.project.path(".vscode/tasks.json").exists(), "{:?}", outcome.notes);
        assert!(!place.project.path(".vscode/evil").exists());
        assert!(outcome.notes.is_empty(), "{:?}", outcome.notes);
    });
}

/// Whatever the moment: before it is laid again, before it is closed, or by a folder opened then.
#[test]
fn what_is_put_into_a_placeholder_that_is_laid_again_is_set_aside() {
    as_both("vacated::what_is_put_into_a_placeholder_that_is_laid_again_is_set_aside", || {
        let mut place = protecting(&["**/.vscode"]);
        let script = "import os, time\n\
            open('up', 'w')\n\
            opened = []\n\
            until = time.time() + 1.5\n\
            while time.time() < until:\n\
            \x20   try: opened.append(os.open('.vscode', os.O_RDONLY | os.O_DIRECTORY))\n\
            \x20   except OSError: pass\n\
            \x20   if len(opened) > 200: os.close(opened.pop(100))\n\
            \x20   try: os.mkdir('.vscode', 0o1755)\n\
            \x20   except OSError: pass\n\
            \x20   try: open('.vscode/tasks.json', 'w').write('evil')\n\
            \x20   except OSError: pass\n\
            for one in opened:\n\
            \x20   try: os.open('tasks.json', os.O_CREAT | os.O_WRONLY, dir_fd=one)\n\
            \x20   except OSError: pass\n";
        place.order.argv = ["python3", "-c", script].map(str::to_owned).into();
        let running = started(&place, Streams::default());
        vacate(&place, &[".vscode"]);
        for _ in 0..40 {
            thread::sleep(Duration::from_millis(20));
            fs::remove_dir(place.project.path(".vscode")).ok();
        }
        let outcome = running.wait().unwrap();
        assert!(!place.project.path(".vscode").exists(), "{:?}", outcome.notes);
        assert!(!place.project.path("up.set-aside").exists());
    });
}

#[test]
fn what_is_made_in_a_folder_that_came_in_the_place_of_another_is_set_aside() {
    let name = "vacated::what_is_made_in_a_folder_that_came_in_the_place_of_another_is_set_aside";
    as_both(name, || {
        let mut place = protecting(&["**/.git/hooks", "**/.git/config"]);
        let script = "touch up; until test -e gone; do sleep 0.01; done; \
            until mkdir .git/hooks; do sleep 0.01; done; echo evil > .git/hooks/pre-commit; \
            echo '[alias] st = !evil' > .git/config; sleep 0.2; echo fine";
        place.order.argv = ["sh", "-c", script].map(str::to_owned).into();
        let running = started(&place, Streams::default());
        while !place.project.path("up").exists() {
            thread::sleep(Duration::from_millis(1));
        }
        // As who makes the repository anew.
        fs::rename(place.project.path(".git"), place.project.path("was")).unwrap();
        fs::create_dir(place.project.path(".git")).unwrap();
        fs::write(place.project.path("gone"), "").unwrap();
        let outcome = running.wait().unwrap();
        assert_eq!(out(&outcome), "fine\n", "{}", all(&outcome));
        for name in [".git/hooks", ".git/config"] {
            assert!(!place.project.path(name).exists(), "{name}: {:?}", outcome.notes);
        }
        let left: Vec<_> = fs::read_dir(place.project.path("was")).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    });
}
