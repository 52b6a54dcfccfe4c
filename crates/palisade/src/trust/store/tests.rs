//! Row 181, the memory half: what was agreed to, and every way in which it is not believed.

use std::env;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::time::Duration;

use palisade_testkit::{Fact, Home, Need, Turn, in_child, killed_after, need};

use super::*;

fn me() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn store(home: &Home) -> TrustStore {
    TrustStore::new(&home.path("state/palisade"), me())
}

fn hash(text: &str) -> ContentHash {
    ContentHash::of([(Path::new(".palisade/policy.yaml"), text.as_bytes())])
}

fn files() -> Vec<PathBuf> {
    vec![".palisade/policy.yaml".into()]
}

fn why(status: Status) -> Option<Why> {
    match status {
        Status::Unknown { doubt } => doubt.map(|doubt| doubt.why),
        Status::Trusted | Status::Changed => panic!("believed: {status:?}"),
    }
}

const ROOT: &str = "/home/ann/app";

#[test]
fn a181_only_the_agreed_content_of_that_project_is_trusted() {
    let home = Home::new();
    let store = store(&home);
    let root = Path::new(ROOT);
    let unknown = Status::Unknown { doubt: None };
    assert_eq!(store.status(root, &hash("one")), unknown, "nothing was agreed to yet");
    assert!(home.files_below("").is_empty(), "and asking leaves nothing behind");

    store.pin(root, &hash("one"), &files()).unwrap();
    #[rustfmt::skip]
    let cases = [
        // project            content  status            because
        (ROOT,                "one",   Status::Trusted,  "agreed"),
        (ROOT,                "one ",  Status::Changed,  "a blank more"),
        (ROOT,                "",      Status::Changed,  "emptied"),
        ("/home/ann/app2",    "one",   unknown.clone(),  "another project, the same content"),
        ("/home/ann",         "one",   unknown.clone(),  "the folder above"),
        ("/home/ann/app/sub", "one",   unknown.clone(),  "a folder below"),
    ];
    for (root, content, expected, because) in cases {
        assert_eq!(store.status(Path::new(root), &hash(content)), expected, "{because}");
    }
}

#[test]
fn a181_a_changed_file_must_be_trusted_anew() {
    let home = Home::new();
    let store = store(&home);
    let root = Path::new(ROOT);
    store.pin(root, &hash("one"), &files()).unwrap();
    assert_eq!(store.status(root, &hash("two")), Status::Changed);
    store.pin(root, &hash("two"), &files()).unwrap();
    assert_eq!(store.status(root, &hash("two")), Status::Trusted);
    assert_eq!(store.status(root, &hash("one")), Status::Changed, "the old one is gone");
}

#[test]
fn a181_what_was_revoked_is_no_longer_trusted() {
    let home = Home::new();
    let store = store(&home);
    let (root, other) = (Path::new(ROOT), Path::new("/home/ann/other"));
    assert!(!store.revoke(root).unwrap(), "there is no store yet");
    store.pin(root, &hash("one"), &files()).unwrap();
    store.pin(other, &hash("one"), &files()).unwrap();
    assert!(store.revoke(root).unwrap());
    assert!(!store.revoke(root).unwrap(), "only once");
    assert_eq!(store.status(root, &hash("one")), Status::Unknown { doubt: None });
    assert_eq!(store.status(other, &hash("one")), Status::Trusted, "the other one stays");
}

#[test]
fn the_list_tells_what_is_believed_and_what_is_not() {
    let home = Home::new();
    let store = store(&home);
    assert_eq!(store.list(), Listing::default());
    for root in ["/b", "/a\n%", "/c"] {
        store.pin(Path::new(root), &hash(root), &files()).unwrap();
    }
    let forged = store.folder().join(key(Path::new("/c")));
    fs::write(&forged, "{}").unwrap();
    let listing = store.list();
    let roots: Vec<_> = listing.pins.iter().map(|pin| pin.root.to_str().unwrap()).collect();
    assert_eq!(roots, ["/a\n%", "/b"]);
    assert_eq!(listing.pins[0].files, files());
    assert_eq!(listing.doubts, [Doubt { path: forged, why: Why::Malformed }]);
}

#[test]
fn a_new_store_is_closed_to_others() {
    let home = Home::new();
    let store = store(&home);
    store.pin(Path::new(ROOT), &hash("one"), &files()).unwrap();
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(home.path("state/palisade")), 0o700);
    assert_eq!(mode(store.folder()), 0o700);
    assert_eq!(mode(store.folder().join(key(Path::new(ROOT)))), 0o600);
    assert_eq!(home.files_below("").len(), 1, "no draft is left");
}

