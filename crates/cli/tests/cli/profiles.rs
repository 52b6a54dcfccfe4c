//! Profiles in files, put in force: what a `.sb` text says is what a command finds.

use std::fs;

use serde_json::Value as Json;

use crate::kit::{World, as_both};

const STRICT: &str = include_str!("../../../policy/src/dialect/seatbelt/fixtures/my-strict.sb");

/// A world with a profile in the person's home, a project with a `tmp`, and a secret in neither.
fn world(it: World, name: &str, profile: &str) -> World {
    let home = it.home.file(name, profile).file("notes", "secret");
    let world = World { home, ..it };
    world.write("tmp/kept", "");
    world.write("source", "text\n");
    world
}

/// Runs a script of the project under a profile of the home.
fn scripted(world: &World, name: &str, script: &str) -> Json {
    world.write("script.sh", script);
    let profile = world.home.path(name);
    world.json(&["run", "--json", "--profile", profile.to_str().unwrap(), "--", "sh", "script.sh"])
}

fn text<'o>(outcome: &'o Json, key: &str) -> &'o str {
    outcome[key].as_str().unwrap_or_else(|| panic!("{outcome}"))
}

#[test]
fn a056_the_strict_profile_holds_what_it_says() {
    as_both(|it| {
        let world = world(it, "my-strict.sb", STRICT);
        let script = "cat source; echo made > tmp/made; echo x > source; echo x > new\n\
            cat ~/notes /etc/passwd /etc/hostname; ls ~ /home /root /etc /var/lib\n\
            grep -c : /proc/net/dev; cat /proc/1/root/etc/passwd; cat /dev/null && echo null\n";
        let outcome = scripted(&world, "my-strict.sb", script);
        assert_eq!(text(&outcome, "stdout"), "text\n/etc:\nld.so.cache\n1\nnull\n", "{outcome}");
        let errors = text(&outcome, "stderr");
        for gone in ["notes", "/etc/passwd", "/etc/hostname", "/home", "/root", "/var/lib"] {
            let told = errors
                .lines()
                .any(|line| line.contains(gone) && (line.ends_with("No such file or directory")));
            assert!(told, "{gone}: {errors}");
        }
        assert_eq!(errors.matches("Read-only file system").count(), 2, "{errors}");
        assert_eq!(fs::read_to_string(world.project.path("tmp/made")).unwrap(), "made\n");
        assert_eq!(fs::read_to_string(world.project.path("source")).unwrap(), "text\n");
        assert!(!world.project.path("new").exists());
        for layer in ["files", "hide", "network", "landlock", "system-calls"] {
            assert_eq!(outcome["enforced"][layer]["is"], "kernel", "{layer}: {outcome}");
        }
    });
}

#[test]
fn a183_ls_sh_and_git_run_and_the_plan_shows_what_is_implied() {
    as_both(|it| {
        let world = world(it, "my-strict.sb", STRICT);
        let made = world.finish(world.command("git").args(["init", "-q"]));
        assert_eq!(made.code, Some(0), "{}", made.stderr);
        let profile = world.home.path("my-strict.sb");
        let profile = profile.to_str().unwrap();
        let run =
            |command: &[&str]| world.run(&[&["run", "--profile", profile, "--"], command].concat());
        let (ls, sh) = (run(&["ls"]), run(&["sh", "-c", "echo from sh"]));
        assert_eq!((ls.code, &*ls.stdout), (Some(0), "Cargo.toml\nsource\ntmp\n"), "{}", ls.stderr);
        assert_eq!((sh.code, &*sh.stdout), (Some(0), "from sh\n"), "{}", sh.stderr);
        let git = run(&["git", "status", "--short"]);
        let expected = "?? Cargo.toml\n?? source\n?? tmp/\n";
        assert_eq!((git.code, &*git.stdout), (Some(0), expected), "{}", git.stderr);

        let plan = world.run(&["plan", "--profile", profile, "--", "ls"]);
        for step in ["empty-root", "/etc/ld.so.cache", "close-root"] {
            assert!(plan.stdout.contains(step), "{step}: {}", plan.stdout);
        }
        let links = fs::read_link("/bin").is_ok();
        assert_eq!(plan.stdout.contains("link           /bin /usr/bin"), links, "{}", plan.stdout);
        assert!(!plan.stdout.contains("/Library"), "nothing is there to show: {}", plan.stdout);
    });
}

#[test]
fn a183_without_the_systems_folders_the_loader_alone_is_implied() {
    as_both(|it| {
        let bare = "(version 1)\n(deny default)\n(allow process*)\n\
            (allow file-read* (subpath (param \"_RW1\")))\n";
        let world = world(it, "bare.sb", bare);
        fs::copy("/usr/bin/true", world.project.path("true")).unwrap();
        let profile = world.home.path("bare.sb");
        let profile = profile.to_str().unwrap();
        let plan = world.run(&["plan", "--profile", profile, "--", "./true"]);
        assert!(plan.stdout.contains("/ld-linux-"), "{}", plan.stdout);
        assert!(!plan.stdout.contains(" /usr read"), "{}", plan.stdout);
        let ran = world.run(&["run", "--json", "--profile", profile, "--", "./true"]);
        // The loader runs, and says what it misses.
        assert!(ran.stdout.contains("error while loading shared libraries"), "{}", ran.stdout);
    });
}

