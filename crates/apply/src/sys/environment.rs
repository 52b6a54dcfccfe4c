//! The block of memory that /proc shows as a process's environment.

use std::fs::File;
use std::io::Read as _;
use std::ptr;
use std::sync::OnceLock;

/// Where the block begins, and how long it is; the same in every copy of this process.
static BLOCK: OnceLock<Option<(usize, usize)>> = OnceLock::new();

/// Finds the block. It is done once, while there is memory to do it with.
pub(crate) fn find() {
    BLOCK.get_or_init(|| parse(&stat()?));
}

fn stat() -> Option<String> {
    // Its size is not told, and what grows is read in many small pieces.
    let mut stat = String::with_capacity(1024);
    File::open("/proc/self/stat").ok()?.read_to_string(&mut stat).ok()?;
    Some(stat)
}

/// Empties the block, in a copy of this process that has no use for it. It allocates nothing.
pub(crate) fn wipe() {
    if let Some(Some((start, length))) = BLOCK.get().copied() {
        let start = ptr::with_exposed_provenance_mut::<u8>(start);
        // SAFETY: the kernel put the block there when the program started, writable, below the
        // stack, and nothing unmaps it. The caller is the only thread of its process, and nobody
        // reads the environment in it afterwards.
        unsafe { ptr::write_bytes(start, 0, length) };
    }
}

/// Returns the fields `env_start` and `env_end` of proc(5), stat, as a beginning and a length.
fn parse(stat: &str) -> Option<(usize, usize)> {
    // The name of the program, in brackets, may hold anything; 47 fields of numbers come before.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(47);
    let (start, end): (usize, usize) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    (start != 0).then(|| end.checked_sub(start).map(|length| (start, length)))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_is_found_where_the_kernel_says() {
        let stat = stat().unwrap();
        let (start, length) = parse(&stat).unwrap();
        assert_eq!(length, std::fs::read("/proc/self/environ").unwrap().len());
        assert_ne!(start, 0);
        for bad in ["", "1 (a) b)", "1 (x) S 1 2 3"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
