//! A hidden name that the host makes while a command runs.

use std::fs;
use std::thread;
use std::time::Duration;

use palisade_apply::{Outcome, Streams};
use palisade_plan::Layer;
use palisade_plan::seccomp::Nesting;
use palisade_testkit::{Project, Turn, ordinary_user};

use crate::fallback::{accepting, blocked, lacks};
use crate::{Place, all, as_both, out, pattern, started};

/// What a host does while a script waits for it, which then goes on for long enough to be guarded.
pub(crate) fn meanwhile(
    place: &mut Place,
    before: &str,
    script: &str,
    host: impl Fn(&Place),
) -> Outcome {
    let script =
        format!("{before}; touch up; until test -e saved; do sleep 0.01; done; sleep 1; {script}");
    place.order.argv = ["sh".into(), "-c".into(), script].into();
    let running = started(place, Streams::default());
    while !place.project.path("up").exists() {
        thread::sleep(Duration::from_millis(1));
    }
    host(place);
    fs::write(place.project.path("saved"), "").unwrap();
    running.wait().unwrap()
}

/// Takes what a user has of ways to be told by the kernel, until they are dropped.
pub(crate) fn all_ways_to_be_told() -> Vec<std::os::fd::OwnedFd> {
    let take = || rustix::fs::inotify::init(rustix::fs::inotify::CreateFlags::CLOEXEC);
    let taken: Vec<_> = std::iter::from_fn(|| take().ok()).take(100_000).collect();
    assert_eq!(take().unwrap_err(), rustix::io::Errno::MFILE);
    taken
}

fn codes(outcome: &Outcome) -> Vec<&'static str> {
    outcome.notes.iter().map(|note| note.code).collect()
}

/// As editors do, or as whoever unpacks something.
fn make_secrets(place: &Place) {
    fs::write(place.project.path("sub/.env"), "secret\n").unwrap();
    fs::write(place.project.path("sub/plain"), "fine\n").unwrap();
    fs::create_dir_all(place.project.path("new/deep")).unwrap();
    fs::write(place.project.path("new/deep/.env.new"), "secret\n").unwrap();
    let [new, env] = ["new/deep/.env.new", "new/deep/.env"].map(|name| place.project.path(name));
    fs::rename(new, env).unwrap();
}

fn pattern_place() -> Place {
    let mut place = Place::with(Project::new().dir("sub").file(".env", "secret\n"));
    place.order.hide = vec![pattern(place.project.root(), "**/.env")];
    place
}

const READ: &str = "cat sub/plain; cat .env; cat sub/.env; mv sub/.env sub/e; cat new/deep/.env; \
    mv new n; cat n/deep/.env";

#[test]
fn what_comes_to_match_a_hidden_pattern_is_hidden() {
    as_both("come::what_comes_to_match_a_hidden_pattern_is_hidden", is_hidden);
}

fn is_hidden() {
    let mut place = pattern_place();
    let outcome = meanwhile(&mut place, ":", READ, make_secrets);
    assert_eq!(out(&outcome), "fine\n", "{}", all(&outcome));
    let mut came = outcome.notes.iter().filter(|note| note.code == "hidden-came");
    assert!(came.any(|note| note.message.contains("sub/.env")), "{:?}", outcome.notes);
    assert!(came.any(|note| note.message.contains("new/deep/.env")), "{:?}", outcome.notes);
    assert!(!came.any(|note| note.message.ends_with("/.env`")), "what was there did not come");
    let told = lacks(&outcome, Layer::Hide);
    assert!(told.contains("match a hidden pattern is hidden once it is seen"), "{told}");
    assert!(!told.contains("not all folders"), "{told}");
    assert_eq!(fs::read(place.project.path("sub/.env")).unwrap(), b"secret\n");
}

#[test]
fn what_comes_is_hidden_where_the_kernel_tells_nobody_any_more() {
    let name = "come::what_comes_is_hidden_where_the_kernel_tells_nobody_any_more";
    // What there is of it is the user's, and the rest of the machine needs root's.
    if ordinary_user(name) == Turn::Done {
        return;
    }
    let taken = all_ways_to_be_told();
    is_hidden();
    drop(taken);
}

#[test]
fn a_hidden_path_that_comes_outside_of_what_can_be_written_is_hidden() {
    let name = "come::a_hidden_path_that_comes_outside_of_what_can_be_written_is_hidden";
    as_both(name, || {
        let mut place = Place::new();
        let names = [".ssh", ".aws", ".local/share/keyrings", "Library/Keychains"];
        place.order.hide = names.map(|name| pattern(place.home.root(), name)).into();
        // What was asked for in vain may be remembered as absent.
        let before = "cat ~/.local/share/keyrings/key";
        let script = "cat ~/plain ~/.aws/key ~/.local/share/keyrings/key; ls ~/Library";
        let outcome = meanwhile(&mut place, before, script, |place| {
            for folder in [".aws", ".local/share/keyrings"] {
                fs::create_dir_all(place.home.path(folder)).unwrap();
                fs::write(place.home.path(folder).join("key"), "secret\n").unwrap();
            }
            fs::write(place.home.path("plain"), "fine\n").unwrap();
            fs::create_dir_all(place.home.path("Library/Fonts")).unwrap();
        });
        assert_eq!(out(&outcome), "fine\nFonts\n", "{}", all(&outcome));
        assert!(codes(&outcome).contains(&"hidden-came"), "{:?}", outcome.notes);
        let told = lacks(&outcome, Layer::Hide);
        assert!(told.contains("not there yet is hidden once"), "{told}");
    });
}

