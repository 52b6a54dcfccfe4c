//! What the command lines of exports start, and who may change what they read.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};

use crate::engines::{BWRAP, HIDES, ROOT, dressed, exported};
use crate::kit::{Person, World, as_both};

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
