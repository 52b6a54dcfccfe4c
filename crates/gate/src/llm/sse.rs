//! Events on a stream: where one ends, and what it says.
//!
//! Every byte belongs to exactly one event, so that what is passed on is what came. An event that
//! ends with a lone carriage return is complete when the byte behind it is known: it may be the
//! other half of the line's end.

/// One event, as it came and as it is read.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Event {
    /// Every byte of it, the blank line behind it included.
    pub raw: Vec<u8>,
    /// The last `event:` in it.
    pub name: Option<Vec<u8>>,
    /// Its `data:` lines, with a line end between them; none if it has none.
    pub data: Option<Vec<u8>>,
    /// Whether it has a line that is none of an event's, and that a lenient client might read.
    pub odd: bool,
}

/// Splits bytes into events, however they are cut.
#[derive(Clone, Debug, Default)]
pub struct Splitter {
    event: Event,
    line: Vec<u8>,
    /// Whether any byte was seen.
    begun: bool,
    after: After,
}

/// What the last byte was.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum After {
    #[default]
    Other,
    /// A carriage return: the line ended, unless a line feed follows, which belongs to it.
    Return,
}

impl Splitter {
    /// Takes bytes, and hands each event that they complete to `each`.
    pub fn push(&mut self, bytes: &[u8], mut each: impl FnMut(Event)) {
        for &byte in bytes {
            if self.after == After::Return {
                self.after = After::Other;
                if byte == b'\n' {
                    self.event.raw.push(byte);
                    self.end_line(&mut each);
                    continue;
                }
                self.end_line(&mut each);
            }
            self.event.raw.push(byte);
            match byte {
                b'\r' => self.after = After::Return,
                b'\n' => self.end_line(&mut each),
                _ => self.line.push(byte),
            }
        }
    }

    /// Ends the stream, and returns what is left: an event that nothing ended.
    pub fn end(&mut self, mut each: impl FnMut(Event)) -> Option<Event> {
        if self.after == After::Return {
            self.after = After::Other;
            self.end_line(&mut each);
        }
        // A name that was cut off says nothing yet.
        let cut = |name: &&[u8]| name.starts_with(&self.line);
        if ![b"data".as_slice(), b"event", b"id", b"retry"].iter().any(cut) {
            self.take_line();
        }
        let left = std::mem::take(&mut self.event);
        (!left.raw.is_empty()).then_some(left)
    }

    /// How many bytes wait for more.
    pub fn held(&self) -> usize {
        self.event.raw.len() + self.line.len() + self.event.data.as_ref().map_or(0, Vec::len)
    }

    fn end_line(&mut self, each: &mut impl FnMut(Event)) {
        if self.line.is_empty() {
            each(std::mem::take(&mut self.event));
        } else {
            self.take_line();
        }
    }

    fn take_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let mut line = line.as_slice();
        if !std::mem::replace(&mut self.begun, true)
            && let Some(rest) = line.strip_prefix(b"\xef\xbb\xbf")
        {
            // Some clients leave the mark out, and others the line.
            (line, self.event.odd) = (rest, true);
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = line.split_at(colon.unwrap_or(line.len()));
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => match &mut self.event.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.event.data = Some(value.to_vec()),
            },
            b"event" if !may_hold(value) => {
                let before = self.event.name.replace(value.to_vec());
                self.event.odd |= before.is_some_and(|before| before != value);
            }
            b"" | b"id" | b"retry" if !may_hold(value) => {}
            _ => self.event.odd = true,
        }
    }
}

/// Whether a text that is no JSON could hold some for a client that splits lines elsewhere.
pub(super) fn may_hold(text: &[u8]) -> bool {
    let odd = |byte: &u8| *byte == b'{' || (*byte < b' ' && *byte != b'\t');
    text.iter().any(odd) || std::str::from_utf8(text).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn events(pieces: &[&[u8]]) -> (Vec<Event>, Option<Event>) {
        let (mut splitter, mut events) = (Splitter::default(), Vec::new());
        pieces.iter().for_each(|piece| splitter.push(piece, |event| events.push(event)));
        let left = splitter.end(|event| events.push(event));
        (events, left)
    }

    #[test]
    fn events_end_at_blank_lines_of_every_kind() {
        for text in [
            "event: a\ndata: 1\ndata:2\n\ndata: 3\n\n",
            "event: a\r\ndata: 1\r\ndata:2\r\n\r\ndata: 3\r\n\r\n",
            "event: a\rdata: 1\rdata:2\r\rdata: 3\r\r",
            "\u{feff}event: a\ndata: 1\ndata:2\n\ndata: 3\n\n",
        ] {
            let (events, left) = events(&[text.as_bytes()]);
            assert_eq!(left, None, "{text:?}");
            assert_eq!(events[0].odd, text.starts_with('\u{feff}'), "{text:?}");
            let names: Vec<Option<&[u8]>> = events.iter().map(|e| e.name.as_deref()).collect();
            let data: Vec<Option<&[u8]>> = events.iter().map(|e| e.data.as_deref()).collect();
            assert_eq!(names, [Some(b"a".as_slice()), None], "{text:?}");
            assert_eq!(data, [Some(b"1\n2".as_slice()), Some(b"3")], "{text:?}");
        }
    }

    #[test]
    fn what_nothing_ended_is_left() {
        let (events, left) = events(&[b": comment\n\ndata: 1"]);
        assert_eq!((events.len(), events[0].data.as_deref()), (1, None));
        assert_eq!(left.unwrap().data.as_deref(), Some(b"1".as_slice()));
    }

    proptest! {
        #[test]
        fn events_are_the_same_however_bytes_are_cut(
            bytes in proptest::collection::vec(
                prop_oneof![Just(b'\n'), Just(b'\r'), Just(b':'), Just(b'd'), any::<u8>()], 0..200),
            cuts in proptest::collection::vec(0usize..200, 0..8),
        ) {
            let whole = events(&[&bytes]);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for cut in cuts {
                pieces.push(&bytes[from..cut]);
                from = cut;
            }
            pieces.push(&bytes[from..]);
            prop_assert_eq!(&whole, &events(&pieces));
            let mut again: Vec<u8> = whole.0.iter().flat_map(|event| event.raw.clone()).collect();
            again.extend(whole.1.into_iter().flat_map(|left| left.raw));
            prop_assert_eq!(again, bytes);
        }
    }
}
