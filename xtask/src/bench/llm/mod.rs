//! The LLM proxy: what it adds to each piece of an answer, to a call, and how many it carries.

mod model;

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::clock::{Spread, ms};
use crate::failure::Failure;

/// Streams that are many.
const MANY: usize = 1000;

/// A proxy that ends with the measurement.
struct Proxy(Child);

impl Drop for Proxy {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// What a client saw of one answer.
#[derive(Default)]
struct Seen {
    /// How long each piece of text was on its way.
    pieces: Vec<Duration>,
    /// How long the end of the call was.
    calls: Vec<Duration>,
    /// Answers that came whole.
    whole: usize,
}

pub(super) fn table(folder: &Path, rounds: usize) -> Result<String, Failure> {
    let start = Instant::now();
    let upstream = model::start(start).map_err(|error| Failure::io("cannot listen", &error))?;
    let (_judging, judging) = proxy(folder, upstream, &["--enable-sandboxing"])?;
    let (_passing, passing) = proxy(folder, upstream, &[])?;
    let ways = [
        ("direct", upstream),
        ("palisade proxy", judging),
        ("palisade proxy, judging off", passing),
    ];
    let mut seen: [Seen; 3] = Default::default();
    for _ in 0..rounds.max(3) {
        for ((_, port), seen) in ways.iter().zip(&mut seen) {
            seen.add(ask(*port, "one", start).unwrap_or_default());
        }
    }
    let spreads = |seen: &[Seen]| -> Vec<(Spread, Spread)> {
        let of = |seen: &Seen| (Spread::of(seen.pieces.clone()), Spread::of(seen.calls.clone()));
        seen.iter().map(of).collect()
    };
    let found = spreads(&seen);
    let mut page = format!(
        "## LLM proxy\n\nA model on the host's loopback that answers with {} pieces of text, 5 ms apart, and \
         one call; {} answers each way, in turns, of the same model to the same client. Times are from the \
         model's write to the client's read; \"added\" is to the direct connection's own at the same place. \
         The call is held until it is judged. Load while measuring: {}.\n\n\
         | What | pieces | p50 ms | p99 ms | p50 added ms | p99 added ms | calls | call p50 ms | p99 ms | p50 added ms |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        model::PIECES,
        rounds.max(3),
        load(),
    );
    let Some(&(base, base_call)) = found.first() else { return Ok(page) };
    for (((name, _), (piece, call)), seen) in ways.iter().zip(&found).zip(&seen) {
        page.push_str(&format!(
            "| {name} | {} | {:.3} | {:.3} | {:.3} | {:.3} | {} | {:.3} | {:.3} | {:.3} |\n",
            seen.pieces.len(),
            ms(piece.median),
            ms(piece.p99),
            ms(piece.median) - ms(base.median),
            ms(piece.p99) - ms(base.p99),
            seen.calls.len(),
            ms(call.median),
            ms(call.p99),
            ms(call.median) - ms(base_call.median),
        ));
    }
    page.push_str(&format!(
        "\n{MANY} streams at once, pieces 100 ms apart, of which so many came whole.\n\n\
         | What | whole | piece ms | p99 ms |\n| --- | ---: | ---: | ---: |\n",
    ));
    for (name, port) in ways {
        let seen = crowd(port, start);
        let piece = Spread::of(seen.pieces);
        let (median, p99) = (ms(piece.median), ms(piece.p99));
        page.push_str(&format!("| {name} | {} | {median:.3} | {p99:.3} |\n", seen.whole));
    }
    page.push('\n');
    Ok(page)
}

/// Returns how busy the machine was in the last minute.
fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("unknown").to_owned()
}

/// Starts a proxy in front of a model; returns its port.
fn proxy(folder: &Path, upstream: u16, options: &[&str]) -> Result<(Proxy, u16), Failure> {
    let cannot = |error| Failure::io("cannot start `palisade proxy`", &error);
    fs::write(folder.join("project/Cargo.toml"), "[package]\n").map_err(cannot)?;
    let mut command = Command::new(folder.join("palisade"));
    command.args(["proxy", "--listen", "127.0.0.1:0", "--upstream"]);
    command.arg(format!("http://127.0.0.1:{upstream}")).args(options);
    command.current_dir(folder.join("project")).stdin(Stdio::null()).stderr(Stdio::null());
    let mut child = Proxy(command.stdout(Stdio::piped()).spawn().map_err(cannot)?);
    let mut line = String::new();
    if let Some(stdout) = child.0.stdout.as_mut() {
        BufReader::new(stdout).read_line(&mut line).map_err(cannot)?;
    }
    let port = line.trim().rsplit(':').next().and_then(|port| port.parse().ok());
    let port = port.ok_or_else(|| Failure::new(format!("`palisade proxy` says `{line}`")))?;
    Ok((child, port))
}

/// Asks once, and reads the answer as it comes.
fn ask(port: u16, what: &str, start: Instant) -> io::Result<Seen> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let body = format!(
        "{{\"model\":\"m\",\"stream\":true,\"messages\":[],\"what\":\"{what}\",\"end\":0}}"
    );
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    let mut seen = Seen::default();
    for line in BufReader::new(stream).lines() {
        let (line, now) = (line?, start.elapsed());
        let Some(sent) = line.split_once("\"sent\":").and_then(|(_, rest)| rest.split_once(','))
        else {
            continue;
        };
        let taken = now.saturating_sub(Duration::from_nanos(sent.0.parse().unwrap_or(0)));
        if sent.1.contains("text_delta") {
            seen.pieces.push(taken);
        } else if sent.1.contains("\"call\"") {
            seen.calls.push(taken);
        } else if sent.1.contains("\"last\"") {
            seen.whole = usize::from(seen.pieces.len() as u64 == model::PIECES);
            break;
        }
    }
    Ok(seen)
}

/// Asks many times at once.
fn crowd(port: u16, start: Instant) -> Seen {
    let asks = (0..MANY).map(|_| {
        let ask = move || ask(port, "many", start).unwrap_or_default();
        thread::Builder::new().stack_size(64 * 1024).spawn(ask)
    });
    let asks: Vec<_> = asks.collect();
    let mut seen = Seen::default();
    for asked in asks.into_iter().flatten() {
        seen.add(asked.join().unwrap_or_default());
    }
    seen
}

impl Seen {
    fn add(&mut self, more: Self) {
        self.pieces.extend(more.pieces);
        self.calls.extend(more.calls);
        self.whole += more.whole;
    }
}
