//! Where a body ends that comes in pieces (RFC 9112, section 7.1).

use super::fault::Fault;

/// Longest line with a piece's length, and longest end of a body.
const LONGEST_LINE: usize = 4096;

/// Follows a body of pieces, as its bytes come in.
///
/// By default it is the body of a request, behind whose last piece nothing may stand: some servers
/// take lines there for headers, such as `Host` or `Content-Length`, which nobody has judged.
#[derive(Clone, Debug, Default)]
pub struct Chunks {
    at: At,
    line: Vec<u8>,
    may_have_trailers: bool,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum At {
    /// In the line before a piece.
    #[default]
    Size,
    /// In a piece, with so many bytes left.
    Piece(u64),
    /// In the empty line behind a piece.
    Behind,
    /// In the lines behind the last piece.
    End,
    /// Behind all of it.
    Done,
}

impl Chunks {
    /// Follows the body of an answer, which may end in lines for the client.
    pub fn of_answer() -> Self {
        Self { may_have_trailers: true, ..Self::default() }
    }

    /// Takes bytes and returns how many of them belong to the body; all of them unless it ends.
    ///
    /// # Errors
    ///
    /// [`Fault::Framing`] for what no two readers need to understand in the same way, and
    /// [`Fault::Trailers`].
    pub fn take(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        let mut place = 0;
        while let Some(rest) = bytes.get(place..).filter(|rest| !rest.is_empty()) {
            match self.at {
                At::Done => break,
                At::Piece(left) => {
                    let here = u64::try_from(rest.len()).unwrap_or(u64::MAX).min(left);
                    place = place.saturating_add(usize::try_from(here).unwrap_or(usize::MAX));
                    self.at = match left.saturating_sub(here) {
                        0 => At::Behind,
                        left => At::Piece(left),
                    };
                }
                At::Size | At::Behind | At::End => {
                    let Some(byte) = rest.first() else { break };
                    place = place.saturating_add(1);
                    self.line.push(*byte);
                    if *byte == b'\n' {
                        let line = std::mem::take(&mut self.line);
                        self.at = self.next(&line)?;
                    } else if self.line.len() >= LONGEST_LINE {
                        return Err(Fault::Framing);
                    }
                }
            }
        }
        Ok(place)
    }

    /// Returns whether the body has ended.
    pub fn is_done(&self) -> bool {
        self.at == At::Done
    }

    fn next(&self, line: &[u8]) -> Result<At, Fault> {
        let line = line.strip_suffix(b"\r\n").ok_or(Fault::Framing)?;
        if line.contains(&b'\r') {
            return Err(Fault::Framing);
        }
        match (self.at, line) {
            (At::Behind, []) => Ok(At::Size),
            (At::End, []) => Ok(At::Done),
            (At::End, _) if self.may_have_trailers => Ok(At::End),
            (At::End, _) => Err(Fault::Trailers),
            (At::Size, line) => {
                let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
                // Extensions are read by some, and skipped by others.
                if digits == 0 || digits > 16 || digits != line.len() {
                    return Err(Fault::Framing);
                }
                let text = std::str::from_utf8(line).map_err(|_| Fault::Framing)?;
                match u64::from_str_radix(text, 16).map_err(|_| Fault::Framing)? {
                    0 => Ok(At::End),
                    left => Ok(At::Piece(left)),
                }
            }
            (At::Behind | At::Piece(_) | At::Done, _) => Err(Fault::Framing),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_ends_where_its_last_piece_does_however_it_is_cut() {
        let ends: [(Chunks, &[u8]); 2] =
            [(Chunks::default(), b""), (Chunks::of_answer(), b"X: y\r\nHost: b.test\r\n")];
        for (chunks, trailers) in ends {
            let body = [b"5\r\nhello\r\nA\r\n0123456789\r\n0\r\n", trailers, b"\r\n"].concat();
            let all = [&*body, b"GET / HTTP/1.1\r\n"].concat();
            for step in 1..all.len() {
                let mut chunks = chunks.clone();
                let mut taken = 0;
                for piece in all.chunks(step) {
                    taken += chunks.take(piece).unwrap();
                }
                assert_eq!((taken, chunks.is_done()), (body.len(), true), "{step}");
            }
        }
    }

    #[test]
    fn a_request_has_no_lines_behind_its_last_piece() {
        for trailer in ["X: y", "Host: b.test", "Content-Length: 9", "x", " "] {
            let body = format!("1\r\na\r\n0\r\n{trailer}\r\n\r\n");
            let taken = Chunks::default().take(body.as_bytes());
            assert_eq!(taken, Err(Fault::Trailers), "{trailer}");
        }
    }

    #[test]
    fn what_readers_disagree_about_is_no_body() {
        let long = vec![b'0'; LONGEST_LINE + 1];
        let cases: [&[u8]; 10] = [
            b"\r\n",
            b"5\nhello\n",
            b"5 \r\n",
            b"0x5\r\n",
            b"+5\r\n",
            b"5;a=b\r\n",
            b"g\r\n",
            b"11111111111111111\r\n",
            b"1\r\nab\r\n",
            &long,
        ];
        for case in cases {
            assert_eq!(Chunks::default().take(case), Err(Fault::Framing), "{case:?}");
        }
    }
}
