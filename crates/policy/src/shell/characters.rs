//! Characters that no command may contain.

use super::{Found, Unparsed};
use crate::text::{Span, hides};

/// Refuses what a person cannot see or a shell and its reader take differently: control characters
/// other than tab and newline, separators, bidirectional and invisible characters, noncharacters.
///
/// # Errors
///
/// Names the first such character.
pub fn check_characters(text: &str) -> Result<(), Unparsed> {
    // Nearly every command is plain ASCII.
    let plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    if text.bytes().fold(true, |all, byte| all & plain(byte)) {
        return Ok(());
    }
    let refused = |c: char| !matches!(c, '\t' | '\n') && (hides(c) || is_noncharacter(c));
    let Some((at, found)) = text.char_indices().find(|&(_, c)| refused(c)) else { return Ok(()) };
    let (code, kind) = match found.is_control() {
        true => ("control-character", "a control"),
        false => ("invisible-character", "an invisible"),
    };
    Err(Unparsed {
        code,
        message: format!("{kind} character, U+{:04X}, stands in the command", u32::from(found)),
        span: Span::new(at, at + found.len_utf8()),
        found: Found::Reading,
    })
}

/// Tells code points that stand for no character; ours among them, which marks unknown text.
fn is_noncharacter(c: char) -> bool {
    matches!(c, '\u{fdd0}'..='\u{fdef}') || u32::from(c) & 0xfffe == 0xfffe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e003_control_characters_other_than_tab_and_newline_are_refused() {
        for (text, at) in [
            ("ls\r", 2),
            ("ls\0", 2),
            ("a\u{b}b", 1),
            ("a\u{c}b", 1),
            ("echo \u{1b}[2J", 5),
            ("a\u{7f}", 1),
            ("é\u{85}b", 2),
            ("x \u{9b}31m", 2),
        ] {
            let error = check_characters(text).unwrap_err();
            assert_eq!((error.code, error.span.start()), ("control-character", at), "{text:?}");
        }
        for text in ["ls\t-l\npwd", "echo 'naïve café ☕ 日本語'", ""] {
            assert_eq!(check_characters(text), Ok(()), "{text:?}");
        }
    }

    #[test]
    fn e005_invisible_and_bidirectional_characters_are_refused() {
        for text in [
            "rm\u{2028}x",
            "a\u{2029}b",
            "echo \u{202e}txt.exe",
            "a\u{2066}b",
            "l\u{200b}s",
            "l\u{200d}s",
            "a\u{ad}b",
            "\u{feff}ls",
            "ls\u{e0041}",
            "a\u{fe0f}",
            "a\u{e0100}",
            "a\u{2800}b",
            "a\u{1d173}b",
            "\u{fdd0}",
            "\u{fdef}",
            "\u{ffff}",
            "\u{10fffe}",
        ] {
            let error = check_characters(text).unwrap_err();
            assert_eq!(error.code, "invisible-character", "{text:?}");
            assert!(text.get(error.span.start()..error.span.end()).is_some(), "{text:?}");
        }
        assert_eq!(check_characters("printf '→ \u{fdf2} 👍'"), Ok(()));
    }
}
