//! Names that do not exist yet: none comes to be, and none of ours stays.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use palisade_apply::{Host, Outcome, Streams};
use palisade_plan::{Layer, Strength, build};
use palisade_testkit::Project;

use crate::{Place, all, as_both, out, pattern, permit, started};

/// A project with these protected names.
fn protecting(project: Project, names: &[&str]) -> Place {
    let mut place = Place::with(project);
    let patterns = names.iter().map(|name| pattern(place.project.root(), name));
    place.order.protect = patterns.collect();
    place
}

fn listed(place: &Place) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(place.project.root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn codes(outcome: &Outcome) -> Vec<&'static str> {
    outcome.notes.iter().map(|note| note.code).collect()
}

#[test]
fn e031_a_protected_name_that_is_absent_cannot_be_made_in_any_way() {
    as_both("absent::e031_a_protected_name_that_is_absent_cannot_be_made_in_any_way", || {
        let names = ["**/.claude/settings.json", "**/.bashrc", "**/.git/hooks"];
        let project = Project::new().file("evil", "evil").dir(".git/objects").dir("sub/.git");
        let place = protecting(project, &names);
        let outcome = place.sh("for p in .claude/settings.json .bashrc .git/hooks sub/.git/hooks; do \
               mkdir -p ${p%/*}; echo evil > $p; cp evil $p; mv -T evil $p; ln -sf evil $p; ln -T evil $p; \
               rm -rf $p; rmdir $p; mkdir $p/x; echo evil > $p/pre-commit; mv $p $p.away; done; \
             mv .git g; mv sub/.git sub/g; mv .claude c; \
             echo x > .git/objects/x; echo x > .bashrc2; echo fine");
        assert_eq!(out(&outcome), "fine\n", "{}", all(&outcome));
        // It could only look: what was there is there, and nothing else.
        assert_eq!(listed(&place), [".bashrc2", ".git", "evil", "sub"], "{}", all(&outcome));
        for (folder, count) in [(".git", 1), (".git/objects", 1), ("sub", 1), ("sub/.git", 0)] {
            assert_eq!(
                fs::read_dir(place.project.path(folder)).unwrap().count(),
                count,
                "{folder}"
            );
        }
        assert_eq!(codes(&outcome), Vec::<&str>::new());
        let protect = outcome.enforced.iter().find(|one| one.layer == Layer::Protect).unwrap();
        assert_eq!(protect.strength.word(), "kernel+window");
        assert!(matches!(&protect.strength, Strength::Window(list) if list.len() == 2));
    });
}

#[test]
fn e031_other_letter_cases_and_new_folders_are_set_aside_at_the_end() {
    as_both("absent::e031_other_letter_cases_and_new_folders_are_set_aside_at_the_end", || {
        let place = protecting(
            Project::new().file("kept/.VSCODE/tasks.json", "host's"),
            &["**/.bashrc", "**/.vscode", "**/.mcp.json"],
        );
        let outcome = place.sh("echo evil > .BashRC; mkdir -p new/deep/er/and/more/and/more; \
             echo evil > new/deep/er/and/more/and/more/.mcp.json; mkdir new/.vscode; \
             echo evil > kept/.VSCODE/tasks.json; ln -s /etc/passwd new/.bashrc; \
             echo plain > new/plain");
        assert_eq!(codes(&outcome), ["set-aside"; 4], "{}", all(&outcome));
        assert_eq!(listed(&place), [".BashRC.set-aside", "kept", "new"]);
        let new = |name: &str| place.project.path("new").join(name);
        assert!(new("deep/er/and/more/and/more/.mcp.json.set-aside").exists());
        assert!(new(".vscode.set-aside").is_dir() && new(".bashrc.set-aside").is_symlink());
        assert!(new("plain").exists() && !new(".vscode").exists());
        let kept = fs::read(place.project.path("kept/.VSCODE/tasks.json")).unwrap();
        assert_eq!(kept, b"host's", "what was there in another letter case is protected");
    });
}

