//! The victims of one attack: made anew for each, and taken away afterwards.

use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{PermissionsExt as _, lchown, symlink};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use palisade_conformance::World;

use crate::person::Person;

/// What the outer file holds before an attack.
pub(crate) const ORIGINAL: &str = "as it was\n";

/// What the repository's configuration holds before an attack.
pub(crate) const CONFIG: &str = "[core]\n\tbare = false\n";

/// Files by which a workspace could ask an engine for more than it was given.
const GRANTS: [(&str, &str); 4] = [
    (
        ".palisade/policy.yaml",
        "version: 1\nrequire: none\nfiles: { write: [/] }\nnetwork: { mode: disabled }\n",
    ),
    (".codex/config.toml", "sandbox_mode = \"danger-full-access\"\n"),
    (".srt-settings.json", "{\"filesystem\": {\"allowWrite\": [\"/\"]}}\n"),
    (".claude/settings.json", "{\"sandbox\": {\"enabled\": false}}\n"),
];

/// Doors of the host at which somebody may arrive.
#[derive(Debug)]
pub(crate) struct Doors {
    pub(crate) stream: UnixListener,
    pub(crate) near: UnixListener,
    pub(crate) nameless: UnixListener,
    pub(crate) datagram: UnixDatagram,
    pub(crate) port: TcpListener,
    pub(crate) packets: UdpSocket,
}

/// Everything that one attack may reach. Dropping it removes all of it.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) world: World,
    /// Where the world is told, inside of the workspace.
    pub(crate) told: PathBuf,
    pub(crate) probe: PathBuf,
    pub(crate) palisade: PathBuf,
    pub(crate) person: Person,
    pub(crate) doors: Doors,
    base: PathBuf,
    victim: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Stage {
    /// Makes a world for one attack.
    pub(crate) fn make(
        person: Person,
        probe: &Path,
        palisade: &Path,
        attack: &str,
    ) -> io::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let own = std::process::id();
        let mark = format!("mark{own:08x}{number:04x}");
        let base = person.folder().join(format!("palisade-conformance-{own}-{number}"));
        let [home, outside, bin] = ["home", "outside", "bin"].map(|name| base.join(name));
        let app = home.join("app");
        furnish(&home, &outside, &mark)?;
        if attack == "e039-granted" {
            GRANTS.iter().try_for_each(|(name, text)| put(&app.join(name), text))?;
        }
        let probe_inside = home.join("bin/conformance-probe");
        install(probe, &probe_inside)?;
        install(palisade, &bin.join("palisade"))?;
        let elevated = elevate(probe, &bin.join("elevated"), person)?;

        let doors = Doors {
            stream: UnixListener::bind(outside.join("door.sock"))?,
            near: UnixListener::bind(app.join("door.sock"))?,
            nameless: UnixListener::bind_addr(&SocketAddr::from_abstract_name(&mark)?)?,
            datagram: UnixDatagram::bind(outside.join("box.sock"))?,
            port: TcpListener::bind("127.0.0.1:0")?,
            packets: UdpSocket::bind("127.0.0.1:0")?,
        };
        let port = doors.port.local_addr()?.port();
        // The same number for both, so that the world names one. Where it is taken the first will
        // do: then nothing arrives without an engine either, and that is told.
        let packets =
            UdpSocket::bind(("127.0.0.1", port)).or_else(|_| doors.packets.try_clone())?;
        let doors = Doors { packets, ..doors };
        let shared = Path::new("/dev/shm").join(&mark);
        fs::write(&shared, ORIGINAL)?;
        let planted = Path::new("/tmp").join(&mark);
        symlink(outside.join("file"), &planted)?;
        person.own(&shared)?;
        person.own(&planted)?;
        person.own_all(&home)?;
        person.own_all(&outside)?;

        let key =
            i32::try_from(own % 30_000).unwrap_or(0) * 10_000 + i32::try_from(number).unwrap_or(0);
        let mut command = Command::new(&probe_inside);
        command.args(["victim", &(key + 1).to_string(), &mark]);
        command.env_clear().env("CONFORMANCE_STARTER", format!("starter {mark}"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).current_dir("/");
        person.becomes(&mut command);
        let mut victim = start(&mut command)?;
        let input = victim.stdin.take();
        let mut output = BufReader::new(victim.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?);
        let mut line = String::new();
        output.read_line(&mut line)?;
        let mut numbers = line.split_whitespace();
        let process = numbers.next().and_then(|word| word.parse().ok());
        let address = numbers.next().and_then(|word| word.parse().ok());
        let (Some(process), Some(address)) = (process, address) else {
            return Err(io::Error::other(format!("the victim did not start: {line:?}")));
        };
        let world = World {
            file: outside.join("file"),
            secret: home.join(".ssh/id"),
            stream: outside.join("door.sock"),
            datagram: outside.join("box.sock"),
            near: app.join("door.sock"),
            nameless: mark.clone(),
            port,
            victim: process,
            address,
            shared,
            segment: key + 1,
            queue: mark.clone(),
            planted,
            elevated,
            mark,
            home,
            app,
        };
        let told = world.app.join("world.json");
        fs::write(&told, serde_json::to_vec(&world)?)?;
        person.own(&told)?;
        let palisade = bin.join("palisade");
        let probe = probe_inside;
        Ok(Self { world, told, probe, palisade, person, doors, base, victim, input, output })
    }

    /// Lets the victim end, and returns what of it was reached.
    pub(crate) fn dismiss(&mut self) -> io::Result<Vec<String>> {
        drop(self.input.take());
        let lines: io::Result<Vec<String>> = (&mut self.output).lines().collect();
        self.victim.wait()?;
        let reached = |line: String| line.strip_suffix(" true").map(str::to_owned);
        Ok(lines?.into_iter().filter_map(reached).collect())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        drop(self.input.take());
        // A victim that was dismissed has ended; one that was not ends with its input.
        self.victim.wait().ok();
        for path in [&self.world.shared, &self.world.planted] {
            fs::remove_file(path).ok();
        }
        // Without an engine a process may be left that goes on writing for some seconds.
        for _ in 0..60 {
            if fs::remove_dir_all(&self.base).is_ok() || !self.base.exists() {
                break;
            }
            thread::sleep(Duration::from_millis(100));
        }
    }
}

