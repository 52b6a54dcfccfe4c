//! Finding the project: the folder that a sandbox is drawn around.

mod marker;

use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use palisade_apply::{Opening, real};

use crate::places::shown;
use marker::Sighting;

/// The user on whose behalf a project is looked for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Caller {
    /// Their effective uid.
    pub uid: u32,
    /// Their home folder, where it is known.
    pub home: Option<PathBuf>,
}

/// A folder that a session may treat as its project.
///
/// A value like any other: two sessions in one process have two of them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProjectRoot {
    /// The real path, without links.
    pub path: PathBuf,
    /// Why it is this folder.
    pub how: Found,
    /// What a person should know about the choice, in the order it was met.
    pub warnings: Vec<RootWarning>,
}

/// How a project was found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Found {
    /// By a marker of this name in the folder.
    Marker(String),
    /// Not at all: it is the working folder.
    Cwd,
    /// A person named it.
    Given,
}

/// Something about a project that must not go unsaid.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum RootWarning {
    /// The working folder became the project, and others can put files there.
    OpenFolder {
        /// The folder.
        folder: PathBuf,
    },
    /// The project is a folder of the system, or the whole machine.
    SystemFolder {
        /// The folder.
        folder: PathBuf,
    },
    /// A marker did not count.
    IgnoredMarker {
        /// The marker.
        marker: PathBuf,
        /// Why.
        because: Unfit,
    },
}

/// Why a marker does not count.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unfit {
    /// Others can put files into its folder.
    OpenFolder,
    /// Its folder belongs to somebody else.
    ForeignFolder,
    /// It belongs to somebody else itself, or leads to something that does.
    ForeignMarker,
}

/// Why there is no project. Nothing runs without one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RootError {
    /// There is no such folder.
    #[error("project folder `{}` does not exist", shown(path))]
    Missing {
        /// The path as it was given.
        path: PathBuf,
    },
    /// It is not a folder.
    #[error("project `{}` is not a folder", shown(path))]
    NotAFolder {
        /// The path as it was given.
        path: PathBuf,
    },
    /// The system refused to look.
    #[error("cannot look at project folder `{}`", shown(path))]
    Unreadable {
        /// The path as it was given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file names it by a link that a command may have made.
    #[error("`{}` leads elsewhere, by the link `{}`", shown(path), shown(link))]
    Linked {
        /// The path as it was given.
        path: PathBuf,
        /// The link.
        link: PathBuf,
    },
    /// The only candidate holds far more than a project.
    #[error("no project found, and `{}` is too wide to be one", shown(path))]
    TooWide {
        /// The working folder.
        path: PathBuf,
    },
}

/// Finds the project around `cwd`: the nearest folder upwards with a marker, else `cwd` itself.
///
/// A marker counts only if it and its folder belong to the caller and nobody else can put files
/// there; in `/`, the home folder and what lies above that none counts. A marker may be a symbolic
/// link if what it leads to belongs to the caller too. An empty `.git` is no marker.
///
/// # Errors
///
/// [`RootError::TooWide`] if nothing but `/`, the home folder or something above it is left.
pub fn detect(cwd: &Path, who: &Caller) -> Result<ProjectRoot, RootError> {
    let (here, itself) = real_folder(cwd)?;
    let home = who.home.as_ref().map(|home| real(home).unwrap_or(home.clone()));
    let mut warnings = Vec::new();

    // What lies above a folder that is too wide is too wide as well.
    for folder in here.ancestors().take_while(|folder| !is_too_wide(folder, home.as_deref())) {
        match marker::look(folder, who.uid) {
            Sighting::Marker(name) => match unfit(folder, who.uid) {
                None => {
                    let how = Found::Marker(name);
                    warnings.extend(system_folder(folder));
                    return Ok(ProjectRoot { path: folder.into(), how, warnings });
                }
                Some(because) => {
                    let marker = folder.join(name);
                    warnings.push(RootWarning::IgnoredMarker { marker, because });
                }
            },
            Sighting::Ignored(name, because) => {
                let marker = folder.join(name);
                warnings.push(RootWarning::IgnoredMarker { marker, because });
            }
            Sighting::Nothing => {}
        }
    }

    if is_too_wide(&here, home.as_deref()) {
        return Err(RootError::TooWide { path: here });
    }
    if is_open(&itself) {
        warnings.push(RootWarning::OpenFolder { folder: here.clone() });
    }
    warnings.extend(system_folder(&here));
    Ok(ProjectRoot { path: here, how: Found::Cwd, warnings })
}

/// Takes the folder that a person named, whatever it is: also `/` or their home.
///
/// A relative path is resolved against the working folder of the process.
///
/// # Errors
///
/// If it is not there, or not a folder.
pub fn explicit(dir: &Path) -> Result<ProjectRoot, RootError> {
    let (path, _) = real_folder(dir)?;
    let warnings = system_folder(&path).into_iter().collect();
    Ok(ProjectRoot { path, how: Found::Given, warnings })
}

/// Takes a folder that need not exist, for talking about it: nothing runs there.
pub fn hypothetical(dir: &Path) -> ProjectRoot {
    ProjectRoot { path: dir.into(), how: Found::Given, warnings: Vec::new() }
}

