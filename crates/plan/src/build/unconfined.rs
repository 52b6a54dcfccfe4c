//! A command that is not confined: somebody who may say so has switched every wall off.
//!
//! It was decided on all the same, its bounds hold, and nothing it started outlives it.

use super::{CannotPlan, inside};
use crate::order::Order;
use crate::plan::{Enforced, Layer, Note, Plan, Strength};
use crate::step::{Limit, Step};

pub(super) fn plan(order: &Order, by: &str) -> Result<Plan, CannotPlan> {
    if !order.cwd.starts_with(&order.root) {
        return Err(CannotPlan::Cwd { cwd: order.cwd.clone(), root: order.root.clone() });
    }
    let mut steps = vec![Step::Adopt, Step::Reaper, Step::Session, Step::Descriptors];
    let (limits, limited) = limits(order);
    steps.extend(limits.into_iter().map(Step::Limit));
    steps.push(Step::Enter(order.cwd.clone()));
    steps.push(inside::program(order, order.environment.clone()));

    let why = Strength::Absent(format!("so says {by}"));
    let enforced = Layer::ALL.map(|layer| {
        let strength = if layer == Layer::Limits { limited.clone() } else { why.clone() };
        Enforced { layer, strength }
    });
    let notes =
        vec![Note { code: "unconfined", message: format!("nothing was confined: so says {by}") }];
    Ok(Plan { steps, enforced: enforced.into(), notes, bounds: order.bounds, after: None })
}

/// As for any other command, but for what the kernel counts for all processes of a user.
fn limits(order: &Order) -> (Vec<Limit>, Strength) {
    let (limits, mut strength) = (super::bounds(&order.bounds), Strength::Kernel);
    if order.bounds.memory.is_some() {
        strength.lacks(super::SAMPLED.into());
    }
    if order.bounds.processes.is_some() {
        strength.lacks("processes: they are not counted where nothing is confined".into());
    }
    if order.bounds.tmp.is_some() {
        strength.lacks("tmp: the folder is the host's".into());
    }
    (limits, strength)
}
