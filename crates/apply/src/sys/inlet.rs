//! Sockets inside a network of its own, and what leads connections to them.
//!
//! It runs between `clone3` and `execve`: nothing here allocates.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use palisade_plan::network::{NAMES_PORT, OWN_V4, PROXY_PORT, RELAY_PORT};
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, Result};
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{
    AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType, ipproto, netlink,
    sockopt,
};

/// Connections that wait to be taken.
const WAITING: i32 = 4096;

/// A socket that talks with the kernel about routes.
pub(crate) fn about_routes() -> Result<OwnedFd> {
    // `NETLINK_ROUTE` is the first of them, and the one that is meant without a number.
    talk(None)
}

/// A socket that talks with the kernel about rules and queues.
pub(crate) fn about_rules() -> Result<OwnedFd> {
    talk(Some(netlink::NETFILTER))
}

fn talk(protocol: Option<Protocol>) -> Result<OwnedFd> {
    let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
    let socket = rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, protocol)?;
    rustix::net::bind(&socket, &SocketAddrNetlink::new(0, 0))?;
    Ok(socket)
}

/// Has every refusal told: by rule the kernel tells of fifty at once, and of the others when they are
/// tried again, a second later. Where this cannot be said it stays so.
pub(crate) fn tell_every_refusal() {
    for setting in [c"/proc/sys/net/ipv4/icmp_ratemask", c"/proc/sys/net/ipv6/icmp/ratemask"] {
        let flags = OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        if let Ok(file) = rustix::fs::open(setting, flags, Mode::empty()) {
            // Kinds of messages that are counted: none but the answer to a ping.
            rustix::io::write(&file, b"0").ok();
        }
    }
}

/// Sends messages and hears the answers to all of them; the first that is no is the result.
pub(crate) fn ask(socket: BorrowedFd<'_>, messages: &[u8], answers: u32) -> Result<()> {
    let kernel = SocketAddrNetlink::new(0, 0);
    rustix::net::sendto(socket, messages, SendFlags::empty(), &kernel)?;
    // An answer carries what it answers, cut off or not; all are read before the next is asked.
    let mut buffer = [0; 8192];
    let mut heard = 0;
    let mut outcome = Ok(());
    while heard < answers {
        let (length, _) = rustix::net::recv(socket, &mut buffer[..], RecvFlags::empty())?;
        let mut rest = buffer.get(..length).unwrap_or_default();
        while let Some((errno, behind)) = answer(rest) {
            heard += 1;
            if errno != 0 && outcome.is_ok() {
                outcome = Err(Errno::from_raw_os_error(errno));
            }
            rest = behind;
        }
        // A batch that fails as a whole is not answered message by message.
        if outcome.is_err() {
            drain(socket);
            return outcome;
        }
    }
    outcome
}

/// Forgets what else was answered.
fn drain(socket: BorrowedFd<'_>) {
    let mut buffer = [0; 8192];
    while rustix::net::recv(socket, &mut buffer[..], RecvFlags::DONTWAIT).is_ok() {}
}

/// Reads one answer: what went wrong, or zero, and what comes behind.
fn answer(bytes: &[u8]) -> Option<(i32, &[u8])> {
    /// `NLMSG_ERROR`.
    const ERROR: u16 = 2;
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (kind, rest) = rest.split_first_chunk::<2>()?;
    let (_, rest) = rest.split_first_chunk::<10>()?;
    let (errno, _) = rest.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_ne_bytes(*length)).ok()?;
    let behind = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    let errno = if u16::from_ne_bytes(*kind) == ERROR { -i32::from_ne_bytes(*errno) } else { 0 };
    (length >= 20).then_some((errno, behind))
}

/// The sockets that everything inside is led to.
#[derive(Debug)]
pub(crate) struct Sockets {
    /// Connections, by IPv4 and by IPv6.
    pub(crate) relay: [OwnedFd; 2],
    /// Questions about names, by packets and by connections.
    pub(crate) names: [OwnedFd; 4],
    /// What programs say that want a proxy.
    pub(crate) proxy: OwnedFd,
}

/// Opens them, on the loopback.
pub(crate) fn open() -> Result<Sockets> {
    let (stream, datagram) = (SocketType::STREAM, SocketType::DGRAM);
    Ok(Sockets {
        relay: [at_v4(stream, RELAY_PORT)?, at_v6(stream, RELAY_PORT)?],
        names: [
            at_v4(datagram, NAMES_PORT)?,
            at_v6(datagram, NAMES_PORT)?,
            at_v4(stream, NAMES_PORT)?,
            at_v6(stream, NAMES_PORT)?,
        ],
        proxy: at_v4(stream, PROXY_PORT)?,
    })
}

fn at_v4(kind: SocketType, port: u16) -> Result<OwnedFd> {
    let socket = socket(AddressFamily::INET, kind)?;
    rustix::net::bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))?;
    listening(socket, kind)
}

fn at_v6(kind: SocketType, port: u16) -> Result<OwnedFd> {
    let socket = socket(AddressFamily::INET6, kind)?;
    sockopt::set_ipv6_v6only(&socket, true)?;
    rustix::net::bind(&socket, &SocketAddrV6::new(Ipv6Addr::LOCALHOST, port, 0, 0))?;
    listening(socket, kind)
}

fn socket(family: AddressFamily, kind: SocketType) -> Result<OwnedFd> {
    let protocol = if kind == SocketType::STREAM { ipproto::TCP } else { ipproto::UDP };
    rustix::net::socket_with(
        family,
        kind,
        SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        Some(protocol),
    )
}

/// Makes a socket for a connection to a server inside.
pub(crate) fn outgoing(by_v6: bool) -> Result<OwnedFd> {
    socket(if by_v6 { AddressFamily::INET6 } else { AddressFamily::INET }, SocketType::STREAM)
}

fn listening(socket: OwnedFd, kind: SocketType) -> Result<OwnedFd> {
    if kind == SocketType::STREAM {
        rustix::net::listen(&socket, WAITING)?;
    }
    Ok(socket)
}

/// Returns whether an address of the world is the sandbox's own, or has no route; nothing is sent. What
/// says nothing about routes is an error.
pub(crate) fn ends_here() -> Result<bool> {
    let (family, kind) = (AddressFamily::INET, SocketType::DGRAM);
    let socket = rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
    // An address for documentation (RFC 5737), and the port that discards.
    let address = SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 1), 9);
    match rustix::net::connect(socket.as_fd(), &address) {
        Ok(()) => {}
        Err(Errno::NETUNREACH | Errno::HOSTUNREACH) => return Ok(true),
        Err(errno) => return Err(errno),
    }
    let own = SocketAddrV4::try_from(rustix::net::getsockname(&socket)?)?;
    Ok(*own.ip() == OWN_V4)
}
