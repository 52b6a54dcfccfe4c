//! Connections for a minute, of every kind; `PALISADE_TEST_FULL=1` means ten.
//!
//! What holds them must be as big at the end as in the middle, and as empty as at the start.

use std::fs;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::kit::{PALISADE, Person, World};
use crate::network::Server;

/// Waits, connects in eight threads for a while, and waits again.
const CLIENT: &str = r#"
import os, random, socket, sys, threading, time
port, seconds = int(sys.argv[1]), int(sys.argv[2])
own = 'host.palisade.internal'
counts = {}
def read(s):
    text = b''
    while True:
        more = s.recv(65536)
        if not more: return text
        text += more
def asked(where, words):
    with socket.create_connection(where, 20) as s:
        s.sendall(words); return read(s)
get = 'GET %s HTTP/1.0\r\nHost: %s:%d\r\n\r\n'
def direct(): assert b'served' in asked((own, port), (get % ('/', own, port)).encode())
def proxied():
    whole = 'http://%s:%d/' % (own, port)
    assert b'served' in asked(('127.0.0.1', 1023), (get % (whole, own, port)).encode())
def no_name():
    try: socket.getaddrinfo('n%d.elsewhere.test' % random.randrange(10**9), 80)
    except socket.gaierror: return
    assert False
def no_host():
    # The kernel now and then tells of it at the first use only.
    try: socket.create_connection(('192.0.2.%d' % random.randrange(256), 80), 20).sendall(b'x')
    except OSError as e: assert e.errno == 113, e; return
    assert False
def no_tunnel():
    words = b'CONNECT elsewhere.test:443 HTTP/1.1\r\n\r\n'
    assert b'403' in asked(('127.0.0.1', 1023), words)
def left_alone(): socket.create_connection((own, port), 20).close()
def odd(): asked(('127.0.0.1', 1023), b'Z' + os.urandom(40) + b'\r\n\r\n')
kinds = [direct, proxied, no_name, no_host, no_tunnel, left_alone, odd]
def work(until):
    while time.time() < until:
        kind = random.choice(kinds)
        try: kind(); what = kind.__name__
        except (AssertionError, OSError) as e: what = 'failed %s %r' % (kind.__name__, e)
        counts[what] = counts.get(what, 0) + 1
time.sleep(3)
threads = [threading.Thread(target=work, args=(time.time() + seconds,)) for _ in range(8)]
for t in threads: t.start()
for t in threads: t.join()
time.sleep(5)
print(counts)
"#;

/// Begins thousands of requests at the proxy, by two lengths, and ends none of them.
const HALVES: &str = r#"
import resource, socket, sys, time
limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
time.sleep(3)
kept, left = [], int(sys.argv[1])
start = b'GET http://host.palisade.internal/ HTTP/1.1\r\nHost: host.palisade.internal\r\nX: '
for number in range(left):
    s = socket.create_connection(('127.0.0.1', 1023), 20)
    s.setblocking(False)
    # Most of them keep little, and some as much as they may.
    try: s.send(start + b'x' * (60000 if number % 4 == 0 else 800))
    except OSError: pass
    kept.append(s)
time.sleep(3)
refused = 0
for s in kept:
    try: refused += s.recv(64) != b'no'
    except BlockingIOError: pass
    except OSError: refused += 1
print('halves', left, 'refused', refused)
"#;

/// What a process takes.
#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    kib: u64,
    threads: u64,
    descriptors: usize,
}

impl Taken {
    /// Looks at a process; nothing if it has ended.
    fn by(child: &Child) -> Option<Self> {
        let folder = format!("/proc/{}", child.id());
        let status = fs::read_to_string(format!("{folder}/status")).ok()?;
        let number = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse().ok()
        };
        let descriptors = fs::read_dir(format!("{folder}/fd")).ok()?.count();
        Some(Self { kib: number("VmRSS:")?, threads: number("Threads:")?, descriptors })
    }

    fn most(all: &[Self]) -> Self {
        let kib = all.iter().map(|it| it.kib).max().unwrap_or_default();
        let threads = all.iter().map(|it| it.threads).max().unwrap_or_default();
        let descriptors = all.iter().map(|it| it.descriptors).max().unwrap_or_default();
        Self { kib, threads, descriptors }
    }
}

