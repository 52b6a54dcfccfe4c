//! Taking output from a command: into memory up to a cap, or on to a descriptor.

use std::fs::File;
use std::io::{PipeReader, Read as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use palisade_plan::{Bounds, Kept};

use super::kept::Buffer;
use super::outcome::Stream;

/// A thread that takes one stream.
#[derive(Debug)]
pub(super) struct Pump {
    thread: JoinHandle<Stream>,
    taken: Arc<AtomicU64>,
}

/// Where a stream goes.
pub(super) enum To {
    Memory,
    Descriptor(File),
}

impl Pump {
    /// Starts to take what comes.
    pub(super) fn start(mut from: PipeReader, to: To, bounds: Bounds) -> Self {
        let taken = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&taken);
        let thread = thread::spawn(move || {
            let mut sink = Sink::new(to, bounds);
            let mut piece = vec![0; 64 << 10];
            while let Ok(length @ 1..) = from.read(&mut piece) {
                counted.fetch_add(length as u64, Ordering::Relaxed);
                sink.take(piece.get(..length).unwrap_or_default());
            }
            sink.finish()
        });
        Self { thread, taken }
    }

    /// Returns how many bytes came so far.
    pub(super) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Returns what was kept, once the last process that could write has ended.
    pub(super) fn finish(self) -> Stream {
        self.thread.join().unwrap_or_default()
    }

    /// Whether everything was taken.
    pub(super) fn is_done(&self) -> bool {
        self.thread.is_finished()
    }
}

/// What a stream is poured into.
struct Sink {
    to: Option<File>,
    buffer: Buffer,
    /// How many bytes may still be passed on as they come.
    left: u64,
    keep: Kept,
    dropped: u64,
}

impl Sink {
    fn new(to: To, bounds: Bounds) -> Self {
        let (to, cap) = match to {
            To::Memory => (None, bounds.output),
            To::Descriptor(file) => (Some(file), bounds.streamed),
        };
        let cap = cap.unwrap_or(u64::MAX);
        let keep = if to.is_some() && cap == u64::MAX { Kept::Head } else { bounds.keep };
        Self { to, buffer: Buffer::new(cap, keep), left: cap, keep, dropped: 0 }
    }

    fn take(&mut self, bytes: &[u8]) {
        match (&mut self.to, self.keep) {
            (Some(to), Kept::Head) => {
                let passed = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
                to.write_all(bytes.get(..passed).unwrap_or_default()).ok();
                self.left -= passed as u64;
                self.dropped += (bytes.len() - passed) as u64;
            }
            // The last bytes can only be told at the end.
            (None, _) | (Some(_), Kept::Tail) => self.buffer.push(bytes),
        }
    }

    fn finish(self) -> Stream {
        let Self { to, mut buffer, dropped, .. } = self;
        buffer.lose(dropped);
        let stream = buffer.finish();
        let Some(mut to) = to else { return stream };
        if let Some(marker) = stream.marker() {
            writeln!(to, "{marker}").ok();
        }
        to.write_all(&stream.bytes).ok();
        Stream { bytes: Vec::new(), dropped: stream.dropped }
    }
}
