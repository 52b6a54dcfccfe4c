//! Attacks through sockets, shared memory, queues, keys and descriptors: rows 51 to 54, 73 and 77.

use std::ffi::CString;
use std::fs;
use std::io::{self, Write as _};
use std::net::{TcpStream, UdpSocket};
use std::os::fd::AsFd as _;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};
use std::path::Path;
use std::time::Duration;

use palisade_conformance::World;
use rustix::io::IoSlice;
use rustix::net::{AddressFamily, SendAncillaryBuffer, SendFlags, SocketAddrUnix, SocketType};

use crate::files::{self, append};
use crate::sys;
use crate::tries::{Tries, no};

/// Two ends of a pair talk: what a command uses between its own processes.
pub(crate) fn lawful(world: &World) -> io::Result<()> {
    files::lawful(world)?;
    // Written and read like files: some engines refuse `send`, which the standard library uses.
    let (here, there) = UnixStream::pair()?;
    rustix::io::write(&here, b"x")?;
    let mut byte = [0];
    if rustix::io::read(&there, &mut byte)? == 1 { Ok(()) } else { Err(no("no byte came")) }
}

pub(crate) fn connected(world: &World, tries: &mut Tries) {
    for (name, path) in
        [("connect", &world.stream), ("connect by /proc/self/root", &below(&world.stream))]
    {
        let sent = UnixStream::connect(path)
            .and_then(|mut stream| stream.write_all(world.mark.as_bytes()));
        tries.note(name, sent);
    }
    let link = world.own("door");
    let sent = std::os::unix::fs::symlink(&world.stream, &link)
        .and_then(|()| UnixStream::connect(&link))
        .and_then(|mut stream| stream.write_all(world.mark.as_bytes()));
    tries.note("connect through a link", sent);
}

pub(crate) fn sent(world: &World, tries: &mut Tries) {
    let mark = world.mark.as_bytes();
    let sent = UnixDatagram::unbound().and_then(|socket| socket.send_to(mark, &world.datagram));
    tries.note("sendto", sent);
    tries.note("sendmsg", send_message(&world.datagram, mark));
    let connected = UnixDatagram::unbound().and_then(|socket| {
        socket.connect(&world.datagram)?;
        socket.send(mark)
    });
    tries.note("connect and send", connected);
}

fn send_message(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::DGRAM, None)?;
    let address = SocketAddrUnix::new(path)?;
    let mut nothing = SendAncillaryBuffer::default();
    let parts = [IoSlice::new(bytes)];
    rustix::net::sendmsg_addr(socket, &address, &parts, &mut nothing, SendFlags::empty())?;
    Ok(())
}

pub(crate) fn near(world: &World, tries: &mut Tries) {
    let sent = UnixStream::connect(&world.near)
        .and_then(|mut stream| stream.write_all(world.mark.as_bytes()));
    tries.note("connect", sent);
}

pub(crate) fn nameless(world: &World, tries: &mut Tries) {
    let sent = SocketAddr::from_abstract_name(&world.nameless)
        .and_then(|address| UnixStream::connect_addr(&address))
        .and_then(|mut stream| stream.write_all(world.mark.as_bytes()));
    tries.note("connect", sent);
}

pub(crate) fn loopback(world: &World, tries: &mut Tries) {
    for address in ["127.0.0.1", "127.0.0.2", "::1", "::ffff:127.0.0.1", "0.0.0.0"] {
        let Ok(parsed) = address.parse() else { continue };
        let to = std::net::SocketAddr::new(parsed, world.port);
        let sent = TcpStream::connect_timeout(&to, Duration::from_secs(2))
            .and_then(|mut stream| stream.write_all(world.mark.as_bytes()));
        tries.note(address, sent);
    }
}

pub(crate) fn packet(world: &World, tries: &mut Tries) {
    let sent = UdpSocket::bind("127.0.0.1:0")
        .and_then(|socket| socket.send_to(world.mark.as_bytes(), ("127.0.0.1", world.port)));
    tries.note("sendto", sent);
}

pub(crate) fn inherited(world: &World, tries: &mut Tries) {
    let entries = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    for number in numbers.filter(|number| *number > 2).collect::<Vec<_>>() {
        let path = Path::new("/proc/self/fd").join(number.to_string());
        // The listing itself was one of them.
        let Ok(leads) = fs::read_link(&path) else { continue };
        if !leads.starts_with("/proc/") {
            tries.note(&format!("descriptor {number}"), append(&path, &world.mark));
        }
    }
    if tries.0.is_empty() {
        tries.note("descriptors", Err::<(), _>(no("none was left")));
    }
}

pub(crate) fn reopened(world: &World, tries: &mut Tries) {
    for path in ["/proc/self/fd/0", "/dev/stdin"] {
        tries.note(path, append(Path::new(path), &world.mark));
    }
    let written = rustix::io::write(io::stdin().as_fd(), world.mark.as_bytes());
    tries.note("write", written.map_err(io::Error::from));
}

pub(crate) fn shared(world: &World, tries: &mut Tries) {
    tries.note("append", append(&world.shared, &world.mark));
    tries.note("remove", fs::remove_file(&world.shared));
}

pub(crate) fn segment(world: &World, tries: &mut Tries) {
    let written = sys::segment(world.segment, false)
        .and_then(|segment| sys::segment_bytes(segment, Some(*b"reached!")));
    tries.note("shmat", written);
}

pub(crate) fn queue(world: &World, tries: &mut Tries) {
    let name = CString::new(world.queue.as_str()).unwrap_or_default();
    let sent = sys::queue(&name, false).and_then(|queue| {
        sys::queue_send(queue, world.mark.as_bytes().get(..8).unwrap_or_default())
    });
    tries.note("mq_send", sent);
}

pub(crate) fn keys(world: &World, tries: &mut Tries) {
    let name = CString::new(world.mark.as_str()).unwrap_or_default();
    let added = sys::add_key(&name, b"reached");
    // What was shown is not left behind.
    if let Ok(key) = added {
        sys::forget_key(key).ok();
    }
    tries.note("add_key", added);
}

/// The same path from another beginning.
fn below(path: &Path) -> std::path::PathBuf {
    Path::new("/proc/self/root").join(path.strip_prefix("/").unwrap_or(path))
}
