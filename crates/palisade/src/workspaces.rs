//! Which agents work where: what each of them must not read of the others, running or not.
//!
//! A run for an agent leaves a file in the user's state folder that names the agent and its root.
//! Every later run for another agent hides that root. The file is written before the others are read,
//! so of two runs that begin together at least one sees the other, and both do in the end.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags};
use sha2::{Digest as _, Sha256};

/// The places where agents work, as one user's runs left them.
#[derive(Clone, Debug)]
pub struct Workspaces {
    folder: PathBuf,
    uid: u32,
}

/// One agent's place.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Workspace {
    /// Where it works.
    pub root: PathBuf,
    /// The agent.
    pub agent: String,
    file: PathBuf,
}

/// A place that is in use; others can tell as long as this value lives.
#[derive(Debug)]
pub struct InUse {
    _held: File,
    /// Agents that were running before this place was known: they can read it until they end.
    pub before: Vec<Workspace>,
}

/// Most places that are remembered, and the longest file about one.
const MOST: usize = 4096;
const LONGEST: u64 = 8 << 10;

impl Workspaces {
    /// Looks into a user's state folder, which need not exist.
    pub fn new(state: &Path, uid: u32) -> Self {
        Self { folder: state.join("workspaces"), uid }
    }

    /// Lists them all, by their roots. Those that are gone from the disk are left out.
    ///
    /// # Errors
    ///
    /// When the folder is not the user's alone, or cannot be read: what it says is not to be believed.
    pub fn list(&self) -> io::Result<Vec<Workspace>> {
        match fs::symlink_metadata(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
            Ok(found) => self.check(&found)?,
        }
        let mut found = Vec::new();
        for (at, entry) in fs::read_dir(&self.folder)?.enumerate() {
            if at >= MOST {
                return Err(io::Error::other("there are too many"));
            }
            let path = entry?.path();
            if path.extension() == Some(OsStr::new("workspace")) {
                found.extend(read(&path)?.filter(|it| it.root.is_dir()));
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Lists where other agents than this one work.
    ///
    /// # Errors
    ///
    /// As [`Workspaces::list`].
    pub fn of_others(&self, agent: &str) -> io::Result<Vec<Workspace>> {
        Ok(self.list()?.into_iter().filter(|it| it.agent != agent).collect())
    }

    /// Remembers that an agent works at `root`, which it does as long as the answer lives.
    ///
    /// # Errors
    ///
    /// Nothing was remembered: the folder is not the user's alone, or cannot be written.
    pub fn enter(&self, agent: &str, root: &Path) -> io::Result<InUse> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        self.check(&fs::symlink_metadata(&self.folder)?)?;
        let bytes = [agent.as_bytes(), root.as_os_str().as_bytes()].join(&0);
        let digest = Sha256::digest(&bytes);
        let name: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        let path = self.folder.join(format!("{name}.workspace"));
        let known = path.symlink_metadata().is_ok();
        if !known {
            // Under a name of its own first: nobody reads half of it.
            let draft = self.folder.join(format!("{name}.{}.draft", std::process::id()));
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(true).mode(0o600);
            let mut file = options.custom_flags(NO_LINK).open(&draft)?;
            file.write_all(&bytes)?;
            fs::rename(&draft, &path)?;
        }
        let held = OpenOptions::new().read(true).custom_flags(NO_LINK).open(&path)?;
        // Somebody may just be looking whether it is in use.
        rustix::fs::flock(&held, FlockOperation::LockShared)?;
        let mut before = Vec::new();
        if !known {
            let others = self.of_others(agent)?.into_iter();
            before.extend(others.filter(|other| other.root != root && other.is_in_use()));
        }
        Ok(InUse { _held: held, before })
    }

    /// Forgets who works at `root`; answers how many agents that were.
    ///
    /// # Errors
    ///
    /// As [`Workspaces::list`].
    pub fn forget(&self, root: &Path) -> io::Result<usize> {
        let mut forgotten = 0;
        for place in self.list()?.into_iter().filter(|it| it.root == root) {
            fs::remove_file(&place.file)?;
            forgotten += 1;
        }
        Ok(forgotten)
    }

    fn check(&self, found: &fs::Metadata) -> io::Result<()> {
        if found.is_dir() && found.uid() == self.uid && found.mode() & 0o022 == 0 {
            return Ok(());
        }
        let folder = self.folder.display();
        Err(io::Error::other(format!("`{folder}` is not a folder of the user's alone")))
    }
}

impl Workspace {
    /// Whether the agent runs there now.
    pub fn is_in_use(&self) -> bool {
        let Ok(file) = OpenOptions::new().read(true).custom_flags(NO_LINK).open(&self.file) else {
            return false;
        };
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_err()
    }
}

const NO_LINK: i32 = {
    let flags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);
    flags.bits().cast_signed()
};

/// Reads one file; one that vanished meanwhile says nothing.
fn read(path: &Path) -> io::Result<Option<Workspace>> {
    let file = match OpenOptions::new().read(true).custom_flags(NO_LINK).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes)?;
    let broken = || io::Error::other(format!("`{}` is not one of ours", path.display()));
    let mut parts = bytes.splitn(2, |byte| *byte == 0);
    let agent = parts.next().and_then(|agent| std::str::from_utf8(agent).ok());
    let root = parts.next().map(|root| PathBuf::from(OsStr::from_bytes(root)));
    let (Some(agent), Some(root)) = (agent, root.filter(|root| root.is_absolute())) else {
        return Err(broken());
    };
    Ok(Some(Workspace { root, agent: agent.to_owned(), file: path.to_owned() }))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use palisade_testkit::Project;

