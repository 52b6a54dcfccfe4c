//! Memory for a program that lives for a moment.
//!
//! A start asks for some thousand small pieces, and a general allocator takes a quarter of all
//! instructions of the start to hand them out, while the kernel is asked for each of their pages as
//! it is touched. Here the first pieces come from one room whose pages the kernel gives at once;
//! freed ones are kept by size and used again. What is large, or comes when the room is full, comes
//! from another allocator.
//!
//! The room belongs to the first thread that asks, which needs no lock for it: locks would take
//! longer than the rest. Others have all of theirs from the other allocator; what they free of the
//! room is lost to it, and the room is small.

mod copied;

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::ops::Range;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::idle::{self, PAGE};
use copied::Since;

/// How much room there is, and how much of it the kernel is asked for at once.
const ROOM: usize = 4 << 20;
const STEP: usize = 64 << 10;

/// As many bytes as a page has.
const WHOLE: u16 = 4 << 10;

/// The largest piece, and what all sizes are multiples of.
const LARGEST: usize = 32 << 10;
const GRAIN: usize = 16;

/// Freed pieces of these sizes, in grains, are divided among those who ask for less, before more of
/// the room is used: each page of it costs as much as some thousand instructions. Larger ones are for
/// who asks for as much again.
const FEWEST: usize = 32;
const MOST: usize = 1300;

/// The memory of this program, if it serves one command.
static OWN: OnceLock<&'static (dyn Own + Sync)> = OnceLock::new();

/// Memory that can be given back.
pub(super) trait Own {
    /// Returns where the room is, and what is known of it.
    fn all(&self) -> Range<usize>;

    /// Until memory is given back, hands out pieces that lie together: what stays and is asked for
    /// anew leaves whole pages.
    fn gather(&self);

    /// Gives back the pages of the room that nobody uses.
    fn give_back(&self);

    /// Says that a process with a copy of the room is about to be made. Until memory is given back,
    /// its pages are left alone.
    fn is_copied(&self);
}

/// Says that a process is about to be made that has a copy of this one's memory.
pub(crate) fn is_copied() {
    own().into_iter().for_each(Own::is_copied);
}

/// Returns the memory of this program, if it serves one command.
pub(super) fn own() -> Option<&'static (dyn Own + Sync)> {
    OWN.get().copied()
}

thread_local! {
    /// Something that is elsewhere for each thread.
    static HERE: u8 = const { 0 };
}

/// An allocator that hands out small pieces itself and leaves the rest to another.
#[derive(Debug)]
pub struct Memory<A> {
    rest: A,
    /// Where the thread that has the room is; zero if none has it.
    owner: AtomicUsize,
    // Apart from each other: who has the one exclusively does not have the pieces of the other,
    // which belong to whoever asked for them.
    room: UnsafeCell<Room>,
    ledger: UnsafeCell<Ledger>,
    /// Where the pages begin that no copy of the room has; zero if there is none.
    copied: AtomicUsize,
    since: UnsafeCell<Since>,
}

#[derive(Debug)]
#[repr(C, align(4096))]
struct Room([u8; ROOM]);

#[derive(Debug)]
struct Ledger {
    /// How much was handed out, and how much the kernel has given.
    used: usize,
    given: usize,
    /// Freed pieces of each size: each begins with the address of the next.
    freed: [*mut u8; LARGEST / GRAIN + 1],
    /// A bit for each size of which there are freed pieces that may be divided, and one for each word
    /// of those that is not zero.
    sizes: [u64; MOST / 64 + 1],
    words: u32,
    /// What is left of the one that is being divided: where it begins and ends in the room.
    rest: Range<usize>,
}

// SAFETY: the ledger is used by one thread only, and the room in pieces that it tells apart.
unsafe impl<A: Sync> Sync for Memory<A> {}

impl<A> Memory<A> {
    /// Hands out small pieces until the room is full, and everything else from `rest`.
    pub const fn over(rest: A) -> Self {
        Self {
            rest,
            owner: AtomicUsize::new(0),
            room: UnsafeCell::new(Room([0; ROOM])),
            ledger: UnsafeCell::new(Ledger::new()),
            copied: AtomicUsize::new(0),
            since: UnsafeCell::new(Since::new()),
        }
    }

    /// Returns whether a piece lies in the room.
    fn holds(&self, piece: *mut u8) -> bool {
        let start = self.room.get().addr();
        (start..start + ROOM).contains(&piece.addr())
    }

