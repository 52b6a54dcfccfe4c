//! Giving memory back while nothing happens.
//!
//! Who waits for a command needs little of what its start took. Programs whose memory is ours
//! ([`Memory::serves_one`](super::memory::Memory::serves_one)) give the rest back once a wait takes
//! long: a page that is needed after all comes back with its content, or is one that nobody uses.
//!
//! The first process of the sandbox began as a copy of the one that waits, and goes on in one function
//! that needs next to nothing: it keeps that and nothing else.

use std::ops::Range;
use std::ptr;

use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, Result};

use super::memory;

/// The only size of a page that this is done with.
pub(super) const PAGE: usize = 4 << 10;

/// How many mappings are given back at most; a static program has ten.
const MOST: usize = 40;

/// Pages beside a place that is in use, which may be in use too.
const MARGIN: usize = 2 * PAGE;

/// What is left below a place on the stack to the functions that give the rest back.
const BELOW: usize = 1 << 10;

/// Whether memory is given back in this process.
pub(crate) fn is_wanted() -> bool {
    memory::own().is_some()
}

/// What is asked for from here on lies together, until memory is given back: what stays for long and
/// is made anew leaves the pages that it shared with much that was freed.
pub(crate) fn gather() {
    memory::own().into_iter().for_each(memory::Own::gather);
}

/// Gives back what is not in use, in the process that waits. Nothing that anybody can see is lost.
pub(crate) fn give_back() {
    let Some(own) = memory::own() else { return };
    own.give_back();
    let found = found();
    let here = here();
    // Code last: what runs here brings some of it back.
    for range in found.iter(Of::Stack).filter(|range| range.contains(&here)) {
        // SAFETY: the unused end of the stack that this thread is on. Nothing lies there but what
        // functions that have returned left behind.
        unsafe { give(range.start..floor(here.saturating_sub(BELOW))) };
    }
    for range in found.iter(Of::Code) {
        // SAFETY: pages of a file that nobody has changed come back from the file.
        unsafe { give(range) };
    }
}

/// Gives back what a thread of ours that waits has used of its stack before, of the bytes below that
/// are its own for sure.
pub(crate) fn give_back_stack(own: usize) {
    if !is_wanted() {
        return;
    }
    let found = found();
    let here = here();
    for range in found.iter(Of::Anonymous).filter(|range| range.contains(&here)) {
        // A page that nobody may touch need not end the mapping (madvise(2), `MADV_GUARD_INSTALL`):
        // behind it may be the memory of others.
        let start = range.start.max(floor(here.saturating_sub(own)) + PAGE);
        // SAFETY: the caller has that much of its stack below here, so there is nothing but its unused
        // end, and what functions that have returned left there.
        unsafe { give(start..floor(here.saturating_sub(BELOW)).max(start)) };
    }
}

/// Gives back all that a copy of a process does not need which goes on in one function and never
/// returns from it: everything but its frame, below the variable `top` of its caller, what C functions
/// keep for the thread, and variables of the program.
///
/// Only in a process with memory of its own (no `CLONE_VM`), whose only thread this is, and which
/// does not allocate any more.
pub(crate) fn keep_only(top: usize) {
    let Some(own) = memory::own() else { return };
    let found = found();
    let here = here();
    // SAFETY: the call takes nothing, and returns an address of this thread.
    let thread = unsafe { libc::__errno_location() }.addr();
    let used = [
        floor(here).saturating_sub(MARGIN)..floor(top) + 2 * PAGE,
        floor(thread).saturating_sub(MARGIN)..floor(thread) + PAGE + MARGIN,
    ];
    let is_used = |page: &Range<usize>| used.iter().any(|used| meet(used, page));
    let anonymous = found.iter(Of::Stack).chain(found.iter(Of::Anonymous)).chain([own.all()]);
    for unused in anonymous.flat_map(|range| runs(range, |page| !is_used(page))) {
        // SAFETY: the caller never uses what lies here again, and no other process has this memory.
        unsafe { give(unused) };
    }
    for range in found.iter(Of::Code) {
        // SAFETY: pages of a file that nobody has changed come back from the file.
        unsafe { give(range) };
    }
}

