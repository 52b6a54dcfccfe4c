//! Files of the project, opened beneath it and nowhere else.

use std::path::{Component, Path, PathBuf};

use palisade::{Failed, Jail, Kind, Why};
use serde_json::{Map, Value as Json};

use super::server::Server;
use super::tools::{Asks, judged};

/// The longest file that is read, and the most names that are listed.
const LONGEST: u64 = 4 << 20;
const NAMES: usize = 10_000;

/// Returns where a path leads, from the root and free of links. That place is judged as well: the file
/// that is opened is the one that was judged, whoever moves links about meanwhile.
pub(super) fn place(server: &Server, tool: &str, path: &str) -> Result<PathBuf, String> {
    let root = Path::new(server.guard.root());
    let real_root = root.canonicalize().map_err(|error| format!("the project is gone: {error}"))?;
    let outside = || format!("`{}` is outside project root", path.escape_debug());
    let (mut there, mut missing) = (root.join(path), Vec::new());
    let real = loop {
        match there.canonicalize() {
            Ok(real) => break real,
            Err(_) if there.symlink_metadata().is_ok() => {
                return Err(format!("`{}` is a link that leads nowhere", path.escape_debug()));
            }
            Err(_) => match there.components().next_back() {
                Some(Component::Normal(name)) => {
                    missing.push(name.to_owned());
                    there.pop();
                }
                _ => return Err(outside()),
            },
        }
    };
    let real = missing.into_iter().rev().fold(real, |place, name| place.join(name));
    let below = real.strip_prefix(&real_root).map_err(|_| outside())?.to_owned();
    let mut arguments = Map::new();
    arguments.insert("path".into(), real.to_string_lossy().into());
    if tool == "search" {
        arguments.insert("pattern".into(), "x".into());
    }
    // What was agreed to is the path that was shown; where that leads may not be worse.
    match judged(server, tool, None, &arguments) {
        Asks::Nobody | Asks::Somebody(_) => Ok(below),
        Asks::Denied(why) => Err(why),
    }
}

/// Reads, writes, edits or lists.
pub(super) fn done<'a>(
    server: &Server,
    tool: &str,
    path: &str,
    text: &impl Fn(&str) -> &'a str,
) -> Result<String, String> {
    let place = place(server, tool, path)?;
    let jail = Jail::open_root(Path::new(server.guard.root())).map_err(told)?.without_links();
    match tool {
        "read_file" => read(&jail, &place),
        "write_file" => {
            write(&jail, &place, text("content"))?;
            Ok("written".to_owned())
        }
        "edit_file" => {
            let (old, new) = (text("old_string"), text("new_string"));
            let before = read(&jail, &place)?;
            match before.matches(old).count() {
                _ if old.is_empty() => Err("`old_string` is empty".to_owned()),
                0 => Err("`old_string` does not stand there".to_owned()),
                1 => write(&jail, &place, &before.replacen(old, new, 1))
                    .map(|()| "edited".to_owned()),
                times => Err(format!("`old_string` stands there {times} times: give more of it")),
            }
        }
        "list_directory" => list(server, &jail, &place),
        _ => Err("there is no such tool".to_owned()),
    }
}

fn read(jail: &Jail, place: &Path) -> Result<String, String> {
    let bytes = jail.read(place, LONGEST).map_err(told)?;
    String::from_utf8(bytes).map_err(|_| "the file is no text in UTF-8".to_owned())
}

fn write(jail: &Jail, place: &Path, content: &str) -> Result<(), String> {
    match jail.write(place, content.as_bytes()) {
        Err(failed) if failed.why() == Why::Missing => {}
        done => return done.map_err(told),
    }
    let above: Vec<&Path> =
        place.ancestors().skip(1).filter(|it| !it.as_os_str().is_empty()).collect();
    for folder in above.into_iter().rev() {
        match jail.create_folder(folder) {
            Err(failed) if failed.why() == Why::Taken => {}
            done => done.map_err(told)?,
        }
    }
    jail.create(place, content.as_bytes()).map_err(told)
}

fn list(server: &Server, jail: &Jail, place: &Path) -> Result<String, String> {
    let place = if place.as_os_str().is_empty() { Path::new(".") } else { place };
    let listed = jail.list(place, NAMES).map_err(told)?;
    let shown = listed.iter().filter_map(|entry| {
        let name = entry.name.to_string_lossy();
        let path = Path::new(server.guard.root()).join(place).join(&entry.name);
        let mut arguments = Map::new();
        arguments.insert("path".into(), Json::from(path.to_string_lossy()));
        let is_seen = !matches!(judged(server, "read_file", None, &arguments), Asks::Denied(_));
        let sign = match entry.kind {
            Kind::Folder => "/",
            Kind::Link => "@",
            Kind::File | Kind::Other => "",
        };
        is_seen.then(|| format!("{name}{sign}\n"))
    });
    Ok(shown.collect())
}

fn told(failed: Failed) -> String {
    failed.to_string()
}