    /// Does something with the ledger, if the room is this thread's.
    fn with<T>(&self, act: impl FnOnce(&mut Ledger) -> T) -> Option<T> {
        self.with_both(|ledger, since, copied| match copied {
            0 => act(ledger),
            begin => act(since.ledger(begin)),
        })
    }

    /// Does something with both ledgers, if the room is this thread's; the last is where the pages of
    /// the second begin, if there is a copy.
    fn with_both<T>(&self, act: impl FnOnce(&mut Ledger, &mut Since, usize) -> T) -> Option<T> {
        let here = HERE.with(|here| ptr::from_ref(here).addr());
        let relaxed = Ordering::Relaxed;
        let owner = self.owner.load(relaxed);
        let first = || self.owner.compare_exchange(0, here, relaxed, relaxed).is_ok();
        if owner != here && !(owner == 0 && first()) {
            return None;
        }
        // SAFETY: no other thread gets here: one that began where an ended one was comes after it.
        // `act` neither allocates nor unwinds.
        let ledger = unsafe { &mut *self.ledger.get() };
        // SAFETY: as above.
        let since = unsafe { &mut *self.since.get() };
        Some(act(ledger, since, self.copied.load(relaxed)))
    }
}

impl<A: Sync> Memory<A> {
    /// Says that this is the memory of a program that starts one command and waits for its end. While
    /// it waits for long, pages that are not in use go back to the kernel, also those of its stack
    /// and of its code.
    pub fn serves_one(&'static self) {
        // SAFETY: the call takes a number, and returns one.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        if usize::try_from(page) == Ok(PAGE) {
            OWN.get_or_init(|| self);
        }
    }
}

impl<A: Sync> Own for Memory<A> {
    fn all(&self) -> Range<usize> {
        // Whole pages: that is how the room is aligned.
        let start = ptr::from_ref(self).expose_provenance();
        start..start + size_of::<Self>()
    }

    fn gather(&self) {
        let room = self.room.get().cast::<u8>();
        self.with_both(|ledger, since, copied| {
            if copied > 0 {
                since.settle(copied, ledger, room);
            }
            since.gather(ledger, room);
            self.copied.store(ROOM, Ordering::Relaxed);
        });
    }

    fn give_back(&self) {
        let room = self.room.get().cast::<u8>();
        self.with_both(|ledger, since, copied| {
            if copied > 0 {
                since.settle(copied, ledger, room);
                self.copied.store(0, Ordering::Relaxed);
            }
            ledger.give_back(room);
            give_zeros(since);
            give_zeros(&mut ledger.freed);
        });
    }

    fn is_copied(&self) {
        self.with_both(|ledger, _, copied| {
            // Where next to nothing is left, it is better used as it is.
            if copied == 0 && ledger.given + 2 * STEP <= ROOM {
                self.copied.store(ledger.given, Ordering::Relaxed);
            }
        });
    }
}

/// Gives back the pages in which there is nothing but zeros anyway.
fn give_zeros<T>(within: &mut T) {
    let start = ptr::from_mut(within).expose_provenance();
    let whole = start.next_multiple_of(PAGE)..idle::floor(start + size_of::<T>());
    let is_zero = |page: &Range<usize>| {
        let words = ptr::with_exposed_provenance::<u64>(page.start);
        // SAFETY: the page lies within what we have for ourselves, and may hold anything.
        (0..PAGE / size_of::<u64>()).all(|word| unsafe { words.wrapping_add(word).read() } == 0)
    };
    for zeros in idle::runs(whole, is_zero) {
        // SAFETY: what comes back is what was there.
        unsafe { idle::give(zeros) };
    }
}

/// Returns the size that a piece really has, in grains; none if it is not handed out here.
fn grains(layout: Layout) -> Option<usize> {
    let small = layout.size() <= LARGEST && layout.align() <= GRAIN;
    small.then(|| layout.size().div_ceil(GRAIN).max(1))
}

impl Ledger {
    const fn new() -> Self {
        Self {
            used: 0,
            given: 0,
            freed: [ptr::null_mut(); LARGEST / GRAIN + 1],
            sizes: [0; MOST / 64 + 1],
            words: 0,
            rest: 0..0,
        }
    }

