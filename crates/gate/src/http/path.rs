//! A path in one reading: what rules are asked about is what the server gets.

use super::fault::Fault;

/// A path and query, in one reading.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OnePath {
    /// The path as people write it, for rules.
    pub judged: String,
    /// What it is to servers that read `;` as the start of something else: they cut it off, to the next
    /// slash or to the end. Rules are asked about these, too.
    pub also: Vec<String>,
    /// The same for the server, with its query.
    pub sent: Vec<u8>,
}

/// Reads the target of a request. `//`, `.` and `..` are resolved, and every character is spelled in
/// one way.
///
/// # Errors
///
/// [`Fault::Path`] for what servers read differently: slashes, backslashes, `?`, `#` and control
/// characters that are spelled out, what would have to be read twice, parts that are nothing or dots
/// without what follows a `;`, parts that end in a dot or a blank, which some file systems drop, wide
/// forms of letters and signs, and what is no text.
pub fn one_path(target: &[u8]) -> Result<OnePath, Fault> {
    let end = target.iter().position(|byte| *byte == b'?').unwrap_or(target.len());
    let (path, query) = target.split_at_checked(end).ok_or(Fault::Path)?;
    let rest = path.strip_prefix(b"/").ok_or(Fault::Path)?;
    let mut parts: Vec<Vec<u8>> = Vec::new();
    let mut ends_in_slash = true;
    for raw in rest.split(|byte| *byte == b'/') {
        let part = decoded(raw)?;
        ends_in_slash = matches!(&*part, b"" | b"." | b"..");
        match &*part {
            b"" | b"." => {}
            b".." => drop(parts.pop()),
            _ => {
                check(&part)?;
                parts.push(part);
            }
        }
    }
    let (mut judged, mut sent) = (Vec::new(), Vec::new());
    for part in &parts {
        judged.push(b'/');
        judged.extend(part);
        sent.push(b'/');
        part.iter().for_each(|byte| spell(*byte, &mut sent));
    }
    if ends_in_slash {
        judged.push(b'/');
        sent.push(b'/');
    }
    sent.extend(query);
    let judged = String::from_utf8(judged).map_err(|_| Fault::Path)?;
    if judged.chars().any(|sign| sign.is_control() || is_wide(sign)) {
        return Err(Fault::Path);
    }
    let also = without_parameters(&judged);
    Ok(OnePath { judged, also, sent })
}

/// Refuses a part that is another to servers that cut off what follows a `;`, or to file systems that
/// drop dots and blanks at its end or read `::$` as the start of a stream.
fn check(part: &[u8]) -> Result<(), Fault> {
    let name = part.split(|byte| *byte == b';').next().unwrap_or_default();
    let is_dropped = |byte: Option<&u8>| matches!(byte, None | Some(b'.' | b' '));
    let is_stream = part.windows(3).any(|three| three == b"::$");
    if is_dropped(name.last()) || is_dropped(part.last()) || is_stream {
        return Err(Fault::Path);
    }
    Ok(())
}

/// Returns whether some servers read a character as one of ASCII: slashes, dots and all others have
/// such forms.
fn is_wide(sign: char) -> bool {
    matches!(sign, '\u{2024}'..='\u{2026}' | '\u{2044}' | '\u{2215}' | '\u{2216}' | '\u{29f5}'
        | '\u{29f8}' | '\u{fe50}'..='\u{fe6f}' | '\u{ff00}'..='\u{ffef}')
}

fn without_parameters(judged: &str) -> Vec<String> {
    let Some((before, _)) = judged.split_once(';') else { return Vec::new() };
    let names = judged.split('/').map(|part| part.split(';').next().unwrap_or_default());
    vec![names.collect::<Vec<_>>().join("/"), before.to_owned()]
}

