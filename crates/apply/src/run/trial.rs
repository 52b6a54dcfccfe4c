//! A sandbox that is made only to see whether one can be.

use palisade_plan::{Idmap, Kernel, Privilege, Trial, UNPRIVILEGED};
use rustix::io::Errno;
use rustix::mount::MountFlags;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use std::os::fd::AsFd as _;

use super::act::Act;
use super::enter::enter;
use super::family::Family;
use super::host::Host;
use super::maps::write_maps;
use super::message::{Message, receive, send};
use super::prepare::Prepared;
use super::{around, blocks, shortage};
use crate::sys::descriptor::lift;
use crate::sys::process::{Side, Stack, clone_into};
use crate::sys::signal;

/// The first two things that are tried.
pub(super) const MAKING: &str = "making namespaces";
pub(super) const MAPPING: &str = "mapping users";

/// What a trial consists of, in order.
const NAMES: [&str; 5] = [MAKING, MAPPING, "sealing the root", "a tmpfs", "a fresh /proc"];

/// Whose users a sandbox has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Users {
    /// Its own.
    Own,
    /// The host's.
    Hosts,
}

/// Finds out what the kernel lets us make: down the ladder, as far as a plan has to know.
pub(super) fn kernel(host: &Host) -> Kernel {
    let mut kernel = host.kernel().clone();
    kernel.namespaces = namespaces(host, Users::Own);
    // What is short now is no refusal: nobody looks for less.
    if let Trial::Works | Trial::Short { .. } = kernel.namespaces {
        return kernel;
    }
    kernel.unaided = unaided(host);
    if kernel.unaided != Trial::Works {
        kernel.around = around::tried();
        kernel.blocks = blocks::found(&kernel.namespaces);
    }
    kernel
}

/// Tries them without one of users, if we have the right to.
pub(super) fn unaided(host: &Host) -> Trial {
    match may_make_namespaces() {
        true => namespaces(host, Users::Hosts),
        false => {
            let what = "making namespaces without CAP_SYS_ADMIN".into();
            Trial::Refused { what, errno: libc::EPERM }
        }
    }
}

/// Returns whether we have the right to make namespaces without one of users.
fn may_make_namespaces() -> bool {
    use rustix::thread::{CapabilitySet, capabilities};
    capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN))
}

/// Tries mount, process and network namespaces, with one of users or without, a sealed root and a
/// fresh /proc.
fn namespaces(host: &Host, users: Users) -> Trial {
    if !std::path::Path::new("/proc/self/status").exists() {
        return Trial::Refused { what: "looking into /proc".into(), errno: libc::ENOENT };
    }
    let once = || match tried(host, users) {
        Ok(None) => Ok(()),
        Ok(Some((step, errno))) => {
            let what = NAMES.get(step).copied().unwrap_or("starting a process");
            Err((what, Errno::from_raw_os_error(errno)))
        }
        Err(errno) => Err((MAKING, errno)),
    };
    match shortage::waited(once, |(_, errno)| *errno) {
        Ok(()) => Trial::Works,
        Err((what, errno)) => shortage::told(what, errno),
    }
}

fn tried(host: &Host, users: Users) -> rustix::io::Result<Option<(usize, i32)>> {
    let (uid, gid, privilege) = host.identity();
    let (outer_uid, outer_gid) = match privilege {
        Privilege::Root { idmap: Idmap::Works } => (UNPRIVILEGED, UNPRIVILEGED),
        // As plans have it: root of a container without that user stays who it is.
        Privilege::Root { idmap: Idmap::Refused(_) | Idmap::Short(_) } | Privilege::Ordinary => {
            (uid, gid)
        }
    };
    let uids = format!("{uid} {outer_uid} 1\n").into_bytes();
    let gids = format!("{gid} {outer_gid} 1\n").into_bytes();
    let map = match (privilege, users) {
        (Privilege::Ordinary, Users::Own) => Act::Map { uids: uids.clone(), gids: gids.clone() },
        (Privilege::Root { .. }, Users::Own) => Act::AwaitMap { uid, gid },
        (Privilege::Ordinary, Users::Hosts) => Act::Done,
        (Privilege::Root { .. }, Users::Hosts) => Act::Become { uid, gid },
    };
    let fresh = |kind, at: &std::ffi::CStr| Act::Mount {
        kind,
        at: at.into(),
        flags: MountFlags::NOSUID | MountFlags::NODEV,
        data: c"".into(),
    };
    let acts = vec![Act::Done, map, Act::Seal, fresh(c"tmpfs", c"/tmp"), fresh(c"proc", c"/proc")];
    let flags = SocketFlags::CLOEXEC;
    let (control, inside) =
        rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    let (control, inside) = (lift(control)?, lift(inside)?);
    let null = || {
        let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::CLOEXEC;
        rustix::fs::open(c"/dev/null", flags, rustix::fs::Mode::empty()).and_then(lift)
    };
    let mut prepared = Prepared {
        acts,
        slots: Vec::new(),
        inside,
        outside: vec![std::os::fd::AsRawFd::as_raw_fd(&control)],
        standard: [null()?, null()?, null()?],
        terminal: None,
        supervisor: rustix::process::pidfd_open(
            rustix::process::getpid(),
            rustix::process::PidfdFlags::empty(),
        )
        .and_then(lift)?,
        stack: Stack::new(),
        family: Family::Namespace,
        ahead: super::ahead::Made::default(),
    };
    let users = match users {
        Users::Own => libc::CLONE_NEWUSER,
        Users::Hosts => 0,
    };
    let flags = users | libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWNET;
    let made = {
        let _blocked = signal::block_all();
        match clone_into(u64::from(flags.cast_unsigned()))? {
            Side::Child => enter(&mut prepared),
            Side::Parent(made) => made,
        }
    };
    drop(prepared);
    let mut sandbox = super::sandbox::Sandbox::new(made, Family::Namespace);
    if let (Privilege::Root { .. }, libc::CLONE_NEWUSER) = (privilege, users) {
        if let Err(errno) = write_maps(sandbox.pid(), &uids, &gids) {
            return Ok(Some((1, errno.raw_os_error())));
        }
        send(control.as_fd(), Message::Go)?;
    }
    let said = receive(control.as_fd())?;
    sandbox.end();
    Ok(match said {
        Some(Message::Failed { step, errno }) => {
            Some((usize::try_from(step).unwrap_or(usize::MAX), errno))
        }
        // It says nothing when all is well, and goes.
        Some(
            Message::Go
            | Message::Signal(_)
            | Message::Started
            | Message::Ended(_)
            | Message::Last(_)
            | Message::Terminal
            | Message::Listener
            | Message::Inlets(_)
            | Message::Maker
            | Message::Socket(_),
        )
        | None => None,
    })
}
