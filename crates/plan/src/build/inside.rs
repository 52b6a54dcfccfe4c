//! What the command finds: devices, private folders, its program.

use std::path::{Path, PathBuf};

use crate::order::Order;
use crate::step::{Access, Depth, Keep, Owner, Step, Tree};

/// Devices that keep nothing and reach nobody.
pub(super) const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

/// Links that programs expect in /dev.
const LINKS: [(&str, &str); 5] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// The search path of a command that has none.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Holds on to the devices before devices are switched off everywhere.
pub(super) fn keep_devices(keeps: &mut Vec<Keep>) -> Vec<(Tree, PathBuf)> {
    let mut kept = Vec::new();
    for (number, name) in (0..).zip(DEVICES) {
        let (tree, path) = (Tree(number), Path::new("/dev").join(name));
        let (access, depth, owner) = (Access::Device, Depth::One, Owner::Same);
        keeps.push(Keep { tree, path: path.clone(), access, depth, owner });
        kept.push((tree, path));
    }
    kept
}

/// Makes a /dev with these devices and nothing else.
pub(super) fn devices(kept: Vec<(Tree, PathBuf)>, shm: Option<u64>, steps: &mut Vec<Step>) {
    let dev = Path::new("/dev");
    steps.push(Step::Tmpfs { at: dev.into(), size: Some(64 << 10), mode: 0o755 });
    for (tree, at) in kept {
        steps.push(Step::MakeFile(at.clone()));
        steps.push(Step::Attach { tree, at });
    }
    for (name, to) in LINKS {
        steps.push(Step::MakeLink { at: dev.join(name), to: to.into() });
    }
    steps.extend([dev.join("pts"), dev.join("shm")].map(Step::MakeFolder));
    steps.push(Step::FreshTerminals);
    steps.push(Step::Tmpfs { at: dev.join("shm"), size: shm, mode: 0o1777 });
}

/// Returns the command, and where its program is looked for.
pub(super) fn exec(order: &Order, caches: Vec<(String, String)>) -> Step {
    let mut environment = order.environment.clone();
    environment.extend(caches);
    let tmp = ("TMPDIR".to_owned(), "/tmp".to_owned());
    environment.retain(|(name, _)| *name != tmp.0);
    environment.push(tmp);
    let path = environment.iter().find(|(name, _)| name == "PATH");
    let path = path.map_or(PATH, |(_, value)| value.as_str());
    let program = order.argv.first().map(String::as_str).unwrap_or_default();
    let paths = if program.contains('/') {
        vec![PathBuf::from(program)]
    } else {
        // An empty entry means the current folder to a shell; here it means nothing, because a
        // file in the workspace must not stand in for a program.
        let folders = path.split(':').filter(|folder| folder.starts_with('/'));
        folders.map(|folder| Path::new(folder).join(program)).collect()
    };
    Step::Exec { argv: order.argv.clone(), paths, environment }
}
