//! Texts with code in them: `f"{h}/x"`, `"#{h}/x"`, `"$h/x"`, where the parts are known.

use super::names::{Bound, Names};
use super::stream::Stream;
use super::token::{Fill, Kind};
use super::value::Sort;
use crate::command::{HOLE, Holed as _};
use crate::shell::MAX_TEXT;

/// How many bytes are copied for the price of a token.
const BYTES: usize = 16;

impl<'t> Names<'t> {
    /// Puts what is known into the texts of some code.
    pub(super) fn interpolate(&mut self, code: &str, fills: &[Fill], streams: &[Stream<'t>]) {
        if fills.is_empty() {
            return; // nearly always
        }
        for stream in streams {
            for token in &stream.tokens {
                let Kind::Text(text, _) = &token.kind else { continue };
                if !text.has_hole() {
                    continue;
                }
                let first = fills.partition_point(|fill| fill.start < token.start);
                let inside = fills.get(first..).unwrap_or_default().iter();
                let mut end = 0;
                let mut parts = Vec::new();
                for fill in inside.take_while(|fill| fill.start < token.end) {
                    // What is inside another one is a part of that.
                    if fill.start >= end && stream.pays(1) {
                        end = fill.end;
                        parts.push(self.part(code, fill, streams));
                    }
                }
                if text.matches(HOLE).count() != parts.len() {
                    continue;
                }
                let length = text.len() + parts.iter().map(String::len).sum::<usize>();
                if length > MAX_TEXT || !stream.pays(length / BYTES) {
                    return;
                }
                let mut parts = parts.into_iter();
                let joined = text
                    .split(HOLE)
                    .flat_map(|known| [known.to_owned(), parts.next().unwrap_or_default()]);
                let joined: String = joined.collect();
                self.filled.insert(token.start, joined);
            }
        }
    }

    /// Returns what one piece of code in a text is worth.
    fn part(&self, code: &str, fill: &Fill, streams: &[Stream<'t>]) -> String {
        let bound = |name: &str| match self.bounds.get(name) {
            Some(Bound::Text(value)) => Some(value.text.clone().into_owned()),
            Some(Bound::Function | Bound::Listing | Bound::Path(_) | Bound::Various) | None => None,
        };
        let known = match fill.stream {
            Some(stream) => streams.get(stream).and_then(|stream| {
                let value = self.value(stream, (0, stream.tokens.len()), 0);
                match (&*stream.tokens, value.sort) {
                    (_, Sort::Text) => Some(value.text.into_owned()),
                    // `${name}`
                    ([only], _) => only.name().and_then(|name| bound(&format!("${name}"))),
                    (_, Sort::Other | Sort::Unknown) => None,
                }
            }),
            None => {
                let behind = code.get(fill.end..).unwrap_or_default();
                let whole = !behind.starts_with('[') && !behind.starts_with("->");
                match code.get(fill.start..fill.end).filter(|_| whole) {
                    Some("$ENV{HOME}" | "$ENV{'HOME'}") => Some("~".to_owned()),
                    Some(name) => bound(name),
                    None => None,
                }
            }
        };
        known.unwrap_or_else(|| HOLE.to_string())
    }
}
