//! A JSON list that arrives piece by piece: where one element ends.

/// What came, in order: every byte belongs to exactly one part.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Part {
    /// One element, with what stands in front of it: the opening bracket or a comma.
    Element {
        /// What stands in front.
        lead: Vec<u8>,
        /// The element.
        text: Vec<u8>,
    },
    /// The closing bracket, and everything behind it.
    Close(Vec<u8>),
}

/// Splits a list into its elements, however its bytes are cut.
#[derive(Clone, Debug, Default)]
pub struct Splitter {
    lead: Vec<u8>,
    text: Vec<u8>,
    close: Vec<u8>,
    depth: usize,
    string: InString,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum InString {
    #[default]
    No,
    Yes,
    Escaped,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum State {
    #[default]
    Before,
    Between,
    Inside,
    Closed,
}

/// Something that is no list of objects.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NoList;

impl Splitter {
    /// Takes bytes, and hands each part that they complete to `each`.
    ///
    /// # Errors
    ///
    /// When they are no list of objects.
    pub fn push(&mut self, bytes: &[u8], mut each: impl FnMut(Part)) -> Result<(), NoList> {
        for &byte in bytes {
            match self.state {
                State::Before => match byte {
                    b' ' | b'\t' | b'\r' | b'\n' => self.lead.push(byte),
                    b'[' => {
                        self.lead.push(byte);
                        self.state = State::Between;
                    }
                    _ => return Err(NoList),
                },
                State::Between => match byte {
                    b' ' | b'\t' | b'\r' | b'\n' | b',' => self.lead.push(byte),
                    b'{' => {
                        self.text.push(byte);
                        (self.depth, self.state) = (1, State::Inside);
                    }
                    b']' => {
                        self.close = std::mem::take(&mut self.lead);
                        self.close.push(byte);
                        self.state = State::Closed;
                    }
                    _ => return Err(NoList),
                },
                State::Inside => {
                    self.text.push(byte);
                    if self.ends(byte) {
                        let lead = std::mem::take(&mut self.lead);
                        each(Part::Element { lead, text: std::mem::take(&mut self.text) });
                        self.state = State::Between;
                    }
                }
                State::Closed if byte.is_ascii_whitespace() => self.close.push(byte),
                State::Closed => return Err(NoList),
            }
        }
        Ok(())
    }

    /// Ends the stream. What was never closed is lost: nobody can read it.
    pub fn end(&mut self) -> Option<Part> {
        (self.state == State::Closed).then(|| Part::Close(std::mem::take(&mut self.close)))
    }

    /// How many bytes wait for more.
    pub fn held(&self) -> usize {
        self.lead.len() + self.text.len() + self.close.len()
    }

    fn ends(&mut self, byte: u8) -> bool {
        match (self.string, byte) {
            (InString::Escaped, _) => self.string = InString::Yes,
            (InString::Yes, b'\\') => self.string = InString::Escaped,
            (InString::Yes, b'"') => self.string = InString::No,
            (InString::Yes, _) => {}
            (InString::No, b'"') => self.string = InString::Yes,
            (InString::No, b'{' | b'[') => self.depth += 1,
            (InString::No, b'}' | b']') => self.depth -= 1,
            (InString::No, _) => {}
        }
        self.depth == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_the_same_wherever_bytes_are_cut() {
        let text = br#" [{"a":"]}\"\\"} , {"b":[{}]}] "#;
        let parts = |cut: usize| {
            let (mut splitter, mut parts) = (Splitter::default(), Vec::new());
            for piece in [&text[..cut], &text[cut..]] {
                splitter.push(piece, |part| parts.push(part)).unwrap();
            }
            parts.extend(splitter.end());
            parts
        };
        let whole = parts(0);
        assert_eq!(whole.len(), 3);
        assert_eq!(
            whole[1],
            Part::Element { lead: b" , ".to_vec(), text: br#"{"b":[{}]}"#.to_vec() }
        );
        for cut in 0..=text.len() {
            assert_eq!(parts(cut), whole, "{cut}");
        }
    }

    #[test]
    fn what_is_no_list_of_objects_is_refused() {
        for text in ["{}", "[1]", "[{}]x", "x"] {
            let mut splitter = Splitter::default();
            assert_eq!(splitter.push(text.as_bytes(), |_| {}), Err(NoList), "{text}");
        }
        let mut cut = Splitter::default();
        cut.push(br#"[{"a":1},{"b"#, |_| {}).unwrap();
        assert_eq!(cut.end(), None);
    }
}