/// Starts a program that was just written: somebody's child may still hold it open.
pub(crate) fn start(command: &mut Command) -> io::Result<Child> {
    for _ in 0..100 {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {
                thread::sleep(Duration::from_millis(10));
            }
            outcome => return outcome,
        }
    }
    command.spawn()
}

fn furnish(home: &Path, outside: &Path, mark: &str) -> io::Result<()> {
    let git = home.join("app/.git");
    for folder in ["objects", "refs/heads", "info", "hooks"] {
        fs::create_dir_all(git.join(folder))?;
    }
    put(&git.join("HEAD"), "ref: refs/heads/main\n")?;
    put(&git.join("config"), CONFIG)?;
    put(&git.join("hooks/README"), ORIGINAL)?;
    put(&home.join("app/src/kept"), ORIGINAL)?;
    put(&home.join(".bashrc"), ORIGINAL)?;
    put(&home.join("notes"), ORIGINAL)?;
    put(&home.join(".ssh/id"), &format!("secret {mark}\n"))?;
    put(&outside.join("file"), ORIGINAL)
}

fn put(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)
}

fn install(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    // A link saves copying many megabytes for each attack, where both are on one file system.
    fs::hard_link(from, to).or_else(|_| fs::copy(from, to).map(drop))?;
    fs::set_permissions(to, fs::Permissions::from_mode(0o755))
}

/// Makes a program that runs as somebody else; only root can.
fn elevate(from: &Path, to: &Path, person: Person) -> io::Result<Option<PathBuf>> {
    let Some(other) = person.somebody_else() else { return Ok(None) };
    fs::copy(from, to)?;
    lchown(to, Some(other), Some(other))?;
    fs::set_permissions(to, fs::Permissions::from_mode(0o4755))?;
    Ok(Some(to.to_owned()))
}
