//! Attacks by system calls that a command does not need, rows 46 to 50, 55 and 60.

use std::ffi::{CString, OsStr};
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;

use palisade_conformance::World;
use rustix::mount::{FsOpenFlags, MountFlags, MountPropagationFlags, OpenTreeFlags};

use crate::files::{self, beginning};
use crate::sys;
use crate::tries::{Tries, no};

/// A command may still start others, and write to its workspace.
pub(crate) fn lawful(world: &World) -> io::Result<()> {
    files::lawful(world)?;
    again(&["nothing"]).map(drop)
}

/// Starts this program once more, and returns what it wrote: some attacks end who tries them.
pub(crate) fn again(words: &[&str]) -> io::Result<String> {
    let own = std::env::args_os().next().ok_or_else(|| no("no name"))?;
    let output = Command::new(own).args(words).output()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    match (output.status.code(), output.status.signal()) {
        (Some(0), _) => Ok(text),
        (_, Some(signal)) => Err(no(format!("signal {signal}"))),
        // The number of an error is the number of its end.
        (Some(code), _) => Err(io::Error::from_raw_os_error(code)),
        (None, None) => Err(no("no end")),
    }
}

pub(crate) fn typed(world: &World, tries: &mut Tries) {
    let type_to = |terminal: io::Result<File>| {
        let terminal = terminal?;
        world.mark.bytes().try_for_each(|byte| sys::type_byte(terminal.as_fd(), byte))
    };
    let open = |path: &str| File::options().read(true).write(true).open(path);
    tries.note("/dev/tty", type_to(open("/dev/tty")));
    let zero = world.mark.bytes().try_for_each(|byte| sys::type_byte(io::stdin().as_fd(), byte));
    tries.note("standard input", zero);
}

pub(crate) fn environ(world: &World, tries: &mut Tries) {
    let wanted = format!("starter {}", world.mark);
    for (process, name) in knowing(world) {
        let path = format!("/proc/{process}/environ");
        let found = beginning(Path::new(&path)).and_then(|bytes| {
            let held = bytes.windows(wanted.len()).any(|part| part == wanted.as_bytes());
            if held { Ok(()) } else { Err(no("not in it")) }
        });
        tries.note(&format!("/proc/{name}/environ"), found);
    }
}

pub(crate) fn memory(world: &World, tries: &mut Tries) {
    for (process, name) in knowing(world) {
        let open = File::options().read(true).write(true).open(format!("/proc/{process}/mem"));
        tries.note(&format!("open /proc/{name}/mem"), open);
    }
}

/// The engine's first process, which knows more than what it confines, and one outside. Others that
/// are seen inside may be shells between the engine and us, and know no more than we do.
fn knowing(world: &World) -> [(String, &'static str); 2] {
    [("1".to_owned(), "1"), (world.victim.to_string(), "PID")]
}

pub(crate) fn ring(_world: &World, tries: &mut Tries) {
    tries.note("io_uring_setup", sys::io_uring());
}

pub(crate) fn thirty_two(_world: &World, tries: &mut Tries) {
    tries.note("int 0x80", again(&["of-32-bits"]));
}

pub(crate) fn namespace(_world: &World, tries: &mut Tries) {
    for way in ["unshare", "clone3"] {
        tries.note(way, again(&["namespace", way]));
    }
}

pub(crate) fn mount(world: &World, tries: &mut Tries) {
    let app = world.app.to_string_lossy();
    for way in ["mount", "fsopen", "open_tree"] {
        tries.note(way, again(&["mount", way, &app]));
    }
}

/// In a process of its own: namespaces, if they can be had, and then a mount.
pub(crate) fn mount_inside(way: &str, app: &Path) -> io::Result<()> {
    // Where it is refused the mount may still work, for root.
    let apart = sys::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS)
        .or_else(|_| sys::unshare(libc::CLONE_NEWNS));
    if apart.is_ok() {
        // Nothing of it may appear on the host.
        let alone = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
        rustix::mount::mount_change("/", alone)?;
    }
    match way {
        "mount" => rustix::mount::mount("none", app, "tmpfs", MountFlags::empty(), None)?,
        "fsopen" => rustix::mount::fsopen("tmpfs", FsOpenFlags::empty()).map(drop)?,
        _ => {
            let flags = OpenTreeFlags::OPEN_TREE_CLONE;
            rustix::mount::open_tree(rustix::fs::CWD, "/", flags).map(drop)?;
        }
    }
    Ok(())
}

pub(crate) fn handle(world: &World, tries: &mut Tries) {
    let path = CString::new(OsStr::new(&world.file).as_bytes()).unwrap_or_default();
    let handle = sys::name_to_handle(&path);
    if let (Ok(handle), Ok(folder)) = (&handle, File::open(&world.app)) {
        tries.note("open_by_handle_at", sys::open_by_handle(folder.as_fd(), handle));
    }
    tries.note("name_to_handle_at", handle);
}

pub(crate) fn entered(world: &World, tries: &mut Tries) {
    for process in ["1".to_owned(), world.victim.to_string(), "self".to_owned()] {
        for kind in ["user", "mnt", "net", "pid", "ipc"] {
            let path = format!("/proc/{process}/ns/{kind}");
            tries.note(&path.replace(&world.victim.to_string(), "PID"), again(&["enter", &path]));
        }
    }
}

/// In a process of its own: enters a namespace, alone or with one of its users' first.
pub(crate) fn enter(path: &Path) -> io::Result<()> {
    let space = File::open(path)?;
    // One's own can be entered by whoever rules in it: that alone gives nothing.
    let kind = path.file_name().unwrap_or_default();
    let own = fs::read_link(Path::new("/proc/self/ns").join(kind))?;
    let other = fs::read_link(path)?;
    sys::setns(space.as_fd())?;
    if own == other && !path.starts_with("/proc/self") {
        return Err(no("it is the same one"));
    }
    Ok(())
}

pub(crate) fn elevated(world: &World, tries: &mut Tries) {
    let Some(program) = &world.elevated else { return };
    let started = Command::new(program).arg("who").output().and_then(|output| {
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if text == "another" { Ok(()) } else { Err(no(format!("it ran as {text:?}"))) }
    });
    tries.note("exec", started);
}

pub(crate) fn group(world: &World, tries: &mut Tries) {
    let top = Path::new("/sys/fs/cgroup");
    let mut folders = vec![top.to_owned()];
    folders.extend(fs::read_dir(top).into_iter().flatten().flatten().map(|entry| entry.path()));
    folders.retain(|folder| folder.join("cgroup.procs").exists());
    for folder in folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        tries.note(&format!("mkdir in {name}"), fs::create_dir(folder.join(&world.mark)));
    }
    if tries.0.is_empty() {
        tries.note("/sys/fs/cgroup", Err::<(), _>(no("no group is seen")));
    }
}
