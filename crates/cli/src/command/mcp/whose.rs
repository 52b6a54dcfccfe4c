//! Whose process is at the other end of a connection on this machine?
//!
//! Every user of a machine reaches its loopback addresses. The kernel lists whose socket is at which.

#[cfg(target_os = "linux")]
use std::net::IpAddr;
use std::net::SocketAddr;

/// Whether this can be told here.
pub(super) const CAN_TELL: bool = cfg!(target_os = "linux");

/// Whether the process at `peer`, which is connected with `own`, is one of our user's.
#[cfg(target_os = "linux")]
pub(super) fn is_ours(peer: SocketAddr, own: SocketAddr) -> bool {
    let list = match peer.ip() {
        IpAddr::V4(_) => "/proc/self/net/tcp",
        IpAddr::V6(_) => "/proc/self/net/tcp6",
    };
    let user = rustix::process::geteuid().as_raw();
    std::fs::read_to_string(list).is_ok_and(|list| owner(&list, peer, own) == Some(user))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn is_ours(_: SocketAddr, _: SocketAddr) -> bool {
    false
}

/// How the kernel writes that a socket is connected.
#[cfg(target_os = "linux")]
const CONNECTED: &str = "01";

/// Finds the user whose socket is at `near` and connected with `far`. One that was closed is nobody's:
/// the kernel lists it as root's.
#[cfg(target_os = "linux")]
fn owner(list: &str, near: SocketAddr, far: SocketAddr) -> Option<u32> {
    let (near, far) = (written(near), written(far));
    list.lines().skip(1).find_map(|line| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let is_it = words.next() == Some(&near) && words.next() == Some(&far);
        let is_connected = is_it && words.next() == Some(CONNECTED);
        // The queues, the timer and the retransmissions stand between.
        let user = words.nth(3).filter(|_| is_connected)?.parse().ok()?;
        // And here how long it has waited.
        words.nth(1).filter(|inode| *inode != "0").map(|_| user)
    })
}

/// Writes an address as the kernel does: words of four bytes, each as a number of this machine.
#[cfg(target_os = "linux")]
fn written(address: SocketAddr) -> String {
    let bytes = match address.ip() {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let words = bytes.chunks(4).filter_map(|word| Some(u32::from_ne_bytes(word.try_into().ok()?)));
    let words: String = words.map(|word| format!("{word:08X}")).collect();
    format!("{words}:{:04X}", address.port())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn the_kernel_tells_whose_socket_it_is() {
        for at in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(at) else { continue };
            let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (near, far) = (stream.local_addr().unwrap(), listener.local_addr().unwrap());
            assert!(is_ours(near, far), "{at}");
            drop(stream);
            let other = SocketAddr::new(near.ip(), 1);
            assert!(!is_ours(other, far), "{at}");
        }
        let list = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
                    0: 0100007F:1F90 0100007F:0050 01 00000000:00000000 00:00000000 00000000  1000        0 5 1\n\
                    1: 0100007F:1F91 0100007F:0050 01 00000000:00000000 00:00000000 00000000     0        0 6 1\n\
                    2: 0100007F:1F93 0100007F:0050 05 00000000:00000000 00:00000000 00000000     0        0 7 1\n\
                    3: 0100007F:1F94 0100007F:0050 01 00000000:00000000 00:00000000 00000000     0        0 0 1\n";
        let owner =
            |near: &str| owner(list, near.parse().unwrap(), "127.0.0.1:80".parse().unwrap());
        if cfg!(target_endian = "little") {
            assert_eq!(owner("127.0.0.1:8080"), Some(1000));
            assert_eq!(owner("127.0.0.1:8081"), Some(0));
        }
        for nobody in ["127.0.0.1:8082", "127.0.0.1:8083", "127.0.0.1:8084"] {
            assert_eq!(owner(nobody), None, "{nobody}");
        }
    }
}
