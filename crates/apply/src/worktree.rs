//! Finding the repository of a linked worktree, and whether it knows the worktree too.
//!
//! The file `.git` lies in the project, where anybody may have written it. It counts only if what
//! it leads to leads back, and belongs to the caller.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use palisade_plan::Worktree;
use rustix::fs::{Mode, OFlags};

/// The most that a file with one path in it may hold.
const LONGEST: u64 = 8 << 10;

/// The most other worktrees that are kept apart.
const MOST: usize = 500;

/// Where the file `.git` of a project leads.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Pointed {
    /// To a repository in the project itself.
    Inside(PathBuf),
    /// To the repository of which the project is a linked worktree.
    Linked(Worktree),
}

/// Returns where a project's `.git` leads, if that is a file; an error says why it does not count.
///
/// # Errors
///
/// As [`linked`].
pub fn of(root: &Path) -> Result<Option<Pointed>, &'static str> {
    // Asked here, for nearly all that follows asks it again.
    if !fs::symlink_metadata(root.join(".git")).is_ok_and(|it| it.is_file()) {
        return Ok(None);
    }
    match inside(root) {
        Some(folder) => Ok(Some(Pointed::Inside(folder))),
        None => Ok(linked(root)?.map(Pointed::Linked)),
    }
}

/// Returns the repository that a project belongs to, if it is a linked worktree; an error says why
/// what it leads to does not count.
///
/// # Errors
///
/// A reason, in words for a person.
pub fn linked(root: &Path) -> Result<Option<Worktree>, &'static str> {
    let pointer = root.join(".git");
    if !fs::symlink_metadata(&pointer).is_ok_and(|it| it.is_file()) {
        return Ok(None);
    }
    let said = text(&pointer).ok_or("it is not a file of yours that can be read")?;
    let Some(said) = said.strip_prefix("gitdir:") else { return Ok(None) };
    let folder = real(root, said.trim()).ok_or("it leads nowhere")?;
    let Some(common) = repository(&folder) else {
        // Submodules are no worktrees: their folder knows nothing of one.
        return Err("it is not the folder of a linked worktree");
    };
    let leads_back = text(&folder.join("gitdir")).and_then(|said| real(&folder, said.trim()));
    if leads_back.as_deref() != Some(&*pointer) {
        return Err("it does not lead back to this project");
    }
    if root.starts_with(&common) {
        return Err("the project lies in it");
    }
    if ![&folder, &common].into_iter().all(|path| is_ours(path)) {
        return Err("it is not yours");
    }
    let others = others(&folder).ok_or("it has too many worktrees")?;
    Ok(Some(Worktree { pointer, folder, common, others }))
}

/// Returns the repository that a project's `.git` leads to, if that is a file, and the repository lies
/// in the project itself.
pub fn inside(root: &Path) -> Option<PathBuf> {
    let pointer = root.join(".git");
    if !fs::symlink_metadata(&pointer).is_ok_and(|it| it.is_file()) {
        return None;
    }
    let said = text(&pointer)?;
    let folder = real(root, said.strip_prefix("gitdir:")?.trim())?;
    // One that leads on is a worktree's.
    let is_whole = folder.join("commondir").symlink_metadata().is_err();
    (is_whole && folder != root && folder.starts_with(root)).then_some(folder)
}

/// Returns the repository of which this is `worktrees/NAME`, if it is.
fn repository(folder: &Path) -> Option<PathBuf> {
    let above = folder.parent().filter(|above| above.ends_with("worktrees"))?;
    let common = above.parent()?.to_owned();
    // It says so itself, and nothing but the place that it is in counts.
    let said = real(folder, text(&folder.join("commondir"))?.trim())?;
    let whole = common.join("objects").is_dir() && common.join("HEAD").is_file();
    (said == common && whole).then_some(common)
}

fn others(folder: &Path) -> Option<Vec<PathBuf>> {
    let entries = fs::read_dir(folder.parent()?).ok()?.flatten().map(|entry| entry.path());
    let mut others: Vec<PathBuf> = entries.filter(|path| path != folder).take(MOST + 1).collect();
    others.sort();
    (others.len() <= MOST).then_some(others)
}

/// Returns where a path leads, free of links.
fn real(from: &Path, path: &str) -> Option<PathBuf> {
    (!path.is_empty()).then(|| fs::canonicalize(from.join(path)).ok()).flatten()
}

/// Reads a short file of the caller's. It is anybody's until it was looked at: a pipe or a link must
/// neither hold us up nor lead us astray.
fn text(path: &Path) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    let found = file.metadata().ok()?;
    if !found.is_file() || found.uid() != caller() || found.len() > LONGEST {
        return None;
    }
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    Some(text)
}

fn is_ours(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|it| it.uid() == caller())
}

