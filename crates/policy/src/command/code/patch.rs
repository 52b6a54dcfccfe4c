//! Patches on standard input: the files that they name are changed.

use super::sink::Sink;
use crate::command::{Act, Concern, Extent};
use crate::patch::{self, Deed};

/// Adds what applying a patch does.
pub(super) fn read(text: &str, mut out: Sink<'_, '_>) {
    let patch = match patch::read(text) {
        Ok(patch) => patch,
        Err(error) => {
            return out.raise(Concern::Unclear, error.span.start(), error.span.end());
        }
    };
    for touched in &patch.touched {
        let (start, end) = (touched.span.start(), touched.span.end());
        for path in touched.readings() {
            let arg = out.arg(path, start, end);
            out.act(match &touched.deed {
                Deed::CopyFrom => Act::Read(arg),
                Deed::Delete | Deed::Unlink | Deed::MoveFrom => Act::Delete(arg, Extent::Single),
                Deed::Create
                | Deed::Change
                | Deed::MoveTo
                | Deed::CopyTo
                | Deed::Mode
                | Deed::Link(_) => Act::Write(arg),
            });
        }
        if matches!(touched.deed, Deed::Link(_)) {
            // What a new link leads to, the next patch may change.
            out.raise(Concern::Unclear, start, end);
        }
    }
}
