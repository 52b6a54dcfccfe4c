//! Results of calls that a server waits for and no client saw.
//!
//! A server that keeps a conversation remembers a call that was refused here, and would not go on
//! without its result. The client never saw the call. So the result is added to its next request.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::llm::Call;

/// Most answers that are remembered, and the most bytes of their calls.
const MOST: usize = 4096;
const BYTES: usize = 8 << 20;

#[derive(Debug, Default)]
pub(super) struct Missing(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    answers: VecDeque<(String, Vec<(Call, String)>)>,
    bytes: usize,
    /// Names that clients know, and the server's own.
    names: VecDeque<(String, String)>,
}

impl Missing {
    /// Remembers what an answer lacks, by the names it has.
    pub(super) fn add(&self, names: Vec<String>, calls: &[(Call, String)]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for name in names {
            kept.bytes += size(calls);
            kept.answers.push_back((name, calls.to_vec()));
        }
        while kept.answers.len() > MOST || kept.bytes > BYTES {
            let Some((_, calls)) = kept.answers.pop_front() else { break };
            kept.bytes -= size(&calls);
        }
    }

    /// Remembers the server's own name of what clients know under another.
    pub(super) fn rename(&self, shown: String, own: String) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.names.push_back((shown, own));
        if kept.names.len() > MOST {
            kept.names.pop_front();
        }
    }

    /// Returns the server's own name, where it is another.
    pub(super) fn own_name(&self, shown: &str) -> Option<String> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.names.iter().rev().find(|(known, _)| known == shown);
        known.map(|(_, own)| own.clone())
    }

    /// Returns what an answer lacks. A conversation goes on and gets it once; an answer may be
    /// built on again and again.
    pub(super) fn of(&self, name: &str) -> Vec<(Call, String)> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.answers.iter().filter(|(known, _)| known == name);
        let found: Vec<_> = found.flat_map(|(_, calls)| calls.clone()).collect();
        if name.starts_with("conv") {
            kept.answers.retain(|(known, _)| known != name);
            kept.bytes = kept.answers.iter().map(|(_, calls)| size(calls)).sum();
        }
        found
    }
}

fn size(calls: &[(Call, String)]) -> usize {
    calls.iter().map(|(call, text)| call.arguments.len() + call.name.len() + text.len() + 128).sum()
}
