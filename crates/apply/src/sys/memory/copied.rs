//! The room while another process has a copy of it.
//!
//! The first write to a page that two processes have is a fault that copies the page, and interrupts
//! other processors. Whoever has started a sandbox mostly frees: so from the copy on, pieces come
//! from pages that it does not have, and what is freed of the others is noted elsewhere.

use std::ops::Range;

use super::{GRAIN, LARGEST, Ledger, ROOM};

/// What was handed out and freed since.
#[derive(Debug)]
pub(super) struct Since {
    /// The pages that the copy does not have.
    pub(super) ledger: Ledger,
    /// A bit for each grain of the others that was freed.
    noted: [u64; ROOM / GRAIN / 64],
}

impl Since {
    pub(super) const fn new() -> Self {
        Self { ledger: Ledger::new(), noted: [0; ROOM / GRAIN / 64] }
    }

    /// Returns the ledger of the pages from `begin` on.
    pub(super) fn ledger(&mut self, begin: usize) -> &mut Ledger {
        let ledger = &mut self.ledger;
        // Not before it is needed: what is written then is written after the copy was made.
        if ledger.given == 0 {
            (ledger.used, ledger.given) = (begin, begin);
        }
        ledger
    }

    /// Notes that a piece of the other pages was freed.
    pub(super) fn note(&mut self, start: usize, grains: usize) {
        for grain in start / GRAIN..start / GRAIN + grains {
            if let Some(word) = self.noted.get_mut(grain / 64) {
                *word |= 1 << (grain % 64);
            }
        }
    }

    /// Puts everything that is free into the ledger of the whole room: there is no copy any more, or
    /// it no longer matters.
    pub(super) fn settle(&mut self, begin: usize, whole: &mut Ledger, room: *mut u8) {
        let ledger = self.ledger(begin);
        ledger.shelve(room);
        for grains in 0..=LARGEST / GRAIN {
            while let Some(piece) = ledger.again(grains) {
                whole.put(room, piece, grains);
            }
        }
        // Given, and never handed out.
        let gap = std::mem::replace(&mut whole.used, ledger.used)..begin;
        whole.given = ledger.given;
        whole.put_all(room, gap);
        (ledger.used, ledger.given) = (0, 0);
        while let Some(freed) = self.next_noted() {
            whole.put_all(room, freed);
        }
    }

    /// Takes the next stretch that was noted.
    fn next_noted(&mut self) -> Option<Range<usize>> {
        let word = self.noted.iter().position(|word| *word != 0)?;
        let start = word * 64 + self.noted.get(word)?.trailing_zeros() as usize;
        let mut end = start;
        while let Some(word) =
            self.noted.get_mut(end / 64).filter(|word| **word >> (end % 64) & 1 == 1)
        {
            *word &= !(1 << (end % 64));
            end += 1;
        }
        Some(start * GRAIN..end * GRAIN)
    }
}
