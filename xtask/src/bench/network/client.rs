//! The client, which runs inside sandboxes: `bench --client HOST PORT KIND COUNT`.

use std::io::{self, Read as _, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::server::{give, take};
use crate::failure::Failure;
use crate::finding::Ending;

/// Connections that stand at once, of those that are many.
pub(super) const AT_ONCE: usize = 400;

/// How long the client stays when all is done, so its sandbox can be looked at.
const STAY: Duration = Duration::from_secs(1);

pub(in super::super) fn run(words: &[String], out: &mut dyn Write) -> Result<Ending, Failure> {
    let [host, port, kind, count] = words else {
        return Err(Failure::new("usage: bench --client HOST PORT KIND COUNT"));
    };
    let number = |text: &str| text.parse::<u64>().unwrap_or(0);
    let server = Server { host, port: u16::try_from(number(port)).unwrap_or(0) };
    let said = match kind.as_str() {
        "first" => first(&server, number(count)),
        "down" => timed(|| {
            server.ask(b'd', number(count)).and_then(|mut it| take(&mut it, number(count)))
        }),
        "up" => timed(|| server.up(number(count))),
        _ => many(&server, number(count)),
    };
    let said = said.map_err(|error| Failure::io(format!("{kind} of {host}"), &error))?;
    writeln!(out, "{said}")?;
    out.flush()?;
    if kind == "many" {
        thread::sleep(STAY);
    }
    Ok(Ending::Clean)
}

/// Connects, asks and reads a byte, again and again: microseconds of each.
fn first(server: &Server<'_>, count: u64) -> io::Result<String> {
    let mut times = Vec::new();
    for _ in 0..count {
        let begun = Instant::now();
        server.up(0)?;
        times.push(begun.elapsed().as_micros().to_string());
    }
    Ok(times.join(" "))
}

/// Microseconds of one thing.
fn timed(thing: impl FnOnce() -> io::Result<()>) -> io::Result<String> {
    let begun = Instant::now();
    thing()?;
    Ok(begun.elapsed().as_micros().to_string())
}

/// Connections that stand at the same time, and how many of them were answered.
fn many(server: &Server<'_>, count: u64) -> io::Result<String> {
    let answered = AtomicUsize::new(0);
    let each = usize::try_from(count).unwrap_or(0).div_ceil(AT_ONCE);
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            let small = thread::Builder::new().stack_size(128 * 1024);
            let body = || {
                for _ in 0..each {
                    if server.up(1000).is_ok() {
                        answered.fetch_add(1, Ordering::Relaxed);
                    }
                }
            };
            small.spawn_scoped(scope, body)?;
        }
        io::Result::Ok(())
    })?;
    Ok(answered.into_inner().to_string())
}

struct Server<'a> {
    host: &'a str,
    port: u16,
}

impl Server<'_> {
    /// Sends as many bytes, and waits until they are there.
    fn up(&self, count: u64) -> io::Result<()> {
        let mut stream = self.ask(b'u', count)?;
        give(&mut stream, count)?;
        stream.read_exact(&mut [0])
    }

    fn ask(&self, kind: u8, count: u64) -> io::Result<TcpStream> {
        let mut stream = self.connect()?;
        stream.set_nodelay(true)?;
        let mut head = vec![kind];
        head.extend(count.to_le_bytes());
        stream.write_all(&head)?;
        Ok(stream)
    }

    /// Connects, through a proxy where `PALISADE_BENCH_PROXY` names the variable that names one.
    fn connect(&self) -> io::Result<TcpStream> {
        let Some(variable) = std::env::var_os("PALISADE_BENCH_PROXY") else {
            return TcpStream::connect((self.host, self.port));
        };
        let proxy = std::env::var(&variable).map_err(io::Error::other)?;
        let proxy = proxy.trim_start_matches("http://").trim_end_matches('/');
        let (who, proxy) =
            proxy.rsplit_once('@').map_or((None, proxy), |(who, at)| (Some(who), at));
        let mut stream = TcpStream::connect(proxy)?;
        let target = format!("{}:{}", self.host, self.port);
        let leave = who.map_or_else(String::new, |who| {
            format!("Proxy-Authorization: Basic {}\r\n", base64(&unescaped(who)))
        });
        let head = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{leave}\r\n");
        stream.write_all(head.as_bytes())?;
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte)?;
            answer.extend(byte);
        }
        if answer.starts_with(b"HTTP/1.1 200") {
            Ok(stream)
        } else {
            Err(io::Error::other(String::from_utf8_lossy(&answer).into_owned()))
        }
    }
}

/// Reads `%3D` and the like as the bytes that they stand for.
fn unescaped(text: &str) -> Vec<u8> {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (code, rest) = part.split_at_checked(2).unwrap_or((part, ""));
        bytes.extend(u8::from_str_radix(code, 16));
        bytes.extend(rest.bytes());
    }
    bytes
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let number = (0..3).fold(0_usize, |number, place| {
            number << 8 | three.get(place).copied().map_or(0, usize::from)
        });
        for place in 0..4 {
            let letter = LETTERS.get(number >> (18 - 6 * place) & 63).copied().unwrap_or_default();
            text.push(if place > three.len() { '=' } else { char::from(letter) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_a_proxy_is_told_as_it_expects() {
        assert_eq!(base64(&unescaped("a.b%3D:c")), "YS5iPTpj");
        assert_eq!(base64(b"ab"), "YWI=");
    }
}
