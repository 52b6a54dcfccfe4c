//! Plans for hosts that are written down here.

use std::path::{Path, PathBuf};
use std::time::Duration;

use palisade_policy::Policy;
use palisade_policy::decide::{Asked, Call, Judge, Permit, Verdict};
use palisade_policy::jail::NoLookup;
use palisade_policy::name::PathPattern;
use palisade_policy::policy::{NetworkMode, Require};

use super::*;
use crate::facts::{Delegated, Kernel, Mount, Place, Searched, Trial};
use crate::order::{Caches, Trace};
use crate::seccomp::Arch;

mod overlaid;
mod overlapping;

type Change<'c> = &'c dyn Fn(&mut Order, &mut Facts);

pub(crate) fn permit() -> Permit {
    let judge = Judge::new(&Policy::default(), "/w", None, &NoLookup);
    let argv = ["true".to_owned()];
    match judge.decide(&Call { command: Asked::Argv(&argv), cwd: "/w" }, &NoLookup) {
        Verdict::Allow(permit) => permit,
        Verdict::Ask(why) | Verdict::Deny(why) => panic!("{why:?}"),
    }
}

pub(crate) fn pattern(text: &str) -> PathPattern {
    text.parse().unwrap()
}

pub(crate) fn order() -> Order {
    Order {
        root: "/home/dev/app".into(),
        cwd: "/home/dev/app".into(),
        home: Some("/home/dev".into()),
        plain: None,
        argv: vec!["cargo".into(), "test".into()],
        environment: vec![("PATH".into(), "/usr/bin:/bin".into()), ("K".into(), "secret".into())],
        write: vec!["/home/dev/app".into()],
        protect: vec![
            pattern("/home/dev/app/**/.git/hooks"),
            pattern("/home/dev/app/**/.git/config"),
        ],
        hide: vec![pattern("/home/dev/.ssh"), pattern("/home/dev/.config/gh")],
        readable: Vec::new(),
        others: Vec::new(),
        network: NetworkMode::DenyAll,
        unix: Vec::new(),
        publish: Vec::new(),
        nesting: Nesting::Off,
        require: Require::Full,
        walls: Walls::Up,
        caches: Caches::Off,
        trace: Trace::Off,
        notes: Vec::new(),
        bounds: Bounds {
            time: Some(Duration::from_secs(30)),
            processes: Some(256),
            ..Bounds::default()
        },
    }
}

fn place(path: &str, is: Kind) -> Place {
    let (path, mode) = (PathBuf::from(path), if is == Kind::Folder { 0o755 } else { 0o644 });
    Place {
        real: path.clone(),
        at: path.clone(),
        path,
        links: Vec::new(),
        is,
        leads_to: is,
        names: 1,
        shut: None,
        mode,
        owner: (0, 0),
        id: None,
        empty: false,
        searched: Searched::Whole,
    }
}

pub(crate) fn facts(privilege: Privilege) -> Facts {
    let folders = [
        "/dev/pts",
        "/dev/shm",
        "/home/dev",
        "/home/dev/.cargo",
        "/home/dev/.config/gh",
        "/home/dev/.ssh",
        "/home/dev/app",
        "/home/dev/app/.git/hooks",
        "/run",
        "/tmp",
        "/var/tmp",
    ];
    let mut places: Vec<Place> = folders.iter().map(|path| place(path, Kind::Folder)).collect();
    places.push(place("/home/dev/app/.git/config", Kind::File));
    places.push(place("/etc/hosts", Kind::File));
    places.sort_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
    let mount = |point: &str, device: &str, kind: &str| Mount {
        point: point.into(),
        root: "/".into(),
        device: device.into(),
        kind: kind.into(),
        layers: vec![],
    };
    Facts {
        uid: if privilege == Privilege::Ordinary { 1000 } else { 0 },
        gid: if privilege == Privilege::Ordinary { 1000 } else { 0 },
        groups: vec![],
        name: "workshop".into(),
        privilege,
        kernel: Kernel {
            arch: Some(Arch::X86_64),
            namespaces: Trial::Works,
            unaided: Trial::untried(),
            around: Trial::untried(),
            blocks: Vec::new(),
            network: crate::network::Rung::Queue,
            landlock: 7,
        },
        mounts: vec![mount("/", "8:1", "ext4"), mount("/proc", "0:21", "proc")],
        places,
        searched: Searched::Whole,
        skipped: vec![],
        sockets: vec![],
        doors: Searched::Whole,
        delegated: None,
        scratch: None,
        beside: vec![],
        left: vec![],
    }
}

