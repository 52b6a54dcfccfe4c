//! Source for a compiler: the files that it takes in are read, and end up in what is printed.

use super::sink::Sink;
use crate::command::{Act, Concern};

/// Most names of files that are looked at.
const MOST: usize = 512;

/// Adds what compiling the text reads. Macros may stand for names, so every text that is a path
/// counts where something is included at all.
pub(super) fn read(text: &str, mut out: Sink<'_, '_>) {
    let whole = text.replace("\\\n", "");
    if !["include", "incbin", "embed", "import"].iter().any(|word| whole.contains(word)) {
        return;
    }
    let pieces = whole.split(['"', '<', '>', '\\', '\n']);
    let mut paths =
        pieces.filter(|piece| piece.contains('/') && !piece.contains(char::is_whitespace));
    for path in paths.by_ref().take(MOST) {
        out.act(Act::Read(out.arg(path.to_owned(), 0, text.len())));
    }
    if paths.next().is_some() {
        out.raise(Concern::Unclear, 0, text.len());
    }
}
