//! Paths and starts where namespaces cannot be had: what else part one promises, again.

use std::fs;
use std::os::fd::AsFd as _;
use std::time::Duration;

use palisade_apply::{CannotStart, End, Host, Input, Streams, Survivors};
use palisade_plan::{Layer, Level, build};
use palisade_testkit::Project;

use crate::calls::{MOVED, MOVES};
use crate::fallback::{accepting, blocked, lacks, place};
use crate::{Place, all, out, pattern, permit};

#[test]
fn e036_without_namespaces_other_spellings_lead_to_the_same_wall() {
    blocked(
        "fallback_paths::e036_without_namespaces_other_spellings_lead_to_the_same_wall",
        || {
            let project = Project::new().file(".git/config", "[core]\n").file("src/plain", "");
            let place = accepting(Place::with(project));
            let home = place.home.root().display();
            let outcome = place.sh(&format!(
                "for p in .git//config ./.git/../.git/config /proc/self/cwd/.git/config \
                 \"/proc/self/root$PWD/.git/config\" \"/proc/$PPID/root$PWD/.git/config\"; do \
                 echo evil > $p; done; \
             for p in {home}//.ssh/id {home}/x/../.ssh/id /proc/self/root{home}/.ssh/id \
                 /proc/$PPID/root{home}/.ssh/id; do cat $p; done; \
             echo fine > /proc/self/cwd/src/plain; echo out > /dev/fd/1"
            ));
            assert_eq!(out(&outcome), "out\n", "{}", all(&outcome));
            assert!(!all(&outcome).contains("secret"));
            assert_eq!(fs::read(place.project.path(".git/config")).unwrap(), b"[core]\n");
            assert_eq!(fs::read(place.project.path("src/plain")).unwrap(), b"fine\n");
        },
    );
}

#[test]
fn without_namespaces_moving_a_file_leaves_no_device_behind() {
    blocked("fallback_paths::without_namespaces_moving_a_file_leaves_no_device_behind", || {
        let outcome = accepting(Place::new()).python(MOVES);
        assert_eq!(out(&outcome), MOVED, "{}", all(&outcome));
    });
}

#[test]
fn a117_without_namespaces_the_more_exact_word_counts_for_what_is_hidden_and_readable() {
    let name = "fallback_paths::a117_without_namespaces_the_more_exact_word_counts_for_what_is_hidden_and_readable";
    blocked(name, || {
        let mut place = place();
        for (path, text) in
            [("x/secret", "s1"), ("x/y/plain", "plain\n"), ("x/y/z/key", "s2"), ("x/y/pin", "s3")]
        {
            fs::create_dir_all(place.home.path(path).parent().unwrap()).unwrap();
            fs::write(place.home.path(path), text).unwrap();
        }
        let home = place.home.root().to_owned();
        place.order.hide = ["x", "x/y/z", "x/y/pin"].map(|path| pattern(&home, path)).into();
        place.order.readable = vec![pattern(&home, "x/y")];
        let outcome =
            place.sh("cd ~; cat x/y/plain; cat x/secret x/y/z/key x/y/pin; ls x; ls x/y/z");
        assert_eq!(out(&outcome), "plain\n", "{}", all(&outcome));
    });
}

#[test]
fn a117_without_namespaces_what_is_protected_beats_what_is_writable_at_any_nesting() {
    let name = "fallback_paths::a117_without_namespaces_what_is_protected_beats_what_is_writable_at_any_nesting";
    blocked(name, || {
        let project = Project::new().file("a/b/c/file", "old").file("a/other", "old");
        let mut place = accepting(Place::with(project));
        let root = place.project.root().to_owned();
        place.order.write = vec![root.clone(), root.join("a/b/c")];
        place.order.protect = vec![pattern(&root, "a/b")];
        let outcome = place.sh("echo new > a/b/c/file; echo new > a/b/new; rm -rf a/b; mv a x; \
             echo new > a/other; cat a/other");
        assert_eq!(out(&outcome), "new\n", "{}", all(&outcome));
        assert_eq!(fs::read(root.join("a/b/c/file")).unwrap(), b"old");
        assert!(!root.join("a/b/new").exists() && root.join("a/b").exists());
    });
}

#[test]
fn e035_without_namespaces_a_link_that_lies_about_gives_no_rights_to_what_it_leads_to() {
    let name = "fallback_paths::e035_without_namespaces_a_link_that_lies_about_gives_no_rights_to_what_it_leads_to";
    blocked(name, || {
        let project = Project::new().file("token", "secret\n").file("plain", "plain\n");
        let mut place = accepting(Place::with(project));
        let (home, root) = (place.home.root().to_owned(), place.project.root().to_owned());
        // Links beside what is left out, which is gone through name by name.
        std::os::unix::fs::symlink(home.join(".ssh"), root.join("a")).unwrap();
        std::os::unix::fs::symlink(home.join("notes"), root.join("b")).unwrap();
        std::os::unix::fs::symlink(root.join("token"), home.join("c")).unwrap();
        fs::write(home.join("mine"), "mine\n").unwrap();
        std::os::unix::fs::symlink(home.join("mine"), root.join("d")).unwrap();
        place.order.hide.push(pattern(&root, "token"));
        let outcome =
            place.sh("cat a/id ~/c token; cat b plain; echo x > d; echo x > b; echo y > plain");
        assert_eq!(out(&outcome), "plain\nplain\n", "{}", all(&outcome));
        assert_eq!(fs::read(home.join("mine")).unwrap(), b"mine\n", "{}", all(&outcome));
        assert_eq!(fs::read(home.join("notes")).unwrap(), b"plain\n");
        assert_eq!(fs::read(root.join("plain")).unwrap(), b"y\n");
    });
}

