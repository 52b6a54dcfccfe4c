//! Which hosts a command needs (`--monitor`, `--suggest`), and which an agent or a task has.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;

use palisade_testkit::{Fact, Need, need};

use crate::kit::{PALISADE, Person, Ran, World, as_both};
use crate::schema::assert_fits;

/// A web server on a loopback address of its own, behind every name of the table of hosts.
struct Town(u16);

const NAMES: [&str; 6] = [
    "web.test",
    "other.test",
    "denied.test",
    "mine.test",
    "task.test",
    // The API of an agent that is known by name.
    "api.anthropic.com",
];

impl Town {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.2:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for mut one in listener.incoming().flatten() {
                // What is asked is the same each time.
                let _asked = one.read(&mut [0; 4096]);
                one.write_all(b"HTTP/1.0 200 OK\r\n\r\nserved").ok();
            }
        });
        Self(port)
    }

    /// Runs `palisade` where these names are known, and tries them.
    fn run(&self, world: &World, options: &[&str], names: &[&str]) -> Ran {
        world.write("try.py", TRY);
        world.write("hosts", format!("127.0.0.1 localhost\n127.0.0.2 {}\n", NAMES.join(" ")));
        // For its project and home, and for the copy of the binary that everybody may start.
        let mut command = world.command(PALISADE);
        let binary = command.get_program().to_owned();
        command = world.command("/usr/bin/unshare");
        // Names of a machine are root's to change; who runs is somebody else again below.
        command.uid(0).gid(0);
        let enter = "mount --bind hosts /etc/hosts && exec \"$@\"";
        command.args(["-m", "/bin/sh", "-c", enter, "sh"]);
        if world.person == Person::Nobody {
            command.args(["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]);
        }
        command.arg(binary).arg("run").args(options);
        command.args(["--", "/usr/bin/python3", "try.py", &self.0.to_string()]).args(names);
        world.finish(&mut command)
    }
}

const TRY: &str = r"
import socket, sys
for name in sys.argv[2:]:
    try:
        s = socket.create_connection((name, int(sys.argv[1])), 10)
        s.sendall(b'GET / HTTP/1.0\r\nHost: %s\r\n\r\n' % name.encode()); text = b''
        while True:
            more = s.recv(4096)
            if not more: break
            text += more
        print(name, text.split(b'\r\n\r\n')[-1].decode())
    except socket.gaierror: print(name, 'no name')
    except OSError as e: print(name, e.errno)
";

/// Only root may show another table of names to a program.
fn in_towns(body: impl Fn(World, Town)) {
    if need(Fact::Root) == Need::Run {
        as_both(|world| body(world, Town::new()));
    }
}

#[test]
fn what_a_command_needs_is_found_out_and_is_enough() {
    in_towns(|world, town| {
        let port = town.0;
        let deny = "deny: [denied.test]";
        world.write("net.yaml", format!("network: {{ allow: [127.0.0.0/8], {deny} }}\n"));
        let names = ["web.test", "denied.test"];
        let options = ["--policy", "net.yaml", "--monitor", "--suggest"];
        let ran = town.run(&world, &options, &names);
        assert_eq!(ran.stdout, "web.test served\ndenied.test no name\n", "{}", ran.stderr);
        let list = format!(
            "network:\n  mode: allow-list\n  allow:\n    - \"web.test:{port}\"\n    - \
             \"127.0.0.2\"\n# refused whatever is listed here: denied.test (name-denied)\n"
        );
        assert!(ran.stderr.ends_with(&list), "{}", ran.stderr);

        world.write("found.yaml", &list);
        let ran = town.run(&world, &["--policy", "found.yaml"], &["web.test", "other.test"]);
        assert_eq!(ran.stdout, "web.test served\nother.test no name\n", "{}", ran.stderr);
        let options = ["--policy", "found.yaml", "--suggest", "--json"];
        let ran = town.run(&world, &options, &["web.test", "other.test"]);
        let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_fits(&told, "outcome.json");
        let allow = &told["network"]["suggest"]["allow"];
        let expected = [format!("web.test:{port}"), "other.test".into(), "127.0.0.2".into()];
        assert_eq!(*allow, serde_json::json!(expected), "{told:#}");
        let ran = town.run(&world, &["--policy", "net.yaml"], &["web.test"]);
        assert_eq!(ran.stdout, "web.test no name\n", "without --monitor");
    });
}

#[test]
fn who_may_watch_and_where_nothing_is_watched() {
    as_both(|world| {
        let ran = world.run(&["run", "--suggest", "--", "touch", "made"]);
        assert_eq!(ran.code, Some(125), "{}", ran.stderr);
        assert!(ran.stderr.contains("error[suggest]"), "{}", ran.stderr);
        assert!(ran.stderr.contains("add --monitor"), "{}", ran.stderr);
        world.write(
            "net.yaml",
            "agents: { codex: { network: { mode: deny-all } } }\nnetwork: { mode: disabled }\n",
        );
        let options = ["run", "--policy", "net.yaml", "--monitor", "--json"];
        let told = world.json(&[&options[..], &["--", "true"]].concat());
        assert!(told["network"]["connections"].is_array(), "watched, and not left alone: {told:#}");
        // What the same person says of an agent is about that agent.
        let ran = world.run(&[&options[..], &["--agent", "codex", "--", "touch", "made"]].concat());
        assert_eq!(ran.code, Some(125), "{}", ran.stderr);
        assert!(ran.stdout.contains("the mode stays `deny-all`"), "{}", ran.stdout);
        assert!(!world.project.path("made").exists());
        world.write("tasks.yaml", "tasks: []\n");
        let ran = world.run(&["run", "--tasks", "tasks.yaml", "--monitor"]);
        assert_eq!(ran.code, Some(125), "{}", ran.stderr);
        world.write(".palisade/policy.yaml", "network: { mode: monitor }\n");
        let told = world.json(&["run", "--json", "--", "true"]);
        assert!(told["network"].is_null(), "no project says it: {told:#}");
    });
}

#[test]
fn agents_have_their_own_hosts_and_tasks_theirs() {
    in_towns(|world, town| {
        world.write(
            "net.yaml",
            "network: { mode: allow-list, allow: [127.0.0.0/8, web.test] }\n\
             tasks: { fetch: { network: { allow: [task.test] } } }\n",
        );
        let names = ["web.test", "api.anthropic.com", "mine.test", "task.test", "other.test"];
        let reached = |options: &[&str]| {
            let options = [&["--policy", "net.yaml"], options].concat();
            let ran = town.run(&world, &options, &names);
            let lines = ran.stdout.lines().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(lines.len(), names.len(), "{}{}", ran.stdout, ran.stderr);
            let reached = lines.iter().filter_map(|line| line.strip_suffix(" served"));
            reached.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(reached(&[]), ["web.test"]);
        assert_eq!(reached(&["--agent", "claude"]), ["web.test", "api.anthropic.com"]);
        assert_eq!(reached(&["--agent", "codex"]), ["web.test"]);
        assert_eq!(reached(&["--task", "fetch"]), ["web.test", "task.test"]);
        // Whoever writes of an agent says all of it.
        let own = "agents: { claude: { network: { allow: [mine.test] } } }\n";
        world.write("own.yaml", own);
        let spoken = |agent| reached(&["--policy", "own.yaml", "--agent", agent]);
        assert_eq!(spoken("claude"), ["web.test", "mine.test"]);
        assert_eq!(spoken("codex"), ["web.test"]);
    });
}
