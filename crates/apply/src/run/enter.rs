//! The straight line from `clone3` to `execve`: no allocation, no lock, no formatting.
//!
//! It runs in a copy of a process that may have other threads, of which only this one exists here.
//! Whatever it needs, `prepare` has put into memory. A failure is reported by the number of its
//! step, and ends the sandbox.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use palisade_plan::seccomp::Nesting;
use palisade_plan::{FileId, Reached};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::{Errno, Result};
use rustix::thread::UnshareFlags;

use super::act::Act;
use super::ahead::Made;
use super::family::{self, Family};
use super::furnish;
use super::maker;
use super::message::{Message, receive, send, send_with};
use super::overlay::{cache, hide};
use super::prepare::Prepared;
use super::reaper;
use super::still::{Name, Still};
use super::terminal::{self, Fresh};
use crate::sys::descriptor::{Rest, close_from, forget, known, lift, put, remember};
use crate::sys::mount::{self, NO_DEVICES, NO_SUID, READ_ONLY, Reach};
use crate::sys::process::{LeaveOnDrop, execute, fork_onto, leave};
use crate::sys::{environment, inlet, landlock, network, notify, restrict, signal};

/// Rights of Landlock that a file can have: execute, write, read, truncate, ioctl.
pub(super) const ON_FILES: u64 = 1 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15;

/// Does every step, and never comes back.
pub(super) fn enter(prepared: &mut Prepared) -> ! {
    let _guard = LeaveOnDrop;
    // One that is ignored outside would keep us from learning how the command ended.
    signal::reset_ignored();
    let Prepared { acts, slots, inside, outside, standard, terminal, supervisor, .. } = prepared;
    let Prepared { stack, family, ahead, .. } = prepared;
    // Our copies of the other side's ends would keep us from noticing that it is gone.
    for number in outside.iter().copied() {
        if let Ok(end) = remember(number) {
            drop(end);
        }
    }
    let control = inside.as_fd();
    // The reaper stands nowhere; the command enters its folder by path, behind all mounts.
    rustix::process::chdir(c"/").ok();
    let supervisor = supervisor.as_fd();
    let terminal = terminal.as_ref();
    let ahead = *ahead;
    let (maker, still) = (None, Still::default());
    let mut around = Around { slots, control, standard, terminal, supervisor, ahead, maker, still };
    let split = acts.iter().position(|act| matches!(act, Act::Split)).unwrap_or(acts.len());
    let (first, rest) = acts.split_at(split);
    line(first, 0, &mut around);
    if rest.is_empty() {
        leave(0);
    }
    // What it may not run on so far is where the supervisor works, which now waits.
    if let Some(processors) = &ahead.processors {
        rustix::thread::sched_setaffinity(None, processors).ok();
    }
    // Before the command, or anybody who can tell who this is, could look.
    environment::wipe();
    // Before anybody inside can ask for it.
    rustix::thread::set_name(c"pal-reaper").ok();
    let maker = around.maker;
    match fork_onto(stack, &mut || line(rest, split, &mut around)) {
        Ok(command) => reaper::run(command, control, supervisor, (*family, maker)),
        Err(errno) => fail(control, split, errno),
    }
}

/// Does steps in order, the first of which has this number in the plan.
fn line(acts: &[Act], from: usize, around: &mut Around<'_>) {
    for (step, act) in (from..).zip(acts) {
        if let Err(errno) = perform(act, around) {
            fail(around.control, step, errno);
        }
    }
}

/// Says which step failed, and ends.
fn fail(control: BorrowedFd<'_>, step: usize, errno: Errno) -> ! {
    let (step, errno) = (u32::try_from(step).unwrap_or(u32::MAX), errno.raw_os_error());
    send(control, Message::Failed { step, errno }).ok();
    leave(125)
}

/// What steps work on beside their own.
struct Around<'p> {
    slots: &'p mut [i32],
    control: BorrowedFd<'p>,
    standard: &'p [OwnedFd; 3],
    terminal: Option<&'p Fresh>,
    supervisor: BorrowedFd<'p>,
    /// What was made ahead.
    ahead: Made,
    /// Where somebody asks for sockets.
    maker: Option<i32>,
    still: Still,
}

