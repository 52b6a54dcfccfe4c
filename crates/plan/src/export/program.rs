//! Where the programs that a command line starts lie.
//!
//! They run before the walls stand, so no search path finds them: the caller's may lead into the
//! project, and the command's own does by right. A program is looked for in the folders of the
//! machine, and one that the command could change is none.

use std::path::{Path, PathBuf};

use palisade_policy::jail::{Entry, Lookup};

use super::scene::Scene;
use super::shell::Line;
use super::{Around, CannotExport};

/// Folders of the machine's own programs. The first is where a program is said to be that is not
/// here: an export may be for another machine, and starts nothing where there is none.
const FOLDERS: [&str; 6] =
    ["/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/local/bin", "/usr/local/sbin"];

/// Most links on the way to a program, as the kernel counts.
const MOST_LINKS: usize = 40;

/// Returns the path of a program.
///
/// # Errors
///
/// When the command could change every one of this name.
pub(super) fn program(
    name: &str,
    scene: &Scene<'_>,
    around: &Around<'_>,
) -> Result<String, CannotExport> {
    let paths = FOLDERS.map(|folder| format!("{folder}/{name}"));
    let mut theirs = None;
    for path in &paths {
        match find(path, scene, around.lookup) {
            Found::Program => return Ok(path.clone()),
            Found::Theirs => theirs = theirs.or(Some(path)),
            Found::Nothing => {}
        }
    }
    match theirs {
        Some(path) => Err(CannotExport::ProgramInside(path.into())),
        None => Ok(format!("/usr/bin/{name}")),
    }
}

/// Adds a command that makes the folders that keep names from being made: some engines would make
/// them for everybody to write to. The mark is that of our own placeholders, and the next run of
/// ours takes them away.
pub(super) fn make(
    line: &mut Line,
    scene: &Scene<'_>,
    around: &Around<'_>,
) -> Result<(), CannotExport> {
    let folders: Vec<&Path> = scene.reserved().collect();
    if folders.is_empty() {
        return Ok(());
    }
    line.raw(&program("mkdir", scene, around)?);
    line.option("-p -m 1755 --", &folders)?;
    line.raw("&&");
    Ok(())
}

/// What is found at a path.
enum Found {
    Program,
    Nothing,
    /// Something on the way, or the program itself, is the command's to change.
    Theirs,
}

/// Goes to a path link by link, as the kernel does: each of them could be replaced.
fn find(path: &str, scene: &Scene<'_>, lookup: &dyn Lookup) -> Found {
    let mut at = PathBuf::from("/");
    let mut left: Vec<String> = parts(path);
    let mut links = 0;
    while let Some(part) = left.pop() {
        if part == ".." {
            at.pop();
            continue;
        }
        at.push(part);
        if scene.may_write(&at) {
            return Found::Theirs;
        }
        match at.to_str().map_or(Entry::Unknown, |at| lookup.look(at)) {
            Entry::Link(target) if links < MOST_LINKS => {
                links += 1;
                if target.starts_with('/') {
                    at = PathBuf::from("/");
                } else {
                    at.pop();
                }
                left.extend(parts(&target));
            }
            Entry::Folder => {}
            Entry::File | Entry::SharedFile if left.is_empty() => return Found::Program,
            Entry::File
            | Entry::SharedFile
            | Entry::Link(_)
            | Entry::Absent
            | Entry::Other
            | Entry::Unknown => return Found::Nothing,
        }
    }
    Found::Nothing
}

/// Returns the parts of a path, the last one first.
fn parts(path: &str) -> Vec<String> {
    let parts = path.split('/').filter(|part| !part.is_empty() && *part != ".");
    parts.rev().map(str::to_owned).collect()
}
