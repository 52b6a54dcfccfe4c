//! A filtered network: every address leads to the supervisor, by every way that the kernel offers.

#![expect(clippy::disallowed_types, reason = "it stands in for the gate")]

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc;
use std::thread;

use palisade_apply::{Host, Inlets, Outcome, Streams, send_ahead};
use palisade_plan::network::{DENIED, REFUSED, Rung};
use palisade_plan::policy::policy::NetworkMode;
use palisade_plan::{build, network};
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{RecvFlags, SendFlags, sockopt};

use crate::{Place, all, as_both, out, permit};

/// What becomes of a first packet, by the port that it is for.
fn mark(port: u16) -> u32 {
    match port {
        7001 => DENIED,
        7002 => REFUSED,
        _ => 0,
    }
}

/// Answers like a supervisor that tells everybody where they are.
fn keep(inlets: Inlets) {
    let Inlets { relay, names, proxy, queue, .. } = inlets;
    let [udp_v4, udp_v6, tcp_v4, tcp_v6] = names;
    for (socket, says) in relay.into_iter().map(|one| (one, "relay")).chain([
        (tcp_v4, "names"),
        (tcp_v6, "names"),
        (proxy, "proxy"),
    ]) {
        thread::spawn(move || accept(&TcpListener::from(socket), says));
    }
    for socket in [udp_v4, udp_v6] {
        thread::spawn(move || {
            let socket = UdpSocket::from(socket);
            socket.set_nonblocking(false).unwrap();
            let mut bytes = [0; 512];
            while let Ok((length, from)) = socket.recv_from(&mut bytes) {
                socket.send_to(&bytes[..length], from).ok();
            }
        });
    }
    queue.into_iter().for_each(|queue| drop(thread::spawn(move || judge(&queue))));
}

fn accept(listener: &TcpListener, says: &str) {
    listener.set_nonblocking(false).unwrap();
    while let Ok((mut stream, _)) = listener.accept() {
        let original: Result<SocketAddr, _> = match stream.local_addr().unwrap() {
            SocketAddr::V4(_) => sockopt::ip_original_dst(&stream).map(SocketAddr::from),
            SocketAddr::V6(_) => sockopt::ipv6_original_dst(&stream).map(SocketAddr::from),
        };
        let original = original.map_or_else(|errno| errno.to_string(), |it| it.to_string());
        let mut asked = [0; 4];
        stream.read_exact(&mut asked).ok();
        stream.write_all(format!("{says} {original}").as_bytes()).ok();
    }
}

/// Gives a verdict on each packet in the queue.
fn judge(queue: &OwnedFd) {
    let mut bytes = [0; 4096];
    while let Ok((length, _)) = rustix::net::recv(queue.as_fd(), &mut bytes[..], RecvFlags::empty())
    {
        let bytes = &bytes[..length];
        let id: [u8; 4] = bytes[24..28].try_into().unwrap();
        let mut attributes = &bytes[20..];
        let packet = loop {
            let [length, kind] =
                [0, 2].map(|at| u16::from_ne_bytes([attributes[at], attributes[at + 1]]));
            if kind == 10 {
                break &attributes[4..];
            }
            attributes = &attributes[usize::from(length).next_multiple_of(4)..];
        };
        let port = match packet[0] >> 4 {
            4 => &packet[22..24],
            _ => &packet[42..44],
        };
        let port = u16::from_be_bytes([port[0], port[1]]);
        let mut verdict = Vec::new();
        verdict.extend(40_u32.to_ne_bytes());
        verdict.extend((3_u16 << 8 | 1).to_ne_bytes());
        verdict.extend(1_u16.to_ne_bytes());
        verdict.extend([0; 8]);
        verdict.extend([0; 4]);
        verdict.extend(12_u16.to_ne_bytes());
        verdict.extend(2_u16.to_ne_bytes());
        verdict.extend(1_u32.to_be_bytes());
        verdict.extend(id);
        verdict.extend(8_u16.to_ne_bytes());
        verdict.extend(3_u16.to_ne_bytes());
        verdict.extend(mark(port).to_be_bytes());
        let kernel = SocketAddrNetlink::new(0, 0);
        rustix::net::sendto(queue.as_fd(), &verdict, SendFlags::empty(), &kernel).unwrap();
    }
}

fn run(best: Rung, script: &str) -> (Outcome, Rung) {
    let mut place = Place::new();
    place.order.network = NetworkMode::AllowList;
    place.order.argv = ["/usr/bin/python3", "-c", script].map(str::to_owned).to_vec();
    let host = Host::probe();
    send_ahead();
    let mut facts = host.facts(&place.order.questions());
    facts.kernel.network = best;
    let plan = build(&permit(), &place.order, &facts).unwrap();
    let (tell, told) = mpsc::channel();
    let running = host.start_awaited(&plan, Streams::default()).unwrap().with_inlets(move |it| {
        tell.send(it.rung).unwrap();
        keep(it);
    });
    let outcome = running.wait().unwrap();
    (outcome, told.recv().unwrap())
}

