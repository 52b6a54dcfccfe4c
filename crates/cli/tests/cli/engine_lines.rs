//! What the command lines of exports start, and who may change what they read.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};

use palisade_testkit::{Fact, Need, need};

use crate::engines::{BWRAP, HIDES, ROOT, SEATBELT, dressed, exported, run, text};
use crate::kit::{Person, World, as_both};

/// Programs that a command line starts, and the command in it.
const TOOLS: [&str; 5] = ["bwrap", "prlimit", "env", "mkdir", "sh"];

#[test]
fn programs_of_the_project_start_no_engine() {
    if need(Fact::Tools("command -v bwrap")) == Need::Skip {
        return;
    }
    as_both(|world| {
        let world = dressed(world, HIDES);
        let root = fs::canonicalize(world.project.root()).unwrap();
        let marked = fs::canonicalize(world.home.root()).unwrap().join("cache/marked");
        for tool in TOOLS {
            let marks = format!("#!/bin/sh\necho {tool} >> ran\n: > {}\n", marked.display());
            world.write(&format!("bin/{tool}"), marks);
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(root.join("bin").join(tool), mode).unwrap();
        }
        let path = format!("{}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin", root.display());
        let home = world.home.var("PATH", &path);
        let world = World { home, ..world };
        let command = exported(&world, "bwrap", BWRAP, &world.home.path("engine"));
        run(&world, "/bin/sh", &["-c", &command]);
        assert!(!marked.exists(), "outside of the walls: {command}");
        assert!(command.contains("/mkdir -p "), "{command}");
        let ran = fs::read_to_string(root.join("ran")).unwrap();
        assert_eq!(ran, "sh\n", "the command itself is the project's own");
    });
}

#[test]
fn a_temporary_folder_that_cannot_be_made_is_no_other_folder() {
    let world = dressed(World::new(), HIDES);
    let command = exported(&world, "seatbelt", SEATBELT, &world.home.path("engine"));
    let (start, _) = command.split_once(" EXIT &&").unwrap();
    // Nothing is removed here, whatever the command says.
    let start = start.replace("/bin/rm ", "rm ").replace("'rm -rf ", "'echo removed ");
    assert!(!start.contains("rm -") && start.contains("'echo removed "), "{start}");
    let made = fs::canonicalize(world.home.root()).unwrap();
    let works = format!("mktemp() {{ echo {}; }}; mktemp", made.display());
    for (mktemp, said) in [
        (works.as_str(), format!("at {0}\nremoved -- {0}\n", made.display())),
        ("false", String::new()),
        ("true", String::new()),
    ] {
        let begin = start.replace("/usr/bin/mktemp", "mktemp").replace("mktemp -d", mktemp);
        let output = run(&world, "/bin/sh", &["-c", &format!("{begin} EXIT && echo \"at $t\")")]);
        assert_eq!(text(&output.stdout), said, "{begin}");
        assert_eq!(output.status.success(), !said.is_empty());
    }
}

#[test]
fn the_folder_of_an_export_is_for_its_owner_only() {
    as_both(|world| {
        let world = dressed(world, HIDES);
        for (name, before) in [("fresh", None), ("open", Some(0o777)), ("known", Some(0o755))] {
            let folder = world.home.path(name);
            if let Some(mode) = before {
                fs::create_dir(&folder).unwrap();
                fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
            }
            exported(&world, "bwrap", BWRAP, &folder);
            let mode = fs::metadata(&folder).unwrap().permissions().mode();
            assert_eq!(mode & 0o7777, 0o700, "{name}");
        }
    });
}

#[test]
fn a_folder_of_somebody_else_is_none_for_an_export() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let world = World { person: Person::Ours, ..dressed(World::new(), HIDES) };
    let folder = world.home.path("theirs");
    fs::create_dir(&folder).unwrap();
    chown(&folder, Some(65534), None).unwrap();
    let names = format!("{BWRAP}{ROOT}");
    let words = ["plan", "--export", "bwrap", "--without", &names, "--to"];
    let ran = world.run(&[&words[..], &[folder.to_str().unwrap(), "--", "true"]].concat());
    assert!(ran.code == Some(125) && ran.stderr.contains("error[export-folder]"), "{}", ran.stderr);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}
