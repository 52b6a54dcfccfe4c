//! What works, and what is refused.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use palisade_apply::{Jail, Kind, Names, Why};
use palisade_testkit::{Turn, ordinary_user};
use rustix::fs::{CWD, Mode};

use super::*;

#[test]
fn what_lies_inside_can_be_worked_on() {
    let (project, _outside) = beside();
    let project = project.symlink("link", "src").symlink("src/up", "../src/a");
    let jail = jail(&project);
    jail.create(path("src/a"), b"one").unwrap();
    assert_eq!(jail.read(path("src/a"), 3).unwrap(), b"one");
    jail.write(path("link/a"), b"2").unwrap();
    assert_eq!(jail.read(path("src/up"), 3).unwrap(), b"2", "links that stay inside work");
    let known = jail.metadata(path("src/a")).unwrap();
    assert_eq!((known.kind, known.len, known.names), (Kind::File, 1, Names::One));
    jail.create_folder(path("src/deep")).unwrap();
    jail.rename(path("src/a"), path("src/deep/b")).unwrap();
    let names = jail.list(path("src"), 10).unwrap();
    let names: Vec<_> = names.iter().map(|l| (l.name.to_str().unwrap(), l.kind)).collect();
    assert_eq!(names, [("deep", Kind::Folder), ("up", Kind::Link)]);
    jail.remove(path("src/deep/b")).unwrap();
    jail.remove(path("src/deep")).unwrap();
    jail.remove(path("link")).unwrap();
    assert!(project.path("src").is_dir(), "a link is removed, not what it leads to");
    assert_eq!(jail.list(path("."), 10).unwrap().len(), 1);
}

#[test]
fn a_jail_without_links_refuses_those_that_stay_inside_too() {
    let (project, _outside) = beside();
    let project = project.file("src/a", "one").symlink("link", "src").symlink("src/b", "a");
    let jail = jail(&project).without_links();
    assert_eq!(jail.read(path("src/a"), 3).unwrap(), b"one");
    jail.write(path("src/a"), b"two").unwrap();
    for linked in ["link/a", "src/b"] {
        assert_eq!(why(jail.read(path(linked), 3)), Why::Loop, "{linked}");
        assert_eq!(why(jail.write(path(linked), b"x")), Why::Loop, "{linked}");
    }
    assert_eq!(why(jail.create(path("link/c"), b"x")), Why::Loop);
    assert_eq!(why(jail.create_folder(path("link/d"))), Why::Loop);
    assert_eq!(why(jail.list(path("link"), 9)), Why::Loop);
    assert_eq!(fs::read(project.path("src/a")).unwrap(), b"two");
}

#[test]
fn what_does_not_fit_is_refused() {
    let (project, _outside) = beside();
    let project = project.file("a", "four").file("b", "").symlink("loop", "loop");
    fs::hard_link(project.path("a"), project.path("twin")).unwrap();
    let jail = jail(&project);
    assert_eq!(why(jail.read(path("a"), 3)), Why::TooLarge);
    assert_eq!(why(jail.list(path("."), 2)), Why::TooLarge);
    assert_eq!(why(jail.write(path("twin"), b"x")), Why::SeveralNames);
    assert_eq!(why(jail.write(path("none"), b"x")), Why::Missing);
    assert_eq!(why(jail.create(path("a"), b"x")), Why::Taken);
    assert_eq!(why(jail.create(path("loop"), b"x")), Why::Taken);
    assert_eq!(why(jail.read(path("loop"), 9)), Why::Loop);
    assert_eq!(why(jail.read(path("src"), 9)), Why::NoFile);
    assert_eq!(why(jail.read(path(""), 9)), Why::Missing);
    assert_eq!(why(jail.read(path("a\0b"), 9)), Why::Other);
    for ending in ["", ".", "..", "src/.."] {
        assert_eq!(why(jail.remove(path(ending))), Why::NoName, "{ending:?}");
        assert_eq!(why(jail.rename(path("a"), path(ending))), Why::NoName, "{ending:?}");
    }
    assert_eq!(fs::read(project.path("a")).unwrap(), b"four");
    assert_eq!(why(Jail::open_root(&project.path("a"))), Why::Missing);
    let failed = jail.read(path("no\u{1b}[2Jne"), 9).unwrap_err();
    assert_eq!(failed.to_string(), r"cannot open `no\u{1b}[2Jne`: nothing is there");
}

