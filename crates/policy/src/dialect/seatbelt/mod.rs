//! Profiles of macOS' Seatbelt, `.sb` files.
//!
//! A profile is a list of rules of which the last that matches counts. It is read whole: what Linux
//! has no counterpart of is accepted with a note, and what cannot be enforced as written is an
//! error, never dropped. What remains becomes `files` and `network` of a policy.
//!
//! | Module | From | To |
//! | --- | --- | --- |
//! | `sexp` | text | expressions |
//! | `rule`, `operation`, `filter`, `endpoint` | expressions | rules |
//! | `string`, `place`, `regex` | strings | path patterns |
//! | `lower` | rules | a policy |
//! | `write`, `shut`, `spell` | a policy | text |

mod endpoint;
mod filter;
mod lower;
mod operation;
mod place;
mod regex;
mod rule;
mod sexp;
mod shut;
mod spell;
mod string;
mod write;

#[cfg(test)]
mod tests;

use std::path::Path;

use super::{
    Dialect, DocumentedPlace, Input, Likeness, Lists, Manner, Reading, Readings, Surroundings,
    file_name, settled,
};
use crate::key::Reader;
use crate::layer::Layer;
use crate::policy::{Document, Policy};
use crate::text::{Diagnostic, Node, Source};

pub use string::Params;

/// Seatbelt profiles.
pub(super) static SEATBELT: Dialect = Dialect {
    name: "seatbelt",
    about: "macOS sandbox profiles (.sb)",
    detect,
    places,
    read,
    write: Some(write::write),
    manner: Manner { lists: Lists::Replace, ..Manner::USUAL },
};

/// Reads a profile in which parameters have these values: its `files` and `network`, and what its
/// author should know of what means nothing here or became stricter.
///
/// # Errors
///
/// Every problem of the text, in its order.
pub fn read_profile(
    source: &Source,
    params: &Params,
    layer: Layer,
    around: &Surroundings<'_>,
) -> Result<(Policy, Vec<Diagnostic>), Vec<Diagnostic>> {
    let exprs = sexp::parse(source).map_err(|problem| vec![problem])?;
    let mut cx = Reader::new(source, around.anchors, layer);
    let known = string::Known { params, around };
    let rules = rule::Rules::read(&exprs, known, &mut cx);
    let policy = lower::policy(&rules, known, &mut cx);
    Ok((policy, settled(cx.into_problems())?))
}

/// Returns every reason not to use a profile for the folder `workspace`: the same as when it is
/// read for good, because what a profile comes to depends on what lies at the paths it names.
pub fn check(source: &Source, workspace: &Path, around: &Surroundings<'_>) -> Vec<Diagnostic> {
    let params = Params::of_root(workspace);
    read_profile(source, &params, Layer::BuiltIn, around).err().unwrap_or_default()
}

fn detect(source: &Source, _node: Option<&Node>) -> Likeness {
    if file_name(source).ends_with(".sb") { Likeness::Name } else { Likeness::No }
}

/// Profiles lie where another file says; none is documented by itself.
fn places(_around: &Surroundings<'_>) -> Vec<DocumentedPlace> {
    Vec::new()
}

fn read(inputs: &[Input<'_>], around: &Surroundings<'_>) -> Readings {
    let params = Params::of_root(&around.anchors.root);
    let mut readings = Vec::new();
    for Input { source, layer } in inputs {
        let (policy, notes) = read_profile(source, &params, *layer, around)?;
        let document = Document { policy, ..Document::default() };
        readings.push(Reading { layer: *layer, document, notes });
    }
    Ok(readings)
}
