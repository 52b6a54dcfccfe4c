//! Hosts by name: what a policy lists is reached by every program, and nothing else is.

use std::io::BufRead as _;
use std::process::{Child, Command, Stdio};

use serde_json::{Value as Json, json};

use crate::kit::{World, as_both};
use crate::schema::assert_fits;

/// A web server on the host's loopback.
pub(crate) struct Server(Child, pub(crate) u16);

impl Server {
    pub(crate) fn new() -> Self {
        let script = "import http.server\n\
            class H(http.server.BaseHTTPRequestHandler):\n\
            \x20   def do_GET(self):\n\
            \x20       self.send_response(200); self.end_headers(); self.wfile.write(b'served')\n\
            \x20   def log_message(self, *a): pass\n\
            s = http.server.ThreadingHTTPServer(('127.0.0.1', 0), H)\n\
            print(s.server_port, flush=True); s.serve_forever()\n";
        let mut child = Command::new("/usr/bin/python3")
            .args(["-c", script])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self(child, line.trim().parse().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Tries hosts: with what proxy variables say, and without.
const TRY: &str = r#"
import os, socket, sys
port = int(sys.argv[1])
def direct(host, port):
    try:
        s = socket.create_connection((host, port), 10)
        s.sendall(b'GET / HTTP/1.0\r\nHost: %s\r\n\r\n' % host.encode())
        text = b''
        while True:
            more = s.recv(4096)
            if not more: return text.split(b'\r\n\r\n')[-1].decode()
            text += more
    except socket.gaierror as e: return 'no name'
    except OSError as e: return e.errno
def proxied(words):
    s = socket.create_connection(('127.0.0.1', 1023), 10); s.sendall(words); text = b''
    while True:
        more = s.recv(4096)
        if not more: return text
        text += more
print(direct('host.palisade.internal', port))
print(direct('host.palisade.internal', port + 1 if port < 65535 else 1024))
print(direct('elsewhere.test', 80), direct('192.0.2.7', 80))
own = 'host.palisade.internal:%d' % port
get = 'GET http://%s/ HTTP/1.1\r\nHost: %s\r\n\r\n'
print(proxied((get % (own, own)).encode()).split(b'\r\n\r\n')[-1].decode())
for words in [get % ('elsewhere.test', 'elsewhere.test'), 'CONNECT elsewhere.test:443 HTTP/1.1\r\n\r\n']:
    lines = proxied(words.encode()).decode().split('\r\n')
    print(lines[0], [l for l in lines if l.startswith('X-Proxy-Error')], lines[-1].strip())
s = socket.create_connection(('127.0.0.1', 1023), 10); s.sendall(b'\5\1\0'); s.recv(2)
s.sendall(b'\5\1\0\3\x0eelsewhere.test\0\x50'); print('socks', s.recv(10)[1])
print(os.environ['HTTP_PROXY'], os.environ['ALL_PROXY'])
"#;

fn ran(world: &World, policy: &str, port: u16) -> Json {
    world.write("net.yaml", policy);
    world.write("try.py", TRY);
    let port = port.to_string();
    let words =
        ["run", "--json", "--policy", "net.yaml", "--", "/usr/bin/python3", "try.py", &port];
    let ran = world.run(&words);
    let told: Json = serde_json::from_str(&ran.stdout).unwrap();
    assert_fits(&told, "outcome.json");
    told
}

#[test]
fn a092_listed_hosts_are_reached_by_name_and_others_are_not() {
    as_both(|world| {
        let server = Server::new();
        let policy = format!("network: {{ mode: allow-list, host_ports: [{}] }}\n", server.1);
        let told = ran(&world, &policy, server.1);
        let lines: Vec<&str> = told["stdout"].as_str().unwrap_or_default().lines().collect();
        assert_eq!(
            lines.get(..4),
            Some(&["served", "113", "no name 113", "served"][..]),
            "{told:#}"
        );
        let network = &told["network"];
        assert_eq!(network["rung"], "queue");
        let find = |host: &str, port: Json| {
            let all = network["connections"].as_array().unwrap();
            all.iter().find(|it| it["host"] == host && it["port"] == port).cloned().unwrap()
        };
        let own = find("host.palisade.internal", json!(server.1));
        assert_eq!((&own["verdict"], &own["address"]), (&json!("allowed"), &json!("127.0.0.1")));
        assert!(own["sent"].as_u64() > Some(20) && own["received"].as_u64() > Some(6), "{own}");
        assert_eq!(find("elsewhere.test", Json::Null)["code"], "name-not-listed");
        assert_eq!(find("192.0.2.7", json!(80))["code"], "host-not-listed");
    });
}

#[test]
fn a125_a_refused_request_is_told_why_by_the_proxy() {
    as_both(|world| {
        let server = Server::new();
        let policy = format!("network: {{ mode: allow-list, host_ports: [{}] }}\n", server.1);
        let told = ran(&world, &policy, server.1);
        let text = told["stdout"].as_str().unwrap_or_default();
        let said = "HTTP/1.1 403 Forbidden ['X-Proxy-Error: host-not-listed'] \
                    palisade: the policy does not allow elsewhere.test";
        let why = ": network.allow does not list it\n";
        assert!(text.contains(&format!("{said}{why}{said}:443{why}socks 2\n")), "{told:#}");
        assert!(text.ends_with("http://127.0.0.1:1023 socks5h://127.0.0.1:1023\n"), "{text}");
    });
}

#[test]
fn a094_in_mode_monitor_everything_is_recorded_and_what_is_denied_is_not_reached() {
    as_both(|world| {
        let server = Server::new();
        let policy = format!(
            "network: {{ mode: monitor, host_ports: [{}], deny: [elsewhere.test] }}\n",
            server.1
        );
        let told = ran(&world, &policy, server.1);
        let text = told["stdout"].as_str().unwrap_or_default();
        assert!(text.starts_with("served\n113\nno name "), "{told:#}");
        let all = told["network"]["connections"].as_array().unwrap();
        let by_request = all.iter().find(|it| it["request"] == "GET /").unwrap();
        assert_eq!((&by_request["via"], &by_request["port"]), (&json!("http"), &json!(server.1)));
        assert!(all.iter().any(|it| it["host"] == "192.0.2.7" && it["port"] == 80), "{told:#}");
    });
}

/// Sends plain requests on one connection, as long as it stands.
const REQUESTS: &str = r#"
import socket, sys
port = int(sys.argv[1])
def said(words, proxied=False):
    try:
        to = ('127.0.0.1', 1023) if proxied else ('host.palisade.internal', port)
        s = socket.create_connection(to, 10); s.sendall(words.encode()); text = b''
        while True:
            more = s.recv(4096)
            if not more: break
            text += more
        head, _, body = text.decode().partition('\r\n\r\n')
        return head.split('\r\n')[0].split(' ')[1], body.strip()
    except OSError as e: return e.errno
host = 'host.palisade.internal:%d' % port
for proxied in [False, True]:
    for line in ['GET /', 'GET /secret', 'GET //secret', 'GET /a/%2e%2e/secret', 'GET /;/secret', 'GET /x;y/../SECRET;z', 'POST /', 'TRACE /']:
        method, path = line.split(' ')
        target = 'http://' + host + path if proxied else path
        print(line, *said('%s %s HTTP/1.1\r\nHost: %s\r\n\r\n' % (method, target, host), proxied)[:1])
"#;

#[test]
fn rules_for_requests_hold_by_themselves_and_through_the_proxy() {
    as_both(|world| {
        let server = Server::new();
        let own = "host.palisade.internal";
        let policy = format!(
            "network:\n  mode: allow-list\n  host_ports: [{port}]\n  http_rules:\n  \
             - {{ host: '{own}', path: /secret, action: deny }}\n  \
             - {{ host: '{own}', methods: [GET], action: allow }}\n",
            port = server.1
        );
        world.write("net.yaml", policy);
        world.write("requests.py", REQUESTS);
        let port = server.1.to_string();
        let python = ["/usr/bin/python3", "requests.py", &port];
        let words = [&["run", "--json", "--policy", "net.yaml", "--"][..], &python[..]].concat();
        let ran = world.run(&words);
        let told: Json = serde_json::from_str(&ran.stdout).unwrap();
        assert_fits(&told, "outcome.json");
        let lines: Vec<&str> = told["stdout"].as_str().unwrap_or_default().lines().collect();
        let each = [
            "GET / 200",
            "GET /secret 403",
            "GET //secret 403",
            "GET /a/%2e%2e/secret 403",
            "GET /;/secret 400",
            "GET /x;y/../SECRET;z 403",
            "POST / 403",
            "TRACE / 405",
        ];
        assert_eq!(lines, [each, each].concat(), "{told:#}");
        let all = told["network"]["connections"].as_array().unwrap();
        let refused: Vec<&Json> = all.iter().filter(|it| it["verdict"] == "refused").collect();
        let first = refused.first().unwrap();
        assert_eq!(
            (&first["code"], &first["request"]),
            (&json!("request-refused"), &json!("GET /secret"))
        );
        let rule = format!("http_rules: deny {own} /secret");
        assert_eq!(first["rule"], json!(rule), "{told:#}");
    });
}

/// Many refusals, and how many of them the kernel kept to itself.
const REFUSED: &str = r"
import socket
for i in range(300):
    # The kernel now and then tells of it at the first use only.
    try: socket.create_connection(('192.0.2.7', 80), 20).sendall(b'x'); print('connected')
    except OSError as e: assert e.errno == 113, e
names, counts = [l.split() for l in open('/proc/net/snmp') if l.startswith('Icmp:')]
print(dict(zip(names, counts)).get('OutRateLimitGlobal', '0'))
";

#[test]
fn every_refusal_is_told_at_once() {
    as_both(|world| {
        world.write("net.yaml", "network: { mode: allow-list, allow: [a.test] }\n");
        world.write("refused.py", REFUSED);
        let ran =
            world.run(&["run", "--policy", "net.yaml", "--", "/usr/bin/python3", "refused.py"]);
        assert_eq!((ran.stdout.as_str(), ran.code), ("0\n", Some(0)), "{}", ran.stderr);
    });
}