#[test]
fn a181_a_store_that_others_could_have_changed_is_not_believed() {
    type Spoil = fn(&Path, &Path);
    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    fn moved(path: &Path) -> PathBuf {
        let aside = path.with_extension("aside");
        fs::rename(path, &aside).unwrap();
        aside
    }
    #[rustfmt::skip]
    let cases: [(Spoil, Why, &str); 14] = [
        // what happened to (trust folder, pin)                             refused as
        (|_, pin| mode(pin, 0o620),                                         Why::WritableByOthers, "by the group"),
        (|_, pin| mode(pin, 0o602),                                         Why::WritableByOthers, "by all"),
        (|dir, _| mode(dir, 0o770),                                         Why::WritableByOthers, "the folder"),
        (|dir, _| mode(dir.parent().unwrap(), 0o707),                       Why::WritableByOthers, "the state"),
        (|_, pin| symlink(moved(pin), pin).unwrap(),                        Why::NotPlain, "a link"),
        (|dir, _| symlink(moved(dir), dir).unwrap(),                        Why::NotPlain, "a folder link"),
        (|dir, _| { moved(dir); fs::write(dir, "").unwrap(); },             Why::NotPlain, "a file"),
        (|_, pin| { moved(pin); fs::create_dir(pin).unwrap(); },            Why::NotPlain, "a folder"),
        (|_, pin| fs::hard_link(pin, pin.with_extension("2")).unwrap(),     Why::Linked, "a second name"),
        (|_, pin| fs::write(pin, vec![b' '; 65537]).unwrap(),               Why::TooLarge, "too large"),
        (|_, pin| fs::write(pin, "").unwrap(),                              Why::Malformed, "emptied"),
        (|_, pin| fs::write(pin, "\u{0}\u{ff}").unwrap(),                   Why::Malformed, "garbage"),
        (|_, pin| {
            let half = fs::read(pin).unwrap();
            fs::write(pin, &half[..half.len() / 2]).unwrap();
        },                                                                  Why::Malformed, "half of it"),
        (|_, pin| {
            let other = pin.with_file_name(key(Path::new("/other")));
            fs::rename(other, pin).unwrap();
        },                                                                  Why::OtherRoot, "exchanged"),
    ];
    for (spoil, expected, because) in cases {
        let home = Home::new();
        let store = store(&home);
        store.pin(Path::new(ROOT), &hash("one"), &files()).unwrap();
        store.pin(Path::new("/other"), &hash("one"), &files()).unwrap();
        assert_eq!(store.status(Path::new(ROOT), &hash("one")), Status::Trusted);
        spoil(&store.folder(), &store.folder().join(key(Path::new(ROOT))));
        let status = store.status(Path::new(ROOT), &hash("one"));
        assert_eq!(why(status), Some(expected), "{because}");
    }
}

#[test]
fn a_pipe_in_place_of_a_pin_is_not_waited_for() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let home = Home::new();
    let store = store(&home);
    store.pin(Path::new("/other"), &hash("one"), &files()).unwrap();
    let pin = store.folder().join(key(Path::new(ROOT)));
    mknodat(CWD, &pin, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    assert_eq!(why(store.status(Path::new(ROOT), &hash("one"))), Some(Why::NotPlain));
}

#[test]
fn a_store_of_somebody_else_is_not_believed_and_not_written() {
    if need(Fact::Root) == Need::Skip {
        return;
    }
    let home = Home::new();
    let store = store(&home);
    let pin = store.folder().join(key(Path::new(ROOT)));
    for place in [pin.clone(), store.folder(), home.path("state/palisade")] {
        store.pin(Path::new(ROOT), &hash("one"), &files()).unwrap();
        chown(&place, Some(65534), None).unwrap();
        let status = store.status(Path::new(ROOT), &hash("one"));
        assert_eq!(why(status), Some(Why::ForeignOwner), "{place:?}");
        if place != pin {
            let error = store.pin(Path::new(ROOT), &hash("two"), &files()).unwrap_err();
            assert_eq!(error.code(), "trust-doubtful");
            assert!(store.revoke(Path::new(ROOT)).is_err());
        }
        chown(&place, Some(0), None).unwrap();
    }
    assert_eq!(store.status(Path::new(ROOT), &hash("one")), Status::Trusted, "given back");
}

