//! Unix sockets of the host: closed, open by path, and all open.

use std::fs;
use std::io::Write as _;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;

use palisade_testkit::Project;

use crate::kit::{World, as_both};

/// Serves at a path until the test ends: whoever connects hears of it.
fn serve(path: &Path) {
    let listener = UnixListener::bind(path).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    answer(listener);
}

fn answer(listener: UnixListener) {
    std::thread::spawn(move || {
        listener.incoming().flatten().for_each(|mut one| drop(one.write_all(b"heard")));
    });
}

/// Tries each, and says which of them answered.
const TRY: &str = r"
import socket
for at in open('names').read().split('\n'):
    s = socket.socket(socket.AF_UNIX); s.settimeout(10)
    try: s.connect('\0' + at[1:] if at[0] == '@' else at); print(at, s.recv(5).decode())
    except OSError as e: print(at, 'closed')
s = socket.socket(socket.AF_UNIX); s.bind('own'); s.listen()
socket.socket(socket.AF_UNIX).connect('own'); print('own reached')
import os; os.unlink('own')
";

/// Sockets in the project, at home, and in a folder that is replaced; and one without a file.
struct Doors {
    elsewhere: Project,
    names: [String; 4],
}

impl Doors {
    fn new(world: &World) -> Self {
        let elsewhere = Project::new();
        fs::set_permissions(elsewhere.root(), fs::Permissions::from_mode(0o755)).unwrap();
        let paths =
            [world.project.path("in"), world.home.path("agent"), elsewhere.path("database")];
        paths.iter().for_each(|path| serve(path));
        let name = format!("palisade-{}", elsewhere.root().display());
        let address = SocketAddr::from_abstract_name(name.as_bytes()).unwrap();
        answer(UnixListener::bind_addr(&address).unwrap());
        let [a, b, c] = paths.map(|path| path.to_str().unwrap().to_owned());
        Self { elsewhere, names: [a, b, c, format!("@{name}")] }
    }

    /// Runs with these options, and returns which of them were reached.
    fn reached(&self, world: &World, options: &[&str]) -> Vec<usize> {
        world.write("try.py", TRY);
        // Not as words: whoever decides would look at them.
        world.write("names", self.names.join("\n"));
        let mut words = vec!["run"];
        words.extend(options);
        words.extend(["--", "/usr/bin/python3", "try.py"]);
        let ran = world.run(&words);
        assert!(ran.stdout.ends_with("own reached\n"), "{}{}", ran.stdout, ran.stderr);
        let lines = ran.stdout.lines().enumerate().take(self.names.len());
        lines.filter(|(_, line)| line.ends_with(" heard")).map(|(number, _)| number).collect()
    }
}

#[test]
fn a128_sockets_are_closed_and_open_by_path_or_all() {
    as_both(|world| {
        let doors = Doors::new(&world);
        let srt = |network: &str| {
            let filesystem = r#""filesystem":{"allowWrite":["."],"denyRead":[],"denyWrite":[]}"#;
            let hosts = r#""allowedDomains":[],"deniedDomains":[]"#;
            world.write("srt.json", format!("{{{filesystem},\"network\":{{{hosts}{network}}}}}"));
            doors.reached(&world, &["--settings", "srt.json"])
        };
        let own = |network: String| {
            world.write("net.yaml", format!("network: {{ {network} }}\n"));
            doors.reached(&world, &["--policy", "net.yaml"])
        };
        let folder = doors.elsewhere.root().display();
        assert_eq!(doors.reached(&world, &[]), [0; 0], "by default");
        for (number, name) in doors.names.iter().take(3).enumerate() {
            assert_eq!(own(format!("unix: ['{name}']")), [number], "{name}");
            assert_eq!(srt(&format!(",\"allowUnixSockets\":[\"{name}\"]")), [number], "{name}");
        }
        assert_eq!(own(format!("unix: ['{folder}']")), [2], "what lies in a folder");
        assert_eq!(own("unix: [/]".into()), [0, 1, 2]);
        assert_eq!(srt(",\"allowAllUnixSockets\":true"), [0, 1, 2]);
        assert_eq!(srt(",\"allowAllUnixSockets\":false"), [0; 0]);
        let filtered = format!("mode: allow-list, unix: ['{folder}/data*']");
        assert_eq!(own(filtered), [2], "beside hosts by name");
    });
}

#[test]
fn what_opens_a_socket_is_the_persons_own_and_what_is_hidden_stays_so() {
    as_both(|world| {
        let doors = Doors::new(&world);
        let [_, _, path, _] = &doors.names;
        world.write(".palisade/policy.yaml", format!("network: {{ unix: ['{path}'] }}\n"));
        assert_eq!(doors.reached(&world, &[]), [0; 0], "nobody trusts the project");
        fs::remove_file(world.project.path(".palisade/policy.yaml")).unwrap();
        world.write(
            "net.yaml",
            format!("network: {{ unix: [/] }}\nfiles: {{ hide: ['{path}'] }}\n"),
        );
        assert_eq!(doors.reached(&world, &["--policy", "net.yaml"]), [0, 1]);
        let told = world.json(&["run", "--json", "--policy", "net.yaml", "--", "true"]);
        let notes: Vec<_> = told["notes"].as_array().unwrap().iter().collect();
        let says = |code: &str, name: &str| {
            let mut notes = notes.iter();
            notes.any(|it| it["code"] == code && it["message"].to_string().contains(name))
        };
        assert!(says("socket-hidden", "/database"), "{told:#}");
        assert!(says("socket-open", "/agent") && says("socket-open", "/in"), "{told:#}");
    });
}