#[test]
fn a183_a_profile_that_denies_the_loader_is_named() {
    as_both(|it| {
        let denies = "(version 1)\n(deny default)\n(allow process*)\n(allow file-read*)\n\
            (deny file-read* (subpath \"/usr/lib\"))\n";
        let world = world(it, "denies.sb", denies);
        let outcome = scripted(&world, "denies.sb", "echo x > tmp/made\n");
        let error = &outcome["error"];
        assert_eq!(
            (&error["code"], &error["line"]),
            (&"loader-denied".into(), &5.into()),
            "{outcome}"
        );
        assert!(
            text(error, "message").contains("/ld-") && outcome["executed"] == false,
            "{outcome}"
        );
        assert!(text(error, "file").ends_with("denies.sb"), "{outcome}");
        assert!(!world.project.path("tmp/made").exists());
        // The line that it suggests names every loader, so that it is told once.
        let (_, line) = text(error, "hint").split_once("behind this: ").unwrap();
        let again =
            World { home: world.home.file("again.sb", format!("{denies}{line}\n")), ..world };
        let outcome = scripted(&again, "again.sb", "exit 0\n");
        assert_ne!(outcome["error"]["code"], "loader-denied", "{outcome}");
        let world = again;
        // What opens the loader again in it is heard.
        let opens = denies.replace("/usr/lib\"", "/usr/lib/git-core\"");
        let world = World { home: world.home.file("opens.sb", opens), ..world };
        assert_eq!(scripted(&world, "opens.sb", "exit 0\n")["exit_code"], 0);
    });
}

#[test]
fn a_policy_that_hides_the_loader_is_named_with_its_line() {
    as_both(|it| {
        let world = world(it, "unused", "");
        world.write("p.yaml", "version: 1\nfiles:\n  hide: [/usr/lib]\n");
        let outcome = world.json(&["run", "--json", "--policy", "p.yaml", "--", "ls"]);
        assert_eq!(outcome["error"]["code"], "loader-hidden", "{outcome}");
        let message = text(&outcome["error"], "message");
        assert!(message.contains("`/usr/lib`") && message.contains("p.yaml:3"), "{message}");
        // Where it stays readable nothing is in the way.
        world.write("p.yaml", "version: 1\nfiles:\n  hide: [/usr/lib/git-core]\n");
        let outcome = world.json(&["run", "--json", "--policy", "p.yaml", "--", "ls"]);
        assert_eq!(outcome["exit_code"], 0, "{outcome}");
    });
}

#[test]
fn a182_what_checking_says_of_a_profile_is_what_a_run_finds() {
    as_both(|it| {
        let all = "(version 1)\n(deny default)\n(allow process*)\n(allow file-read*)\n";
        let home = it
            .home
            .file(".agentao/profiles/sound.sb", STRICT)
            .file(
                ".agentao/profiles/denies.sb",
                format!("{all}(deny file-read* (subpath \"/usr/lib\"))\n"),
            )
            .file(".agentao/profiles/broken.sb", "(version 1)\n(deny default")
            .file(
                ".agentao/profiles/kinds.sb",
                format!("{all}(allow file-write* (vnode-type FIFO))\n"),
            );
        let world = World { home, ..it };
        let file = world.home.path(".agentao/sandbox.json");
        let file = file.to_str().unwrap();
        for (name, code) in [
            ("sound", 0),
            ("readonly", 0),
            ("denies", 125),
            ("broken", 125),
            ("kinds", 125),
            ("gone", 125),
        ] {
            let text = format!(
                r#"{{"enabled": true, "profiles_dir": "profiles", "default_profile": "{name}"}}"#
            );
            fs::write(file, text).unwrap();
            let checked = world.run(&["policy", "check", file]);
            assert_eq!(checked.code, Some(code), "{name}: {}{}", checked.stdout, checked.stderr);
            let ran = world.run(&["run", "--policy", "agentao:", "--", "true"]);
            assert_eq!(ran.code, Some(code), "{name}: {}", ran.stderr);
        }
    });
}

#[test]
fn a056_what_is_denied_inside_of_what_may_be_read_is_gone_and_the_rest_is_there() {
    as_both(|it| {
        let parts = "(version 1)\n(deny default)\n(allow process*)\n\
            (allow file-read* (subpath (param \"_RW1\")) (subpath \"/usr\"))\n\
            (allow file-write* (subpath (param \"_RW1\")))\n\
            (deny file-read* file-write* (subpath \"/usr/share\") (literal \"/usr/bin/env\"))\n\
            (allow file-read* (subpath \"/usr/share/git-core\"))\n";
        let world = world(it, "parts.sb", parts);
        let script = "ls /usr/share; /usr/bin/env true; echo $?; echo made > made; ls ~\n";
        let outcome = scripted(&world, "parts.sb", script);
        assert_eq!(text(&outcome, "stdout"), "git-core\n126\n", "{outcome}");
        assert!(world.project.path("made").exists(), "{outcome}");
        assert!(text(&outcome, "stderr").contains("No such file"), "the home: {outcome}");
        assert_eq!(outcome["enforced"]["hide"]["is"], "partial", "it is masked: {outcome}");
    });
}