#[test]
fn a120_a_repository_made_inside_works_and_one_with_programs_is_set_aside() {
    as_both(
        "absent::a120_a_repository_made_inside_works_and_one_with_programs_is_set_aside",
        || {
            let place = protecting(Project::new(), &["**/.git/hooks", "**/.git/config"]);
            let outcome = place.sh("git init -q good && cd good && echo x > a && git add a && \
             git -c user.name=t -c user.email=t@example.com commit -qm x && git log --oneline | wc -l; \
             cd .. && git clone -q good copy && git -C copy branch other && git -C copy status --short; \
             git init -q bad && git -C bad config core.pager evil; \
             git init -q worse && echo evil > worse/.git/hooks/pre-commit");
            assert_eq!(out(&outcome), "1\n", "{}", all(&outcome));
            assert_eq!(codes(&outcome), ["set-aside", "set-aside"], "{:?}", outcome.notes);
            let there = |path: &str| place.project.path(path).exists();
            assert!(
                there("good/.git/config") && there("copy/.git/config") && there("copy/.git/hooks")
            );
            assert!(!there("bad/.git/config") && there("bad/.git/config.set-aside"));
            assert!(!there("worse/.git/hooks") && there("worse/.git/config"));
        },
    );
}

#[test]
fn a132_runs_at_the_same_time_keep_the_same_names_until_the_last_ends() {
    as_both("absent::a132_runs_at_the_same_time_keep_the_same_names_until_the_last_ends", || {
        let mut place = protecting(Project::new(), &["**/.bashrc", "**/.claude/commands"]);
        place.order.argv =
            ["sh", "-c", "echo up; read x; echo evil > .bashrc; mkdir .claude/commands; ls -A"]
                .map(str::to_owned)
                .into();
        let (read, write) = std::io::pipe().unwrap();
        let stdin = palisade_apply::Input::From(read.into());
        let long = started(&place, Streams { stdin, ..Streams::default() });
        wait_for(|| place.project.path(".bashrc").exists());
        // One that starts and ends meanwhile must not take the names away.
        let short = place.sh("echo evil > .bashrc; echo done");
        assert_eq!(out(&short), "done\n", "{}", all(&short));
        assert!(place.project.path(".bashrc").is_dir());
        drop(write);
        let outcome = long.wait().unwrap();
        assert_eq!(out(&outcome), "up\n.bashrc\n.claude\n", "{}", all(&outcome));
        assert!(listed(&place).is_empty());
    });
}

#[test]
fn a132_what_a_doubly_killed_run_left_is_removed_by_the_next() {
    as_both("absent::a132_what_a_doubly_killed_run_left_is_removed_by_the_next", || {
        let project = Project::new().dir(".bashrc").mode(".bashrc", 0o1755).dir(".vscode");
        let place = protecting(project, &["**/.bashrc", "**/.vscode"]);
        let outcome = place.sh("echo evil > .bashrc; echo evil > .bashrc/x; echo fine");
        assert_eq!(out(&outcome), "fine\n", "{}", all(&outcome));
        assert_eq!(listed(&place), [".vscode"], "an empty folder of somebody else stays");
    });
}

#[test]
fn what_a_host_puts_into_a_placeholder_stays() {
    as_both("absent::what_a_host_puts_into_a_placeholder_stays", || {
        let mut place = protecting(Project::new(), &["**/.vscode"]);
        place.order.argv =
            ["sh", "-c", "read x; cat .vscode/s; echo evil > .vscode/s"].map(str::to_owned).into();
        let (read, write) = std::io::pipe().unwrap();
        let stdin = palisade_apply::Input::From(read.into());
        let running = started(&place, Streams { stdin, ..Streams::default() });
        wait_for(|| place.project.path(".vscode").exists());
        fs::write(place.project.path(".vscode/s"), "host's\n").unwrap();
        drop(write);
        let outcome = running.wait().unwrap();
        assert_eq!(out(&outcome), "host's\n", "{}", all(&outcome));
        assert_eq!(fs::read(place.project.path(".vscode/s")).unwrap(), b"host's\n");
        assert_eq!(codes(&outcome), Vec::<&str>::new());
    });
}