/// Does one step.
fn perform(act: &Act, around: &mut Around<'_>) -> Result<()> {
    let Around { slots, control, standard, terminal, supervisor, ahead, maker, still } = around;
    match act {
        Act::Done | Act::Split => Ok(()),
        Act::Network | Act::Map { .. } | Act::Loopback if ahead.namespaces => Ok(()),
        Act::Furniture(_) if ahead.furniture => Ok(()),
        Act::Furniture(act) => perform(act, around),
        Act::Network => restrict::new_namespaces(UnshareFlags::NEWNET),
        Act::Descriptors => descriptors(standard, *terminal, *control),
        Act::Map { uids, gids } => restrict::map_self(uids, gids),
        Act::AwaitMap { uid, gid } => {
            await_go(*control, *supervisor)?;
            restrict::become_user(*uid, *gid)
        }
        Act::Become { uid, gid } => restrict::become_user(*uid, *gid),
        Act::AwaitGroup | Act::AwaitNames => await_go(*control, *supervisor),
        Act::Keep { slot, path, reach, attributes, id } => {
            let tree = clone_seen(path, *reach, *id)?;
            mount::change_tree(tree.as_fd(), *attributes, None, *reach)?;
            let slot = slots.get_mut(*slot).ok_or(Errno::INVAL)?;
            *slot = forget(tree);
            Ok(())
        }
        Act::Seal => {
            mount::change_path(c"/", READ_ONLY | NO_SUID | NO_DEVICES, Reach::All)?;
            if ahead.furniture { furnish::unseal() } else { Ok(()) }
        }
        Act::EmptyRoot => mount::empty_root(),
        Act::CloseRoot => mount::close_root(),
        Act::Mount { kind, at, flags, data } => mount::fresh(kind, at, *flags, data),
        Act::Folders(folders) => make_folders(folders),
        Act::File(folders, at) => {
            let flags = OFlags::CREATE | OFlags::RDONLY | OFlags::CLOEXEC;
            let make = || rustix::fs::open(at.as_c_str(), flags, Mode::from_raw_mode(0o644));
            match make() {
                Err(Errno::NOENT) => make_folders(folders).and_then(|()| make()).map(drop),
                // A socket is there, which can be covered as well.
                Err(Errno::NXIO) => Ok(()),
                made => made.map(drop),
            }
        }
        Act::Link { at, to } => rustix::fs::symlink(to.as_c_str(), at.as_c_str()),
        Act::Attach { slot, at } => {
            mount::attach_at(take(slots, *slot)?.as_fd(), mount::find(at)?.as_fd())
        }
        Act::Hide { slot, at, mode, names, between } => {
            hide(&take(slots, *slot)?, at, *mode, names, between)
        }
        Act::Cache { slot, at } => cache(&take(slots, *slot)?, at),
        Act::Cover(at) => mount::cover(at),
        Act::Mask(paths) => paths.iter().try_for_each(|path| mask(path)),
        Act::Show { at, made, text } => show(at, made, text),
        Act::Still { folder, above, path, name } => {
            let name = path.to_bytes_with_nul().get(*name..).unwrap_or_default();
            let name = CStr::from_bytes_with_nul(name).map_err(|_| Errno::INVAL)?;
            still.keep(&Name { folder: *folder, above, name, path })
        }
        Act::Rebind { at, attributes } => mount::rebind(at, *attributes),
        Act::Loopback => network::loopback_up(),
        Act::Inlets(ready) => ready.open(*control),
        Act::Maker => {
            *maker = Some(forget(maker::open(*control)?));
            Ok(())
        }
        Act::Adopt => family::adopt(),
        Act::Undumpable => restrict::undumpable(),
        Act::UndumpableOnGo => {
            await_go(*control, *supervisor)?;
            restrict::undumpable()
        }
        Act::NoCapabilities(bounding) => restrict::no_capabilities(*bounding),
        Act::NoNewPrivileges => restrict::no_new_privileges(),
        Act::Landlock { handled, everywhere, below } => {
            let ruleset = landlock::ruleset(handled)?;
            allow(&ruleset, c"/", *everywhere)?;
            for path in below {
                allow(&ruleset, path, handled.files)?;
            }
            landlock::restrict(ruleset.as_fd())
        }
        Act::Restrict(ruleset) => landlock::restrict(ruleset.as_fd()),
        Act::Filter(program) => restrict::filter(program),
        Act::Trace(program) => {
            send_with(*control, Message::Listener, notify::listen(program)?.as_fd())
        }
        Act::Session => rustix::process::setsid().map(drop),
        Act::Limit(resource, most) => restrict::limit(*resource, *most),
        Act::Enter(path) => rustix::process::chdir(path.as_c_str()),
        Act::Prove { sealed, network, nesting } => prove(sealed, *network, *nesting),
        Act::Execute { paths, arguments, environment } => {
            // Before: whoever ends us all afterwards must not make it look as if nothing had run.
            send(*control, Message::Started)?;
            signal::reset_ignored();
            signal::unblock_all();
            let mut worst = Errno::NOENT;
            for path in paths {
                match execute(path, arguments, environment) {
                    Errno::NOENT | Errno::NOTDIR => {}
                    // As execvp(3): one that may not be started counts if there is no other. A
                    // folder that may not be searched does not, as in a shell.
                    Errno::ACCESS if exists(path) => worst = Errno::ACCESS,
                    Errno::ACCESS => {}
                    errno => return Err(errno),
                }
            }
            Err(worst)
        }
    }
}

