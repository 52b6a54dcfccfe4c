//! Workspaces on filesystems that are not like others, and hosts that lack one.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use palisade_apply::{Host, Streams};
use palisade_plan::build;
use palisade_testkit::{Fact, Need, Project, Turn, in_child, need};

use crate::{Place, all, out, permit};

/// Runs the rest of the test `name` with its folders on what `mount` puts at `$d`, in mounts of its
/// own; as root, who alone may mount there.
fn on(mount: &str, name: &str) -> Turn {
    if need(Fact::Root) == Need::Skip {
        return Turn::Done;
    }
    let shell = format!(
        "d=$(mktemp -d); b=$(mktemp -d); chmod 755 $d $b; export d b; \
         unshare -m --propagation private sh -c 'set -e; {mount}; chmod 777 $d; export TMPDIR=$d; \
         exec \"$@\"' sh \"$@\"; code=$?; rm -rf $b; rmdir $d; exit $code"
    );
    in_child(name, &shell)
}

/// The allowed thing works there, and the forbidden one fails.
fn holds() {
    let place = Place::with(Project::new().file(".git/config", "[core]\n").dir(".git/hooks"));
    let (home, root) = (place.home.root().display(), place.project.root());
    let outcome = place.sh(&format!(
        "echo made > made && cat made; echo x >> .git/config; echo x > .git/hooks/x; echo x > {home}/x; \
         cat {home}/.ssh/id; cat {home}/notes"
    ));
    assert_eq!(out(&outcome), "made\nplain\n", "{}", all(&outcome));
    assert_eq!(fs::read_to_string(root.join(".git/config")).unwrap(), "[core]\n");
    assert!(!root.join(".git/hooks/x").exists() && !place.home.path("x").exists());
    let owner = fs::metadata(root.join("made")).unwrap().uid();
    assert_eq!(owner, rustix::process::geteuid().as_raw(), "it is ours, not a stranger's");
}

#[test]
fn a_workspace_on_an_overlay_is_like_any_other() {
    let mount = "mount -t tmpfs none $b; mkdir $b/l $b/u $b/w; \
        mount -t overlay -o lowerdir=$b/l,upperdir=$b/u,workdir=$b/w none $d";
    if on(mount, "disks::a_workspace_on_an_overlay_is_like_any_other") == Turn::Mine {
        holds();
    }
}

#[test]
fn a_workspace_on_a_filesystem_of_a_program_is_like_any_other() {
    if need(Fact::Tools("bindfs --version")) == Need::Skip {
        return;
    }
    let name = "disks::a_workspace_on_a_filesystem_of_a_program_is_like_any_other";
    if on("bindfs $b $d", name) == Turn::Mine {
        holds();
    }
}

#[test]
fn a_workspace_on_a_full_disk_is_one_clear_answer_and_stays_as_it_is() {
    let name = "disks::a_workspace_on_a_full_disk_is_one_clear_answer_and_stays_as_it_is";
    if on("mount -t tmpfs -o size=64k,nr_inodes=64 none $d", name) == Turn::Done {
        return;
    }
    let place = Place::new();
    let filler = place.project.path("filler");
    fs::write(&filler, vec![b'x'; 64 << 10]).unwrap_err();
    (0..).map_while(|n| fs::write(place.project.path(format!("f{n}")), "").ok()).for_each(drop);
    let before = fs::read_dir(place.project.root()).unwrap().count();
    match place.try_run(&["/bin/sh", "-c", "cat inside; echo more > more"], Streams::default()) {
        Ok(outcome) => {
            assert_eq!(out(&outcome), "inside\n", "{}", all(&outcome));
            assert!(all(&outcome).contains("No space left"), "{}", all(&outcome));
        }
        Err(error) => assert!(error.to_string().contains("No space left"), "{error}"),
    }
    assert_eq!(fs::read_dir(place.project.root()).unwrap().count(), before);
}

#[test]
fn a_host_without_proc_is_one_clear_answer() {
    let name = "disks::a_host_without_proc_is_one_clear_answer";
    if on("mount -t tmpfs none $d; umount -l /proc", name) == Turn::Done {
        return;
    }
    let mut place = Place::new();
    place.order.argv = ["touch", "ran"].map(str::to_owned).into();
    // Asked what it offers, the host says so; taken for granted, nothing can be planned.
    let host = Host::probe();
    let refused = build(&permit(), &place.order, &host.facts(&place.order.questions()));
    let error = refused.unwrap_err().to_string();
    assert!(error.contains("looking into /proc fails, it is not there (ENOENT)"), "{error}");
    let host = Host::assumed();
    let refused = build(&permit(), &place.order, &host.facts(&place.order.questions()));
    let error = refused.unwrap_err().to_string();
    assert!(error.contains("/proc/self/mountinfo"), "{error}");
    assert!(!place.project.path("ran").exists());
}