const TRY: &str = "import socket\n\
    def tcp(address, family=socket.AF_INET):\n\
    \x20   s = socket.socket(family); s.settimeout(10)\n\
    \x20   try: s.connect(address); s.sendall(b'abcd'); return s.recv(100).decode()\n\
    \x20   except OSError as e: return e.errno\n\
    def udp(address, family=socket.AF_INET):\n\
    \x20   s = socket.socket(family, socket.SOCK_DGRAM); s.settimeout(10)\n\
    \x20   s.connect(address)\n\
    \x20   try: s.send(b'abcd'); return s.recv(100).decode()\n\
    \x20   except OSError as e: return e.errno\n\
    print(tcp(('203.0.113.5', 80)), tcp(('2001:db8::5', 443), socket.AF_INET6))\n\
    print(tcp(('192.0.2.9', 53)), udp(('192.0.2.9', 53)), udp(('127.0.0.53', 53)))\n\
    print(udp(('2001:db8::9', 53), socket.AF_INET6))\n\
    print(tcp(('127.0.0.1', 1023)), tcp(('127.0.0.1', 1)), tcp(('127.0.0.1', 7003)))\n\
    print(udp(('203.0.113.5', 443)), udp(('2001:db8::5', 443), socket.AF_INET6))\n\
    print(tcp(('203.0.113.5', 7001)), tcp(('203.0.113.5', 7002)))\n\
    print(tcp(('2001:db8::5', 7001), socket.AF_INET6), tcp(('2001:db8::5', 7002), socket.AF_INET6))\n\
    l = socket.socket(); l.bind(('0.0.0.0', 8080)); l.listen()\n\
    c = socket.create_connection(('127.0.0.1', 8080), 10); print('own', c.getpeername()[1])\n\
    print(tcp(('203.0.113.5', 8080)))\n\
    try: socket.socket().bind(('127.0.0.1', 80)); print('bound')\n\
    except OSError as e: print(e.errno)\n";

#[test]
fn every_address_leads_to_the_supervisor() {
    as_both("inlets::every_address_leads_to_the_supervisor", || {
        for (best, denied) in [
            (Rung::Queue, "113 111\n113 111\n"),
            (
                Rung::Redirect,
                "relay 203.0.113.5:7001 relay 203.0.113.5:7002\n\
                 relay [2001:db8::5]:7001 relay [2001:db8::5]:7002\n",
            ),
        ] {
            let (outcome, rung) = run(best, TRY);
            assert_eq!(rung, best, "{}", all(&outcome));
            let expected = format!(
                "relay 203.0.113.5:80 relay [2001:db8::5]:443\n\
                 names 192.0.2.9:53 abcd abcd\nabcd\n\
                 proxy 127.0.0.1:1023 relay 127.0.0.1:1 111\n\
                 111 111\n\
                 {denied}\
                 own 8080\nrelay 203.0.113.5:8080\n13\n"
            );
            assert_eq!(out(&outcome), expected, "{best:?}: {}", all(&outcome));
        }
    });
}

#[test]
fn without_rules_only_a_proxy_is_found() {
    as_both("inlets::without_rules_only_a_proxy_is_found", || {
        let (outcome, rung) = run(
            Rung::None,
            "import socket\n\
             c = socket.create_connection(('127.0.0.1', 1023), 10)\n\
             c.sendall(b'abcd'); print(c.recv(100).decode())\n\
             s = socket.socket(); s.settimeout(10)\n\
             try: s.connect(('203.0.113.5', 80)); print('connected')\n\
             except OSError as e: print(e.errno)\n",
        );
        assert_eq!(rung, Rung::None);
        assert_eq!(
            out(&outcome),
            "proxy No such file or directory (os error 2)\n111\n",
            "{}",
            all(&outcome)
        );
    });
}

#[test]
fn nobody_answers_where_nobody_keeps_the_sockets() {
    as_both("inlets::nobody_answers_where_nobody_keeps_the_sockets", || {
        let mut place = Place::new();
        place.order.network = NetworkMode::AllowList;
        let outcome = place.python(
            "import socket\n\
             s = socket.socket(); s.settimeout(2)\n\
             try: s.connect(('203.0.113.5', 80)); print('connected')\n\
             except OSError as e: print('no')\n",
        );
        assert_eq!(out(&outcome), "no\n", "{}", all(&outcome));
        assert_eq!(network::RELAY_PORT, 1);
    });
}
