//! Which folders may be the workspaces of tasks.

use std::fs;
use std::path::{Component, Path, PathBuf};

use palisade::policy::dialect::bloom::Work;
use palisade::policy::name::Anchors;
use palisade::policy::text::visible;
use palisade::policy::{Policy, agent};
use palisade::root::{self, RootWarning};
use palisade::{OpenError, Request};

use super::super::RunArgs;
use crate::failure::Failure;

/// Folders that everybody writes to: what others put there would be the task's.
const SHARED: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// Folders of a home in which programs keep what is theirs, all of them together.
const PROGRAMS: [&str; 6] =
    [".cache", ".config", ".local", ".local/bin", ".local/share", ".local/state"];

/// Finds a task's workspace, or makes the one that it gets by its name. In the folders of `ground`
/// commands may have made links, which open nothing.
pub(super) fn workspace(
    work: &Work,
    args: &RunArgs,
    request: &Request,
    ground: &[PathBuf],
) -> Result<PathBuf, Failure> {
    let name = visible(&work.name);
    let wrong = |message: String| Failure::new("workspace", message);
    let place = match (&work.workspace, &args.workspaces) {
        (Some(folder), _) => {
            let place = folder.path();
            check_links(&name, &place, ground)?;
            place
        }
        (None, Some(above)) => {
            let mut parts = Path::new(&*work.name).components();
            if !matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None)) {
                let message = format!("the task `{name}` cannot be the name of a folder");
                return Err(wrong(message).hint("write its `workspace` into the file"));
            }
            let place = request.cwd.join(above).join(&*work.name);
            check_links(&name, &place, ground)?;
            fs::create_dir_all(&place).map_err(|error| {
                let message = format!("cannot make the workspace `{}`", place.display());
                Failure::io("workspace", message, &error).file(&place)
            })?;
            place
        }
        (None, None) => {
            return Err(wrong(format!("the task `{name}` has no workspace"))
                .hint("write `workspace: DIR` into the file, or give --workspaces DIR"));
        }
    };
    let real = place.canonicalize().map_err(|error| {
        let message = format!("there is no workspace `{}` for the task `{name}`", place.display());
        Failure::io("workspace", message, &error).file(&place).hint("make it first")
    })?;
    if let Some((what, hint)) = unfit(&real, request)? {
        let message = format!("`{}` is no workspace for the task `{name}`: {what}", real.display());
        return Err(wrong(message).hint(hint));
    }
    Ok(real)
}

/// Refuses a workspace to which a link leads that a command may have made: the task would work, and
/// write, wherever that says.
fn check_links(name: &str, place: &Path, ground: &[PathBuf]) -> Result<(), Failure> {
    let Some(link) = ground.iter().find_map(|folder| root::planted(place, folder)) else {
        return Ok(());
    };
    let (place, link) = (visible(&place.to_string_lossy()), visible(&link.to_string_lossy()));
    let message = format!(
        "the workspace `{place}` of the task `{name}` leads through the link `{link}`, which a \
         command can make"
    );
    Err(Failure::new("workspace", message).hint("name a folder to which no such link leads"))
}

/// Says why a folder is no task's, if it is not. A file is no `--root`: it does not open all that
/// somebody has (Ruling 9), nor what agents and other programs keep there for their next start.
fn unfit(real: &Path, request: &Request) -> Result<Option<(String, &'static str)>, Failure> {
    let own = "name a folder of its own";
    let places = request.places();
    let home = places.home.map(|home| home.canonicalize().unwrap_or(home));
    let system = root::explicit(real).map_err(OpenError::Root)?.warnings;
    let is_system = system.iter().any(|it| matches!(it, RootWarning::SystemFolder { .. }));
    let is_shared = SHARED.iter().any(|shared| real == Path::new(shared));
    if real == Path::new("/") || home.as_ref().is_some_and(|home| home.starts_with(real)) {
        return Ok(Some(("it is too wide, and would open all that lies there".into(), own)));
    }
    if is_system || is_shared {
        return Ok(Some(("it is a part of the system, or everybody's".into(), own)));
    }
    let Some(home) = home else { return Ok(None) };
    let anchors = Anchors { root: real.to_owned(), home: Some(home.clone()) };
    for (agent, folder) in agent::states_of_others("", &anchors).map_err(OpenError::Text)? {
        let state = folder.path();
        if real.starts_with(&state) || state.starts_with(real) {
            let state = visible(&state.to_string_lossy());
            return Ok(Some((format!("`{agent}` keeps its state in `{state}`"), own)));
        }
    }
    if let Some(state) = places.state.map(|it| it.canonicalize().unwrap_or(it))
        && (real.starts_with(&state) || state.starts_with(real))
    {
        let state = visible(&state.to_string_lossy());
        return Ok(Some((format!("Palisade keeps its own state in `{state}`"), own)));
    }
    let is_programs = PROGRAMS.iter().any(|name| real == home.join(name));
    let what = "programs keep their settings and their state there";
    Ok(is_programs.then(|| (what.into(), own)))
}

/// Refuses a workspace that is protected where the file is run, or lies in something that is: a
/// workspace is writable in all its parts.
pub(super) fn check_open(work: &Work, place: &Path, policy: &Policy) -> Result<(), Failure> {
    let protects = |path: &Path| {
        // Git runs programs that its own folder names, whatever the list says of it.
        path.file_name() == Some(".git".as_ref())
            || policy.files.protect.values().any(|it| it.matches(path))
    };
    if !place.ancestors().any(protects) {
        return Ok(());
    }
    let (name, place) = (visible(&work.name), place.display());
    let message = format!("the workspace of the task `{name}` is protected: `{place}`");
    Err(Failure::new("workspace", message).hint("name a folder that programs do not start from"))
}