    /// Hands out a piece of the room that begins at `room`; null if none is left.
    fn take(&mut self, room: *mut u8, grains: usize) -> *mut u8 {
        if let Some(piece) = self.again(grains) {
            return piece;
        }
        let size = grains * GRAIN;
        if self.rest.len() < size {
            self.divide(room, grains);
        }
        if self.rest.len() >= size {
            let start = self.rest.start;
            self.rest.start += size;
            return room.wrapping_add(start);
        }
        let (start, end) = (self.used, self.used + size);
        if end > ROOM {
            return ptr::null_mut();
        }
        if end > self.given {
            self.ask(room);
        }
        self.used = end;
        room.wrapping_add(start)
    }

    /// Hands out a freed piece of just this size, if there is one.
    fn again(&mut self, grains: usize) -> Option<*mut u8> {
        let freed = self.freed.get_mut(grains).filter(|freed| !freed.is_null())?;
        let piece = *freed;
        // SAFETY: it was freed, so it is ours, and it begins with an address, at a multiple of
        // `GRAIN`.
        *freed = unsafe { piece.cast::<*mut u8>().read() };
        if freed.is_null() {
            self.mark(grains, false);
        }
        Some(piece)
    }

    /// Takes the smallest freed piece that is large enough to be divided; what was left of another is
    /// a freed piece like others.
    fn divide(&mut self, room: *mut u8, grains: usize) {
        if self.words == 0 || grains > MOST {
            return;
        }
        let fewest = grains.max(FEWEST);
        let bits = |word: usize| self.sizes.get(word).copied().unwrap_or(0);
        let (mut word, mut found) = (fewest / 64, bits(fewest / 64) & u64::MAX << (fewest % 64));
        if found == 0 {
            word = (self.words & (u32::MAX - 1) << word).trailing_zeros() as usize;
            found = bits(word);
        }
        if found == 0 {
            return;
        }
        let size = word * 64 + found.trailing_zeros() as usize;
        let Some(piece) = self.again(size) else { return };
        self.shelve(room);
        let start = piece.addr() - room.addr();
        self.rest = start..start + size * GRAIN;
    }

    /// Takes back what is left of a piece that was being divided.
    fn shelve(&mut self, room: *mut u8) {
        let rest = std::mem::take(&mut self.rest);
        if !rest.is_empty() {
            self.put(room, room.wrapping_add(rest.start), rest.len() / GRAIN);
        }
    }

    /// Notes whether there are freed pieces of a size that may be divided.
    fn mark(&mut self, grains: usize, has: bool) {
        if !(FEWEST..=MOST).contains(&grains) {
            return;
        }
        if let Some(bits) = self.sizes.get_mut(grains / 64) {
            let bit = 1 << (grains % 64);
            *bits = if has { *bits | bit } else { *bits & !bit };
            let word = 1 << (grains / 64);
            self.words = if *bits == 0 { self.words & !word } else { self.words | word };
        }
    }

    /// Takes a piece back.
    fn put(&mut self, room: *mut u8, piece: *mut u8, grains: usize) {
        let Some(freed) = self.freed.get_mut(grains) else { return };
        // All of it, of which the caller's address may mean the first byte alone.
        let piece = room.wrapping_add(piece.addr() - room.addr());
        // SAFETY: nobody uses the piece any more, it lies at a multiple of `GRAIN`, and is at least
        // as long as an address.
        unsafe { piece.cast::<*mut u8>().write(*freed) };
        *freed = piece;
        self.mark(grains, true);
    }

    /// Takes back a stretch of the room, however long.
    fn put_all(&mut self, room: *mut u8, free: Range<usize>) {
        for start in free.clone().step_by(LARGEST) {
            let size = LARGEST.min(free.end - start);
            self.put(room, room.wrapping_add(start), size / GRAIN);
        }
    }

