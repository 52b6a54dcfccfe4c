//! Folders whose modes keep their own user out: they hide nothing from us.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use palisade_apply::{Host, Outcome, Streams};
use palisade_plan::build;
use palisade_testkit::Project;

use crate::{Place, all, as_both, pattern, permit};

const NAMES: [&str; 4] =
    ["**/.git/commondir", "**/.git/config", "**/.git/info/attributes", "**/.vscode"];

/// A project with these protected names.
fn protecting(project: Project) -> Place {
    let mut place = Place::with(project);
    let patterns = NAMES.iter().map(|name| pattern(place.project.root(), name));
    place.order.protect = patterns.collect();
    place
}

fn codes(outcome: &Outcome) -> Vec<&'static str> {
    outcome.notes.iter().map(|note| note.code).collect()
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
        // The name is free in other letter cases.
        let place = protecting(Project::new().dir(".git/objects").dir(".git/refs"));
        let outcome = place
            .sh("echo evil > .git/COMMONDIR; echo evil > .VsCode; chmod 111 .git; chmod 111 .");
        assert_eq!(codes(&outcome), ["set-aside"; 2], "{:?}", outcome.notes);
        assert_eq!(mode(&place, ""), 0o111);
        assert_eq!(mode(&place, ".git"), 0o111);
        open(&place, "");
        open(&place, ".git");
        assert!(!place.project.path(".git/COMMONDIR").exists(), "{}", all(&outcome));
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
