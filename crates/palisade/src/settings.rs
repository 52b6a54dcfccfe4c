//! Settings written for another program, where nobody else can read, replace or foresee them.
//!
//! A settings file says what a sandbox permits, so whoever can change it between our writing and
//! the program's reading decides instead of us. It lies in a folder that only the user can enter,
//! under a name that cannot be guessed, and is created, never opened.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

/// The folder's name, as Bloom documents it.
pub const FOLDER: &str = "bloom-sandbox";

/// A settings file that exists as long as this value; its path goes behind `--settings`.
#[derive(Debug)]
pub struct SettingsFile {
    folder: OwnedFd,
    name: String,
    path: PathBuf,
}

/// Why no settings file was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The folder, or the one it lies in, could be changed by somebody else.
    #[error("{} is not safe for settings: {why}", path.display())]
    Exposed {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The system refused.
    #[error("cannot write settings below {}: {source}", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl SettingsError {
    /// Returns a name that never changes, for programs and tests.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Exposed { .. } => "settings-exposed",
            Self::Io { .. } => "settings-io",
        }
    }
}

impl SettingsFile {
    /// Writes `text` into a new file in the private folder below `base`, the user's runtime folder
    /// or the temporary one.
    ///
    /// # Errors
    ///
    /// When the folder exists and is a link, or belongs to somebody else, or is open to others;
    /// when `base` itself lets others put something else in its place; when writing fails.
    pub fn write(base: &Path, text: &str) -> Result<Self, SettingsError> {
        let path = base.join(FOLDER);
        let failed = |source: io::Error| SettingsError::Io { path: path.clone(), source };
        let above =
            open_folder(CWD, base, OFlags::empty()).map_err(|errno| failed(errno.into()))?;
        let above = File::from(above);
        check_base(base, &above.metadata().map_err(failed)?)?;
        match rustix::fs::mkdirat(&above, FOLDER, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(failed(errno.into())),
        }
        let folder = match open_folder(&above, Path::new(FOLDER), OFlags::NOFOLLOW) {
            Ok(folder) => File::from(folder),
            Err(Errno::LOOP | Errno::NOTDIR) => {
                return Err(SettingsError::Exposed { path, why: "it is not a plain folder" });
            }
            Err(errno) => return Err(failed(errno.into())),
        };
        check_folder(&path, &folder.metadata().map_err(failed)?)?;
        let name = format!("sandbox-{}.json", unguessable().map_err(failed)?);
        // From here on the file is removed, also when writing fails half-way.
        let mut file = create(&folder, &name).map_err(|errno| failed(errno.into()))?;
        let written = Self { folder: folder.into(), path: path.join(&name), name };
        file.write_all(text.as_bytes()).map_err(failed)?;
        Ok(written)
    }

    /// Returns the file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SettingsFile {
    fn drop(&mut self) {
        // Nobody is left to be told; the folder is private, so what stays behind harms nobody.
        rustix::fs::unlinkat(&self.folder, &self.name, AtFlags::empty()).ok();
    }
}

fn open_folder(at: impl std::os::fd::AsFd, path: &Path, extra: OFlags) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | extra;
    rustix::fs::openat(at, path, flags, Mode::empty())
}

/// Creates a file for its owner alone; what is already there, a link included, is never used.
fn create(folder: &File, name: &str) -> Result<File, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(folder, name, flags, Mode::RUSR | Mode::WUSR).map(File::from)
}

/// Refuses a base in which others could put another folder in the place of ours.
fn check_base(base: &Path, found: &std::fs::Metadata) -> Result<(), SettingsError> {
    const STICKY: u32 = 0o1000;
    const OTHERS_WRITE: u32 = 0o022;
    let uid = rustix::process::geteuid().as_raw();
    let exposed = |why| Err(SettingsError::Exposed { path: base.into(), why });
    if found.uid() != uid && found.uid() != 0 {
        return exposed("it belongs to somebody else");
    }
    if found.mode() & OTHERS_WRITE != 0 && found.mode() & STICKY == 0 {
        return exposed("others can rename what lies in it");
    }
    Ok(())
}

