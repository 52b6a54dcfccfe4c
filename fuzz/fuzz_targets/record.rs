//! Any bytes as a file of records: lines are the same whatever is read at once, none is longer than a
//! record may be, and a stamp that is read stands in the line as it is written.
#![no_main]

use std::io::{self, BufReader};

use libfuzzer_sys::fuzz_target;
use palisade_audit::Stamp;
use palisade_audit::record::{LONGEST, Line, lines};

fn told(bytes: &[u8], at_once: usize) -> Vec<Option<Vec<u8>>> {
    let mut told = Vec::new();
    let reader = BufReader::with_capacity(at_once, bytes);
    let read = lines::<io::Error>(reader, |line| {
        told.push(match line {
            Line::Whole(line) => Some(line.to_vec()),
            Line::TooLong => None,
            Line::Torn(length) => Some(bytes[bytes.len() - length..].to_vec()),
        });
        Ok(())
    });
    assert!(read.is_ok());
    told
}

fuzz_target!(|bytes: &[u8]| {
    let found = told(bytes, 1 << 16);
    assert_eq!(found, told(bytes, 7));
    for line in found.iter().flatten() {
        assert!(line.len() <= LONGEST);
        if let Some(Stamp { sequence, previous }) = Stamp::read(line) {
            let start = format!("{{\"version\":1,\"sequence\":{sequence},\"previous\":\"{previous}\"");
            assert!(line.starts_with(start.as_bytes()));
        }
    }
});
