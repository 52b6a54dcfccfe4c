//! What the command finds: devices, private folders, its program.

use std::path::{Path, PathBuf};

use palisade_policy::policy::NetworkMode;

use super::Owners;
use crate::facts::{Facts, Kind, Place, Privilege};
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
        keeps.push(Keep { tree, path: path.clone(), access, depth, owner, id: None });
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

/// What root could change or read although it has no capability, on a machine whose filesystems
/// cannot give it another owner.
pub(crate) const ROOTS_OWN: [&str; 18] = [
    "/proc/acpi",
    "/proc/bus",
    "/proc/fs",
    "/proc/irq",
    "/proc/kcore",
    "/proc/keys",
    "/proc/kmsg",
    "/proc/sched_debug",
    "/proc/scsi",
    "/proc/sysrq-trigger",
    "/proc/timer_list",
    "/sys/firmware",
    "/sys/kernel/debug",
    "/sys/kernel/tracing",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/shadow",
    "/etc/shadow-",
];

/// Keeps the switches of the machine from a command that is root, inside or outside.
pub(super) fn machine(owners: Owners, facts: &Facts, steps: &mut Vec<Step>) {
    match (owners, facts.privilege) {
        (Owners::Same, Privilege::Ordinary) => {}
        // Inside, the user is 0, to whom some switches of its own namespaces belong.
        (Owners::Swapped, Privilege::Ordinary | Privilege::Root { .. }) => {
            steps.push(Step::Protect("/proc/sys".into()));
        }
        (Owners::Same, Privilege::Root { .. }) => {
            steps.push(Step::Protect("/proc/sys".into()));
            steps.push(Step::Mask(ROOTS_OWN.map(PathBuf::from).into()));
        }
    }
}

/// Returns the names of hosts that the command knows: its own, unless it has the host's network. A
/// name that the host's table leads elsewhere would arrive as an address, of which no rule speaks.
pub(super) fn hosts(order: &Order, facts: &Facts) -> Option<Step> {
    let at = Path::new("/etc/hosts");
    let has_own = order.network != NetworkMode::Disabled;
    let is_file = facts.place(at).is_some_and(|place| place.is == Kind::File);
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    let name = if facts.name.chars().all(plain) { facts.name.as_str() } else { "" };
    let text = format!("127.0.0.1 localhost {name}\n::1 localhost {name}\n").replace(" \n", "\n");
    (has_own && is_file).then(|| Step::Show { at: at.into(), text })
}

/// Returns where the command asks for names, where some are answered: at any address, so that what
/// the host's file says of others, of links and of search lists counts for nothing.
pub(super) fn resolver(order: &Order, place: &Place) -> Option<Step> {
    let text = match order.network {
        NetworkMode::AllowList | NetworkMode::Monitor => "nameserver 127.0.0.1\n".to_owned(),
        NetworkMode::DenyAll | NetworkMode::Disabled => return None,
    };
    Some(Step::Show { at: place.real.clone(), text })
}

/// Returns the command, and where its program is looked for.
pub(super) fn exec(order: &Order, caches: Vec<(String, String)>) -> Step {
    let mut environment = order.environment.clone();
    environment.extend(caches);
    let tmp = ("TMPDIR".to_owned(), "/tmp".to_owned());
    environment.retain(|(name, _)| *name != tmp.0);
    environment.push(tmp);
    program(&order.argv, environment)
}

/// Returns the command with this environment.
pub(super) fn program(argv: &[String], environment: Vec<(String, String)>) -> Step {
    let path = environment.iter().find(|(name, _)| name == "PATH");
    let path = path.map_or(PATH, |(_, value)| value.as_str());
    let program = argv.first().map(String::as_str).unwrap_or_default();
    let paths = if program.contains('/') {
        vec![PathBuf::from(program)]
    } else {
        // An empty entry means the current folder to a shell; here it means nothing, because a
        // file in the workspace must not stand in for a program.
        let folders = path.split(':').filter(|folder| folder.starts_with('/'));
        folders.map(|folder| Path::new(folder).join(program)).collect()
    };
    Step::Exec { argv: argv.to_vec(), paths, environment }
}

#[cfg(test)]
mod tests {
    use super::super::build;
    use super::super::tests::{facts, order, pattern, permit};
    use super::*;

    #[test]
    fn names_are_asked_for_at_the_sandboxs_own_server_where_one_answers() {
        let mut facts = facts(Privilege::Ordinary);
        let mut place = facts.place(Path::new("/etc/hosts")).unwrap().clone();
        place.path = "/etc/resolv.conf".into();
        // As it is where a service of the machine writes the file.
        (place.at, place.real) = (place.path.clone(), "/run/resolve/stub.conf".into());
        place.is = Kind::Link;
        facts.places.push(place);
        facts.places.sort_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
        let shown = |mode, hide: &[&str]| {
            let mut order = Order { network: mode, ..order() };
            order.hide.extend(hide.iter().map(|text| pattern(text)));
            let plan = build(&permit(), &order, &facts).unwrap();
            let at = Path::new("/run/resolve/stub.conf");
            let steps = plan.steps().iter();
            let mut steps =
                steps.skip_while(|step| !matches!(step, Step::Attach { at: to, .. } if to == at));
            steps.any(|step| matches!(step, Step::Show { at: to, .. } if to == at))
        };
        assert!(shown(NetworkMode::AllowList, &[]) && shown(NetworkMode::Monitor, &[]));
        assert!(!shown(NetworkMode::DenyAll, &[]) && !shown(NetworkMode::Disabled, &[]));
        assert!(!shown(NetworkMode::AllowList, &["/etc/resolv.conf"]));
    }
}
