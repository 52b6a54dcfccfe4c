//! Finding the project's root before any policy is understood: relative paths start from it.

use std::path::Path;

use palisade_policy::key::Sourced;
use palisade_policy::layer::{Layer, Origin};
use palisade_policy::name::{Anchors, Folder};
use palisade_policy::text::{self, Source};

use super::error::OpenError;
use super::request::{Existence, Request};
use super::said_by;
use crate::places::Places;
use crate::root::{self, ProjectRoot, RootError};

/// Finds the root: an option, a variable, the highest file that names one, or the nearest marker.
pub(super) fn find_root<'t>(
    request: &Request,
    places: &Places,
    texts: impl DoubleEndedIterator<Item = (Layer, &'t Source)>,
) -> Result<(ProjectRoot, Origin), OpenError> {
    let runner = request.runner.as_ref().and_then(|runner| runner.project_root.as_ref());
    if let Some(dir) = request.root.as_ref().or(runner) {
        let dir = request.cwd.join(dir);
        let root = match (root::explicit(&dir), request.existence) {
            (Err(RootError::Missing { .. }), Existence::Hypothetical) => root::hypothetical(&dir),
            (found, Existence::Required | Existence::Hypothetical) => found?,
        };
        return Ok((root, said_by(request.layer())));
    }
    if let Some(dir) = request.var("PALISADE_ROOT") {
        return Ok((root::explicit(&request.cwd.join(dir))?, said_by(Layer::Environment)));
    }
    for (layer, source) in texts.rev() {
        if let Some(Sourced { value, origin }) = named_root(layer, source) {
            // Files that are found by themselves mean the same folder from everywhere.
            let from = if layer < Layer::Project { Path::new("/") } else { &request.cwd };
            let here = Anchors { root: from.into(), home: places.home.clone() };
            let folder = value
                .anchored(&here)
                .map_err(|invalid| OpenError::Option { name: "root".into(), invalid })?;
            let path = folder.path();
            let here = request.cwd.canonicalize().unwrap_or_else(|_| request.cwd.clone());
            if let Some(link) = root::planted(&path, &here) {
                return Err(RootError::Linked { path, link }.into());
            }
            return Ok((root::named(&path, &places.caller())?, origin));
        }
    }
    let found = root::detect(&request.cwd, &places.caller())?;
    Ok((found, said_by(Layer::BuiltIn)))
}

/// Reads only the root that a text names. What is wrong with the text is said when it is read whole.
pub(super) fn named_root(layer: Layer, source: &Source) -> Option<Sourced<Folder>> {
    let node = text::parse(source).ok()?;
    let said = node.find("root").or_else(|| node.find("project_root"))?;
    let value = said.text()?.parse().ok()?;
    let place = Some(source.place(said.span.start()));
    let origin = Origin { file: Some(source.shared_name()), place, ..Origin::of(layer) };
    Some(Sourced { value, origin })
}