fn check_folder(path: &Path, found: &std::fs::Metadata) -> Result<(), SettingsError> {
    let exposed = |why| Err(SettingsError::Exposed { path: path.into(), why });
    if found.uid() != rustix::process::geteuid().as_raw() {
        return exposed("it belongs to somebody else");
    }
    if found.mode() & 0o077 != 0 {
        return exposed("others can enter it; its mode must be 0700");
    }
    Ok(())
}

/// Returns 128 random bits as text.
fn unguessable() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use palisade_testkit::{Fact, Need, Project, need};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
    }

    fn refusal(base: &Project) -> SettingsError {
        let error = SettingsFile::write(base.root(), "{}").unwrap_err();
        assert_eq!(error.code(), "settings-exposed", "{error}");
        error
    }

    #[test]
    fn a113_generated_settings_lie_alone_in_a_private_folder_and_go_away() {
        let base = Project::new();
        let first = SettingsFile::write(base.root(), "{\"a\":1}").unwrap();
        let second = SettingsFile::write(base.root(), "{\"b\":2}").unwrap();
        assert_eq!(first.path().parent(), Some(base.path("bloom-sandbox").as_path()));
        assert_eq!(mode(&base.path("bloom-sandbox")), 0o700);
        assert_eq!(mode(first.path()), 0o600);
        assert_eq!(fs::read_to_string(first.path()).unwrap(), "{\"a\":1}");
        assert_eq!(fs::read_to_string(second.path()).unwrap(), "{\"b\":2}");

        let gone = first.path().to_owned();
        drop(first);
        assert!(!gone.exists());
        assert!(second.path().exists(), "one file's end is not another's");
    }

    #[test]
    fn a113_a_folder_that_is_a_link_or_open_to_others_is_refused() {
        let linked = Project::new().dir("elsewhere").symlink("bloom-sandbox", "elsewhere");
        assert!(refusal(&linked).to_string().contains("not a plain folder"));
        assert_eq!(fs::read_dir(linked.path("elsewhere")).unwrap().count(), 0);

        let dangling = Project::new().symlink("bloom-sandbox", "nowhere");
        refusal(&dangling);
        assert!(!dangling.path("nowhere").exists(), "nothing is made behind the link");

        refusal(&Project::new().file("bloom-sandbox", "a file"));
        for open in [0o755, 0o770, 0o711, 0o1777] {
            refusal(&Project::new().dir("bloom-sandbox").mode("bloom-sandbox", open));
        }
        refusal(&Project::new().mode("", 0o777));
        let sticky = Project::new().mode("", 0o1777);
        assert!(SettingsFile::write(sticky.root(), "{}").is_ok(), "as `/tmp` is");
    }

    #[test]
    fn a113_a_folder_of_somebody_else_is_refused() {
        if need(Fact::Root) == Need::Skip {
            return;
        }
        let mode = 0o700;
        let folder = Project::new().dir("bloom-sandbox").mode("bloom-sandbox", mode);
        refusal(&folder.owner("bloom-sandbox", 65534));
        refusal(&Project::new().owner("", 65534));
    }

    #[test]
    fn a113_names_cannot_be_foreseen_and_what_exists_is_never_opened() {
        let base = Project::new().dir("bloom-sandbox").mode("bloom-sandbox", 0o700);
        let names: Vec<String> = (0..64).map(|_| unguessable().unwrap()).collect();
        let mut distinct = names.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), names.len());
        assert!(names.iter().all(|name| name.len() == 32));

        let base = base.file("victim", "precious").symlink("bloom-sandbox/squat", "../victim");
        let folder = File::open(base.path("bloom-sandbox")).unwrap();
        assert_eq!(create(&folder, "squat").unwrap_err(), Errno::EXIST);
        assert_eq!(fs::read_to_string(base.path("victim")).unwrap(), "precious");
    }

    #[test]
    fn a_base_that_is_missing_is_an_error_of_its_own() {
        let base = Project::new();
        let error = SettingsFile::write(&base.path("missing"), "{}").unwrap_err();
        assert_eq!(error.code(), "settings-io");
    }
}
