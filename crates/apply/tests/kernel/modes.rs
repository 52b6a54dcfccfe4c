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
fn what_is_hidden_or_protected_in_a_folder_that_an_earlier_run_shut_stays_so() {
    as_both(
        "modes::what_is_hidden_or_protected_in_a_folder_that_an_earlier_run_shut_stays_so",
        || {
            for shut in [0o000, 0o111, 0o333, 0o311, 0o400, 0o600, 0o555] {
                let project = Project::new()
                    .file("pk/.env", "secret")
                    .file("pk/deep/.env", "secret")
                    .file("pk/.vscode/tasks.json", "host's")
                    .file("pk/repo/.git/config", "host's")
                    .file("pk/plain", "plain");
                let mut place = protecting(project);
                place.order.hide.push(pattern(place.project.root(), "**/.env"));
                place.order.hide.push(pattern(place.project.root(), "pk/deep/single"));
                fs::write(place.project.path("pk/deep/single"), "secret").unwrap();
                place.sh(&format!("chmod {shut:o} pk/repo pk/deep pk"));
                assert_eq!(mode(&place, "pk"), shut, "the first run may do that");
                let outcome = place.sh("chmod 755 pk pk/deep pk/repo; \
                     cat pk/.env pk/deep/.env pk/deep/single; cat pk/plain; \
                     echo evil > pk/.vscode/tasks.json; echo evil > pk/repo/.git/config; \
                     mv pk/.vscode moved; mv pk moved; ln pk/.env linked; cat linked; \
                     chmod 600 pk/.env; cat pk/.env; mkdir -p new/.vscode");
                assert_eq!(out(&outcome), "plain", "{shut:o}: {}", all(&outcome));
                let word = |layer: Layer| {
                    let one = outcome.enforced.iter().find(|one| one.layer == layer).unwrap();
                    one.strength.word()
                };
                assert_eq!(
                    (word(Layer::Hide), word(Layer::Protect)),
                    ("kernel+window", "kernel+window")
                );
                assert_eq!(codes(&outcome), ["set-aside"], "{shut:o}: {:?}", outcome.notes);
                let is = |path: &str| fs::read_to_string(place.project.path(path)).unwrap();
                assert_eq!(is("pk/.vscode/tasks.json"), "host's", "{shut:o}");
                assert_eq!(is("pk/repo/.git/config"), "host's", "{shut:o}");
                assert!(!place.project.path("new/.vscode").exists());
            }
        },
    );
}

#[test]
fn what_is_looked_into_at_the_start_has_its_mode_again_when_the_command_runs() {
    as_both(
        "modes::what_is_looked_into_at_the_start_has_its_mode_again_when_the_command_runs",
        || {
            for shut in [0o000, 0o311, 0o400, 0o1711] {
                let project = Project::new().file("a/b/.env", "x").mode("a/b", shut);
                let mut place = protecting(project.mode("a", shut));
                place.order.hide.push(pattern(place.project.root(), "**/.env"));
                let outcome = place.sh("stat -c %a a; chmod 700 a; stat -c %a a/b; chmod 700 a/b");
                assert_eq!(out(&outcome), format!("{shut:o}\n{shut:o}\n"), "{}", all(&outcome));
            }
        },
    );
}

#[test]
fn a_protected_link_that_leads_into_a_folder_that_was_shut_is_followed() {
    as_both("modes::a_protected_link_that_leads_into_a_folder_that_was_shut_is_followed", || {
        let project =
            Project::new().file("dot/settings", "host's").symlink(".vscode", "dot").dir("dot/in");
        let mut place = protecting(project.symlink("key", "dot/in/key"));
        fs::write(place.project.path("dot/in/key"), "secret").unwrap();
        place.order.hide.push(pattern(place.project.root(), "key"));
        place.order.protect.push(pattern(place.project.root(), "link"));
        std::os::unix::fs::symlink("box/file", place.project.path("link")).unwrap();
        fs::create_dir(place.project.path("box")).unwrap();
        fs::write(place.project.path("box/file"), "host's").unwrap();
        place.sh("chmod 0 box");
        let outcome = place.sh("chmod 755 box; echo evil > box/file; echo evil > dot/settings; \
             cat dot/in/key key");
        assert_eq!(out(&outcome), "", "{}", all(&outcome));
        open(&place, "box");
        assert_eq!(fs::read_to_string(place.project.path("box/file")).unwrap(), "host's");
        assert_eq!(fs::read_to_string(place.project.path("dot/settings")).unwrap(), "host's");
    });
}

