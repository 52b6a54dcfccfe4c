//! The ladder: what is planned where something is missing, and what is refused.

use std::path::PathBuf;

use palisade_policy::policy::{NetworkMode, Require};

use crate::build::build;
use crate::build::tests::{facts, order, pattern, permit};
use crate::{Block, Idmap, Level, MappedBy, Namespace, Privilege, Step, Trial};
use crate::{CannotPlan, Facts, Layer, Plan, Strength};

fn refused() -> Trial {
    Trial::Refused { what: "making namespaces".into(), errno: 1 }
}

/// A host that refuses namespaces of users.
fn blocked() -> Facts {
    let mut facts = facts(Privilege::Ordinary);
    facts.kernel.namespaces = refused();
    facts.scratch = Some("/tmp/palisade-1".into());
    facts
}

fn plan(require: Require, facts: &Facts) -> Result<Plan, CannotPlan> {
    let mut order = order();
    order.require = require;
    build(&permit(), &order, facts)
}

fn level(require: Require, facts: &Facts) -> Result<Level, &'static str> {
    plan(require, facts).map(|plan| plan.level()).map_err(|error| error.code())
}

#[test]
fn a064_each_rung_is_taken_only_where_the_policy_goes_down_to_it() {
    use Level::{External, Full, Landlock, None};
    let works = facts(Privilege::Ordinary);
    let mut unaided = blocked();
    unaided.kernel.unaided = Trial::Works;
    let mut nested = blocked();
    nested.kernel.around = Trial::Works;
    let mut old = blocked();
    old.kernel.landlock = 2;
    let mut bare = blocked();
    bare.kernel.landlock = 0;
    let missing = Err("missing-wall");
    #[rustfmt::skip]
    let cases = [
        // host      full       landlock       external      none            because
        (&works,     Ok(Full),  Ok(Full),      Ok(External), Ok(Full),     "everything can be had"),
        (&unaided,   Ok(Full),  Ok(Full),      Ok(External), Ok(Full),     "Ruling 25"),
        (&nested,    Ok(Full),  Ok(Full),      Ok(External), Ok(Full),     "Ruling 21"),
        (&blocked(), missing,   Ok(Landlock),  Ok(External), Ok(Landlock), "the only wall"),
        (&old,       missing,   missing,       Ok(External), Ok(None),     "files could be emptied"),
        (&bare,      missing,   missing,       Ok(External), Ok(None),     "no wall at all"),
    ];
    for (host, full, landlock, external, none, because) in cases {
        let expected = [full, landlock, external, none];
        let all = [Require::Full, Require::Landlock, Require::External, Require::None];
        assert_eq!(all.map(|require| level(require, host)), expected, "{because}");
    }
}

#[test]
fn a064_a_refusal_says_what_is_in_the_way_and_how_it_is_lifted() {
    let mut host = blocked();
    host.kernel.blocks = vec![Block::AppArmor, Block::MostNamespaces];
    let error = plan(Require::Full, &host).unwrap_err();
    for block in host.kernel.blocks {
        assert!(error.to_string().contains(block.why()), "{error}");
        let CannotPlan::Missing { remedy, .. } = &error else { panic!("{error}") };
        assert!(remedy.contains(block.remedy()), "{remedy}");
        assert!(remedy.contains("require: landlock"), "less can be had: {remedy}");
    }
    let mut host = blocked();
    host.kernel.landlock = 0;
    let CannotPlan::Missing { remedy, .. } = plan(Require::Full, &host).unwrap_err() else {
        panic!("another error")
    };
    assert!(!remedy.contains("require: landlock"), "it cannot: {remedy}");
}

#[test]
fn a_plan_without_namespaces_says_what_it_does_not_hold() {
    let mut order = order();
    order.require = Require::Landlock;
    order.bounds.tmp = Some(1 << 20);
    let plan = build(&permit(), &order, &blocked()).unwrap();
    insta::assert_snapshot!(plan);
    assert!(plan.is_confined() && !plan.has_namespaces());
    assert_eq!(plan.json()["level"], "landlock");
}

