use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use palisade_testkit::{Project, Turn, in_child};

use super::*;

/// Names kept without a janitor: this process is not going to be killed.
fn kept(project: &Project, names: &[&str]) -> Reserved {
    kept_with(project, names, None)
}

fn kept_with(project: &Project, names: &[&str], spares: Option<&Path>) -> Reserved {
    let paths: Vec<PathBuf> = names.iter().map(|name| project.path(name)).collect();
    let mut kept = Reserved::open(&paths, spares).unwrap();
    kept.watch().unwrap();
    kept.keep().unwrap();
    kept
}

#[test]
fn what_is_kept_is_there_and_then_gone() {
    let project = Project::new().dir("deep");
    let reserved = kept(&project, &[".bashrc", "deep/.mcp.json"]);
    assert!(project.path(".bashrc").is_dir() && project.path("deep/.mcp.json").is_dir());
    drop(reserved);
    assert!(!project.path(".bashrc").exists() && !project.path("deep/.mcp.json").exists());
}

#[test]
fn what_cannot_be_given_back_is_told() {
    let project = Project::new();
    let reserved = kept(&project, &["a", "b"]);
    let names = reserved.names();
    assert_eq!(names.stayed(), None);
    // Somebody never ends their turn.
    let other = open_folder(project.root()).unwrap();
    lock::take_turn(other.as_fd()).unwrap();
    drop(reserved);
    lock::end_turn(other.as_fd());
    let note = names.stayed().unwrap();
    assert_eq!(note.code, "placeholder-stays");
    assert!(note.message.contains("/a`") && note.message.contains("/b`"), "{note:?}");
    drop(names);
    drop(kept(&project, &["a", "b"]));
    assert_eq!(fs::read_dir(project.root()).unwrap().count(), 0, "the next run removes them");
}

#[test]
fn two_runs_share_and_the_last_removes() {
    let project = Project::new();
    let (one, two) = (kept(&project, &["a", "b"]), kept(&project, &["b", "c"]));
    drop(one);
    assert!(!project.path("a").exists() && project.path("b").exists());
    drop(two);
    assert_eq!(fs::read_dir(project.root()).unwrap().count(), 0);
}

#[test]
fn what_is_not_ours_or_no_longer_empty_stays() {
    let project = Project::new().dir("own").file("file", "x");
    let reserved = kept(&project, &["own", "file", "filled"]);
    fs::write(project.path("filled/by-the-host"), "x").unwrap();
    drop(reserved);
    assert!(project.path("own").is_dir() && project.path("file").is_file());
    assert!(project.path("filled/by-the-host").exists());
    let mode = fs::metadata(project.path("filled")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7000, 0, "it is an ordinary folder now");
}

#[test]
fn spares_are_used_again_unless_somebody_filled_them() {
    use std::os::unix::fs::MetadataExt as _;
    let (project, state) = (Project::new(), Project::new());
    let pool = state.path("deep/spares");
    let inode = |name| fs::metadata(project.path(name)).unwrap().ino();
    let reserved = kept_with(&project, &["a", "b"], Some(&pool));
    let first = [inode("a"), inode("b")];
    drop(reserved);
    assert_eq!(fs::read_dir(project.root()).unwrap().count(), 0);
    // The third is the list of folders.
    assert_eq!(fs::read_dir(&pool).unwrap().count(), 3);

    // One that is not as it was left is not used.
    fs::write(pool.join(first[0].to_string()).join("odd"), "x").unwrap();
    let reserved = kept_with(&project, &["c", "d"], Some(&pool));
    assert!([inode("c"), inode("d")].contains(&first[1]));
    assert_ne!(inode("c"), first[0]);
    assert_ne!(inode("d"), first[0]);
    fs::write(project.path("c/by-the-host"), "x").unwrap();
    drop(reserved);
    assert!(project.path("c/by-the-host").exists(), "it is the host's now");
    assert!(!project.path("d").exists());
    assert!(pool.join(first[0].to_string()).join("odd").exists(), "nothing is deleted");
}

#[test]
fn what_was_left_behind_is_taken_over() {
    let project = Project::new().dir("stale").mode("stale", MODE);
    drop(kept(&project, &["stale"]));
    assert!(!project.path("stale").exists());
}

#[test]
fn what_was_left_behind_is_brought_back_from_another_project() {
    let name = "run::reserve::tests::what_was_left_behind_is_brought_back_from_another_project";
    // In a process of its own: whoever is forked beside it holds its folders for a moment.
    use std::os::unix::fs::MetadataExt as _;
    if in_child(name, r#"exec "$@""#) == Turn::Done {
        return;
    }
    let (one, two, state) = (Project::new().dir("deep"), Project::new(), Project::new());
    let pool = state.path("spares");
    let mut left = kept_with(&one, &["a", "deep/b"], Some(&pool));
    let kept = kept_with(&one, &["c"], Some(&pool));
    fs::create_dir(one.path("own")).unwrap();
    fs::set_permissions(one.path("own"), fs::Permissions::from_mode(MODE)).unwrap();
    // As after both were killed: nobody is left who knows of them.
    left.janitor = None;
    left.names = Arc::default();
    drop(left);
    assert!(one.path("a").exists() && one.path("deep/b").exists());
    // The other janitor has copies of our descriptors until it has closed them.
    for (folder, name) in [("", "a"), ("deep", "deep/b")] {
        let open = open_folder(&one.path(folder)).unwrap();
        let inode = fs::metadata(one.path(name)).unwrap().ino();
        while lock::is_shared(open.as_fd(), inode) != Ok(false) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
    let reserved = kept_with(&two, &["x", "y", "z"], Some(&pool));
    assert!(!one.path("a").exists() && !one.path("deep/b").exists(), "brought back");
    assert!(one.path("c").exists(), "somebody keeps it");
    assert!(one.path("own").exists(), "it looks alike, and is not ours");
    assert!(["x", "y", "z"].iter().all(|name| two.path(name).is_dir()));
    drop((reserved, kept));
    assert!(!one.path("c").exists() && !two.path("x").exists());
    // It is a list of folders, each once.
    drop(kept_with(&two, &["x"], Some(&pool)));
    let list = fs::read(pool.join(".folders")).unwrap();
    assert_eq!(list.iter().filter(|byte| **byte == 0).count(), 3, "{list:?}");
}

#[test]
fn a_folder_behind_a_link_is_not_opened() {
    let project = Project::new().dir("real").symlink("link", "real");
    assert!(Reserved::open(&[project.path("link/name")], None).is_err());
    assert!(Reserved::open(&[project.path("gone/name")], None).is_err());
}

#[test]
fn who_holds_a_folder_holds_nobody_up_for_each_name_in_it() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::time::{Duration, Instant};
    let project = Project::new();
    let names: Vec<PathBuf> = (0..20).map(|number| project.path(format!("{number}"))).collect();
    for (number, path) in names.iter().enumerate() {
        if number < 10 {
            fs::write(path, "x").unwrap();
        } else {
            fs::create_dir(path).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(MODE)).unwrap();
        }
    }
    let held = fs::File::open(project.root()).unwrap();
    lock::take_turn(held.as_fd()).unwrap();
    let (begun, mut waits) = (Instant::now(), true);
    let theirs = names.iter().filter(|path| is_of_others(path, &mut waits)).count();
    assert_eq!(theirs, 10, "what was left behind, and no file");
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
}