#[test]
fn a_pipe_a_socket_and_a_device_are_refused_at_once() {
    let (project, _outside) = beside();
    rustix::fs::mknodat(CWD, project.path("pipe"), rustix::fs::FileType::Fifo, Mode::RWXU, 0)
        .unwrap();
    let _socket = UnixListener::bind(project.path("socket")).unwrap();
    let project = project.symlink("null", "/dev/null");
    let jail = jail(&project);
    for name in ["pipe", "socket"] {
        assert_eq!(why(jail.read(path(name), 9)), Why::NoFile, "{name}");
        assert_eq!(why(jail.write(path(name), b"x")), Why::NoFile, "{name}");
        assert_eq!(jail.metadata(path(name)).unwrap().kind, Kind::Other, "{name}");
    }
    assert_eq!(why(jail.read(path("null"), 9)), Why::Outside);
    let devices = Jail::open_root("/dev".as_ref()).unwrap();
    assert_eq!(why(devices.read(path("zero"), 9)), Why::NoFile);
    assert_eq!(why(devices.write(path("null"), b"x")), Why::NoFile);
}

fn no_planted_link_is_followed() {
    let (project, outside) = beside();
    let name = outside.root().file_name().unwrap().to_str().unwrap().to_owned();
    symlink(outside.root(), project.path("absolute")).unwrap();
    symlink(format!("../{name}"), project.path("relative")).unwrap();
    symlink("relative", project.path("chain")).unwrap();
    symlink("/proc/self/cwd", project.path("magic")).unwrap();
    symlink(project.root(), project.path("self")).unwrap();
    symlink(outside.path("secret"), project.path("file")).unwrap();
    symlink(outside.path("new"), project.path("dangling")).unwrap();
    let project = project.file("mine", "inside");
    let jail = jail(&project);

    let folders = ["absolute", "relative", "chain", "src/../..", "..", "self/..", "magic", "/"];
    for folder in folders {
        let secret = format!("{folder}/secret");
        let secret = path(&secret);
        let failed = jail.read(secret, 99).unwrap_err();
        assert_eq!((failed.why(), failed.errno()), (Why::Outside, Some(18)), "EXDEV: {folder}");
        assert_eq!(why(jail.write(secret, b"x")), Why::Outside, "{folder}");
        assert_eq!(why(jail.create(&path(folder).join("new"), b"x")), Why::Outside, "{folder}");
        assert_eq!(why(jail.create_folder(&path(folder).join("new"))), Why::Outside, "{folder}");
        assert_eq!(why(jail.remove(secret)), Why::Outside, "{folder}");
        assert_eq!(why(jail.rename(secret, path("taken"))), Why::Outside, "{folder}");
        assert_eq!(why(jail.rename(path("mine"), secret)), Why::Outside, "{folder}");
        assert_eq!(why(jail.list(path(folder), 99)), Why::Outside, "{folder}");
        assert_eq!(why(jail.metadata(secret)), Why::Outside, "{folder}");
    }
    assert_eq!(why(jail.read(path("file"), 99)), Why::Outside);
    assert_eq!(why(jail.write(path("file"), b"x")), Why::Outside);
    assert_eq!(why(jail.create(path("dangling"), b"x")), Why::Taken, "a link has the name");
    assert_eq!(jail.read(path("mine"), 99).unwrap(), b"inside");
    assert_eq!(fs::read(outside.path("secret")).unwrap(), b"outside");
    assert!(!outside.path("new").exists());
    // The link itself may go.
    jail.remove(path("absolute")).unwrap();
    assert!(outside.path("secret").exists());
}

#[test]
fn e044_a_link_planted_inside_is_not_followed_with_the_callers_rights() {
    no_planted_link_is_followed();
}

#[test]
fn e044_nor_with_the_rights_of_an_ordinary_user() {
    let name = "operations::e044_nor_with_the_rights_of_an_ordinary_user";
    if ordinary_user(name) == Turn::Mine {
        no_planted_link_is_followed();
    }
}