#[test]
fn connections_leave_nothing_behind_while_a_run_goes_on() {
    let seconds = std::env::var_os("PALISADE_TEST_FULL").map_or(60, |_| 600);
    let person = if rustix::process::geteuid().is_root() { Person::Nobody } else { Person::Ours };
    let world = World { person, ..World::new() };
    let server = Server::new();
    let policy = format!("network: {{ mode: allow-list, host_ports: [{}] }}\n", server.1);
    world.write("net.yaml", policy);
    world.write("soak.py", CLIENT);
    let mut command = world.command(PALISADE);
    command.args(["run", "--policy", "net.yaml", "--", "/usr/bin/python3", "soak.py"]);
    command.args([server.1.to_string(), seconds.to_string()]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let begun = Instant::now();
    let mut samples = Vec::new();
    while child.try_wait().unwrap().is_none() {
        samples.extend(Taken::by(&child).map(|taken| (begun.elapsed(), taken)));
        thread::sleep(Duration::from_millis(250));
    }
    let ended = begun.elapsed();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && said.starts_with('{'), "{output:?}");
    assert!(!said.contains("failed") && said.contains("left_alone"), "{said}");
    let between = |from: Duration, to: Duration| {
        let inside = samples.iter().filter(|(at, _)| *at >= from && *at < to);
        Taken::most(&inside.map(|(_, taken)| *taken).collect::<Vec<_>>())
    };
    let third = Duration::from_secs(seconds / 3);
    let start = Duration::from_secs(3);
    let middle = between(start + third, start + 2 * third);
    let last = between(start + 2 * third, start + 3 * third);
    let (idle, idle_again) = (
        between(Duration::from_secs(1), start - Duration::from_millis(500)),
        between(ended - Duration::from_secs(2), ended - Duration::from_millis(500)),
    );
    eprintln!("{said}{idle:?} {middle:?} {last:?} {idle_again:?}");
    assert!(idle.descriptors > 0 && idle_again.descriptors > 0);
    assert!(last.kib <= middle.kib + 2048, "{middle:?} {last:?}");
    assert!(last.threads <= middle.threads, "{middle:?} {last:?}");
    assert!(last.descriptors <= middle.descriptors + 32, "{middle:?} {last:?}");
    assert!(idle_again.descriptors <= idle.descriptors, "{idle:?} {idle_again:?}");
    assert!(idle_again.threads <= idle.threads, "{idle:?} {idle_again:?}");
}

#[test]
fn requests_that_never_end_take_no_more_memory_than_the_doors_may_have() {
    const MANY: usize = 4000;
    let world = World::new();
    world.write("net.yaml", "network: { mode: allow-list, host_ports: [80] }\n");
    world.write("halves.py", HALVES);
    let mut command = world.command(PALISADE);
    command.args(["run", "--policy", "net.yaml", "--", "/usr/bin/python3", "halves.py"]);
    command.arg(MANY.to_string()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let begun = Instant::now();
    let mut samples = Vec::new();
    while child.try_wait().unwrap().is_none() {
        samples.extend(Taken::by(&child).map(|taken| (begun.elapsed(), taken)));
        thread::sleep(Duration::from_millis(50));
    }
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && said.starts_with("halves"), "{output:?}");
    let before = samples.iter().filter(|(at, _)| *at < Duration::from_secs(2));
    let before = Taken::most(&before.map(|(_, taken)| *taken).collect::<Vec<_>>());
    let most = Taken::most(&samples.iter().map(|(_, taken)| *taken).collect::<Vec<_>>());
    eprintln!("{said}{before:?} {most:?}");
    assert!(most.descriptors > before.descriptors + 300, "{before:?} {most:?}");
    assert!(most.kib <= before.kib + (24 << 10), "{before:?} {most:?}");
}
