//! Bytes that wait for somebody: all connections together keep no more than there is room for.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What connections keep together before each has to make do with little.
const PLENTY: usize = 8 << 20;

/// What one may keep then.
pub(super) const LITTLE: usize = 1 << 10;

/// What is read at once while there is plenty.
pub(super) const MUCH: usize = 64 << 10;

/// How much is kept, by all.
#[derive(Clone, Debug, Default)]
pub(super) struct Larder(Arc<AtomicUsize>);

/// What one connection keeps.
#[derive(Debug)]
pub(super) struct Kept {
    bytes: Vec<u8>,
    counted: usize,
    larder: Larder,
}

impl Larder {
    /// Begins with nothing.
    pub(super) fn keep(&self) -> Kept {
        Kept { bytes: Vec::new(), counted: 0, larder: self.clone() }
    }

    /// How much may be read at once, as it may have to be kept.
    pub(super) fn piece(&self) -> usize {
        if self.is_full() { LITTLE } else { MUCH }
    }

    /// How much is kept by all.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    fn is_full(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= PLENTY
    }
}

impl Kept {
    /// Puts bytes behind what is there.
    pub(super) fn add(&mut self, more: &[u8]) {
        let length = self.bytes.len().saturating_add(more.len());
        if length > self.bytes.capacity() {
            // As much as is needed: doubling would keep twice of what a client sends bit by bit.
            let room = length.next_multiple_of(LITTLE);
            self.bytes.reserve_exact(room.saturating_sub(self.bytes.len()));
        }
        self.bytes.extend_from_slice(more);
        self.recount();
    }

    /// Takes bytes off the start.
    pub(super) fn take(&mut self, length: usize) -> Self {
        let behind = self.bytes.split_off(length.min(self.bytes.len()));
        let bytes = std::mem::replace(&mut self.bytes, behind);
        self.recount();
        let mut taken = self.larder.keep();
        taken.bytes = bytes;
        taken.recount();
        taken
    }

    /// Forgets bytes at the start.
    pub(super) fn skip(&mut self, length: usize) {
        drop(self.take(length));
    }

    /// Forgets everything, and keeps no memory for it.
    pub(super) fn clear(&mut self) {
        self.bytes = Vec::new();
        self.recount();
    }

    /// Forgets everything behind a length.
    pub(super) fn truncate(&mut self, length: usize) {
        self.bytes.truncate(length);
    }

    /// Whether no more may be kept here: all keep much, and this one has its share.
    pub(super) fn is_full(&self) -> bool {
        self.bytes.len() >= LITTLE && self.larder.is_full()
    }

    fn recount(&mut self) {
        let now = self.bytes.capacity();
        self.larder.0.fetch_add(now, Ordering::Relaxed);
        self.larder.0.fetch_sub(self.counted, Ordering::Relaxed);
        self.counted = now;
    }
}

impl Deref for Kept {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.larder.0.fetch_sub(self.counted, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_counted_as_long_as_it_is() {
        let larder = Larder::default();
        let mut kept = larder.keep();
        assert_eq!(larder.held(), 0);
        for _ in 0..3000 {
            kept.add(b"x");
        }
        assert_eq!((kept.len(), larder.held()), (3000, 3 * LITTLE));
        let taken = kept.take(1000);
        assert_eq!((taken.len(), kept.len(), larder.held()), (1000, 2000, 3 * LITTLE + 2000));
        drop(taken);
        assert_eq!(larder.held(), 2000);
        kept.skip(1999);
        kept.clear();
        assert_eq!((kept.len(), larder.held()), (0, 0));
    }

    #[test]
    fn where_much_is_kept_each_may_keep_little() {
        let larder = Larder::default();
        let mut all = Vec::new();
        while larder.piece() == MUCH {
            let mut kept = larder.keep();
            kept.add(&[0; MUCH]);
            all.push(kept);
        }
        assert_eq!((all.len(), larder.piece()), (PLENTY / MUCH, LITTLE));
        let mut late = larder.keep();
        late.add(&[0; LITTLE - 1]);
        assert!(!late.is_full() && all[0].is_full());
        late.add(&[0]);
        assert!(late.is_full());
        all.truncate(2);
        assert!(!late.is_full() && larder.piece() == MUCH);
    }
}
