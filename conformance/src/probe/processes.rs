//! Attacks on processes and by their number: rows 47, 52 and 59. All of them are bounded: should
//! nothing hold them, the host must not suffer.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use palisade_conformance::World;
use rustix::process::{Pid, Signal};

use crate::calls::again;
use crate::files;
use crate::sys;
use crate::tries::{Tries, no};

/// How many processes a bomb has at most, and how many are allowed.
const BOMB: usize = 300;

/// How much one of the processes takes that want memory, and how many there are.
const PART: usize = 100 << 20;
const PARTS: usize = 6;

/// A command may have children, and some memory.
pub(crate) fn lawful(world: &World) -> io::Result<()> {
    files::lawful(world)?;
    let mut few: Vec<_> = (0..5).map(|_| start(&["wait", "100"])).collect::<io::Result<_>>()?;
    let ends: io::Result<Vec<_>> = few.iter_mut().map(Child::wait).collect();
    ends?;
    let bytes = vec![1_u8; 16 << 20];
    if bytes.iter().step_by(4096).all(|byte| *byte == 1) { Ok(()) } else { Err(no("memory")) }
}

pub(crate) fn poked(world: &World, tries: &mut Tries) {
    let World { victim, address, .. } = *world;
    tries.note("process_vm_writev", sys::write_memory(victim, address, b"reached!"));
    let memory = format!("/proc/{victim}/mem");
    let written = OpenOptions::new()
        .write(true)
        .open(memory)
        .and_then(|file| file.write_all_at(b"reached!", address));
    tries.note("/proc/PID/mem", written);
    // It wants to be the same process that attaches and pokes.
    tries.note("ptrace", sys::trace_and_poke(victim, address, *b"reached!"));
}

pub(crate) fn signalled(world: &World, tries: &mut Tries) {
    let Some(victim) = Pid::from_raw(world.victim) else { return };
    // One that is taken note of: nobody must be ended by this.
    let sent = rustix::process::kill_process(victim, Signal::WINCH);
    tries.note("kill", sent.map_err(io::Error::from));
}

pub(crate) fn daemon(world: &World, tries: &mut Tries) {
    let beat = world.own("heartbeat");
    let left = again(&["daemon", &beat.to_string_lossy()]);
    tries.note("a child of nobody", left.map(drop));
    // It has begun: what counts is whether it goes on.
    let until = Instant::now() + Duration::from_secs(3);
    while !beat.exists() && Instant::now() < until {
        thread::sleep(Duration::from_millis(10));
    }
}

/// Starts the one that stays behind, in a session of its own, and ends.
pub(crate) fn leave(beat: &Path) -> io::Result<()> {
    let own = std::env::args_os().next().ok_or_else(|| no("no name"))?;
    let mut command = Command::new(own);
    command.arg("beat").arg(beat);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(drop)
}

/// Adds a line to a file ten times a second, for four seconds and not longer.
pub(crate) fn beat(path: &Path) -> io::Result<()> {
    // Whoever leads a group cannot have a session of its own, which is as well.
    rustix::process::setsid().ok();
    for _ in 0..40 {
        OpenOptions::new().create(true).append(true).open(path)?.write_all(b"beat\n")?;
        thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

pub(crate) fn bomb(_world: &World, tries: &mut Tries) {
    let mut children = Vec::new();
    let mut refused = None;
    for _ in 0..BOMB {
        match start(&["linger"]) {
            Ok(child) => children.push(child),
            Err(error) => {
                refused = Some(error);
                break;
            }
        }
    }
    let alive =
        children.iter_mut().filter_map(|child| child.try_wait().ok()).filter(Option::is_none);
    let alive = alive.count();
    tries.note(
        &format!("{BOMB} children"),
        match refused {
            None if alive == BOMB => Ok(()),
            None => Err(no("some have ended")),
            Some(error) => Err(error),
        },
    );
    end(children);
}

pub(crate) fn memory(world: &World, tries: &mut Tries) {
    let mut children = Vec::new();
    for number in 0..PARTS {
        let sign = world.own(&format!("holds-{number}"));
        children.extend(start(&["hold", &sign.to_string_lossy()]));
    }
    // All at once, for longer than any sampling takes. Emulated machines are slow.
    let until = Instant::now() + Duration::from_secs(40);
    let holds = |number: &usize| fs::metadata(world.own(&format!("holds-{number}"))).is_ok();
    while (0..PARTS).filter(holds).count() < PARTS && Instant::now() < until {
        if children.iter_mut().any(|child| !matches!(child.try_wait(), Ok(None))) {
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    thread::sleep(Duration::from_secs(1));
    let alive =
        children.iter_mut().filter_map(|child| child.try_wait().ok()).filter(Option::is_none);
    let alive = alive.count().min((0..PARTS).filter(holds).count());
    let held = if alive == PARTS { Ok(()) } else { Err(no(format!("{alive} of {PARTS} have it"))) };
    tries.note("600 MiB in 6 processes", held);
    end(children);
}

/// Waits until whoever started this is gone, or does not want it any more.
pub(crate) fn linger() -> io::Result<()> {
    io::stdin().lines().last().transpose().map(drop)
}

/// Takes memory, says so by a file, and waits.
pub(crate) fn hold(sign: &Path) -> io::Result<()> {
    // In one stroke: byte by byte it would take minutes on an emulated machine.
    let bytes = vec![1_u8; PART];
    fs::write(sign, b"")?;
    linger()?;
    if bytes.iter().step_by(4096).all(|byte| *byte == 1) { Ok(()) } else { Err(no("memory")) }
}

/// Has so many children at once, each with so many MiB, and fails as the first of them does.
pub(crate) fn many(count: &str, size: &str) -> io::Result<()> {
    let count: usize = count.parse().map_err(|_| no("a count is a number"))?;
    let mut children = Vec::new();
    for _ in 0..count {
        match start(&["have", size]) {
            Ok(child) => children.push(child),
            Err(error) => {
                end(children);
                return Err(error);
            }
        }
    }
    for mut child in children {
        let ended = child.wait()?;
        if !ended.success() {
            return Err(no(format!("a child has {ended}")));
        }
    }
    Ok(())
}

/// Has so many MiB for a while.
pub(crate) fn have(size: &str) -> io::Result<()> {
    let size: usize = size.parse().map_err(|_| no("a size is a number"))?;
    let bytes = vec![1_u8; size << 20];
    thread::sleep(Duration::from_millis(1500));
    if bytes.iter().step_by(4096).all(|byte| *byte == 1) { Ok(()) } else { Err(no("memory")) }
}

fn start(words: &[&str]) -> io::Result<Child> {
    let own = std::env::args_os().next().ok_or_else(|| no("no name"))?;
    let mut command = Command::new(own);
    command.args(words).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}

fn end(children: Vec<Child>) {
    for mut child in children {
        child.kill().ok();
        child.wait().ok();
    }
}
