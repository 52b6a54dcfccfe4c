//! A step made ready: everything it needs is in memory, nothing is left to allocate.

use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;

use palisade_plan::seccomp::Nesting;
use palisade_plan::{FileId, Reached};
use rustix::mount::MountFlags;
use rustix::process::Resource;

use super::inlet;
use crate::sys::landlock::Handled;
use crate::sys::mount::Reach;
use crate::sys::process::Strings;
use crate::sys::restrict::{Bounding, Instruction};

/// One step, ready. Their places in the list are those of the plan's steps.
#[derive(Debug)]
pub(super) enum Act {
    /// Done outside, before or by making the process.
    Done,
    /// Part of a /dev that may have been made ahead.
    Furniture(Box<Self>),
    /// Makes a network namespace of its own.
    Network,
    /// Says who is who itself.
    Map { uids: Vec<u8>, gids: Vec<u8> },
    /// Waits until the supervisor has said who is who, and becomes that.
    AwaitMap { uid: u32, gid: u32 },
    /// Becomes this user and group, where nobody says who is who.
    Become { uid: u32, gid: u32 },
    /// Waits until the supervisor has put us into a control group.
    AwaitGroup,
    /// Waits until names are kept by the supervisor.
    AwaitNames,
    /// Takes a clone of a tree into a slot, if it is the one that was seen.
    Keep { slot: usize, path: CString, reach: Reach, attributes: u64, id: Option<FileId> },
    /// Seals the root.
    Seal,
    /// Changes to an empty root.
    EmptyRoot,
    /// Lets go of the one before, and seals it.
    CloseRoot,
    /// Mounts a new filesystem.
    Mount { kind: &'static CStr, at: CString, flags: MountFlags, data: CString },
    /// Makes folders, from the top down; those that exist are fine.
    Folders(Vec<CString>),
    /// Makes folders and an empty file.
    File(Vec<CString>, CString),
    /// Makes a symbolic link.
    Link { at: CString, to: CString },
    /// Attaches the tree in a slot.
    Attach { slot: usize, at: CString },
    /// Mounts an overlay of whiteouts over the tree in a slot.
    Hide { slot: usize, at: CString, mode: u32, names: Vec<CString>, between: Vec<(CString, u32)> },
    /// Mounts an overlay over a home of tools, whose upper layer is in the tree in a slot.
    Cache { slot: usize, at: CString },
    /// Mounts something unusable over what is there.
    Cover(CString),
    /// Mounts something unusable over each of these that there is.
    Mask(Vec<CString>),
    /// Mounts a new file with this text over another; it is made under the second name first.
    Show { at: CString, made: CString, text: Vec<u8> },
    /// Mounts over a placeholder at this path, the name of which begins here, in a folder of this
    /// number.
    Still { folder: usize, above: CString, path: CString, name: usize },
    /// Mounts something on itself, with more attributes.
    Rebind { at: CString, attributes: u64 },
    /// Brings the loopback up.
    Loopback,
    /// Leads every connection to sockets that the supervisor gets.
    Inlets(inlet::Ready),
    /// Makes sockets for the supervisor later.
    Maker,
    /// Nobody may look into this process.
    Undumpable,
    /// The same, once the supervisor has looked.
    UndumpableOnGo,
    /// No capabilities.
    NoCapabilities(Bounding),
    /// No new privileges.
    NoNewPrivileges,
    /// Landlock: what may be done everywhere, and what below these paths.
    Landlock { handled: Handled, everywhere: u64, below: Vec<CString> },
    /// Landlock, by rules that are made.
    Restrict(OwnedFd),
    /// The filter of system calls.
    Filter(Vec<Instruction>),
    /// Descendants that lose their parent become children of this process.
    Adopt,
    /// From here on it is the command's own process.
    Split,
    /// A session of its own.
    Session,
    /// The standard descriptors, and no others.
    Descriptors,
    /// An upper bound.
    Limit(Resource, u64),
    /// The current folder.
    Enter(CString),
    /// What must fail.
    Prove { sealed: Vec<CString>, network: Reached, nesting: Nesting },
    /// Tells of calls before they happen.
    Trace(Vec<Instruction>),
    /// The command.
    Execute { paths: Vec<CString>, arguments: Strings, environment: Strings },
}
