//! A socket for clients of one user.

use std::fs;
use std::io::{self, BufReader};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::thread;

use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with, sockopt,
};
use rustix::process::{Pid, geteuid};

use super::connection::{Connection, Server};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::Ui;

/// Listens until the process is ended.
pub(super) fn serve(path: &Path, server: &Arc<Server>, ui: &Ui) -> Result<Exit, Failure> {
    let failed = |error: &io::Error| {
        Failure::io("socket", format!("cannot listen at `{}`", path.display()), error).file(path)
    };
    clear(path)
        .map_err(|error| failed(&error).hint("name another path, or end whoever listens there"))?;
    let listener = opened(path).map_err(|error| failed(&error))?;
    ui.say(&format!("listening at {}", path.display()));
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            // No descriptors are left, say: others will end.
            thread::sleep(std::time::Duration::from_millis(50));
            continue;
        };
        if !is_ours(&stream) {
            ui.say(
                "warning: a process of another user, or of a sandbox, was refused at the socket",
            );
            continue;
        }
        let server = Arc::clone(server);
        thread::spawn(move || attend(&server, stream));
    }
    Ok(Exit::Success)
}

/// Binds first, and listens only once nobody else may connect.
fn opened(path: &Path) -> io::Result<UnixListener> {
    let socket: OwnedFd =
        socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    bind(&socket, &SocketAddrUnix::new(path)?)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    listen(&socket, 128)?;
    Ok(socket.into())
}

/// Removes a socket of ours at which nobody listens any more, and nothing else.
fn clear(path: &Path) -> io::Result<()> {
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    let is_ours = found.file_type().is_socket() && found.uid() == geteuid().as_raw();
    match UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused && is_ours => {
            fs::remove_file(path)
        }
        _ => Err(io::ErrorKind::AddrInUse.into()),
    }
}

/// Whether the other side is a process of the same user that no sandbox confines. The mode of the
/// socket says the first, until somebody changes it. The second matters where a socket lies in a
/// project: a command that runs there sees those that are made after its start, and whoever is heard
/// here may run commands without walls.
fn is_ours(stream: &UnixStream) -> bool {
    sockopt::socket_peercred(stream.as_fd())
        .is_ok_and(|peer| peer.uid == geteuid() && shares_namespaces(peer.pid))
}

/// Whether a process is in the namespaces that we are in. Of one that cannot be looked at nothing is
/// known.
fn shares_namespaces(pid: Pid) -> bool {
    ["user", "pid", "mnt"].into_iter().all(|kind| {
        let of = |who: &str| fs::read_link(format!("/proc/{who}/ns/{kind}")).ok();
        let theirs = of(&pid.as_raw_nonzero().to_string());
        theirs.is_some() && theirs == of("self")
    })
}

fn attend(server: &Arc<Server>, stream: UnixStream) {
    let copies = (stream.try_clone(), stream.as_fd().try_clone_to_owned());
    let (Ok(out), Ok(gone)) = copies else { return };
    let connection = Connection::new(Arc::clone(server), Box::new(out), gone);
    connection.serve(&mut BufReader::new(stream));
}