    use super::*;

    fn uid() -> u32 {
        rustix::process::geteuid().as_raw()
    }

    fn agents(found: &[Workspace]) -> Vec<&str> {
        found.iter().map(|it| it.agent.as_str()).collect()
    }

    #[test]
    fn a_place_is_remembered_when_nobody_runs_there_any_more() {
        let base = Project::new().dir("state").dir("a").dir("b");
        let places = Workspaces::new(&base.path("state"), uid());
        assert_eq!(places.list().unwrap(), []);
        let first = places.enter("claude", &base.path("a")).unwrap();
        assert!(first.before.is_empty());
        assert!(places.list().unwrap()[0].is_in_use());
        drop(first);
        let known = places.list().unwrap();
        assert_eq!(agents(&known), ["claude"]);
        assert_eq!(known[0].root, base.path("a"));
        assert!(!known[0].is_in_use());
        assert!(places.of_others("claude").unwrap().is_empty());
        assert_eq!(agents(&places.of_others("codex").unwrap()), ["claude"]);
        assert_eq!(places.forget(&base.path("b")).unwrap(), 0);
        assert_eq!(places.forget(&base.path("a")).unwrap(), 1);
        assert_eq!(places.list().unwrap(), []);
    }

    #[test]
    fn who_runs_already_is_told_of_to_who_comes_later() {
        let base = Project::new().dir("state").dir("a").dir("b");
        let places = Workspaces::new(&base.path("state"), uid());
        let first = places.enter("claude", &base.path("a")).unwrap();
        let second = places.enter("codex", &base.path("b")).unwrap();
        assert_eq!(agents(&second.before), ["claude"], "it began before `b` was known");
        drop(second);
        let again = places.enter("codex", &base.path("b")).unwrap();
        assert!(again.before.is_empty(), "known since");
        drop(first);
        fs::remove_dir(base.path("a")).unwrap();
        assert_eq!(agents(&places.list().unwrap()), ["codex"], "what is gone hides nothing");
    }

    #[test]
    fn what_others_could_have_written_is_not_believed() {
        let base = Project::new().dir("state/workspaces").dir("a");
        let folder = base.path("state/workspaces");
        let places = Workspaces::new(&base.path("state"), uid());
        places.enter("claude", &base.path("a")).unwrap();
        fs::write(folder.join("x.workspace"), "no root").unwrap();
        assert!(places.list().is_err(), "broken");
        fs::remove_file(folder.join("x.workspace")).unwrap();
        fs::write(folder.join("x.other"), "not looked at").unwrap();
        assert_eq!(places.list().unwrap().len(), 1);
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(places.list().is_err() && places.enter("codex", &base.path("a")).is_err());
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        assert!(Workspaces::new(&base.path("state"), uid() + 1).list().is_err(), "somebody else's");
    }
}
