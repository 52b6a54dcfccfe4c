//! Runs in one project at the same time: what comes in the time of one is nobody's to leave behind.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use palisade_apply::{Host, Outcome, Running, Streams};
use palisade_plan::{Layer, Strength, build};
use palisade_testkit::Project;

use crate::{Place, all, as_both, out, pattern, permit};

/// A project in which several runs go on, that share what runs know of each other.
struct Shared {
    place: Place,
    state: Project,
}

impl Shared {
    fn new(project: Project, names: &[&str]) -> Self {
        let mut place = Place::with(project);
        let patterns = names.iter().map(|name| pattern(place.project.root(), name));
        place.order.protect = patterns.collect();
        Self { place, state: Project::new() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.project.path(name)
    }

    /// Starts a script that is in its project, and waits until it has said so.
    fn start(&self, name: &str, script: &str) -> Running {
        let mut order = self.place.order.clone();
        // As the host sees it: the placeholders of others are none of its business.
        let script = format!("w() {{ until test -e $1; do sleep 0.01; done; }}; {script}");
        order.argv = ["sh".into(), "-c".into(), script].into();
        let host = Host::probe().keeping_spares(Some(self.state.path("spares")));
        let plan = build(&permit(), &order, &host.facts(&order.questions())).unwrap();
        let running = host.start(&plan, Streams::default()).unwrap();
        self.await_name(name);
        running
    }

    fn await_name(&self, name: &str) {
        let begun = Instant::now();
        while !self.path(name).exists() {
            assert!(begun.elapsed() < Duration::from_secs(20), "{name} never came");
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn say(&self, name: &str) {
        fs::write(self.path(name), "").unwrap();
    }

    /// Returns every name below a folder of the project.
    fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn codes(outcome: &Outcome) -> Vec<&'static str> {
    outcome.notes.iter().map(|note| note.code).collect()
}

const NAMES: [&str; 4] = ["**/.git/commondir", "**/.bashrc", "**/.vscode", ".mcp.json"];

fn project() -> Project {
    Project::new().dir(".git/objects").dir("s").file("kept/.vscode/tasks.json", "host's\n")
}

#[test]
fn what_one_run_made_and_lost_another_cannot_leave_behind() {
    as_both("overlapping::what_one_run_made_and_lost_another_cannot_leave_behind", || {
        for name in [".git/commondir", "s/.bashrc"] {
            // It is set aside when the first ends, or the first takes it away itself.
            for first in ["w end1", &format!("w away; rm {name}; touch done; w end1")] {
                let shared = Shared::new(project(), &NAMES);
                let one = shared.start("up1", &format!("echo evil > {name}; touch up1; {first}"));
                let script = format!(
                    "touch up2; until ! test -e {name}; do sleep 0.01; done; echo evil > {name}; \
                     touch again; w end2; cat {name}"
                );
                let two = shared.start("up2", &script);
                shared.say("away");
                if first.contains("done") {
                    shared.await_name("again");
                }
                shared.say("end1");
                let one = one.wait().unwrap();
                shared.await_name("again");
                shared.say("end2");
                let two = two.wait().unwrap();
                let there = shared.path(name).symlink_metadata().is_ok();
                assert!(!there, "{name}, {first}: {:?} {:?} {}", one.notes, two.notes, all(&two));
                let kept = fs::read(shared.path("kept/.vscode/tasks.json")).unwrap();
                assert_eq!(kept, b"host's\n");
            }
        }
    });
}

#[test]
fn three_runs_hand_a_name_on_and_none_leaves_it_behind() {
    as_both("overlapping::three_runs_hand_a_name_on_and_none_leaves_it_behind", || {
        let shared = Shared::new(project(), &NAMES);
        let again = "until ! test -e s/.bashrc; do sleep 0.01; done; echo evil > s/.bashrc";
        let one = shared.start("up1", "echo evil > s/.bashrc; touch up1; w end1");
        let two = shared.start("up2", &format!("touch up2; {again}; touch made2; w end2"));
        shared.say("end1");
        one.wait().unwrap();
        shared.await_name("made2");
        // The first is gone by now: only the second knows that it was not there.
        let three = shared.start("up3", &format!("touch up3; {again}; touch made3; w end3"));
        shared.say("end2");
        two.wait().unwrap();
        shared.await_name("made3");
        shared.say("end3");
        let three = three.wait().unwrap();
        assert!(!shared.path("s/.bashrc").exists(), "{:?}", three.notes);
    });
}

#[test]
fn what_was_there_before_all_runs_stays() {
    as_both("overlapping::what_was_there_before_all_runs_stays", || {
        let project = project().file("s/.bashrc", "host's\n").file(".git/commondir", "../x\n");
        let project = project.file(".mcp.json", "host's\n");
        let mut shared = Shared::new(project, &NAMES);
        let one = shared.start("up1", "touch up1; w end");
        let two = shared.start("up2", "touch up2; w end");
        // A run to which these names mean nothing does not say that they were not there.
        shared.place.order.protect = vec![pattern(shared.place.project.root(), "**/.zshrc")];
        let other = shared.start("up3", "touch up3; w end");
        shared.place.order.protect =
            NAMES.map(|name| pattern(shared.place.project.root(), name)).into();
        let last = shared.start("up4", "touch up4; w end");
        shared.say("end");
        for run in [one, two, other, last] {
            let outcome = run.wait().unwrap();
            assert!(outcome.notes.is_empty(), "{:?}", outcome.notes);
        }
        for name in ["s/.bashrc", ".mcp.json", "kept/.vscode/tasks.json", ".git/commondir"] {
            assert!(shared.path(name).exists(), "{name}");
        }
        // One that ended before is no concern of the next.
        fs::write(shared.path("s/.vscode"), "new\n").unwrap();
        let next = shared.start("up5", "touch up5");
        assert!(next.wait().unwrap().notes.is_empty());
        assert!(shared.path("s/.vscode").exists());
    });
}

#[test]
fn what_keeps_a_name_for_one_run_is_no_name_that_another_made() {
    let name = "overlapping::what_keeps_a_name_for_one_run_is_no_name_that_another_made";
    as_both(name, || {
        let names = ["**/.git/config", "**/.git/hooks", "**/.vscode/tasks.json"];
        let shared = Shared::new(Project::new(), &names);
        let one = shared.start("up1", "mkdir -p s/.git/objects s/.vscode; touch up1; w end1");
        let script = "touch up2; w gone; echo evil > s/.git/config; mkdir s/.git/hooks/x; \
            echo evil > s/.vscode/tasks.json; w end2; ls -A s/.git";
        let two = shared.start("up2", script);
        assert_eq!(shared.names("s/.git"), ["config", "hooks", "objects"]);
        shared.say("end1");
        let one = one.wait().unwrap();
        assert_eq!(shared.names("s/.git"), ["config", "hooks", "objects"], "{:?}", one.notes);
        shared.say("gone");
        shared.say("end2");
        let two = two.wait().unwrap();
        assert_eq!(out(&two), "config\nhooks\nobjects\n", "{}", all(&two));
        assert_eq!(shared.names("s/.git"), ["objects"], "{:?} {:?}", one.notes, two.notes);
        assert_eq!(shared.names("s/.vscode"), Vec::<String>::new());
        assert!(
            codes(&one).is_empty() && codes(&two).is_empty(),
            "{:?} {:?}",
            one.notes,
            two.notes
        );
    });
}

#[test]
fn single_names_are_told_of_in_a_project_with_too_many() {
    as_both("overlapping::single_names_are_told_of_in_a_project_with_too_many", || {
        let project = project().dir("many");
        for number in 0..20_100 {
            fs::write(project.path(format!("many/{number}")), "").unwrap();
        }
        let shared = Shared::new(project, &NAMES);
        let name = ".git/commondir";
        let one = shared.start("up1", &format!("echo evil > {name}; touch up1; w end1"));
        let script = format!(
            "touch up2; until ! test -e {name}; do sleep 0.01; done; echo evil > {name}; \
             touch again; w end2"
        );
        let two = shared.start("up2", &script);
        shared.say("end1");
        one.wait().unwrap();
        shared.await_name("again");
        shared.say("end2");
        let two = two.wait().unwrap();
        assert!(!shared.path(name).exists(), "{:?}", two.notes);
    });
}

/// Says to a test that it is a supervisor that will be killed, where its project lies, and where runs
/// tell each other what they know.
const KILLED: [&str; 2] = ["PALISADE_TEST_OVERLAPPING", "PALISADE_TEST_OVERLAPPING_STATE"];

const AGAIN: &str = "touch up2; until ! test -e .git/commondir; do sleep 0.01; done; echo evil > .git/commondir; \
     touch again; sleep 300";

/// The other process: it is killed while it waits.
fn be_killed([root, state]: [PathBuf; 2]) {
    let mut place = Place::new();
    (place.order.root, place.order.cwd) = (root.clone(), root.clone());
    place.order.write = vec![root.clone()];
    place.order.protect = NAMES.map(|name| pattern(&root, name)).into();
    place.order.argv = ["sh", "-c", AGAIN].map(str::to_owned).into();
    let host = Host::probe().keeping_spares(Some(state.join("spares")));
    let plan = build(&permit(), &place.order, &host.facts(&place.order.questions())).unwrap();
    host.start(&plan, Streams::default()).unwrap().wait().unwrap();
}

#[test]
fn who_is_killed_leaves_nothing_behind_that_another_made_before_and_tells_of_its_end() {
    let test = "overlapping::who_is_killed_leaves_nothing_behind_that_another_made_before_and_\
                tells_of_its_end";
    if let [Some(root), Some(state)] = KILLED.map(std::env::var_os) {
        return be_killed([root.into(), state.into()]);
    }
    as_both(test, || {
        let shared = Shared::new(project(), &NAMES);
        let one = shared.start("up1", "echo evil > .git/commondir; touch up1; w end1");
        let mut other = Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact", "--test-threads=1"])
            .env(KILLED[0], shared.place.project.root())
            .env(KILLED[1], shared.state.root())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        shared.await_name("up2");
        shared.say("end1");
        one.wait().unwrap();
        shared.await_name("again");
        other.kill().unwrap();
        other.wait().unwrap();
        let begun = Instant::now();
        let says = |number| {
            let told = fs::read(shared.state.path(format!("spares/.run-{number}")));
            told.ok().and_then(|told| told.first().copied())
        };
        while shared.path(".git/commondir").exists() || says(1) != Some(b'!') {
            let left = shared.names(".git");
            assert!(begun.elapsed() < Duration::from_secs(10), "{left:?} {:?}", says(1));
            thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(says(0), Some(b'-'), "who was not killed has looked over what it left");
    });
}

#[test]
fn who_cannot_tell_others_says_so() {
    as_both("overlapping::who_cannot_tell_others_says_so", || {
        let shared = Shared::new(project(), &NAMES);
        let protect = |outcome: &Outcome| {
            let layer = outcome.enforced.iter().find(|it| it.layer == Layer::Protect);
            layer.unwrap().strength.clone()
        };
        let told = shared.start("up1", "touch up1").wait().unwrap();
        assert!(!matches!(protect(&told), Strength::Absent(_)), "{told:?}");
        let said = |strength| match strength {
            Strength::Partial(list) => list.iter().any(|it| it.contains("were not told")),
            Strength::Kernel | Strength::Window(_) | Strength::Absent(_) => false,
        };
        assert!(!said(protect(&told)));
        // A file is where the folder should be, as a full disk leaves no room for one.
        fs::remove_dir_all(shared.state.path("spares")).unwrap();
        fs::write(shared.state.path("spares"), "").unwrap();
        let untold = shared.start("up2", "touch up2").wait().unwrap();
        assert!(said(protect(&untold)), "{:?}", untold.enforced);
    });
}