    /// Gives back whole pages that are free. What begins or ends in them is not handed out again.
    fn give_back(&mut self, room: *mut u8) {
        self.shelve(room);
        let mut free = [0_u16; ROOM / PAGE];
        let mut count = |piece: Range<usize>| {
            for (page, free) in pages(&piece).zip(free.iter_mut().skip(piece.start / PAGE)) {
                let length = page.end.min(piece.end) - page.start.max(piece.start);
                *free += u16::try_from(length).unwrap_or(WHOLE);
            }
        };
        count(self.used..ROOM);
        for (grains, first) in self.freed.iter().enumerate() {
            let mut piece = *first;
            while !piece.is_null() {
                let start = piece.addr() - room.addr();
                count(start..start + grains * GRAIN);
                // SAFETY: it was freed, so it is ours, and begins with an address.
                piece = unsafe { piece.cast::<*mut u8>().read() };
            }
        }
        for grains in 0..self.freed.len() {
            // Where nothing is, nothing is written: that would be a page more.
            let first = self.freed.get_mut(grains).filter(|first| !first.is_null());
            let mut rest =
                first.map_or(ptr::null_mut(), |first| std::mem::replace(first, ptr::null_mut()));
            self.mark(grains, false);
            while !rest.is_null() {
                let piece = rest;
                // SAFETY: as above.
                rest = unsafe { piece.cast::<*mut u8>().read() };
                let start = piece.addr() - room.addr();
                let mut pages = free.iter().skip(start / PAGE);
                let last = (start + grains * GRAIN - 1) / PAGE;
                if pages.by_ref().take(last + 1 - start / PAGE).all(|free| *free < WHOLE) {
                    self.put(room, piece, grains);
                }
            }
        }
        let start = room.expose_provenance();
        let is_free = |page: &Range<usize>| free.get((page.start - start) / PAGE) == Some(&WHOLE);
        for unused in idle::runs(start..start + ROOM, is_free) {
            // SAFETY: nothing in these pages is handed out, and no freed piece in them is known.
            unsafe { idle::give(unused) };
        }
    }

    /// Asks the kernel for the next pages. One that cannot gives them one by one.
    fn ask(&mut self, room: *mut u8) {
        const POPULATE_WRITE: i32 = 23;
        let start = room.wrapping_add(self.given);
        // SAFETY: the pages are part of the room; to have them given changes nothing in them.
        unsafe { libc::madvise(start.cast(), STEP, POPULATE_WRITE) };
        self.given += STEP;
    }
}

/// Returns the pages of the room that a piece is in.
fn pages(piece: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let numbers = piece.start / PAGE..piece.end.div_ceil(PAGE);
    numbers.map(|number| number * PAGE..(number + 1) * PAGE)
}

// SAFETY: a piece is handed out to one caller at a time, at a multiple of `GRAIN`, and as long as
// asked for; who gets one back is told by where it lies. Everything else is up to `rest`.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Memory<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if let Some(grains) = grains(layout) {
            let room = self.room.get().cast::<u8>();
            let piece = self.with(|ledger| ledger.take(room, grains));
            if let Some(piece) = piece.filter(|piece| !piece.is_null()) {
                return piece;
            }
        }
        // SAFETY: as the caller promised.
        unsafe { self.rest.alloc(layout) }
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        match grains(layout) {
            Some(grains) if self.holds(piece) => {
                let room = self.room.get().cast::<u8>();
                let start = piece.addr() - room.addr();
                self.with_both(|ledger, since, copied| match copied {
                    0 => ledger.put(room, piece, grains),
                    begin if start < begin => since.note(start, grains),
                    begin => since.ledger(begin).put(room, piece, grains),
                });
            }
            // SAFETY: it is not ours, so it is theirs; else as the caller promised.
            Some(_) | None => unsafe { self.rest.dealloc(piece, layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if grains(layout).is_none() {
            // SAFETY: as the caller promised.
            return unsafe { self.rest.alloc_zeroed(layout) };
        }
        // SAFETY: as the caller promised.
        let piece = unsafe { self.alloc(layout) };
        if !piece.is_null() {
            // SAFETY: it was just handed out, and is this long.
            unsafe { piece.write_bytes(0, layout.size()) };
        }
        piece
    }

    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !self.holds(piece) {
            // SAFETY: it is not ours, so it is theirs; else as the caller promised.
            return unsafe { self.rest.realloc(piece, layout, size) };
        }
        // SAFETY: as the caller promised of `size`, and `align` is that of a layout.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        if grains(wanted) == grains(layout) {
            return piece;
        }
        // SAFETY: as the caller promised.
        let moved = unsafe { self.alloc(wanted) };
        if !moved.is_null() {
            let length = size.min(layout.size());
            // SAFETY: both are at least this long, and they are two.
            unsafe { moved.copy_from_nonoverlapping(piece, length) };
            // SAFETY: the caller has given it up.
            unsafe { self.dealloc(piece, layout) };
        }
        moved
    }
}

#[cfg(test)]
mod tests;
