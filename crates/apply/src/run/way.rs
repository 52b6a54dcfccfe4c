//! Where a path leads, link by link.
//!
//! What the kernel would follow at once is followed step by step, for two reasons: which links lie on
//! the way matters, because a command may have made them; and a folder that its own user has shut
//! is no end of the way, because a command may have shut it.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use super::lent::Lent;

/// As many links as the kernel follows.
const MOST: usize = 40;

/// Where a path leads.
#[derive(Debug)]
pub(super) struct Way {
    /// The same place, free of links.
    pub(super) real: PathBuf,
    /// The links that lead there, each with its folders free of links.
    pub(super) links: Vec<PathBuf>,
    /// What lies there.
    pub(super) found: Metadata,
}

/// Follows a path to its end.
pub(super) fn follow(path: &Path, lent: &mut Lent) -> io::Result<Way> {
    let mut links = Vec::new();
    let (real, found) = followed(path, lent, &mut links)?;
    Ok(Way { real, links, found })
}

/// Returns the links on the way to where a path leads, as far as it leads anywhere, each with its
/// folders free of links.
pub fn links_to(path: &Path) -> Vec<PathBuf> {
    let mut links = Vec::new();
    followed(path, &mut Lent::nothing(), &mut links).ok();
    links
}

fn followed(
    path: &Path,
    lent: &mut Lent,
    links: &mut Vec<PathBuf>,
) -> io::Result<(PathBuf, Metadata)> {
    let mut real = PathBuf::from("/");
    let mut left: VecDeque<OsString> = parts(path).collect();
    while let Some(part) = left.pop_front() {
        if part == ".." {
            real.pop();
            continue;
        }
        let at = real.join(&part);
        let found = look(&real, &at, lent)?;
        if !found.is_symlink() {
            if !found.is_dir() && !left.is_empty() {
                return Err(ErrorKind::NotADirectory.into());
            }
            real = at;
            continue;
        }
        let to = fs::read_link(&at)?;
        links.push(at);
        if links.len() > MOST {
            return Err(rustix::io::Errno::LOOP.into());
        }
        if to.is_absolute() {
            real = PathBuf::from("/");
        }
        for part in parts(&to).collect::<Vec<_>>().into_iter().rev() {
            left.push_front(part);
        }
    }
    let found = fs::symlink_metadata(&real)?;
    Ok((real, found))
}

/// Looks at a name in a folder, which is lent the right to be entered if it is ours and lacks it.
pub(super) fn look(folder: &Path, name: &Path, lent: &mut Lent) -> io::Result<Metadata> {
    match fs::symlink_metadata(name) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            lent.look_into(folder)?;
            fs::symlink_metadata(name)
        }
        found => found,
    }
}

fn parts(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use palisade_testkit::Project;

    use super::*;

    #[test]
    fn a_way_ends_where_the_kernel_says_and_knows_its_links() {
        let project = Project::new()
            .file("a/b/file", "x")
            .symlink("to-a", "a")
            .symlink("a/up", "..")
            .symlink("a/b/far", "../../to-a/b/file")
            .symlink("gone", "nowhere")
            .symlink("round", "round");
        let root = project.root();
        std::os::unix::fs::symlink(root.join("a/b"), root.join("whole")).unwrap();
        for (path, links) in [
            ("a/b/file", &[][..]),
            ("to-a/b/file", &["to-a"]),
            ("to-a/up/a/b", &["to-a", "a/up"]),
            ("a/b/far", &["a/b/far", "to-a"]),
            ("whole/../b/file", &["whole"]),
        ] {
            let path = root.join(path);
            let mut lent = Lent::anywhere();
            let way = follow(&path, &mut lent).unwrap();
            assert_eq!(way.real, path.canonicalize().unwrap(), "{path:?}");
            let expected: Vec<_> = links.iter().map(|link| root.join(link)).collect();
            assert_eq!(way.links, expected, "{path:?}");
            assert_eq!(links_to(&path), expected, "{path:?}");
        }
        for path in ["gone", "round", "a/b/file/x", "missing/x"] {
            assert!(follow(&root.join(path), &mut Lent::anywhere()).is_err(), "{path}");
        }
        assert_eq!(links_to(&root.join("to-a/missing/x")), [root.join("to-a")]);
    }
}
