//! A control group for one run, where a part of the tree was handed to this user (cgroups(7), v2).
//!
//! The kernel then bounds all processes together. What belongs to the machine is never touched: the
//! group is made only in a folder that was delegated, beside the group that we are in.

use std::ffi::CString;
use std::fs;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use palisade_plan::{Delegated, Mount};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::{Errno, Result};
use rustix::process::Pid;

use super::error::{CannotStart, before};
use super::opened::open_folder;

/// What our groups are called, before the number of the process that made them.
const NAME: &str = "palisade-";

/// How often a group is removed in which somebody is about to end.
const TRIES: u32 = 200;

/// A control group. Dropping it ends whoever is in it, and removes it.
#[derive(Debug)]
pub(super) struct Group {
    above: OwnedFd,
    name: CString,
    open: OwnedFd,
}

/// Returns where groups may be made, if anywhere, once one was made there and removed.
pub(super) fn delegated(mounts: &[Mount]) -> Option<Delegated> {
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    let found = found(&own, mounts, rustix::process::geteuid().as_raw())?;
    // The success of looking proves nothing.
    Group::make(&found.folder, found.memory.then_some(1 << 30), None).ok()?;
    Some(found)
}

/// Finds the folder that our own group is in, if that is a delegated one.
fn found(own: &str, mounts: &[Mount], caller: u32) -> Option<Delegated> {
    let own = Path::new(own.lines().find_map(|line| line.strip_prefix("0::"))?);
    let mount = mounts.iter().rfind(|mount| mount.kind == "cgroup2")?;
    let below = own.strip_prefix(&mount.root).ok()?;
    // At the top there is nothing above that could be ours.
    let folder = mount.point.join(below.parent()?);
    if !is_delegated(&folder, caller) {
        return None;
    }
    let enabled = fs::read_to_string(folder.join("cgroup.subtree_control")).ok()?;
    let has = |name: &str| enabled.split_whitespace().any(|word| word == name);
    Some(Delegated { memory: has("memory"), processes: has("pids"), folder })
}

/// A user owns what was handed to them. To root everything belongs, and only a mark tells.
fn is_delegated(folder: &Path, caller: u32) -> bool {
    if caller == 0 {
        let marks = ["trusted.delegate", "user.delegate"];
        return marks.iter().any(|mark| {
            let mut value = [0; 1];
            rustix::fs::getxattr(folder, *mark, &mut value).is_ok_and(|read| read == 1)
                && value == *b"1"
        });
    }
    let files = ["", "cgroup.procs", "cgroup.subtree_control"];
    files.iter().all(|name| {
        let path = if name.is_empty() { folder.to_owned() } else { folder.join(name) };
        fs::symlink_metadata(path).is_ok_and(|it| it.uid() == caller)
    })
}

