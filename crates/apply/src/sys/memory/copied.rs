//! The room while another process has a copy of it.
//!
//! The first write to a page that two processes have is a fault that copies the page, and interrupts
//! other processors. Whoever has started a sandbox mostly frees: so from the copy on, pieces come
//! from pages that it does not have, and what is freed of the others is noted elsewhere.

//!
//! The same is done while what stays is moved together: pieces come from one stretch that is free, so
//! that the pages are free afterwards on which it lay before, each between much that was freed.

use std::ops::Range;

use super::{GRAIN, LARGEST, Ledger, PAGE, ROOM, STEP, idle};

/// How many grains a word of the notes tells of, and how many words tell of a page.
const WORD: usize = u64::BITS as usize;
const WORDS: usize = PAGE / GRAIN / WORD;

/// What was handed out and freed since.
#[derive(Debug)]
#[repr(C, align(4096))]
pub(super) struct Since {
    /// The pages that the copy does not have.
    pub(super) ledger: Ledger,
    /// A bit for each grain of the others that was freed.
    noted: [u64; ROOM / GRAIN / WORD],
    /// Whether pieces come from what was never handed out, while what stays is moved together.
    from_end: bool,
}

impl Since {
    pub(super) const fn new() -> Self {
        Self { ledger: Ledger::new(), noted: [0; ROOM / GRAIN / WORD], from_end: false }
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
            if let Some(word) = self.noted.get_mut(grain / WORD) {
                *word |= 1 << (grain % WORD);
            }
        }
    }

    /// Hands out pieces of the longest stretch of free pages alone, from now on, and notes all else
    /// that is free.
    pub(super) fn gather(&mut self, whole: &mut Ledger, room: *mut u8) {
        whole.shelve(room);
        for grains in 0..=LARGEST / GRAIN {
            while let Some(piece) = whole.again(grains) {
                self.note(piece.addr() - room.addr(), grains);
            }
        }
        let of = |page: &Range<usize>| page.start / PAGE * WORDS..page.end / PAGE * WORDS;
        let is_free = |page: &Range<usize>| {
            let words = self.noted.get(of(page)).unwrap_or_default();
            words.iter().all(|word| *word == u64::MAX)
        };
        let inner = idle::runs(0..ROOM, is_free).max_by_key(Range::len).unwrap_or_default();
        self.from_end = inner.len() <= ROOM - whole.used;
        let stretch = if self.from_end {
            std::mem::replace(&mut whole.used, ROOM)..ROOM
        } else {
            let words = self.noted.get_mut(of(&inner));
            words.into_iter().flatten().for_each(|word| *word = 0);
            inner
        };
        // Behind it nothing is handed out.
        (self.ledger.used, self.ledger.given, self.ledger.rest) = (ROOM, ROOM, stretch);
    }

    /// Puts everything that is free into the ledger of the whole room: there is no copy any more, or
    /// it no longer matters.
    pub(super) fn settle(&mut self, begin: usize, whole: &mut Ledger, room: *mut u8) {
        let from_end = std::mem::take(&mut self.from_end);
        let ledger = self.ledger(begin);
        if begin == ROOM {
            let rest = std::mem::take(&mut ledger.rest);
            if from_end {
                whole.used = rest.start;
                whole.given = whole.given.max(rest.start.next_multiple_of(STEP));
            } else {
                whole.put_all(room, rest);
            }
        } else {
            ledger.shelve(room);
            Self::join(ledger, begin, whole, room);
        }
        (ledger.used, ledger.given) = (0, 0);
        while let Some(freed) = self.next_noted() {
            whole.put_all(room, freed);
        }
    }

    /// Puts what is free of the pages from `begin` on into the ledger of the whole room.
    fn join(ledger: &mut Ledger, begin: usize, whole: &mut Ledger, room: *mut u8) {
        for grains in 0..=LARGEST / GRAIN {
            while let Some(piece) = ledger.again(grains) {
                whole.put(room, piece, grains);
            }
        }
        // Given, and never handed out.
        let gap = std::mem::replace(&mut whole.used, ledger.used)..begin;
        whole.given = ledger.given;
        whole.put_all(room, gap);
    }

    /// Takes the next stretch that was noted.
    fn next_noted(&mut self) -> Option<Range<usize>> {
        let word = self.noted.iter().position(|word| *word != 0)?;
        let start = word * WORD + self.noted.get(word)?.trailing_zeros() as usize;
        let mut end = start;
        while let Some(word) =
            self.noted.get_mut(end / WORD).filter(|word| **word >> (end % WORD) & 1 == 1)
        {
            *word &= !(1 << (end % WORD));
            end += 1;
        }
        Some(start * GRAIN..end * GRAIN)
    }
}
