//! The settings of srt, the sandbox runtime: `~/.srt-settings.json`, or a file that is named.
//!
//! A settings file confines by being loaded: what it does not open stays shut, so writes and the
//! network are always stated, even when the file is silent about them. Reads are open but for what
//! Palisade hides by itself; an explicit `denyRead` takes the place of that list, and a file without
//! one leaves it as it is. Both generations of the
//! schema are read; keys that are missing count as empty lists, keys that nobody knows are errors.
//!
//! | Module | What it does |
//! | --- | --- |
//! | `schema`, `table` | which keys there are, what they take, and what becomes of those we do not honour |
//! | `lower` | from a checked tree to a policy |
//! | `domain`, `path` | srt's spellings of hosts and paths, both ways |
//! | `write` | from a policy to settings that srt accepts |

pub(super) mod domain;
pub(super) mod lower;
pub(super) mod path;
pub(super) mod schema;
pub(super) mod table;
mod write;

use super::{
    Dialect, DocumentedPlace, Input, Likeness, Lists, Manner, Reading, Readings, Surroundings, all,
    file_name, has_any, settled,
};
use crate::key::Reader;
use crate::layer::Layer;
use crate::name::Anchors;
use crate::text::{Node, Source, json};

/// Settings of the sandbox runtime.
pub(super) static SRT: Dialect = Dialect {
    name: "srt",
    about: "settings of the sandbox runtime srt",
    detect,
    places,
    read,
    write: Some(write::write),
    manner: Manner { lists: Lists::Replace, ..Manner::USUAL },
};

fn detect(source: &Source, node: Option<&Node>) -> Likeness {
    let section = |name| node.and_then(|node| node.find(name));
    if file_name(source).ends_with(".srt-settings.json") {
        Likeness::Name
    } else if has_any(section("network"), &["allowedDomains", "deniedDomains"])
        || has_any(section("filesystem"), &["denyRead", "allowWrite", "denyWrite"])
    {
        Likeness::Shape
    } else {
        Likeness::No
    }
}

fn places(around: &Surroundings<'_>) -> Vec<DocumentedPlace> {
    let home = around.anchors.home.as_ref();
    let path = home.map(|home| home.join(".srt-settings.json"));
    path.map(|path| DocumentedPlace { path, layer: Layer::User }).into_iter().collect()
}

fn read(inputs: &[Input<'_>], around: &Surroundings<'_>) -> Readings {
    // srt resolves relative paths where it is started, wherever the file lies.
    let anchors = Anchors { root: around.cwd.into(), home: around.anchors.home.clone() };
    let read_one = |input: &Input<'_>| {
        let node = json::parse(input.source).map_err(|problem| vec![problem])?;
        let mut cx = Reader::new(input.source, &anchors, input.layer);
        schema::check(&node, &mut cx);
        let document = lower::lower(&node, around, &mut cx);
        let notes = settled(cx.into_problems())?;
        Ok(Reading { layer: input.layer, document, notes })
    };
    all(inputs.iter().map(read_one))
}

#[cfg(test)]
mod tests;
