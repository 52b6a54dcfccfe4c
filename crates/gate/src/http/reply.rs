//! The head of a server's answer, as far as somebody has to know where the answer ends.
//!
//! The server is one that may be reached, and each of its connections carries one request: what
//! cannot be read here is passed on until it ends, and nothing follows it.

use super::head::LONGEST;

/// The head of an answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Reply {
    /// The status, such as 200.
    pub status: u16,
    /// How far the body reaches.
    pub extent: Extent,
    /// How many bytes the head takes.
    pub length: usize,
    /// The first line and the headers, without those between server and proxy.
    lines: Vec<u8>,
}

/// How far the body of an answer reaches.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Extent {
    /// So many bytes; none if there is no body.
    Length(u64),
    /// There are pieces, each with its length.
    Chunked,
    /// Until the connection ends.
    End,
}

/// How far an answer has come.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Answered {
    /// More of its head has to come.
    NeedMore,
    /// The head is whole.
    Reply(Reply),
    /// It is none that can be read.
    Unreadable,
}

/// Reads the start of an answer to a request; to one for a head alone, no body follows.
pub fn read_reply(bytes: &[u8], is_head_asked: bool) -> Answered {
    const START: &[u8] = b"HTTP/1.";
    let known = bytes.len().min(START.len());
    if bytes.get(..known) != START.get(..known) {
        return Answered::Unreadable;
    }
    let Some(length) = end(bytes) else {
        return if bytes.len() < LONGEST { Answered::NeedMore } else { Answered::Unreadable };
    };
    let head = bytes.get(..length).unwrap_or_default();
    reply(head, length, is_head_asked).map_or(Answered::Unreadable, Answered::Reply)
}

impl Reply {
    /// Writes the head for the client, which is told whether another request may follow.
    pub fn to_client(&self, follows: Follows) -> Vec<u8> {
        let mut out = self.lines.clone();
        out.extend(match follows {
            Follows::Another => &b"\r\n"[..],
            Follows::Nothing => b"Connection: close\r\n\r\n",
        });
        out
    }
}

/// What comes behind an answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Follows {
    /// Another request may.
    Another,
    /// The connection ends.
    Nothing,
}

/// Returns where the empty line ends that ends the head.
fn end(bytes: &[u8]) -> Option<usize> {
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let mut ends = ends.map(|(place, _)| place.saturating_add(1));
    ends.find(|end| {
        let head = bytes.get(..*end).unwrap_or_default();
        head.ends_with(b"\n\r\n") || head.ends_with(b"\n\n")
    })
}

fn reply(head: &[u8], length: usize, is_head_asked: bool) -> Option<Reply> {
    let mut all = head.split(|byte| *byte == b'\n');
    let mut all = all.by_ref().map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    // Some clients take a line to end there, and would read another answer than is read here.
    if head.windows(2).any(|two| matches!(two, [b'\r', after] if *after != b'\n'))
        || head.contains(&0)
    {
        return None;
    }
    let first = all.next()?;
    let is_old = first.starts_with(b"HTTP/1.0");
    let digits = first.get(8..12)?.strip_prefix(b" ")?;
    let status: u16 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    let mut lines = [first, b"\r\n"].concat();
    let (mut lengths, mut codings) = (Vec::new(), Vec::new());
    for line in all.take_while(|line| !line.is_empty()) {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (name, value) = line.split_at_checked(colon)?;
        let value = value.strip_prefix(b":")?.trim_ascii();
        match &*name.to_ascii_lowercase() {
            b"connection" | b"keep-alive" | b"proxy-connection" | b"upgrade" => continue,
            b"content-length" => lengths.push(value),
            b"transfer-encoding" => codings.push(value),
            _ => {}
        }
        lines.extend([line, b"\r\n"].concat());
    }
    let number = |text: &&[u8]| {
        // `parse` alone would take a sign.
        let text =
            std::str::from_utf8(text).ok().filter(|it| it.bytes().all(|b| b.is_ascii_digit()));
        text?.parse::<u64>().ok()
    };
    let extent = match (&*codings, &*lengths) {
        _ if is_head_asked || matches!(status, 100..=199 | 204 | 304) => Extent::Length(0),
        // Of HTTP/1.0 some clients do not know pieces.
        ([coding], []) if coding.eq_ignore_ascii_case(b"chunked") && !is_old => Extent::Chunked,
        ([], [length]) => number(length).map_or(Extent::End, Extent::Length),
        _ => Extent::End,
    };
    Some(Reply { status, extent, length, lines })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Reply {
        match read_reply(text.as_bytes(), false) {
            Answered::Reply(reply) => reply,
            other @ (Answered::NeedMore | Answered::Unreadable) => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn where_an_answer_ends_is_found() {
        #[rustfmt::skip]
        let cases = [
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",                 Extent::Length(5)),
            ("HTTP/1.0 200\r\nX: y\r\n\r\n",                                      Extent::End),
            ("HTTP/1.1 200 OK\nContent-Length: 5\n\n",                            Extent::Length(5)),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n",             Extent::Chunked),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",       Extent::End),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", Extent::End),
            ("HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\n",                    Extent::End),
            ("HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\n",                    Extent::End),
            ("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",             Extent::End),
            ("HTTP/1.1 204 No\r\n\r\n",                                           Extent::Length(0)),
            ("HTTP/1.1 304 Not\r\nContent-Length: 9\r\n\r\n",                     Extent::Length(0)),
        ];
        for (text, extent) in cases {
            assert_eq!(read(text).extent, extent, "{text}");
            for end in 0..text.find("\r\n\r\n").unwrap_or(0) {
                assert_eq!(read_reply(&text.as_bytes()[..end], false), Answered::NeedMore);
            }
        }
        let head = read_reply(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", true);
        assert!(matches!(head, Answered::Reply(Reply { extent: Extent::Length(0), .. })));
    }

    #[test]
    fn what_is_between_server_and_proxy_stays_there() {
        let text = "HTTP/1.1 200 OK\r\nConnection: close\r\nA: b\r\nKeep-Alive: x\r\n\r\n";
        let reply = read(text);
        assert_eq!(reply.to_client(Follows::Another), b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n");
        let closed = b"HTTP/1.1 200 OK\r\nA: b\r\nConnection: close\r\n\r\n";
        assert_eq!(reply.to_client(Follows::Nothing), closed);
    }

    #[test]
    fn what_is_no_answer_is_not_read() {
        for text in [
            "SSH-2.0-x\r\n",
            "HTTP/2 200\r\n\r\n",
            "HTTP/1.1 abc\r\n\r\n",
            "HTTP/1.1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX: y\rContent-Length: 5\r\nContent-Length: 9\r\n\r\n",
        ] {
            assert_eq!(read_reply(text.as_bytes(), false), Answered::Unreadable, "{text}");
        }
        let long = [b"HTTP/1.1 200 OK\r\n".to_vec(), vec![b'a'; LONGEST]].concat();
        assert_eq!(read_reply(&long, false), Answered::Unreadable);
    }
}
