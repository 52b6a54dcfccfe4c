//! Files that are as long as a file may be.

use std::os::fd::BorrowedFd;
use std::path::Path;

use palisade_plan::{Access, Plan, Step};
use rustix::fs::{AtFlags, CWD, FileType, Stat, Timespec};

use super::touched::{is_since, left};
use super::walk::{Walk, listed, walk};

/// Returns whether a file of exactly this length was written since `since`, where the plan lets files
/// be written or in `tmp`. Nobody has to know which: a shell tells only that something ended.
pub(super) fn has_one(
    plan: &Plan,
    since: Timespec,
    tmp: Option<BorrowedFd<'_>>,
    length: u64,
) -> bool {
    let is_one = |stat: Stat| {
        FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
            && u64::try_from(stat.st_size) == Ok(length)
            && is_since(&stat, since)
    };
    let is_at = |folder: BorrowedFd<'_>, path: &Path| {
        rustix::fs::statat(folder, path, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(is_one)
    };
    let in_tmp = |tmp: BorrowedFd<'_>| {
        left(tmp).iter().any(|path| path.strip_prefix("/tmp").is_ok_and(|name| is_at(tmp, name)))
    };
    if tmp.is_some_and(in_tmp) {
        return true;
    }
    let trees = plan.steps().iter().filter_map(|step| {
        let Step::Keep(keep) = step else { return None };
        (keep.access == Access::Write).then(|| keep.path.clone())
    });
    let mut trees = trees.peekable();
    if trees.peek().is_none() {
        return true; // without a namespace for mounts nobody lists them: the number is believed
    }
    let mut found = false;
    walk(
        trees,
        |folder| listed(folder).ok(),
        |seen| {
            found |= seen.kind == FileType::RegularFile && is_at(CWD, &seen.path());
            if found { Walk::Past } else { Walk::Into }
        },
    );
    found
}