#[test]
fn a_build_in_a_project_sees_its_tools_and_not_the_keys() {
    let plan = build(&permit(), &order(), &facts(Privilege::Ordinary)).unwrap();
    insta::assert_snapshot!(plan);
}

#[test]
fn started_by_root_the_command_is_nobody_outside() {
    let root = Privilege::Root { idmap: Idmap::Works };
    let plan = build(&permit(), &order(), &facts(root)).unwrap();
    insta::assert_snapshot!(plan);
    assert!(plan.json().to_string().contains("owner=swapped"));
}

#[test]
fn values_of_the_environment_are_never_printed() {
    let plan = build(&permit(), &order(), &facts(Privilege::Ordinary)).unwrap();
    for text in [plan.to_string(), plan.json().to_string()] {
        assert!(text.contains(" K") || text.contains("\"K\""), "{text}");
        assert!(!text.contains("secret"), "{text}");
    }
}

#[test]
fn a195_without_walls_nothing_is_asked_of_the_host_and_every_layer_says_why() {
    let mut order = order();
    order.walls = Walls::Down { by: "sandbox.json, line 1".into() };
    assert_eq!((order.questions().paths, order.questions().trees), (vec![], vec![]));
    order.bounds.processes = Some(7);
    let mut facts = facts(Privilege::Ordinary);
    facts.kernel.namespaces = Trial::Refused { what: "a user namespace".into(), errno: 1 };
    let plan = build(&permit(), &order, &facts).unwrap();
    assert!(!plan.is_confined());
    insta::assert_snapshot!(plan);
    order.cwd = "/etc".into();
    let refused = build(&permit(), &order, &facts);
    assert_eq!(refused.unwrap_err().code(), "cwd-outside");
}

