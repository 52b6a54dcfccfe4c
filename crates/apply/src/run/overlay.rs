//! Overlays: folders without some of their names, and folders that keep what is written elsewhere.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};

use rustix::fs::{AtFlags, Mode};
use rustix::io::{Errno, Result};
use rustix::mount::MountFlags;

use crate::sys::{mount, straight};

/// Mounts the folder in `tree` at `at`, under a layer that says which names do not exist.
pub(super) fn hide(
    tree: &OwnedFd,
    at: &CStr,
    mode: u32,
    names: &[CString],
    between: &[(CString, u32)],
) -> Result<()> {
    let place = mount::find(at)?;
    // An overlay takes only what lies in this namespace, and a tree with other owners comes from
    // outside: it is put in place first, where the overlay then covers it.
    mount::attach_at(tree.as_fd(), place.as_fd())?;
    let layer = mount::detached_memory()?;
    rustix::fs::chmodat(layer.as_fd(), c".", Mode::from_raw_mode(mode), AtFlags::empty())?;
    for (folder, mode) in between {
        rustix::fs::mkdirat(layer.as_fd(), folder.as_c_str(), Mode::from_raw_mode(*mode))?;
    }
    for name in names {
        mount::whiteout(layer.as_fd(), name)?;
    }
    for (folder, _) in between.iter().rev() {
        same_times(tree, &layer, folder)?;
    }
    same_times(tree, &layer, c".")?;
    let mut text = Text::new();
    text.push(b"lowerdir=/proc/self/fd/")?;
    text.push_number(layer.as_raw_fd())?;
    text.push(b":/proc/self/fd/")?;
    text.push_number(tree.as_raw_fd())?;
    let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
    // Somewhere, where the overlay then covers it too: letting go of a mount that is nowhere makes
    // the kernel wait for all of its processors.
    mount::attach_at(layer.as_fd(), place.as_fd())?;
    fresh_at(c"overlay", &place, flags, text.as_c_str()?)
}

/// Mounts what is at `at` under the layer in `tree`, which takes what is written.
pub(super) fn cache(tree: &OwnedFd, at: &CStr) -> Result<()> {
    let lower = mount::find(at)?;
    // The layer must lie in this namespace. Here it is covered at once, and nobody finds it.
    mount::attach_at(tree.as_fd(), lower.as_fd())?;
    // An overlay takes a copy of what it is given without the mounts below: a link here would lead
    // around those that protect something.
    let upper = straight::folder_in(tree.as_fd(), c"upper")?;
    let work = straight::folder_in(tree.as_fd(), c"work")?;
    let mut text = Text::new();
    for (name, layer) in
        [(&b"lowerdir"[..], &lower), (&b",upperdir"[..], &upper), (&b",workdir"[..], &work)]
    {
        text.push(name)?;
        text.push(b"=/proc/self/fd/")?;
        text.push_number(layer.as_raw_fd())?;
    }
    // Marks of an ordinary user: others are for root alone.
    text.push(b",userxattr")?;
    fresh_at(c"overlay", &lower, MountFlags::NOSUID | MountFlags::NODEV, text.as_c_str()?)
}

/// Mounts a new filesystem of `kind` at a place that was opened.
fn fresh_at(kind: &CStr, at: &OwnedFd, flags: MountFlags, data: &CStr) -> Result<()> {
    let mut path = Text::new();
    path.push(b"/proc/self/fd/")?;
    path.push_number(at.as_raw_fd())?;
    mount::fresh(kind, path.as_c_str()?, flags, data)
}

/// Gives a folder of the layer the times of the one it stands before.
fn same_times(tree: &OwnedFd, layer: &OwnedFd, folder: &CStr) -> Result<()> {
    use rustix::fs::{Timespec, Timestamps};
    let stat = rustix::fs::statat(tree, folder, AtFlags::SYMLINK_NOFOLLOW)?;
    let time =
        |seconds, nanos| Timespec { tv_sec: seconds, tv_nsec: i64::try_from(nanos).unwrap_or(0) };
    let times = Timestamps {
        last_access: time(stat.st_atime, stat.st_atime_nsec),
        last_modification: time(stat.st_mtime, stat.st_mtime_nsec),
    };
    rustix::fs::utimensat(layer, folder, &times, AtFlags::SYMLINK_NOFOLLOW)
}

/// A short text on the stack.
struct Text {
    bytes: [u8; 160],
    length: usize,
}

impl Text {
    fn new() -> Self {
        Self { bytes: [0; 160], length: 0 }
    }

    fn push(&mut self, text: &[u8]) -> Result<()> {
        let end = self.length + text.len();
        // One byte stays zero, to end the text.
        if end >= self.bytes.len() {
            return Err(Errno::NAMETOOLONG);
        }
        let room = self.bytes.get_mut(self.length..end).ok_or(Errno::NAMETOOLONG)?;
        room.copy_from_slice(text);
        self.length = end;
        Ok(())
    }

    fn push_number(&mut self, number: i32) -> Result<()> {
        let mut digits = [b'0'; 10];
        let mut rest = number.unsigned_abs();
        let mut used = 0;
        for digit in digits.iter_mut().rev() {
            *digit = b'0' + u8::try_from(rest % 10).unwrap_or(0);
            rest /= 10;
            used += 1;
            if rest == 0 {
                break;
            }
        }
        self.push(digits.get(10 - used..).unwrap_or_default())
    }

    fn as_c_str(&self) -> Result<&CStr> {
        CStr::from_bytes_until_nul(&self.bytes).map_err(|_| Errno::INVAL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_without_memory() {
        for number in [0, 7, 10, 1024, i32::MAX] {
            let mut text = Text::new();
            text.push(b"fd/").unwrap();
            text.push_number(number).unwrap();
            assert_eq!(text.as_c_str().unwrap().to_str().unwrap(), format!("fd/{number}"));
        }
        assert_eq!(Text::new().push(&[b'x'; 160]), Err(Errno::NAMETOOLONG));
    }
}