#[test]
fn a181_a_project_that_holds_the_store_cannot_trust_itself() {
    let home = Home::new();
    let store = store(&home);
    let outside = home.path("app");
    fs::create_dir(&outside).unwrap();
    store.pin(&outside, &hash("one"), &files()).unwrap();
    assert_eq!(store.status(&outside, &hash("one")), Status::Trusted);

    // The same, with a link that makes the folder look like another.
    let link = home.path("link");
    symlink(home.root(), &link).unwrap();
    for root in [home.root(), &link, &home.path("state"), Path::new("/")] {
        assert_eq!(why(store.status(root, &hash("one"))), Some(Why::InsideProject), "{root:?}");
        let error = store.pin(root, &hash("one"), &files()).unwrap_err();
        assert!(error.to_string().contains("inside the project"), "{error}");
        assert!(error.hint().unwrap().contains("XDG_STATE_HOME"));
    }
}

#[test]
fn a_draft_left_by_a_dead_writer_is_neither_believed_nor_in_the_way() {
    let home = Home::new();
    let store = store(&home);
    let root = Path::new(ROOT);
    store.pin(root, &hash("one"), &files()).unwrap();
    let draft = store.folder().join(key(root) + ".draft");
    symlink(home.path("victim"), &draft).unwrap();
    assert_eq!(store.status(root, &hash("one")), Status::Trusted);
    store.pin(root, &hash("two"), &files()).unwrap();
    assert_eq!(store.status(root, &hash("two")), Status::Trusted);
    assert!(!home.path("victim").exists(), "a planted link is not written through");
    assert!(!draft.exists());
}

#[test]
fn a_disk_that_takes_nothing_leaves_the_old_agreement() {
    let name = "trust::store::tests::a_disk_that_takes_nothing_leaves_the_old_agreement";
    // A file-size limit of zero fails each write as a full disk does, without needing one.
    let home = Home::new();
    let place = env::var_os("PALISADE_TEST_STATE").map_or(home.path("state"), PathBuf::from);
    let store = TrustStore::new(&place, me());
    let root = Path::new(ROOT);
    if env::var_os("PALISADE_TEST_STATE").is_none() {
        store.pin(root, &hash("one"), &files()).unwrap();
        let full = format!(
            r#"trap '' XFSZ; ulimit -f 0; PALISADE_TEST_STATE='{}' exec "$@""#,
            place.display()
        );
        assert_eq!(in_child(name, &full), Turn::Done);
        assert_eq!(home.files_below("").len(), 1, "no draft is left");
        return;
    }
    let error = store.pin(root, &hash("two"), &files()).unwrap_err();
    assert_eq!(error.code(), "trust-not-pinned");
    assert!(error.to_string().ends_with("nothing was pinned"), "{error}");
    assert_eq!(store.status(root, &hash("one")), Status::Trusted);
    assert_eq!(store.status(root, &hash("two")), Status::Changed);
}

#[test]
fn a_writer_that_is_killed_leaves_the_old_or_the_new_agreement() {
    const NAME: &str =
        "trust::store::tests::a_writer_that_is_killed_leaves_the_old_or_the_new_agreement";
    let root = Path::new(ROOT);
    if let Some(state) = env::var_os("PALISADE_TEST_STATE") {
        let store = TrustStore::new(Path::new(&state), me());
        // It is killed long before this ends; the end is for a parent that died first.
        for _ in 0..10_000 {
            store.pin(root, &hash("one"), &files()).unwrap();
            store.pin(root, &hash("two"), &files()).unwrap();
        }
        return;
    }
    let home = Home::new();
    let store = store(&home);
    store.pin(root, &hash("one"), &files()).unwrap();
    for round in 0..40 {
        let var = ("PALISADE_TEST_STATE", &*home.path("state/palisade"));
        killed_after(NAME, var, Duration::from_micros(5000 + round * 331));
        let trusted = ["one", "two"].map(|text| store.status(root, &hash(text)) == Status::Trusted);
        assert_eq!(trusted.into_iter().filter(|yes| *yes).count(), 1, "round {round}");
    }
}

#[test]
fn writers_at_the_same_time_do_not_disturb_each_other() {
    let home = Home::new();
    let store = store(&home);
    let root = Path::new(ROOT);
    std::thread::scope(|scope| {
        for writer in ["a", "b", "c", "d"] {
            let store = &store;
            scope.spawn(move || {
                for _ in 0..20 {
                    store.pin(root, &hash(writer), &files()).unwrap();
                    let status = store.status(root, &hash(writer));
                    assert!(matches!(status, Status::Trusted | Status::Changed), "{status:?}");
                }
            });
        }
    });
    assert_eq!(home.files_below("").len(), 1);
}

#[test]
fn an_agreement_that_could_not_be_read_back_is_not_written() {
    let home = Home::new();
    let many = vec![PathBuf::from("x".repeat(1000)); 70];
    let error = store(&home).pin(Path::new(ROOT), &hash("one"), &many).unwrap_err();
    assert_eq!(error.code(), "trust-not-pinned");
    assert!(home.files_below("").is_empty());
}
