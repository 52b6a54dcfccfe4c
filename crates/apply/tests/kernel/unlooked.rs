//! What a run left that was killed is looked over by the next, and what the host made since stays.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use palisade_apply::{Host, Outcome, Streams};
use palisade_plan::build;
use palisade_testkit::Project;

use crate::killed::{PATIENCE, SUPERVISOR, child, janitor_of, ours};
use crate::{Place, as_both, pattern, permit};

fn place(root: &Path) -> Place {
    let mut place = Place::new();
    (place.order.root, place.order.cwd) = (root.into(), root.into());
    place.order.write = vec![root.into()];
    let names = [
        "**/.git/hooks",
        "**/.git/config",
        "**/.git/modules/**/config",
        "**/.bashrc",
        "**/.vscode",
        "**/.claude/settings*.json",
    ];
    place.order.protect = names.iter().map(|name| pattern(root, name)).collect();
    place
}

fn run(place: &Place, state: &Path, script: &str) -> Outcome {
    let mut order = place.order.clone();
    order.argv = ["/bin/sh", "-c", script].map(str::to_owned).into();
    let host = Host::probe().keeping_spares(Some(state.join("spares")));
    let plan = build(&permit(), &order, &host.facts(&order.questions())).unwrap();
    host.start(&plan, Streams::default()).unwrap().wait().unwrap()
}

/// What a command makes before its run is killed.
const MADE: &str = "mkdir -p s/.vscode s/.claude t/.git/hooks plain/.git/hooks old/.vscode; \
     echo evil > s/.vscode/x; echo evil > s/.claude/settings.json; echo evil > s/.bashrc; \
     echo evil > t/.git/config; echo evil > t/.git/hooks/pre-commit; ln -s ../s .git/modules; \
     echo '[core]' > plain/.git/config; mkdir u; echo 'gitdir: ../t' > u/.git; \
     mv node_modules/.bashrc old/.bashrc; touch ready; exec sleep 47.15";

const GONE: [&str; 8] = [
    "s/.vscode",
    "s/.claude/settings.json",
    "s/.bashrc",
    "t/.git/config",
    "t/.git/hooks",
    ".git/modules",
    "u/.git",
    "old/.bashrc",
];

const STAYING: [&str; 5] = [
    "plain/.git/config",
    "old/.vscode/mine",
    "known/.vscode/mine",
    "late/.vscode/mine",
    "s/.profile",
];

fn project() -> Project {
    Project::new()
        .dir(".git/objects")
        .file(".git/config", "[core]\n")
        .file("known/.vscode/mine", "host's")
        .file("node_modules/.bashrc", "host's")
        .dir("inner")
}

fn killed_and_looked_over(name: &str, kills_janitor: bool, look: impl Fn(&Project, &Path)) {
    if let Some(root) = std::env::var_os(SUPERVISOR) {
        drop(run(&place(Path::new(&root)), &std::env::temp_dir(), MADE));
        return;
    }
    as_both(name, || {
        let (project, scratch) = (project(), Project::new());
        let root = project.root().to_owned();
        let mut supervisor = child(name, &root, &scratch);
        let begun = Instant::now();
        while !project.path("ready").exists() {
            assert!(begun.elapsed() < PATIENCE, "it never started");
            std::thread::sleep(Duration::from_millis(1));
        }
        if let Some(janitor) = kills_janitor.then(|| janitor_of(supervisor.id()).unwrap()) {
            rustix::process::kill_process(janitor, rustix::process::Signal::KILL).unwrap();
        }
        supervisor.kill().unwrap();
        supervisor.wait().unwrap();
        while !ours(&root).is_empty() {
            assert!(begun.elapsed() < PATIENCE, "{:?} live on", ours(&root));
            std::thread::sleep(Duration::from_millis(1));
        }
        // The clock that files are dated by moves on.
        std::thread::sleep(Duration::from_millis(40));
        for made in ["late/.vscode", "old/.vscode"] {
            fs::create_dir_all(project.path(made)).unwrap();
            fs::write(project.path(made).join("mine"), "host's").unwrap();
        }
        fs::write(project.path("s/.profile"), "host's").unwrap();
        look(&project, scratch.root());
    });
}

#[test]
fn what_a_killed_run_made_is_set_aside_by_the_next() {
    let name = "unlooked::what_a_killed_run_made_is_set_aside_by_the_next";
    killed_and_looked_over(name, false, |project, state| {
        // Somewhere else it is nobody's business.
        let other = Project::new();
        let outcome = run(&place(other.root()), state, "true");
        assert_eq!(outcome.notes, [], "{:?}", outcome.notes);
        // A run in a part of the project looks at all that the other could write.
        let outcome = run(&place(&project.path("inner")), state, "true");
        let is_there = |path: &&str| project.path(path).symlink_metadata().is_ok();
        let there: Vec<_> = GONE.into_iter().filter(is_there).collect();
        let expected: [&str; 0] = [];
        assert_eq!(there, expected, "{:?}", outcome.notes);
        // What was there and changed since may be the host's: `old/.vscode` was made inside.
        let stay: Vec<_> = STAYING.into_iter().filter(|path| !is_there(path)).collect();
        assert_eq!(stay, ["old/.vscode/mine"], "{:?}", outcome.notes);
        let set_aside = outcome.notes.iter().filter(|note| note.code == "set-aside").count();
        assert_eq!(set_aside, 9, "{:?}", outcome.notes);
        // Once.
        let outcome = run(&place(project.root()), state, "true");
        assert_eq!(outcome.notes, [], "{:?}", outcome.notes);
    });
}

#[test]
fn what_a_run_left_whose_end_nobody_knows_is_told() {
    let name = "unlooked::what_a_run_left_whose_end_nobody_knows_is_told";
    killed_and_looked_over(name, true, |project, state| {
        let outcome = run(&place(project.root()), state, "true");
        let told: Vec<_> = outcome.notes.iter().filter(|it| it.code == "not-looked-over").collect();
        for path in GONE {
            let path = project.path(path).display().to_string();
            assert!(
                told.iter().any(|it| it.message.contains(&path)),
                "{path}: {:?}",
                outcome.notes
            );
        }
        assert!(!outcome.notes.iter().any(|it| it.code == "set-aside"), "{:?}", outcome.notes);
        let outcome = run(&place(project.root()), state, "true");
        assert_eq!(outcome.notes, [], "it is told once");
    });
}
