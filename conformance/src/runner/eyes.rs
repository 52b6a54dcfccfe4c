//! Looks over the world after an attack, from outside. Whatever changed that may not, was reached.

use std::fs;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::stage::{CONFIG, ORIGINAL, Stage};

/// Names in the workspace that must not have come to be, as anything that holds something.
const ABSENT: [&str; 9] = [
    ".mcp.json",
    ".vscode",
    ".claude/settings.json",
    ".bashrc",
    ".gitmodules",
    ".git/config.worktree",
    ".git/commondir",
    ".git/info/attributes",
    "src/taken",
];

/// Inodes of what must be the same thing afterwards, not only look like it.
#[derive(Debug)]
pub(crate) struct Before(Vec<(PathBuf, Option<u64>)>);

impl Before {
    /// Takes note of what is there.
    pub(crate) fn of(stage: &Stage) -> Self {
        let world = &stage.world;
        let git = world.app.join(".git");
        let paths = [
            git.clone(),
            git.join("hooks"),
            git.join("config"),
            world.app.clone(),
            world.file.clone(),
            world.home.join(".bashrc"),
            world.home.join("notes"),
            world.shared.clone(),
        ];
        Self(paths.map(|path| (path.clone(), inode(&path))).into())
    }

    /// Returns what was reached, for a person.
    pub(crate) fn look(&self, stage: &mut Stage, terminal: Option<&Terminal>) -> Vec<String> {
        let mut seen = Vec::new();
        let world = stage.world.clone();
        let short = |path: &Path| {
            let above = world.home.parent().unwrap_or(&world.home);
            let text = path.strip_prefix(above).unwrap_or(path).display().to_string();
            text.replace(&world.mark, "NAME")
        };
        for (path, was) in &self.0 {
            if inode(path) != *was {
                seen.push(format!("{} was replaced or removed", short(path)));
            }
        }
        let git = world.app.join(".git");
        let texts = [
            (world.file.clone(), ORIGINAL),
            (world.home.join(".bashrc"), ORIGINAL),
            (world.home.join("notes"), ORIGINAL),
            (world.shared.clone(), ORIGINAL),
            (git.join("config"), CONFIG),
            (git.join("hooks/README"), ORIGINAL),
        ];
        for (path, text) in texts {
            if fs::read_to_string(&path).is_ok_and(|found| found != text) {
                seen.push(format!("{} was written", short(&path)));
            }
        }
        for (folder, expected) in [(git.join("hooks"), 1), (above(&world.file), 3)] {
            let names = fs::read_dir(&folder).map_or(expected, Iterator::count);
            if names != expected {
                seen.push(format!("{} has {names} names", short(&folder)));
            }
        }
        if fs::metadata(&world.file).is_ok_and(|file| file.mtime() == 0 || file.nlink() != 1) {
            seen.push(format!("{} has another time or name", short(&world.file)));
        }
        // What an engine keeps a name with is empty, and may stay.
        let planted = |name: &&&str| holds(&world.app.join(name), &world.mark);
        seen.extend(ABSENT.iter().filter(planted).map(|name| format!("{name} was made")));
        if holds(&world.home.join(".profile"), &world.mark) {
            seen.push("home/.profile was made".to_owned());
        }
        seen.extend(arrived(stage));
        seen.extend(groups(&world.mark));
        if outlived(&world.own("heartbeat")) {
            seen.push("a process goes on".to_owned());
        }
        if terminal.is_some_and(|terminal| terminal.was_typed_into(&world.mark)) {
            seen.push("the terminal has input".to_owned());
        }
        match stage.dismiss() {
            Ok(reached) => seen.extend(reached.iter().map(|what| format!("the victim's {what}"))),
            Err(error) => seen.push(format!("the victim is gone: {error}")),
        }
        seen
    }
}

fn above(path: &Path) -> PathBuf {
    path.parent().unwrap_or(path).to_owned()
}

