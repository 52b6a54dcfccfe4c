//! What a run leaves behind for the next one, by the command that people use: links on the way to what
//! a policy of the user's own names.

use std::fs;

use crate::kit::{World, as_both};

#[test]
fn a_name_of_the_users_policy_that_a_run_made_a_link_opens_nothing() {
    as_both(|world| {
        let world = world.user_policy("files: { write: [., build/out] }\n");
        fs::create_dir_all(world.home.path(".config/own")).unwrap();
        // What is there and may be written is held where it is.
        let first = "mkdir build && ln -s ~/.config/own build/out";
        let ran = world.run(&["run", "--shell", first]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let script = ["run", "--", "sh", "-c", "echo evil > ~/.config/own/x; echo fine > fine"];
        let ran = world.run(&script);
        assert!(!world.home.path(".config/own/x").exists(), "{}", ran.stderr);
        assert_eq!(fs::read(world.project.path("fine")).unwrap(), b"fine\n");
        assert!(ran.stderr.contains("through the link"), "a person is told: {}", ran.stderr);
    });
}

#[test]
fn a_record_is_not_written_where_a_link_of_the_project_leads() {
    as_both(|world| {
        world.write("logs/old", "");
        fs::create_dir_all(world.home.path(".config/own")).unwrap();
        let ran = world.run(&["run", "--shell", "rm -r logs && ln -s ~/.config/own logs"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let world = world.user_policy("audit: { path: logs/deep/events.jsonl }\n");
        let ran = world.run(&["run", "--", "true"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(!world.home.path(".config/own/deep").exists());
        assert!(ran.stderr.contains("/logs` leads there"), "{}", ran.stderr);
        fs::remove_file(world.project.path("logs")).unwrap();
        assert_eq!(world.run(&["run", "--", "true"]).code, Some(0));
        assert!(world.project.path("logs/deep/events.jsonl").exists(), "a plain folder is made");
    });
}

#[test]
fn a_root_that_a_file_names_is_not_where_a_link_leads() {
    as_both(|world| {
        world.write("sub/x", "");
        world.write("p.yaml", "root: sub\n");
        fs::create_dir_all(world.home.path(".config/own")).unwrap();
        let arguments = ["run", "--policy", "p.yaml", "--", "touch", "made"];
        assert_eq!(world.run_in("sub", &arguments).code, Some(125), "there is no such file");
        let ran = world.run(&["run", "--shell", "rm -r sub && ln -s ~/.config/own sub"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let ran = world.run(&["run", "--policy", "p.yaml", "--cwd", "sub", "--", "touch", "made"]);
        assert_eq!(ran.code, Some(125), "{}", ran.stderr);
        assert!(ran.stderr.contains("error[root-linked]"), "{}", ran.stderr);
        assert!(!world.home.path(".config/own/made").exists());
    });
}

#[test]
fn a_link_in_the_workspace_of_another_agent_opens_nothing() {
    as_both(|world| {
        let home = world.home.file("a/Cargo.toml", "[package]\n").file(".config/own/x", "host's");
        let home = home.file("b/Cargo.toml", "[package]\n");
        let world = World { home, ..world }.user_policy("files: { write: [., ~/a/deep/dist] }\n");
        let run = |place: &str, agent: &str, script: &str| {
            let mut command = world.command(crate::kit::PALISADE);
            command.args(["run", "--agent", agent, "--", "sh", "-c", script]);
            world.finish(command.current_dir(world.home.path(place)))
        };
        let ran = run("a", "alpha", "mkdir deep && ln -s ~/.config/own deep/dist");
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let ran = run("b", "beta", "echo evil > ~/.config/own/x; echo fine > fine");
        assert_eq!(fs::read(world.home.path(".config/own/x")).unwrap(), b"host's");
        assert!(world.home.path("b/fine").exists(), "{}", ran.stderr);
        assert!(ran.stderr.contains("through the link"), "{}", ran.stderr);
    });
}
