//! The same plan on macOS: a profile that `sandbox-exec` puts in force, and what that does not hold.
//!
//! macOS has one wall, Seatbelt. What a plan holds by mounts becomes rules of a profile; what it
//! holds by namespaces, filters and owners is not there, and is told layer by layer. What is left of
//! the steps is what a process can do to itself before it becomes the command.

#[cfg(test)]
mod tests;

use std::path::Path;

use palisade_policy::jail::Lookup;

use crate::coming::{MATCHED, REPLACED, SINGLE};
use crate::export::{self, CannotExport, Lack, Missing, Seatbelt};
use crate::plan::{Enforced, Layer, Note, Plan, Strength};
use crate::step::{Limit, Step};

/// A profile of the user's own, which is passed on as it is.
#[derive(Clone, Copy, Debug)]
pub struct Verbatim<'a> {
    /// The text.
    pub text: &'a str,
    /// The folder that it means by `_RW1`.
    pub workspace: &'a Path,
}

/// Turns a plan into one for macOS. A profile of the user's own stands in it as it is; behind it come
/// rules that only deny: what is hidden and protected stays so.
///
/// # Errors
///
/// When a path of the plan cannot be written into a command.
pub fn on_macos(
    plan: &Plan,
    lookup: &dyn Lookup,
    own: Option<Verbatim<'_>>,
) -> Result<Plan, CannotExport> {
    if !plan.is_confined() {
        return Ok(plan.clone());
    }
    let Seatbelt { text, parameters, missing } = export::seatbelt_of(plan, lookup, own)?;
    let mut steps = vec![Step::Session];
    steps.extend(plan.steps().iter().filter(|step| is_kept(step)).cloned());
    let exec = steps.pop_if(|step| matches!(step, Step::Exec { .. }));
    steps.push(Step::Seatbelt { text, parameters });
    steps.extend(exec);
    let enforced = Layer::ALL
        .map(|layer| Enforced { layer, strength: strength(layer, plan, &missing) })
        .into();
    let mut notes: Vec<Note> =
        plan.notes().iter().filter(|note| !LINUX.contains(&note.code)).cloned().collect();
    for note in notes.iter_mut().filter(|note| note.code == "socket-open") {
        // A rule of every profile keeps commands from them.
        *note = Note { code: "sockets-closed", message: format!("{}: not on macOS", note.message) };
    }
    if plan.steps().iter().any(|step| matches!(step, Step::Publish(_))) {
        let message = "on macOS no port is published";
        notes.push(Note { code: "not-published", message: message.into() });
    }
    if own.is_some() {
        let message = "the profile is passed on as it is; what is hidden and protected is denied \
                       behind it";
        notes.push(Note { code: "verbatim", message: message.into() });
    }
    let (level, steps, bounds) = (plan.level(), steps.into(), plan.bounds());
    Ok(Plan { level, steps, enforced, notes, bounds, after: None, coming: None })
}

/// Notes that are about mounts.
const LINUX: [&str; 4] = ["control-group", "implied", "masked", "socket"];

/// Returns whether a process can do a step to itself there.
fn is_kept(step: &Step) -> bool {
    if let Step::Limit(limit) = step {
        return holds(*limit);
    }
    matches!(step, Step::Enter(_) | Step::Exec { .. })
}

/// Returns whether macOS keeps a bound for each process: it counts processes for the whole user, and
/// does not bound their memory.
fn holds(limit: Limit) -> bool {
    match limit {
        Limit::NoCores | Limit::CpuSeconds(_) | Limit::FileSize(_) | Limit::OpenFiles(_) => true,
        Limit::Processes(_) | Limit::Data(_) => false,
    }
}

/// Says how strongly a layer holds there.
fn strength(layer: Layer, plan: &Plan, missing: &[Missing]) -> Strength {
    let planned = plan.enforced().iter().find(|known| known.layer == layer);
    let planned = planned.map_or(Strength::Kernel, |known| known.strength.clone());
    let mut strength = match layer {
        Layer::Namespaces => return Strength::Absent("macOS has none".into()),
        Layer::SystemCalls => return Strength::Absent("there is no filter of them".into()),
        Layer::Landlock => return Strength::Absent("macOS does not have it".into()),
        Layer::Devices => {
            let why = "devices and the terminal are the host's, as far as permissions go";
            return Strength::Absent(why.into());
        }
        // What is watched on Linux is not watched there, and what is held by rules needs no watch.
        Layer::Files | Layer::Protect | Layer::Limits => Strength::Kernel,
        Layer::Hide => unwatched(planned),
        Layer::Network | Layer::Privileges => planned,
    };
    for Missing { lack, what } in missing {
        if layer_of(*lack) == Some(layer) {
            strength.lacks(what.clone());
        }
    }
    strength
}

/// Says how strongly names are hidden where nobody watches: what is replaced is held by a rule, and what
/// comes is not.
fn unwatched(planned: Strength) -> Strength {
    let (Strength::Window(told) | Strength::Partial(told)) = planned else { return planned };
    let comes = |what: &String| what == SINGLE || what == MATCHED;
    let mut strength = Strength::Kernel;
    for what in told.iter().filter(|what| !comes(what) && *what != REPLACED) {
        strength.lacks(what.clone());
    }
    if told.iter().any(comes) {
        strength.lacks("what comes to have a hidden name can be read".into());
    }
    strength
}

/// Returns the layer that something belongs to which Seatbelt does not give; none for what is ours to
/// do there too, or is told of a layer as a whole.
fn layer_of(lack: Lack) -> Option<Layer> {
    match lack {
        Lack::Absence | Lack::Sockets => Some(Layer::Hide),
        Lack::Caches => Some(Layer::Files),
        Lack::Links | Lack::Watch | Lack::LateMounts => Some(Layer::Protect),
        Lack::Descriptors
        | Lack::Identity
        | Lack::Orphans
        | Lack::Privileges
        | Lack::FirstProcess
        | Lack::ProcessNamespace
        | Lack::Reaper
        | Lack::SelfTest => Some(Layer::Privileges),
        Lack::Memory | Lack::Processes => Some(Layer::Limits),
        Lack::Hosts => Some(Layer::Network),
        Lack::CallArguments
        | Lack::Confirmation
        | Lack::Devices
        | Lack::FileSize
        | Lack::Idle
        | Lack::Landlock
        | Lack::NewCalls
        | Lack::Output
        | Lack::Published
        | Lack::Record
        | Lack::SystemCalls
        | Lack::Terminals
        | Lack::Time
        | Lack::Trace
        | Lack::UserNamespace => None,
    }
}
