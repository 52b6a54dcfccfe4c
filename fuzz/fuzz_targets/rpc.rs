//! Any bytes as lines of JSON-RPC: every line is bounded, what is read can be written and read again,
//! and what cannot be has a number of the standard.
#![no_main]

use std::io::BufReader;

use libfuzzer_sys::fuzz_target;
use palisade::rpc::{self, Line, Message};

fuzz_target!(|bytes: &[u8]| {
    const MOST: usize = 256;
    let mut from = BufReader::with_capacity(16, bytes);
    while let Ok(Some(line)) = rpc::next_line(&mut from, MOST) {
        let Line::Whole(line) = line else { continue };
        assert!(line.len() <= MOST && !line.contains(&b'\n'));
        match Message::read(&line) {
            Ok(Message::Request { id, method, params }) => {
                let again = serde_json::json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
                let read = Message::read(again.to_string().as_bytes());
                assert_eq!(read, Ok(Message::Request { id, method, params }));
            }
            Ok(Message::Notification { .. } | Message::Response { .. }) => {}
            Err(fault) => {
                assert!((-32700..=-32600).contains(&fault.code));
                assert!(fault.answer()["error"]["message"].is_string());
            }
        }
    }
});