fn inode(path: &Path) -> Option<u64> {
    fs::symlink_metadata(path).ok().map(|found| found.ino())
}

/// Whether there is something at a path, or in it, that the attack has put there.
fn holds(path: &Path, mark: &str) -> bool {
    let Ok(found) = fs::symlink_metadata(path) else { return false };
    if found.is_dir() {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        return entries.into_iter().any(|entry| holds(&entry.path(), mark));
    }
    // One that was there before, to ask for more, is as it was.
    found.is_symlink() || fs::read_to_string(path).map_or(true, |text| text.contains(mark))
}

/// Who knocked at the doors.
fn arrived(stage: &Stage) -> Vec<String> {
    let doors = &stage.doors;
    let mut seen = Vec::new();
    let listeners = [
        (&doors.stream, "outside/door.sock"),
        (&doors.near, "the workspace's door.sock"),
        (&doors.nameless, "the socket without a path"),
    ];
    for (listener, name) in listeners {
        if knocked(listener) {
            seen.push(format!("a connection arrived at {name}"));
        }
    }
    doors.datagram.set_nonblocking(true).ok();
    if doors.datagram.recv(&mut [0; 64]).is_ok() {
        seen.push("a datagram arrived at outside/box.sock".to_owned());
    }
    doors.port.set_nonblocking(true).ok();
    if doors.port.accept().is_ok() {
        seen.push("a connection arrived at the host's port".to_owned());
    }
    doors.packets.set_nonblocking(true).ok();
    if doors.packets.recv(&mut [0; 64]).is_ok() {
        seen.push("a datagram arrived at the host's port".to_owned());
    }
    seen
}

fn knocked(listener: &UnixListener) -> bool {
    listener.set_nonblocking(true).ok();
    listener.accept().is_ok()
}

/// Control groups that the attack has made; they are removed.
fn groups(mark: &str) -> Vec<String> {
    let top = Path::new("/sys/fs/cgroup");
    let mut folders = vec![top.to_owned()];
    folders.extend(fs::read_dir(top).into_iter().flatten().flatten().map(|entry| entry.path()));
    let made = folders.iter().filter(|folder| fs::remove_dir(folder.join(mark)).is_ok());
    made.map(|folder| format!("a group was made in {}", folder.display())).collect()
}

/// Whether a file goes on growing after everything has ended.
fn outlived(beat: &Path) -> bool {
    let size = || fs::metadata(beat).map(|file| file.len()).ok();
    let Some(first) = size() else { return false };
    thread::sleep(Duration::from_millis(500));
    size().is_some_and(|second| second != first)
}

/// A terminal for the engine, and our end of it.
#[derive(Debug)]
pub(crate) struct Terminal {
    outer: OwnedFd,
    pub(crate) path: PathBuf,
}

impl Terminal {
    pub(crate) fn open(stage: &Stage) -> io::Result<Self> {
        use rustix::pty::OpenptFlags;
        let outer = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        rustix::pty::grantpt(&outer)?;
        rustix::pty::unlockpt(&outer)?;
        let name = rustix::pty::ptsname(&outer, Vec::new())?;
        let path = PathBuf::from(name.to_string_lossy().into_owned());
        stage.person.own(&path)?;
        Ok(Self { outer, path })
    }

    /// What is typed into a terminal is shown by it.
    fn was_typed_into(&self, mark: &str) -> bool {
        let flags = rustix::fs::fcntl_getfl(&self.outer).unwrap_or(rustix::fs::OFlags::RDWR);
        rustix::fs::fcntl_setfl(&self.outer, flags | rustix::fs::OFlags::NONBLOCK).ok();
        let mut text = Vec::new();
        let Ok(mut outer) = self.outer.try_clone().map(fs::File::from) else { return true };
        // It ends in an error, as nobody is there any more.
        outer.read_to_end(&mut text).ok();
        String::from_utf8_lossy(&text).contains(mark)
    }
}
