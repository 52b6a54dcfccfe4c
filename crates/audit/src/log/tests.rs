use std::os::unix::fs::symlink;
use std::time::Instant;

use palisade_testkit::Project;

use super::*;
use crate::event::Answered;
use crate::head::Found;
use crate::verify;

mod beside;
mod forged;
mod property;

pub(super) fn key() -> Key {
    Key::new([7; 32])
}

pub(super) fn event(run: &str) -> Event<'_> {
    let what = What::Confirmation { answer: Answered::No, by: "terminal", call: "ab" };
    Event { at: SystemTime::UNIX_EPOCH, run, what }
}

pub(super) fn open(path: &Path) -> Log {
    Log::open(path, Some(key()), Rotation::default()).unwrap()
}

pub(super) fn add(log: &Log, count: usize) {
    (0..count).for_each(|_| log.append(&[event("1")], Durable::No).unwrap());
}

pub(super) fn codes(path: &Path) -> Vec<&'static str> {
    let seen = verify(path, Some(&key()), 1).unwrap();
    seen.problems.iter().map(|problem| problem.code).collect()
}

#[test]
fn events_are_appended_by_everyone_line_by_line_in_one_chain() {
    let folder = Project::new();
    let path = folder.path("log/events.jsonl");
    let logs = [open(&path), open(&path)];
    std::thread::scope(|scope| {
        for (log, run) in logs.iter().zip(["one", "two"]) {
            scope.spawn(move || {
                (0..100).for_each(|_| log.append(&[event(run)], Durable::No).unwrap());
            });
        }
    });
    let text = fs::read_to_string(&path).unwrap();
    for run in ["one", "two"] {
        assert_eq!(text.matches(&format!("\"run\":\"{run}\"")).count(), 100);
    }
    let seen = verify(&path, Some(&key()), 1).unwrap();
    assert_eq!((seen.records, seen.signatures, &*seen.problems), (201, 1, &[][..]), "{seen:?}");
    for file in ["log/events.jsonl", "log/events.jsonl.head"] {
        let mode = fs::metadata(folder.path(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn a_file_that_others_could_read_is_closed_to_them() {
    let folder = Project::new().file("log", "");
    fs::set_permissions(folder.path("log"), fs::Permissions::from_mode(0o644)).unwrap();
    open(&folder.path("log"));
    assert_eq!(fs::metadata(folder.path("log")).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn links_pipes_folders_and_files_of_others_are_refused() {
    let folder = Project::new().file("elsewhere", "kept").dir("folder");
    symlink(folder.path("elsewhere"), folder.path("link")).unwrap();
    symlink(folder.path("elsewhere"), folder.path("new.head")).unwrap();
    let pipe = folder.path("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, Mode::from_raw_mode(0o600)).unwrap();
    for name in ["link", "pipe", "folder", "elsewhere/log", "new"] {
        assert!(Log::open(&folder.path(name), None, Rotation::default()).is_err(), "{name}");
    }
    let error = open(&folder.path("elsewhere")).append(&[event("1")], Durable::No).unwrap_err();
    assert!(error.to_string().contains("no records"), "{error}");
    assert_eq!(fs::read_to_string(folder.path("elsewhere")).unwrap(), "kept");
}

#[test]
fn a_new_file_is_begun_by_size_and_by_age_and_the_chain_goes_on() {
    let folder = Project::new();
    let path = folder.path("events.jsonl");
    let rotation = Rotation { size: Some(1000), age: None };
    let logs = [(); 2].map(|()| Log::open(&path, Some(key()), rotation).unwrap());
    for number in 0..20 {
        add(&logs[number % 2], 1);
    }
    let seen = verify(&path, Some(&key()), 1).unwrap();
    assert!(seen.files > 3 && seen.is_intact(), "{seen:?}");
    assert_eq!(seen.signatures, u64::try_from(seen.files).unwrap());
    let old = Rotation { size: None, age: Some(Duration::ZERO) };
    let log = Log::open(&path, Some(key()), old).unwrap();
    add(&log, 2);
    let again = verify(&path, Some(&key()), 1).unwrap();
    assert!(again.files == seen.files + 2 && again.is_intact(), "{again:?}");
    // A file that was put away is missed, unless somebody says that it was put away for good.
    let gone = segments(&path).unwrap().remove(0).path;
    fs::remove_file(gone).unwrap();
    assert_eq!(codes(&path), ["missing"]);
    let next = segments(&path).unwrap().remove(0).first.unwrap();
    assert!(verify(&path, Some(&key()), next).unwrap().is_intact());
}

#[test]
fn who_was_ended_between_two_files_leaves_a_chain_that_goes_on() {
    let folder = Project::new();
    let path = folder.path("events.jsonl");
    add(&open(&path), 3);
    fs::rename(&path, segment::named(&path, 1)).unwrap();
    add(&open(&path), 3);
    assert_eq!(codes(&path), [""; 0]);
    assert_eq!(segments(&path).unwrap().len(), 2);
}

#[test]
fn a_head_that_is_missing_damaged_or_foreign_is_told_for_good() {
    for (what, content) in [("missing", None), ("damaged", Some("x")), ("foreign", None)] {
        let folder = Project::new();
        let path = folder.path("events.jsonl");
        add(&open(&path), 3);
        match (what, content) {
            ("foreign", _) => {
                let log = Log::open(&path, Some(Key::new([8; 32])), Rotation::default()).unwrap();
                add(&log, 1);
            }
            (_, Some(text)) => fs::write(head::beside(&path), text).unwrap(),
            (_, None) => fs::remove_file(head::beside(&path)).unwrap(),
        }
        assert!(codes(&path).contains(&"head"), "{what}");
        add(&open(&path), 2);
        let seen = verify(&path, Some(&key()), 1).unwrap();
        let told = seen.problems.iter().find(|it| it.code == "head").unwrap();
        assert!(told.message.contains(what), "{told}");
        assert_eq!(seen.last, Some(7), "{seen:?}");
    }
}

#[test]
fn who_holds_the_lock_and_sleeps_stops_nobody() {
    let folder = Project::new();
    let path = folder.path("events.jsonl");
    let (log, holder) = (open(&path), open(&path));
    add(&log, 1);
    rustix::fs::flock(&holder.head, FlockOperation::LockExclusive).unwrap();
    let begun = Instant::now();
    for _ in 0..100 {
        assert!(log.append(&[event("1")], Durable::No).is_err());
    }
    assert!(begun.elapsed() < Duration::from_secs(5), "only the first waits");
    rustix::fs::flock(&holder.head, FlockOperation::Unlock).unwrap();
    add(&log, 1);
    let seen = verify(&path, Some(&key()), 1).unwrap();
    assert!(seen.is_intact(), "{seen:?}");
    assert_eq!(seen.notes, ["100 events before record 3 could not be written"]);
}

#[test]
fn a_log_that_is_written_meanwhile_is_verified_as_it_was_at_one_moment() {
    let folder = Project::new();
    let path = folder.path("events.jsonl");
    let rotation = Rotation { size: Some(100_000), age: None };
    let log = Log::open(&path, Some(key()), rotation).unwrap();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Who writes ends when a check fails, too.
        let _ending = Ending(&done);
        scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                add(&log, 10);
                // What is verified again and again should not grow for minutes.
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        for _ in 0..50 {
            let seen = verify(&path, Some(&key()), 1).unwrap();
            assert!(seen.is_intact() && seen.notes.is_empty(), "{seen:?}");
        }
    });
}

struct Ending<'a>(&'a std::sync::atomic::AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

#[test]
fn a_log_of_more_files_than_can_be_open_is_verified() {
    let folder = Project::new();
    let path = folder.path("events.jsonl");
    let log = Log::open(&path, Some(key()), Rotation { size: Some(1), age: None }).unwrap();
    // Each file has two records: the thousandth stands right behind the first of one, and is signed too.
    (0..1200).for_each(|_| add(&log, 1));
    let seen = verify(&path, Some(&key()), 1).unwrap();
    assert!(seen.is_intact() && seen.files > 1024, "{seen:?}");
}

#[test]
fn a_clock_that_is_set_back_or_far_ahead_breaks_no_chain() {
    let folder = Project::new();
    let path = folder.path("events.jsonl");
    let month = Rotation { size: None, age: Some(Duration::from_secs(30 * 86_400)) };
    let log = Log::open(&path, Some(key()), month).unwrap();
    add(&log, 2);
    for (began, files) in [(u64::MAX, 1), (0, 2)] {
        let Found::Good(head) = Head::read(&log.head, Some(&key()), None).unwrap() else {
            panic!()
        };
        Head { began, ..head }.write(&log.head, Some(&key())).unwrap();
        add(&log, 1);
        let seen = verify(&path, Some(&key()), 1).unwrap();
        assert!(seen.is_intact() && seen.files == files, "{began}: {seen:?}");
    }
    let at = SystemTime::UNIX_EPOCH.checked_sub(Duration::from_secs(99)).unwrap();
    log.append(&[Event { at, ..event("1") }], Durable::No).unwrap();
    assert_eq!(codes(&path), [""; 0]);
}

#[test]
fn a_head_at_the_end_of_all_numbers_is_not_believed() {
    let folder = Project::new();
    let path = folder.path("events.jsonl");
    add(&open(&path), 1);
    let file = File::options().read(true).write(true).open(head::beside(&path)).unwrap();
    let head = match Head::read(&file, Some(&key()), None).unwrap() {
        Found::Good(head) | Found::Foreign(head) => head,
        Found::Damaged | Found::Nothing => Head::start(0, 0),
    };
    // Where there is nothing else to go by, what somebody else says is believed.
    fs::write(&path, "").unwrap();
    let head = Head { sequence: u64::MAX, length: 0, ..head };
    head.write(&file, Some(&Key::new([8; 32]))).unwrap();
    add(&open(&path), 1);
    assert!(fs::read_to_string(&path).unwrap().contains("damaged"));
}
