//! What lies at a path.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use palisade_apply::HostLookup;
use palisade_plan::{Entry, Lookup as _};
use palisade_testkit::{Turn, ordinary_user};

use super::*;

#[test]
fn each_kind_of_entry_is_told() {
    let (project, _outside) = beside();
    let project = project
        .file("one", "")
        .file("two", "")
        .symlink("link", "../x")
        .symlink("odd", OsStr::from_bytes(b"\xFF"));
    fs::hard_link(project.path("two"), project.path("twin")).unwrap();
    let look = |name: &str| HostLookup.look(project.path(name).to_str().unwrap());
    assert_eq!(look("src"), Entry::Folder);
    assert_eq!(look("one"), Entry::File);
    assert_eq!(look("twin"), Entry::SharedFile);
    assert_eq!(look("link"), Entry::Link("../x".into()));
    assert_eq!(look("odd"), Entry::Unknown);
    assert_eq!(look("none"), Entry::Absent);
    assert_eq!(look("one/below"), Entry::Absent);
    assert_eq!(HostLookup.look("/dev/null"), Entry::Other);
    assert_eq!(HostLookup.look("a\0b"), Entry::Unknown);
}

#[test]
fn a_folder_is_listed_unless_it_holds_too_much() {
    let project = Project::new().file("few/one", "").symlink("few/two", "/etc").file("many/x", "");
    let list = |name: &str| HostLookup.entries(project.path(name).to_str().unwrap());
    let mut few = list("few").unwrap();
    few.sort();
    assert_eq!(few, ["one", "two"]);
    assert_eq!(list("none"), None);
    for number in 0..1000 {
        fs::write(project.path(format!("many/{number}")), "").unwrap();
    }
    assert_eq!(list("many"), None);
}

#[test]
fn what_may_not_be_searched_is_unknown() {
    if ordinary_user("lookup::what_may_not_be_searched_is_unknown") == Turn::Done {
        return;
    }
    let project = Project::new().file("shut/x", "").mode("shut", 0);
    assert_eq!(HostLookup.look(project.path("shut/x").to_str().unwrap()), Entry::Unknown);
    assert_eq!(HostLookup.look(project.path("shut").to_str().unwrap()), Entry::Folder);
    drop(project.mode("shut", 0o700));
}
