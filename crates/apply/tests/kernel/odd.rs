//! Input that nobody should give, and what becomes of it: a clear answer, and nothing half-started.

use std::fs;
use std::time::{Duration, Instant};

use palisade_apply::{CannotStart, End, Host, Input, Streams};
use palisade_plan::{CannotPlan, build};
use palisade_testkit::Project;

use crate::{Place, all, as_both, out, pattern, permit};

/// Says why an order cannot be planned.
fn refused(place: &Place) -> CannotPlan {
    let host = Host::probe();
    build(&permit(), &place.order, &host.facts(&place.order.questions())).unwrap_err()
}

#[test]
fn a_folder_to_start_in_must_be_a_folder_of_the_project() {
    as_both("odd::a_folder_to_start_in_must_be_a_folder_of_the_project", || {
        let mut place =
            Place::with(Project::new().file("file", "x").symlink("out", "/etc").dir("in"));
        place.order.argv = ["touch", "ran"].map(str::to_owned).into();
        for cwd in ["/etc", "/", "/nonexistent"] {
            place.order.cwd = cwd.into();
            assert_eq!(refused(&place).code(), "cwd-outside", "{cwd}");
        }
        for cwd in ["file", "out", "absent", "../"] {
            place.order.cwd = place.project.path(cwd);
            assert_eq!(refused(&place).code(), "cwd-outside", "{cwd}");
        }
        place.order.cwd = place.project.path("in");
        assert_eq!(out(&place.sh("basename $PWD")), "in\n");
        assert!(!place.project.path("ran").exists());
    });
}

#[test]
fn policy_paths_that_are_links_loops_or_gone_stop_nothing() {
    as_both("odd::policy_paths_that_are_links_loops_or_gone_stop_nothing", || {
        let project = Project::new()
            .symlink("loop", "loop")
            .symlink("dangling", "nowhere")
            .file("real/file", "old")
            .symlink("link", "real");
        let mut place = Place::with(project);
        let root = place.project.root().to_owned();
        for name in ["loop", "dangling", "link", "gone", "gone/deeper", "real/file/below"] {
            place.order.protect.push(pattern(&root, name));
            place.order.hide.push(pattern(place.home.root(), name));
            place.order.readable.push(pattern(place.home.root(), name));
            place.order.write.push(place.project.path(name));
        }
        let outcome = place
            .sh("echo evil > real/file; rm -rf link loop dangling; echo evil > gone; echo fine");
        assert_eq!(out(&outcome), "fine\n", "{}", all(&outcome));
        assert_eq!(fs::read(root.join("real/file")).unwrap(), b"old");
        assert!(root.join("link").is_symlink() && root.join("loop").is_symlink());
        assert!(!root.join("gone").exists());
    });
}

#[test]
fn ten_thousand_hidden_paths_are_hidden_or_refused() {
    as_both("odd::ten_thousand_hidden_paths_are_hidden_or_refused", || {
        let mut place = Place::new();
        let home = place.home.root().to_owned();
        // Most lists name much that is not there.
        place.order.hide.extend((0..10_000).map(|n| pattern(&home, &format!("absent-{n}"))));
        let begun = Instant::now();
        let outcome = place.sh("cat ~/notes ~/.ssh/id");
        assert_eq!(out(&outcome), "plain\n", "{}", all(&outcome));
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
        place.order.argv = ["touch", "ran"].map(str::to_owned).into();
        fs::create_dir(home.join("many")).unwrap();
        for n in 0..10_000 {
            fs::write(home.join(format!("many/{n}")), "").unwrap();
            place.order.hide.push(pattern(&home, &format!("many/{n}")));
        }
        assert_eq!(refused(&place).code(), "too-many-paths");
        assert!(!place.project.path("ran").exists());
    });
}

