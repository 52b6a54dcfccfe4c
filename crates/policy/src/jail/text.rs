//! Paths as text.

use crate::command::Holed as _;
use crate::text::byte;

/// Returns whether `path` is `folder` or lies below it. Both are absolute and normal.
pub(super) fn is_under(path: &str, folder: &str) -> bool {
    below(path, folder).is_some()
}

/// Returns what comes after `folder` in `path`, without the slash between them.
pub(super) fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    // `/` is the only folder that is written with a slash behind it.
    let length = folder.len() - usize::from(folder.as_bytes().last() == Some(&b'/'));
    // Nearly every path is told by what stands where the folder would end.
    match path.as_bytes().get(length) {
        None | Some(b'/') => {}
        Some(_) => return None,
    }
    let rest = path.strip_prefix(folder.get(..length)?)?;
    Some(rest.strip_prefix('/').unwrap_or(rest))
}

/// Appends `names` to the normal path `path`, resolving `.` and `..` by text.
pub(super) fn append(path: &mut String, names: &str) {
    for name in names.split('/') {
        match name {
            "" | "." => {}
            ".." => path.truncate(path.rfind('/').unwrap_or_default()),
            name => {
                path.push('/');
                path.push_str(name);
            }
        }
    }
}

/// Returns whether `path` is absolute and known to the end.
pub(super) fn is_settled(path: &str) -> bool {
    // Nearly no path has a NUL, or the first byte of a hole.
    let is_odd = byte::has_either(path, 0, 0xEF);
    path.starts_with('/') && !(is_odd && (path.has_hole() || byte::has(path, 0)))
}

/// Returns whether `name` is a number, as the folders of processes are named.
pub(super) fn is_number(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}
