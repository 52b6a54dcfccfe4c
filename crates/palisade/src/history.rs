//! The record of what happened: where it lies, what it is signed with, and what is remembered besides
//! calls.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use palisade_audit::{CannotRecord, Durable, Event, Key, Log, Rotation, What};
use palisade_policy::lint::{SHORTEST_FILE, SMALLEST_FILE};
use palisade_policy::name::{ByteSize, Period};

use crate::places::{names_in, shown};
use crate::root::planted;
use crate::session::{Request, Session};

/// Returns the log that the policy names; none if it names none.
pub fn log_of(session: &Session) -> Option<PathBuf> {
    session.policy().audit.path.sourced().map(|path| path.value.path())
}

/// Returns where the key lies that logs are signed with: in the user's own state.
pub fn key_of(request: &Request) -> Option<PathBuf> {
    Some(request.places().state?.join("audit/key"))
}

/// Returns where locks of the user's own lie, which no command can hold.
pub fn locks_of(request: &Request) -> Option<PathBuf> {
    Some(request.places().state?.join("audit"))
}

/// Remembers that a person agreed to what a project's files open, or took that back. It is on the disk
/// when this returns. Nothing is done where the policy names no log.
///
/// # Errors
///
/// When it could not be recorded. What was agreed to holds all the same.
pub fn record_trust(
    session: &Session,
    request: &Request,
    trusted: bool,
) -> Result<(), CannotRecord> {
    let Some(log) = opened(session, request) else { return Ok(()) };
    let root = session.root().path.to_string_lossy();
    let paths = session.project_files().map(|files| files.paths.as_slice()).unwrap_or_default();
    let files = paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    let what = What::Trust { trusted, root: &root, files };
    log?.append(&[Event { at: SystemTime::now(), run: "", what }], Durable::Yes)
}

/// Remembers a tool call that was judged, where nothing else is done in this process. Nothing is done
/// where the policy names no log.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(crate) fn record_tool(
    session: &Session,
    request: &Request,
    judged: palisade_audit::Judged<'_>,
) -> Result<(), CannotRecord> {
    let Some(log) = opened(session, request) else { return Ok(()) };
    let what = What::Tool(judged);
    log?.append(&[Event { at: SystemTime::now(), run: "", what }], Durable::No)
}

/// Opens the log that the policy names, if it names one. A link in the project that leads to it may be
/// a command's, which would choose what is written to.
pub(crate) fn opened(session: &Session, request: &Request) -> Option<Result<Log, CannotRecord>> {
    let path = log_of(session)?;
    if let Some(link) = planted(&path, &session.root().path) {
        let why = format!("the link `{}` leads there", shown(&link));
        let because = io::Error::new(io::ErrorKind::InvalidInput, why);
        return Some(Err(CannotRecord { path, because }));
    }
    let audit = &session.policy().audit;
    let rotation = Rotation {
        size: audit.rotate_size.value().0.map(|size: ByteSize| size.bytes().max(SMALLEST_FILE)),
        age: audit.rotate_age.value().0.map(|age: Period| age.duration().max(SHORTEST_FILE)),
    };
    // Without a key there is still a chain; `verify` says that nobody signed it.
    let key = key_of(request).and_then(|key| Key::open(&key).ok());
    let beside = locks_of(request);
    Some(Log::open(&path, key, rotation).map(|log| log.beside(beside.as_deref())))
}

/// Lists what runs must not change of a log: the folder that it has for itself, where it has one, so
/// that files which are begun meanwhile are among them; its files elsewhere.
pub(crate) fn files(log: &Path, root: &Path) -> Vec<PathBuf> {
    let folder = log.parent().filter(|folder| !root.starts_with(folder) && is_own(folder, log));
    match folder {
        Some(folder) => vec![folder.to_owned()],
        None => palisade_audit::files(log),
    }
}

/// Whether nothing but a log lies in a folder.
fn is_own(folder: &Path, log: &Path) -> bool {
    let Some(name) = log.file_name().map(std::ffi::OsStr::as_encoded_bytes) else { return false };
    let is_ours = |entry: &std::ffi::OsString| entry.as_encoded_bytes().starts_with(name);
    names_in(folder).is_ok_and(|mut names| names.all(|it| it.as_ref().is_ok_and(is_ours)))
}
