//! Bytes that are no text, in the alphabet of RFC 4648.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |place: usize| u32::from(chunk.get(place).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for place in 0..4_usize {
            let digit = usize::try_from(bits >> (18 - 6 * place) & 0x3f).unwrap_or(0);
            let letter = ALPHABET.get(digit).copied().unwrap_or(b'=');
            text.push(if place > chunk.len() { '=' } else { letter.into() });
        }
    }
    text
}

/// Returns the bytes; none if it is not written as the RFC says.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let text = text.as_bytes();
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for (number, chunk) in text.chunks(4).enumerate() {
        let is_last = (number + 1) * 4 == text.len();
        let filled = chunk.iter().take_while(|letter| **letter != b'=').count();
        if filled < 2 || filled < 4 && (!is_last || chunk.iter().skip(filled).any(|it| *it != b'='))
        {
            return None;
        }
        let mut bits = 0_u32;
        for letter in chunk.iter().take(filled) {
            let digit = ALPHABET.iter().position(|known| known == letter)?;
            bits = bits << 6 | u32::try_from(digit).ok()?;
        }
        bits <<= 6 * (4 - filled);
        let [_, first, second, third] = bits.to_be_bytes();
        bytes.extend([first, second, third].into_iter().take(filled - 1));
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back() {
        for length in 0..70_u8 {
            let bytes: Vec<u8> = (0..length).map(|byte| byte.wrapping_mul(37)).collect();
            assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }
        for wrong in ["a", "ab", "abc", "a===", "ab=c", "Zg==Zg==", "Zm9v\n", "Zm9*", "===="] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }
}