/// Whether two stretches of memory have a byte in common.
fn meet(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

/// Returns where something lies.
pub(crate) fn place<T>(things: &[T]) -> Range<usize> {
    let things = things.as_ptr_range();
    things.start.addr()..things.end.addr()
}

/// Returns the longest stretches of pages that are all like this.
pub(super) fn runs(
    within: Range<usize>,
    is: impl Fn(&Range<usize>) -> bool,
) -> impl Iterator<Item = Range<usize>> {
    let mut next = within.start;
    std::iter::from_fn(move || {
        let ends_where = |wanted: bool, mut at: usize| {
            while at < within.end && is(&(at..at + PAGE)) != wanted {
                at += PAGE;
            }
            at
        };
        let start = ends_where(true, next);
        next = ends_where(false, start);
        (start < next).then_some(start..next)
    })
}

/// Lets the kernel have pages: what lay there is gone, or comes back from its file.
///
/// # Safety
///
/// Nobody relies on what lies there, or all of it is as in its file.
pub(super) unsafe fn give(pages: Range<usize>) {
    let start = ptr::with_exposed_provenance_mut(pages.start);
    let length = pages.end.saturating_sub(pages.start);
    // SAFETY: as the caller promised. What is not mapped comes back as an error, and stays so.
    unsafe { libc::madvise(start, length, libc::MADV_DONTNEED) };
}

/// Returns a place on the stack, below which only this function and those it calls are.
#[inline(never)]
pub(super) fn here() -> usize {
    let here = 0_u8;
    ptr::from_ref(std::hint::black_box(&here)).addr()
}

pub(super) fn floor(place: usize) -> usize {
    place - place % PAGE
}

/// What a mapping is of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Of {
    /// A file that is not written here, as it is on the disk.
    Code,
    /// The stack that the process began with.
    Stack,
    /// Nothing else, and it is written here alone.
    Anonymous,
    /// Something that stays: variables of programs, what others see, what the kernel put there.
    Other,
}

/// Mappings of this process.
#[derive(Debug)]
struct Found {
    ranges: [(usize, usize, Of); MOST],
    number: usize,
}

impl Found {
    fn iter(&self, of: Of) -> impl Iterator<Item = Range<usize>> {
        let found = self.ranges.iter().take(self.number);
        found.filter(move |one| one.2 == of).map(|(start, end, _)| *start..*end)
    }

    fn add(&mut self, mapping: &Mapping) {
        if let Some(free) = self.ranges.get_mut(self.number).filter(|_| mapping.of != Of::Other) {
            *free = (mapping.start, mapping.end, mapping.of);
            self.number += 1;
        }
    }
}

/// Finds the mappings of this process; those after a line that is too long are left out. It
/// allocates nothing, and its own room on the stack is free again when it returns.
#[inline(never)]
fn found() -> Found {
    let mut found = Found { ranges: [(0, 0, Of::Other); MOST], number: 0 };
    let (mut mapping, mut last) = (None, 0);
    let told = each_line(|line| {
        if let Some(next) = Mapping::read(line, last) {
            // Variables may lie in several mappings, one behind the other.
            if next.is_file || next.start == last {
                last = next.end;
            }
            mapping = Some(next);
        } else if let Some(changed) = line.strip_prefix(b"Anonymous:") {
            let is_as_in_file = changed.trim_ascii() == b"0 kB";
            let known = mapping.take().filter(|known| known.of != Of::Code || is_as_in_file);
            known.iter().for_each(|known| found.add(known));
        }
    });
    // Half of it is as good as all.
    told.ok();
    found
}

/// What the first line of a mapping says.
#[derive(Debug)]
struct Mapping {
    start: usize,
    end: usize,
    of: Of,
    is_file: bool,
}

impl Mapping {
    /// Reads a line of `/proc/self/smaps`, if it is one that begins a mapping; `last` is the end of
    /// the last mapping of a file. What follows one without a gap are its variables.
    fn read(line: &[u8], last: usize) -> Option<Self> {
        let mut words = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
        let (start, end) = std::str::from_utf8(words.next()?).ok()?.split_once('-')?;
        let (start, end) =
            (usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?);
        let mode = words.next()?;
        let (inode, name) = (words.nth(2)?, words.next());
        let is_file = inode != b"0";
        let of = match (mode, is_file, name) {
            (b"r-xp" | b"r--p", true, _) => Of::Code,
            (b"rw-p", false, Some(b"[stack]")) => Of::Stack,
            (b"rw-p", false, None | Some(b"[heap]")) if start != last => Of::Anonymous,
            _ => Of::Other,
        };
        Some(Self { start, end, of, is_file })
    }
}

