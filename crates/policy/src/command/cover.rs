//! Names of files that are written so that nobody reads them.

/// The longest text that is taken for such a name.
const LONGEST: usize = 512;

/// Returns the paths that a text is when it is turned back: from hexadecimal digits, from base64,
/// from its end to its start, or by half the alphabet. Nearly every text is none.
pub(crate) fn uncovered(text: &str) -> Vec<String> {
    let mut paths = Vec::new();
    if text.len() < 4 || text.len() > LONGEST {
        return paths;
    }
    let covers = |start: &[u8]| matches!(start, [b'2', b'f' | b'F', ..] | [b'7', b'e' | b'E', ..]);
    if covers(text.as_bytes()) {
        paths.extend(hexadecimal(text));
    }
    // What a slash or a tilde begins with.
    if text.starts_with(['L', 'f']) {
        paths.extend(base64(text).and_then(|bytes| String::from_utf8(bytes).ok()));
    }
    if text.ends_with(['/', '~']) {
        paths.push(text.chars().rev().collect());
    }
    if text.starts_with(['/', '~']) {
        paths.push(text.chars().map(by_half).collect());
    }
    let plain = |c: char| c.is_ascii_graphic() || matches!(c, ' ' | '\n');
    paths.retain(|path| path.starts_with(['/', '~']) && path.chars().all(plain));
    for path in &mut paths {
        path.truncate(path.trim_end().len());
    }
    paths
}

/// Reads base64, with blanks in it and without its padding too.
pub(crate) fn base64(text: &str) -> Option<Vec<u8>> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0_u32);
    for digit in text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=') {
        let value = DIGITS.iter().position(|known| *known == digit)?;
        bits = (bits << 6 | u32::try_from(value).ok()?) & 0xFF_FFFF;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xFF).ok()?);
        }
    }
    Some(bytes)
}

/// Reads pairs of hexadecimal digits.
fn hexadecimal(text: &str) -> Option<String> {
    let pairs = text.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = pairs.map(byte).collect();
    String::from_utf8(bytes.filter(|_| text.len().is_multiple_of(2))?).ok()
}

/// Puts a letter half the alphabet further.
fn by_half(c: char) -> char {
    let turned = |first: u8, byte: u8| char::from(first + (byte - first + 13) % 26);
    match u8::try_from(c) {
        Ok(byte @ b'a'..=b'z') => turned(b'a', byte),
        Ok(byte @ b'A'..=b'Z') => turned(b'A', byte),
        Ok(_) | Err(_) => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_found_however_it_is_turned() {
        for covered in [
            "2f686f6d652f6465762f2e6e65747263",
            "2F686F6D652F6465762F2E6E65747263",
            "L2hvbWUvZGV2Ly5uZXRyYw==",
            "L2hvbWUvZGV2Ly5uZXRyYw",
            "L2hvbWUvZGV2Ly5uZXRyYwo=",
            "crten./ved/emoh/",
            "/ubzr/qri/.argep",
        ] {
            assert_eq!(uncovered(covered), ["/home/dev/.netrc"], "{covered}");
        }
        for plain in ["", "a", "2f6", "2fzz", "Lorem ipsum", "fghij", "src/lib.rs", "L2hv\u{e9}"] {
            assert!(uncovered(plain).is_empty(), "{plain}");
        }
    }
}
