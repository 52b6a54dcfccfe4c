//! What somebody without the key puts into a log, or behind its head.

use std::io::Write as _;

use super::*;
use crate::stamp::Stamp;

/// Makes a record that follows on the last one of a text, as somebody without the key can.
fn forged(text: &[u8], key: Option<&Key>) -> String {
    let last = text.trim_ascii_end().split(|byte| *byte == b'\n').next_back().unwrap();
    let before = Stamp::read(last).unwrap().sequence;
    let stamp = Stamp { sequence: before + 1, previous: Hash::of(last) };
    let mut line = String::new();
    stamp.put(event("forged").line().trim_end(), &mut line);
    seal::put(&mut line, 0, key);
    line + "\n"
}

fn append(path: &Path, text: &str) {
    File::options().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

#[test]
fn records_behind_the_head_that_the_key_did_not_seal_are_never_taken() {
    for key_of_theirs in [None, Some(Key::new([9; 32]))] {
        for count in [1, 2, 16, 17] {
            let folder = Project::new();
            let path = folder.path("events.jsonl");
            add(&open(&path), 3);
            for _ in 0..count {
                append(&path, &forged(&fs::read(&path).unwrap(), key_of_theirs.as_ref()));
            }
            assert_eq!(codes(&path), vec!["forged"; count], "at once");
            add(&open(&path), 2);
            let seen = verify(&path, Some(&key()), 1).unwrap();
            let found: Vec<_> = seen.problems.iter().map(|it| it.code).collect();
            assert_eq!(found, [vec!["forged"; count], vec!["unheaded"]].concat(), "{seen:?}");
            // Three and the first signature, what was found, and two: the chain goes on without them.
            assert_eq!((seen.records, seen.last), (7, Some(7)));
            // They are still there, for whoever wants to know.
            let text = fs::read_to_string(&path).unwrap();
            assert_eq!(text.matches("\"run\":\"forged\"").count(), count);
            assert!(!verify(&path, None, 1).unwrap().is_intact(), "nor without a key");
        }
    }
}

#[test]
fn records_of_ours_that_no_head_speaks_of_are_taken_whole() {
    let folder = Project::new();
    let path = folder.path("events.jsonl");
    add(&open(&path), 3);
    let old = fs::read(head::beside(&path)).unwrap();
    add(&open(&path), 1);
    fs::write(head::beside(&path), &old).unwrap();
    let seen = verify(&path, Some(&key()), 1).unwrap();
    assert_eq!((seen.problems.len(), seen.notes.len()), (0, 1), "{seen:?}");
    let without = verify(&path, None, 1).unwrap();
    assert_eq!(without.problems[0].code, "unheaded", "without a key nothing shows whose it is");
    add(&open(&path), 1);
    assert_eq!(codes(&path), [""; 0]);
    // More than one writer leaves there: somebody put an old head back, and nothing is lost of it.
    let (old, many) = (fs::read(head::beside(&path)).unwrap(), usize::try_from(BATCH).unwrap() + 1);
    add(&open(&path), many);
    fs::write(head::beside(&path), &old).unwrap();
    assert_eq!(codes(&path), ["ahead"]);
    add(&open(&path), 1);
    let seen = verify(&path, Some(&key()), 1).unwrap();
    assert_eq!(seen.last, Some(6 + BATCH + 1 + 2), "{seen:?}");
    assert!(seen.problems[0].message.contains("the head was old"), "{seen:?}");
}

#[test]
fn forged_records_are_not_taken_where_the_head_is_gone_or_forged_too() {
    for theirs in [None, Some(Key::new([9; 32]))] {
        let folder = Project::new();
        let path = folder.path("events.jsonl");
        add(&open(&path), 3);
        fs::remove_file(head::beside(&path)).unwrap();
        match &theirs {
            None => append(&path, &forged(&fs::read(&path).unwrap(), None)),
            Some(key) => {
                add(&Log::open(&path, Some(key.clone()), Rotation::default()).unwrap(), 1);
            }
        }
        add(&open(&path), 1);
        let seen = verify(&path, Some(&key()), 1).unwrap();
        let found: Vec<_> = seen.problems.iter().map(|it| it.code).collect();
        assert!(["forged", "head", "unheaded"].iter().all(|it| found.contains(it)), "{seen:?}");
        assert_eq!(seen.last, Some(6), "{seen:?}");
    }
}

#[test]
fn a_log_whose_end_and_head_are_gone_goes_on_behind_the_files_that_were_put_away() {
    let folder = Project::new();
    let path = folder.path("events.jsonl");
    let log = Log::open(&path, Some(key()), Rotation { size: Some(1000), age: None }).unwrap();
    add(&log, 12);
    let away = segments(&path).unwrap().iter().filter(|it| it.first.is_some()).count();
    assert!(away > 1);
    fs::remove_file(&path).unwrap();
    fs::remove_file(head::beside(&path)).unwrap();
    add(&open(&path), 2);
    assert_eq!(codes(&path), ["head"], "and it is told");
}

#[test]
fn what_is_written_behind_a_record_that_was_cut_is_a_record() {
    let folder = Project::new();
    let path = folder.path("events.jsonl");
    add(&open(&path), 3);
    let text = fs::read(&path).unwrap();
    fs::write(&path, &text[..text.len() - 20]).unwrap();
    add(&open(&path), 1);
    let seen = verify(&path, Some(&key()), 1).unwrap();
    assert_eq!(seen.last, Some(5), "{seen:?}");
    assert_eq!(codes(&path), ["no-record", "missing"]);
}

#[test]
fn many_events_at_once_are_written_in_parts_that_a_head_can_follow() {
    let folder = Project::new();
    let path = folder.path("events.jsonl");
    let events = vec![event("1"); 100];
    open(&path).append(&events, Durable::No).unwrap();
    let seen = verify(&path, Some(&key()), 1).unwrap();
    assert!(seen.is_intact() && seen.records == 101, "{seen:?}");
}
