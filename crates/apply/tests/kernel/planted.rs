//! What one run leaves for the next: links on the way to what a policy names, and folders that are
//! shut. Each is made by a confined command, as root and as an ordinary user.

use std::fs;
use std::os::unix::net::UnixListener;

use palisade_apply::Outcome;
use palisade_plan::{Caches, Level};
use palisade_testkit::Project;

use crate::fallback::{accepting, blocked};
use crate::{Place, all, as_both, out, pattern};

fn codes(outcome: &Outcome) -> Vec<&'static str> {
    let ours = ["write-link", "readable-link", "socket-link", "unsearched"];
    outcome.notes.iter().map(|note| note.code).filter(|code| ours.contains(code)).collect()
}

/// A project in which one folder, and what a link in a folder leads to, can be written.
fn writing() -> Place {
    let project = Project::new().dir("build/out").dir("other").file("target/x", "x");
    let mut place = Place::with(project);
    let root = place.project.root().to_owned();
    place.order.write = vec![root.clone(), root.join("build/out"), root.join("link/deep")];
    place
}

#[test]
fn a_link_that_a_run_made_widens_nothing_that_the_next_one_can_write() {
    as_both("planted::a_link_that_a_run_made_widens_nothing_that_the_next_one_can_write", || {
        let place = writing();
        let home = place.home.root().display().to_string();
        let made = format!("rmdir build/out; ln -s {home}/.config build/out; ln -s {home} link");
        let outcome = place.sh(&made);
        assert_eq!(codes(&outcome), Vec::<&str>::new(), "{}", all(&outcome));
        fs::create_dir(place.home.path("deep")).unwrap();
        let outcome = place.sh(&format!(
            "echo evil > build/out/evil; echo evil > {home}/.config/other; echo evil > link/deep/x; \
             echo fine > fine; cat fine"
        ));
        assert_eq!(out(&outcome), "fine\n", "{}", all(&outcome));
        assert_eq!(codes(&outcome), ["write-link"; 2], "{:?}", outcome.notes);
        let told = &outcome.notes.iter().find(|note| note.code == "write-link").unwrap().message;
        assert!(told.contains("build/out`") && told.contains(".config` itself"), "{told}");
        assert_eq!(fs::read(place.home.path(".config/other")).unwrap(), b"plain\n");
        assert!(!place.home.path(".config/evil").exists() && !place.home.path("deep/x").exists());
    });
}

#[test]
fn links_within_the_project_and_links_of_the_host_lead_where_they_did() {
    as_both("planted::links_within_the_project_and_links_of_the_host_lead_where_they_did", || {
        let mut place = writing();
        place.sh("rmdir build/out; ln -s ../target build/out");
        let (real, named) = (place.home.path("real"), place.home.path("named"));
        fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink("real", &named).unwrap();
        place.order.write.push(named.clone());
        let outcome = place.sh(&format!("echo a > build/out/a; echo b > {}/b", named.display()));
        assert_eq!(codes(&outcome), Vec::<&str>::new(), "{:?}", outcome.notes);
        assert_eq!(fs::read(place.project.path("target/a")).unwrap(), b"a\n");
        assert_eq!(fs::read(real.join("b")).unwrap(), b"b\n", "{}", all(&outcome));
    });
}

#[test]
fn a_link_in_a_folder_outside_that_can_be_written_widens_nothing_either() {
    let name = "planted::a_link_in_a_folder_outside_that_can_be_written_widens_nothing_either";
    as_both(name, || {
        let mut place = Place::new();
        let state = place.home.path("state");
        fs::create_dir_all(state.join("logs")).unwrap();
        place.order.write.push(state.clone());
        let home = place.home.root().display().to_string();
        place.sh(&format!("rmdir {home}/state/logs; ln -s ../.config {home}/state/logs"));
        // Another policy names only what is in it, and its shared caches.
        place.order.write.push(state.join("logs"));
        place.order.caches = Caches::Shared;
        fs::create_dir(state.join("go")).unwrap();
        let outcome = place.sh("echo evil > ~/state/logs/other");
        assert_eq!(codes(&outcome), ["write-link"], "{:?}", outcome.notes);
        assert_eq!(fs::read(place.home.path(".config/other")).unwrap(), b"plain\n");
    });
}

