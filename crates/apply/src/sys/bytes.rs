//! Copying and comparing the few bytes that most copies and comparisons are about.
//!
//! The C library of the static program copies everything by one instruction that takes longer to
//! begin than short copies take, and compares one byte at a time. A start makes some ten thousand
//! of both. The names are those that compilers call; the linker takes the first that it finds.
//!
//! Nothing here is a loop that a compiler could take for a copy and call itself for.

#![expect(
    clippy::multiple_unsafe_ops_per_block,
    reason = "each block is one promise: that of the caller about both ranges"
)]

use std::arch::asm;
use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_storeu_si128};
use std::ffi::c_int;

/// Copies `count` bytes between places that do not overlap.
///
/// # Safety
///
/// As memcpy(3).
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    // SAFETY: as the caller promises.
    unsafe {
        if count <= SHORT {
            short(to, from, count);
        } else {
            forwards(to, from, count);
        }
    }
    to
}

/// Copies `count` bytes between places that may overlap.
///
/// # Safety
///
/// As memmove(3).
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    // SAFETY: as the caller promises.
    unsafe {
        if count <= SHORT {
            short(to, from, count);
        } else if to.addr().wrapping_sub(from.addr()) >= count {
            forwards(to, from, count);
        } else {
            backwards(to, from, count);
        }
    }
    to
}

/// Compares `count` bytes, as unsigned numbers.
///
/// # Safety
///
/// As memcmp(3).
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn memcmp(one: *const u8, other: *const u8, count: usize) -> c_int {
    let mut at = 0;
    // SAFETY: all that is read lies in the first `count` bytes of both, which the caller promises
    // can be read.
    unsafe {
        while count - at >= 8 {
            let ours = u64::from_be_bytes(one.add(at).cast::<[u8; 8]>().read());
            let theirs = u64::from_be_bytes(other.add(at).cast::<[u8; 8]>().read());
            if ours != theirs {
                return if ours < theirs { -1 } else { 1 };
            }
            at += 8;
        }
        while at < count {
            let (ours, theirs) = (one.add(at).read(), other.add(at).read());
            if ours != theirs {
                return c_int::from(ours) - c_int::from(theirs);
            }
            at += 1;
        }
    }
    0
}

/// Tells whether `count` bytes differ.
///
/// # Safety
///
/// As bcmp(3).
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn bcmp(one: *const u8, other: *const u8, count: usize) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { memcmp(one, other, count) }
}

/// What is copied without asking the processor to repeat anything.
const SHORT: usize = 128;

/// Copies up to [`SHORT`] bytes: reads all of them, in pieces that may overlap, and then writes.
unsafe fn short(to: *mut u8, from: *const u8, count: usize) {
    /// Copies between one and two times the size of `T`.
    unsafe fn twice<T>(to: *mut u8, from: *const u8, count: usize) {
        let last = count - size_of::<T>();
        // SAFETY: both pieces lie in the first `count` bytes, and everything is read before
        // anything is written.
        unsafe {
            let first = from.cast::<T>().read_unaligned();
            let end = from.add(last).cast::<T>().read_unaligned();
            to.cast::<T>().write_unaligned(first);
            to.add(last).cast::<T>().write_unaligned(end);
        }
    }
    // SAFETY: each piece fits as `twice` demands.
    unsafe {
        match count {
            8..16 => twice::<u64>(to, from, count),
            16..=32 => wide::<1>(to, from, count),
            4..8 => twice::<u32>(to, from, count),
            33..=64 => wide::<2>(to, from, count),
            65.. => wide::<4>(to, from, count),
            2..4 => twice::<u16>(to, from, count),
            1 => to.write(from.read()),
            0 => {}
        }
    }
}

type Sixteen = __m128i;

/// Copies between `16 * N` and `32 * N` bytes.
unsafe fn wide<const N: usize>(to: *mut u8, from: *const u8, count: usize) {
    let last = count - 16 * N;
    // SAFETY: as for `twice`; the loops are unrolled.
    unsafe {
        let first: [Sixteen; N] =
            std::array::from_fn(|at| _mm_loadu_si128(from.add(16 * at).cast()));
        let end: [Sixteen; N] =
            std::array::from_fn(|at| _mm_loadu_si128(from.add(last + 16 * at).cast()));
        for (at, piece) in first.into_iter().enumerate() {
            _mm_storeu_si128(to.add(16 * at).cast(), piece);
        }
        for (at, piece) in end.into_iter().enumerate() {
            _mm_storeu_si128(to.add(last + 16 * at).cast(), piece);
        }
    }
}

unsafe fn forwards(to: *mut u8, from: *const u8, count: usize) {
    // SAFETY: the caller's promise; the direction flag is clear, as the ABI has it.
    unsafe {
        asm!("rep movsb", inout("rcx") count => _, inout("rdi") to => _, inout("rsi") from => _,
             options(nostack, preserves_flags));
    }
}

unsafe fn backwards(to: *mut u8, from: *const u8, count: usize) {
    // SAFETY: the caller's promise, from the last byte to the first; the flag is cleared again.
    unsafe {
        asm!("std", "rep movsb", "cld",
             inout("rcx") count => _, inout("rdi") to.add(count - 1) => _,
             inout("rsi") from.add(count - 1) => _, options(nostack));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: usize = 700;

    /// Bytes that differ from their neighbours.
    fn room() -> Vec<u8> {
        (0..=250).cycle().step_by(7).take(ROOM).collect()
    }

    #[test]
    fn every_length_is_copied_and_nothing_else_is_touched() {
        for count in 0..300 {
            for (to, from) in [(0, 350), (350, 0), (1, 353), (357, 3)] {
                let (mut ours, mut theirs) = (room(), room());
                theirs.copy_within(from..from + count, to);
                let start = ours.as_mut_ptr();
                // SAFETY: both ranges lie in the room, and apart.
                unsafe { memcpy(start.add(to), start.add(from), count) };
                assert_eq!(ours, theirs, "{count} bytes from {from} to {to}");
            }
        }
    }

    #[test]
    fn what_overlaps_is_copied_as_it_was() {
        for count in 0..300 {
            for (to, from) in
                [(100, 100), (100, 101), (101, 100), (100, 140), (140, 100), (90, 350)]
            {
                let (mut ours, mut theirs) = (room(), room());
                theirs.copy_within(from..from + count, to);
                let start = ours.as_mut_ptr();
                // SAFETY: both ranges lie in the room.
                unsafe { memmove(start.add(to), start.add(from), count) };
                assert_eq!(ours, theirs, "{count} bytes from {from} to {to}");
            }
        }
    }

    #[test]
    fn the_first_difference_decides() {
        let one = room();
        for count in 0..80 {
            let mut other = one.clone();
            let compared = |other: &[u8]| {
                // SAFETY: both are longer.
                unsafe { memcmp(one.as_ptr(), other.as_ptr(), count) }.signum()
            };
            assert_eq!(compared(&other), 0);
            for at in 0..count {
                for byte in [0, 127, 128, 255] {
                    other[at] = byte;
                    let expected = one[..count].cmp(&other[..count]) as c_int;
                    assert_eq!(compared(&other), expected, "{byte} at {at} of {count}");
                }
                other[at] = one[at];
            }
        }
    }
}
