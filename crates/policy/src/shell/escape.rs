//! Escapes of `$'…'`.

/// Decodes the text between the quotes as bash does.
pub(super) fn decode(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, tail @ ..] = rest {
        if *byte != b'\\' {
            out.push(*byte);
            rest = tail;
            continue;
        }
        let [escape, behind @ ..] = tail else {
            out.push(b'\\');
            break;
        };
        rest = behind;
        let plain = match escape {
            b'a' => 7,
            b'b' => 8,
            b'e' | b'E' => 27,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 11,
            b'\\' | b'\'' | b'"' | b'?' => *escape,
            b'0'..=b'7' => number(tail, 8, 3, &mut rest).map_or(0, low),
            b'x' => match number(behind, 16, 2, &mut rest) {
                Some(value) => low(value),
                None => {
                    out.extend(b"\\x");
                    continue;
                }
            },
            b'u' | b'U' => {
                let most = if *escape == b'u' { 4 } else { 8 };
                match number(behind, 16, most, &mut rest) {
                    Some(0) => 0,
                    Some(value) => {
                        let c = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
                        out.extend(c.encode_utf8(&mut [0; 4]).as_bytes());
                        continue;
                    }
                    None => {
                        out.extend([b'\\', *escape]);
                        continue;
                    }
                }
            }
            b'c' => match behind {
                [control, tail @ ..] => {
                    rest = tail;
                    control & 0x1f
                }
                [] => b'c',
            },
            _ => {
                out.extend([b'\\', *escape]);
                continue;
            }
        };
        if plain == 0 {
            break; // a NUL ends the string
        }
        out.push(plain);
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Reads at most `most` digits; `rest` is what follows them.
fn number<'b>(bytes: &'b [u8], radix: u32, most: usize, rest: &mut &'b [u8]) -> Option<u32> {
    let digit = |&byte: &u8| char::from(byte).to_digit(radix);
    let values = bytes.iter().take(most).map_while(digit);
    let count = values.clone().count();
    if count == 0 {
        return None;
    }
    *rest = bytes.get(count..).unwrap_or_default();
    Some(values.fold(0, |value: u32, digit| value.wrapping_mul(radix).wrapping_add(digit)))
}

fn low(value: u32) -> u8 {
    value.to_le_bytes()[0]
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn escapes_decode_as_bash_does() {
        for (text, expected) in [
            (r"\x72m", "rm"),
            (r"\162\155", "rm"),
            (r"\u0072\U0000006d", "rm"),
            (r"\x7g", "\u{7}g"),
            (r"\xg", r"\xg"),
            (r"\ug", r"\ug"),
            (r"\q\'", r"\q'"),
            (r"a\0b", "a"),
            (r"a\x00b", "a"),
            (r"\cM\ca", "\r\u{1}"),
            (r"\e[0m\E", "\u{1b}[0m\u{1b}"),
            (r"\1234", "S4"),
            (r"\xc3\xa9", "é"),
            (r"\xff", "\u{fffd}"),
            (r"\ud800", "\u{fffd}"),
            (r"tail\", r"tail\"),
        ] {
            assert_eq!(decode(text), expected, "{text}");
        }
    }
}
