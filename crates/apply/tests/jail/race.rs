//! Somebody swaps folders and files for links while we work.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use palisade_testkit::{Turn, ordinary_user};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::*;

/// How long the race goes on.
fn time() -> Duration {
    let full = std::env::var_os("PALISADE_TEST_FULL").is_some_and(|value| value == "1");
    Duration::from_secs(if full { 60 } else { 3 })
}

/// Swaps `folder/f` and `file` with links to the outside, as fast as it can, and works on both.
fn nothing_escapes_a_swapper() {
    let (project, outside) = beside();
    let project = project.file("folder/f", "inside").file("file", "inside");
    symlink(outside.root(), project.path("link")).unwrap();
    symlink(outside.path("secret"), project.path("link-to-file")).unwrap();
    fs::write(outside.path("f"), "outside").unwrap();
    let before = listing(&outside);

    let stop = AtomicBool::new(false);
    let swap = |a: &str, b: &str| {
        renameat_with(CWD, project.path(a), CWD, project.path(b), RenameFlags::EXCHANGE)
    };
    let (mut inside, mut refused) = (0_u64, 0_u64);
    let swaps = thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            let mut swaps = 0_u64;
            while !stop.load(Ordering::Relaxed) {
                // Some of our own moves get in the way; it goes on.
                swaps += u64::from(swap("folder", "link").is_ok());
                swaps += u64::from(swap("file", "link-to-file").is_ok());
            }
            swaps
        });
        let end_of_race = Ended(&stop);
        let jail = jail(&project);
        let end = Instant::now() + time();
        while Instant::now() < end {
            for name in ["folder/f", "file"] {
                match jail.read(path(name), 99) {
                    Ok(content) => {
                        assert!(content == b"inside" || content.is_empty(), "{content:?}");
                        inside += 1;
                    }
                    Err(_) => refused += 1,
                }
                jail.write(path(name), b"inside").ok();
            }
            jail.create(path("folder/new"), b"new").ok();
            if let Ok(names) = jail.list(path("folder"), 99) {
                assert!(names.iter().all(|listed| listed.name != "secret"), "{names:?}");
            }
            jail.rename(path("folder/new"), path("folder/moved")).ok();
            jail.remove(path("folder/moved")).ok();
            jail.remove(path("folder/secret")).unwrap_err();
            jail.rename(path("folder/secret"), path("stolen")).unwrap_err();
        }
        drop(end_of_race);
        swapper.join().unwrap()
    });
    assert_eq!(listing(&outside), before, "the outside is as it was");
    // Both sides of the race were seen, or it was none.
    assert!(swaps > 0 && inside > 0 && refused > 0, "{swaps} {inside} {refused}");
    println!("{swaps} swaps, {inside} reads inside, {refused} refused");
}

/// Ends the race when it goes, also when an assertion failed: nobody would wait for the swapper
/// in vain.
struct Ended<'a>(&'a AtomicBool);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn listing(folder: &Project) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder.root()).unwrap() {
        let entry = entry.unwrap();
        let content = fs::read(entry.path()).unwrap_or_default();
        found.push((entry.file_name().into_string().unwrap(), content));
    }
    found.sort();
    found
}

#[test]
fn e034_a_swapper_of_links_never_leads_the_jail_outside() {
    nothing_escapes_a_swapper();
}

#[test]
fn e034_nor_an_ordinary_user() {
    if ordinary_user("race::e034_nor_an_ordinary_user") == Turn::Mine {
        nothing_escapes_a_swapper();
    }
}
