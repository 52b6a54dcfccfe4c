//! Why a program was not found that seems to be there.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use palisade_plan::{Note, Order};
use palisade_policy::text::visible;
use rustix::fs::{Mode, OFlags};

use crate::places::shown;

/// The longest first line of a script that the kernel reads.
const LINE: u64 = 256;

/// Tells what stands in the way, if the program is there outside of the walls.
pub(super) fn explained(order: &Order) -> Option<Note> {
    let program = order.argv.first()?;
    let path = outside(program, order)?;
    // Who is told may be who must not know what lies there.
    let real = path.canonicalize().ok()?;
    let hidden = |folder: &Path| order.hide.iter().any(|hidden| hidden.matches(folder));
    if path.ancestors().chain(real.ancestors()).any(hidden) {
        return None;
    }
    let message = match interpreter(&path) {
        Some(named) if !Path::new(&named).exists() => format!(
            "`{}` is there; its first line names `{}`, which is not",
            shown(&path),
            visible(&named)
        ),
        Some(named) => format!(
            "`{}` is there; it or `{}`, which its first line names, cannot be read behind the walls",
            shown(&path),
            visible(&named)
        ),
        None => {
            format!("`{}` is there; it or its loader cannot be read behind the walls", shown(&path))
        }
    };
    Some(Note { code: "not-found", message })
}

/// Returns the file that would be run without walls.
fn outside(program: &str, order: &Order) -> Option<PathBuf> {
    if program.contains('/') {
        let path: PathBuf = order.cwd.join(program).components().collect();
        return Some(path).filter(|path| path.is_file());
    }
    let path = order.environment.iter().find(|(name, _)| name == "PATH");
    let folders = path.map_or("", |(_, value)| value.as_str()).split(':');
    let folders = folders.filter(|folder| folder.starts_with('/'));
    folders.map(|folder| Path::new(folder).join(program)).find(|path| path.is_file())
}

/// Returns the program that the first line of a script names.
fn interpreter(script: &Path) -> Option<String> {
    let mut start = Vec::new();
    // It may have become something that is waited for.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(script, flags, Mode::empty()).ok()?);
    file.take(LINE).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    line.split_whitespace().next().map(str::to_owned)
}
