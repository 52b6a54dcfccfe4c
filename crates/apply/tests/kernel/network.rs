//! What leaves the sandbox: nothing, or everything.

use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};

use palisade_plan::policy::policy::NetworkMode;
use palisade_plan::{Layer, Strength};

use crate::{Place, all, as_both, out};

/// Tries a port of the host's loopback, then a server of its own.
const TRY: &str = "import socket, sys\n\
    try: socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5); print('host')\n\
    except OSError as e: print('no host', e.errno)\n\
    s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()\n\
    socket.create_connection(s.getsockname(), 5); print('own')\n\
    u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
    try: u.sendto(b'x', ('192.0.2.1', 53)); print('sent')\n\
    except OSError as e: print('not sent', e.errno)\n";

fn tried(place: &Place, port: u16) -> String {
    let outcome = place.run(&["/usr/bin/python3", "-c", TRY, &port.to_string()]);
    assert!(!out(&outcome).is_empty(), "{}", all(&outcome));
    out(&outcome)
}

/// Holds a port of the host's loopback, by a program of the host.
pub(crate) struct Server(std::process::Child, pub(crate) u16);

impl Server {
    pub(crate) fn new() -> Self {
        use std::io::BufRead as _;
        let script = "import socket, time\n\
            s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()\n\
            print(s.getsockname()[1], flush=True); time.sleep(120)\n";
        let mut child = std::process::Command::new("/usr/bin/python3")
            .args(["-c", script])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let output = child.stdout.take().unwrap();
        std::io::BufReader::new(output).read_line(&mut line).unwrap();
        Self(child, line.trim().parse().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

#[test]
fn a048_the_network_is_empty_but_for_its_own_loopback() {
    as_both("network::a048_the_network_is_empty_but_for_its_own_loopback", || {
        let (place, server) = (Place::new(), Server::new());
        assert_eq!(tried(&place, server.1), "no host 111\nown\nnot sent 101\n");
    });
}

#[test]
fn a049_without_restriction_the_network_is_the_hosts() {
    as_both("network::a049_without_restriction_the_network_is_the_hosts", || {
        let (mut place, server) = (Place::new(), Server::new());
        place.order.network = NetworkMode::Disabled;
        let text = tried(&place, server.1);
        assert!(text.starts_with("host\nown\n"), "{text}");
        let outcome = place.sh("echo x > made; echo x > /etc/x");
        assert!(place.project.path("made").exists(), "{}", all(&outcome));
        assert!(all(&outcome).contains("Read-only file system"));
        let network = outcome.enforced.iter().find(|one| one.layer == Layer::Network).unwrap();
        assert!(matches!(network.strength, Strength::Absent(_)));
    });
}

#[test]
fn e052_abstract_sockets_and_signals_of_the_host_are_out_of_reach() {
    as_both("network::e052_abstract_sockets_and_signals_of_the_host_are_out_of_reach", || {
        let name = format!("palisade-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let _listening = UnixListener::bind_addr(&address).unwrap();
        let mut place = Place::new();
        for mode in [NetworkMode::DenyAll, NetworkMode::Disabled] {
            place.order.network = mode;
            let outcome = place.python(&format!(
                "import socket, os\n\
                 s = socket.socket(socket.AF_UNIX)\n\
                 try: s.connect('\\0{name}'); print('reached')\n\
                 except OSError as e: print('no')\n\
                 o = socket.socket(socket.AF_UNIX); o.bind('\\0own'); o.listen()\n\
                 socket.socket(socket.AF_UNIX).connect('\\0own'); print('own')\n\
                 try: os.kill({}, 0); print('signalled')\n\
                 except OSError as e: print(e.errno)\n",
                std::process::id()
            ));
            assert_eq!(out(&outcome), "no\nown\n3\n", "{mode}: {}", all(&outcome));
        }
    });
}
