//! Characters that no command may contain.

use super::{Found, Unparsed};
use crate::text::{Span, hides};

/// Stands for bytes that are no text, which no command may contain; as long as the character by
/// which they are shown.
pub const UNDECODED: char = '\u{FDD2}';

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
    let found = text.char_indices().find(|&(at, c)| refused(c) && !joins_picture(text, at, c));
    let Some((at, found)) = found else { return Ok(()) };
    if found == UNDECODED {
        return Err(Unparsed {
            code: "not-text",
            message: "bytes that are no text (UTF-8) stand in the command".to_owned(),
            span: Span::new(at, at + found.len_utf8()),
            found: Found::Reading,
        });
    }
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

/// Tells the invisible parts of pictures: the selector of a picture's looks right behind it, and
/// the joiner between two of them. They change how it looks and nothing else.
fn joins_picture(text: &str, at: usize, c: char) -> bool {
    let before = text.get(..at).unwrap_or_default().chars().next_back();
    let behind = text.get(at + c.len_utf8()..).unwrap_or_default().chars().next();
    match c {
        '\u{fe0e}' | '\u{fe0f}' => {
            let key = before.is_some_and(|base| base.is_ascii_digit() || matches!(base, '#' | '*'));
            before.is_some_and(is_picture) || key && behind == Some('\u{20e3}')
        }
        '\u{200d}' => {
            before.is_some_and(|base| is_picture(base) || base == '\u{fe0f}')
                && behind.is_some_and(is_picture)
        }
        _ => false,
    }
}

/// Tells symbols that may be drawn as pictures.
fn is_picture(c: char) -> bool {
    matches!(c, '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{24c2}'
        | '\u{25a0}'..='\u{27bf}' | '\u{2934}' | '\u{2935}' | '\u{2b05}'..='\u{2b55}'
        | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
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

    #[test]
    fn e005_pictures_keep_their_invisible_parts_and_nothing_else_has_any() {
        for text in [
            "git commit -m '\u{26a0}\u{fe0f} careful'",
            "echo '\u{2764}\u{fe0f}\u{200d}\u{1f525}'",
            "echo '\u{1f468}\u{200d}\u{1f4bb} \u{1f469}\u{1f3fd}\u{200d}\u{1f680}'",
            "echo '1\u{fe0f}\u{20e3} #\u{fe0f}\u{20e3}'",
            "echo '\u{2714}\u{fe0e}'",
        ] {
            assert_eq!(check_characters(text), Ok(()), "{text:?}");
        }
        for text in [
            "ls\u{fe0f}",
            "rm 1\u{fe0f}",
            "\u{fe0f}",
            "\u{26a0}\u{fe0f}\u{fe0f}",
            "\u{1f468}\u{200d}",
            "\u{1f468}\u{200d}a",
            "a\u{200d}\u{1f468}",
            "\u{1f468}\u{200b}",
        ] {
            assert_eq!(check_characters(text).unwrap_err().code, "invisible-character", "{text:?}");
        }
    }
}
