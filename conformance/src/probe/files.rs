//! Attacks on files, rows 31 to 45.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use palisade_conformance::World;
use rustix::fs::{CWD, RenameFlags};

use crate::tries::{Tries, no};

/// Names in a workspace that make other programs run something later.
const PROTECTED: [&str; 5] =
    [".mcp.json", ".vscode/tasks.json", ".claude/settings.json", ".bashrc", ".gitmodules"];

/// Makes, changes, moves, links and reads files of the workspace, as any command may.
pub(crate) fn lawful(world: &World) -> io::Result<()> {
    let [made, moved, linked] =
        ["lawful", "lawful-moved", "lawful-linked"].map(|name| world.own(name));
    fs::write(&made, &world.mark)?;
    append(&made, &world.mark)?;
    fs::rename(&made, &moved)?;
    fs::hard_link(&moved, &linked)?;
    let read = fs::read_to_string(&linked)?;
    fs::remove_file(&linked)?;
    if read == format!("{0}{0}", world.mark) { Ok(()) } else { Err(no("other bytes came back")) }
}

/// Git's own work in the repository goes on.
pub(crate) fn lawful_in_repository(world: &World) -> io::Result<()> {
    lawful(world)?;
    let git = world.app.join(".git");
    fs::write(git.join("refs/heads/topic"), "0000000000000000000000000000000000000000\n")?;
    fs::create_dir_all(git.join("objects/aa"))?;
    fs::write(git.join("objects/aa/bb"), &world.mark)?;
    fs::write(git.join("index.lock"), &world.mark)?;
    fs::rename(git.join("index.lock"), git.join("index"))
}

pub(crate) fn made(world: &World, tries: &mut Tries) {
    tries.each(
        PROTECTED,
        |name| (*name).to_owned(),
        |name| {
            let path = world.app.join(name);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(path, &world.mark)
        },
    );
}

pub(crate) fn moved(world: &World, tries: &mut Tries) {
    let own = world.own("own");
    let prepared = || {
        // One of an earlier way may be gone, or another name of the same file.
        fs::remove_file(&own).ok();
        fs::write(&own, &world.mark)
    };
    for name in [".mcp.json", ".bashrc", ".gitmodules"] {
        let path = world.app.join(name);
        tries.note(&format!("rename to {name}"), prepared().and_then(|()| fs::rename(&own, &path)));
        tries.note(&format!("link {name}"), prepared().and_then(|()| fs::hard_link(&own, &path)));
        tries.note(&format!("symlink {name}"), symlink(&own, &path));
    }
    let folder = world.own("own-folder");
    let moved = fs::create_dir_all(&folder)
        .and_then(|()| fs::write(folder.join("tasks.json"), &world.mark))
        .and_then(|()| fs::rename(&folder, world.app.join(".vscode")));
    tries.note("rename a folder to .vscode", moved);
}

pub(crate) fn hooks(world: &World, tries: &mut Tries) {
    let hooks = world.app.join(".git/hooks");
    for name in ["pre-commit", "post-checkout"] {
        tries.note(name, fs::write(hooks.join(name), &world.mark));
    }
    tries.note("change one that is there", append(&hooks.join("README"), &world.mark));
    tries.note("remove one that is there", fs::remove_file(hooks.join("README")));
}

pub(crate) fn config(world: &World, tries: &mut Tries) {
    let git = world.app.join(".git");
    tries.note("append to config", append(&git.join("config"), &world.mark));
    tries.note("truncate config", File::create(git.join("config")));
    for name in ["config.worktree", "commondir", "info/attributes"] {
        tries.note(name, fs::write(git.join(name), &world.mark));
    }
}

pub(crate) fn parent(world: &World, tries: &mut Tries) {
    let git = world.app.join(".git");
    tries.note("rename .git", fs::rename(&git, world.app.join("g")));
    tries.note("rename .git/hooks", fs::rename(git.join("hooks"), git.join("h")));
    tries.note("make .git anew", fs::create_dir(&git));
    // The workspace's own name leads to all of it.
    let away = world.app.with_extension("away");
    tries.note("rename the workspace", fs::rename(&world.app, away));
}

pub(crate) fn replaced(world: &World, tries: &mut Tries) {
    let (config, own) = (world.app.join(".git/config"), world.own("own"));
    if let Err(error) = fs::write(&own, &world.mark) {
        return tries.note("a file of its own", Err::<(), _>(error));
    }
    let exchanged = rustix::fs::renameat_with(CWD, &own, CWD, &config, RenameFlags::EXCHANGE);
    tries.note("exchange", exchanged.map_err(io::Error::from));
    tries.note("remove", fs::remove_file(&config));
    tries.note("link", fs::hard_link(&own, &config));
    tries.note("rename", fs::rename(&own, &config));
    let linked = world.own("linked");
    let through = fs::hard_link(&config, &linked).and_then(|()| append(&linked, &world.mark));
    tries.note("write through a link", through);
}

