//! The mounts that can be seen (proc(5), mountinfo).

use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use palisade_plan::Mount;

/// Returns every mount, in the kernel's order; none where that cannot be told, and never a part of
/// them. There is always one, and a plan is not made of none.
pub(super) fn read() -> Vec<Mount> {
    // The kernel does not say how long it is, and small pieces cost more than room for most.
    let mut text = Vec::with_capacity(16 << 10);
    // As a part of it, so that nobody asks for the length of the file.
    let read = File::open("/proc/self/mountinfo")
        .and_then(|file| file.take(u64::MAX).read_to_end(&mut text));
    read.ok().and_then(|_| parse(&text)).unwrap_or_default()
}

fn parse(text: &[u8]) -> Option<Vec<Mount>> {
    text.split(|byte| *byte == b'\n').filter(|it| !it.is_empty()).map(line).collect()
}

fn line(line: &[u8]) -> Option<Mount> {
    let mut words = line.split(|byte| *byte == b' ');
    let device = words.nth(2)?;
    let root = words.next()?;
    let point = words.next()?;
    let mut words = words.skip_while(|word| *word != b"-");
    let kind = words.nth(1)?;
    let layers = match kind {
        b"overlay" => layers(&words.nth(1).map(path).unwrap_or_default()),
        _ => Vec::new(),
    };
    Some(Mount {
        point: path(point),
        root: path(root),
        device: String::from_utf8_lossy(device).into_owned(),
        kind: String::from_utf8_lossy(kind).into_owned(),
        layers,
    })
}

/// Returns the folders that an overlay was made of, as its options tell; those below another's root
/// have paths that mean nothing here.
fn layers(options: &Path) -> Vec<PathBuf> {
    const KEYS: [&[u8]; 4] = [b"lowerdir=", b"lowerdir+=", b"datadir+=", b"upperdir="];
    let options = options.as_os_str().as_bytes().split(|byte| *byte == b',');
    let lists = options.filter_map(|option| KEYS.iter().find_map(|key| option.strip_prefix(*key)));
    let folders = lists.flat_map(|list| list.split(|byte| *byte == b':'));
    folders.filter(|folder| folder.starts_with(b"/")).map(path).collect()
}

/// Reads a path in which blanks and the like are written as `\040`.
fn path(word: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word;
    while let [first, tail @ ..] = rest {
        rest = tail;
        if let ([a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', after @ ..], b'\\') =
            (tail, first)
        {
            bytes.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
            rest = after;
        } else {
            bytes.push(*first);
        }
    }
    OsString::from_vec(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_the_kernel_writes_them() {
        let text = b"36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 - ext3 /dev/root rw\n\
            27 1 254:0 / / rw - ext4 /dev/vda rw\n";
        let mounts = parse(text).unwrap();
        let told: Vec<_> = mounts
            .iter()
            .map(|mount| format!("{} {} {}", mount.point.display(), mount.device, mount.kind))
            .collect();
        assert_eq!(told, ["/mnt 2 98:0 ext3", "/ 254:0 ext4"]);
        let overlay = b"9 1 0:40 / /m rw - overlay x rw,lowerdir=/home/a\\040b:/l:rel,upperdir=/u,workdir=/w\n";
        let overlay = parse(overlay).unwrap();
        assert_eq!(overlay[0].layers, ["/home/a b", "/l", "/u"].map(PathBuf::from));
        // One that is not understood may be the one that shows what is hidden.
        assert_eq!(parse(&[text, b"nonsense\n".as_slice()].concat()), None);
        assert_eq!(parse(b"36 35 98:0 /mnt1 /mnt rw,noatime master:1 ext3"), None);
    }
}
