//! What a TLS server says first: does it ask for the client's first message once more?

use crate::bytes::Bytes;

/// How many bytes are looked at. One that has not said it by then never does.
pub const LONGEST_ANSWER: usize = 512;

/// The random number that says so (RFC 8446, section 4.1.3).
const RETRY: [u8; 32] = [
    0xCF, 0x21, 0xAD, 0x74, 0xE5, 0x9A, 0x61, 0x11, 0xBE, 0x1D, 0x8C, 0x02, 0x1E, 0x65, 0xB8, 0x91,
    0xC2, 0xA2, 0x11, 0x16, 0x7A, 0xBB, 0x8C, 0x5E, 0x07, 0x9E, 0x09, 0xE2, 0xC8, 0xA8, 0x33, 0x9C,
];

/// What a server answers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Answer {
    /// It is not all there.
    NeedMore,
    /// The client is to send its first message again, with something changed.
    Retry,
    /// Anything else.
    Other,
}

/// Reads what a server has said so far, from the first byte on.
pub fn read_answer(bytes: &[u8]) -> Answer {
    let answer = read(bytes);
    // More is not kept for it.
    if answer == Answer::NeedMore && bytes.len() >= LONGEST_ANSWER { Answer::Other } else { answer }
}

fn read(bytes: &[u8]) -> Answer {
    const ALERT: u8 = 21;
    const HANDSHAKE: u8 = 22;
    const SERVER_HELLO: u8 = 2;
    let mut bytes = Bytes::new(bytes);
    let mut joined: Vec<u8> = Vec::new();
    loop {
        let Some(kind) = bytes.u8() else { return Answer::NeedMore };
        if kind != HANDSHAKE && kind != ALERT {
            return Answer::Other;
        }
        let (Some(_), Some(length)) = (bytes.u16(), bytes.u16()) else { return Answer::NeedMore };
        let whole = bytes.take(length.into());
        // It may warn of something first.
        if kind == HANDSHAKE {
            joined.extend(whole.unwrap_or(bytes.rest()));
        }
        if joined.first().is_some_and(|kind| *kind != SERVER_HELLO) {
            return Answer::Other;
        }
        // Behind kind, length and version.
        if let Some(random) = joined.get(6..38) {
            return if random == RETRY { Answer::Retry } else { Answer::Other };
        }
        if whole.is_none() {
            return Answer::NeedMore;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u8, bytes: &[u8]) -> Vec<u8> {
        let length = u16::try_from(bytes.len()).unwrap().to_be_bytes();
        [&[kind, 3, 3], &length[..], bytes].concat()
    }

    fn hello(random: [u8; 32]) -> Vec<u8> {
        [&[2, 0, 0, 76, 3, 3], &random[..], &[0; 42]].concat()
    }

    #[test]
    fn a_server_that_asks_again_is_seen_however_its_words_are_cut() {
        let warned = [record(21, &[1, 112]), record(22, &hello(RETRY))].concat();
        let torn: Vec<u8> = hello(RETRY).chunks(1).flat_map(|it| record(22, it)).collect();
        for bytes in [record(22, &hello(RETRY)), warned, torn] {
            let said: Vec<_> = (0..=bytes.len()).map(|end| read_answer(&bytes[..end])).collect();
            assert_eq!(said.last(), Some(&Answer::Retry));
            assert!(said.iter().all(|it| matches!(it, Answer::NeedMore | Answer::Retry)));
        }
    }

    #[test]
    fn whatever_else_it_says_is_something_else() {
        let mut almost = RETRY;
        almost[31] ^= 1;
        let cases = [
            record(22, &hello([7; 32])),
            record(22, &hello(almost)),
            record(22, &[11, 0, 0, 1, 0]),
            record(23, &hello(RETRY)),
            b"HTTP/1.1 400 Bad Request".to_vec(),
            record(22, &[]).repeat(200),
            record(21, &[1, 0]).repeat(200),
        ];
        for bytes in cases {
            assert_eq!(read_answer(&bytes), Answer::Other, "{}", bytes.escape_ascii());
        }
    }
}
