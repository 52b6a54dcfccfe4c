//! Links in the place of folders that lead to protected names: what lies behind one has those names.

use std::fs;
use std::os::unix::fs::symlink;

use palisade_apply::Outcome;
use palisade_testkit::Project;

use crate::fallback::{accepting, blocked};
use crate::{Place, all, as_both, out, pattern};

const PROTECTED: [&str; 10] = [
    "**/.git/hooks",
    "**/.git/config",
    "**/.git/commondir",
    "**/.git/info/attributes",
    "**/.git/worktrees/*/config.worktree",
    "**/.git/modules/**/hooks",
    "**/.git/modules/**/config",
    "**/.claude/commands",
    "**/.claude/settings*.json",
    "**/.vscode",
];

fn place(project: Project) -> Place {
    let project = project
        .file(".git/HEAD", "ref: refs/heads/main\n")
        .file(".git/config", "[core]\n")
        .dir(".git/refs")
        .dir(".git/objects");
    let mut place = Place::with(project);
    let root = place.project.root().to_owned();
    place.order.protect = PROTECTED.iter().map(|name| pattern(&root, name)).collect();
    place
}

fn told(outcome: &Outcome, code: &str) -> usize {
    outcome.notes.iter().filter(|note| note.code == code).count()
}

/// What a command makes, and which of it leads protected names elsewhere.
const MADE: &str = "mkdir -p d/lib/hooks d/wt/w web r/.git/objects r/.git/refs r2/.git r3/.git/modules/sub \
     src pkg node_modules; \
     echo evil > d/lib/hooks/post-checkout; echo '[core]' > d/lib/config; echo evil > d/settings.json; \
     ln -s ../d .git/modules; ln -s ../d/wt .git/worktrees; ln -s ../d web/.claude; \
     ln -s ../../d r/.git/info; ln -s ../../d r2/.git/modules; ln -s ../../../d r3/.git/modules/new; \
     ln -s ../../../../d r3/.git/modules/sub/modules; \
     ln -s src lib; ln -s ../pkg node_modules/foo; ln -s ../d web/data; ln -s ../d r/objects; \
     ln -s ../../d r/.git/branch";

const LEADING: [&str; 7] = [
    ".git/modules",
    ".git/worktrees",
    "web/.claude",
    "r/.git/info",
    "r2/.git/modules",
    "r3/.git/modules/new",
    "r3/.git/modules/sub/modules",
];

const OTHERS: [&str; 5] = ["lib", "node_modules/foo", "web/data", "r/objects", "r/.git/branch"];

fn links(place: &Place, names: &[&str]) -> Vec<bool> {
    let is_link = |name: &&str| place.project.path(name).is_symlink();
    names.iter().map(is_link).collect()
}

#[test]
fn links_that_lead_protected_names_elsewhere_are_set_aside() {
    as_both("leading::links_that_lead_protected_names_elsewhere_are_set_aside", || {
        let place = place(Project::new());
        let outcome = place.sh(MADE);
        assert_eq!(out(&outcome), "", "{}", all(&outcome));
        assert_eq!(links(&place, &LEADING), [false; 7], "{:?}", outcome.notes);
        assert_eq!(links(&place, &OTHERS), [true; 5], "{:?}", outcome.notes);
        assert_eq!(told(&outcome, "set-aside"), 7, "{:?}", outcome.notes);
        assert!(place.project.path("web/.claude.set-aside").is_symlink(), "nothing is lost");
        assert!(place.project.path("d/lib/hooks/post-checkout").exists());
        // The next one has nothing to tell.
        let outcome = place.sh("true");
        assert_eq!(outcome.notes, [], "{:?}", outcome.notes);
    });
}