#[test]
fn e053_without_namespaces_no_descriptor_of_the_caller_is_inherited() {
    let name = "fallback_paths::e053_without_namespaces_no_descriptor_of_the_caller_is_inherited";
    blocked(name, || {
        let secret = fs::File::open("/etc/passwd").unwrap();
        let leaked = rustix::io::fcntl_dupfd_cloexec(secret.as_fd(), 40).unwrap();
        rustix::io::fcntl_setfd(&leaked, rustix::io::FdFlags::empty()).unwrap();
        let outcome =
            place().python("import os; print(sorted(map(int, os.listdir('/proc/self/fd'))))");
        assert_eq!(out(&outcome), "[0, 1, 2, 3]\n", "{}", all(&outcome));
        drop(leaked);
    });
}

#[test]
fn a031_without_namespaces_codes_streams_and_variables_are_as_ever() {
    let name = "fallback_paths::a031_without_namespaces_codes_streams_and_variables_are_as_ever";
    blocked(name, || {
        let mut place = place();
        assert_eq!(place.sh("exit 7").end, End::Exited(7));
        assert_eq!(place.sh("kill -9 $$").end, End::Signalled(9));
        assert_eq!(place.run(&["no-such-program"]).end, End::NotFound);
        place.order.environment.push(("GIVEN".into(), "given".into()));
        let outcome = place.sh("echo $GIVEN; env | grep -c CARGO; cat; echo oops >&2");
        assert_eq!(out(&outcome), "given\n0\n", "{}", all(&outcome));
        assert_eq!(outcome.stderr.bytes, b"oops\n");
        let outcome = place.with_input("cat", Input::Bytes(b"fed".to_vec())).unwrap();
        assert_eq!(out(&outcome), "fed");
        place.order.bounds.output = Some(100);
        let outcome = place.sh("head -c 5000 /dev/zero | tr '\\0' x");
        assert_eq!((outcome.stdout.bytes.len(), outcome.stdout.dropped), (100, 4900));
        place.order.bounds.time = Some(Duration::from_millis(500));
        let outcome = place.sh("echo before; sleep 30");
        assert_eq!((outcome.end, out(&outcome).as_str()), (End::TimedOut, "before\n"));
        assert_eq!(outcome.survivors, Survivors::None);
    });
}

#[test]
fn a_first_process_that_is_ended_leaves_it_open_whether_anybody_is_left() {
    let name =
        "fallback_paths::a_first_process_that_is_ended_leaves_it_open_whether_anybody_is_left";
    blocked(name, || {
        let mut place = place();
        let script = "echo $PPID > first; sleep 2; exit 3";
        place.order.argv = ["/bin/sh", "-c", script].map(str::to_owned).into();
        let host = Host::probe();
        let facts = host.facts(&place.order.questions());
        let plan = build(&permit(), &place.order, &facts).unwrap();
        assert_eq!(plan.level(), Level::Landlock);
        let running = host.start(&plan, Streams::default()).unwrap();
        let first = loop {
            let text = fs::read_to_string(place.project.path("first")).unwrap_or_default();
            match text.trim().parse() {
                Ok(number) => break rustix::process::Pid::from_raw(number).unwrap(),
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        rustix::process::kill_process(first, rustix::process::Signal::KILL).unwrap();
        let outcome = running.wait().unwrap();
        assert_eq!((outcome.end, outcome.survivors), (End::Signalled(9), Survivors::Unproved));
    });
}

#[test]
fn folders_and_devices_are_not_handed_over_without_namespaces_either() {
    let name = "fallback_paths::folders_and_devices_are_not_handed_over_without_namespaces_either";
    blocked(name, || {
        let folder = fs::File::open("/").unwrap();
        let refused = place().with_input("true", Input::From(folder.into()));
        assert!(matches!(refused, Err(CannotStart::Descriptor { number: 0, .. })), "{refused:?}");
        // A file that can be written is read by us: the command gets a pipe.
        let place = place();
        let path = place.home.path("notes");
        let file = fs::File::options().read(true).write(true).open(&path).unwrap();
        let outcome = place
            .with_input("cat; echo evil >&0; echo evil > /proc/self/fd/0", Input::From(file.into()))
            .unwrap();
        assert_eq!(out(&outcome), "plain\n", "{}", all(&outcome));
        assert_eq!(fs::read(path).unwrap(), b"plain\n");
        assert!(lacks(&outcome, Layer::Devices).contains("no terminals"));
    });
}
