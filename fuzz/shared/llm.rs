//! Any bytes as an answer of one API: it comes out the same however it is cut, what is allowed passes
//! as it came, and where every call is refused none is left.

use palisade_gate::llm::{Api, By, Call, OnRefusal, Reader, Ruling, STATE, calls};

pub(crate) fn check(api: Api, bytes: &[u8]) {
    for on in [OnRefusal::Answer, OnRefusal::Retry] {
        for refuse in [false, true] {
            let whole = read(api, on, refuse, &[bytes]);
            for cut in [bytes.len() / 3, bytes.len() / 2, bytes.len().saturating_sub(1)] {
                assert_eq!(read(api, on, refuse, &[&bytes[..cut], &bytes[cut..]]), whole);
            }
            if let (true, Some(out)) = (refuse, whole)
                && let Ok(left) = calls(api, &out)
            {
                assert!(left.iter().all(|call| call.by == By::Server), "{left:?}");
            }
        }
    }
}

fn read(api: Api, on: OnRefusal, refuse: bool, pieces: &[&[u8]]) -> Option<Vec<u8>> {
    let mut judge = |call: &Call| {
        assert!(call.inner().len() <= 129);
        if refuse { Ruling::Swallow("no".into()) } else { Ruling::Release }
    };
    let mut reader = Reader::new(api, on);
    let mut out = Vec::new();
    for piece in pieces {
        out.extend(reader.push(piece, &mut judge).ok()?);
        assert!(out.len() <= STATE);
    }
    out.extend(reader.end(&mut judge).ok()?.0);
    out.extend(reader.give_up("the end"));
    Some(out)
}
