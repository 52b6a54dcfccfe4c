//! Any bytes as an HTTP request: in whatever pieces they come they are read alike, what is passed on
//! says the same and has one reading, and a refusal is one answer.
#![no_main]

use libfuzzer_sys::fuzz_target;
use palisade_gate::http::{Fault, Head, Header, Reader, Reading, Target, refuse, to_server};

fuzz_target!(|bytes: &[u8]| {
    let all = Reader::default().read(bytes);
    let mut reader = Reader::default();
    let step = usize::from(bytes.last().copied().unwrap_or_default()) % 8 + 1;
    let ends = (0..bytes.len()).step_by(step).chain([bytes.len()]);
    let first =
        ends.map(|end| reader.read(&bytes[..end])).find(|read| *read != Ok(Reading::NeedMore));
    assert_eq!(first.unwrap_or(Ok(Reading::NeedMore)), all);
    match all {
        Ok(Reading::Head(head)) => check(&head, bytes),
        Ok(Reading::NeedMore | Reading::Http2Preface) => {}
        Err(fault) => {
            let answer = refuse(fault.status(), fault.code(), &String::from_utf8_lossy(bytes));
            let answer = String::from_utf8(answer).expect("it is text");
            let (head, body) = answer.split_once("\r\n\r\n").expect("it has a head");
            assert!(head.contains(&format!("\r\nContent-Length: {}\r\n", body.len())));
            assert!(!body.trim_end_matches('\n').contains(char::is_control), "{body:?}");
        }
    }
});

fn check(head: &Head, bytes: &[u8]) {
    assert!(bytes[..head.length].ends_with(b"\r\n\r\n"));
    let Some(written) = to_server(head) else {
        return assert_eq!(head.target, Target::Connect);
    };
    let again = match Reader::default().read(&written) {
        Ok(Reading::Head(again)) => again,
        // Two headers more than there were.
        Err(Fault::Long) => return,
        other => panic!("{}: {other:?}", written.escape_ascii()),
    };
    assert_eq!(again.length, written.len());
    assert_eq!(again.authority, head.authority);
    assert_eq!((&again.method, again.version, again.body), (&head.method, head.version, head.body));
    let path = |target: &Target| match target {
        Target::Absolute(path) | Target::Origin(path) => path.clone(),
        Target::Asterisk | Target::Connect => b"*".to_vec(),
    };
    assert_eq!(path(&again.target), path(&head.target));
    let private = |header: &Header| header.name.to_ascii_lowercase().starts_with("proxy-");
    assert!(!again.headers.iter().any(private));
    assert_eq!(to_server(&again), Some(written));
}