#[test]
fn a114_what_cannot_be_confined_is_not_planned() {
    let good = facts(Privilege::Ordinary);
    let broken = |change: &dyn Fn(&mut Order, &mut Facts)| {
        let (mut order, mut facts) = (order(), good.clone());
        change(&mut order, &mut facts);
        build(&permit(), &order, &facts).map(|_| ()).map_err(|error| error.code())
    };
    let refused = || Trial::Refused { what: "a user namespace".into(), errno: 1 };
    #[rustfmt::skip]
    let cases: [(Change<'_>, &str, &str); 8] = [
        (&|order, _| order.argv.clear(),                             "no-command",   "nothing to run"),
        (&|_, facts| facts.kernel.namespaces = refused(),            "missing-wall", "no namespaces"),
        (&|_, facts| facts.kernel.landlock = 0,                      "missing-wall", "no second wall"),
        (&|_, facts| facts.kernel.arch = None,                       "missing-wall", "no filter"),
        (&|order, facts| {
            (order.network, order.require) = (NetworkMode::AllowList, Require::Landlock);
            facts.kernel.namespaces = refused();
        },                                                           "network-mode", "no network of its own"),
        (&|order, _| order.cwd = "/etc".into(),                      "cwd-outside",  "outside"),
        (&|order, _| order.write = vec!["/dev/shm".into()],          "not-writable", "devices"),
        (&|order, facts| {
            order.require = Require::Landlock;
            facts.kernel.landlock = 2;
            facts.kernel.namespaces = refused();
        },                                                           "missing-wall", "never silently weaker"),
    ];
    for (change, expected, because) in cases {
        assert_eq!(broken(change), Err(expected), "{because}");
    }
    assert_eq!(broken(&|_, _| {}), Ok(()));
}

#[test]
fn a_second_mount_of_a_hidden_folder_is_hidden_too() {
    let mut facts = facts(Privilege::Ordinary);
    facts.mounts.push(Mount {
        point: "/srv/mirror".into(),
        root: "/home/dev".into(),
        device: "8:1".into(),
        kind: "ext4".into(),
        layers: vec![],
    });
    assert_eq!(facts.aliases(Path::new("/home/dev/.ssh")), [Path::new("/srv/mirror/.ssh")]);
    let text = build(&permit(), &order(), &facts).unwrap().to_string();
    assert!(text.contains("/srv/mirror mode=755 without .ssh"), "{text}");
}

#[test]
fn what_is_missing_is_said() {
    let mut order = order();
    order.write.push("/home/dev/absent".into());
    order.bounds.memory = Some(1 << 30);
    let mut facts = facts(Privilege::Root { idmap: Idmap::Refused(22) });
    facts.searched = Searched::Partly;
    let plan = build(&permit(), &order, &facts).unwrap();
    let strength = |layer: Layer| {
        plan.enforced().iter().find(|one| one.layer == layer).map(|one| one.strength.word())
    };
    assert_eq!(strength(Layer::Privileges), Some("partial"));
    assert_eq!(strength(Layer::Protect), Some("partial"));
    assert_eq!(strength(Layer::Limits), Some("partial"));
    assert_eq!(strength(Layer::Landlock), Some("kernel"));
    assert_eq!(
        plan.notes().iter().map(|note| note.code).collect::<Vec<_>>(),
        ["write-absent", "unsearched"]
    );
}

#[test]
fn a_folder_that_could_not_be_searched_is_said_where_it_matters() {
    let shut = |order: &Order| {
        let mut facts = facts(Privilege::Ordinary);
        let folder = place("/home/dev/app/shut", Kind::Folder);
        facts.places.push(Place { searched: Searched::Partly, ..folder });
        facts.places.sort_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
        let plan = build(&permit(), order, &facts).unwrap();
        let word = |layer: Layer| {
            plan.enforced().iter().find(|one| one.layer == layer).map(|one| one.strength.word())
        };
        let codes: Vec<_> = plan.notes().iter().map(|note| note.code).collect();
        (word(Layer::Hide) == Some("partial"), word(Layer::Protect) == Some("partial"), codes)
    };
    let order = |hide: &[&str], protect: &[&str]| Order {
        hide: hide.iter().map(|it| pattern(it)).collect(),
        protect: protect.iter().map(|it| pattern(it)).collect(),
        ..order()
    };
    let told = vec!["unsearched", "masked"];
    #[rustfmt::skip]
    let cases = [
        (order(&["/home/dev/app/**/.env"], &[]),       (true, false, told.clone()), "anywhere in it"),
        (order(&[], &["/home/dev/app/**/.git/hooks"]), (false, true, told.clone()), "anywhere in it"),
        (order(&["/home/dev/app/shut/key"], &[]),      (true, false, told),         "this one in it"),
        (order(&["/home/dev/app/key"], &[]),           (false, false, vec![]),      "beside it"),
        (order(&["/home/dev/.ssh"], &[]),              (false, false, vec![]),      "elsewhere"),
    ];
    for (order, expected, because) in cases {
        assert_eq!(shut(&order), expected, "{because}: {:?} {:?}", order.hide, order.protect);
    }
}

#[test]
fn names_that_do_not_exist_are_kept_at_the_top_and_in_repositories() {
    let mut order = order();
    let names = [".bashrc", ".claude/commands", ".git/info/attributes", ".git/commondir"];
    order.protect.extend(names.map(|name| pattern(&format!("/home/dev/app/**/{name}"))));
    order.protect.push(pattern("/home/dev/.zshrc"));
    let mut facts = facts(Privilege::Ordinary);
    facts.places.retain(|place| !place.path.ends_with(".git/config"));
    facts.places.push(place("/home/dev/app/.git", Kind::Folder));
    facts.places.push(place("/home/dev/app/sub/.git", Kind::Folder));
    for absent in order.questions().paths.into_iter().chain(["/home/dev/app/sub/.git/hooks".into()])
    {
        if !facts.places.iter().any(|place| place.path == absent) {
            facts.places.push(place(absent.to_str().unwrap(), Kind::Absent));
        }
    }
    facts.places.sort_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
    let kept = |facts: &Facts| {
        let plan = build(&permit(), &order, facts).unwrap();
        let steps = plan.steps().iter();
        steps.filter(|step| matches!(step, Step::Reserve(_))).map(ToString::to_string).collect()
    };
    let told: Vec<String> = kept(&facts);
    let app = "/home/dev/app";
    // Not `.git/commondir`, which stops git, nor what is no writable tree.
    let expected = format!(
        "reserve {app}/.bashrc {app}/.claude {app}/.git/config {app}/.git/info {app}/sub/.git/hooks"
    );
    assert_eq!(told, [expected]);
    // A repository that is made inside must be whole.
    facts.places.iter_mut().filter(|place| place.path.ends_with("app/.git")).for_each(|place| {
        (place.is, place.leads_to) = (Kind::Absent, Kind::Absent);
    });
    facts.places.retain(|place| !place.path.starts_with("/home/dev/app/.git/hooks"));
    let told: Vec<String> = kept(&facts);
    assert_eq!(told, [format!("reserve {app}/.bashrc {app}/.claude {app}/sub/.git/hooks")]);
}

#[test]
fn tools_write_to_a_layer_of_the_project_or_elsewhere_but_never_to_the_real_home() {
    let store = || Caches::Private { store: Some("/home/dev/.state/app".into()) };
    let planned = |caches: Caches, there: &[(&str, Kind)], passed: &[&str]| {
        let (mut order, mut facts) = (order(), facts(Privilege::Ordinary));
        order.caches = caches;
        order.environment.extend(passed.iter().map(|name| ((*name).into(), "caller".into())));
        facts.places.extend(there.iter().map(|(path, kind)| place(path, *kind)));
        facts.places.sort_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
        let plan = build(&permit(), &order, &facts).unwrap();
        let Some(Step::Exec { environment, .. }) = plan.steps().last() else {
            panic!("no command")
        };
        let told = |name: &str| {
            let found = environment.iter().find(|(had, _)| had == name);
            found.map_or("-".to_owned(), |(_, value)| value.clone())
        };
        let text = plan.to_string();
        let lines = text.lines().filter(|line| line.contains(".cargo") || line.contains(".state"));
        let lines: Vec<_> = lines
            .filter(|line| !line.starts_with("landlock"))
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        (lines.join("; "), told("XDG_CACHE_HOME"), told("CARGO_HOME"))
    };
    let marker = ("/home/dev/app/Cargo.toml", Kind::File);
    let layers = [
        marker,
        ("/home/dev/.state/app/cargo", Kind::Folder),
        ("/home/dev/.state/app/cache", Kind::Folder),
    ];
    let plain = "keep %7 /home/dev/.cargo read deep owner=same; attach %7 /home/dev/.cargo";
    let own = "/home/dev/.state/app/cache/upper";
    let (text, cache, cargo) = planned(store(), &layers, &[]);
    assert!(
        text.contains("keep %9 /home/dev/.state/app/cache/upper write alone owner=same"),
        "{text}"
    );
    assert!(
        text.ends_with("attach %9 /home/dev/.state/app/cache/upper; cache %10 /home/dev/.cargo"),
        "{text}"
    );
    assert_eq!((cache.as_str(), cargo.as_str()), (own, "-"), "what exists stays where it is");
    let (_, cache, _) = planned(store(), &layers, &["XDG_CACHE_HOME"]);
    assert_eq!(cache, "caller", "what the caller says is kept");
    let none = |caches: Caches| planned(caches, &[], &[]);
    assert_eq!(none(store()), (plain.into(), "-".into(), "-".into()), "nothing calls for it");
    let (text, cache, _) = planned(Caches::Private { store: None }, &[marker], &[]);
    assert_eq!((text.as_str(), cache.as_str()), (plain, "/tmp/.cache/cache"), "in memory");
    assert_eq!(planned(Caches::Off, &layers, &[]), (plain.into(), "-".into(), "-".into()));
    let (text, ..) = planned(Caches::Shared, &[], &[]);
    assert!(text.contains("/home/dev/.cargo write deep"), "{text}");
}

#[test]
fn what_may_be_written_below_a_layer_lies_over_it() {
    let (mut order, mut facts) = (order(), facts(Privilege::Ordinary));
    order.caches = Caches::Private { store: Some("/home/dev/.state/app".into()) };
    order.write.push("/home/dev/.cargo/own".into());
    let there = [
        ("/home/dev/app/Cargo.toml", Kind::File),
        ("/home/dev/.state/app/cargo", Kind::Folder),
        ("/home/dev/.cargo/own", Kind::Folder),
    ];
    facts.places.extend(there.iter().map(|(path, kind)| place(path, *kind)));
    facts.places.sort_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
    let text = build(&permit(), &order, &facts).unwrap().to_string();
    let line = |word: &str, path: &str| {
        let is = |line: &str| line.starts_with(word) && line.ends_with(path);
        text.lines().position(is).unwrap_or_else(|| panic!("{word} {path}: {text}"))
    };
    assert!(line("cache", " /home/dev/.cargo") < line("attach", " /home/dev/.cargo/own"), "{text}");
    assert!(line("attach", " /home/dev/.cargo") < line("cache", " /home/dev/.cargo"), "{text}");
}

#[test]
fn memory_is_bounded_by_a_control_group_where_one_was_handed_over_and_sampled_elsewhere() {
    let limits = |plan: &Plan| {
        let held = plan.enforced().iter().find(|one| one.layer == Layer::Limits).unwrap();
        held.strength.clone()
    };
    let group = |plan: &Plan| plan.steps().iter().any(|step| matches!(step, Step::Group { .. }));
    let (mut order, mut facts) = (order(), facts(Privilege::Root { idmap: Idmap::Refused(22) }));
    order.bounds.memory = Some(1 << 30);
    let plan = build(&permit(), &order, &facts).unwrap();
    assert!(!group(&plan));
    let Strength::Partial(lacks) = limits(&plan) else { panic!("{plan}") };
    assert!(lacks[0].contains("sampled") && lacks[1].contains("processes"), "{lacks:?}");

    let folder = PathBuf::from("/sys/fs/cgroup/user");
    facts.delegated = Some(Delegated { folder, memory: true, processes: true });
    let plan = build(&permit(), &order, &facts).unwrap();
    let step = "group /sys/fs/cgroup/user memory=1073741824 processes=257";
    assert!(plan.steps().iter().any(|it| it.to_string() == step), "{plan}");
    assert_eq!(limits(&plan), Strength::Kernel);
    assert_eq!(plan.notes()[0].code, "control-group");
    // Before anything else is done: the first process waits for it.
    assert!(matches!(plan.steps()[2], Step::Group { .. }), "{plan}");

    order.bounds.memory = None;
    assert!(!group(&build(&permit(), &order, &facts).unwrap()), "nothing that needs one");
    order.bounds.memory = Some(1 << 30);
    facts.delegated = facts.delegated.map(|it| Delegated { memory: false, ..it });
    assert!(!group(&build(&permit(), &order, &facts).unwrap()), "it cannot");
}

#[test]
fn what_is_hidden_in_a_project_that_is_only_read_stays_hidden() {
    #[rustfmt::skip]
    let cases = [
        // project          hidden                    shape            because
        ("/home/dev/app",   "/home/dev/app/.env",     "/.env file",    "the home's layer lies below"),
        ("/srv/app",        "/srv/app/.env",          "/.env file",    "a layer of its own lies below"),
        ("/tmp/app",        "/tmp/app/.env",          "/.env file",    "a private folder has no layer"),
        ("/tmp/app",        "/tmp/app/keys",          "/keys folder",  "the same for a folder"),
    ];
    for (root, hidden, expected, because) in cases {
        let (mut order, mut facts) = (order(), facts(Privilege::Ordinary));
        (order.root, order.cwd) = (root.into(), root.into());
        order.write.clear();
        order.hide.push(pattern(hidden));
        let kind = if hidden.ends_with("keys") { Kind::Folder } else { Kind::File };
        facts.places.retain(|place| place.path != Path::new(root));
        facts.places.extend([place(root, Kind::Folder), place(hidden, kind)]);
        facts.places.sort_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
        let text = build(&permit(), &order, &facts).unwrap().to_string();
        let at = |start: &str| {
            let found = text.lines().position(|line| {
                line.split_whitespace().collect::<Vec<_>>().join(" ").starts_with(start)
            });
            found.unwrap_or_else(|| panic!("{because}: no `{start}` in\n{text}"))
        };
        let attached =
            text.lines().position(|line| line.starts_with("attach") && line.ends_with(root));
        assert!(attached < Some(at(&format!("cover {root}{expected}"))), "{because}\n{text}");
    }
}

#[test]
fn names_that_nobody_searches_are_told_as_not_hidden() {
    #[rustfmt::skip]
    let cases = [
        // pattern                     told   because
        ("/home/dev/app/**/.env",      false, "the project is searched"),
        ("/home/dev/app/*.key",        false, "the same"),
        ("/home/dev/.netrc",           false, "it is looked up"),
        ("/srv/**/secret.key",         true,  "nobody looks there"),
        ("/home/dev/**/.env",          true,  "only the project is searched of it"),
        ("/home/dev/app*/x",           true,  "another folder may be meant"),
    ];
    for (text, told, because) in cases {
        let mut order = order();
        order.hide = vec![pattern(text)];
        let plan = build(&permit(), &order, &facts(Privilege::Ordinary)).unwrap();
        let partial = format!("# hide         partial: `{text}` holds in the project");
        assert_eq!(plan.to_string().contains(&partial), told, "{because}: {plan}");
    }
}

#[test]
fn what_is_mounted_must_be_known_wherever_something_is_held() {
    let blind = |namespaces: Trial, require: Require| {
        let mut facts = facts(Privilege::Ordinary);
        (facts.kernel.namespaces, facts.mounts) = (namespaces, Vec::new());
        facts.scratch = Some("/tmp/scratch".into());
        build(&permit(), &Order { require, ..order() }, &facts)
    };
    let refused = || Trial::Refused { what: "making namespaces".into(), errno: 1 };
    for (namespaces, require) in [
        (Trial::Works, Require::Full),
        (Trial::Works, Require::None),
        (refused(), Require::Landlock),
        (refused(), Require::None),
    ] {
        let error = blind(namespaces, require).unwrap_err();
        assert_eq!(error.code(), "missing-wall", "{require}: {error}");
        assert!(error.to_string().contains("/proc/self/mountinfo"), "{require}: {error}");
    }
    assert!(blind(Trial::Works, Require::External).is_ok(), "nothing is held there");
}
