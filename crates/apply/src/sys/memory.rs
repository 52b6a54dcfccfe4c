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
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How much room there is, and how much of it the kernel is asked for at once.
const ROOM: usize = 1 << 20;
const STEP: usize = 64 << 10;

/// The largest piece, and what all sizes are multiples of.
const LARGEST: usize = 4 << 10;
const GRAIN: usize = 16;

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

    /// Asks the kernel for the next pages. One that cannot gives them one by one.
    fn ask(&mut self, room: *mut u8) {
        const POPULATE_WRITE: i32 = 23;
        let start = room.wrapping_add(self.given);
        // SAFETY: the pages are part of the room; to have them given changes nothing in them.
        unsafe { libc::madvise(start.cast(), STEP, POPULATE_WRITE) };
        self.given += STEP;
    }
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
        for size in (1..6000).step_by(19) {
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
