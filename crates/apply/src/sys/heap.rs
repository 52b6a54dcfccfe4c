//! Letting go of heaps that a copy of a process does not need.

use std::ops::Range;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, Result};

use super::descriptor::close;
use super::raw;

/// `struct procmap_query` of linux/fs.h: what lies at an address.
#[repr(C)]
#[derive(Default)]
struct Mapping {
    size: u64,
    asked: u64,
    address: u64,
    start: u64,
    end: u64,
    flags: u64,
    page: u64,
    offset: u64,
    inode: u64,
    device: [u32; 2],
    sizes: [u32; 2],
    texts: [u64; 2],
}

/// `PROCMAP_QUERY`, of Linux 6.11.
const QUERY: usize = 0xc068_6611;

/// The flags of memory that is read, written, not executed, and not shared.
const READ_AND_WRITTEN: u64 = 3;

/// Fewer pages than this between two that are kept are not worth a call.
const GAP: usize = 3;

/// Unmaps what memory these addresses lie in, but for what is to be kept, in order, and where that
/// memory also holds something that every process needs. In a copy of a process only, whose only
/// thread this is: it must not use any of that memory afterwards.
pub(crate) fn let_go(heaps: &[usize], kept: &[Range<usize>]) -> Result<()> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let maps = rustix::fs::open(c"/proc/self/maps", flags, Mode::empty())?;
    let mut heaps = heaps.iter().filter(|heap| **heap != 0);
    let done = heaps.try_for_each(|heap| match heap_at(maps.as_fd(), *heap)? {
        Some((heap, page)) => unmap(&heap, page, kept),
        None => Ok(()),
    });
    close(maps);
    done
}

/// Returns where the heap at an address begins and ends, and the size of its pages. What holds our
/// stack or the memory of our thread is none, nor is what may be a program's data: it lies right
/// behind what comes from a file, and a heap may lie right behind it.
fn heap_at(maps: BorrowedFd<'_>, address: usize) -> Result<Option<(Range<usize>, usize)>> {
    let Some(found) = mapping(maps, address)? else { return Ok(None) };
    let number = |number: u64| usize::try_from(number).map_err(|_| Errno::RANGE);
    let (heap, page) = (number(found.start)?..number(found.end)?, number(found.page)?);
    let here = 0_u8;
    // SAFETY: the call returns the address of this thread's errno.
    let errno = unsafe { libc::__errno_location() };
    let is_ours = [(&raw const here).addr(), errno.addr()].iter().any(|at| heap.contains(at));
    let is_heap = found.inode == 0 && found.flags == READ_AND_WRITTEN && page.is_power_of_two();
    if is_ours || !is_heap {
        return Ok(None);
    }
    let before = mapping(maps, heap.start.saturating_sub(1))?;
    Ok(before.is_none_or(|before| before.inode == 0).then_some((heap, page)))
}

/// Returns what is mapped at an address, if anything is.
fn mapping(maps: BorrowedFd<'_>, address: usize) -> Result<Option<Mapping>> {
    let size = size_of::<Mapping>() as u64;
    let mut found = Mapping { size, address: address as u64, ..Mapping::default() };
    let (number, to) = (maps.as_raw_fd().unsigned_abs() as usize, &raw mut found);
    // SAFETY: the kernel reads and writes as many bytes of `found` as it says itself; it asks for no
    // texts. A kernel that does not know the call answers with an error.
    match unsafe { raw::call(libc::SYS_ioctl, [number, QUERY, to.expose_provenance(), 0, 0]) } {
        Ok(_) => Ok(Some(found)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno),
    }
}

fn unmap(heap: &Range<usize>, page: usize, kept: &[Range<usize>]) -> Result<()> {
    let mut from = heap.start;
    for piece in kept.iter().chain([&(heap.end..heap.end)]) {
        let to = (piece.start & !(page - 1)).min(heap.end);
        if to >= from.saturating_add(GAP * page) {
            // SAFETY: whole pages of memory that the caller does not use again. What is no such
            // address comes back as an error.
            unsafe { raw::call(libc::SYS_munmap, [from, to - from, 0, 0, 0]) }?;
        }
        from = from.max(piece.end.next_multiple_of(page));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use palisade_testkit::{Turn, in_child};

    use super::*;

    /// Returns which pages of these bytes are mapped.
    fn mapped(bytes: &[u8]) -> Vec<bool> {
        let maps = rustix::fs::open(c"/proc/self/maps", OFlags::RDONLY, Mode::empty()).unwrap();
        let pages = bytes.as_ptr_range().start.addr()..bytes.as_ptr_range().end.addr();
        pages.step_by(4096).map(|page| mapping(maps.as_fd(), page).unwrap().is_some()).collect()
    }

    #[test]
    fn a_heap_goes_but_for_what_is_kept() {
        // In a process of its own, whose memory nobody else uses.
        if in_child("sys::heap::tests::a_heap_goes_but_for_what_is_kept", r#"exec "$@""#)
            == Turn::Done
        {
            return;
        }
        let pages = 40;
        // Far larger than what the C library takes from its own heap: a mapping by itself.
        let memory = vec![1_u8; (pages + 2) * 4096].leak();
        let start = memory.as_ptr().addr().next_multiple_of(4096);
        let all = start..start + pages * 4096;
        let own = &memory[start - memory.as_ptr().addr()..][..pages * 4096];
        assert_eq!(mapped(own), [true].repeat(pages));
        let at = |page: usize| start + page * 4096;
        // Two on one page, one across two, one that lies in another, one that is elsewhere.
        #[rustfmt::skip]
        let kept = [
            1..2, at(3) + 7..at(3) + 9, at(3) + 90..at(3) + 99, at(10) - 1..at(10) + 1,
            at(20)..at(24), at(21)..at(22), at(26)..at(27),
        ];
        unmap(&all, 4096, &kept).unwrap();
        // Two pages between others are left where they are.
        let expected = |page| matches!(page, 3 | 9 | 10 | 20..=26);
        assert_eq!(mapped(own), (0..pages).map(expected).collect::<Vec<_>>());
        assert_eq!(own[3 * 4096 + 7], 1);
    }

    #[test]
    fn neither_a_stack_nor_data_nor_code_is_a_heap() {
        static DATA: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let (here, boxed) = (0_u8, vec![0_u8; 4 << 20]);
        let maps = rustix::fs::open(c"/proc/self/maps", OFlags::RDONLY, Mode::empty()).unwrap();
        let is_heap = |address| heap_at(maps.as_fd(), address).unwrap().is_some();
        assert!(!is_heap((&raw const here).addr()), "our stack");
        assert!(!is_heap((&raw const DATA).addr()), "our data");
        assert!(!is_heap(mapped as *const () as usize), "our code");
        assert!(!is_heap(4096), "nothing");
        assert!(is_heap(boxed.as_ptr().addr()), "a heap is one");
    }
}
