//! The host's own loopback, at the ports that a policy lists.

use std::io::Write as _;
use std::net::TcpListener;

use crate::kit::as_both;

/// Serves at an address of the host's loopback until the test ends, and returns the port.
fn serve(address: &str, word: &'static [u8]) -> u16 {
    let listener = TcpListener::bind((address, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        listener.incoming().flatten().for_each(|mut one| drop(one.write_all(word)));
    });
    port
}

/// Tries ports of a host by both protocols: what was heard, or the number of the error.
const TRY: &str = r"
import socket, sys
def heard(family, host, port):
    try:
        address = socket.getaddrinfo(host, port, family, socket.SOCK_STREAM)[0][4]
        s = socket.socket(family); s.settimeout(10); s.connect(address)
        return s.recv(9).decode() or 'nothing'
    except socket.gaierror: return 'no name'
    except OSError as e: return e.errno
for host in ['host.palisade.internal', 'localhost']:
    for port in sys.argv[1:]:
        print(host.split('.')[0], heard(socket.AF_INET, host, int(port)), heard(socket.AF_INET6, host, int(port)))
";

#[test]
fn the_hosts_loopback_is_reached_at_listed_ports_and_localhost_stays_the_sandboxs_own() {
    as_both(|world| {
        let by_v4 = serve("127.0.0.1", b"by-v4");
        let by_v6 = serve("::1", b"by-v6");
        let unlisted = serve("127.0.0.1", b"unlisted");
        world.write("try.py", TRY);
        let tried = |mode: &str| {
            let ports = format!("mode: {mode}, host_ports: [{by_v4}, {by_v6}]");
            world.write("net.yaml", format!("network: {{ {ports} }}\n"));
            let ports = [by_v4, by_v6, unlisted].map(|port| port.to_string());
            let mut words = vec!["run", "--policy", "net.yaml", "--", "/usr/bin/python3", "try.py"];
            words.extend(ports.iter().map(String::as_str));
            let ran = world.run(&words);
            assert_eq!(ran.code, Some(0), "{}", ran.stderr);
            ran.stdout
        };
        // What IPv6 tells of a wall is another error.
        let own = "localhost 111 111\n".repeat(3);
        for mode in ["allow-list", "monitor"] {
            let expected = format!("host by-v4 by-v4\nhost by-v6 by-v6\nhost 113 113\n{own}");
            assert_eq!(tried(mode), expected, "{mode}");
        }
        let nothing = "host no name no name\n".repeat(3);
        assert_eq!(tried("deny-all"), format!("{nothing}{own}"));
    });
}
