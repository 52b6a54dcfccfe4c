//! A folder becomes a workspace when something runs in it for an agent, and not before.

use crate::kit::{Ran, World, as_both};

/// Runs something for an agent, and lists where agents work.
fn known_after(world: &World, arguments: &[&str], code: i32) -> String {
    let ran = world.run(&[&["run", "--agent", "tester"], arguments].concat());
    assert_eq!(ran.code, Some(code), "{}{}", ran.stdout, ran.stderr);
    let Ran { code, stdout, stderr } = world.run(&["agents", "workspaces"]);
    assert_eq!(code, Some(0), "{stderr}");
    stdout
}

#[test]
fn what_did_not_run_left_no_workspace_behind() {
    as_both(|world| {
        world.write("image", "no program");
        for (arguments, code) in [
            (&["--", "no-such-program"][..], 127),
            (&["--", "./image"], 126),
            (&["--", "rm", "-rf", "/etc"], 126),
            (&["--cwd", "nowhere", "--", "true"], 125),
            (&["--policy", "loader.yaml", "--", "true"], 125),
        ] {
            world.write("loader.yaml", "files: { hide: [/lib64, /lib, /usr/lib] }\n");
            let known = known_after(&world, arguments, code);
            assert!(!known.contains("tester"), "{arguments:?}: {known}");
        }
        // What ran did, however it ended, and what does not run afterwards takes nothing away.
        assert!(known_after(&world, &["--", "false"], 1).contains("tester"));
        assert!(known_after(&world, &["--", "no-such-program"], 127).contains("tester"));
    });
}
