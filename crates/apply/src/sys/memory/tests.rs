use std::alloc::System;
use std::collections::BTreeSet;
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
fn freed_pieces_are_divided_before_more_of_the_room_is_used() {
    static MEMORY: Memory<System> = Memory::over(System);
    let used = || MEMORY.with(|ledger| ledger.used).unwrap();
    let mut pieces: Vec<(*mut u8, usize, u8)> = Vec::new();
    // Some of every size, freed and asked for again in an order that is never the same.
    let mut number = 1_usize;
    for round in 0..6000_usize {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let largest = if round.is_multiple_of(9) { 20_000 } else { 300 };
        let (size, mark) = ((number >> 33) % largest + 1, round.to_le_bytes()[0]);
        // SAFETY: the size is not zero.
        let piece = unsafe { MEMORY.alloc(layout(size)) };
        // SAFETY: it is as long.
        unsafe { piece.write_bytes(mark, size) };
        pieces.push((piece, size, mark));
        if pieces.len() > 40 {
            let (piece, size, mark) = pieces.swap_remove((number >> 40) % 40);
            // SAFETY: it was handed out with this size.
            let bytes = unsafe { std::slice::from_raw_parts(piece, size) };
            assert!(bytes.iter().all(|byte| *byte == mark), "{size} at {round}");
            // SAFETY: as above.
            unsafe { MEMORY.dealloc(piece, layout(size)) };
        }
    }
    for (piece, size, _) in pieces {
        // SAFETY: it was handed out with this size.
        unsafe { MEMORY.dealloc(piece, layout(size)) };
    }
    let before = used();
    // SAFETY: the size is not zero.
    let small: Vec<*mut u8> = (0..50).map(|_| unsafe { MEMORY.alloc(layout(290)) }).collect();
    assert_eq!(used(), before, "what was freed is enough");
    for piece in small {
        // SAFETY: it was handed out with this size.
        unsafe { MEMORY.dealloc(piece, layout(290)) };
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
    are_resident(memory).iter().filter(|page| **page & 1 == 1).count()
}

/// Returns a byte for each page of the room, which is odd if the page is there.
fn are_resident<A>(memory: &Memory<A>) -> [u8; ROOM / PAGE] {
    let mut pages = [0_u8; ROOM / PAGE];
    // SAFETY: the room is mapped, and there is a byte for each of its pages.
    let done = unsafe { libc::mincore(memory.room.get().cast(), ROOM, pages.as_mut_ptr()) };
    assert_eq!(done, 0);
    pages
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

#[test]
fn pages_that_are_copied_are_left_alone_until_memory_is_given_back() {
    static MEMORY: Memory<System> = Memory::over(System);
    let take = |size, mark| {
        // SAFETY: the size is not zero.
        let piece = unsafe { MEMORY.alloc(layout(size)) };
        // SAFETY: it is as long.
        unsafe { piece.write_bytes(mark, size) };
        piece
    };
    let is_all = |piece: *mut u8, size, mark| {
        // SAFETY: it lies in the room, which is as long.
        let bytes = unsafe { std::slice::from_raw_parts(piece, size) };
        bytes.iter().all(|byte| *byte == mark)
    };
    // SAFETY: each was handed out with this size, and is not used again.
    let free = |piece, size| unsafe { MEMORY.dealloc(piece, layout(size)) };
    let old: Vec<(*mut u8, usize)> =
        (16..1200).step_by(24).map(|size| (take(size, 3), size)).collect();
    free(take(700, 9), 700);
    MEMORY.is_copied();
    let begin = MEMORY.copied.load(Ordering::Relaxed);
    let is_new = |piece: *mut u8| piece.addr() >= MEMORY.room.get().addr() + begin;
    assert!(begin > 0 && !old.iter().any(|(piece, _)| is_new(*piece)));
    let (freed, kept) = old.split_at(old.len() / 2);
    for (piece, size) in freed {
        free(*piece, *size);
        assert!(is_all(*piece, *size, 3), "{size}: nothing is written there");
    }
    for size in (16..1200).step_by(8) {
        let piece = take(size, 5);
        assert!(is_new(piece) && MEMORY.holds(piece), "{size}");
        free(piece, size);
    }
    // SAFETY: it was handed out with this size.
    let grown = unsafe { MEMORY.realloc(take(300, 6), layout(300), 3000) };
    assert!(is_new(grown) && is_all(grown, 300, 6));
    MEMORY.is_copied();
    assert_eq!(MEMORY.copied.load(Ordering::Relaxed), begin, "said twice");
    let before = resident(&MEMORY);
    MEMORY.give_back();
    assert!(resident(&MEMORY) < before, "{before} pages before");
    let again: Vec<(*mut u8, usize)> =
        (0..400).map(|number| (take(16 + number, 8), 16 + number)).collect();
    assert!(again.iter().any(|(piece, _)| !is_new(*piece)), "what was freed is handed out again");
    assert!(kept.iter().all(|(piece, size)| is_all(*piece, *size, 3)));
    assert!(is_all(grown, 300, 6));
    for (piece, size) in again.into_iter().chain(kept.iter().copied()).chain([(grown, 3000)]) {
        free(piece, size);
    }
}

/// Moves what stays together, and looks whether its old pages go and all of it is as before.
#[track_caller]
fn is_moved(memory: &'static Memory<System>) {
    const SIZE: usize = 100;
    // SAFETY: the size is not zero.
    let take = || unsafe { memory.alloc(layout(SIZE)) };
    // SAFETY: each was handed out with this size, and is not used again.
    let free = |piece| unsafe { memory.dealloc(piece, layout(SIZE)) };
    let (mut stay, mut go) = (Vec::new(), Vec::new());
    for number in (0..=u8::MAX).cycle().take(3000) {
        let piece = take();
        assert!(memory.holds(piece));
        // SAFETY: it is as long.
        unsafe { piece.write_bytes(number, SIZE) };
        if number % 30 == 0 { stay.push((piece, number)) } else { go.push(piece) }
    }
    go.into_iter().for_each(free);
    let page = |piece: *mut u8| (piece.addr() - memory.room.get().addr()) / PAGE;
    let old: BTreeSet<usize> = stay.iter().map(|(piece, _)| page(*piece)).collect();
    assert!(old.len() > 60, "{}", old.len());
    memory.gather();
    for (piece, _) in &mut stay {
        let moved = take();
        // SAFETY: both are as long, and they are two.
        unsafe { moved.copy_from_nonoverlapping(*piece, SIZE) };
        free(std::mem::replace(piece, moved));
    }
    let places = || stay.iter().map(|(piece, _)| piece.addr());
    let reach = places().max().unwrap() - places().min().unwrap();
    assert!(reach < stay.len() * (SIZE + GRAIN), "{reach}");
    memory.give_back();
    let pages = are_resident(memory);
    let left = old.iter().filter(|page| pages[**page] & 1 == 1).count();
    assert!(left <= 2, "{left} of {}", old.len());
    for _ in 0..2 {
        let more: Vec<_> = (0..500).map(|_| take()).collect();
        more.iter().for_each(|piece| assert!(!stay.iter().any(|(stays, _)| stays == piece)));
        for (piece, mark) in &stay {
            // SAFETY: it is as long.
            let bytes = unsafe { std::slice::from_raw_parts(*piece, SIZE) };
            assert!(bytes.iter().all(|byte| byte == mark));
        }
        more.into_iter().for_each(free);
        memory.give_back();
    }
    stay.into_iter().for_each(|(piece, _)| free(piece));
}

#[test]
fn what_stays_is_moved_together_to_the_end_of_what_was_used() {
    static MEMORY: Memory<System> = Memory::over(System);
    is_moved(&MEMORY);
    MEMORY.is_copied();
    is_moved(&MEMORY);
}

#[test]
fn what_stays_is_moved_together_in_a_full_room() {
    static MEMORY: Memory<System> = Memory::over(System);
    const SIZE: usize = LARGEST / 2;
    // SAFETY: the size is not zero.
    let take = || unsafe { MEMORY.alloc(layout(SIZE)) };
    let mut all: Vec<_> = (0..ROOM / SIZE).map(|_| take()).collect();
    assert!(MEMORY.holds(*all.last().unwrap()) && !MEMORY.holds(take()));
    for piece in all.drain(20..90) {
        // SAFETY: it was handed out with this size, and is not used again.
        unsafe { MEMORY.dealloc(piece, layout(SIZE)) };
    }
    is_moved(&MEMORY);
}