#[test]
fn a_link_where_another_agent_works_widens_nothing() {
    as_both("planted::a_link_where_another_agent_works_widens_nothing", || {
        let mut place = Place::new();
        let other = Project::new().symlink("dist", place.home.path(".config"));
        place.order.write.push(other.path("dist"));
        place.order.others.push(other.root().into());
        place.order.hide.push(pattern(other.root(), ""));
        let outcome = place.sh("echo evil > ~/.config/other");
        assert_eq!(codes(&outcome), ["write-link"], "{:?}", outcome.notes);
        assert_eq!(fs::read(place.home.path(".config/other")).unwrap(), b"plain\n");
    });
}

#[test]
fn a_link_that_a_run_made_shows_nothing_that_is_hidden() {
    as_both("planted::a_link_that_a_run_made_shows_nothing_that_is_hidden", || {
        let mut place = Place::with(Project::new().file("private/.env", "secret\n").dir("pub"));
        let root = place.project.root().to_owned();
        place.order.hide.extend(["**/.env", "keys"].map(|name| pattern(&root, name)));
        place.order.readable = ["pub/.env", "keys/id"].map(|name| pattern(&root, name)).into();
        place.sh("rmdir pub; ln -s private pub; ln -s ~/.ssh keys");
        let outcome = place.sh("cat private/.env pub/.env keys/id ~/.ssh/id");
        assert_eq!(out(&outcome), "", "{}", all(&outcome));
        assert_eq!(codes(&outcome), ["readable-link"; 2], "{:?}", outcome.notes);
        // Nor does one where only what is listed is shown.
        let mut bare = Place::with(Project::new().dir("data"));
        let listed = ["/usr", "/bin", "/lib", "/lib64"].map(|path| path.parse().unwrap());
        bare.order.hide = vec!["/".parse().unwrap()];
        bare.order.readable = listed.into();
        let own = ["", "data"].map(|name| pattern(bare.project.root(), name));
        bare.order.readable.extend(own);
        bare.sh("rmdir data; ln -s ~/.ssh data");
        std::os::unix::fs::symlink(bare.home.path(".ssh"), bare.project.path("data")).ok();
        let outcome = bare.sh("cat data/id; echo shown");
        assert_eq!(out(&outcome), "shown\n", "{}", all(&outcome));
        assert_eq!(codes(&outcome), ["readable-link"], "{:?}", outcome.notes);
        // A name of the host's own still shows what it says.
        place.order.readable = vec![pattern(&root, "private/.env")];
        assert_eq!(out(&place.sh("cat private/.env")), "secret\n");
    });
}

#[test]
fn a_link_that_a_run_made_opens_no_socket_of_the_host() {
    as_both("planted::a_link_that_a_run_made_opens_no_socket_of_the_host", || {
        let mut place = Place::with(Project::new().dir("run").dir("all"));
        let root = place.project.root().to_owned();
        let doors = Project::new();
        let door = doors.path("docker");
        let _listening = UnixListener::bind(&door).unwrap();
        place.order.unix = ["run/db", "all"].map(|name| pattern(&root, name)).into();
        place.sh(&format!(
            "ln -s {} run/db; rmdir all; ln -s {} all",
            door.display(),
            doors.root().display()
        ));
        let connect = format!(
            "import socket\nfor path in ('{0}/run/db', '{0}/all/docker', '{1}'):\n    \
             try: socket.socket(socket.AF_UNIX).connect(path); print('open', path)\n    \
             except OSError: pass\n",
            root.display(),
            door.display()
        );
        let outcome = place.python(&connect);
        assert_eq!(out(&outcome), "", "{}", all(&outcome));
        assert_eq!(codes(&outcome), ["socket-link"; 2], "{:?}", outcome.notes);
        // Named itself it is open.
        place.order.unix.push(pattern(doors.root(), "docker"));
        let opened = out(&place.python(&connect));
        assert!(opened.ends_with(&format!("open {}\n", door.display())), "{opened}");
    });
}

