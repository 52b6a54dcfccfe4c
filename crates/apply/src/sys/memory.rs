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

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::ops::Range;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::idle::{self, PAGE};

/// How much room there is, and how much of it the kernel is asked for at once.
const ROOM: usize = 1 << 20;
const STEP: usize = 64 << 10;

/// The largest piece, and what all sizes are multiples of.
const LARGEST: usize = 32 << 10;
const GRAIN: usize = 16;

/// The memory of this program, if it serves one command.
static OWN: OnceLock<&'static (dyn Own + Sync)> = OnceLock::new();

/// Memory that can be given back.
pub(super) trait Own {
    /// Returns where the room is.
    fn room(&self) -> Range<usize>;

    /// Gives back the pages of the room that nobody uses.
    fn give_back(&self);
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
}

// SAFETY: the ledger is used by one thread only, and the room in pieces that it tells apart.
unsafe impl<A: Sync> Sync for Memory<A> {}

impl<A> Memory<A> {
    /// Hands out small pieces until the room is full, and everything else from `rest`.
    pub const fn over(rest: A) -> Self {
        let freed = [ptr::null_mut(); LARGEST / GRAIN + 1];
        Self {
            rest,
            owner: AtomicUsize::new(0),
            room: UnsafeCell::new(Room([0; ROOM])),
            ledger: UnsafeCell::new(Ledger { used: 0, given: 0, freed }),
        }
    }

    /// Returns whether a piece lies in the room.
    fn holds(&self, piece: *mut u8) -> bool {
        let start = self.room.get().addr();
        (start..start + ROOM).contains(&piece.addr())
    }

    /// Does something with the ledger, if the room is this thread's.
    fn with<T>(&self, act: impl FnOnce(&mut Ledger) -> T) -> Option<T> {
        let here = HERE.with(|here| ptr::from_ref(here).addr());
        let relaxed = Ordering::Relaxed;
        let owner = self.owner.load(relaxed);
        let first = || self.owner.compare_exchange(0, here, relaxed, relaxed).is_ok();
        if owner != here && !(owner == 0 && first()) {
            return None;
        }
        // SAFETY: no other thread gets here: one that began where an ended one was comes after it.
        // `act` neither allocates nor unwinds.
        Some(act(unsafe { &mut *self.ledger.get() }))
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
    fn room(&self) -> Range<usize> {
        let start = self.room.get().expose_provenance();
        start..start + ROOM
    }

    fn give_back(&self) {
        let room = self.room.get().cast::<u8>();
        self.with(|ledger| ledger.give_back(room));
    }
}

/// Returns the size that a piece really has, in grains; none if it is not handed out here.
fn grains(layout: Layout) -> Option<usize> {
    let small = layout.size() <= LARGEST && layout.align() <= GRAIN;
    small.then(|| layout.size().div_ceil(GRAIN).max(1))
}

impl Ledger {
    /// Hands out a piece of the room that begins at `room`; null if none is left.
    fn take(&mut self, room: *mut u8, grains: usize) -> *mut u8 {
        let Some(freed) = self.freed.get_mut(grains) else { return ptr::null_mut() };
        if !freed.is_null() {
            let piece = *freed;
            // SAFETY: it was freed, so it is ours, and it begins with an address, at a multiple of
            // `GRAIN`.
            *freed = unsafe { piece.cast::<*mut u8>().read() };
            return piece;
        }
        let (start, end) = (self.used, self.used + grains * GRAIN);
        if end > ROOM {
            return ptr::null_mut();
        }
        if end > self.given {
            self.ask(room);
        }
        self.used = end;
        room.wrapping_add(start)
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
    }

