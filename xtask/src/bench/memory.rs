//! Memory of sandboxes that wait.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use super::candidate::{Candidate, found};
use crate::failure::Failure;

/// How many wait at once: what they share counts for each of them in part.
const WAITING: usize = 64;

/// How long they have waited when they are looked at.
const WAITED: Duration = Duration::from_secs(3);

pub(super) fn table(folder: &Path) -> Result<String, Failure> {
    let mut page = format!(
        "## Memory\n\n{WAITING} sandboxes at once around `sleep`, which is not counted: PSS of each, after \
         {} seconds. Two processes that work in the same memory count once.\n\n\
         | What | KiB |\n| --- | ---: |\n",
        WAITED.as_secs(),
    );
    for candidate in found(folder).iter().skip(1) {
        let told = match waiting(folder, candidate)? {
            Some(each) => each.to_string(),
            // Processes that cannot be looked into are seen by root alone.
            None => "not seen".to_owned(),
        };
        page.push_str(&format!("| {} | {told} |\n", candidate.name));
    }
    Ok(page)
}

fn waiting(folder: &Path, candidate: &Candidate) -> Result<Option<u64>, Failure> {
    let mut children = Children(Vec::new());
    for _ in 0..WAITING {
        let mut command = candidate.command(&["/bin/sleep", "600"])?;
        command.current_dir(folder.join("project")).env_clear();
        command.env("HOME", folder.join("home")).env("PATH", "/usr/bin:/bin");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if super::is_root()? {
            command.uid(super::NOBODY).gid(super::NOBODY);
        }
        let child = command.spawn();
        let cannot = |error| Failure::io(format!("cannot start {}", candidate.name), &error);
        children.0.push(child.map_err(cannot)?);
    }
    thread::sleep(WAITED);
    let trees = children.0.iter().map(|child| kib(child.id(), ""));
    Ok(trees.sum::<Option<u64>>().map(|all| all / u64::try_from(WAITING).unwrap_or(1)))
}

/// Returns what a process and its descendants take, but for the command itself. A janitor of which
/// the kernel tells the same as of its parent, `above`, works in its parent's memory.
fn kib(pid: u32, above: &str) -> Option<u64> {
    let folder = format!("/proc/{pid}");
    let name = fs::read_to_string(format!("{folder}/comm")).unwrap_or_default();
    if name.trim() == "sleep" {
        return Some(0);
    }
    let rollup = fs::read_to_string(format!("{folder}/smaps_rollup")).ok()?;
    if name.trim() == "pal-janitor" && rollup == above {
        return Some(0);
    }
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let own: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    let children = fs::read_to_string(format!("{folder}/task/{pid}/children")).ok()?;
    let below = children.split_whitespace().filter_map(|pid| pid.parse().ok());
    let below = below.map(|pid| kib(pid, &rollup));
    Some(own + below.sum::<Option<u64>>()?)
}

/// Children that do not outlive this.
struct Children(Vec<Child>);

impl Drop for Children {
    fn drop(&mut self) {
        for child in &mut self.0 {
            child.kill().ok();
            child.wait().ok();
        }
    }
}
