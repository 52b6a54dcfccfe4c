//! Sending something to an address, and waiting for its answer: plain HTTP/1.1, one request for each
//! connection, in bounded time and memory.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// The longest answer that is read.
const MOST: usize = 256 << 10;

/// What came back.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// Returns a header, if it is there once.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(had, _)| had.eq_ignore_ascii_case(name));
        let (_, value) = found.next()?;
        found.next().is_none().then_some(value)
    }
}

/// Sends a body, and returns the answer. Nobody waits longer than `time`, whatever the other side does,
/// or whoever resolves its name.
pub(crate) fn post(
    url: &str,
    headers: &[(&str, String)],
    body: &[u8],
    time: Duration,
) -> io::Result<Answer> {
    let Place { host, port, path } = Place::of(url)?;
    let mut request = format!(
        "POST {path} HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: {}\r\nConnection: close\r\n",
        body.len()
    );
    headers.iter().for_each(|(name, value)| request.push_str(&format!("{name}: {value}\r\n")));
    request.push_str("\r\n");
    let request = [request.as_bytes(), body].concat();
    let due = Instant::now() + time;
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::Builder::new().name("pal-http".into());
    thread.spawn(move || sender.send(exchange(&host, port, &request, due)).ok())?;
    receiver.recv_timeout(time).unwrap_or_else(|_| Err(late()))
}

fn late() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "there was no answer in time")
}

struct Place {
    host: String,
    port: u16,
    path: String,
}

impl Place {
    fn of(url: &str) -> io::Result<Self> {
        let wrong = |text| io::Error::new(io::ErrorKind::Unsupported, text);
        let rest = url.strip_prefix("http://");
        let rest = rest
            .ok_or_else(|| wrong("only http:// is spoken; let a service beside you speak TLS"))?;
        let at = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(at);
        let path = path.split('#').next().unwrap_or_default();
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => {
                (host, port.parse().map_err(|_| wrong("its port is no number"))?)
            }
            Some(_) | None => (authority, 80),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        Ok(Self { host, port, path })
    }
}

fn exchange(host: &str, port: u16, request: &[u8], due: Instant) -> io::Result<Answer> {
    let left = || {
        let left = due.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(late()) } else { Ok(left) }
    };
    let mut stream = Err(io::Error::new(io::ErrorKind::NotFound, "its name leads nowhere"));
    for address in (host, port).to_socket_addrs()? {
        stream = TcpStream::connect_timeout(&address, left()?);
        if stream.is_ok() {
            break;
        }
    }
    let mut stream = stream?;
    stream.set_write_timeout(Some(left()?))?;
    stream.write_all(request)?;
    let mut bytes = Vec::new();
    loop {
        if let Some(answer) = parse(&bytes, false)? {
            return Ok(answer);
        }
        stream.set_read_timeout(Some(left()?))?;
        let mut piece = [0; 8192];
        match stream.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => bytes.extend(piece.into_iter().take(read)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(late()),
            Err(error) => return Err(error),
        }
        if bytes.len() > MOST {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "its answer is too long"));
        }
    }
    parse(&bytes, true)?
        .ok_or_else(|| io::Error::new(io::ErrorKind::UnexpectedEof, "its answer is cut"))
}