/// Waits until something is so, and not for ever.
fn wait_for(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(20), "it never came");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a132_spares_hold_names_as_new_placeholders_do() {
    as_both("absent::a132_spares_hold_names_as_new_placeholders_do", || {
        let mut place =
            protecting(Project::new().dir("sub/.git"), &["**/.bashrc", "**/.git/hooks"]);
        let state = Project::new();
        let pool = state.path("spares");
        let script = "echo x > .bashrc; rm -r .bashrc; mv .bashrc b; mkdir sub/.git/hooks/x; ls -A . sub/.git";
        place.order.argv = ["/bin/sh", "-c", script].map(str::to_owned).into();
        let inodes = || {
            let entries = fs::read_dir(&pool).unwrap();
            let names = entries.map(|entry| entry.unwrap().file_name());
            // Beside them lie a list of folders, and what runs tell each other.
            let is_ours = |name: &OsString| {
                let name = name.to_string_lossy();
                name == ".folders" || name.starts_with(".run-")
            };
            let mut names: Vec<_> = names.filter(|name| !is_ours(name)).collect();
            names.sort();
            names
        };
        let host = Host::probe().keeping_spares(Some(pool.clone()));
        let mut had = Vec::new();
        for round in 0..3 {
            let facts = host.facts(&place.order.questions());
            let plan = build(&permit(), &place.order, &facts).unwrap();
            let outcome = host.start(&plan, Streams::default()).unwrap().wait().unwrap();
            assert_eq!(
                out(&outcome),
                ".:\n.bashrc\nsub\n\nsub/.git:\nhooks\n",
                "{}",
                all(&outcome)
            );
            assert_eq!(listed(&place), ["sub"], "nothing of ours stays");
            assert_eq!(fs::read_dir(place.project.path("sub/.git")).unwrap().count(), 0);
            if round > 0 {
                assert_eq!(inodes(), had, "they are the same each time");
            }
            had = inodes();
            assert_eq!(had.len(), 2);
        }
    });
}

#[test]
fn a_folder_that_nobody_may_write_needs_no_placeholder() {
    as_both("absent::a_folder_that_nobody_may_write_needs_no_placeholder", || {
        let place = protecting(Project::new().mode("", 0o555), &["**/.bashrc"]);
        let outcome = place.sh("echo evil > .bashrc; echo fine");
        assert_eq!(out(&outcome), "fine\n", "{}", all(&outcome));
        assert!(!Path::new(&place.project.path(".bashrc")).exists());
    });
}

#[test]
fn e032_a_repository_that_leads_elsewhere_and_names_that_are_taken_are_set_aside() {
    let name =
        "absent::e032_a_repository_that_leads_elsewhere_and_names_that_are_taken_are_set_aside";
    as_both(name, || {
        let names = ["**/.git/hooks", "**/.git/config", "**/.bashrc"];
        for made in ["ln -s evil .git", "echo 'gitdir: evil' > .git"] {
            let place = protecting(Project::new(), &names);
            let outcome = place.sh(&format!("mkdir evil; {made}"));
            assert_eq!(codes(&outcome), ["set-aside"], "{made}: {}", all(&outcome));
            assert!(place.project.path(".git").symlink_metadata().is_err(), "{made}");
        }
        let place = protecting(Project::new(), &names);
        let outcome = place.sh("git init -q . && test -d .git && echo made");
        assert_eq!((&*out(&outcome), codes(&outcome).len()), ("made\n", 0), "{}", all(&outcome));
        let outcome = place.sh("echo evil > .BashRC; touch .BashRC.set-aside; i=0; \
             while [ $i -lt 120 ]; do touch .BashRC.set-aside-$i; i=$((i+1)); done");
        assert_eq!(codes(&outcome), ["set-aside"], "{}", all(&outcome));
        assert!(!place.project.path(".BashRC").exists());
    });
}
