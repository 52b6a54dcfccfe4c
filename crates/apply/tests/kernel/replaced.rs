//! A protected file that the host replaces while a command runs.

use std::fs;
use std::io::{Read as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use palisade_apply::{Input, Output, Streams};
use palisade_plan::Layer;
use palisade_testkit::{Project, Turn, ordinary_user};

use crate::come::{all_ways_to_be_told, meanwhile};
use crate::fallback::{accepting, blocked, lacks};
use crate::{Place, all, as_both, out, pattern, started, started_awaited};

fn repository() -> Place {
    Place::with(Project::new().file(".git/config", "[core]\n").dir(".git/hooks"))
}

#[test]
fn e033_a_file_that_the_host_replaces_is_protected_again() {
    as_both("replaced::e033_a_file_that_the_host_replaces_is_protected_again", || {
        is_protected_again();
    });
}

#[test]
fn a_file_is_protected_again_where_the_kernel_tells_nobody_any_more() {
    let name = "replaced::a_file_is_protected_again_where_the_kernel_tells_nobody_any_more";
    // What there is of it is the user's, and the rest of the machine needs root's.
    if ordinary_user(name) == Turn::Done {
        return;
    }
    let taken = all_ways_to_be_told();
    is_protected_again();
    drop(taken);
}

fn is_protected_again() {
    let mut place = repository();
    let script = "read go; until cat .git/config | grep -q new; do sleep 0.01; done; sleep 1; \
        echo evil >> .git/config; rm .git/config; mv .git/config .git/c; cat .git/config";
    place.order.argv = ["sh", "-c", script].map(str::to_owned).into();
    let (read, mut write) = std::io::pipe().unwrap();
    let stdin = Input::From(read.into());
    let running = started(&place, Streams { stdin, ..Streams::default() });
    write.write_all(b"go\n").unwrap();
    // As git and editors save: a new file, moved over the old one.
    fs::write(place.project.path(".git/config.lock"), "[new]\n").unwrap();
    fs::rename(place.project.path(".git/config.lock"), place.project.path(".git/config")).unwrap();
    let outcome = running.wait().unwrap();
    assert_eq!(out(&outcome), "[new]\n", "{}", all(&outcome));
    assert_eq!(fs::read(place.project.path(".git/config")).unwrap(), b"[new]\n");
    let codes: Vec<_> = outcome.notes.iter().map(|note| note.code).collect();
    assert_eq!(codes, ["protected-replaced"], "{:?}", outcome.notes);
    let text = all(&outcome);
    assert!(text.contains("Read-only") && text.contains("busy"), "{text}");
}

#[test]
fn e033_a_folder_that_the_host_replaces_is_protected_again() {
    as_both("replaced::e033_a_folder_that_the_host_replaces_is_protected_again", || {
        for is_removed in [true, false] {
            let project = Project::new().file(".vscode/tasks.json", "old\n");
            let mut place = Place::with(project);
            place.order.protect = vec![pattern(place.project.root(), "**/.vscode")];
            let script = "echo evil > .vscode/tasks.json; echo evil > .vscode/new; mv .vscode v; \
                cat .vscode/tasks.json";
            let outcome = meanwhile(&mut place, ":", script, |place| {
                let folder = place.project.path(".vscode");
                // As a checkout of another branch and back.
                if is_removed {
                    fs::remove_dir_all(&folder).unwrap();
                } else {
                    fs::rename(&folder, place.project.path("was")).unwrap();
                }
                fs::create_dir(&folder).unwrap();
                fs::write(folder.join("tasks.json"), "new\n").unwrap();
            });
            assert_eq!(out(&outcome), "new\n", "{}", all(&outcome));
            let tasks = fs::read(place.project.path(".vscode/tasks.json")).unwrap();
            assert_eq!(tasks, b"new\n");
            assert!(!place.project.path(".vscode/new").exists());
            assert!(outcome.notes.iter().any(|note| note.code == "protected-replaced"));
        }
    });
}

fn secret() -> Place {
    let mut place = Place::with(Project::new().file(".env", "old-secret\n").dir("sub"));
    place.order.hide = vec![pattern(place.project.root(), "**/.env")];
    place
}

/// As git and editors save.
fn save(place: &Place) {
    let (new, env) = (place.project.path("sub/.env.new"), place.project.path(".env"));
    fs::write(&new, "new-secret\n").unwrap();
    fs::rename(&new, env).unwrap();
}

#[test]
fn e033_a_hidden_file_that_the_host_saves_is_hidden_again() {
    as_both("replaced::e033_a_hidden_file_that_the_host_saves_is_hidden_again", || {
        let mut place = secret();
        let outcome = meanwhile(&mut place, ":", "cat .env; mv .env e; echo x > .env; ls -A", save);
        assert!(!all(&outcome).contains("secret"), "{}", all(&outcome));
        assert_eq!(out(&outcome), ".env\nsaved\nsub\nup\n", "{}", all(&outcome));
        assert_eq!(fs::read(place.project.path(".env")).unwrap(), b"new-secret\n");
        assert!(outcome.notes.iter().any(|note| note.code == "hidden-replaced"));
        let told = lacks(&outcome, Layer::Hide);
        assert!(told.contains("hidden again"), "{told}");
    });
}

#[test]
fn without_namespaces_a_hidden_file_that_the_host_saves_is_told_of() {
    let name = "replaced::without_namespaces_a_hidden_file_that_the_host_saves_is_told_of";
    blocked(name, || {
        let outcome = accepting(secret()).sh("cat .env; echo fine");
        assert_eq!(out(&outcome), "fine\n", "{}", all(&outcome));
        let told = lacks(&outcome, Layer::Hide);
        assert!(told.contains("moves to the name"), "{told}");
    });
}

/// However the moment falls: before, between or after the mounts of the sandbox.
#[test]
fn e033_a_file_that_is_replaced_again_and_again_stops_no_start() {
    as_both("replaced::e033_a_file_that_is_replaced_again_and_again_stops_no_start", || {
        let place = repository();
        let (config, lock) = (place.project.path(".git/config"), place.project.path(".git/lock"));
        let stop = AtomicBool::new(false);
        let outcomes: Vec<_> = thread::scope(|scope| {
            let host = scope.spawn(|| {
                let mut saved = String::new();
                for number in 0_u32.. {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    saved = format!("[new-{number}]\n");
                    fs::write(&lock, &saved).unwrap();
                    fs::rename(&lock, &config).unwrap();
                }
                saved
            });
            let argv = ["/bin/cat", ".git/config"];
            let outcomes = (0..20).map(|_| place.try_run(&argv, Streams::default())).collect();
            stop.store(true, Ordering::Relaxed);
            let saved = host.join().unwrap();
            assert_eq!(fs::read_to_string(&config).unwrap(), saved, "the host's last word stays");
            outcomes
        });
        for outcome in outcomes {
            let outcome = outcome.unwrap();
            assert!(out(&outcome).contains('['), "{}", all(&outcome));
        }
    });
}

#[test]
fn a_file_that_nobody_replaces_is_not_spoken_of() {
    as_both("replaced::a_file_that_nobody_replaces_is_not_spoken_of", || {
        let outcome = repository().sh("echo x > .git/index.lock; mv .git/index.lock .git/index");
        assert!(outcome.notes.is_empty(), "{:?}", outcome.notes);
    });
}

#[test]
fn e033_a_file_that_is_replaced_in_the_first_milliseconds_is_protected_again() {
    let name =
        "replaced::e033_a_file_that_is_replaced_in_the_first_milliseconds_is_protected_again";
    as_both(name, || {
        let script = "echo ready; until grep -q new .git/config; do :; done; sleep 0.08; \
            echo evil >> .git/config; cat .git/config";
        let mut place = repository();
        place.order.argv = ["sh", "-c", script].map(str::to_owned).into();
        let (mut read, write) = std::io::pipe().unwrap();
        let stdout = Output::Pipe(write);
        let running = started_awaited(&place, Streams { stdout, ..Streams::default() });
        let config = place.project.path(".git/config");
        let lock = place.project.path(".git/config.lock");
        let outcome = thread::scope(|scope| {
            scope.spawn(|| {
                let mut ready = [0; 6];
                read.read_exact(&mut ready).unwrap();
                fs::write(&lock, "[new]\n").unwrap();
                fs::rename(&lock, &config).unwrap();
            });
            running.wait().unwrap()
        });
        assert_eq!(fs::read(&config).unwrap(), b"[new]\n", "{}", all(&outcome));
        let codes: Vec<_> = outcome.notes.iter().map(|note| note.code).collect();
        assert_eq!(codes, ["protected-replaced"], "{:?}", outcome.notes);
        assert!(all(&outcome).contains("Read-only"), "{}", all(&outcome));
    });
}

#[test]
fn a_file_that_is_replaced_as_a_short_command_ends_is_spoken_of() {
    let name = "replaced::a_file_that_is_replaced_as_a_short_command_ends_is_spoken_of";
    as_both(name, || {
        let mut place = repository();
        let script = "until grep -q new .git/config; do :; done";
        place.order.argv = ["sh", "-c", script].map(str::to_owned).into();
        let running = started_awaited(&place, Streams::default());
        fs::write(place.project.path(".git/config.lock"), "[new]\n").unwrap();
        fs::rename(place.project.path(".git/config.lock"), place.project.path(".git/config"))
            .unwrap();
        let outcome = running.wait().unwrap();
        let codes: Vec<_> = outcome.notes.iter().map(|note| note.code).collect();
        assert_eq!(codes, ["protected-replaced"], "{:?}", outcome.notes);
    });
}
