//! The LLM proxy's configuration: the section `sandboxing:` of `config/config.yaml`, its three
//! environment variables and its flag.
//!
//! The flag stands above the variables, and those above the file; every value keeps its origin, so
//! `policy show --origin` tells which of the three it came from. The section is about tool calls
//! that pass through the proxy and about nothing else: `enabled: false` becomes `tools.enabled:
//! false` and lifts no confinement of commands.

mod section;
mod variables;
mod whole;
mod write;

use std::path::Path;
use std::sync::Arc;

use super::{Dialect, DocumentedPlace, Input, Likeness, Manner, Readings, Surroundings, has_any};
use crate::key::{Guard, Setting, Sourced};
use crate::layer::{Layer, Origin};
use crate::name::Invalid;
use crate::policy::Document;
use crate::text::{self, Node, Source, visible};

/// The proxy's own configuration.
pub(super) static PROXY: Dialect = Dialect {
    name: "proxy",
    about: "the LLM proxy's `sandboxing:` section",
    detect,
    places,
    read,
    write: Some(write::write),
    manner: Manner::USUAL,
};

/// Reads the proxy's flag `--enable-sandboxing`, which may carry a value: `=false` switches off
/// what a file switched on.
///
/// # Errors
///
/// A value that is no switch.
///
/// # Examples
///
/// ```
/// use palisade_policy::dialect::proxy::from_flag;
///
/// assert!(from_flag(None)?.policy.tools.enabled.value().0);
/// assert!(!from_flag(Some("false"))?.policy.tools.enabled.value().0);
/// # Ok::<(), palisade_policy::name::Invalid>(())
/// ```
pub fn from_flag(value: Option<&str>) -> Result<Document, Invalid> {
    const FLAG: &str = "--enable-sandboxing";
    let on = value.map_or(Some(true), switch_word).ok_or_else(|| {
        let shown = visible(value.unwrap_or_default());
        Invalid::new("switch", format!("`{FLAG}` takes true or false, not `{shown}`"))
            .with_hint(format!("write one of {SWITCH_WORDS}, or the flag alone"))
    })?;
    let origin = Origin { file: Some(Arc::from(FLAG)), ..Origin::of(Layer::CommandLine) };
    let mut document = Document::default();
    document.policy.tools.enabled = Setting::new(Sourced { value: Guard(on), origin });
    Ok(document)
}

/// Where the file lies below the folder that the proxy is started in.
const PLACE: &str = "config/config.yaml";

/// The one section of the file that is ours.
const SECTION: &str = "sandboxing";

/// What a switch may be called outside the file.
const SWITCH_WORDS: &str = "true, false, 1, 0, yes, no, on, off";

/// Whether calls are going to be intercepted, as far as the file and the variables tell.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Interception {
    Off,
    On,
}

fn detect(source: &Source, node: Option<&Node>) -> Likeness {
    let called = Path::new(source.name()).ends_with(PLACE);
    match (called, has_any(node, &[SECTION])) {
        (true, true) => Likeness::Name,
        // Many programs have a file of this name.
        (true, false) | (false, true) => Likeness::Shape,
        (false, false) => Likeness::No,
    }
}

fn places(around: &Surroundings<'_>) -> Vec<DocumentedPlace> {
    let path = around.cwd.join(PLACE);
    // What lies in the project is the project's, though whoever starts the proxy may have put it
    // there.
    let inside = path.starts_with(&around.anchors.root);
    let layer = if inside { Layer::Project } else { Layer::User };
    vec![DocumentedPlace { path, layer }]
}

fn read(inputs: &[Input<'_>], around: &Surroundings<'_>) -> Readings {
    let (variables, mut problems) = variables::read(around);
    let mut trees = Vec::new();
    for input in inputs {
        match text::parse(input.source) {
            Ok(tree) => trees.push((input, tree)),
            Err(problem) => problems.push(problem),
        }
    }
    let in_files = || trees.iter().rev().find_map(|(_, tree)| section::switch(tree));
    let on = variables::switch(&variables).or_else(in_files) == Some(true);
    let interception = if on { Interception::On } else { Interception::Off };

    let mut readings = Vec::new();
    for (input, tree) in &trees {
        match section::read(input, tree, around, interception) {
            Ok(reading) => readings.push(reading),
            Err(more) => problems.extend(more),
        }
    }
    // A file that was named on the command line is still weaker than the variables.
    let layer = inputs.iter().map(|input| input.layer).fold(Layer::Environment, Ord::max);
    readings.extend(variables::reading(&variables, layer, interception));
    if problems.is_empty() { Ok(readings) } else { Err(problems) }
}

/// Reads a switch that stands outside the file, in any case.
fn switch_word(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Some(true),
        "false" | "0" | "no" | "off" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