#[test]
fn a_plan_without_namespaces_keeps_less_where_less_is_known() {
    let mut order = order();
    order.require = Require::Landlock;
    let mut host = blocked();
    host.kernel.landlock = 5;
    host.scratch = None;
    let of = |plan: &Plan, layer| {
        plan.enforced().iter().find(|it| it.layer == layer).map(|it| it.strength.clone())
    };
    let built = build(&permit(), &order, &host).unwrap();
    let Some(Strength::Partial(lacks)) = of(&built, Layer::Landlock) else { panic!("{built}") };
    assert!(lacks.iter().any(|it| it.contains("signals")), "{lacks:?}");
    assert!(built.notes().iter().any(|note| note.code == "no-scratch"));

    order.network = NetworkMode::Disabled;
    let text = build(&permit(), &order, &host).unwrap().to_string();
    assert!(text.contains("sockets=internet") && text.contains("# network      absent"), "{text}");
    order.network = NetworkMode::AllowList;
    let error = build(&permit(), &order, &host).unwrap_err();
    assert_eq!(error.code(), "network-mode", "never the host's network in its place");
    order.network = NetworkMode::DenyAll;
    order.nesting = crate::seccomp::Nesting::UserNamespaces;
    assert_eq!(build(&permit(), &order, &host).unwrap_err().code(), "missing-wall");
}

#[test]
fn what_only_root_can_read_is_left_out_for_root() {
    let mut host = blocked();
    host.privilege = Privilege::Root { idmap: Idmap::Refused(1) };
    let built = plan(Require::Landlock, &host).unwrap();
    let hidden = &alone(&built).hidden;
    assert!(hidden.contains(&PathBuf::from("/etc/shadow")), "{hidden:?}");
    assert!(!hidden.iter().any(|path| path.starts_with("/proc")), "{hidden:?}");
}

#[test]
fn without_a_namespace_of_users_all_others_are_made() {
    for privilege in [Privilege::Root { idmap: Idmap::Works }, Privilege::Ordinary] {
        let mut host = facts(privilege);
        host.kernel.namespaces = refused();
        host.kernel.unaided = Trial::Works;
        let built = plan(Require::Full, &host).unwrap();
        let is = |wanted: &dyn Fn(&Step) -> bool| built.steps().iter().any(wanted);
        assert!(is(&|step| matches!(step, Step::Namespaces(kinds)
            if !kinds.contains(&Namespace::User) && kinds.len() == 6)));
        assert!(is(&|step| matches!(step, Step::Identity(identity)
            if identity.mapped_by == MappedBy::Nobody && identity.uid == identity.outer_uid)));
        assert!(is(&|step| *step == Step::NoCapabilities), "they are dropped after");
        let is_masked = is(&|step| matches!(step, Step::Mask(_)));
        assert_eq!(is_masked, privilege != Privilege::Ordinary, "{privilege:?}");
        let partial = built.enforced().iter().find(|it| it.layer == Layer::Privileges).unwrap();
        let is_partial = matches!(partial.strength, Strength::Partial(_));
        assert_eq!(is_partial, privilege != Privilege::Ordinary, "{privilege:?}");
    }
}

#[test]
fn what_is_hidden_in_what_is_the_kernels_is_told() {
    let mut order = order();
    order.require = Require::Landlock;
    order.hide.push(pattern("/proc/version"));
    let mut host = blocked();
    host.places.push(crate::Place {
        path: "/proc/version".into(),
        at: "/proc/version".into(),
        real: "/proc/version".into(),
        links: Vec::new(),
        is: crate::Kind::File,
        leads_to: crate::Kind::File,
        names: 1,
        shut: None,
        mode: 0o444,
        owner: (0, 0),
        id: None,
        empty: false,
        searched: crate::Searched::Whole,
    });
    let text = build(&permit(), &order, &host).unwrap().to_string();
    assert!(text.contains("`/proc/version` is the kernel's, and stays"), "{text}");
}

#[test]
fn a_proc_that_something_covers_is_told_by_the_mounts() {
    let mount = |point: &str, root: &str, kind: &str| crate::Mount {
        point: point.into(),
        root: root.into(),
        device: "0:5".into(),
        kind: kind.into(),
        layers: vec![],
    };
    let proc = mount("/proc", "/", "proc");
    #[rustfmt::skip]
    let cases = [
        (vec![], true, "there is none"),
        (vec![proc.clone()], false, "the usual"),
        (vec![proc.clone(), mount("/proc/sys/fs/binfmt_misc", "/", "autofs")], false, "hides nothing"),
        (vec![proc.clone(), mount("/proc/kcore", "/null", "tmpfs")], true, "as engines do"),
        (vec![proc.clone(), mount("/proc/sys", "/sys", "proc")], true, "read-only parts"),
        (vec![proc.clone(), mount("/proc/kcore", "/null", "tmpfs"), mount("/dev/.lxc/proc", "/", "proc")],
            false, "another that is whole"),
    ];
    for (mounts, expected, because) in cases {
        let mut host = facts(Privilege::Ordinary);
        host.mounts = mounts;
        assert_eq!(host.covers_proc(), expected, "{because}");
    }
}

