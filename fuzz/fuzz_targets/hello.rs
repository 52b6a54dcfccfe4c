//! Any bytes as the start of a TLS connection: what was said of the first of them stands when more
//! come, records may be cut anew, and what was understood can be said again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use palisade_gate::hello::{Answer, Hello, LONGEST, Reading, read, read_answer, read_first};

fuzz_target!(|bytes: &[u8]| {
    let all = read(bytes);
    let last = bytes.last().copied().unwrap_or_default();
    for end in (0..bytes.len()).step_by(usize::from(last) % 16 + 1) {
        let part = read(&bytes[..end]);
        assert!(part == Ok(Reading::NeedMore) || part == all, "{part:?}, then {all:?}");
    }
    let answer = read_answer(bytes);
    for end in (0..bytes.len()).step_by(usize::from(last) % 16 + 1) {
        let part = read_answer(&bytes[..end]);
        assert!(part == Answer::NeedMore || part == answer, "{part:?}, then {answer:?}");
    }
    let Ok(Reading::Hello(hello)) = all else { return };
    let length = read_first(bytes).expect("it was read").1;
    assert_eq!(read(&bytes[..length]), Ok(Reading::Hello(hello.clone())));
    assert_eq!(read(&bytes[..length - 1]), Ok(Reading::NeedMore));
    let message = write(&hello);
    // Names that make it longer than it may be were not all the message had.
    if message.len() > LONGEST {
        return;
    }
    for size in [usize::from(last) + 512, message.len()] {
        let cut: Vec<u8> = message.chunks(size).flat_map(record).collect();
        assert_eq!(read(&cut), Ok(Reading::Hello(hello.clone())));
    }
});

fn write(hello: &Hello) -> Vec<u8> {
    let mut extensions = Vec::new();
    if let Some(server) = &hello.server {
        let name = [&[0], &*long(server.as_str().as_bytes())].concat();
        extensions.extend([&[0, 0], &*long(&long(&name))].concat());
    }
    if !hello.protocols.is_empty() {
        let short = |name: &Vec<u8>| [&[name.len() as u8], &**name].concat();
        let list: Vec<u8> = hello.protocols.iter().flat_map(short).collect();
        extensions.extend([&[0, 16], &*long(&long(&list))].concat());
    }
    if hello.is_encrypted {
        extensions.extend([0xFE, 0x0D, 0, 0]);
    }
    let start = [&[3, 3][..], &[0; 32], &[0, 0, 2, 0x13, 1, 1, 0]].concat();
    let body = [start, long(&extensions)].concat();
    [&[1, 0], &*long(&body)].concat()
}

fn long(bytes: &[u8]) -> Vec<u8> {
    [&u16::try_from(bytes.len()).expect("it is bounded").to_be_bytes()[..], bytes].concat()
}

fn record(bytes: &[u8]) -> Vec<u8> {
    [&[22, 3, 1][..], &long(bytes)].concat()
}