#[test]
fn arguments_that_are_too_long_are_an_outcome() {
    as_both("odd::arguments_that_are_too_long_are_an_outcome", || {
        let place = Place::new();
        let long = "x".repeat(2 << 20);
        let outcome = place.run(&["echo", &long]);
        assert_eq!((outcome.end, outcome.exit_code()), (End::NotStarted(libc_e2big()), 126));
        // Many short ones of 1 MB in all are fine.
        let word = "x".repeat(100_000);
        let mut argv = vec!["printf", "%.1s"];
        argv.extend([word.as_str(); 10]);
        assert_eq!(out(&place.run(&argv)), "x".repeat(10));
        let outcome = place.try_run(&["echo", "a\0b"], Streams::default());
        assert!(matches!(outcome, Err(CannotStart::ZeroByte(_))));
    });
}

/// "Argument list too long", which has the same number everywhere.
fn libc_e2big() -> i32 {
    rustix::io::Errno::TOOBIG.raw_os_error()
}

#[test]
fn a_closed_input_is_an_empty_one() {
    as_both("odd::a_closed_input_is_an_empty_one", || {
        let (read, write) = std::io::pipe().unwrap();
        drop(write);
        let outcome = Place::new().with_input("cat; echo end", Input::From(read.into())).unwrap();
        assert_eq!(out(&outcome), "end\n", "{}", all(&outcome));
    });
}

#[test]
fn an_unreadable_workspace_is_an_answer() {
    as_both("odd::an_unreadable_workspace_is_an_answer", || {
        let place = Place::with(Project::new().file("file", "x").mode("", 0o000));
        let outcome = place.try_run(&["/bin/sh", "-c", "ls; echo ran"], Streams::default());
        place.project.path("").metadata().unwrap();
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(place.project.root(), fs::Permissions::from_mode(0o700)).unwrap();
        match outcome {
            // The folder cannot be entered: no command has run.
            Err(CannotStart::Step { step, errno, .. }) => {
                assert!(step.starts_with("enter ") || step.starts_with("reserve"), "{step}");
                assert_eq!(errno.raw_os_error(), Some(13));
            }
            Err(CannotStart::Before { errno, .. }) => assert_eq!(errno.raw_os_error(), Some(13)),
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn a_full_temporary_folder_leaves_the_rest_usable() {
    as_both("odd::a_full_temporary_folder_leaves_the_rest_usable", || {
        let mut place = Place::new();
        place.order.bounds.tmp = Some(1 << 20);
        let outcome = place.sh("head -c 5000000 /dev/zero > /tmp/fill; echo x > /tmp/more; \
             echo y > /dev/shm/y && cat /dev/shm/y; echo fine");
        assert_eq!(out(&outcome), "y\nfine\n", "{}", all(&outcome));
        assert!(all(&outcome).contains("No space left"), "{}", all(&outcome));
    });
}

#[test]
fn a_step_that_fails_is_named_whatever_it_was_told_meanwhile() {
    // As an ordinary user, who takes trees out of the root inside; root does before.
    as_both("odd::a_step_that_fails_is_named_whatever_it_was_told_meanwhile", || {
        let mut place = Place::with(Project::new().dir("more"));
        place.order.argv = ["touch", "ran"].map(str::to_owned).into();
        place.order.protect.push(pattern(place.project.root(), "**/.bashrc"));
        for _ in 0..50 {
            let gone = Project::new();
            place.order.write = vec![place.project.root().into(), gone.root().into()];
            let host = Host::probe();
            let facts = host.facts(&place.order.questions());
            let plan = build(&permit(), &place.order, &facts).unwrap();
            drop(gone);
            // The names that must stay absent are kept, and said to be, while it fails.
            let failed = host.start(&plan, Streams::default()).and_then(|running| {
                std::thread::sleep(Duration::from_millis(2));
                running.wait()
            });
            let failed = failed.unwrap_err();
            let is_told = matches!(failed, CannotStart::Step { .. } | CannotStart::Before { .. });
            assert!(is_told, "{failed:?}");
        }
        assert!(!place.project.path("ran").exists());
    });
}
