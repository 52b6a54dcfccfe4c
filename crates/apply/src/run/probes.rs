//! What a host offers, part by part, for whoever wants to know why a level cannot be had. Each is
//! tried, in a process that ends with it.

use std::fs;
use std::os::fd::AsFd as _;

use palisade_plan::seccomp::{Arch, Groups, Nesting, Sockets, compile};
use palisade_plan::{Idmap, Kernel, Privilege, Trial};
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, Result};

use super::blocks::is_filtered;
use super::host::Host;
use super::prepare::{handled, instructions};
use super::probe::Probe;
use super::{around, group, mounts, trial};
use crate::sys::process::{LeaveOnDrop, Side, await_end, clone_into, leave};
use crate::sys::{landlock, process, restrict, signal};

impl Host {
    /// Tries everything that walls are made of, one by one.
    pub fn probes(&self) -> Vec<Probe> {
        let kernel = &self.probed();
        let mut probes = vec![
            users(kernel),
            sandbox(kernel),
            unaided(self, kernel),
            around(),
            second_wall(kernel),
            filter(kernel),
            plain("clone3", "making processes by the newer call", process::knows_clone3()),
            plain("children", "finding and ending what a command leaves behind", children()),
        ];
        probes.extend(owners(self));
        probes.push(groups());
        probes
    }
}

fn plain(name: &'static str, about: &'static str, done: Result<()>) -> Probe {
    let trial = match done {
        Ok(()) => Trial::Works,
        Err(errno) => Trial::Refused { what: about.into(), errno: errno.raw_os_error() },
    };
    Probe { name, about, trial, detail: None, remedies: Vec::new() }
}

/// A user namespace alone, whatever can be done in it.
fn users(kernel: &Kernel) -> Probe {
    let done = around::outcome_of_unshare().and_then(|done| done);
    let mut probe = plain("user-namespace", "a user namespace", done);
    if probe.trial != Trial::Works {
        probe.remedies = kernel.blocks.iter().map(|block| block.remedy()).collect();
        let found: Vec<&str> = kernel.blocks.iter().map(|block| block.why()).collect();
        probe.detail = (!found.is_empty()).then(|| found.join("; "));
    }
    probe
}

/// All of it: namespaces, maps, mounts, a fresh /proc.
fn sandbox(kernel: &Kernel) -> Probe {
    let blocks = kernel.blocks.iter();
    Probe {
        name: "sandbox",
        about: "namespaces with mounts and a /proc of their own",
        trial: kernel.namespaces.clone(),
        detail: None,
        remedies: blocks.map(|block| block.remedy()).collect(),
    }
}

fn unaided(host: &Host, kernel: &Kernel) -> Probe {
    let trial = match kernel.namespaces {
        Trial::Works => trial::unaided(host),
        Trial::Refused { .. } | Trial::Short { .. } => kernel.unaided.clone(),
    };
    Probe {
        name: "sandbox-without-users",
        about: "the same without a user namespace, for root",
        trial,
        detail: None,
        remedies: Vec::new(),
    }
}

fn around() -> Probe {
    Probe {
        name: "sandbox-around",
        about: "a sandbox of palisade around this process, whose walls hold",
        trial: around::tried(),
        detail: None,
        remedies: Vec::new(),
    }
}

fn second_wall(kernel: &Kernel) -> Probe {
    let done = match kernel.landlock {
        0 => Err(Errno::OPNOTSUPP),
        version => landlock::ruleset(&handled(version)).and_then(|rules| {
            in_child(&|| {
                restrict::no_new_privileges()?;
                landlock::restrict(rules.as_fd())?;
                // Nothing is allowed, so nothing can be read.
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
                match rustix::fs::open(c"/", flags, Mode::empty()) {
                    Err(Errno::ACCESS) => Ok(()),
                    Err(errno) => Err(errno),
                    Ok(_) => Err(Errno::NOTRECOVERABLE),
                }
            })
        }),
    };
    let mut probe = plain("landlock", "Landlock, the second wall for files", done);
    probe.detail = (kernel.landlock > 0).then(|| format!("version {}", kernel.landlock));
    if probe.trial != Trial::Works {
        probe.remedies =
            vec!["use Linux 5.13 or newer, with `landlock` in /sys/kernel/security/lsm"];
    }
    probe
}

fn filter(kernel: &Kernel) -> Probe {
    let program =
        kernel.arch.map(|arch: Arch| compile(arch, Nesting::Off, Sockets::Own, Groups::Own));
    let done = program.map(instructions).map_or(Err(Errno::NOSYS), |program| {
        in_child(&|| {
            restrict::no_new_privileges()?;
            restrict::filter(&program)?;
            match restrict::nonsense_unshare() {
                Err(Errno::PERM) => Ok(()),
                Err(_) | Ok(()) => Err(Errno::NOTRECOVERABLE),
            }
        })
    });
    let mut probe = plain("seccomp", "the filter of system calls", done);
    if is_filtered() {
        probe.detail = Some("another filter is around this process".into());
    }
    if probe.trial != Trial::Works {
        probe.remedies = vec!["use an x86-64 or 64-bit ARM kernel with CONFIG_SECCOMP_FILTER"];
    }
    probe
}

fn children() -> Result<()> {
    fs::read("/proc/thread-self/children")
        .map(drop)
        .map_err(|error| error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error))
}

/// Only root gives trees other owners.
fn owners(host: &Host) -> Option<Probe> {
    let (.., privilege) = host.identity();
    let Privilege::Root { idmap } = privilege else { return None };
    let done = match idmap {
        Idmap::Works => Ok(()),
        Idmap::Refused(errno) | Idmap::Short(errno) => Err(Errno::from_raw_os_error(errno)),
    };
    let mut probe = plain("idmap", "other owners for mounted trees, for root", done);
    if probe.trial != Trial::Works {
        probe.detail = Some("without them a command of root's is root, behind masks".into());
    }
    Some(probe)
}

fn groups() -> Probe {
    let done = group::delegated(&mounts::read()).map(drop).ok_or(Errno::NOENT);
    let mut probe = plain("control-groups", "bounds on memory for all processes together", done);
    if probe.trial != Trial::Works {
        probe.detail = Some("without them memory is sampled".into());
        probe.remedies =
            vec!["start in a delegated group: `systemd-run --user --scope -p Delegate=yes`"];
    }
    probe
}

/// Does something in a process that ends with it. It must allocate nothing.
fn in_child(does: &dyn Fn() -> Result<()>) -> Result<()> {
    let made = {
        let _blocked = signal::block_all();
        match clone_into(0)? {
            Side::Child => {
                let _guard = LeaveOnDrop;
                leave(does().err().map_or(0, Errno::raw_os_error))
            }
            Side::Parent(made) => made,
        }
    };
    match await_end(made.pid)?.status {
        0 => Ok(()),
        status if status & 0x7f != 0 => Err(Errno::INTR),
        status => Err(Errno::from_raw_os_error((status >> 8) & 0xff)),
    }
}