/// Goes through the lines of `/proc/self/smaps`.
fn each_line(mut does: impl FnMut(&[u8])) -> Result<()> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = rustix::fs::open(c"/proc/self/smaps", flags, Mode::empty())?;
    let mut room = [0_u8; 4096];
    let mut length = 0;
    loop {
        let free = room.get_mut(length..).filter(|free| !free.is_empty()).ok_or(Errno::NOBUFS)?;
        let read = rustix::io::read(&file, free)?;
        if read == 0 {
            return Ok(());
        }
        length += read;
        let known = room.get(..length).unwrap_or_default();
        let whole = known.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let lines = known.get(..whole).unwrap_or_default();
        lines.split(|byte| *byte == b'\n').for_each(&mut does);
        room.copy_within(whole..length, 0);
        length -= whole;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_told_by_its_line() {
        let of = |line: &str| Mapping::read(line.as_bytes(), 0x3000).map(|it| it.of);
        let file = "fe:00 12   /bin/x y";
        assert_eq!(of(&format!("1000-2000 r-xp 00000000 {file}")), Some(Of::Code));
        assert_eq!(of(&format!("1000-2000 r--p 00000000 {file}")), Some(Of::Code));
        assert_eq!(of(&format!("1000-2000 rw-p 00000000 {file}")), Some(Of::Other));
        assert_eq!(of("7000-8000 rw-p 00000000 00:00 0 "), Some(Of::Anonymous));
        assert_eq!(of("7000-8000 rw-p 00000000 00:00 0     [heap]"), Some(Of::Anonymous));
        assert_eq!(of("7000-8000 rw-p 00000000 00:00 0     [stack]"), Some(Of::Stack));
        assert_eq!(of("3000-8000 rw-p 00000000 00:00 0 "), Some(Of::Other), "variables");
        for other in ["rw-s", "---p", "r--p", "r-xp", "rwxp"] {
            assert_eq!(of(&format!("7000-8000 {other} 0 00:00 0 ")), Some(Of::Other), "{other}");
        }
        for none in
            ["", "Rss:   4 kB", "Anonymous:   0 kB", "1000-2000", "1000-2000 rw-p", "z-1 rw-p"]
        {
            assert_eq!(of(none), None, "{none}");
        }
    }

    #[test]
    fn this_process_has_code_memory_and_variables() {
        static VARIABLE: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(1);
        let found = found();
        let within = |of, place: usize| found.iter(of).any(|range| range.contains(&place));
        let variable = ptr::from_ref(&VARIABLE).addr();
        let code = this_process_has_code_memory_and_variables as fn() as usize;
        assert!(within(Of::Code, code));
        assert!(within(Of::Anonymous, here()), "the stack of a thread");
        for of in [Of::Code, Of::Anonymous, Of::Stack] {
            assert!(!within(of, variable), "{of:?}");
        }
    }

    #[test]
    fn pages_that_are_alike_make_one_stretch() {
        let found = |within: Range<usize>, like: &[usize]| -> Vec<Range<usize>> {
            let pages = runs(within.start * PAGE..within.end * PAGE, |page| {
                assert_eq!(page.end - page.start, PAGE);
                like.contains(&(page.start / PAGE))
            });
            pages.map(|run| run.start / PAGE..run.end / PAGE).collect()
        };
        assert_eq!(found(2..9, &[1, 2, 3, 5, 8, 9]), [2..4, 5..6, 8..9]);
        assert_eq!(found(2..9, &[3, 4]), vec![3..5]);
        assert!(found(2..9, &[]).is_empty());
        assert!(found(2..2, &[2]).is_empty());
    }

    #[test]
    fn nothing_is_given_back_where_nobody_said_so() {
        assert!(!is_wanted(), "the memory of a test is not ours");
        let stays = vec![7_u8; 1 << 20];
        give_back();
        give_back_stack(1 << 20);
        keep_only(here());
        assert!(stays.iter().all(|byte| *byte == 7));
    }

    #[test]
    fn stretches_meet_in_at_least_a_byte() {
        assert!(meet(&(1..3), &(2..9)) && meet(&(2..9), &(1..3)) && meet(&(1..9), &(4..5)));
        assert!(!meet(&(1..3), &(3..9)) && !meet(&(3..9), &(1..3)));
    }
}
