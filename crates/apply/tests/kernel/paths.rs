//! Lists of paths against each other: which one holds where two speak of the same place.

use std::fs;

use palisade_apply::End;
use palisade_plan::policy::policy::NetworkMode;
use palisade_testkit::Project;

use crate::{Place, all, as_both, out, outside, pattern};

#[test]
fn a117_what_is_protected_beats_what_is_writable_at_any_nesting() {
    as_both("paths::a117_what_is_protected_beats_what_is_writable_at_any_nesting", || {
        let mut place =
            Place::with(Project::new().file("a/b/c/file", "old").file("a/other", "old"));
        let root = place.project.root().to_owned();
        // Writable inside protected inside writable: the protection holds for all of it.
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
fn a117_what_is_readable_in_a_hidden_folder_is_hidden_again_where_that_is_said_more_exactly() {
    let name = "paths::a117_what_is_readable_in_a_hidden_folder_is_hidden_again_where_that_is_said_more_exactly";
    as_both(name, || {
        let mut place = Place::new();
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
            place.sh("cd ~; cat x/y/plain; cat x/secret x/y/z/key x/y/pin; ls x; ls x/y; true");
        let text = all(&outcome);
        assert!(out(&outcome).starts_with("plain\n"), "{text}");
        for secret in ["s1", "s2", "s3"] {
            assert!(!text.contains(secret), "{text}");
        }
        // A hidden file is lifted only by naming it.
        place.order.readable.push(pattern(&home, "x/y/pin"));
        let outcome = place.sh("cat ~/x/y/pin");
        assert_eq!(out(&outcome), "s3", "{}", all(&outcome));
    });
}

#[test]
fn a118_what_is_hidden_in_a_protected_or_readable_folder_stays_hidden() {
    as_both("paths::a118_what_is_hidden_in_a_protected_or_readable_folder_stays_hidden", || {
        let mut place =
            Place::with(Project::new().file("p/key", "secret").file("p/plain", "plain\n"));
        let (root, home) = (place.project.root().to_owned(), place.home.root().to_owned());
        place.order.protect.push(pattern(&root, "p"));
        place.order.hide.push(pattern(&root, "p/key"));
        place.order.readable = vec![pattern(&home, "."), pattern(&root, "p")];
        let outcome = place
            .sh("cat p/plain; cat p/key ~/.ssh/id; echo x > p/key; echo x > p/new; cat ~/notes");
        assert_eq!(out(&outcome), "plain\nplain\n", "{}", all(&outcome));
        assert!(!all(&outcome).contains("secret"));
        assert_eq!(fs::read(root.join("p/key")).unwrap(), b"secret");
        assert!(!root.join("p/new").exists());
    });
}

#[test]
fn a119_empty_lists_mean_nothing_writable_and_everything_readable() {
    as_both("paths::a119_empty_lists_mean_nothing_writable_and_everything_readable", || {
        let mut place = Place::new();
        (place.order.write, place.order.hide, place.order.protect) = Default::default();
        let outcome = place.sh("echo x > inside; touch new; cat ~/.ssh/id; echo t > /tmp/t && cat /tmp/t; \
             python3 -c 'import socket; socket.create_connection((\"192.0.2.1\", 80), 3)' 2>&1 | tail -n 1");
        let text = all(&outcome);
        assert!(out(&outcome).starts_with("secret\nt\nOSError: [Errno 101]"), "{text}");
        assert_eq!(fs::read(place.project.path("inside")).unwrap(), b"inside\n");
        assert!(!place.project.path("new").exists());
    });
}

#[test]
fn a100_the_workspace_is_writable_and_other_paths_are_not() {
    as_both("paths::a100_the_workspace_is_writable_and_other_paths_are_not", || {
        let mut place = Place::new();
        let (_kept, outside) = outside();
        let script = format!(
            "echo x > made && mkdir -p a/b && mv made a/b/ && rm inside && echo ok; \
             for p in {0} /usr /etc /var /opt ~; do touch $p/x && echo $p; done",
            outside.display()
        );
        let outcome = place.sh(&script);
        assert_eq!(out(&outcome), "ok\n", "{}", all(&outcome));
        assert!(place.project.path("a/b/made").exists() && !place.project.path("inside").exists());
        // Unless it is not to be (row 198).
        place.order.write.clear();
        let outcome = place.sh("touch made2 || echo refused");
        assert_eq!(out(&outcome), "refused\n", "{}", all(&outcome));
    });
}

#[test]
fn a120_mandatory_names_hold_whether_they_exist_or_not_and_git_stays_usable() {
    as_both(
        "paths::a120_mandatory_names_hold_whether_they_exist_or_not_and_git_stays_usable",
        || {
            let project = Project::new()
                .file(".bashrc", "old")
                .file("deep/er/.vscode/tasks.json", "old")
                .file("deep/er/.Mcp.json", "old")
                .dir(".git/objects")
                .dir(".git/refs/heads")
                .dir(".git/hooks");
            let mut place = Place::with(project);
            let names = [
                "**/.bashrc",
                "**/.zshrc",
                "**/.vscode",
                "**/.mcp.json",
                "**/.git/hooks",
                "**/.git/config",
            ];
            let root = place.project.root().to_owned();
            place.order.protect = names.map(|name| pattern(&root, name)).into();
            let outcome = place.sh("for f in .bashrc .zshrc .mcp.json .git/config .git/hooks/pre-commit \
               deep/er/.vscode/tasks.json deep/er/.Mcp.json; do echo evil > $f; rm -f $f; done; \
             for f in .git/objects/o .git/refs/heads/main .git/index; do echo x > $f || echo $f; done; true");
            assert_eq!(
                (outcome.end, out(&outcome).as_str()),
                (End::Exited(0), ""),
                "{}",
                all(&outcome)
            );
            for old in [".bashrc", "deep/er/.vscode/tasks.json", "deep/er/.Mcp.json"] {
                assert_eq!(fs::read(root.join(old)).unwrap(), b"old", "{old}");
            }
            for absent in [".zshrc", ".mcp.json", ".git/config", ".git/hooks/pre-commit"] {
                assert!(!root.join(absent).exists(), "{absent}");
            }
            assert!(root.join(".git/index").exists());
        },
    );
}

#[test]
fn a121_shell_files_of_the_home_are_protected_from_every_folder() {
    as_both("paths::a121_shell_files_of_the_home_are_protected_from_every_folder", || {
        // The worst case: the home itself is writable.
        let mut place = Place::with(Project::new().dir("sub/deep"));
        fs::write(place.home.path(".bashrc"), "old").unwrap();
        let home = place.home.root().to_owned();
        place.order.write.push(home.clone());
        place.order.protect = [".bashrc", ".profile"].map(|name| pattern(&home, name)).into();
        for cwd in ["", "sub", "sub/deep"] {
            place.order.cwd = place.project.path(cwd).components().collect();
            let outcome = place
                .sh("echo evil >> ~/.bashrc; rm -f ~/.bashrc; echo evil > ~/.profile; \
                 cd ~ && echo evil > .profile; echo fine > ~/made");
            assert_eq!(fs::read(home.join(".bashrc")).unwrap(), b"old", "{cwd}: {}", all(&outcome));
            assert!(!home.join(".profile").exists() && home.join("made").exists());
        }
    });
}

#[test]
fn a122_the_configuration_of_git_can_be_opened_and_its_hooks_cannot() {
    as_both("paths::a122_the_configuration_of_git_can_be_opened_and_its_hooks_cannot", || {
        let mut place =
            Place::with(Project::new().file(".git/config", "[core]\n").dir(".git/hooks"));
        let script =
            "echo '[a]' >> .git/config; echo evil > .git/hooks/pre-commit; rm -rf .git/hooks";
        place.sh(script);
        assert_eq!(fs::read(place.project.path(".git/config")).unwrap(), b"[core]\n");
        place.order.protect = vec![pattern(place.project.root(), "**/.git/hooks")];
        let outcome = place.sh(script);
        assert_eq!(fs::read(place.project.path(".git/config")).unwrap(), b"[core]\n[a]\n");
        assert_eq!(
            fs::read_dir(place.project.path(".git/hooks")).unwrap().count(),
            0,
            "{}",
            all(&outcome)
        );
    });
}

#[test]
fn hosts_are_the_sandboxs_own_unless_the_network_is_the_hosts() {
    as_both("paths::hosts_are_the_sandboxs_own_unless_the_network_is_the_hosts", || {
        let mut place = Place::new();
        let outcome = place.sh("cat /etc/hosts; getent hosts localhost >/dev/null && echo known; \
             echo x >> /etc/hosts; ls -A /dev | grep shown; true");
        assert!(out(&outcome).starts_with("127.0.0.1 localhost"), "{}", all(&outcome));
        assert!(out(&outcome).ends_with("known\n"), "{}", all(&outcome));
        place.order.network = NetworkMode::Disabled;
        let host = fs::read_to_string("/etc/hosts").unwrap();
        assert_eq!(out(&place.sh("cat /etc/hosts")), host);
    });
}

#[test]
fn what_is_hidden_stays_hidden_when_a_folder_above_it_would_be_moved() {
    as_both("paths::what_is_hidden_stays_hidden_when_a_folder_above_it_would_be_moved", || {
        let mut place =
            Place::with(Project::new().file("sub/in/key", "secret").file("plain/file", "x"));
        let root = place.project.root().to_owned();
        place.order.hide = vec![pattern(&root, "sub/in/key")];
        let moved = place.sh("mv sub s2; mv sub/in sub/i2; mv plain p2 && echo moved");
        assert_eq!(out(&moved), "moved\n", "{}", all(&moved));
        assert!(root.join("sub/in/key").exists());
        let read = place.sh("cat s2/in/key sub/i2/key sub/in/key");
        assert!(!all(&read).contains("secret"), "{}", all(&read));
    });
}

#[test]
fn what_lies_too_deep_to_be_looked_at_is_told() {
    as_both("paths::what_lies_too_deep_to_be_looked_at_is_told", || {
        let mut place = Place::new();
        let root = place.project.root().to_owned();
        let name = "d".repeat(200);
        let script = format!(
            "import os\nos.chdir({root:?})\n\
             for _ in range(24): os.mkdir('{name}'); os.chdir('{name}')\n\
             open('secret.key', 'w').write('x')\n"
        );
        let made = std::process::Command::new("/usr/bin/python3").args(["-c", &script]).status();
        assert!(made.unwrap().success());
        place.order.hide = vec![pattern(&root, "**/secret.key")];
        let outcome = place.sh("true");
        let hide = outcome.enforced.iter().find(|it| it.layer == palisade_plan::Layer::Hide);
        let strength = &hide.unwrap().strength;
        assert_ne!(*strength, palisade_plan::Strength::Kernel, "{strength:?}");
        std::process::Command::new("rm").args(["-rf", &name]).current_dir(&root).status().unwrap();
    });
}
