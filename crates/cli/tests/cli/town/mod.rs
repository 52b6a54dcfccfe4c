//! A network of its own for one run: names, hosts and servers that tell who came.
//!
//! `town.py` is the world outside, and stands on the machine as root; `inside.py` is what programs
//! in the sandbox try with; each row's tries are a file of their own, which prints what came of
//! them. So both sides are looked at: what the program saw, and what arrived.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use palisade_testkit::Project;
use serde_json::{Value as Json, json};

use crate::kit::{NOBODY, PALISADE, Person, World, as_both};
use crate::schema::assert_fits;

pub(crate) const OUTSIDE: &str = include_str!("town.py");
const INSIDE: &str = include_str!("inside.py");

/// Names that lead to one server, which is a host elsewhere to whoever dials.
const ELSEWHERE: &str = "93.184.216.34 web.test a.web.test bad.web.test evil.test git.test \
    secret.evil.test web.test.evil.test evilweb.test xn--bcher-kva.test";

/// What there is outside.
pub(crate) struct Town {
    pub(crate) hosts: Vec<String>,
    /// For each name its answers, one after the other; the last stays.
    pub(crate) dns: Json,
    /// For each name the addresses that the machine gets when it is asked for.
    pub(crate) gains: Json,
    /// Names about which the resolver says nothing.
    pub(crate) silent: Vec<&'static str>,
    /// Sockets in the file system.
    pub(crate) unix: Vec<String>,
    /// The supervisor is killed once this file of the project exists.
    pub(crate) kill: Option<&'static str>,
    /// Variables of the person who runs it.
    pub(crate) env: Vec<(&'static str, String)>,
    /// More words of `palisade run`.
    pub(crate) options: Vec<&'static str>,
}

/// What was seen of a run, from both sides.
pub(crate) struct Visit {
    pub(crate) code: Option<i32>,
    /// The outcome.
    pub(crate) told: Json,
    /// What the tries printed.
    pub(crate) tried: Json,
    /// What arrived.
    pub(crate) seen: Vec<Json>,
    pub(crate) stderr: String,
}

impl Default for Town {
    fn default() -> Self {
        Self {
            hosts: vec![ELSEWHERE.to_owned(), "93.184.216.41 other.test".to_owned()],
            dns: json!({}),
            gains: json!({}),
            silent: vec![],
            unix: vec![],
            kill: None,
            env: vec![],
            options: vec![],
        }
    }
}

impl Town {
    /// Leads names to places.
    pub(crate) fn of(hosts: &[&str]) -> Self {
        Self { hosts: hosts.iter().map(|&line| line.to_owned()).collect(), ..Self::default() }
    }

    /// Runs tries under a policy, as whoever runs the tests and as an ordinary user.
    pub(crate) fn both(&self, policy: &str, tries: &str, words: &[&str], look: impl Fn(Visit)) {
        as_both(|world| look(self.visit(&world, policy, tries, words)));
    }

    /// Runs tries under a policy, which may be empty.
    pub(crate) fn visit(&self, world: &World, policy: &str, tries: &str, words: &[&str]) -> Visit {
        world.write("net.yaml", policy);
        world.write("inside.py", INSIDE);
        world.write("tries.py", tries);
        let outside = Project::new().file("town.py", OUTSIDE);
        let log = outside.path("log");
        fs::write(&log, "").unwrap();
        let is_root = rustix::process::geteuid().is_root();
        let config = json!({
            "folder": outside.root(),
            "log": log,
            "hosts": self.hosts,
            "dns": self.dns,
            "gains": self.gains,
            "silent": self.silent,
            "resets": [8081, 9001],
            "unix": self.unix,
            "kill": self.kill.map(|file| world.project.path(file)),
            "tcp": [22, 80, 443, 853, 6379, 8080, 9000, 9222],
            "web": [80, 8080],
            "udp": [53, 443, 853, 5353, 9000],
            "uid": (world.person == Person::Nobody).then_some(NOBODY),
        });
        fs::write(outside.path("config"), config.to_string()).unwrap();
        let mut command = Command::new("/usr/bin/unshare");
        command.args(if is_root { &[][..] } else { &["--map-root-user"] });
        command.args(["--mount", "--net", "/usr/bin/python3"]);
        command.args([outside.path("town.py"), outside.path("config"), own(world)]);
        command.args(["run", "--json"]).args(&self.options);
        if !policy.is_empty() {
            command.args(["--policy", "net.yaml"]);
        }
        command.args(["--", "/usr/bin/python3", "tries.py"]).args(words);
        command.env_clear().envs(world.home.env()).current_dir(world.project.root());
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        let ran = world.finish(&mut command);
        let told: Json = serde_json::from_str(&ran.stdout).unwrap_or_default();
        if told.is_object() {
            assert_fits(&told, "outcome.json");
        }
        let printed = told["stdout"].as_str().unwrap_or_default();
        let lines = fs::read_to_string(&log).unwrap();
        Visit {
            code: ran.code,
            tried: serde_json::from_str(printed).unwrap_or_default(),
            told,
            seen: lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
            stderr: ran.stderr,
        }
    }
}

impl Visit {
    /// Everything, for when it is not as expected.
    pub(crate) fn all(&self) -> String {
        format!("{:#}\n{:#?}\n{:#}\n{}", self.tried, self.seen, self.told, self.stderr)
    }

    /// Who was reached by TCP: addresses and ports, each once.
    pub(crate) fn reached(&self) -> Vec<String> {
        let mut all: Vec<String> = self
            .of_kind("tcp")
            .map(|it| format!("{}:{}", it["to"].as_str().unwrap(), it["port"]))
            .collect();
        all.sort();
        all.dedup();
        all
    }

    /// What arrived of one kind.
    pub(crate) fn of_kind(&self, kind: &str) -> impl Iterator<Item = &Json> {
        self.seen.iter().filter(move |it| it["kind"] == kind)
    }

    /// Whether a text stands in anything that arrived.
    pub(crate) fn arrived(&self, text: &str) -> bool {
        let holds = |it: &Json, field: &str| it[field].as_str().is_some_and(|it| it.contains(text));
        self.seen.iter().any(|it| holds(it, "data") || holds(it, "name"))
    }

    /// What the outcome says of the connections to a host: codes, nothing where it was reached.
    pub(crate) fn codes(&self, host: &str) -> Vec<String> {
        let all = self.told["network"]["connections"].as_array().cloned().unwrap_or_default();
        let of_host = all.iter().filter(|it| it["host"] == host);
        of_host.map(|it| it["code"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

/// The binary, as the person of a world can start it.
pub(crate) fn own(world: &World) -> PathBuf {
    world.command(PALISADE).get_program().into()
}

/// Lets everybody enter a folder.
pub(crate) fn open(folder: &Path) {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
}
