//! What lies at a path.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use palisade_apply::HostLookup;
use palisade_plan::{Entry, Listing, Lookup as _, Named, NamedKind};
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
    let project = Project::new()
        .file("few/one", "")
        .symlink("few/two", "/etc")
        .file("few/three/x", "")
        .file("many/x", "")
        .file("odd/x", "");
    let list = |name: &str| HostLookup.list(project.path(name).to_str().unwrap());
    let Listing::Names(mut few) = list("few") else { panic!("few cannot be listed") };
    few.sort_by(|one, other| one.name.cmp(&other.name));
    let named = |name: &str, kind| Named { name: name.to_owned(), kind };
    let expected = [
        named("one", NamedKind::Other),
        named("three", NamedKind::Folder),
        named("two", NamedKind::Link),
    ];
    assert_eq!(few, expected);
    assert_eq!(list("none"), Listing::Nowhere);
    assert_eq!(list("few/one"), Listing::Nowhere);
    for number in 0..10_000 {
        fs::write(project.path(format!("many/{number}")), "").unwrap();
    }
    assert_eq!(list("many"), Listing::Untold);
    // A file whose name is no text is nobody's concern, a link may lead anywhere.
    let odd = |end: &[u8]| project.path("odd").join(OsStr::from_bytes(end));
    fs::write(odd(b"\xff"), "").unwrap();
    assert!(matches!(list("odd"), Listing::Names(_)));
    std::os::unix::fs::symlink("/etc", odd(b"\xfe")).unwrap();
    assert_eq!(list("odd"), Listing::Untold);
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