#[test]
fn without_namespaces_what_a_run_leaves_opens_nothing_for_the_next() {
    blocked("planted::without_namespaces_what_a_run_leaves_opens_nothing_for_the_next", || {
        let project = Project::new()
            .dir("build/out")
            .dir("pub")
            .file("pk/.env", "secret\n")
            .file("pk/deep/.git/config", "host's\n")
            .file("pk/plain", "plain\n");
        let mut place = accepting(Place::with(project));
        let root = place.project.root().to_owned();
        place.order.write.push(root.join("build/out"));
        place.order.hide.push(pattern(&root, "**/.env"));
        place.order.readable = vec![pattern(&root, "pub/.env")];
        let first = accepting(Place::with(Project::new()));
        // The first run has another policy: nothing above what is hidden can be changed at this level.
        let mut order = first.order.clone();
        (order.root, order.cwd, order.write) = (root.clone(), root.clone(), vec![root.clone()]);
        let first = Place { order, ..first };
        let home = place.home.root().display().to_string();
        for shut in [0o000, 0o111, 0o333, 0o400] {
            let outcome = first.sh(&format!(
                "rm -rf build/out pub; ln -s {home}/.config build/out; ln -s pk pub; \
                 chmod {shut:o} pk/deep pk; stat -c %a pk"
            ));
            assert_eq!(out(&outcome), format!("{shut:o}\n"), "{}", all(&outcome));
            let outcome = place.sh(&format!(
                "chmod 755 pk pk/deep; cat pk/.env pub/.env; echo evil > pk/deep/.git/config; \
                 mv pk/.env x; ln pk/.env x; cat x; echo evil > build/out/other; \
                 echo evil > {home}/.config/other"
            ));
            assert_eq!(outcome.level, Level::Landlock);
            assert_eq!(out(&outcome), "", "{shut:o}: {}", all(&outcome));
            assert_eq!(codes(&outcome), ["readable-link", "write-link"], "{:?}", outcome.notes);
            for path in ["pk", "pk/deep"] {
                let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
                fs::set_permissions(place.project.path(path), open).unwrap();
            }
            let is = |path: &str| fs::read_to_string(place.project.path(path)).unwrap();
            assert_eq!(is("pk/deep/.git/config"), "host's\n", "{shut:o}");
            assert_eq!(fs::read(place.home.path(".config/other")).unwrap(), b"plain\n");
        }
    });
}

#[test]
fn a_file_that_leads_git_elsewhere_is_set_aside_unless_git_makes_such() {
    as_both("planted::a_file_that_leads_git_elsewhere_is_set_aside_unless_git_makes_such", || {
        let project = Project::new().file("old/.git", "gitdir: ../evil\n").dir(".git/objects");
        let place = Place::with(project.file(".git/HEAD", "ref: refs/heads/main\n"));
        let outcome = place.sh(
            "mkdir -p evil a b c d e f deep/er .git/modules/d .git/modules/e .git/modules/f/hooks \
                 .git/worktrees/wt wt; \
             printf '[core]\\n\\tfsmonitor = evil\\n' > evil/config; \
             echo 'gitdir: ../evil' > a/.git; ln -s ../evil b/.git; echo 'gitdir: ../gone' > c/.git; \
             printf '[core]\\n\\tbare = false\\n\\tworktree = ../../../d\\n' > .git/modules/d/config; \
             echo 'gitdir: ../.git/modules/d' > d/.git; \
             printf '[core]\\n\\tfsmonitor = evil\\n' > .git/modules/e/config; \
             echo 'gitdir: ../.git/modules/e' > e/.git; \
             printf '[core]\\n\\tworktree = ../../../f\\n' > .git/modules/f/config; \
             echo evil > .git/modules/f/hooks/post-checkout; \
             echo 'gitdir: ../.git/modules/f' > f/.git; \
             echo 'gitdir: ../../evil' > deep/er/.git; chmod 111 deep/er deep; \
             echo ../.. > .git/worktrees/wt/commondir; echo $PWD/wt/.git > .git/worktrees/wt/gitdir; \
             echo \"gitdir: $PWD/.git/worktrees/wt\" > wt/.git",
        );
        for folder in ["deep", "deep/er"] {
            let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(place.project.path(folder), open).unwrap();
        }
        let is_there =
            |folder: &&str| place.project.path(format!("{folder}/.git")).symlink_metadata().is_ok();
        let all_of = ["a", "b", "c", "d", "e", "f", "deep/er", "wt", "old"];
        let there: Vec<&str> = all_of.into_iter().filter(is_there).collect();
        assert_eq!(there, ["d", "wt", "old"], "{}\n{:?}", all(&outcome), outcome.notes);
        let told = outcome.notes.iter().filter(|note| note.code == "set-aside").count();
        assert_eq!(told, 6, "{:?}", outcome.notes);
    });
}
