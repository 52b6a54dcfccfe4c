//! Policy files of other systems that lie about: they speak only when they are named (Ruling 5).

use std::ffi::OsStr;
use std::path::PathBuf;

use palisade_policy::dialect::DIALECTS;
use palisade_policy::name::Anchors;

use crate::read::Place;
use crate::session::world::{World, with_world};
use crate::session::{Request, Session};

/// A file of another system.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Lying {
    /// Where it lies.
    pub path: PathBuf,
    /// The dialect it is written in.
    pub dialect: &'static str,
    /// How to use it.
    pub usage: String,
}

/// Finds those that the systems themselves document, and that are not in force.
pub(super) fn lying(request: &Request, session: &Session) -> Vec<Lying> {
    let anchors =
        Anchors { root: session.root().path.clone(), home: session.home().map(Into::into) };
    let var = |name: &str| {
        request.env.get(OsStr::new(name)).map(|value| value.to_string_lossy().into_owned())
    };
    let world = World { anchors: &anchors, cwd: &request.cwd, var: &var, place: Place::Named };
    let mut found: Vec<Lying> = Vec::new();
    for dialect in DIALECTS {
        let places = with_world(&world, |around| (dialect.places)(around));
        for place in places {
            let is_in_force = session.files().iter().any(|file| file.path == place.path);
            let is_known = found.iter().any(|it| it.path == place.path);
            if is_in_force || is_known || !place.path.is_file() {
                continue;
            }
            let name = dialect.name;
            let usage = format!("palisade run --policy {name}: -- COMMAND");
            found.push(Lying { path: place.path, dialect: name, usage });
        }
    }
    found
}
