//! Plans for other engines, and the files that those read.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};

use palisade_apply::HostLookup;
use palisade_plan::Plan;
use palisade_plan::export::{Around, CannotExport, Engine, Export, Lack, Ours, export};
use palisade_policy::decide::Reason;

use super::Sandbox;

impl Sandbox {
    /// Carries a plan to another engine, and writes nothing. `asks` is why a person would be asked
    /// first ([`Planned::Plan`](super::Planned)), `folder` is where the files that it
    /// needs will lie ([`write_export`]), `image` what an engine of containers starts from.
    ///
    /// # Errors
    ///
    /// When the engine lacks something that is not among `without`, or cannot carry this plan.
    pub fn export(
        &self,
        (plan, asks): (&Plan, &[Reason]),
        engine: Engine,
        (folder, image): (Option<&Path>, Option<&str>),
        without: &[Lack],
    ) -> Result<Export, CannotExport> {
        let files = self.session().files().iter();
        let policies: Vec<PathBuf> =
            files.filter_map(|file| file.path.canonicalize().ok()).collect();
        let (lookup, outside) = (&HostLookup, &self.0.environment);
        let ours = Ours { asks: !asks.is_empty(), records: self.0.recorder.records() };
        let around = Around { lookup, outside, folder, image, policies: &policies, ours };
        export(plan, engine, &around, without)
    }
}

/// Returns where a folder for an export will be, free of links.
///
/// # Errors
///
/// When its parent is not there, or something is in it already.
pub fn export_folder(folder: &Path) -> io::Result<PathBuf> {
    match fs::read_dir(folder) {
        Ok(mut names) => {
            let is_empty = names.next().is_none();
            return if is_empty {
                folder.canonicalize()
            } else {
                Err(io::ErrorKind::DirectoryNotEmpty.into())
            };
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new(".")).canonicalize()?;
    let name = folder.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    Ok(parent.join(name))
}

/// Makes the folder of an export, for its owner only, with the files in it.
///
/// # Errors
///
/// When something cannot be written, or the folder is somebody else's.
pub fn write_export(export: &Export, folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => own(folder)?,
        made => made?,
    }
    for (name, mode) in &export.folders {
        DirBuilder::new().mode(*mode).create(folder.join(name))?;
    }
    for file in &export.files {
        let path = folder.join(file.name);
        let mut open = OpenOptions::new();
        open.write(true).create_new(true).mode(0o600).open(path)?.write_all(&file.content)?;
    }
    Ok(())
}

/// Shuts a folder that was there before to everybody else: they could change the walls in it.
fn own(folder: &Path) -> io::Result<()> {
    let known = fs::symlink_metadata(folder)?;
    if !known.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    if known.uid() != rustix::process::geteuid().as_raw() {
        let message = "the folder belongs to somebody else";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
}
