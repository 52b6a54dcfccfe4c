//! Sockets of this host that have a name on a disk.

use std::ffi::OsStr;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use palisade_plan::Searched;
use rustix::fs::FileType;
use rustix::io::Result;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};

/// The most that is read of them: some ten thousand. A host with more is asked no further, and that is
/// told.
const MOST: usize = 4 << 20;

/// Returns those that somebody waits at now, and whose files can be seen, in order, and whether these
/// are all.
pub(super) fn found() -> (Vec<PathBuf>, Searched) {
    let (mut paths, searched) = told(MOST).unwrap_or_else(|_| listed(MOST));
    paths.sort_unstable();
    paths.dedup();
    // Whoever is in another tree of mounts has named something there.
    paths.retain(|path| {
        let stat = rustix::fs::lstat(path);
        stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Socket)
    });
    (paths, searched)
}

/// `NLM_F_REQUEST` and `NLM_F_DUMP`; what a list of sockets is asked for by (sock_diag(7)).
const DUMP: u16 = 0x301;
const BY_FAMILY: u16 = 20;
const DONE: u16 = 3;
const FAILED: u16 = 2;
/// In any state: who waits for packets counts as connected once somebody has been.
const WAITING: u32 = u32::MAX;
const SHOW_NAME: u32 = 1;
const NAME: u16 = 0;

/// Asks the kernel for the names of sockets.
fn told(most: usize) -> Result<(Vec<PathBuf>, Searched)> {
    let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
    let protocol = Some(netlink::SOCK_DIAG);
    let socket = rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, protocol)?;
    rustix::net::send(&socket, &question(), SendFlags::empty())?;
    let mut paths = Vec::new();
    let mut bytes = vec![0; 32 << 10];
    let mut read = 0;
    while read < most {
        let (length, _) = rustix::net::recv(&socket, &mut bytes[..], RecvFlags::empty())?;
        read += length;
        let mut rest = bytes.get(..length).unwrap_or_default();
        while let Some((kind, message, after)) = message(rest) {
            match kind {
                DONE => return Ok((paths, Searched::Whole)),
                // This kernel keeps no such list.
                FAILED => return Err(rustix::io::Errno::OPNOTSUPP),
                _ => paths.extend(name(message).and_then(path)),
            }
            rest = after;
        }
        if length == 0 {
            break;
        }
    }
    Ok((paths, Searched::Partly))
}

/// A header, and `struct unix_diag_req`.
fn question() -> Vec<u8> {
    let (length, number, port) = (40_u32, 1_u32, 0_u32);
    let unix = u32::from_ne_bytes([1, 0, 0, 0]);
    // Of every inode; nothing is asked about one socket.
    let (inode, cookie) = (0, u32::MAX);
    let kind = [BY_FAMILY, DUMP].map(u16::to_ne_bytes).concat();
    let rest = [number, port, unix, WAITING, inode, SHOW_NAME, cookie, cookie];
    [length.to_ne_bytes().to_vec(), kind, rest.map(u32::to_ne_bytes).concat()].concat()
}

/// Takes the first message: its kind, what it says, and what follows it.
fn message(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let length = usize::try_from(u32::from_ne_bytes(*bytes.first_chunk()?)).ok()?;
    let kind = u16::from_ne_bytes(*bytes.get(4..)?.first_chunk()?);
    let says = bytes.get(16..length)?;
    Some((kind, says, bytes.get(length.next_multiple_of(4)..).unwrap_or_default()))
}

/// Returns the name in `struct unix_diag_msg` and what follows it.
fn name(says: &[u8]) -> Option<&[u8]> {
    let mut rest = says.get(16..)?;
    loop {
        let length = usize::from(u16::from_ne_bytes(*rest.first_chunk()?));
        let kind = u16::from_ne_bytes(*rest.get(2..)?.first_chunk()?);
        let value = rest.get(4..length)?;
        if kind == NAME {
            return Some(value);
        }
        rest = rest.get(length.next_multiple_of(4)..)?;
    }
}

/// Reads the table that every kernel has. It is slower.
fn listed(most: usize) -> (Vec<PathBuf>, Searched) {
    let mut table = Vec::new();
    let file = std::fs::File::open("/proc/self/net/unix");
    let limit = u64::try_from(most).unwrap_or(u64::MAX);
    let read = file.and_then(|file| file.take(limit).read_to_end(&mut table));
    // What nobody could read may hold any number.
    let is_whole = read.is_ok_and(|length| length < most);
    let searched = if is_whole { Searched::Whole } else { Searched::Partly };
    let lines = table.split(|byte| *byte == b'\n');
    let paths = lines
        .filter_map(|line| path(line.get(line.iter().position(|byte| *byte == b'/')?..)?))
        .collect();
    (paths, searched)
}

/// Names that begin at the root. Of others nobody can tell where they lie, or they lie nowhere.
fn path(name: &[u8]) -> Option<PathBuf> {
    let name = name.split(|byte| *byte == 0).next()?;
    name.starts_with(b"/").then(|| Path::new(OsStr::from_bytes(name)).to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};

    use palisade_testkit::Project;

    use super::*;

    #[test]
    fn whoever_waits_at_a_name_is_found_both_ways() {
        let project = Project::new().file("plain", "");
        let [stream, packets, gone] =
            ["a stream", "packets", "gone"].map(|name| project.path(name));
        let listener = UnixListener::bind(&stream).unwrap();
        let _packets = UnixDatagram::bind(&packets).unwrap();
        drop(UnixListener::bind(&gone).unwrap());
        let _connected = (UnixStream::connect(&stream).unwrap(), listener.accept().unwrap());
        UnixDatagram::unbound().unwrap().connect(&packets).unwrap();
        for (all, searched) in [found(), listed(MOST), told(MOST).unwrap()] {
            assert_eq!(searched, Searched::Whole);
            assert!(all.contains(&stream) && all.contains(&packets), "{all:?}");
            assert!(!all.contains(&gone));
        }
        assert_eq!(found().0.iter().filter(|path| **path == stream).count(), 1);
        // Where there are more than are asked for, nobody says that these are all.
        assert_eq!((listed(64).1, told(64).unwrap().1), (Searched::Partly, Searched::Partly));
    }

    #[test]
    fn what_cannot_be_read_is_no_name() {
        assert_eq!(message(&[]), None);
        assert_eq!(message(&[255; 20]), None);
        assert_eq!(message(&[0; 20]), None, "shorter than its own header");
        assert_eq!(name(&[0; 18]), None);
        for odd in [&b"\0abstract"[..], b"relative", b""] {
            assert_eq!(path(odd), None);
        }
        assert_eq!(path(b"/run/x\0").as_deref(), Some(Path::new("/run/x")));
    }
}
