//! Keeping one end of a stream in bounded memory.

use std::collections::VecDeque;

use palisade_plan::Kept;

use super::outcome::Stream;

/// Bytes of a stream, never more than its cap.
#[derive(Debug)]
pub(super) struct Buffer {
    bytes: VecDeque<u8>,
    cap: usize,
    keep: Kept,
    dropped: u64,
}

impl Buffer {
    pub(super) fn new(cap: u64, keep: Kept) -> Self {
        let cap = usize::try_from(cap).unwrap_or(usize::MAX);
        Self { bytes: VecDeque::new(), cap, keep, dropped: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let kept = match self.keep {
            Kept::Head => bytes.get(..bytes.len().min(self.cap - self.bytes.len())),
            Kept::Tail => {
                let kept = bytes.get(bytes.len().saturating_sub(self.cap)..).unwrap_or_default();
                let over = (self.bytes.len() + kept.len()).saturating_sub(self.cap);
                self.bytes.drain(..over);
                self.dropped += over as u64;
                Some(kept)
            }
        };
        let kept = kept.unwrap_or_default();
        self.dropped += (bytes.len() - kept.len()) as u64;
        self.bytes.extend(kept);
    }

    /// Counts bytes that were not kept, and went elsewhere or nowhere.
    pub(super) fn lose(&mut self, bytes: u64) {
        self.dropped += bytes;
    }

    pub(super) fn finish(self) -> Stream {
        Stream { bytes: self.bytes.into(), dropped: self.dropped }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_end_is_kept_and_the_rest_is_counted() {
        #[rustfmt::skip]
        let cases: [(u64, Kept, &[&str], &str, u64); 8] = [
            (4, Kept::Head, &["abcdef"],        "abcd", 2),
            (4, Kept::Head, &["ab", "cd", "e"], "abcd", 1),
            (4, Kept::Head, &["abcd"],          "abcd", 0),
            (0, Kept::Head, &["abcd"],          "",     4),
            (4, Kept::Tail, &["abcdef"],        "cdef", 2),
            (4, Kept::Tail, &["ab", "cd", "e"], "bcde", 1),
            (4, Kept::Tail, &["abcd"],          "abcd", 0),
            (0, Kept::Tail, &["ab", "cd"],      "",     4),
        ];
        for (cap, keep, pushes, expected, dropped) in cases {
            let mut buffer = Buffer::new(cap, keep);
            pushes.iter().for_each(|bytes| buffer.push(bytes.as_bytes()));
            let stream = buffer.finish();
            assert_eq!((stream.bytes.as_slice(), stream.dropped), (expected.as_bytes(), dropped));
        }
    }
}
