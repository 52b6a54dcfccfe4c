//! Folders whose modes keep their own user out: they hide nothing from us.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use palisade_apply::{Host, Outcome, Streams};
use palisade_plan::{Layer, build};
use palisade_testkit::Project;

use crate::{Place, all, as_both, out, pattern, permit};

const NAMES: [&str; 4] =
    ["**/.git/commondir", "**/.git/config", "**/.git/info/attributes", "**/.vscode"];

/// A project with these protected names.
fn protecting(project: Project) -> Place {
    let mut place = Place::with(project);
    let patterns = NAMES.iter().map(|name| pattern(place.project.root(), name));
    place.order.protect = patterns.collect();
    place
}

/// What was told, but for how things are hidden.
fn codes(outcome: &Outcome) -> Vec<&'static str> {
    outcome.notes.iter().map(|note| note.code).filter(|code| *code != "masked").collect()
}

fn mode(place: &Place, path: &str) -> u32 {
    fs::symlink_metadata(place.project.path(path)).unwrap().permissions().mode() & 0o7777
}

/// Lets us look at what a test left.
fn open(place: &Place, path: &str) {
    fs::set_permissions(place.project.path(path), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn what_is_made_in_a_folder_that_was_shut_is_set_aside() {
    as_both("modes::what_is_made_in_a_folder_that_was_shut_is_set_aside", || {
        for shut in [0o111, 0o311, 0o000, 0o400, 0o600, 0o555, 0o1711] {
            let place = protecting(Project::new().file("other/plain", "x"));
            let outcome = place.sh(&format!(
                "mkdir -p sub/.git pk/.vscode deep/er/.vscode; echo ../evil > sub/.git/commondir; \
                 echo '{{}}' > pk/.vscode/tasks.json; \
                 chmod {shut:o} sub/.git; chmod {shut:o} sub pk deep/er; chmod {shut:o} deep other"
            ));
            assert_eq!(codes(&outcome), ["set-aside"; 3], "{shut:o}: {:?}", outcome.notes);
            for folder in ["sub", "pk", "deep", "other"] {
                assert_eq!(mode(&place, folder), shut, "{folder}: it is as it was left");
                open(&place, folder);
            }
            for folder in ["sub/.git", "deep/er"] {
                assert_eq!(mode(&place, folder), shut, "{folder}: it is as it was left");
                open(&place, folder);
            }
            let there = |path: &str| place.project.path(path).exists();
            assert!(!there("sub/.git/commondir") && there("sub/.git/commondir.set-aside"));
            assert!(!there("pk/.vscode") && there("pk/.vscode.set-aside/tasks.json"));
            assert!(!there("deep/er/.vscode") && there("deep/er/.vscode.set-aside"));
            assert!(there("other/plain"), "what is nobody's concern stays");
        }
    });
}

#[test]
fn the_project_itself_and_its_repository_cannot_be_shut() {
    as_both("modes::the_project_itself_and_its_repository_cannot_be_shut", || {
        // No folder stands at the first, and the second is free in other letter cases.
        let place = protecting(Project::new().dir(".git/objects").dir(".git/refs"));
        let outcome = place
            .sh("echo evil > .git/commondir; echo evil > .VsCode; chmod 111 .git; chmod 111 .");
        assert_eq!(codes(&outcome), ["set-aside"; 2], "{:?}", outcome.notes);
        assert_eq!(mode(&place, ""), 0o111);
        assert_eq!(mode(&place, ".git"), 0o111);
        open(&place, "");
        open(&place, ".git");
        assert!(!place.project.path(".git/commondir").exists(), "{}", all(&outcome));
        assert!(!place.project.path(".VsCode").exists());
    });
}

#[test]
fn a_link_to_a_folder_is_neither_followed_nor_changed() {
    as_both("modes::a_link_to_a_folder_is_neither_followed_nor_changed", || {
        let other = Project::new().dir("shut/.vscode").mode("shut", 0o111);
        let place = protecting(Project::new());
        let outcome = place
            .sh(&format!("ln -s {} link; mkdir own; chmod 111 own", other.path("shut").display()));
        assert_eq!(codes(&outcome), Vec::<&str>::new(), "{:?}", outcome.notes);
        let shut = fs::metadata(other.path("shut")).unwrap().permissions().mode() & 0o7777;
        assert_eq!(shut, 0o111);
        fs::set_permissions(other.path("shut"), fs::Permissions::from_mode(0o755)).unwrap();
        assert!(other.path("shut/.vscode").exists());
        open(&place, "own");
    });
}

#[test]
fn what_is_executed_later_is_told_from_folders_that_were_shut() {
    as_both("modes::what_is_executed_later_is_told_from_folders_that_were_shut", || {
        for shut in [0o111, 0o000, 0o400] {
            let place = protecting(Project::new().dir(".github/workflows"));
            let outcome = place.sh(&format!(
                "echo x > .github/workflows/ci.yml; echo x > Makefile; \
                 chmod {shut:o} .github/workflows; chmod {shut:o} .github; chmod {shut:o} ."
            ));
            let mut touched: Vec<_> = outcome.touched.iter().map(|one| &one.path).collect();
            touched.sort();
            let expected = [".github/workflows/ci.yml", "Makefile"];
            assert_eq!(touched, expected.map(|path| place.project.path(path)).each_ref());
            for folder in ["", ".github", ".github/workflows"] {
                assert_eq!(mode(&place, folder), shut, "{folder}: it is as it was left");
                open(&place, folder);
            }
        }
    });
}

#[test]
fn names_are_given_back_in_a_folder_that_was_shut() {
    as_both("modes::names_are_given_back_in_a_folder_that_was_shut", || {
        for shut in [0o555, 0o111, 0o000, 0o500] {
            let state = Project::new();
            let pool = state.path("spares");
            for spares in [None, Some(pool)] {
                let project = Project::new().dir(".git/info").dir(".git/objects");
                let mut place = protecting(project);
                place.order.protect.push(pattern(place.project.root(), "**/.claude"));
                let script =
                    format!("chmod {shut:o} .git/info; chmod {shut:o} .git; chmod {shut:o} .");
                place.order.argv = vec!["/bin/sh".into(), "-c".into(), script];
                let host = Host::probe().keeping_spares(spares);
                let plan = build(&permit(), &place.order, &host.facts(&place.order.questions()));
                let running = host.start(&plan.unwrap(), Streams::default()).unwrap();
                let outcome = running.wait().unwrap();
                assert_eq!(codes(&outcome), Vec::<&str>::new(), "{shut:o}: {:?}", outcome.notes);
                assert_eq!(outcome.touched, [], "{shut:o}");
                for (folder, count) in [("", 1), (".git", 2), (".git/info", 0)] {
                    assert_eq!(mode(&place, folder), shut, "{folder}: it is as it was left");
                    open(&place, folder);
                    let entries = fs::read_dir(place.project.path(folder)).unwrap();
                    let names: Vec<_> = entries.map(|it| it.unwrap().file_name()).collect();
                    assert_eq!(names.len(), count, "{shut:o} {folder}: {names:?}");
                }
            }
        }
    });
}

#[test]
fn a_folder_that_was_shut_before_is_told_and_what_is_in_it_stays() {
    as_both("modes::a_folder_that_was_shut_before_is_told_and_what_is_in_it_stays", || {
        let is_root = rustix::process::geteuid().is_root();
        for shut in [0o311, 0o111, 0o000, 0o400] {
            let project = Project::new()
                .file("pk/.env", "secret")
                .file("pk/.vscode/tasks.json", "host's")
                .file("open/.env", "secret")
                .mode("pk", shut);
            let mut place = protecting(project);
            place.order.hide.push(pattern(place.project.root(), "**/.env"));
            let outcome = place.sh("cat open/.env; mkdir -p new/.vscode");
            let word = |layer: Layer| {
                let one = outcome.enforced.iter().find(|one| one.layer == layer).unwrap();
                one.strength.word()
            };
            let (hide, protect) = (word(Layer::Hide), word(Layer::Protect));
            if is_root {
                // Root sees through modes, and everything holds.
                assert_eq!((hide, protect), ("kernel", "kernel+window"), "{:?}", outcome.notes);
                assert_eq!(codes(&outcome), ["set-aside"], "{shut:o}");
            } else {
                assert_eq!((hide, protect), ("partial", "partial"), "{:?}", outcome.notes);
                let expected = ["unsearched", "set-aside", "not-set-aside"];
                let mut codes = codes(&outcome);
                codes.sort_unstable_by_key(|code| expected.iter().position(|it| it == code));
                assert_eq!(codes, expected, "{shut:o}");
                let told = outcome.notes.iter().find(|note| note.code == "unsearched").unwrap();
                assert!(told.message.contains("/pk`"), "{told:?}");
            }
            assert_eq!(mode(&place, "pk"), shut, "it is as it was");
            open(&place, "pk");
            assert!(place.project.path("pk/.vscode/tasks.json").exists(), "it is the host's");
            assert!(!place.project.path("new/.vscode").exists());
            assert_eq!(out(&outcome), "", "what could be searched is hidden");
        }
    });
}

#[test]
fn a_hidden_path_in_a_folder_that_was_shut_is_told() {
    as_both("modes::a_hidden_path_in_a_folder_that_was_shut_is_told", || {
        for (shut, holds) in [(0o000, false), (0o600, false), (0o311, true)] {
            let mut place = Place::with(Project::new().file("pk/key", "secret").mode("pk", shut));
            place.order.protect.clear();
            place.order.hide.push(pattern(place.project.root(), "pk/key"));
            let outcome = place.sh("cat pk/key");
            let hide = outcome.enforced.iter().find(|one| one.layer == Layer::Hide).unwrap();
            if holds || rustix::process::geteuid().is_root() {
                assert_eq!(out(&outcome), "", "{shut:o}: {}", all(&outcome));
            } else {
                assert_eq!(hide.strength.word(), "partial", "{shut:o}");
                assert_eq!(codes(&outcome), ["unsearched"], "{shut:o}");
            }
            open(&place, "pk");
        }
    });
}

#[test]
fn what_is_too_deep_to_be_looked_into_is_told() {
    as_both("modes::what_is_too_deep_to_be_looked_into_is_told", || {
        let place = protecting(Project::new());
        let outcome = place.python(
            "import os\nfor _ in range(30):\n    os.mkdir('d' * 200)\n    os.chdir('d' * 200)\n",
        );
        assert_eq!(codes(&outcome), ["not-looked-over"], "{:?}", outcome.notes);
    });
}

#[test]
fn what_is_made_in_a_folder_that_was_opened_is_set_aside() {
    as_both("modes::what_is_made_in_a_folder_that_was_opened_is_set_aside", || {
        let project = Project::new().dir(".git/info").mode(".git/info", 0o555).mode("", 0o555);
        let mut place = protecting(project);
        place.order.protect.push(pattern(place.project.root(), "single"));
        let outcome = place.sh(
            "chmod 755 . .git/info; mkdir .vscode; echo x > .git/info/attributes; echo x > single",
        );
        let is_root = rustix::process::geteuid().is_root();
        // Where root starts it, the names are kept: root can make something anywhere.
        let expected: &[&str] = if is_root { &[] } else { &["set-aside"; 3] };
        assert_eq!(codes(&outcome), expected, "{}\n{:?}", all(&outcome), outcome.notes);
        assert!(!place.project.path(".vscode").exists());
        assert!(!place.project.path(".git/info/attributes").exists());
        assert!(!place.project.path("single").exists());
    });
}