fn exists(path: &CStr) -> bool {
    rustix::fs::access(path, rustix::fs::Access::EXISTS).is_ok()
}

/// Waits until the supervisor says so. That it is gone is told by its pidfd: the end of a socket
/// may be held open by children of its other threads.
fn await_go(control: BorrowedFd<'_>, supervisor: BorrowedFd<'_>) -> Result<()> {
    loop {
        let mut watched = [
            PollFd::from_borrowed_fd(control, PollFlags::IN),
            PollFd::from_borrowed_fd(supervisor, PollFlags::IN),
        ];
        match poll(&mut watched, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
        let [said, gone] = watched.map(|one| !one.revents().is_empty());
        if gone {
            leave(0);
        }
        if said {
            return match receive(control)? {
                Some(Message::Go) => Ok(()),
                Some(
                    Message::Signal(_)
                    | Message::Failed { .. }
                    | Message::Started
                    | Message::Ended(_)
                    | Message::Last(_)
                    | Message::Terminal
                    | Message::Listener
                    | Message::Inlets(_)
                    | Message::Maker
                    | Message::Socket(_),
                )
                | None => Err(Errno::CONNRESET),
            };
        }
    }
}

/// Tries what must fail; a wall that lets it through is an error, and nothing starts. Nor does it where
/// something else than a wall was in the way, which proves nothing.
fn prove(sealed: &[CString], network: Reached, nesting: Nesting) -> Result<()> {
    sealed.iter().try_for_each(|folder| is_sealed(folder))?;
    let leaves = match network {
        Reached::Nothing => network::reaches_world()?,
        Reached::Inlets => !inlet::ends_here()?,
        Reached::World => false,
    };
    if leaves {
        return Err(Errno::ISCONN);
    }
    if nesting == Nesting::Off {
        // As the filter says; the kernel itself has other words for most reasons of its own.
        refused_by(restrict::new_user_namespace(), &[Errno::PERM])?;
    }
    Ok(())
}

/// Tries to make a file in a folder in which nothing can be made.
fn is_sealed(folder: &CStr) -> Result<()> {
    // A mount that is read-only, Landlock, or a folder that is not shown at all.
    let walls = [Errno::ROFS, Errno::ACCESS, Errno::NOENT];
    // A file without a name: were it made, nothing of it would stay.
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    match rustix::fs::open(folder, flags, Mode::from_raw_mode(0o600)) {
        // Some filesystems have none of those, and say so before they ask who may.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOSYS) => {}
        tried => return refused_by(tried.map(drop), &walls),
    }
    let name = c".palisade-proof";
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let open = rustix::fs::open(folder, flags, Mode::empty())?;
    let made = rustix::fs::mkdirat(&open, name, Mode::from_raw_mode(0o700));
    if made.is_ok() {
        rustix::fs::unlinkat(&open, name, AtFlags::REMOVEDIR)?;
    }
    refused_by(made, &walls)
}

/// Says that a wall has refused something, if one of its errors came back.
fn refused_by(tried: Result<()>, walls: &[Errno]) -> Result<()> {
    match tried {
        Ok(()) => Err(Errno::NOTRECOVERABLE),
        Err(errno) if walls.contains(&errno) => Ok(()),
        Err(errno) => Err(errno),
    }
}

/// Puts the standard descriptors in place; everything else closes when the command starts.
fn descriptors(
    standard: &[OwnedFd; 3],
    terminal: Option<&Fresh>,
    control: BorrowedFd<'_>,
) -> Result<()> {
    for (number, fd) in (0..).zip(standard) {
        put(fd.as_fd(), number)?;
    }
    if let Some(fresh) = terminal {
        let own = terminal::open(fresh, control)?;
        for (number, is_terminal) in (0..).zip(fresh.streams) {
            if is_terminal {
                put(own.as_fd(), number)?;
            }
        }
    }
    close_from(3, Rest::CloseAtExec)
}

/// Gives rights below a path: all of them on a folder, those that a file can have on a file.
fn allow(ruleset: &OwnedFd, path: &CStr, rights: u64) -> Result<()> {
    let place = match mount::find(path) {
        Ok(place) => place,
        // A place that is not there needs no right. Nor does one that leads to another: that one has
        // rights of its own, or somebody has turned it since.
        Err(Errno::NOENT | Errno::LOOP) => return Ok(()),
        Err(errno) => return Err(errno),
    };
    match landlock::allow(ruleset.as_fd(), place.as_fd(), rights) {
        Err(Errno::INVAL) => landlock::allow(ruleset.as_fd(), place.as_fd(), rights & ON_FILES),
        outcome => outcome,
    }
}

/// Clones a tree, if it is the one that was seen.
pub(super) fn clone_seen(path: &CStr, reach: Reach, id: Option<FileId>) -> Result<OwnedFd> {
    let place = mount::find(path)?;
    if let Some(id) = id {
        let stat = rustix::fs::fstat(&place)?;
        if (stat.st_dev, stat.st_ino) != (id.device, id.inode) {
            return Err(Errno::STALE);
        }
    }
    mount::clone_at(place.as_fd(), reach)
}

/// Covers what lies at a path, if anything does. Sockets come and go while we look: what is gone when
/// it is covered is looked at again, as something else may have come in its place.
fn mask(path: &CStr) -> Result<()> {
    let mut tries = 100_u32;
    loop {
        let cover = match rustix::fs::lstat(path).map(|stat| FileType::from_raw_mode(stat.st_mode))
        {
            Err(Errno::NOENT | Errno::ACCESS) => return Ok(()),
            Err(errno) => return Err(errno),
            // Sockets are known by names that may lead through links.
            Ok(FileType::Directory) => mount::folder_cover(),
            Ok(_) => mount::file_cover(),
        };
        match cover.and_then(|cover| mount::attach(cover.as_fd(), path)) {
            Err(Errno::NOENT) if tries > 0 => tries -= 1,
            done => return done,
        }
    }
}

/// Shows a text in place of a file: one that is made elsewhere, mounted, and then has no name.
fn show(at: &CStr, made: &CStr, text: &[u8]) -> Result<()> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = rustix::fs::open(made, flags, Mode::from_raw_mode(0o644))?;
    let written = rustix::io::write(&file, text)?;
    if written != text.len() {
        return Err(Errno::IO);
    }
    let tree = mount::clone_tree(made, Reach::One)?;
    mount::change_tree(tree.as_fd(), READ_ONLY | NO_SUID | NO_DEVICES, None, Reach::One)?;
    mount::attach(tree.as_fd(), at)?;
    rustix::fs::unlink(made)
}

