//! Real clients and real servers, behind each way that connections are led: `docs/network.md`.
//!
//! `clients/outside.py` starts the servers in a network of their own (`town.py`) and runs
//! `clients/inside.py` behind `palisade run`, which runs every client.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use palisade_testkit::{Fact, Need, Project, need};
use serde_json::{Value as Json, json};

use crate::kit::{Person, World};
use crate::town;

const WAYS: [&str; 3] = ["queue", "redirect", "proxy"];

/// What the matrix is not complete without.
const TOOLS: &str = "for tool in /usr/sbin/nginx /usr/sbin/sshd; do test -x $tool || exit 1; done; \
    for tool in curl wget git ssh psql dig node npm go java javac keytool openssl; do \
    command -v $tool >/dev/null || exit 1; done; \
    ls /usr/lib/postgresql/*/bin/postgres && /usr/bin/python3 -c 'import requests, aiohttp, pip'";

/// Without these there is nothing to begin with.
const SERVERS: &str = "test -x /usr/sbin/nginx && command -v openssl git curl";

/// One table of what came of each client: for a listed host, and for another.
type Cells = BTreeMap<String, [String; 2]>;

#[test]
fn every_client_reaches_what_is_listed_and_nothing_else() {
    if need(Fact::Root) == Need::Skip || need(Fact::Tools(SERVERS)) == Need::Skip {
        return;
    }
    let told = told();
    let cells = |way: &str, person: &str| -> Cells {
        let run = &told["runs"][format!("{way} {person}")];
        let rung = if way == "proxy" { "none" } else { way };
        assert_eq!(run["rung"], rung, "{way} {person}: {run:#}");
        serde_json::from_value(run["cells"].clone()).unwrap_or_else(|_| panic!("{run:#}"))
    };
    let mut is_complete = true;
    let mut rows = BTreeMap::new();
    for way in WAYS {
        let [root, user] = ["root", "user"].map(|person| cells(way, person));
        for (client, ends) in &root {
            let stderr = &told["runs"][format!("{way} root")]["stderr"];
            assert_eq!(Some(ends), user.get(client), "{client}, {way}: root, and a user: {stderr}");
            let [listed, other] = ends;
            if listed == "missing" {
                is_complete = false;
                continue;
            }
            let expected = way == "proxy" || listed == "works";
            assert!(expected, "{client}, {way}: {listed}: {stderr}");
            let known = ["no such name", "403", "unreachable", "cut", "refused", "no connection"];
            assert!(known.contains(&other.as_str()), "{client}, {way}: {other}: {stderr}");
            rows.entry(client.clone()).or_insert_with(Vec::new).push(format!("{listed} / {other}"));
        }
    }
    if !is_complete {
        assert_eq!(need(Fact::Tools(TOOLS)), Need::Skip);
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/network.md");
    let page = page(&rows);
    if std::env::var_os("PALISADE_TEST_WRITE").is_some() {
        fs::write(path, page).unwrap();
        return;
    }
    let kept = fs::read_to_string(path).unwrap_or_default();
    // Rows of what is not installed are not compared, and that is said.
    for line in page.lines() {
        assert!(kept.lines().any(|it| it == line), "run `cargo xtask network`: {line}\n{page}");
    }
    if is_complete {
        assert_eq!(page, kept, "docs/network.md is stale: run `cargo xtask network`");
    }
}

/// Runs everything.
fn told() -> Json {
    let world = World { person: Person::Nobody, ..World::new() };
    let outside = Project::new().file("town.py", town::OUTSIDE);
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/clients/outside.py");
    let config = json!({
        "folder": outside.root(),
        "log": outside.path("log"),
        "hosts": ["93.184.216.34 web.test", "93.184.216.41 other.test"],
        "dns": {}, "unix": [], "kill": null, "tcp": [], "web": [], "udp": [53], "uid": null,
    });
    fs::write(outside.path("config"), config.to_string()).unwrap();
    let servers = outside.path("servers");
    fs::create_dir(&servers).unwrap();
    // It is left by others, too: everything in it is the ordinary user's to read.
    for folder in [outside.root(), &servers] {
        town::open(folder);
    }
    let mut command = Command::new("/usr/bin/unshare");
    command.args(["--mount", "--net", "/usr/bin/python3"]);
    command.args([&outside.path("town.py"), &outside.path("config")]);
    command.args(["/usr/bin/python3".as_ref(), files.as_path(), &servers, &town::own(&world)]);
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin");
    command.env("CLIENTS_CACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients"));
    command.env("CLIENTS_RUSTC", rustc()).env("HOME", outside.root());
    let output = command.current_dir(outside.root()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}{}", text(&output.stdout), text(&output.stderr)))
}

/// The compiler itself, and not what chooses one.
fn rustc() -> PathBuf {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output().unwrap();
    PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()).join("bin/rustc")
}

const HEAD: &str = "\
<!-- Generated by `cargo xtask network` from a run of every client. Do not edit. -->
# Clients behind a filtered network

What real clients see of a host that the policy lists / of one that it does not, as root and as an
ordinary user alike. The servers are nginx (HTTP/1.1 and HTTP/2, with a certificate of a test
authority), OpenSSH and PostgreSQL; repositories and packages are served by nginx.

`queue` and `redirect` are how connections are led ([the guide](guide/network.md) says more); no
variable names a proxy there. In the last column nothing is led, and programs have the proxy that
variables name: ssh by a `ProxyCommand`, Java by its properties, cargo by its setting. Those that do
not ask a proxy reach nothing then; `curl -6` does not find it, since it is at an IPv4 address.

| Client | `queue` | `redirect` | by proxy only |
| --- | --- | --- | --- |
";

const FOOT: &str = "
`no such name`: the name does not exist. `unreachable`, `cut`: the address answers as an unreachable
host does, or the connection stands and is reset before a byte passed. `403`: the proxy says no.
`refused`, `no connection`: nobody is there.
";

fn page(rows: &BTreeMap<String, Vec<String>>) -> String {
    let mut page = HEAD.to_owned();
    for (client, cells) in rows {
        writeln!(page, "| {client} | {} |", cells.join(" | ")).unwrap();
    }
    page + FOOT
}