fn caller() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::chown;

    use palisade_testkit::{Fact, Need, Project, need};

    use super::*;

    /// A repository with two worktrees, `one` and `two`, beside it.
    fn repository() -> Project {
        Project::new()
            .file("main/.git/HEAD", "ref: refs/heads/main\n")
            .dir("main/.git/objects")
            .file("main/.git/worktrees/one/commondir", "../..\n")
            .file("main/.git/worktrees/two/commondir", "../..\n")
            .dir("one")
            .dir("two")
    }

    fn write(project: &Project, path: &str, text: &str) {
        let text = text.replace("ROOT", project.root().to_str().unwrap());
        fs::write(project.path(path), text).unwrap();
    }

    /// Lets `one` lead to its folder, and that back.
    fn joined() -> Project {
        let project = repository();
        write(&project, "one/.git", "gitdir: ROOT/main/.git/worktrees/one\n");
        write(&project, "main/.git/worktrees/one/gitdir", "ROOT/one/.git\n");
        project
    }

    #[test]
    fn a_repository_in_the_project_under_another_name_is_found() {
        let project = Project::new().dir("own/objects").file("elsewhere/x", "");
        for (said, expected) in [
            ("gitdir: own\n", Some("own")),
            ("gitdir: ROOT/own\n", Some("own")),
            ("gitdir: ./own/../own/\n", Some("own")),
            ("gitdir: .\n", None),
            ("gitdir: ..\n", None),
            ("gitdir: gone\n", None),
            ("own\n", None),
        ] {
            write(&project, ".git", said);
            assert_eq!(inside(project.root()), expected.map(|name| project.path(name)), "{said}");
        }
        fs::remove_file(project.path(".git")).unwrap();
        assert_eq!(inside(project.root()), None);
    }

    #[test]
    fn what_leads_back_counts() {
        let project = joined();
        let found = linked(&project.path("one")).unwrap().unwrap();
        assert_eq!(found.pointer, project.path("one/.git"));
        assert_eq!(found.folder, project.path("main/.git/worktrees/one"));
        assert_eq!(found.common, project.path("main/.git"));
        assert_eq!(found.others, [project.path("main/.git/worktrees/two")]);
        // As git writes it where it is told to.
        write(&project, "one/.git", "gitdir: ../main/.git/worktrees/one\n");
        write(&project, "main/.git/worktrees/one/gitdir", "../../../../one/.git\n");
        assert_eq!(linked(&project.path("one")).unwrap(), Some(found));
    }

    #[test]
    fn what_does_not_lead_back_is_refused() {
        type Change<'c> = (&'c str, &'c str, &'c str);
        #[rustfmt::skip]
        let cases: [(&[Change<'_>], &str); 8] = [
            (&[("main/.git/worktrees/one/gitdir", "ROOT/two/.git", "")], "lead back"),
            (&[("main/.git/worktrees/one/gitdir", "", "")], "lead back"),
            (&[("one/.git", "gitdir: ROOT/gone", "")], "nowhere"),
            (&[("one/.git", "gitdir:", "")], "nowhere"),
            // The repository itself, and the folder of another worktree.
            (&[("one/.git", "gitdir: ROOT/main/.git", "")], "not the folder"),
            (&[("one/.git", "gitdir: ROOT/main/.git/worktrees/two", "")], "lead back"),
            // A folder in the project that says it belongs to a repository elsewhere.
            (&[("one/.git", "gitdir: ROOT/one/worktrees/x", ""),
               ("one/worktrees/x/commondir", "ROOT/main/.git", "make"),
               ("one/worktrees/x/gitdir", "ROOT/one/.git", "")], "not the folder"),
            (&[("main/.git/worktrees/one/commondir", "ROOT/two", "")], "not the folder"),
        ];
        for (changes, expected) in cases {
            let project = joined();
            for (path, text, how) in changes {
                if *how == "make" {
                    fs::create_dir_all(project.path(path).parent().unwrap()).unwrap();
                }
                write(&project, path, text);
            }
            let why = linked(&project.path("one")).unwrap_err();
            assert!(why.contains(expected), "{changes:?}: {why}");
        }
    }

    #[test]
    fn what_is_no_worktree_is_nothing() {
        let project = Project::new().dir("a/.git").file("b/.git", "something else\n").dir("c");
        for folder in ["a", "b", "c"] {
            assert_eq!(linked(&project.path(folder)), Ok(None), "{folder}");
        }
        std::os::unix::fs::symlink("../b/.git", project.path("c/.git")).unwrap();
        assert_eq!(linked(&project.path("c")), Ok(None), "a link");
    }

    #[test]
    fn what_belongs_to_somebody_else_is_refused() {
        if need(Fact::Root) == Need::Skip {
            return;
        }
        let nobody = Some(65534);
        for path in ["one/.git", "main/.git/worktrees/one/gitdir", "main/.git/worktrees/one"] {
            let project = joined();
            chown(project.path(path), nobody, nobody).unwrap();
            assert!(linked(&project.path("one")).is_err(), "{path}");
        }
        let project = joined();
        chown(project.path("main/.git"), nobody, nobody).unwrap();
        assert_eq!(linked(&project.path("one")), Err("it is not yours"));
    }
}
