//! The one interface of an empty network.

use std::mem;
use std::net::{Ipv4Addr, SocketAddrV4};

use rustix::io::{Errno, Result};
use rustix::ioctl::{Opcode, Setter};
use rustix::net::{AddressFamily, SocketFlags, SocketType};

/// `IFF_UP` and `IFF_RUNNING`.
const UP: i16 = 0x41;

/// `SIOCSIFFLAGS`.
const SET_FLAGS: Opcode = 0x8914;

/// Returns whether an address of the world has a route; nothing is sent. What says nothing about routes
/// is an error.
pub(crate) fn reaches_world() -> Result<bool> {
    let (family, kind) = (AddressFamily::INET, SocketType::DGRAM);
    let socket = match rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None) {
        // Our filter, or somebody else's: what cannot be had leads nowhere.
        Err(Errno::AFNOSUPPORT | Errno::PROTONOSUPPORT | Errno::PERM | Errno::ACCESS) => {
            return Ok(false);
        }
        socket => socket?,
    };
    // An address for documentation (RFC 5737), and the port that discards.
    let address = SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 1), 9);
    match rustix::net::connect(&socket, &address) {
        Ok(()) => Ok(true),
        Err(Errno::NETUNREACH | Errno::HOSTUNREACH) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// Brings the loopback interface up.
pub(crate) fn loopback_up() -> Result<()> {
    let (family, kind) = (AddressFamily::INET, SocketType::DGRAM);
    let socket = rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
    // SAFETY: an all-zero request is a valid one.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(*b"lo") {
        *to = libc::c_char::from_ne_bytes([from]);
    }
    request.ifr_ifru.ifru_flags = UP;
    // SAFETY: this request of the kernel's reads what is behind a pointer, and writes nothing.
    let set = unsafe { Setter::<SET_FLAGS, _>::new(request) };
    // SAFETY: what it reads is a request whose name ends with a zero. A missing interface comes back
    // as an error.
    unsafe { rustix::ioctl::ioctl(&socket, set) }
}