/// Reads an answer; none if there is more to come.
fn parse(bytes: &[u8], ended: bool) -> io::Result<Option<Answer>> {
    let wrong = || io::Error::new(io::ErrorKind::InvalidData, "its answer is no HTTP");
    let Some(end) = bytes.windows(4).position(|it| it == b"\r\n\r\n") else { return Ok(None) };
    let (head, body) = bytes.split_at(end + 4);
    let head = std::str::from_utf8(head.get(..end).unwrap_or_default()).map_err(|_| wrong())?;
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().splitn(3, ' ');
    let (version, status) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    if !version.starts_with("HTTP/1.") {
        return Err(wrong());
    }
    let mut answer = Answer { status: status.parse().map_err(|_| wrong())?, ..Answer::default() };
    for line in lines {
        let (name, value) = line.split_once(':').ok_or_else(wrong)?;
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(wrong());
        }
        answer.headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let count = |name: &str| {
        answer.headers.iter().filter(|(had, _)| had.eq_ignore_ascii_case(name)).count()
    };
    // Who says in two ways how long it is would be read in two ways.
    if count("transfer-encoding") + count("content-length") > 1 {
        return Err(wrong());
    }
    let chunked = answer.header("transfer-encoding");
    if chunked.is_some_and(|it| !it.eq_ignore_ascii_case("chunked")) {
        return Err(wrong());
    }
    let chunked = chunked.is_some();
    let number = |it: &str| it.bytes().all(|it| it.is_ascii_digit()).then(|| it.parse().ok());
    let length = answer.header("content-length");
    let length: Option<usize> = match length {
        Some(length) => Some(number(length).flatten().ok_or_else(wrong)?),
        None => None,
    };
    answer.body = match (chunked, length) {
        (true, _) => match unchunked(body).ok_or_else(wrong)? {
            Some(body) => body,
            None => return Ok(None),
        },
        (false, Some(length)) => match body.get(..length) {
            Some(body) => body.to_vec(),
            None => return Ok(None),
        },
        (false, None) if ended || matches!(answer.status, 204 | 304) => body.to_vec(),
        (false, None) => return Ok(None),
    };
    Ok(Some(answer))
}

/// Puts chunks together: none if they are wrong, an inner none if there are more to come.
fn unchunked(mut rest: &[u8]) -> Option<Option<Vec<u8>>> {
    let mut body = Vec::new();
    loop {
        let Some(end) = rest.windows(2).position(|it| it == b"\r\n") else { return Some(None) };
        let size = std::str::from_utf8(rest.get(..end)?).ok()?;
        let size = size.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).ok().filter(|size| *size <= MOST)?;
        rest = rest.get(end + 2..)?;
        if size == 0 {
            return Some(Some(body));
        }
        let Some(chunk) = rest.get(..size) else { return Some(None) };
        body.extend(chunk);
        rest = rest.get(size..)?.strip_prefix(b"\r\n").unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_apart_and_only_plain_ones_are_spoken_to() {
        for (url, host, port, path) in [
            ("http://a.test", "a.test", 80, "/"),
            ("http://a.test:4318/v1/traces", "a.test", 4318, "/v1/traces"),
            ("http://[::1]:8/x?y#z", "::1", 8, "/x?y"),
            ("http://[::1]?y", "::1", 80, "/?y"),
        ] {
            let place = Place::of(url).unwrap();
            assert_eq!((&*place.host, place.port, &*place.path), (host, port, path), "{url}");
        }
        assert!(Place::of("https://a.test").is_err());
    }

    #[test]
    fn an_answer_is_read_whole_or_not_at_all() {
        let sized = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: y\r\n\r\nhi";
        let chunked =
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nh\r\n1;x\r\ni\r\n0\r\n\r\n";
        for whole in [&sized[..], chunked] {
            let answer = parse(whole, false).unwrap().unwrap();
            assert_eq!((answer.status, &*answer.body), (200, &b"hi"[..]));
        }
        for end in 0..sized.len() {
            assert_eq!(parse(&sized[..end], true).unwrap(), None, "{end}");
        }
        let until_close = b"HTTP/1.0 503 No\r\n\r\nhi";
        assert_eq!(parse(until_close, false).unwrap(), None);
        assert_eq!(parse(until_close, true).unwrap().unwrap().status, 503);
        for wrong in
            [&b"SSH-2.0\r\n\r\n"[..], b"HTTP/1.1 x\r\n\r\n", b"HTTP/1.1 200 OK\r\nX\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nh\r\n0\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nhi",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nhi",
            b"HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nhi",
            b"HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nhi"]
        {
            assert!(parse(wrong, true).is_err());
        }
    }

    #[test]
    fn who_says_nothing_is_not_waited_for() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let begun = Instant::now();
        let error = post(&url, &[], b"x", Duration::from_millis(200)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(begun.elapsed() < Duration::from_secs(10));
    }
}
