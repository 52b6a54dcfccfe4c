//! Whatever is done to a log is found, and whoever is ended while writing leaves one that holds.

use proptest::prelude::*;

use super::*;

/// What somebody does to the files of a log.
#[derive(Clone, Debug)]
enum Change {
    Flip { byte: prop::sample::Index, bit: u8 },
    Drop { line: prop::sample::Index },
    Swap { one: prop::sample::Index, other: prop::sample::Index },
    Copy { line: prop::sample::Index, to: prop::sample::Index },
    Truncate { at: prop::sample::Index },
    FlipHead { byte: prop::sample::Index, bit: u8 },
}

fn change() -> impl Strategy<Value = Change> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        (index(), 0..8u8).prop_map(|(byte, bit)| Change::Flip { byte, bit }),
        index().prop_map(|line| Change::Drop { line }),
        (index(), index()).prop_map(|(one, other)| Change::Swap { one, other }),
        (index(), index()).prop_map(|(line, to)| Change::Copy { line, to }),
        index().prop_map(|at| Change::Truncate { at }),
        (index(), 0..8u8).prop_map(|(byte, bit)| Change::FlipHead { byte, bit }),
    ]
}

/// Changes a log; none if the change changes nothing.
fn changed(text: &[u8], head: &[u8], change: &Change) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let (mut text, mut head) = (text.to_vec(), head.to_vec());
    let before = (text.clone(), head.clone());
    match change {
        Change::Flip { byte, bit } => text[byte.index(before.0.len())] ^= 1 << bit,
        Change::FlipHead { byte, bit } => head[byte.index(before.1.len())] ^= 1 << bit,
        Change::Truncate { at } => text.truncate(at.index(before.0.len())),
        Change::Drop { line } => {
            lines.remove(line.index(lines.len()));
            text = lines.concat();
        }
        Change::Swap { one, other } => {
            let count = lines.len();
            lines.swap(one.index(count), other.index(count));
            text = lines.concat();
        }
        Change::Copy { line, to } => {
            let copy = lines[line.index(lines.len())];
            lines.insert(to.index(lines.len()), copy);
            text = lines.concat();
        }
    }
    ((&text, &head) != (&before.0, &before.1)).then_some((text, head))
}

fn written(records: usize) -> (Project, Vec<u8>, Vec<u8>) {
    let folder = Project::new();
    let path = folder.path("events.jsonl");
    add(&open(&path), records);
    let read = |path: &Path| fs::read(path).unwrap();
    let (text, head) = (read(&path), read(&head::beside(&path)));
    (folder, text, head)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn every_change_is_found(records in 1..8usize, change in change()) {
        let (folder, text, head) = written(records);
        let path = folder.path("events.jsonl");
        prop_assert!(codes(&path).is_empty());
        if let Some((text, head)) = changed(&text, &head, &change) {
            fs::write(&path, text).unwrap();
            fs::write(head::beside(&path), head).unwrap();
            prop_assert!(!codes(&path).is_empty(), "{:?}", change);
            // Nor does writing on cover it up.
            add(&open(&path), 2);
            prop_assert!(!codes(&path).is_empty(), "{:?}, and then written on", change);
        }
    }
}

/// A process that is ended has written some of its bytes, and then perhaps the head.
#[test]
fn whoever_is_ended_at_any_byte_leaves_a_log_that_holds() {
    let (before, old, old_head) = written(2);
    drop(before);
    let folder = Project::new();
    let path = folder.path("events.jsonl");
    fs::write(&path, &old).unwrap();
    fs::write(head::beside(&path), &old_head).unwrap();
    add(&open(&path), 1);
    let new = fs::read(&path).unwrap();
    assert!(new.starts_with(&old) && new.len() > old.len());
    for end in old.len()..=new.len() {
        fs::write(&path, &new[..end]).unwrap();
        fs::write(head::beside(&path), &old_head).unwrap();
        let seen = verify(&path, Some(&key()), 1).unwrap();
        assert!(seen.is_intact(), "{end}: {seen:?}");
        let missing = end > old.len() && end < new.len();
        assert_eq!(seen.notes.iter().any(|note| note.contains("part of a record")), missing);
        add(&open(&path), 1);
        let seen = verify(&path, Some(&key()), 1).unwrap();
        assert!(seen.is_intact(), "{end}, and then written on: {seen:?}");
        assert_eq!(seen.notes.iter().any(|note| note.contains("cut short")), missing);
    }
}

/// Who can write but has no key can make a chain, and not its signatures.
#[test]
fn a_chain_that_somebody_else_made_is_found() {
    let folder = Project::new();
    let path = folder.path("events.jsonl");
    let other = Log::open(&path, Some(Key::new([9; 32])), Rotation::default()).unwrap();
    add(&other, 3);
    let forged = ["forged", "forged", "forged", "forged", "head"];
    assert_eq!(codes(&path), forged);
    fs::remove_file(&path).unwrap();
    fs::remove_file(head::beside(&path)).unwrap();
    add(&Log::open(&path, None, Rotation::default()).unwrap(), 3);
    assert_eq!(codes(&path), forged, "nor one without signatures");
    assert!(verify(&path, None, 1).unwrap().is_intact(), "without a key there is a chain");
}
