//! Writing beside everything else: whoever reads what tasks print may stand still.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use crate::failure::Failure;

/// Text, and where it goes.
#[derive(Debug)]
pub(super) enum Piece {
    Out(String),
    Error(String),
}

/// A thread that writes. It is not waited for when this is dropped: it may never come back.
#[derive(Debug)]
pub(super) struct Printer {
    to: Sender<Vec<Piece>>,
    busy: Arc<AtomicBool>,
}

impl Printer {
    pub(super) fn new() -> Result<Self, Failure> {
        let (to, from) = mpsc::channel();
        let busy = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&busy);
        let begun = thread::Builder::new().spawn(move || write(&from, &flag));
        begun.map_err(|error| Failure::io("thread", "cannot start a thread", &error))?;
        Ok(Self { to, busy })
    }

    /// Whether everything was written that was handed over.
    pub(super) fn is_idle(&self) -> bool {
        !self.busy.load(Ordering::SeqCst)
    }

    /// Hands over what is to be written next, and does not wait.
    pub(super) fn print(&self, pieces: Vec<Piece>) {
        if !pieces.is_empty() {
            self.busy.store(true, Ordering::SeqCst);
            if self.to.send(pieces).is_err() {
                // Nobody writes any more, so that nothing is to be waited for.
                self.busy.store(false, Ordering::SeqCst);
            }
        }
    }
}

fn write(from: &Receiver<Vec<Piece>>, busy: &AtomicBool) {
    for pieces in from {
        for piece in pieces {
            // A reader that has seen enough is no failure.
            match piece {
                Piece::Out(text) => io::stdout().write_all(text.as_bytes()).ok(),
                Piece::Error(text) => io::stderr().write_all(text.as_bytes()).ok(),
            };
        }
        io::stdout().flush().ok();
        busy.store(false, Ordering::SeqCst);
    }
}