#[test]
fn a_name_that_may_be_read_is_not_hidden_when_it_comes() {
    as_both("come::a_name_that_may_be_read_is_not_hidden_when_it_comes", || {
        let mut place = pattern_place();
        place.order.readable = vec![pattern(place.project.root(), "sub/.env")];
        let outcome = meanwhile(&mut place, ":", "cat sub/.env new/deep/.env", make_secrets);
        assert_eq!(out(&outcome), "secret\n", "{}", all(&outcome));
    });
}

#[test]
fn a_hidden_file_of_a_project_that_can_only_be_read_is_hidden_again() {
    as_both("come::a_hidden_file_of_a_project_that_can_only_be_read_is_hidden_again", || {
        let mut place = pattern_place();
        place.order.write = Vec::new();
        place.order.argv = [
            "sh",
            "-c",
            "until test -e saved; do sleep 0.01; done; sleep 1; \
            cat sub/plain; cat .env; cat sub/.env",
        ]
        .map(str::to_owned)
        .into();
        let running = started(&place, Streams::default());
        thread::sleep(Duration::from_millis(300));
        make_secrets(&place);
        fs::rename(place.project.path("new/deep/.env"), place.project.path(".env")).unwrap();
        fs::write(place.project.path("saved"), "").unwrap();
        let outcome = running.wait().unwrap();
        assert_eq!(out(&outcome), "fine\n", "{}", all(&outcome));
        assert!(codes(&outcome).contains(&"hidden-replaced"), "{:?}", outcome.notes);
        assert!(codes(&outcome).contains(&"hidden-came"), "{:?}", outcome.notes);
    });
}

#[test]
fn a_folder_that_nobody_watches_is_told_of() {
    as_both("come::a_folder_that_nobody_watches_is_told_of", || {
        let mut place = pattern_place();
        let outcome = meanwhile(&mut place, ":", "cat node_modules/.env", |place| {
            fs::create_dir(place.project.path("node_modules")).unwrap();
            fs::write(place.project.path("node_modules/.env"), "read\n").unwrap();
        });
        assert_eq!(out(&outcome), "read\n", "{}", all(&outcome));
        let told = lacks(&outcome, Layer::Hide);
        assert!(told.contains("not all folders were watched"), "{told}");
    });
}

/// What is said of mounts made inside is so: `full` is not claimed, and the rest holds.
#[test]
fn with_namespaces_inside_what_comes_is_hidden_in_the_sandbox_alone_and_that_is_told() {
    let name =
        "come::with_namespaces_inside_what_comes_is_hidden_in_the_sandbox_alone_and_that_is_told";
    as_both(name, || {
        let mut place = pattern_place();
        place.order.nesting = Nesting::UserNamespaces;
        let script = "cat sub/.env; touch seen; wait";
        let before = "unshare -Um sh -c 'touch nested; until test -e seen; do sleep 0.01; done; \
            cat sub/.env .env' & until test -e nested; do sleep 0.01; done";
        let outcome = meanwhile(&mut place, before, script, make_secrets);
        // What was hidden when it made its mounts stays hidden there.
        assert_eq!(out(&outcome), "secret\n", "{}", all(&outcome));
        for layer in [Layer::Hide, Layer::Protect] {
            let told = outcome.enforced.iter().find(|it| it.layer == layer).unwrap();
            assert_eq!(told.strength.word(), "partial", "{told:?}");
            assert!(lacks(&outcome, layer).contains("mounts of their own"), "{told:?}");
        }
    });
}

/// However many a command makes, who watches it stays small and the rest goes on.
#[test]
fn a_flood_of_hidden_names_ends() {
    as_both("come::a_flood_of_hidden_names_ends", || {
        let place = pattern_place();
        let script = "import os, time\nfor i in range(600):\n os.mkdir(f'd{i}')\n \
            open(f'd{i}/.env', 'w').write('x')\ntime.sleep(0.3); print('fine')";
        let outcome = place.python(script);
        assert!(out(&outcome).ends_with("fine\n"), "{}", all(&outcome));
        assert!(outcome.notes.len() <= 260, "{}", outcome.notes.len());
    });
}

#[test]
fn without_namespaces_what_comes_is_told_of() {
    blocked("come::without_namespaces_what_comes_is_told_of", || {
        let mut place = accepting(pattern_place());
        place.order.hide = vec![pattern(place.project.root(), "**/.key")];
        let outcome = meanwhile(&mut place, ":", "cat sub/.key", |place| {
            fs::write(place.project.path("sub/.key"), "read\n").unwrap();
        });
        assert_eq!(out(&outcome), "read\n", "{}", all(&outcome));
        let told = lacks(&outcome, Layer::Hide);
        assert!(told.contains("what comes to have a hidden name can be read"), "{told}");
    });
}
