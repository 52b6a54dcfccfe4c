//! Any bytes as events: the same events however they are cut, and every byte in exactly one of them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use palisade_gate::llm::sse::{Event, Splitter};

fuzz_target!(|bytes: &[u8]| {
    let whole = events(&[bytes]);
    for cut in 0..=bytes.len().min(64) {
        assert_eq!(events(&[&bytes[..cut], &bytes[cut..]]), whole);
    }
    let again: Vec<u8> = whole.into_iter().flat_map(|event| event.raw).collect();
    assert_eq!(again, bytes);
});

fn events(pieces: &[&[u8]]) -> Vec<Event> {
    let (mut splitter, mut events) = (Splitter::default(), Vec::new());
    pieces.iter().for_each(|piece| splitter.push(piece, |event| events.push(event)));
    let left = splitter.end(|event| events.push(event));
    events.extend(left);
    events
}
