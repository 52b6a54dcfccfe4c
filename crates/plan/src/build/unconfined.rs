//! A command that is not confined: somebody who may say so has switched every wall off, or relies on
//! walls that are not ours.
//!
//! It was decided on all the same, its bounds hold, and nothing it started outlives it.

use super::{CannotPlan, Unkept, inside};
use crate::order::{Order, Trace};
use crate::paths::Lies as _;
use crate::plan::{Enforced, Layer, Level, Note, Plan, Strength};
use crate::step::Step;

/// Why nothing is confined.
pub(super) enum Why {
    /// Somebody who may say so has switched every wall off.
    Said(String),
    /// The policy relies on what stands around us.
    External,
    /// The policy accepts that, and this host can do no better: what is missing.
    Accepted(String),
}

pub(super) fn plan(order: &Order, why: &Why) -> Result<Plan, CannotPlan> {
    if !order.cwd.lies_in(&order.root) {
        return Err(CannotPlan::Cwd { cwd: order.cwd.clone(), root: order.root.clone() });
    }
    let mut steps = vec![Step::Adopt, Step::Reaper, Step::Session, Step::Descriptors];
    let (limits, limited) = super::limits(order, None, &UNKEPT);
    steps.extend(limits.into_iter().map(Step::Limit));
    steps.push(Step::Enter(order.cwd.clone()));
    let (argv, environment) = match &order.plain {
        Some(plain) => (&plain.argv, &plain.environment),
        None => (&order.argv, &order.environment),
    };
    steps.push(inside::program(argv, environment.clone()));

    let (level, absent, note) = why.told();
    let why = Strength::Absent(absent);
    let enforced = Layer::ALL.map(|layer| {
        let strength = if layer == Layer::Limits { limited.clone() } else { why.clone() };
        Enforced { layer, strength }
    });
    let untraced = (order.trace == Trace::Writes).then(|| Note {
        code: "not-traced",
        message: "writes in vain are not told where nothing is confined".into(),
    });
    let notes = order.notes.iter().cloned().chain([note]).chain(untraced).collect();
    let (steps, enforced) = (steps.into(), enforced.into());
    Ok(Plan { level, steps, enforced, notes, bounds: order.bounds, after: None, coming: None })
}

impl Why {
    /// Returns the level, why there is no wall, and what a person should know.
    fn told(&self) -> (Level, String, Note) {
        match self {
            Self::Said(by) => (
                Level::None,
                format!("so says {by}"),
                Note { code: "unconfined", message: format!("nothing was confined: so says {by}") },
            ),
            Self::External => (
                Level::External,
                "the policy says `require: external`".into(),
                Note {
                    code: "external",
                    message: "nothing is confined by palisade: the policy relies on what stands \
                              around it (`require: external`)"
                        .into(),
                },
            ),
            Self::Accepted(missing) => (
                Level::None,
                format!("the policy says `require: none`, and {missing}"),
                Note {
                    code: "nothing-confined",
                    message: format!(
                        "NOTHING WAS CONFINED: the policy says `require: none`, and {missing}"
                    ),
                },
            ),
        }
    }
}

const UNKEPT: Unkept = Unkept {
    processes: Some("processes: they are not counted where nothing is confined"),
    tmp: Some("tmp: the folder is the host's"),
};

#[cfg(test)]
mod tests {
    use super::super::tests::order;
    use super::*;
    use crate::order::Plain;

    fn executed(plan: &Plan) -> (Vec<String>, Vec<String>) {
        let Some(Step::Exec { argv, environment, .. }) = plan.steps.last() else {
            panic!("a plan ends with its command")
        };
        (argv.clone(), environment.iter().map(|(name, _)| name.clone()).collect())
    }

    #[test]
    fn what_was_added_for_a_command_behind_walls_is_not_there_without_them() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut order = order();
        order.argv = words("agent --own-sandbox off x");
        let environment = order.environment.clone();
        order.environment.push(("AGENT_SANDBOX".into(), "false".into()));
        let plain = Plain { argv: words("agent x"), environment };
        for why in [Why::External, Why::Said("a file".into()), Why::Accepted("nothing".into())] {
            let with = executed(&plan(&order, &why).unwrap());
            assert!(with.0 == order.argv && with.1.contains(&"AGENT_SANDBOX".to_owned()));
            let without = Order { plain: Some(plain.clone()), ..order.clone() };
            let without = executed(&plan(&without, &why).unwrap());
            assert_eq!(without.0, plain.argv);
            assert_eq!(without.1.len() + 1, with.1.len());
            assert!(!without.1.contains(&"AGENT_SANDBOX".to_owned()));
        }
    }
}
