//! `conformance-probe ATTACK WORLD`: tries one attack and its lawful twin, and says in one line of
//! JSON what happened. The other words are what attacks, and the runner, start it for.

mod calls;
mod doors;
mod files;
mod outer;
mod processes;
mod sys;
mod tries;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use palisade_conformance::{ATTACKS, Report, World};

use tries::{Tries, no};

type Try = fn(&World, &mut Tries);
type Twin = fn(&World) -> io::Result<()>;

/// What each attack does, and what must go on working beside it.
const DEEDS: [(&str, Try, Twin); 43] = [
    ("e031-made", files::made, files::lawful),
    ("e031-moved", files::moved, files::lawful),
    ("e032-hooks", files::hooks, files::lawful_in_repository),
    ("e032-config", files::config, files::lawful_in_repository),
    ("e033-parent", files::parent, files::lawful_in_repository),
    ("e033-replaced", files::replaced, files::lawful_in_repository),
    ("e035-linked", files::linked, files::lawful),
    ("e036-written", files::written, files::lawful),
    ("e036-read", files::read, files::lawful),
    ("e036-walked", files::walked, files::lawful),
    ("e039-granted", files::granted, files::lawful),
    ("e040-startup", files::startup, files::lawful),
    ("e041-planted", files::planted, outer::lawful_temporary),
    ("e045-moved-out", files::moved_out, files::lawful),
    ("e045-moved-in", files::moved_in, files::lawful),
    ("e046-typed", calls::typed, calls::lawful),
    ("e047-poked", processes::poked, processes::lawful),
    ("e047-environ", calls::environ, calls::lawful),
    ("e047-memory", calls::memory, calls::lawful),
    ("e048-ring", calls::ring, calls::lawful),
    ("e049-thirty-two", calls::thirty_two, calls::lawful),
    ("e050-namespace", calls::namespace, calls::lawful),
    ("e050-mount", calls::mount, calls::lawful),
    ("e050-handle", calls::handle, calls::lawful),
    ("e050-entered", calls::entered, calls::lawful),
    ("e051-connected", doors::connected, doors::lawful),
    ("e051-sent", doors::sent, doors::lawful),
    ("e051-near", doors::near, doors::lawful),
    ("e052-nameless", doors::nameless, doors::lawful),
    ("e052-signalled", processes::signalled, processes::lawful),
    ("e053-inherited", doors::inherited, files::lawful),
    ("e053-reopened", doors::reopened, files::lawful),
    ("e054-shared", doors::shared, doors::lawful),
    ("e054-segment", doors::segment, doors::lawful),
    ("e054-queue", doors::queue, doors::lawful),
    ("e054-keys", doors::keys, doors::lawful),
    ("e055-elevated", calls::elevated, calls::lawful),
    ("e059-daemon", processes::daemon, processes::lawful),
    ("e059-bomb", processes::bomb, processes::lawful),
    ("e059-memory", processes::memory, processes::lawful),
    ("e060-group", calls::group, calls::lawful),
    ("e073-loopback", doors::loopback, doors::lawful),
    ("e077-packet", doors::packet, doors::lawful),
];

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["who"] => who(),
        // A copy of this program belongs to somebody else and runs as its owner: it must be of no
        // use to whoever finds it.
        _ if is_elevated() => Err(no("this copy only says as whom it runs")),
        [name, world] if name.starts_with('e') && name.contains('-') => {
            probe(name, Path::new(world))
        }
        ["nothing"] => Ok(()),
        ["of-32-bits"] => sys::io_uring_of_32_bits(),
        ["namespace", "unshare"] => sys::unshare(libc::CLONE_NEWUSER),
        ["namespace", _] => sys::clone3(libc::CLONE_NEWUSER),
        ["mount", way, app] => calls::mount_inside(way, Path::new(app)),
        ["enter", path] => calls::enter(Path::new(path)),
        ["daemon", beat] => processes::leave(Path::new(beat)),
        ["beat", path] => processes::beat(Path::new(path)),
        ["linger"] => processes::linger(),
        ["many", count, size] => processes::many(count, size),
        ["have", size] => processes::have(size),
        ["hold", sign] => processes::hold(Path::new(sign)),
        ["wait", time] => {
            thread::sleep(Duration::from_millis(time.parse().unwrap_or(0)));
            Ok(())
        }
        ["victim", key, queue] => outer::victim(key, queue),
        ["on-terminal", path, rest @ ..] => outer::on_terminal(Path::new(path), rest),
        ["without-user-namespaces", rest @ ..] => outer::without_user_namespaces(rest),
        _ => Err(no(usage())),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            writeln!(io::stderr(), "conformance-probe: {error}").ok();
            // Whoever started it reads the number of the error.
            let number = error.raw_os_error().and_then(|number| u8::try_from(number).ok());
            ExitCode::from(number.unwrap_or(125))
        }
    }
}

fn usage() -> String {
    let names: Vec<_> = ATTACKS.iter().map(|attack| attack.name).collect();
    format!("usage: conformance-probe ATTACK WORLD\nattacks: {}", names.join(" "))
}

/// Tries an attack. The twin comes first: an attack may leave little that works.
fn probe(name: &str, world: &Path) -> io::Result<()> {
    let (_, attempt, twin) =
        DEEDS.iter().find(|(known, ..)| *known == name).ok_or_else(|| no(usage()))?;
    let world: World = serde_json::from_slice(&fs::read(world)?)?;
    let lawful = twin(&world).map_err(|error| error.to_string());
    let mut tries = Tries::default();
    attempt(&world, &mut tries);
    let report = Report::new(name, tries.0, lawful);
    let mut line = serde_json::to_string(&report)?;
    line.push('\n');
    io::stdout().write_all(line.as_bytes())
}

fn is_elevated() -> bool {
    rustix::process::geteuid() != rustix::process::getuid()
}

fn who() -> io::Result<()> {
    let text = if is_elevated() { "another\n" } else { "itself\n" };
    File::options().write(true).open("/dev/stdout").map_or_else(
        |_| io::stdout().write_all(text.as_bytes()),
        |mut file| file.write_all(text.as_bytes()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attack_has_its_deed() {
        let known: Vec<_> = ATTACKS.iter().map(|attack| attack.name).collect();
        let done: Vec<_> = DEEDS.iter().map(|(name, ..)| *name).collect();
        assert_eq!(known, done);
    }
}
