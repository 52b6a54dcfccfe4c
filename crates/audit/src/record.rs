//! Reading records: line by line, each no longer than we write them.

use std::io::{self, BufRead};

/// The longest line that is a record. What is written is cut to less.
pub const LONGEST: usize = 1 << 20;

/// What stands at some place of a log.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Line<'a> {
    /// A line, without its end.
    Whole(&'a [u8]),
    /// A line that is longer than any record.
    TooLong,
    /// Bytes behind the last line end.
    Torn(usize),
}

/// Tells of every line in turn, in bounded memory.
///
/// # Errors
///
/// When reading fails, or `tell` does.
pub fn lines<E: From<io::Error>>(
    mut reader: impl BufRead,
    mut tell: impl FnMut(Line<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut kept: Vec<u8> = Vec::new();
    let mut length = 0_usize;
    loop {
        let bytes = match reader.fill_buf() {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        if bytes.is_empty() {
            return if length > 0 { tell(Line::Torn(length)) } else { Ok(()) };
        }
        let mut rest = bytes;
        while let Some(end) = memchr(rest) {
            let (line, after) = rest.split_at(end);
            if length == 0 {
                tell(told(line))?;
            } else {
                keep(&mut kept, line);
                length = length.saturating_add(line.len());
                tell(if length > LONGEST { Line::TooLong } else { told(&kept) })?;
                kept.clear();
                length = 0;
            }
            rest = after.get(1..).unwrap_or_default();
        }
        keep(&mut kept, rest);
        length = length.saturating_add(rest.len());
        let all = bytes.len();
        reader.consume(all);
    }
}

fn told(line: &[u8]) -> Line<'_> {
    if line.len() > LONGEST { Line::TooLong } else { Line::Whole(line) }
}

/// Keeps no more than tells that it is too much.
fn keep(kept: &mut Vec<u8>, bytes: &[u8]) {
    let room = (LONGEST + 1).saturating_sub(kept.len());
    kept.extend(bytes.iter().take(room));
}

/// Finds the end of a line. Eight bytes at once, since most are not it.
fn memchr(bytes: &[u8]) -> Option<usize> {
    const ENDS: u64 = 0x0a0a_0a0a_0a0a_0a0a;
    let (words, _) = bytes.as_chunks::<8>();
    let has = |word: &[u8; 8]| {
        let x = u64::from_ne_bytes(*word) ^ ENDS;
        x.wrapping_sub(0x0101_0101_0101_0101) & !x & 0x8080_8080_8080_8080 != 0
    };
    let from = words.iter().position(has).unwrap_or(words.len()) * 8;
    let rest = bytes.get(from..)?;
    rest.iter().position(|byte| *byte == b'\n').map(|at| from + at)
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn told_of(bytes: &[u8], buffer: usize) -> Vec<String> {
        let mut told = Vec::new();
        let reader = BufReader::with_capacity(buffer, bytes);
        let all = lines::<io::Error>(reader, |line| {
            told.push(match line {
                Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                Line::TooLong => "too long".into(),
                Line::Torn(length) => format!("torn {length}"),
            });
            Ok(())
        });
        all.unwrap();
        told
    }

    #[test]
    fn lines_are_the_same_whatever_is_read_at_once() {
        let text = b"one\n\ntwo and a half, longer than eight\nthree";
        let expected = ["one", "", "two and a half, longer than eight", "torn 5"];
        for buffer in 1..40 {
            assert_eq!(told_of(text, buffer), expected, "{buffer}");
        }
        assert_eq!(told_of(b"", 8), [""; 0]);
        assert_eq!(told_of(b"x\n", 8), ["x"]);
    }

    #[test]
    fn a_line_that_is_too_long_takes_no_memory() {
        let long = [vec![b'x'; LONGEST + 1], b"\nshort\n".to_vec()].concat();
        for buffer in [4096, LONGEST * 2] {
            assert_eq!(told_of(&long, buffer), ["too long", "short"]);
        }
        let most = [vec![b'x'; LONGEST], b"\n".to_vec()].concat();
        assert_eq!(told_of(&most, 4096)[0].len(), LONGEST);
        assert_eq!(told_of(&vec![b'x'; LONGEST * 3], 4096), [format!("torn {}", LONGEST * 3)]);
    }
}