impl Group {
    /// Makes a group with these bounds. Those of processes that are gone are removed first.
    pub(super) fn make(
        folder: &Path,
        memory: Option<u64>,
        processes: Option<u64>,
    ) -> std::result::Result<Self, CannotStart> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let failed = before("make a control group");
        let above = open_folder(folder).map_err(&failed)?;
        sweep(folder);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let own = rustix::process::getpid().as_raw_nonzero();
        let name = format!("{NAME}{own}-{number}");
        let name = CString::new(name).map_err(|_| failed(Errno::INVAL))?;
        let mode = Mode::from_raw_mode(0o700);
        rustix::fs::mkdirat(&above, name.as_c_str(), mode).map_err(&failed)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = rustix::fs::openat(&above, name.as_c_str(), flags, Mode::empty());
        let group = Self { open: open.map_err(&failed)?, above, name };
        group.bound(memory, processes).map_err(&failed)?;
        Ok(group)
    }

    fn bound(&self, memory: Option<u64>, processes: Option<u64>) -> Result<()> {
        if let Some(most) = memory {
            self.write("memory.max", &most.to_string())?;
            self.write("memory.oom.group", "1")?;
            // Where there is no swap there is no such file.
            match self.write("memory.swap.max", "0") {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(errno) => return Err(errno),
            }
        }
        processes.map_or(Ok(()), |most| self.write("pids.max", &most.to_string()))
    }

    /// Puts a process into it; what it starts is in it too.
    pub(super) fn take(&self, process: Pid) -> std::result::Result<(), CannotStart> {
        match self.write("cgroup.procs", &process.as_raw_nonzero().to_string()) {
            // One that is gone says itself why.
            Err(Errno::SRCH) => Ok(()),
            taken => taken.map_err(before("enter a control group")),
        }
    }

    /// Returns whether somebody in it was ended for want of memory.
    pub(super) fn ran_out_of_memory(&self) -> bool {
        let mut text = [0; 512];
        let read = self
            .file("memory.events", OFlags::RDONLY)
            .and_then(|file| rustix::io::read(file, &mut text));
        let text = String::from_utf8_lossy(text.get(..read.unwrap_or(0)).unwrap_or_default());
        has_killed(&text)
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        let file = self.file(name, OFlags::WRONLY)?;
        rustix::io::write(file, text.as_bytes()).map(drop)
    }

    fn file(&self, name: &str, how: OFlags) -> Result<OwnedFd> {
        let flags = how | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(self.open.as_fd(), name, flags, Mode::empty())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.write("cgroup.kill", "1").ok();
        for _ in 0..TRIES {
            let removed =
                rustix::fs::unlinkat(&self.above, self.name.as_c_str(), AtFlags::REMOVEDIR);
            if removed != Err(Errno::BUSY) {
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

fn has_killed(events: &str) -> bool {
    let counted = events.lines().filter_map(|line| line.split_once(' '));
    counted.filter(|(name, _)| *name == "oom_kill").any(|(_, count)| count.trim() != "0")
}

/// Removes groups whose makers were killed. The kernel keeps those in which somebody is.
fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let maker = name.to_str().and_then(|name| name.strip_prefix(NAME)?.split('-').next());
        let is_number = |text: &&str| text.bytes().all(|byte| byte.is_ascii_digit());
        let Some(maker) = maker.filter(is_number) else { continue };
        if !PathBuf::from("/proc").join(maker).exists() {
            fs::remove_dir(entry.path()).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use palisade_testkit::{Project, Turn, ordinary_user};

    use super::*;

    fn mounted(at: &Path, root: &str) -> Vec<Mount> {
        let mount = |point: PathBuf, kind: &str| Mount {
            point,
            root: root.into(),
            device: "0:30".into(),
            kind: kind.into(),
            layers: Vec::new(),
        };
        vec![mount("/sys/fs/cgroup/memory".into(), "cgroup"), mount(at.into(), "cgroup2")]
    }

    fn tree() -> Project {
        Project::new()
            .file("user/app/cgroup.procs", "")
            .file("user/app/cgroup.subtree_control", "memory pids\n")
            .file("user/cgroup.procs", "")
            .file("user/cgroup.subtree_control", "cpu memory\n")
            .dir("user/app/shell.scope")
    }

    #[test]
    fn the_folder_of_our_own_group_counts_if_it_was_handed_to_us() {
        let name = "run::group::tests::the_folder_of_our_own_group_counts_if_it_was_handed_to_us";
        if ordinary_user(name) == Turn::Done {
            return;
        }
        let (project, caller) = (tree(), rustix::process::geteuid().as_raw());
        let own = "9:name=systemd:/\n0::/user/app/shell.scope\n";
        let mounts = mounted(project.root(), "/");
        let here = found(own, &mounts, caller).unwrap();
        assert_eq!(here.folder, project.path("user/app"));
        assert!(here.memory && here.processes);
        let above = found("0::/user/app\n", &mounts, caller).unwrap();
        assert!(above.memory && !above.processes, "what is not switched on is not there");
        assert_eq!(found(own, &mounts, caller + 1), None, "somebody else's");
        assert_eq!(found(own, &mounts, 0), None, "root's, and nobody has marked it");
        assert_eq!(found("0::/\n", &mounts, caller), None, "the top");
        assert_eq!(found("0::/gone/x\n", &mounts, caller), None);
        assert_eq!(found("4:memory:/user/app\n", &mounts, caller), None, "the first version");
        assert_eq!(found(own, &mounted(project.root(), "/other"), caller), None, "not shown here");
        assert_eq!(found(own, &mounts[..1], caller), None, "not mounted");
        let mounts = mounted(&project.path("user"), "/user");
        assert_eq!(found(own, &mounts, caller).unwrap().folder, project.path("user/app"));
        fs::remove_file(project.path("user/app/cgroup.procs")).unwrap();
        assert_eq!(found(own, &mounts, caller), None, "only a part of it was handed over");
    }

    #[test]
    fn a_folder_that_is_no_control_group_is_refused_and_left_as_it_was() {
        let project = tree();
        let folder = project.path("user/app");
        let error = Group::make(&folder, Some(1 << 20), None).unwrap_err();
        assert_eq!((error.code(), error.errno()), ("prepare", Some(libc::ENOENT)));
        let names = || fs::read_dir(&folder).unwrap().count();
        assert_eq!(names(), 3);
        // What others have left is removed, and nothing else.
        for name in ["palisade-4194305-0", "palisade-x-0", "other"] {
            fs::create_dir(folder.join(name)).unwrap();
        }
        let own = format!("palisade-{}-77", rustix::process::getpid().as_raw_nonzero());
        fs::create_dir(folder.join(own)).unwrap();
        sweep(&folder);
        assert_eq!(names(), 6);
        assert!(!folder.join("palisade-4194305-0").exists());
    }

    #[test]
    fn being_ended_for_want_of_memory_is_told() {
        assert!(has_killed("low 0\nhigh 0\nmax 12\noom 1\noom_kill 3\noom_group_kill 1\n"));
        assert!(!has_killed("low 0\nmax 12\noom 1\noom_kill 0\noom_group_kill 0\n"));
        assert!(!has_killed(""));
    }
}
