//! Arguments that stand in a list or a table: `f(*[a, b])`, `f(**{"a": b})`.

use super::scan::Scan;
use super::stream::{Commas, Range, Stream};
use crate::command::Language;

impl<'t> Scan<'t, '_> {
    /// Returns the arguments with those put in that are written out in a list; `None` if there are
    /// no such.
    pub(super) fn spread(&self, stream: &Stream<'t>, args: &[Range]) -> Option<Vec<Range>> {
        // In Perl the sign stands for a name of any kind.
        let takes = self.dialect.language != Language::Perl;
        let starts = |part: &Range| takes && is_mark(stream, part.0);
        if !args.iter().any(starts) {
            return None;
        }
        let mut all = Vec::with_capacity(args.len());
        for part in args {
            let listed = starts(part).then(|| self.listed(stream, *part)).flatten();
            match listed {
                Some(parts) => all.extend(parts),
                None => all.push(*part),
            }
        }
        Some(all)
    }

    fn listed(&self, stream: &Stream<'t>, (from, to): Range) -> Option<Vec<Range>> {
        let from = from + if is_mark(stream, from + 1) { 2 } else { 1 };
        let written = |range: Range| {
            let parts = self.names.elements(stream, range);
            parts.or_else(|| table(stream, range))
        };
        if let Some(parts) = written((from, to)) {
            return Some(parts);
        }
        let name = stream.name(from).filter(|_| from + 1 == to)?;
        let value = assigned(stream, name)?;
        written(value).or_else(|| {
            let parts = stream.split(value);
            (parts.len() > 1).then_some(parts)
        })
    }
}

fn is_mark(stream: &Stream<'_>, at: usize) -> bool {
    ["*", "**", "..."].iter().any(|mark| stream.is(at, mark))
}

/// `{"a": b}` or `dict(a=b)`.
fn table(stream: &Stream<'_>, (from, to): Range) -> Option<Vec<Range>> {
    let open = from + usize::from(stream.is(from, "dict") && stream.is(from + 1, "("));
    let is_table = open > from || stream.is(open, "{");
    (is_table && stream.after(open) == to).then(|| stream.split((open + 1, stream.mate(open))))
}

/// Returns the one value that a name is given by itself.
fn assigned(stream: &Stream<'_>, name: &str) -> Option<Range> {
    if !stream.pays(stream.tokens.len()) {
        return None;
    }
    let sets = |at: &usize| {
        stream.is(*at, name)
            && stream.is(at + 1, "=")
            && !stream
                .before(*at)
                .is_some_and(|before| before.is_dot() || before.is_sign(&["(", ","]))
    };
    let mut places = (0..stream.tokens.len()).filter(sets);
    let at = places.next().filter(|_| places.next().is_none())?;
    Some((at + 2, stream.expression_end(at + 2, Commas::Stay)))
}
