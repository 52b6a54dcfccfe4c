//! Bloom: `~/.bloom/config.yaml` and `tasks.yaml`.
//!
//! `agent.<name>.sandbox` is one agent's policy, a bare `sandbox` everybody's, and a task's
//! `sandbox` stands above its agent's: lists are combined, single values replaced. A section that
//! stands alone brings the documented defaults; one that stands above another says only what is
//! written in it. The sandbox is off until `enabled: true`, which one file may say for another, so
//! the switches of all files are settled together. Relative paths start at the project's root.

mod file;
mod lower;
mod section;
mod switch;
mod work;
mod workspaces;
mod write;

use std::path::Path;

use super::{
    Dialect, DocumentedPlace, Input, Likeness, Manner, Readings, Surroundings, file_name, settled,
};
use crate::layer::Layer;
use crate::name::{Anchors, PathPattern};
use crate::text::{Node, Source};
use file::File;
pub use work::{Work, WorkCommand, work};
pub use workspaces::mutual_denial;

/// Bloom's files.
pub(super) static BLOOM: Dialect = Dialect {
    name: "bloom",
    about: "Bloom's config.yaml and tasks.yaml",
    detect,
    places,
    read,
    write: Some(write::write),
    manner: Manner::USUAL,
};

fn detect(source: &Source, node: Option<&Node>) -> Likeness {
    let own_place = Path::new(source.name()).ends_with(".bloom/config.yaml");
    if own_place || file_name(source) == "tasks.yaml" {
        Likeness::Name
    } else if node.is_some_and(file::has_sections) {
        Likeness::Shape
    } else {
        Likeness::No
    }
}

fn places(around: &Surroundings<'_>) -> Vec<DocumentedPlace> {
    let config = around.anchors.home.as_ref().map(|home| home.join(".bloom/config.yaml"));
    config.into_iter().map(|path| DocumentedPlace { path, layer: Layer::User }).collect()
}

fn read(inputs: &[Input<'_>], around: &Surroundings<'_>) -> Readings {
    let mut files: Vec<File> =
        inputs.iter().map(|input| File::read(input, around.anchors)).collect();
    settled(files.iter().flat_map(|file| file.problems.iter().cloned()).collect())?;
    let disabled = switch::disabled(&mut files, around);
    lower::readings(files, disabled.as_ref(), around.anchors)
}

/// What nobody reads by default, as documented; none without a home folder.
fn credentials(anchors: &Anchors) -> Vec<(&'static str, PathPattern)> {
    let anchored = |text: &'static str| {
        let pattern = text.parse::<PathPattern>().and_then(|path| path.anchored(anchors)).ok()?;
        Some((text, pattern))
    };
    ["~/.ssh", "~/.aws", "~/.gnupg"].into_iter().filter_map(anchored).collect()
}

#[cfg(test)]
mod tests;
