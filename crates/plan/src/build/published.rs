//! Servers inside that are reached from the host.

use palisade_policy::policy::NetworkMode;

use crate::order::Order;
use crate::plan::Note;
use crate::step::Step;

/// The first port that a program without rights may listen at.
const FIRST: u16 = 1024;

/// What is planned for them.
pub(super) struct Published {
    pub(super) step: Option<Step>,
    pub(super) notes: Vec<Note>,
}

/// Plans it. Where the network is the host's they have its ports themselves.
pub(super) fn plan(order: &Order) -> Published {
    let mut ports = order.publish.clone();
    ports.sort_unstable();
    ports.dedup();
    if order.network == NetworkMode::Disabled {
        ports.clear();
    }
    let (low, ports): (Vec<u16>, Vec<u16>) = ports.into_iter().partition(|port| *port < FIRST);
    let note = |port| Note {
        code: "publish-low",
        message: format!("port {port} is not published: nothing inside may listen below {FIRST}"),
    };
    let notes = low.into_iter().map(note).collect();
    Published { step: (!ports.is_empty()).then_some(Step::Publish(ports)), notes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_policy::policy::Require;

    use crate::build::build;
    use crate::build::tests::{facts, order, pattern, permit};
    use crate::{Privilege, Trial};

    #[test]
    fn ports_are_published_where_the_network_is_the_sandboxs_own() {
        let planned = |network, publish: &[u16]| {
            let order = Order { network, publish: publish.into(), ..order() };
            let plan = build(&permit(), &order, &facts(Privilege::Ordinary)).unwrap();
            let mut steps = plan.steps().iter();
            let ports = steps.find_map(|step| {
                if let Step::Publish(ports) = step { Some(ports.clone()) } else { None }
            });
            (ports, plan.notes().iter().any(|note| note.code == "publish-low"))
        };
        for mode in [NetworkMode::DenyAll, NetworkMode::AllowList, NetworkMode::Monitor] {
            assert_eq!(planned(mode, &[3000, 80, 3000]), (Some(vec![3000]), true), "{mode}");
            assert_eq!(planned(mode, &[]), (None, false), "{mode}");
            assert_eq!(planned(mode, &[1023]), (None, true), "{mode}: our own proxy is there");
        }
        assert_eq!(planned(NetworkMode::Disabled, &[3000]), (None, false));
    }

    #[test]
    fn without_namespaces_it_is_told_that_nothing_is_open() {
        let mut facts = facts(Privilege::Ordinary);
        facts.kernel.namespaces = Trial::Refused { what: "making namespaces".into(), errno: 1 };
        let unix = vec![pattern("/run/x")];
        let order = Order { publish: vec![3000], unix, require: Require::Landlock, ..order() };
        let plan = build(&permit(), &order, &facts).unwrap();
        for code in ["not-published", "sockets-closed"] {
            assert!(plan.notes().iter().any(|note| note.code == code), "{:?}", plan.notes());
        }
        assert!(!plan.steps().iter().any(|step| matches!(step, Step::Publish(_))));
    }
}
