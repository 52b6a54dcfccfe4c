//! Bloom's policies and srt's settings, in force.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::chown;

use palisade::settings::SettingsFile;
use palisade_testkit::Project;

use crate::kit::{PALISADE, Person, Ran, World, as_both};

/// Tries to write, to read and to connect, and says what worked.
const TRIES: &str = "(echo x > made) 2>/dev/null && echo wrote the workspace\n\
    (echo x > ~/out/made) 2>/dev/null && echo wrote outside\n\
    cat ~/.ssh/key 2>/dev/null && echo read a key\n\
    cat ~/notes >/dev/null 2>&1 && echo read notes\n\
    python3 connect.py 2>/dev/null && echo connected\nexit 0\n";

/// Runs the tries for an agent of Bloom, and says what worked.
fn tried(world: World, sandbox: &str) -> Vec<String> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let config = format!("agent:\n  claude:\n    sandbox: {{ enabled: true, {sandbox} }}\n");
    let home = world.home.file(".bloom/config.yaml", &config).file(".ssh/key", "key\n");
    let world = World { home: home.file("notes", "note").file("out/there", ""), ..world };
    world.write("try.sh", TRIES);
    let connect = format!("import socket\nsocket.create_connection(('127.0.0.1', {port}), 3)\n");
    world.write("connect.py", connect);
    let ran = world.run(&["run", "--policy", "bloom:", "--agent", "claude", "--", "sh", "try.sh"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn a095_disabled_opens_the_network_and_files_stay_confined() {
    as_both(|world| {
        assert_eq!(
            tried(world, "networkPolicy: disabled"),
            ["wrote the workspace", "read notes", "connected"]
        );
    });
    as_both(|world| {
        assert_eq!(tried(world, "networkPolicy: deny-all"), ["wrote the workspace", "read notes"]);
    });
}

#[test]
fn a198_the_workspace_can_be_closed_and_nothing_outside_is_open() {
    as_both(|world| {
        let open = tried(world, "writablePaths: []");
        assert_eq!(open, ["wrote the workspace", "read notes"], "the research example");
    });
    as_both(|world| {
        let closed = tried(world, "workspaceWritable: false, writablePaths: []");
        assert_eq!(closed, ["read notes"]);
    });
    as_both(|world| {
        let other = tried(world, "workspaceWritable: false, writablePaths: [~/out]");
        assert_eq!(other, ["wrote outside", "read notes"], "what it names, and only that");
    });
}

#[test]
fn a113_settings_that_were_generated_are_enforced_when_passed_by_settings() {
    as_both(|world| {
        world.write("p.yaml", "files: { write: [., ~/out], hide: [~/notes] }\n");
        world.write("try.sh", TRIES);
        let home = world.home.file("notes", "note").file("out/there", "").file(".ssh/key", "key\n");
        let world = World { home, ..world };
        let text = world.run(&["policy", "export", "--to", "srt", "--policy", "p.yaml"]);
        let text = text.stdout.replace("/home/dev/app", world.project.root().to_str().unwrap());
        let text = text.replace("/home/dev", world.home.root().to_str().unwrap());
        let base = Project::new();
        let file = SettingsFile::write(base.root(), &text).unwrap();
        let path = file.path().to_str().unwrap().to_owned();
        // Whoever is to run it has written it.
        if world.person == Person::Nobody {
            let owned = [base.root(), &base.path("bloom-sandbox"), file.path()];
            owned.iter().for_each(|path| chown(path, Some(65534), Some(65534)).unwrap());
        }
        let run = |arguments: &[&str]| -> Ran {
            let mut command = world.command(PALISADE);
            world.finish(command.arg("run").args(arguments).args(["--", "sh", "try.sh"]))
        };
        let ran = run(&["--settings", &path]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert_eq!(ran.stdout, "wrote the workspace\nwrote outside\n");
        assert_eq!(run(&[]).stdout, "wrote the workspace\nread notes\n", "the probe works");
        drop(file);
        let gone = run(&["--settings", &path]);
        assert_eq!(gone.code, Some(125), "{}", gone.stderr);
        let broken = world.home.path("broken.json");
        fs::write(&broken, "{ \"filesystem\": ").unwrap();
        let broken = run(&["--settings", broken.to_str().unwrap()]);
        assert_eq!(broken.code, Some(125), "{}", broken.stderr);
        assert!(broken.stderr.contains("broken.json:1"), "{}", broken.stderr);
    });
}