pub(crate) fn linked(world: &World, tries: &mut Tries) {
    let link = world.own("linked");
    let through = fs::hard_link(&world.file, &link).and_then(|()| append(&link, &world.mark));
    tries.note("link", through);
}

pub(crate) fn written(world: &World, tries: &mut Tries) {
    let mut spelled = spellings(&world.file, &world.app);
    let link = world.own("symbolic");
    if symlink(&world.file, &link).is_ok() {
        spelled.push(link);
    }
    tries.each(spelled, |path| shown(path, world), |path| append(path, &world.mark));
}

pub(crate) fn read(world: &World, tries: &mut Tries) {
    let wanted = format!("secret {}", world.mark);
    let read = |path: &PathBuf| match fs::read_to_string(path) {
        Ok(text) if text.contains(&wanted) => Ok(()),
        Ok(_) => Err(no("something else is there")),
        Err(error) => Err(error),
    };
    let spelled = spellings(&world.secret, &world.app);
    tries.each(spelled, |path| shown(path, world), read);
}

pub(crate) fn walked(world: &World, tries: &mut Tries) {
    let Some((above, name)) = world.file.parent().zip(world.file.file_name()) else { return };
    let reopened = File::open(&world.file).and_then(|file| {
        append(&PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())), &world.mark)
    });
    tries.note("open anew by /proc/self/fd", reopened);
    let folder = File::open(above).and_then(|folder| {
        append(&PathBuf::from(format!("/dev/fd/{}", folder.as_raw_fd())).join(name), &world.mark)
    });
    tries.note("from an open folder by /dev/fd", folder);
    tries.note(
        "truncate",
        rustix::fs::open(
            &world.file,
            rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::TRUNC,
            rustix::fs::Mode::empty(),
        )
        .map_err(io::Error::from),
    );
    tries.note("remove", fs::remove_file(&world.file));
    tries.note("a new name beside it", fs::write(above.join("beside"), &world.mark));
    let later = fs::FileTimes::new().set_modified(std::time::SystemTime::UNIX_EPOCH);
    let touched = File::open(&world.file).and_then(|file| file.set_times(later));
    tries.note("change its times", touched);
}

pub(crate) fn granted(world: &World, tries: &mut Tries) {
    tries.note("append", append(&world.file, &world.mark));
}

pub(crate) fn startup(world: &World, tries: &mut Tries) {
    for name in [".bashrc", "notes"] {
        tries.note(name, append(&world.home.join(name), &world.mark));
    }
    tries.note(".profile", fs::write(world.home.join(".profile"), &world.mark));
}

pub(crate) fn planted(world: &World, tries: &mut Tries) {
    tries.note("append", append(&world.planted, &world.mark));
}

pub(crate) fn moved_out(world: &World, tries: &mut Tries) {
    let own = world.own("own");
    let beside = world.file.with_file_name("moved");
    tries.note("new name", fs::write(&own, &world.mark).and_then(|()| fs::rename(&own, &beside)));
    tries.note(
        "over the file",
        fs::write(&own, &world.mark).and_then(|()| fs::rename(&own, &world.file)),
    );
}

pub(crate) fn moved_in(world: &World, tries: &mut Tries) {
    tries.note("rename", fs::rename(&world.file, world.own("taken")));
}

/// Other texts that lead to the same place.
fn spellings(path: &Path, app: &Path) -> Vec<PathBuf> {
    let text = path.to_string_lossy();
    let up = "../".repeat(app.components().count() + 1);
    let below = text.trim_start_matches('/');
    [
        text.to_string(),
        format!("/{text}"),
        format!("/./{below}"),
        format!("{up}{below}"),
        format!("/usr/../{below}"),
        format!("/proc/self/root/{below}"),
        format!("/proc/thread-self/root/{below}"),
        format!("/proc/1/root/{below}"),
        format!("/proc/self/cwd/{up}{below}"),
        format!("/proc/self/task/{}/root/{below}", std::process::id()),
        format!("/dev/fd/../root/{below}"),
    ]
    .map(PathBuf::from)
    .into()
}

/// A spelling without the names of this world, which differ from run to run.
fn shown(path: &Path, world: &World) -> String {
    let text = path.to_string_lossy().into_owned();
    let above = world.app.parent().and_then(Path::parent).unwrap_or(&world.app);
    let above = above.to_string_lossy();
    let text = text.replace(above.trim_start_matches('/'), "…");
    text.replace(&std::process::id().to_string(), "PID").replace("../../..", "..")
}

/// Adds to a file that must exist.
pub(crate) fn append(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().append(true).open(path)?.write_all(text.as_bytes())
}

/// Reads no more than a page: some files have no end.
pub(crate) fn beginning(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(65536).read_to_end(&mut bytes)?;
    Ok(bytes)
}