impl RootError {
    /// Returns a name that never changes, for logs, tests and the manual.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "root-missing",
            Self::NotAFolder { .. } => "root-not-a-folder",
            Self::Unreadable { .. } => "root-unreadable",
            Self::Linked { .. } => "root-linked",
            Self::TooWide { .. } => "root-too-wide",
        }
    }

    /// Returns what the user can do about it, when we know.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Missing { .. } | Self::NotAFolder { .. } => Some("name a folder that exists"),
            Self::Unreadable { .. } => Some("check the permissions of the folders above it"),
            Self::Linked { .. } => Some("name the folder itself, or say it with `--root DIR`"),
            Self::TooWide { .. } => {
                Some("go into a project, or say which folder is meant with `--root DIR`")
            }
        }
    }
}

impl fmt::Display for RootWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OpenFolder { folder } => {
                write!(f, "the project is `{}`, where others can put files", shown(folder))
            }
            Self::SystemFolder { folder } => {
                let folder = shown(folder);
                write!(f, "the project is `{folder}`, a part of the system: it may be changed")
            }
            Self::IgnoredMarker { marker, because } => {
                write!(f, "`{}` does not mark a project: {because}", shown(marker))
            }
        }
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OpenFolder => "others can put files into its folder",
            Self::ForeignFolder => "its folder belongs to another user",
            Self::ForeignMarker => "it belongs to another user",
        })
    }
}

fn real_folder(path: &Path) -> Result<(PathBuf, Metadata), RootError> {
    let failed = |source: io::Error| match source.kind() == io::ErrorKind::NotFound {
        true => RootError::Missing { path: path.into() },
        false => RootError::Unreadable { path: path.into(), source },
    };
    if let Some((real, folder)) = palisade_apply::straight_folder(path, Opening::Look)
        && let Ok(found) = fs::File::from(folder).metadata()
    {
        return Ok((real, found));
    }
    let real = fs::canonicalize(path).map_err(failed)?;
    let found = fs::metadata(&real).map_err(failed)?;
    if !found.is_dir() {
        return Err(RootError::NotAFolder { path: path.into() });
    }
    Ok((real, found))
}

/// Returns the folder that a policy file names as the project. A file is no person: the top, the
/// home and what lies above it must be said on the command line.
///
/// # Errors
///
/// As [`explicit`], and a folder that is too wide.
pub fn named(dir: &Path, who: &Caller) -> Result<ProjectRoot, RootError> {
    let found = explicit(dir)?;
    let home = who.home.as_ref().map(|home| real(home).unwrap_or(home.clone()));
    if is_too_wide(&found.path, home.as_deref()) {
        return Err(RootError::TooWide { path: found.path });
    }
    Ok(found)
}

/// Returns the first link on the way to `path` that lies in `folder`, which is free of links itself: a
/// command that could write there may have made it, and what it leads to is not what the name says.
pub fn planted(path: &Path, folder: &Path) -> Option<PathBuf> {
    palisade_apply::links_to(path).into_iter().find(|link| link.starts_with(folder))
}

/// Answers whether a folder is `/`, the home folder, or above it.
fn is_too_wide(folder: &Path, home: Option<&Path>) -> bool {
    folder.parent().is_none() || home.is_some_and(|home| home.starts_with(folder))
}

/// Says so if a folder is one of the system's own.
fn system_folder(folder: &Path) -> Option<RootWarning> {
    const WHOLLY: [&str; 11] =
        ["bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "proc", "run", "sbin", "sys"];
    // Projects lie below these, and are none of their own.
    const ITSELF: [&str; 7] = ["home", "mnt", "opt", "srv", "tmp", "usr", "var"];
    const INNER: [&str; 10] = [
        "/usr/bin",
        "/usr/include",
        "/usr/lib",
        "/usr/libexec",
        "/usr/local",
        "/usr/sbin",
        "/usr/share",
        "/var/lib",
        "/var/log",
        "/var/spool",
    ];
    let mut names = folder.components().skip(1).map(Component::as_os_str);
    let is_one_of = |names: &[&str], name: &OsStr| names.iter().any(|known| name == *known);
    let is_system = match (names.next(), names.next()) {
        (None, _) => true,
        (Some(first), None) => is_one_of(&WHOLLY, first) || is_one_of(&ITSELF, first),
        (Some(first), Some(_)) => {
            is_one_of(&WHOLLY, first) || INNER.iter().any(|inner| folder == Path::new(inner))
        }
    };
    is_system.then(|| RootWarning::SystemFolder { folder: folder.into() })
}

fn unfit(folder: &Path, uid: u32) -> Option<Unfit> {
    // A folder that cannot be looked at is nobody we know.
    let Ok(found) = fs::symlink_metadata(folder) else { return Some(Unfit::ForeignFolder) };
    if is_open(&found) {
        Some(Unfit::OpenFolder)
    } else if found.uid() != uid {
        Some(Unfit::ForeignFolder)
    } else {
        None
    }
}

/// Answers whether others can put files there: world-writable, or sticky as shared folders are.
fn is_open(folder: &Metadata) -> bool {
    const STICKY_OR_WORLD_WRITABLE: u32 = 0o1002;
    folder.mode() & STICKY_OR_WORLD_WRITABLE != 0
}

#[cfg(test)]
mod tests;
