//! Never silently weaker: whatever a policy asks for, at each level a step carries it, or the command
//! is refused, or `enforced` or a note names the lack.

use std::path::{Path, PathBuf};
use std::time::Duration;

use palisade_policy::policy::{NetworkMode, Require};

use crate::build::build;
use crate::build::tests::{facts, order, pattern, permit};
use crate::order::Trace;
use crate::seccomp::{Nesting, Sockets};
use crate::step::{Limit, Namespace, Step};
use crate::{
    Facts, Kind, Layer, Level, Order, Place, Plan, Privilege, Searched, Strength, Trial, Walls,
};

/// What a policy asks for.
struct Feature {
    name: &'static str,
    /// Asks for it, and nothing else.
    ask: fn(&mut Order, &mut Facts),
    /// Whether a step carries it.
    step: fn(&Step) -> bool,
    /// Where a lack of it is named, and a word of that; or the code of a note.
    told: Told,
}

enum Told {
    By(Layer, &'static str),
    Note(&'static str),
    /// It is looked for at the end.
    AtEnd(Layer, &'static str),
}

use Told::{AtEnd, By, Note};

const SECRET: &str = "/home/dev/app/secret";
const FIXED: &str = "/home/dev/app/.git/config";
const MISSING: &str = "/home/dev/app/.envrc";
const COMMON: &str = "/home/dev/app/.git/commondir";

fn lies(facts: &mut Facts, path: &str, is: Kind) {
    let like = facts.place(Path::new(FIXED)).cloned().unwrap();
    let path = PathBuf::from(path);
    let place = Place { real: path.clone(), at: path.clone(), path, is, leads_to: is, ..like };
    facts.places.push(place);
    facts.places.sort_by(|one, other| one.path.as_os_str().cmp(other.path.as_os_str()));
}

/// Shows the project in itself once more.
fn mounted_twice(facts: &mut Facts) {
    let whole = facts.mounts.first().cloned().unwrap();
    let (point, root) = ("/home/dev/app/view".into(), "/home/dev/app".into());
    facts.mounts.push(crate::Mount { point, root, ..whole });
}

/// Whether a step keeps a path from being changed.
fn protects(step: &Step, path: &str) -> bool {
    let path = Path::new(path);
    matches!(step, Step::Protect(protected) if protected == path)
        || matches!(step, Step::LandlockAlone(alone) if alone.fixed.iter().any(|it| it == path))
}

/// Whether a step keeps a path from being read.
fn hides(step: &Step, path: &str) -> bool {
    let path = Path::new(path);
    matches!(step, Step::Hide { at, names, .. } if names.iter().any(|name| at.join(name) == path))
        || matches!(step, Step::Cover { at, .. } if at == path)
        || matches!(step, Step::LandlockAlone(alone) if alone.hidden.iter().any(|it| it == path))
}

fn features() -> Vec<Feature> {
    let mut all = paths();
    all.extend(others_changed());
    all.extend(bounds());
    all.extend(others());
    all
}

fn paths() -> Vec<Feature> {
    vec![
        Feature {
            name: "hide outside of what can be written",
            ask: |order, _| order.hide = vec![pattern("/home/dev/.ssh")],
            step: |step| hides(step, "/home/dev/.ssh"),
            told: By(Layer::Hide, ".ssh"),
        },
        Feature {
            name: "hide in a writable tree",
            ask: |order, facts| {
                order.hide = vec![pattern(SECRET)];
                lies(facts, SECRET, Kind::File);
            },
            step: |step| hides(step, SECRET),
            told: By(Layer::Hide, "secret"),
        },
        Feature {
            name: "hide by a pattern where not all could be searched",
            ask: |order, facts| {
                order.hide = vec![pattern("/home/dev/app/**/secret")];
                facts.searched = Searched::Partly;
            },
            step: |_| false,
            told: By(Layer::Hide, "not searched in all folders"),
        },
        Feature {
            name: "hide a file that has other names",
            ask: |order, facts| {
                order.hide = vec![pattern(SECRET)];
                lies(facts, SECRET, Kind::File);
                facts.places.iter_mut().for_each(|place| place.names = 2);
            },
            step: |_| false,
            told: By(Layer::Hide, "other names"),
        },
        Feature {
            name: "protect what is there",
            ask: |order, _| order.protect = vec![pattern(FIXED)],
            step: |step| {
                matches!(step, Step::Protect(path) if path == Path::new(FIXED))
                    || matches!(step, Step::LandlockAlone(alone) if alone.fixed == [PathBuf::from(FIXED)])
            },
            told: By(Layer::Protect, "config"),
        },
        Feature {
            name: "protect a name that is not there",
            ask: |order, facts| {
                order.protect = vec![pattern(MISSING)];
                lies(facts, MISSING, Kind::Absent);
            },
            step: |step| matches!(step, Step::Reserve(paths) if paths.contains(&MISSING.into())),
            told: By(Layer::Protect, "are set aside at the end"),
        },
        Feature {
            name: "protect a name that is not there where nobody looks at the end",
            ask: |order, facts| {
                order.protect = vec![pattern(MISSING)];
                lies(facts, MISSING, Kind::Absent);
                facts.searched = Searched::Partly;
            },
            step: |step| matches!(step, Step::Reserve(paths) if paths.contains(&MISSING.into())),
            told: By(Layer::Protect, "can be made, and stay"),
        },
        Feature {
            name: "protect by a pattern where not all could be searched",
            ask: |order, facts| {
                order.protect = vec![pattern("/home/dev/app/**/.envrc")];
                facts.searched = Searched::Partly;
            },
            step: |_| false,
            told: By(Layer::Protect, "not searched in all folders"),
        },
        Feature {
            name: "sockets of the host that nobody looked at",
            ask: |_, facts| facts.doors = Searched::Partly,
            step: |step| matches!(step, Step::Seccomp { sockets, .. } if *sockets != Sockets::Own),
            told: By(Layer::Files, "sockets"),
        },
    ]
}

/// What others do to the trees, before a run or while it goes on.
fn others_changed() -> Vec<Feature> {
    vec![
        Feature {
            name: "hide what another mount in a tree shows too",
            ask: |order, facts| {
                order.hide = vec![pattern(SECRET)];
                lies(facts, SECRET, Kind::File);
                mounted_twice(facts);
            },
            step: |step| hides(step, "/home/dev/app/view/secret"),
            told: By(Layer::Hide, "view"),
        },
        Feature {
            name: "protect what another mount in a tree shows too",
            ask: |order, facts| {
                order.protect = vec![pattern(FIXED)];
                mounted_twice(facts);
            },
            step: |step| protects(step, "/home/dev/app/view/.git/config"),
            told: By(Layer::Protect, "view"),
        },
        Feature {
            name: "protect a name that is not there from another mount in a tree",
            ask: |order, facts| {
                order.protect = vec![pattern(MISSING)];
                lies(facts, MISSING, Kind::Absent);
                mounted_twice(facts);
            },
            step: |step| protects(step, "/home/dev/app/view/.envrc"),
            told: By(Layer::Protect, "are set aside at the end"),
        },
        Feature {
            name: "hide in a writable tree what the host replaces",
            ask: |order, facts| {
                order.hide = vec![pattern(SECRET)];
                lies(facts, SECRET, Kind::File);
            },
            step: |_| false,
            told: By(Layer::Hide, "what the host"),
        },
        Feature {
            name: "protect what the host replaces",
            ask: |order, _| order.protect = vec![pattern(FIXED)],
            step: |_| false,
            told: By(Layer::Protect, "what the host"),
        },
        Feature {
            name: "protect a folder that the host replaces",
            ask: |order, facts| {
                order.protect = vec![pattern(SECRET)];
                lies(facts, SECRET, Kind::Folder);
            },
            step: |_| false,
            told: By(Layer::Protect, "what the host"),
        },
        Feature {
            name: "hide by a pattern where a folder is not searched",
            ask: |order, facts| {
                order.hide = vec![pattern("/home/dev/app/**/secret")];
                facts.skipped = vec!["/home/dev/app/target".into()];
            },
            step: |_| false,
            told: By(Layer::Hide, "not searched in `/home/dev/app/target`"),
        },
        Feature {
            name: "protect a name that git takes for a file, where not all could be searched",
            ask: |order, facts| {
                order.protect = vec![pattern("/home/dev/app/**/.git/commondir")];
                lies(facts, COMMON, Kind::Absent);
                facts.searched = Searched::Partly;
            },
            step: |_| false,
            told: AtEnd(Layer::Protect, COMMON),
        },
        Feature {
            name: "protect such a name by its path, where not all could be searched",
            ask: |order, facts| {
                order.protect = vec![pattern(COMMON)];
                lies(facts, COMMON, Kind::Absent);
                facts.searched = Searched::Partly;
            },
            step: |_| false,
            told: AtEnd(Layer::Protect, COMMON),
        },
        Feature {
            name: "pipes of the host",
            ask: |_, _| {},
            step: |step| matches!(step, Step::Landlock { .. } | Step::LandlockAlone(_)),
            told: By(Layer::Files, "pipes"),
        },
        Feature {
            name: "pipes of the host, nested: userns",
            ask: |order, _| order.nesting = Nesting::UserNamespaces,
            step: |step| matches!(step, Step::Landlock { .. } | Step::LandlockAlone(_)),
            told: By(Layer::Files, "pipes"),
        },
    ]
}

fn bounds() -> Vec<Feature> {
    vec![
        Feature {
            name: "limits.processes",
            ask: |order, _| order.bounds.processes = Some(9),
            step: |step| matches!(step, Step::Limit(Limit::Processes(_))),
            told: By(Layer::Limits, "processes"),
        },
        Feature {
            name: "limits.memory, of all together",
            ask: |order, _| order.bounds.memory = Some(9 << 20),
            step: |step| matches!(step, Step::Group { .. }),
            told: By(Layer::Limits, "memory"),
        },
        Feature {
            name: "limits.cpu",
            ask: |order, _| order.bounds.cpu = Some(Duration::from_secs(9)),
            step: |step| matches!(step, Step::Limit(Limit::CpuSeconds(9))),
            told: By(Layer::Limits, "cpu"),
        },
        Feature {
            name: "limits.file_size",
            ask: |order, _| order.bounds.file_size = Some(9),
            step: |step| matches!(step, Step::Limit(Limit::FileSize(9))),
            told: By(Layer::Limits, "file_size"),
        },
        Feature {
            name: "limits.open_files",
            ask: |order, _| order.bounds.open_files = Some(9),
            step: |step| matches!(step, Step::Limit(Limit::OpenFiles(9))),
            told: By(Layer::Limits, "open_files"),
        },
        Feature {
            name: "limits.tmp",
            ask: |order, _| order.bounds.tmp = Some(9 << 20),
            step: |step| {
                matches!(step, Step::Tmpfs { at, size, .. }
                    if at == Path::new("/tmp") && *size == Some(9 << 20))
            },
            told: By(Layer::Limits, "tmp"),
        },
    ]
}

fn others() -> Vec<Feature> {
    vec![
        Feature {
            name: "network: deny-all",
            ask: |order, _| order.network = NetworkMode::DenyAll,
            step: |step| {
                matches!(step, Step::Namespaces(kinds) if kinds.contains(&Namespace::Network))
                    || matches!(step, Step::Seccomp { sockets: Sockets::Pairs, .. })
            },
            told: By(Layer::Network, "shared with the sandbox around"),
        },
        Feature {
            name: "network: allow-list",
            ask: |order, _| order.network = NetworkMode::AllowList,
            step: |step| matches!(step, Step::Inlets(_)),
            told: By(Layer::Network, "hosts"),
        },
        Feature {
            name: "network: monitor",
            ask: |order, _| order.network = NetworkMode::Monitor,
            step: |step| matches!(step, Step::Inlets(_)),
            told: By(Layer::Network, "hosts"),
        },
        Feature {
            name: "network: disabled",
            ask: |order, _| order.network = NetworkMode::Disabled,
            step: |_| false,
            told: By(Layer::Network, "disabled"),
        },
        Feature {
            name: "nested: userns, which opens the second wall",
            ask: |order, _| order.nesting = Nesting::UserNamespaces,
            step: |_| false,
            told: By(Layer::Landlock, "nested"),
        },
        Feature {
            name: "nested: userns, where what comes later is not hidden",
            ask: |order, _| {
                order.nesting = Nesting::UserNamespaces;
                order.hide = vec![pattern("/home/dev/app/**/.env")];
            },
            step: |_| false,
            told: By(Layer::Hide, "mounts of their own"),
        },
        Feature {
            name: "nested: userns, where what is replaced is not protected",
            ask: |order, _| {
                order.nesting = Nesting::UserNamespaces;
                order.protect = vec![pattern("/home/dev/app/**/.git/config")];
            },
            step: |_| false,
            told: By(Layer::Protect, "mounts of their own"),
        },
        Feature {
            name: "nested: userns, which opens system calls",
            ask: |order, _| order.nesting = Nesting::UserNamespaces,
            step: |_| false,
            told: By(Layer::SystemCalls, "open inside"),
        },
        Feature {
            name: "writes in vain are told",
            ask: |order, _| order.trace = Trace::Writes,
            step: |step| matches!(step, Step::TraceWrites(_)),
            told: Note("not-traced"),
        },
    ]
}

/// Every rung, and what must be required for it to be taken.
fn rungs() -> Vec<(&'static str, Facts, Require, Level)> {
    let refused = || Trial::Refused { what: "making namespaces".into(), errno: 1 };
    let works = facts(Privilege::Ordinary);
    let mut blocked = works.clone();
    blocked.kernel.namespaces = refused();
    let mut unaided = blocked.clone();
    unaided.kernel.unaided = Trial::Works;
    let mut around = blocked.clone();
    around.kernel.around = Trial::Works;
    let mut first = works.clone();
    first.kernel.landlock = 0;
    let mut bare = blocked.clone();
    bare.kernel.landlock = 0;
    vec![
        ("namespaces", works.clone(), Require::Full, Level::Full),
        ("namespaces without users", unaided, Require::Full, Level::Full),
        ("a sandbox around", around, Require::Full, Level::Full),
        ("namespaces without Landlock", first, Require::Landlock, Level::Landlock),
        ("Landlock alone", blocked, Require::Landlock, Level::Landlock),
        ("external", works, Require::External, Level::External),
        ("nothing", bare, Require::None, Level::None),
    ]
}

fn is_told(plan: &Plan, told: &Told) -> bool {
    let is_absent = |layer: &Layer| {
        let mut layers = plan.enforced().iter().filter(|it| it.layer == *layer);
        layers.any(|it| matches!(it.strength, Strength::Absent(_)))
    };
    match told {
        Note(code) => plan.notes().iter().any(|note| note.code == *code),
        AtEnd(layer, path) => {
            let path = Path::new(path);
            let looks = |after: &crate::After| {
                after.own_names().iter().any(|it| it == path)
                    || after.single_names().any(|it| it == path)
            };
            is_absent(layer) || plan.after().is_some_and(looks)
        }
        By(layer, word) => {
            let layer = plan.enforced().iter().find(|it| it.layer == *layer);
            layer.is_some_and(|it| match &it.strength {
                Strength::Kernel => false,
                // All of it is missing.
                Strength::Absent(_) => true,
                Strength::Window(list) | Strength::Partial(list) => {
                    list.iter().any(|what| what.contains(word))
                }
            })
        }
    }
}

#[test]
fn what_a_policy_asks_for_is_carried_or_refused_or_named_at_every_level() {
    let mut silent = Vec::new();
    for (rung, host, require, level) in rungs() {
        for feature in features() {
            let mut host = host.clone();
            let bare = Order { hide: Vec::new(), protect: Vec::new(), require, ..order() };
            let bounds = crate::Bounds { processes: None, ..bare.bounds };
            let mut order = Order { bounds, ..bare };
            (feature.ask)(&mut order, &mut host);
            let Ok(plan) = build(&permit(), &order, &host) else { continue };
            // Who nests has given the second wall up, and all others are there.
            if order.nesting == Nesting::Off {
                assert_eq!(plan.level(), level, "{rung}, {}", feature.name);
            }
            let is_carried = plan.steps().iter().any(feature.step);
            if !is_carried && !is_told(&plan, &feature.told) {
                silent.push(format!("{rung}: {}", feature.name));
            }
        }
    }
    assert!(silent.is_empty(), "silently weaker:\n{}", silent.join("\n"));
}

#[test]
fn what_nobody_asks_for_is_not_named_as_missing_behind_all_walls() {
    let mut order = order();
    (order.hide, order.protect, order.bounds) = (Vec::new(), Vec::new(), crate::Bounds::default());
    let plan = build(&permit(), &order, &facts(Privilege::Ordinary)).unwrap();
    for feature in features() {
        assert!(!is_told(&plan, &feature.told), "{}", feature.name);
    }
    // Where somebody has switched every wall off, every layer says so.
    order.walls = Walls::Down { by: "a person".into() };
    let plan = build(&permit(), &order, &facts(Privilege::Ordinary)).unwrap();
    let missing = |it: &&crate::Enforced| matches!(it.strength, Strength::Absent(_));
    assert_eq!(plan.enforced().iter().filter(missing).count(), Layer::ALL.len() - 1);
}
