use std::os::unix::fs::PermissionsExt as _;

use palisade_testkit::Project;

use super::*;

fn uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn agents(found: &[Workspace]) -> Vec<&str> {
    found.iter().map(|it| it.agent.as_str()).collect()
}

#[test]
fn a_place_is_remembered_when_nobody_runs_there_any_more() {
    let base = Project::new().dir("state").dir("a").dir("b");
    let places = Workspaces::new(&base.path("state"), uid());
    assert_eq!(places.list().unwrap(), []);
    let first = places.enter("claude", &base.path("a")).unwrap();
    assert!(first.before.is_empty());
    assert!(places.list().unwrap()[0].is_in_use());
    drop(first);
    let known = places.list().unwrap();
    assert_eq!(agents(&known), ["claude"]);
    assert_eq!(known[0].root, base.path("a"));
    assert!(!known[0].is_in_use());
    assert!(places.of_others("claude").unwrap().is_empty());
    assert_eq!(agents(&places.of_others("codex").unwrap()), ["claude"]);
    assert_eq!(places.forget(&base.path("b")).unwrap(), 0);
    assert_eq!(places.forget(&base.path("a")).unwrap(), 1);
    assert_eq!(places.list().unwrap(), []);
}

#[test]
fn who_runs_already_is_told_of_to_who_comes_later() {
    let base = Project::new().dir("state").dir("a").dir("b");
    let places = Workspaces::new(&base.path("state"), uid());
    let first = places.enter("claude", &base.path("a")).unwrap();
    let second = places.enter("codex", &base.path("b")).unwrap();
    assert_eq!(agents(&second.before), ["claude"], "it began before `b` was known");
    drop(second);
    let again = places.enter("codex", &base.path("b")).unwrap();
    assert!(again.before.is_empty(), "known since");
    drop(first);
    fs::remove_dir(base.path("a")).unwrap();
    assert_eq!(agents(&places.list().unwrap()), ["codex"], "what is gone hides nothing");
}

#[test]
fn what_others_could_have_written_is_not_believed() {
    let base = Project::new().dir("state/workspaces").dir("a");
    let folder = base.path("state/workspaces");
    let places = Workspaces::new(&base.path("state"), uid());
    places.enter("claude", &base.path("a")).unwrap();
    fs::write(folder.join("x.other"), "not looked at").unwrap();
    assert_eq!(places.list().unwrap().len(), 1);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    assert!(places.list().is_err() && places.enter("codex", &base.path("a")).is_err());
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    assert!(Workspaces::new(&base.path("state"), uid() + 1).list().is_err(), "somebody else's");
}

#[test]
fn an_entry_that_is_not_understood_is_named_and_no_part_of_the_list_is_taken_for_all() {
    let base = Project::new().dir("state").dir("a").dir("b");
    let folder = base.path("state/workspaces");
    let places = Workspaces::new(&base.path("state"), uid());
    places.enter("claude", &base.path("a")).unwrap();
    places.enter("codex", &base.path("b")).unwrap();
    let whole = places.list().unwrap().remove(0);
    let bytes = fs::read(&whole.file).unwrap();
    let broken = |expected: &str| {
        for result in [places.list(), places.of_others("codex")] {
            let error = result.expect_err(expected);
            assert!(error.to_string().contains(expected), "{error}");
            assert_eq!(error.path(), whole.file);
            assert!(!error.hint().is_empty());
        }
        let found = places.look().unwrap();
        assert_eq!((agents(&found.places), found.unknown.len()), (vec!["codex"], 1), "{expected}");
        assert!(places.enter("codex", &base.path("a")).is_err(), "{expected}");
        places.forget(&base.path("a")).unwrap();
    };
    // Cut short it names a folder that is not there, which would be taken for harmless.
    let changed = [
        &b""[..],
        b"no root",
        &bytes[..bytes.len() - 1],
        &[&bytes[..], b"x"].concat(),
        b"\xff\0/a",
        &b"x".repeat(20_000),
    ];
    for changed in changed {
        fs::write(&whole.file, changed).unwrap();
        broken("does not fit its name");
    }
    fs::remove_file(&whole.file).unwrap();
    std::os::unix::fs::symlink("elsewhere", &whole.file).unwrap();
    broken("cannot read");
    fs::remove_file(&whole.file).unwrap();
    fs::create_dir(&whole.file).unwrap();
    broken("cannot read");
    fs::remove_dir(&whole.file).unwrap();
    // A name made of what is no agent and folder.
    let odd = folder.join(name_of(b"claude"));
    fs::write(&odd, b"claude").unwrap();
    assert!(places.list().unwrap_err().to_string().contains("no agent and folder"));
    fs::remove_file(&odd).unwrap();
    assert_eq!(agents(&places.list().unwrap()), ["codex"]);
}