    /// Gives back whole pages that are free. What begins or ends in them is not handed out again.
    fn give_back(&mut self, room: *mut u8) {
        let mut free = [0; ROOM / PAGE];
        let mut count = |piece: Range<usize>| {
            for (page, free) in pages(&piece).zip(free.iter_mut().skip(piece.start / PAGE)) {
                *free += page.end.min(piece.end) - page.start.max(piece.start);
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
            while !rest.is_null() {
                let piece = rest;
                // SAFETY: as above.
                rest = unsafe { piece.cast::<*mut u8>().read() };
                let start = piece.addr() - room.addr();
                let mut pages = free.iter().skip(start / PAGE);
                let last = (start + grains * GRAIN - 1) / PAGE;
                if pages.by_ref().take(last + 1 - start / PAGE).all(|free| *free < PAGE) {
                    self.put(room, piece, grains);
                }
            }
        }
        let start = room.expose_provenance();
        let is_free = |page: &Range<usize>| free.get((page.start - start) / PAGE) == Some(&PAGE);
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
                self.with(|ledger| ledger.put(room, piece, grains));
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
mod tests {
    use std::alloc::System;
    use std::thread;

    use super::*;

    fn layout(size: usize) -> Layout {
        Layout::from_size_align(size, 8).unwrap()
    }

    #[test]
    fn pieces_are_whole_apart_and_used_again() {
        static MEMORY: Memory<System> = Memory::over(System);
        let memory = &MEMORY;
        let mut pieces = Vec::new();
        for size in (1..6000).step_by(47).chain([30_000, LARGEST, LARGEST + 1, 90_000]) {
            // SAFETY: the size is not zero, and the piece is as long.
            let piece = unsafe { memory.alloc_zeroed(layout(size)) };
            assert_eq!(memory.holds(piece), size <= LARGEST, "{size}");
            // SAFETY: as above.
            unsafe { piece.write_bytes(size.to_le_bytes()[0], size) };
            pieces.push((piece, size));
        }
        for (piece, size) in &mut pieces {
            // SAFETY: it was handed out with this size.
            *piece = unsafe { memory.realloc(*piece, layout(*size), *size * 2) };
            // SAFETY: it is as long.
            let bytes = unsafe { std::slice::from_raw_parts(*piece, *size) };
            assert!(bytes.iter().all(|byte| *byte == size.to_le_bytes()[0]), "{size}");
        }
        for (piece, size) in pieces {
            // SAFETY: it was handed out with this size.
            unsafe { memory.dealloc(piece, layout(size * 2)) };
        }
        let used = memory.with(|ledger| ledger.used).unwrap();
        for _ in 0..1000 {
            // SAFETY: the size is not zero.
            let piece = unsafe { memory.alloc_zeroed(layout(100)) };
            // SAFETY: it is as long.
            let bytes = unsafe { std::slice::from_raw_parts(piece, 100) };
            assert!(bytes.iter().all(|byte| *byte == 0));
            // SAFETY: it was handed out with this size.
            unsafe { memory.dealloc(piece, layout(100)) };
        }
        assert!(memory.with(|ledger| ledger.used).unwrap() <= used + 112, "nothing grows");
    }

    #[test]
    fn a_full_room_is_no_end_and_alignment_is_kept() {
        static MEMORY: Memory<System> = Memory::over(System);
        let memory = &MEMORY;
        let aligned = Layout::from_size_align(64, 256).unwrap();
        // SAFETY: the size is not zero.
        let piece = unsafe { memory.alloc(aligned) };
        assert_eq!(piece.addr() % 256, 0);
        // SAFETY: it was handed out with this layout.
        unsafe { memory.dealloc(piece, aligned) };
        let pieces: Vec<_> = (0..ROOM / LARGEST + 10)
            // SAFETY: the size is not zero.
            .map(|_| unsafe { memory.alloc(layout(LARGEST)) })
            .collect();
        assert!(pieces.iter().all(|piece| !piece.is_null()));
        assert_eq!(pieces.iter().filter(|piece| memory.holds(**piece)).count(), ROOM / LARGEST);
        for piece in pieces {
            // SAFETY: it was handed out with this size.
            unsafe { memory.dealloc(piece, layout(LARGEST)) };
        }
    }

    #[test]
    fn threads_do_not_get_the_same_piece() {
        static MEMORY: Memory<System> = Memory::over(System);
        let memory = &MEMORY;
        thread::scope(|scope| {
            for mark in 1..=4_u8 {
                scope.spawn(move || {
                    for size in (16..900).cycle().take(20_000) {
                        // SAFETY: the size is not zero.
                        let piece = unsafe { memory.alloc(layout(size)) };
                        // SAFETY: it is as long.
                        unsafe { piece.write_bytes(mark, size) };
                        // SAFETY: it is as long.
                        let bytes = unsafe { std::slice::from_raw_parts(piece, size) };
                        assert!(bytes.iter().all(|byte| *byte == mark));
                        // SAFETY: it was handed out with this size.
                        unsafe { memory.dealloc(piece, layout(size)) };
                    }
                });
            }
        });
    }

    #[test]
    fn pages_that_nobody_uses_are_given_back_and_the_rest_stays() {
        static MEMORY: Memory<System> = Memory::over(System);
        let memory = &MEMORY;
        let take = |size| {
            // SAFETY: the size is not zero.
            let piece = unsafe { memory.alloc(layout(size)) };
            // SAFETY: it is as long.
            unsafe { piece.write_bytes(7, size) };
            piece
        };
        let pieces: Vec<(*mut u8, usize)> =
            (16..2000).step_by(8).map(|size| (take(size), size)).collect();
        // The last quarter stays, and one of every forty before it.
        let stays = |number: usize| number * 4 > pieces.len() * 3 || number.is_multiple_of(40);
        for (number, (piece, size)) in pieces.iter().enumerate() {
            if !stays(number) {
                // SAFETY: it was handed out with this size, and is not used again.
                unsafe { memory.dealloc(*piece, layout(*size)) };
            }
        }
        let before = resident(memory);
        memory.give_back();
        let after = resident(memory);
        assert!(after < before * 3 / 4, "{before} pages before, {after} after");
        for _ in 0..3 {
            let again: Vec<_> = (16..2000).step_by(24).map(|size| (take(size), size)).collect();
            let stayed = pieces.iter().enumerate().filter(|(number, _)| stays(*number));
            for (piece, size) in stayed.map(|(_, piece)| *piece) {
                // SAFETY: it is still handed out.
                let bytes = unsafe { std::slice::from_raw_parts(piece, size) };
                assert!(bytes.iter().all(|byte| *byte == 7), "{size}");
            }
            for (piece, size) in again {
                assert!(memory.holds(piece));
                // SAFETY: it was handed out with this size, and is not used again.
                unsafe { memory.dealloc(piece, layout(size)) };
            }
            memory.give_back();
        }
    }

    /// Returns how many pages of the room there are.
    fn resident<A>(memory: &Memory<A>) -> usize {
        let mut pages = [0_u8; ROOM / PAGE];
        // SAFETY: the room is mapped, and there is a byte for each of its pages.
        let done = unsafe { libc::mincore(memory.room.get().cast(), ROOM, pages.as_mut_ptr()) };
        assert_eq!(done, 0);
        pages.iter().filter(|page| **page & 1 == 1).count()
    }

    #[test]
    fn what_another_thread_frees_is_not_handed_out_again() {
        static MEMORY: Memory<System> = Memory::over(System);
        // SAFETY: the size is not zero.
        let piece = unsafe { MEMORY.alloc(layout(100)) }.expose_provenance();
        thread::spawn(move || {
            let piece = ptr::with_exposed_provenance_mut::<u8>(piece);
            // SAFETY: it was handed out with this size, and nobody else uses it.
            let moved = unsafe { MEMORY.realloc(piece, layout(100), 200) };
            assert!(!MEMORY.holds(moved), "the room is not this thread's");
            // SAFETY: it was handed out with this size.
            unsafe { MEMORY.dealloc(moved, layout(200)) };
        })
        .join()
        .unwrap();
        // SAFETY: the size is not zero.
        let next = unsafe { MEMORY.alloc(layout(100)) };
        assert!(MEMORY.holds(next) && next.addr() != piece);
        // SAFETY: it was handed out with this size.
        unsafe { MEMORY.dealloc(next, layout(100)) };
    }
}