fn decoded(raw: &[u8]) -> Result<Vec<u8>, Fault> {
    let mut part = Vec::with_capacity(raw.len());
    let mut left = raw;
    while let [byte, rest @ ..] = left {
        left = rest;
        match (byte, rest) {
            (b'%', [high, low, rest @ ..]) => {
                let byte = digit(*high)? << 4 | digit(*low)?;
                if matches!(byte, b'/' | b'?' | b'#') {
                    return Err(Fault::Path);
                }
                part.push(byte);
                left = rest;
            }
            (b'%', _) => return Err(Fault::Path),
            (byte, _) => part.push(*byte),
        }
    }
    let is_hidden = |three: &[u8]| match three {
        [b'%', b'u' | b'U', digit] => digit.is_ascii_hexdigit(),
        [b'%', high, low] => high.is_ascii_hexdigit() && low.is_ascii_hexdigit(),
        _ => false,
    };
    if part.contains(&b'\\') || part.windows(3).any(is_hidden) {
        return Err(Fault::Path);
    }
    Ok(part)
}

fn digit(byte: u8) -> Result<u8, Fault> {
    let digit = char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    digit.ok_or(Fault::Path)
}

/// Writes a byte as it may stand in a path (RFC 3986, section 3.3).
fn spell(byte: u8, sent: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte) {
        return sent.push(byte);
    }
    let digit = |digit: u8| DIGITS.get(usize::from(digit)).copied().unwrap_or(b'0');
    sent.extend([b'%', digit(byte >> 4), digit(byte & 15)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_judged_is_what_is_sent() {
        #[rustfmt::skip]
        let cases = [
            ("/",                       "/",            "/"),
            ("/a/b",                    "/a/b",         "/a/b"),
            ("/a/b/",                   "/a/b/",        "/a/b/"),
            ("//a///b",                 "/a/b",         "/a/b"),
            ("/a/./b/../c",             "/a/c",         "/a/c"),
            ("/public/../admin",        "/admin",       "/admin"),
            ("/public/%2e%2e/admin",    "/admin",       "/admin"),
            ("/public/x/..//../admin",  "/admin",       "/admin"),
            ("/../../admin",            "/admin",       "/admin"),
            ("/a/..",                   "/",            "/"),
            ("/%61dmin",                "/admin",       "/admin"),
            ("/a%20b?x=%2f..//",        "/a b",         "/a%20b?x=%2f..//"),
            ("/caf%c3%a9",              "/café",        "/caf%C3%A9"),
            ("/a;b=1/c",                "/a;b=1/c",     "/a;b=1/c"),
            ("/100%25",                 "/100%",        "/100%25"),
        ];
        for (target, judged, sent) in cases {
            let path = one_path(target.as_bytes()).unwrap();
            assert_eq!((&*path.judged, &*path.sent), (judged, sent.as_bytes()), "{target}");
            // Read again it is the same.
            let again = one_path(&path.sent).unwrap();
            assert_eq!(again, path, "{target}");
        }
    }

    #[test]
    fn what_follows_a_semicolon_is_judged_and_what_is_left_without_it() {
        #[rustfmt::skip]
        let cases: [(&str, &[&str]); 5] = [
            ("/a/b",          &[]),
            ("/admin;x",      &["/admin", "/admin"]),
            ("/admin;x/y",    &["/admin/y", "/admin"]),
            ("/admin%3bx/y/", &["/admin/y/", "/admin"]),
            ("/a;b;c/d;e",    &["/a/d", "/a"]),
        ];
        for (target, also) in cases {
            assert_eq!(one_path(target.as_bytes()).unwrap().also, also, "{target}");
        }
    }

    #[test]
    fn what_servers_read_differently_is_refused() {
        let cases = [
            "",
            "a",
            "*",
            "/a%2fb",
            "/a%5cb",
            "/a\\b",
            "/%252e%252e/x",
            "/%00",
            "/%0a",
            "/%7f",
            "/a%",
            "/a%2",
            "/a%zz",
            "/..;/x",
            "/a/.;x/b",
            "/%ff",
            "/%2e%2e;x/admin",
            "/;/admin",
            "/%3b/admin",
            "/;x=1/admin",
            "/a/..%3b/admin",
            "/admin./x",
            "/admin%2e",
            "/...",
            "/admin%20",
            "/admin.;x",
            "/admin%3fx",
            "/admin%23x",
            "/admin::$DATA",
            "/%25u002fadmin",
            "/%u002fadmin",
            "/%ef%bc%8fadmin",
            "/%e2%80%a5/admin",
            "/%c0%afadmin",
        ];
        for target in cases {
            assert_eq!(one_path(target.as_bytes()), Err(Fault::Path), "{target}");
        }
    }
}
