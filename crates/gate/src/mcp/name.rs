//! Names of tools in headers: as they are where a header can hold them, in base64 otherwise.

const BEFORE: &str = "=?base64?";
const AFTER: &str = "?=";

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Writes a name for a header.
pub(super) fn written(name: &str) -> String {
    let is_plain = name.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && name.trim() == name
        && !name.starts_with(BEFORE);
    if is_plain { name.to_owned() } else { format!("{BEFORE}{}{AFTER}", encoded(name.as_bytes())) }
}

/// Reads a name from a header; none if it is written as no name is.
pub(super) fn read(value: &str) -> Option<String> {
    let Some(coded) = value.strip_prefix(BEFORE).and_then(|rest| rest.strip_suffix(AFTER)) else {
        return Some(value.to_owned());
    };
    String::from_utf8(decoded(coded.as_bytes())?).ok()
}

fn encoded(bytes: &[u8]) -> String {
    let mut text = String::new();
    for piece in bytes.chunks(3) {
        let bits = piece.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - piece.len()));
        for place in 0..4 {
            let letter = LETTERS.get((bits >> (18 - 6 * place) & 63) as usize).copied();
            let letter = letter.filter(|_| place <= piece.len()).unwrap_or(b'=');
            text.push(char::from(letter));
        }
    }
    text
}

fn decoded(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    if !text.len().is_multiple_of(4) {
        return None;
    }
    for piece in text.chunks(4) {
        let filled = piece.iter().filter(|letter| **letter != b'=').count();
        let mut bits = 0u32;
        for letter in piece.get(..filled)? {
            let place = LETTERS.iter().position(|known| known == letter)?;
            bits = bits << 6 | u32::try_from(place).ok()?;
        }
        let [_, first, second, third] = (bits << (6 * (4 - filled))).to_be_bytes();
        bytes.extend([first, second, third].get(..filled.checked_sub(1)?)?);
    }
    // One way to write a name, and no other.
    (encoded(&bytes).as_bytes() == text).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_comes_back_as_it_was() {
        for name in ["read_file", "", "a b", " a", "é", "a\nb", "=?base64?eA==?=", "日本語", "x\0"]
        {
            let header = written(name);
            assert!(header.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{header}");
            assert_eq!(read(&header).as_deref(), Some(name), "{header}");
        }
        assert_eq!(written("é"), "=?base64?w6k=?=");
    }

    #[test]
    fn what_is_written_oddly_is_no_name() {
        for header in [
            "=?base64?w6k?=",
            "=?base64?w6l=?=",
            "=?base64?=w6k?=",
            "=?base64?/w==?=",
            "=?base64?====?=",
        ] {
            assert_eq!(read(header), None, "{header}");
        }
    }
}