/// Makes folders, from the top down; mostly only the last is missing.
fn make_folders(folders: &[CString]) -> Result<()> {
    let make = |folder: &CString| match rustix::fs::mkdir(folder.as_c_str(), 0o755.into()) {
        Ok(()) | Err(Errno::EXIST | Errno::ROFS) => Ok(()),
        Err(errno) => Err(errno),
    };
    match folders.last().map(make) {
        Some(Err(Errno::NOENT)) => folders.iter().try_for_each(make),
        Some(made) => made,
        None => Ok(()),
    }
}

fn take(slots: &mut [i32], slot: usize) -> Result<OwnedFd> {
    let slot = slots.get_mut(slot).ok_or(Errno::INVAL)?;
    remember(std::mem::replace(slot, -1))
}

/// The reaper's numbers for what it keeps.
pub(super) const CONTROL: i32 = 3;
pub(super) const SUPERVISOR: i32 = 4;
pub(super) const CHILDREN: i32 = 5;
pub(super) const TMP: i32 = 6;
pub(super) const MAKER: i32 = 7;

/// Leaves the reaper with what it needs and nothing else: its socket, the supervisor's pidfd, a
/// descriptor that tells of children, its /tmp, where it is asked for sockets if it is, and /dev/null
/// three times.
pub(super) fn strip(
    control: BorrowedFd<'_>,
    supervisor: BorrowedFd<'_>,
    family: Family,
    maker: Option<i32>,
) -> Result<()> {
    // Above the numbers that are given out here, or one would be lost to another.
    let null =
        lift(rustix::fs::open(c"/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?)?;
    let children = lift(signal::told_of(family.signals())?)?;
    put(control, CONTROL)?;
    put(supervisor, SUPERVISOR)?;
    put(children.as_fd(), CHILDREN)?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match rustix::fs::open(c"/tmp", flags, Mode::empty()).and_then(lift) {
        Ok(tmp) => put(tmp.as_fd(), TMP)?,
        Err(_) => put(null.as_fd(), TMP)?,
    }
    match maker {
        Some(maker) => put(known(maker), MAKER)?,
        None => put(null.as_fd(), MAKER)?,
    }
    for number in 0..3 {
        put(null.as_fd(), number)?;
    }
    forget(null);
    forget(children);
    close_from(8, Rest::Close)?;
    // Still there.
    rustix::io::fcntl_getfd(known(CONTROL)).map(drop)
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use palisade_testkit::{Project, ordinary_user};

    use super::*;

    #[test]
    fn e056_a_wall_that_does_not_hold_is_found_out() {
        let open = Project::new();
        let path = |project: &Project| CString::new(project.root().as_os_str().as_bytes()).unwrap();
        let tried = |folder: CString| prove(&[folder], Reached::World, Nesting::UserNamespaces);
        assert_eq!(tried(path(&open)), Err(Errno::NOTRECOVERABLE));
        assert_eq!(std::fs::read_dir(open.root()).unwrap().count(), 0, "nothing stays");
        assert_eq!(tried(c"/no/such/folder".into()), Ok(()), "where nothing is shown");
        // No wall says any of these.
        assert_eq!(tried(c"/etc/passwd".into()), Err(Errno::NOTDIR));
        let long = CString::new(vec![b'x'; 5000]).unwrap();
        assert_eq!(tried(long), Err(Errno::NAMETOOLONG));
        assert_eq!(refused_by(Err(Errno::MFILE), &[Errno::ROFS]), Err(Errno::MFILE));
        // There are no nameless files here, and what stands in for them is refused or taken away.
        let proc = tried(c"/proc".into());
        assert!(matches!(proc, Ok(()) | Err(Errno::NOENT)), "{proc:?}");
        if rustix::process::geteuid().is_root() {
            let _done =
                ordinary_user("run::enter::tests::e056_a_wall_that_does_not_hold_is_found_out");
        }
    }
}
