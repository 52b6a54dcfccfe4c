//! What a command may say to the terminal of a person.
//!
//! Everything that is shown passes: text, colours, the cursor, the alternate screen, the mouse.
//! What reaches beyond the screen does not: the clipboard, the title, files and printers, and
//! questions whose answer is a text that somebody else chose, which the terminal would type at
//! whoever reads next. Questions that are answered by numbers pass, because programs wait for them.

/// The most of a sequence that is held until it can be judged; longer ones are dropped.
const MOST: usize = 4096;

/// Passes on what may be shown, piece by piece.
#[derive(Debug, Default)]
pub(super) struct Filter {
    state: State,
    held: Vec<u8>,
    /// How many bytes of a character are still to come.
    expected: u8,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum State {
    /// Between sequences.
    #[default]
    Plain,
    /// After the byte that begins most of the control characters above 127 in UTF-8.
    Lead,
    /// After ESC.
    Escape,
    /// In a control sequence.
    Control,
    /// In a text for the terminal, which may pass.
    Command,
    /// In a text that will not pass.
    Refused,
    /// After ESC in such a text, which may pass or not.
    Ending(Text),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Text {
    Command,
    Refused,
}

impl Filter {
    /// Adds to `shown` what of `bytes` may be shown now.
    pub(super) fn pass(&mut self, bytes: &[u8], shown: &mut Vec<u8>) {
        for byte in bytes {
            self.byte(*byte, shown);
        }
    }

    fn byte(&mut self, byte: u8, shown: &mut Vec<u8>) {
        match self.state {
            State::Plain => self.plain(byte, shown),
            State::Lead => {
                self.state = State::Plain;
                match byte {
                    0x80..=0x9f => self.begin(byte - 0x40),
                    _ => {
                        shown.push(0xc2);
                        self.expected = 1;
                        self.plain(byte, shown);
                    }
                }
            }
            State::Escape => self.escape(byte, shown),
            State::Control => self.control(byte, shown),
            State::Command => self.text(Text::Command, byte, shown),
            State::Refused => self.text(Text::Refused, byte, shown),
            State::Ending(kind) => {
                if byte == b'\\' {
                    self.end(kind, shown);
                } else {
                    // Anything else begins a sequence of its own.
                    self.state = State::Escape;
                    self.escape(byte, shown);
                }
            }
        }
    }

    fn plain(&mut self, byte: u8, shown: &mut Vec<u8>) {
        match byte {
            0x1b => {
                self.expected = 0;
                self.state = State::Escape;
                self.held.clear();
            }
            // Asks the terminal for a text that its owner has set.
            0x05 => {}
            0x80..=0xbf if self.expected > 0 => {
                self.expected -= 1;
                shown.push(byte);
            }
            // Half of a character, which some terminals take for a control character.
            0x80..=0x9f => {}
            0xc2 => self.state = State::Lead,
            _ => {
                self.expected = match byte {
                    0xc3..=0xdf => 1,
                    0xe0..=0xef => 2,
                    0xf0..=0xf4 => 3,
                    _ => 0,
                };
                shown.push(byte);
            }
        }
    }

    /// Begins the sequence that ESC and this byte begin.
    fn begin(&mut self, byte: u8) {
        self.held.clear();
        self.state = match byte {
            b'[' => State::Control,
            b']' => State::Command,
            // Device control, start of string, privacy, application, and the title of `screen`.
            b'P' | b'X' | b'^' | b'_' | b'k' => State::Refused,
            _ => State::Plain,
        };
    }

    fn escape(&mut self, byte: u8, shown: &mut Vec<u8>) {
        match byte {
            b'[' | b']' | b'P' | b'X' | b'^' | b'_' | b'k' => self.begin(byte),
            0x1b => self.held.clear(),
            0x18 | 0x1a => self.state = State::Plain,
            0x20..=0x2f if self.held.len() < 8 => self.held.push(byte),
            0x00..=0x1f => self.while_held(byte, shown),
            0x30..=0x7e => {
                self.state = State::Plain;
                // In another coding the bytes of a character could be control characters.
                if self.held.first() != Some(&b'%') {
                    shown.push(0x1b);
                    shown.append(&mut self.held);
                    shown.push(byte);
                }
            }
            _ => self.state = State::Plain,
        }
    }

    fn control(&mut self, byte: u8, shown: &mut Vec<u8>) {
        match byte {
            0x1b => {
                self.held.clear();
                self.state = State::Escape;
            }
            0x18 | 0x1a | 0x7f..=0xff => self.state = State::Plain,
            0x00..=0x1f => self.while_held(byte, shown),
            0x20..=0x3f => {
                if self.held.len() < MOST {
                    self.held.push(byte);
                }
            }
            0x40..=0x7e => {
                self.state = State::Plain;
                if may_pass(&self.held, byte) {
                    shown.extend(b"\x1b[");
                    shown.append(&mut self.held);
                    shown.push(byte);
                }
            }
        }
    }

    /// A control character amid a sequence counts at once.
    fn while_held(&mut self, byte: u8, shown: &mut Vec<u8>) {
        if byte != 0x05 {
            shown.push(byte);
        }
    }

    fn text(&mut self, kind: Text, byte: u8, shown: &mut Vec<u8>) {
        match byte {
            0x07 => self.end(kind, shown),
            0x1b => self.state = State::Ending(kind),
            0x18 | 0x1a => self.state = State::Plain,
            0x00..=0x1f => {}
            // The end of a text, as one character in UTF-8.
            0x9c if self.held.last() == Some(&0xc2) => {
                self.held.pop();
                self.end(kind, shown);
            }
            _ if self.held.len() <= MOST => self.held.push(byte),
            _ => {
                // What ends it must still be seen.
                self.held.truncate(MOST);
                self.held.push(byte);
                self.state = State::Refused;
            }
        }
    }

    fn end(&mut self, kind: Text, shown: &mut Vec<u8>) {
        self.state = State::Plain;
        // Links, and where a prompt begins.
        let harmless = self.held.starts_with(b"8;") || self.held.starts_with(b"133;");
        if kind == Text::Command && harmless {
            shown.extend(b"\x1b]");
            shown.append(&mut self.held);
            shown.extend(b"\x1b\\");
        }
        self.held.clear();
    }
}

/// Says whether a control sequence stays on the screen.
fn may_pass(held: &[u8], last: u8) -> bool {
    let after = |mark: u8| held.contains(&mark);
    match last {
        // The window and its title; printing; the terminal's own tests and parameters.
        b't' | b'i' | b'y' | b'x' => false,
        // States and positions, told as texts.
        b'w' => false,
        b'u' => !after(b'$'),
        // The name and version.
        b'q' => !after(b'>'),
        // Whether all is well, and where the cursor is.
        b'n' => matches!(held, b"5" | b"6" | b"?6"),
        _ => held.len() < MOST,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(pieces: &[&[u8]]) -> String {
        let (mut filter, mut shown) = (Filter::default(), Vec::new());
        pieces.iter().for_each(|piece| filter.pass(piece, &mut shown));
        String::from_utf8_lossy(&shown).escape_debug().to_string()
    }

    #[test]
    fn what_stays_on_the_screen_passes_and_what_reaches_beyond_does_not() {
        #[rustfmt::skip]
        let cases: &[(&str, &str, &str)] = &[
            // said                              shown                  because
            ("plain\r\n\ttext \u{e9}\u{1f600}",  "same",                "text"),
            ("\x1b[1;31mred\x1b[0m",             "same",                "colours"),
            ("\x1b[?1049h\x1b[2J\x1b[?25l",      "same",                "the screen and the cursor"),
            ("\x1b(B\x1b7\x1b8\x1b=",            "same",                "character sets, saving"),
            ("\x1b[6n\x1b[c\x1b[?6n",            "same",                "answered by numbers"),
            ("\x1b]8;;https://example.com\x1b\\x","same",               "a link"),
            ("a\x1b]52;c;ZXZpbA==\x07b",         "ab",                  "the clipboard"),
            ("a\x1b]52;c;ZXZpbA==\x1b\\b",       "ab",                  "the clipboard, ended otherwise"),
            ("a\u{9d}52;c;ZXZpbA==\u{9c}b",      "ab",                  "the clipboard, by other characters"),
            ("a\x1b]0;title\x07b",               "ab",                  "the title"),
            ("a\x1bktitle\x1b\\b",               "ab",                  "the title in screen"),
            ("a\x1b[21tb\x1b[>qc",               "abc",                 "asking for title and version"),
            ("a\u{9b}21tb",                      "ab",                  "asking for the title, otherwise"),
            ("a\x1bP$qm\x1b\\b",                 "ab",                  "asking for a state"),
            ("a\x1b]11;?\x07b",                  "ab",                  "asking for a colour"),
            ("a\x1b_Gdata\x1b\\b\x1b[5ic",       "abc",                 "pictures from files, printing"),
            ("a\x05b",                           "ab",                  "asking who it is"),
            ("\x1b]0;a\x1b[31mred",              "\x1b[31mred",         "a text that another sequence cuts"),
            ("\x1b[3\n1mx",                      "\n\x1b[31mx",         "a line end amid a sequence"),
            ("\x1b\x1b]2;t\x07x",                "x",                   "ESC twice"),
        ];
        for (said, shown, because) in cases {
            let expected = if *shown == "same" { said } else { shown };
            let expected = expected.escape_debug().to_string();
            assert_eq!(passed(&[said.as_bytes()]), expected, "{because}");
            let bytes: Vec<&[u8]> = said.as_bytes().chunks(1).collect();
            assert_eq!(passed(&bytes), expected, "byte by byte: {because}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_pass_but_for_control_characters() {
        assert_eq!(passed(&[b"a\x9d52;c;x\x07b"]), "a52;c;x\\u{7}b");
        assert_eq!(passed(&[b"\xff\xa9\xe2\x82"]), "\u{fffd}\u{fffd}\u{fffd}");
    }

    #[test]
    fn nothing_makes_it_hold_much() {
        let (mut filter, mut shown) = (Filter::default(), Vec::new());
        for start in ["\x1b]8;;", "\x1bP", "\x1b[", "\x1b "] {
            filter.pass(start.as_bytes(), &mut shown);
            for _ in 0..1000 {
                filter.pass(&[b'1'; 100], &mut shown);
            }
            assert!(filter.held.len() <= MOST + 1);
            filter.pass(b"\x1b\\", &mut shown);
        }
    }
}