#[test]
fn names_are_kept_in_a_folder_that_an_earlier_run_shut() {
    as_both("modes::names_are_kept_in_a_folder_that_an_earlier_run_shut", || {
        for shut in [0o000, 0o111, 0o555, 0o311] {
            let place = protecting(Project::new().dir("sub/.git/objects"));
            place.sh(&format!("chmod {shut:o} sub/.git; chmod {shut:o} sub"));
            let outcome = place.sh("chmod 755 sub sub/.git; echo evil > sub/.git/config; \
                 mkdir sub/.git/info; echo evil > sub/.git/info/attributes; ls sub/.git; \
                 cat sub/.git/config; true");
            assert!(!out(&outcome).contains("evil"), "{shut:o}: {}", all(&outcome));
            assert_eq!(codes(&outcome), Vec::<&str>::new(), "{shut:o}: {:?}", outcome.notes);
            assert!(!place.project.path("sub/.git/config").exists(), "{shut:o}: given back");
        }
    });
}

#[test]
fn a_folder_outside_that_its_user_has_shut_stays_shut() {
    as_both("modes::a_folder_outside_that_its_user_has_shut_stays_shut", || {
        let mut place = Place::new();
        place.order.hide.push(pattern(place.home.root(), "vault/key"));
        fs::create_dir(place.home.path("vault")).unwrap();
        fs::write(place.home.path("vault/key"), "secret").unwrap();
        let vault = place.home.path("vault");
        fs::set_permissions(&vault, fs::Permissions::from_mode(0o000)).unwrap();
        let changed = |path: &std::path::Path| {
            use std::os::unix::fs::MetadataExt as _;
            let found = fs::metadata(path).unwrap();
            (found.ctime(), found.ctime_nsec())
        };
        let before = changed(&vault);
        let outcome = place.sh("chmod 700 ~/vault; cat ~/vault/key");
        assert_eq!(out(&outcome), "", "{}", all(&outcome));
        assert_eq!(changed(&vault), before, "nobody opened it, not even for a moment");
        fs::set_permissions(&vault, fs::Permissions::from_mode(0o700)).unwrap();
    });
}

#[test]
fn a_tree_that_is_named_by_a_link_is_looked_into_all_the_same() {
    as_both("modes::a_tree_that_is_named_by_a_link_is_looked_into_all_the_same", || {
        let mut place = Place::new();
        fs::create_dir_all(place.home.path("real/pk")).unwrap();
        fs::write(place.home.path("real/pk/key"), "secret").unwrap();
        std::os::unix::fs::symlink("real", place.home.path("named")).unwrap();
        place.order.write.push(place.home.path("named"));
        place.order.hide.push(pattern(place.home.root(), "named/pk/key"));
        place.sh("chmod 0 ~/named/pk");
        let outcome = place.sh("chmod 700 ~/real/pk; cat ~/named/pk/key ~/real/pk/key");
        assert_eq!(out(&outcome), "", "{}", all(&outcome));
        let pk = fs::Permissions::from_mode(0o700);
        fs::set_permissions(place.home.path("real/pk"), pk).unwrap();
    });
}

#[test]
fn a_folder_that_nobody_can_look_into_is_closed() {
    as_both("modes::a_folder_that_nobody_can_look_into_is_closed", || {
        let mut place = protecting(Project::new().file("plain", "plain"));
        place.order.hide.push(pattern(place.project.root(), "**/.env"));
        // Deeper than any path can say.
        place.python(
            "import os\nfor _ in range(30):\n    os.mkdir('d' * 200)\n    os.chdir('d' * 200)\n",
        );
        let outcome = place.python(
            "import os\nfor depth in range(30):\n    try: os.chdir('d' * 200); os.listdir()\n    \
             except OSError: break\nprint(depth)\n",
        );
        let depth: u32 = out(&outcome).trim().parse().unwrap();
        assert!((15..21).contains(&depth), "{}", all(&outcome));
        let hide = outcome.enforced.iter().find(|one| one.layer == Layer::Hide).unwrap();
        assert_eq!(hide.strength.word(), "partial", "{:?}", outcome.notes);
        assert!(codes(&outcome).contains(&"unsearched"), "{:?}", outcome.notes);
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
fn names_are_kept_in_a_folder_that_the_command_can_open() {
    as_both("modes::names_are_kept_in_a_folder_that_the_command_can_open", || {
        let project = Project::new().dir(".git/info").mode(".git/info", 0o555).mode("", 0o555);
        let mut place = protecting(project);
        place.order.protect.push(pattern(place.project.root(), "single"));
        let outcome = place.sh(
            "chmod 755 . .git/info; mkdir .vscode; echo x > .git/info/attributes; echo x > single",
        );
        let told = codes(&outcome);
        assert_eq!(told, Vec::<&str>::new(), "{}\n{:?}", all(&outcome), outcome.notes);
        assert!(!place.project.path(".vscode").exists());
        assert!(!place.project.path(".git/info/attributes").exists());
        assert!(!place.project.path("single").exists());
    });
}
