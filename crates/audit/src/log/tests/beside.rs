//! What others put beside a log, hold of it, or could not write to it.

use super::*;
use crate::query;
use crate::verify::verify_beside;

fn open_beside(folder: &Project) -> Log {
    open(&folder.path("log/events.jsonl")).beside(Some(&folder.path("state/audit")))
}

fn seen(folder: &Project) -> crate::Verified {
    let path = folder.path("log/events.jsonl");
    verify_beside(&path, Some(&key()), 1, Some(&folder.path("state/audit"))).unwrap()
}

/// Whoever may read a log can hold the lock of its head, as a command in a sandbox can.
#[test]
fn who_reads_the_head_and_holds_its_lock_keeps_nothing_out_of_the_log() {
    let folder = Project::new();
    let log = open_beside(&folder);
    add(&log, 1);
    let reader = plain_reading(&folder.path("log/events.jsonl.head")).unwrap();
    for how in [FlockOperation::LockShared, FlockOperation::LockExclusive] {
        rustix::fs::flock(&reader, how).unwrap();
        add(&log, 10);
        add(&open_beside(&folder), 10);
        assert!(seen(&folder).is_intact());
    }
    assert_eq!(seen(&folder).last, Some(42));
}

#[test]
fn what_one_process_lost_the_next_one_tells() {
    let folder = Project::new();
    let (log, holder) = (open_beside(&folder), open_beside(&folder));
    add(&log, 1);
    let turn = &holder.beside.as_ref().unwrap().turn;
    rustix::fs::flock(turn, FlockOperation::LockExclusive).unwrap();
    for _ in 0..3 {
        assert!(open_beside(&folder).append(&[event("1"), event("1")], Durable::No).is_err());
    }
    rustix::fs::flock(turn, FlockOperation::Unlock).unwrap();
    add(&log, 1);
    add(&open_beside(&folder), 1);
    let seen = seen(&folder);
    assert!(seen.is_intact(), "{seen:?}");
    assert_eq!(seen.notes, ["6 events before record 3 could not be written"]);
}

#[test]
fn names_that_somebody_else_took_stop_neither_recording_nor_reading() {
    let folder = Project::new().dir("log");
    let path = folder.path("log/events.jsonl");
    let rotation = Rotation { size: Some(1000), age: None };
    for first in 1..400 {
        let name = segment::named(&path, first);
        match first % 4 {
            0 => fs::create_dir(&name).unwrap(),
            1 => rustix::fs::mkfifoat(rustix::fs::CWD, &name, Mode::from_raw_mode(0o600)).unwrap(),
            2 => symlink("/dev/zero", &name).unwrap(),
            _ => fs::write(&name, "no record\n".repeat(500)).unwrap(),
        }
    }
    let log = Log::open(&path, Some(key()), rotation).unwrap();
    add(&log, 40);
    let seen = verify(&path, Some(&key()), 1).unwrap();
    assert!(seen.is_intact() && seen.files > 3 && seen.records > 40, "{seen:?}");
    assert!(seen.notes.iter().any(|note| note.contains("passed over")), "{seen:?}");
    let mut found = 0;
    query::read(&path, Some(&key()), |_, value| {
        found += u32::from(value["event"] == "confirmation");
        std::ops::ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(found, 40);
    // A head that is gone is made up for by the last of ours, not by what lies behind it.
    fs::remove_file(head::beside(&path)).unwrap();
    fs::remove_file(&path).unwrap();
    let last = seen.last.unwrap();
    add(&Log::open(&path, Some(key()), rotation).unwrap(), 1);
    let text = fs::read_to_string(&path).unwrap();
    let first: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert!(first["sequence"].as_u64().unwrap() > 1, "{last}: {text}");
    // One of ours in whose place something else lies is missed.
    let ours = segments(&path).unwrap().into_iter().find(|it| {
        it.path.file_name().unwrap().to_string_lossy().contains('-')
            && it.first.is_some_and(|first| first > 1)
    });
    fs::write(ours.unwrap().path, "other\n").unwrap();
    let codes = codes(&path);
    assert!(codes.contains(&"missing"), "{codes:?}");
}

#[test]
fn a_head_that_is_no_file_is_told() {
    let folder = Project::new();
    let path = folder.path("events.jsonl");
    add(&open(&path), 3);
    fs::remove_file(head::beside(&path)).unwrap();
    fs::create_dir(head::beside(&path)).unwrap();
    assert_eq!(codes(&path), ["head"]);
}
