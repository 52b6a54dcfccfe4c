//! Root where namespaces of users are refused: all others are made without one, and capabilities are
//! dropped after (Ruling 25).

use std::fs;

use palisade_apply::{Bound, Host, Survivors};
use palisade_plan::{Layer, Level, Strength, Trial};
use palisade_testkit::hosts::FILTERED;
use palisade_testkit::{Fact, Need, Project, need};

use crate::hostile::prepared;
use crate::network::Server;
use crate::{Place, all, out, pattern};

/// Runs a body as root, under a filter that refuses namespaces of users.
fn unaided(name: &str, body: impl Fn()) {
    if need(Fact::Root) == Need::Skip {
        return;
    }
    prepared(name, FILTERED, || {
        // It runs as an ordinary user too, who has no other way.
        if rustix::process::geteuid().is_root() {
            body();
        }
    });
}

#[test]
fn a064_root_without_user_namespaces_has_all_other_walls() {
    unaided("unaided::a064_root_without_user_namespaces_has_all_other_walls", || {
        assert_ne!(Host::probe().kernel().namespaces, Trial::Works, "they are refused");
        let project = Project::new()
            .file(".git/config", "config\n")
            .file(".git/hooks/pre-commit", "hook\n")
            .file("inside", "inside\n");
        let mut place = Place::with(project);
        place.order.protect.push(pattern(place.project.root(), "**/.envrc"));
        let outcome = place.sh(
            "echo x > made && cat inside; ls -a ~ | tr '\\n' ' '; echo; cat ~/.ssh/id ~/notes; \
             echo x > /etc/x; echo x > ~/x; echo x > .git/config; mv .git/hooks h; echo x > .envrc; \
             grep -E '^(CapPrm|CapEff|CapBnd|NoNewPrivs|Seccomp:)' /proc/self/status; \
             ls /tmp | wc -l; echo $$; id -u; cat /etc/shadow; echo x > /proc/sys/kernel/core_pattern; \
             umount /proc; mount -t tmpfs x /mnt; cat /proc/1/environ; readlink /proc/1/exe",
        );
        assert_eq!((outcome.level, outcome.survivors), (Level::Full, Survivors::None));
        let none = ["CapPrm", "CapEff", "CapBnd"]
            .map(|set| format!("{set}:\t0000000000000000\n"))
            .concat();
        let text = out(&outcome);
        let expected =
            format!("inside\n. .. .config notes \nplain\n{none}NoNewPrivs:\t1\nSeccomp:\t2\n");
        assert!(text.starts_with(&expected), "{}", all(&outcome));
        let (pid, uid) = {
            let mut lines = text.lines().rev();
            (lines.nth(1).unwrap_or_default().to_owned(), text.lines().last().unwrap_or_default())
        };
        assert_eq!((pid.as_str(), uid), ("2", "0"), "{}", all(&outcome));
        let read = |path: &str| fs::read_to_string(place.project.path(path)).unwrap();
        assert_eq!((read("made"), read(".git/config")), ("x\n".into(), "config\n".into()));
        assert!(!place.project.path(".envrc").exists() && !place.home.path("x").exists());
        let held =
            |layer| &outcome.enforced.iter().find(|one| one.layer == layer).unwrap().strength;
        assert_eq!(held(Layer::Namespaces), &Strength::Kernel);
        assert_eq!(held(Layer::Hide), &Strength::Kernel);
        assert!(matches!(held(Layer::Privileges), Strength::Partial(_)), "it is root outside");
    });
}

#[test]
fn root_without_user_namespaces_has_a_network_of_its_own_and_limits() {
    unaided("unaided::root_without_user_namespaces_has_a_network_of_its_own_and_limits", || {
        let (mut place, server) = (Place::new(), Server::new());
        let outcome = place.python(&format!(
            "import socket\n\
             try: socket.create_connection(('127.0.0.1', {}), 5); print('host')\n\
             except OSError as e: print('no host', e.errno)\n\
             s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()\n\
             socket.create_connection(s.getsockname(), 5); print('own')\n",
            server.1
        ));
        assert_eq!(out(&outcome), "no host 111\nown\n", "{}", all(&outcome));
        place.order.bounds.processes = Some(20);
        let outcome = place.python(
            "import os, time\n\
             for _ in range(100):\n\
             \x20   if os.fork() == 0: time.sleep(20); os._exit(0)\n\
             time.sleep(20)\n",
        );
        assert_eq!(outcome.limit, Some(Bound::Processes), "{}", all(&outcome));
    });
}

#[test]
fn root_without_user_namespaces_has_files_that_the_host_replaces_protected_again() {
    let name =
        "unaided::root_without_user_namespaces_has_files_that_the_host_replaces_protected_again";
    unaided(name, || {
        let project = Project::new().file(".git/config", "old\n").file("go", "");
        let mut place = Place::with(project);
        let script = "while [ -e go ]; do sleep 0.01; done; sleep 1; echo x > .git/config; exit 3";
        place.order.argv = ["/bin/sh", "-c", script].map(str::to_owned).into();
        let running = crate::started(&place, palisade_apply::Streams::default());
        fs::write(place.project.path("new"), "new\n").unwrap();
        fs::rename(place.project.path("new"), place.project.path(".git/config")).unwrap();
        fs::remove_file(place.project.path("go")).unwrap();
        let outcome = running.wait().unwrap();
        assert_eq!(outcome.exit_code(), 3, "{}", all(&outcome));
        let config = fs::read_to_string(place.project.path(".git/config")).unwrap();
        assert_eq!(config, "new\n", "{:?}", outcome.notes);
    });
}