#[test]
fn without_namespaces_such_links_are_set_aside_too() {
    blocked("leading::without_namespaces_such_links_are_set_aside_too", || {
        let place = accepting(place(Project::new()));
        // At this level nothing new can be made beside what is protected.
        fs::remove_file(place.project.path(".git/config")).unwrap();
        let outcome = place.sh(MADE);
        assert_eq!(links(&place, &LEADING), [false; 7], "{}\n{:?}", all(&outcome), outcome.notes);
        assert_eq!(links(&place, &OTHERS), [true; 5], "{:?}", outcome.notes);
    });
}

#[test]
fn too_many_names_hide_no_such_link_in_the_projects_own_repository() {
    let name = "leading::too_many_names_hide_no_such_link_in_the_projects_own_repository";
    as_both(name, || {
        let place = place(Project::new());
        let outcome = place.sh("mkdir d; ln -s ../d .git/modules; ln -s ../d .git/worktrees; \
            mkdir -p many; cd many; seq 1 11000 | xargs touch; cd ..; seq 1 11000 | xargs touch");
        assert_eq!(links(&place, &LEADING[..2]), [false; 2], "{:?}", outcome.notes);
        // Nor does a project that had as many from the start.
        let outcome = place.sh("ln -s ../d .git/modules; ln -s ../d .git/worktrees");
        assert_eq!(links(&place, &LEADING[..2]), [false; 2], "{:?}", outcome.notes);
    });
}

#[test]
fn links_of_the_host_stay_and_what_they_lead_to_is_not_written() {
    as_both("leading::links_of_the_host_stay_and_what_they_lead_to_is_not_written", || {
        let project = Project::new().file("data/settings.json", "host's\n").dir("mods/sub");
        let place = place(project.dir("web").dir("other").file("whole/.claude/x", "x"));
        let elsewhere = Project::new().file("settings.json", "host's\n");
        symlink("../data", place.project.path("web/.claude")).unwrap();
        symlink("../mods", place.project.path(".git/modules")).unwrap();
        symlink(elsewhere.root(), place.project.path("other/.claude")).unwrap();
        symlink("whole/.claude", place.project.path(".claude")).unwrap();
        let outcome = place.sh(
            "(echo evil > data/settings.json) 2>&1 | grep -c Read-only; \
             (echo evil > mods/sub/config) 2>&1 | grep -c Read-only; \
             rm web/.claude; ln -sfn ../other web/.claude; mv .git/modules .git/m; rm other/.claude; \
             echo fine > whole/.claude/x; echo fine > data2; cat data2",
        );
        assert_eq!(out(&outcome), "1\n1\nfine\n", "{}", all(&outcome));
        let leads = |name: &str| fs::read_link(place.project.path(name)).unwrap();
        assert_eq!(leads("web/.claude").to_str(), Some("../data"), "{}", all(&outcome));
        assert_eq!(leads(".git/modules").to_str(), Some("../mods"));
        assert_eq!(leads("other/.claude"), elsewhere.root());
        assert_eq!(leads(".claude").to_str(), Some("whole/.claude"));
        assert_eq!(told(&outcome, "set-aside"), 0, "{:?}", outcome.notes);
        assert_eq!(fs::read(place.project.path("data/settings.json")).unwrap(), b"host's\n");
        let is = fs::read(place.project.path("whole/.claude/x")).unwrap();
        assert_eq!(is, b"fine\n", "names below are protected by themselves: {}", all(&outcome));
    });
}

#[test]
fn a_link_of_the_host_to_the_project_itself_is_told() {
    as_both("leading::a_link_of_the_host_to_the_project_itself_is_told", || {
        let place = place(Project::new().dir("web"));
        symlink("..", place.project.path("web/.claude")).unwrap();
        let outcome = place.sh("echo fine > fine; rm web/.claude; cat fine");
        assert_eq!(out(&outcome), "fine\n", "{}", all(&outcome));
        assert!(place.project.path("web/.claude").is_symlink());
        let said = format!("{:?}", outcome.enforced);
        assert!(said.contains("protected names that are made there are not seen"), "{said}");
    });
}