/// Returns what Landlock alone is told.
fn alone(built: &Plan) -> &crate::Alone {
    let mut alone = built.steps().iter().filter_map(|step| {
        let Step::LandlockAlone(alone) = step else { return None };
        Some(alone)
    });
    alone.next().unwrap()
}

#[test]
fn what_another_mount_in_a_tree_shows_is_hidden_and_protected_there_too() {
    let mut order = order();
    order.require = Require::Landlock;
    order.hide.push(pattern("/home/dev/app/.git/hooks"));
    let mut host = blocked();
    host.mounts.push(crate::Mount {
        point: "/home/dev/app/view".into(),
        root: "/home/dev/app/.git".into(),
        device: "8:1".into(),
        kind: "ext4".into(),
        layers: vec![],
    });
    let built = build(&permit(), &order, &host).unwrap();
    let (hidden, fixed) = (&alone(&built).hidden, &alone(&built).fixed);
    assert!(hidden.contains(&PathBuf::from("/home/dev/app/view/hooks")), "{hidden:?}");
    assert!(fixed.contains(&PathBuf::from("/home/dev/app/view/config")), "{fixed:?}");
    assert!(fixed.contains(&PathBuf::from("/home/dev/app/.git/config")), "{fixed:?}");
    host.mounts.pop();
    let built = build(&permit(), &order, &host).unwrap();
    assert_eq!(alone(&built).fixed, [PathBuf::from("/home/dev/app/.git/config")]);
}

#[test]
fn what_a_version_of_landlock_does_not_know_is_listed_at_every_level() {
    #[rustfmt::skip]
    let lacks = [
        // since, what is listed before
        (2, "moved"),
        (3, "emptied"),
        (5, "devices"),
        (6, "signals"),
    ];
    let listed = |order: &crate::Order, host: &Facts| {
        let built = build(&permit(), order, host).unwrap();
        let strength = built.enforced().iter().find(|it| it.layer == Layer::Landlock).cloned();
        match strength.unwrap().strength {
            Strength::Kernel => String::new(),
            Strength::Partial(list) => list.join("; "),
            other @ (Strength::Window(_) | Strength::Absent(_)) => panic!("{other:?}"),
        }
    };
    for version in 1..=7 {
        for (mut host, require) in
            [(facts(Privilege::Ordinary), Require::Full), (blocked(), Require::Landlock)]
        {
            host.kernel.landlock = version;
            let mut order = order();
            order.require = require;
            if require == Require::Landlock && version < 3 {
                assert_eq!(level(require, &host), Err("missing-wall"), "{version}");
                continue;
            }
            let text = listed(&order, &host);
            for (since, what) in lacks {
                assert_eq!(text.contains(what), version < since, "{require} {version}: {text}");
            }
            // Sockets without a path belong to the network, which is the host's here.
            order.network = NetworkMode::Disabled;
            let text = listed(&order, &host);
            let is_open = require == Require::Full && version < 6;
            assert_eq!(text.contains("without a path"), is_open, "{require} {version}: {text}");
        }
    }
}

#[test]
fn a_shortage_is_no_refusal_and_nothing_weaker_is_planned() {
    let short = || Trial::Short { what: "making namespaces".into(), errno: 11 };
    let first = {
        let mut host = blocked();
        host.kernel.namespaces = short();
        host
    };
    let second = {
        let mut host = blocked();
        host.kernel.unaided = short();
        host
    };
    let third = {
        let mut host = blocked();
        host.kernel.around = short();
        host
    };
    let owners = facts(Privilege::Root { idmap: Idmap::Short(11) });
    for (number, host) in [first, second, third, owners].iter().enumerate() {
        for require in [Require::Full, Require::Landlock, Require::None] {
            let error = plan(require, host).unwrap_err();
            assert_eq!(error.code(), "shortage", "{number} {require}");
            let text = error.to_string();
            assert!(text.contains("at the moment") && text.contains("EAGAIN"), "{text}");
        }
        assert_eq!(level(Require::External, host), Ok(Level::External), "nothing is needed");
    }
    // Whose users are the host's has no other owners to give.
    let mut host = facts(Privilege::Root { idmap: Idmap::Short(11) });
    host.kernel.namespaces = refused();
    host.kernel.unaided = Trial::Works;
    assert_eq!(level(Require::Full, &host), Ok(Level::Full));
}