#[test]
fn a_folder_that_is_gone_hides_nothing_and_one_that_cannot_be_seen_does() {
    let base = Project::new().dir("state").dir("a").dir("shut/b").file("c", "");
    let places = Workspaces::new(&base.path("state"), uid());
    for place in ["a", "shut/b"] {
        places.enter("claude", &base.path(place)).unwrap();
    }
    fs::remove_dir(base.path("a")).unwrap();
    fs::rename(base.path("c"), base.path("a")).unwrap();
    assert_eq!(places.look().unwrap().gone.len(), 1, "a file is no workspace");
    if !rustix::process::geteuid().is_root() {
        fs::set_permissions(base.path("shut"), fs::Permissions::from_mode(0o000)).unwrap();
    }
    assert_eq!(places.list().unwrap()[0].root, base.path("shut/b"));
    fs::set_permissions(base.path("shut"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(places.forget_gone().unwrap(), 1);
    let found = places.look().unwrap();
    assert_eq!((found.places.len(), found.gone.len()), (1, 0));
    fs::remove_dir(base.path("shut/b")).unwrap();
    assert_eq!(places.forget(&base.path("shut/b")).unwrap(), 1, "by its name, too");
}

#[test]
fn more_places_than_can_be_hidden_are_an_error_and_not_the_first_of_them() {
    let base = Project::new().dir("state/workspaces").dir("a").dir("b");
    let places = Workspaces::new(&base.path("state"), uid());
    places.enter("claude", &base.path("a")).unwrap();
    let folder = base.path("state/workspaces");
    let add = |numbers: std::ops::Range<usize>| {
        for number in numbers {
            let bytes = format!("old\0/nonexistent/{number}");
            fs::write(folder.join(name_of(bytes.as_bytes())), bytes).unwrap();
        }
    };
    add(1..MOST);
    assert_eq!(agents(&places.of_others("codex").unwrap()), ["claude"]);
    places.enter("claude", &base.path("a")).unwrap();
    let full = places.enter("codex", &base.path("b")).unwrap_err();
    assert!(full.to_string().contains("4097 folders"), "{full}");
    assert!(full.hint().contains("forget --gone"), "{}", full.hint());
    add(MOST..MOST + 1);
    assert!(matches!(places.of_others("codex"), Err(Unknown::TooMany { count: 4097, .. })));
    assert_eq!(places.forget_gone().unwrap(), MOST);
    places.enter("codex", &base.path("b")).unwrap();
    assert_eq!(agents(&places.list().unwrap()), ["claude", "codex"]);
}

#[test]
fn who_reads_while_others_write_never_reads_half_of_an_entry() {
    let base = Project::new().dir("state").dir("a");
    let places = Workspaces::new(&base.path("state"), uid());
    let root = base.path("a");
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    // The same entry, by threads of one process.
                    let held = places.enter("claude", &root).unwrap();
                    places.forget(&root).unwrap();
                    drop(held);
                }
            });
        }
        for _ in 0..500 {
            assert!(places.list().unwrap().len() <= 1);
        }
    });
    let left: Vec<_> = fs::read_dir(base.path("state/workspaces")).unwrap().collect();
    assert!(left.len() <= 1, "{left:?}");
}

#[test]
fn nobody_keeps_an_agent_from_its_place_for_good() {
    let base = Project::new().dir("state").dir("a");
    let places = Workspaces::new(&base.path("state"), uid());
    drop(places.enter("claude", &base.path("a")).unwrap());
    let file = places.list().unwrap().remove(0).file;
    let held = opened(&file).unwrap();
    rustix::fs::flock(&held, FlockOperation::LockExclusive).unwrap();
    let error = places.enter("claude", &base.path("a")).unwrap_err();
    assert!(matches!(error, Unknown::Locked { .. }), "{error}");
    drop(held);
    places.enter("claude", &base.path("a")).unwrap();
}

#[test]
fn an_entry_that_is_there_is_not_replaced() {
    let base = Project::new().file("draft", "new").file("entry", "held");
    let held = File::open(base.path("entry")).unwrap();
    moved(&base.path("draft"), &base.path("entry")).unwrap();
    assert!(is_still(&base.path("entry"), &held), "who holds it goes on holding it");
    moved(&base.path("draft"), &base.path("other")).unwrap();
    assert_eq!(fs::read(base.path("other")).unwrap(), b"new");
    assert!(moved(&base.path("draft"), &base.path("third")).is_err(), "there is none any more");
}

#[test]
fn what_did_not_run_takes_its_own_entry_back_and_no_other() {
    let base = Project::new().dir("state").dir("a");
    let places = Workspaces::new(&base.path("state"), uid());
    let enter = || places.enter("claude", &base.path("a")).unwrap();
    let mut first = enter();
    first.nothing_ran();
    drop(first);
    assert_eq!(places.list().unwrap(), [], "nobody was there");
    // Another run has come meanwhile, and relies on it.
    let (mut first, second) = (enter(), enter());
    first.nothing_ran();
    drop(first);
    assert_eq!(agents(&places.list().unwrap()), ["claude"]);
    drop(second);
    let mut third = enter();
    third.nothing_ran();
    drop(third);
    assert_eq!(agents(&places.list().unwrap()), ["claude"], "something ran there before");
}
