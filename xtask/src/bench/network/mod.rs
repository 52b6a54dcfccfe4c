//! The network: how long a first byte takes, how much goes through, how many connections at once.

pub(super) mod client;
mod server;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::clock::{Spread, ms};
use crate::failure::Failure;

/// Who reaches the server: this program, as one of the project's own.
pub(super) const CLIENT: &str = "project/client";

/// Connections that are many.
const MANY: u64 = 4000;

/// Bytes that go through at once.
const BULK: u64 = 1 << 30;

/// Who reaches the server, and how.
struct Way {
    name: &'static str,
    words: Vec<String>,
    host: &'static str,
    /// The variable that names the proxy, where one is used.
    proxy: Option<&'static str>,
}

pub(super) fn table(folder: &Path, rounds: usize) -> Result<String, Failure> {
    let port = server::start().map_err(|error| Failure::io("cannot listen", &error))?;
    let ways = ways(folder, port)?;
    let mut bulk = vec![(Vec::new(), Vec::new()); ways.len()];
    let mut first = vec![Vec::new(); ways.len()];
    for _ in 0..rounds.max(3) {
        for ((way, first), (down, up)) in ways.iter().zip(&mut first).zip(&mut bulk) {
            first.extend(way.times(folder, port, "first", 200)?);
            down.extend(way.times(folder, port, "down", BULK)?);
            up.extend(way.times(folder, port, "up", BULK)?);
        }
    }
    let mut page = format!(
        "## Network\n\nA server on the host's loopback, reached from outside and from inside by name; n = {} \
         connections, {} times {} MiB each way. \"First byte\" is a connection, a question and its answer.\n\n\
         | What | first byte ms | p99 ms | × direct | down GB/s | × direct | up GB/s | × direct |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        first.first().map_or(0, Vec::len),
        rounds.max(3),
        BULK >> 20,
    );
    let spreads = first.into_iter().map(Spread::of).collect::<Vec<_>>();
    let bulk = bulk.into_iter().map(|(down, up)| (Spread::of(down), Spread::of(up)));
    let bulk = bulk.collect::<Vec<_>>();
    let (Some(base), Some((base_down, base_up))) = (spreads.first(), bulk.first()) else {
        return Ok(page);
    };
    for ((way, spread), (down, up)) in ways.iter().zip(&spreads).zip(&bulk) {
        page.push_str(&format!(
            "| {} | {:.3} | {:.3} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} |\n",
            way.name,
            ms(spread.median),
            ms(spread.p99),
            spread.ratio(base),
            speed(down),
            1.0 / down.ratio(base_down),
            speed(up),
            1.0 / up.ratio(base_up),
        ));
    }
    page.push_str(&crowd(folder, port, &ways)?);
    Ok(page)
}

fn speed(spread: &Spread) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a round number")]
    let bytes = BULK as f64;
    bytes / spread.median.as_secs_f64().max(f64::MIN_POSITIVE) / 1e9
}

/// Many connections at once, and what our side of them takes.
fn crowd(folder: &Path, port: u16, ways: &[Way]) -> Result<String, Failure> {
    let mut page = format!(
        "\n{MANY} connections, {} at a time, of which so many were answered; and the most memory that the \
         process around the command ever took.\n\n| What | answered | MiB |\n| --- | ---: | ---: |\n",
        client::AT_ONCE,
    );
    for way in ways {
        let (answered, memory) = way.crowd(folder, port)?;
        page.push_str(&format!("| {} | {answered} | {memory} |\n", way.name));
    }
    page.push('\n');
    Ok(page)
}

/// Returns ways to the server: the first is no sandbox at all.
fn ways(folder: &Path, port: u16) -> Result<Vec<Way>, Failure> {
    let policy = write(
        folder.join("home/network.yaml"),
        &format!("network: {{ mode: allow-list, host_ports: [{port}] }}\n"),
    )?;
    let ours = [folder.join("palisade"), "run".into(), "--policy".into(), policy, "--".into()];
    let ours = ours.map(|word| word.to_string_lossy().into_owned()).to_vec();
    let host = "host.palisade.internal";
    let mut ways = vec![
        Way { name: "direct", words: Vec::new(), host: "localhost", proxy: None },
        Way { name: "palisade run", words: ours.clone(), host, proxy: None },
        Way { name: "palisade run, its proxy", words: ours, host, proxy: Some("HTTP_PROXY") },
    ];
    let settings = write(
        folder.join("home/srt.json"),
        "{\"network\":{\"allowedDomains\":[\"localhost\"],\"deniedDomains\":[]},\
         \"filesystem\":{\"denyRead\":[],\"allowWrite\":[\".\"],\"denyWrite\":[]}}",
    )?;
    let srt =
        vec!["srt".to_owned(), "--settings".to_owned(), settings.to_string_lossy().into_owned()];
    let srt =
        Way { name: "srt, its proxy", words: srt, host: "localhost", proxy: Some("HTTP_PROXY") };
    if srt.times(folder, port, "first", 1).is_ok_and(|times| times.len() == 1) {
        ways.push(srt);
    }
    Ok(ways)
}

fn write(path: PathBuf, text: &str) -> Result<PathBuf, Failure> {
    fs::write(&path, text).map_err(|error| Failure::io("cannot write a policy", &error))?;
    Ok(path)
}

impl Way {
    fn command(&self, folder: &Path, port: u16, kind: &str, count: u64) -> Command {
        let client = folder.join(CLIENT).to_string_lossy().into_owned();
        let words = [client, "bench".into(), "--client".into(), self.host.into(), port.to_string()];
        let words = words.into_iter().chain([kind.to_owned(), count.to_string()]);
        let words: Vec<String> = self.words.iter().cloned().chain(words).collect();
        let mut command = Command::new(words.first().map_or("", String::as_str));
        command.args(words.get(1..).unwrap_or_default());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(variable) = self.proxy {
            command.env("PALISADE_BENCH_PROXY", variable);
        }
        command
    }

    /// Returns what the client measured.
    fn times(
        &self,
        folder: &Path,
        port: u16,
        kind: &str,
        count: u64,
    ) -> Result<Vec<Duration>, Failure> {
        let said = self.command(folder, port, kind, count).output();
        let said =
            said.map_err(|error| Failure::io(format!("cannot start {}", self.name), &error))?;
        if !said.status.success() {
            let why = String::from_utf8_lossy(&said.stderr);
            return Err(Failure::new(format!("{}: {kind}: {}", self.name, why.trim())));
        }
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        let numbers = text.split_whitespace().filter_map(|word| word.parse().ok());
        Ok(numbers.map(Duration::from_micros).collect())
    }

    /// Returns how many were answered, and the peak of the launcher's memory in MiB.
    fn crowd(&self, folder: &Path, port: u16) -> Result<(String, String), Failure> {
        let cannot = |error| Failure::io(format!("cannot run {}", self.name), &error);
        let mut child = self.command(folder, port, "many", MANY).spawn().map_err(cannot)?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.as_mut() {
            BufReader::new(stdout).read_line(&mut line).map_err(cannot)?;
        }
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse::<u64>().ok());
        let mut why = String::new();
        if let Some(stderr) = child.stderr.as_mut() {
            stderr.read_to_string(&mut why).map_err(cannot)?;
        }
        if child.wait().map_err(cannot)?.success() {
            let mib = kib.map_or("not seen".to_owned(), |kib| kib.div_ceil(1024).to_string());
            Ok((line.trim().to_owned(), if self.words.is_empty() { "–".to_owned() } else { mib }))
        } else {
            Err(Failure::new(format!("{}: many: {}", self.name, why.trim())))
        }
    }
}
