//! What the runner starts outside of any engine: a victim, and ways to start an engine.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, BufRead as _, Read as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use palisade_conformance::World;
use rustix::thread::{CapabilitySet, CapabilitySets};

use crate::files;
use crate::sys;
use crate::tries::no;

/// A command may use the temporary folder, whatever was planted in it.
pub(crate) fn lawful_temporary(world: &World) -> io::Result<()> {
    files::lawful(world)?;
    let own = ["TMPDIR", "TMP"].iter().find_map(std::env::var_os).map(std::path::PathBuf::from);
    let folders = own.into_iter().chain([std::env::temp_dir(), world.own("")]);
    let mut last = Err(no("no temporary folder"));
    for folder in folders {
        last = std::fs::write(folder.join(format!("own-{}", world.mark)), &world.mark);
        if last.is_ok() {
            break;
        }
    }
    last
}

/// Is a process to be attacked: it has a text in its memory, a segment and a queue, and says of
/// each, once its input ends, whether it was reached.
pub(crate) fn victim(key: &str, queue: &str) -> io::Result<()> {
    sys::block_window_signal()?;
    let text: Box<[u8; 8]> = Box::new(*b"untouchd");
    let address = std::ptr::from_ref(&*text).addr() as u64;
    let key = key.parse().map_err(|_| no("a key is a number"))?;
    let segment = sys::segment(key, true)?;
    sys::segment_bytes(segment, Some(*b"untouchd"))?;
    let name = CString::new(queue)?;
    // Some hosts and containers have no queues.
    let waiting = sys::queue(&name, true);
    let mut out = io::stdout();
    writeln!(out, "{} {address}", std::process::id())?;
    out.flush()?;

    io::stdin().lock().lines().last();
    let memory = File::open("/proc/self/mem")?;
    let mut now = [0; 8];
    memory.read_exact_at(&mut now, address)?;
    let bytes = sys::segment_bytes(segment, None)?;
    sys::remove_segment(segment)?;
    let has = waiting.as_ref().is_ok_and(|queue| sys::queue_has(*queue));
    if waiting.is_ok() {
        sys::remove_queue(&name)?;
    }
    let told = [
        ("memory", now != *b"untouchd"),
        ("segment", bytes != *b"untouchd"),
        ("queue", has),
        ("signal", was_signalled()?),
    ];
    for (what, reached) in told {
        writeln!(out, "{what} {reached}")?;
    }
    drop(text);
    Ok(())
}

/// Whether the blocked signal was sent to this process.
fn was_signalled() -> io::Result<bool> {
    let mut text = String::new();
    File::open("/proc/self/status")?.read_to_string(&mut text)?;
    let line = text.lines().find_map(|line| line.strip_prefix("ShdPnd:"));
    let number = line.and_then(|line| u64::from_str_radix(line.trim(), 16).ok());
    number.map(|number| number != 0).ok_or_else(|| no("/proc/self/status has no signals"))
}

/// Makes a terminal the controlling one of a session of its own, and starts a program there.
pub(crate) fn on_terminal(path: &Path, words: &[&str]) -> io::Result<()> {
    rustix::process::setsid()?;
    let terminal = File::options().read(true).write(true).open(path)?;
    rustix::process::ioctl_tiocsctty(&terminal)?;
    let (input, errors) = (terminal.try_clone()?, terminal);
    start(words, |command| command.stdin(input).stderr(errors))
}

/// Starts a program on a host that refuses user namespaces, without capabilities.
pub(crate) fn without_user_namespaces(words: &[&str]) -> io::Result<()> {
    let none = CapabilitySet::empty();
    rustix::thread::clear_ambient_capability_set()?;
    // Root would have them all again with the next program.
    sys::empty_bounding_set()?;
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    rustix::thread::set_capabilities(None, sets)?;
    sys::without_user_namespaces()?;
    start(words, |command| command)
}

fn start(words: &[&str], dress: impl FnOnce(&mut Command) -> &mut Command) -> io::Result<()> {
    let (program, words) = words.split_first().ok_or_else(|| no("there is nothing to start"))?;
    let mut command = Command::new(program);
    command.args(words);
    Err(dress(&mut command).exec())
}
