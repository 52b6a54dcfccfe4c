//! Names whose values are secrets.

use palisade_policy::name::looks_secret;

/// Options that take a secret, by names that do not say so.
const SECRET: [&str; 3] = ["--cookie", "--oauth2-bearer", "--pass"];

/// The last words of names, beside those that the policy knows.
const LAST: [&str; 5] = ["PASS", "PW", "SIG", "SIGNATURE", "PASSIN"];

/// Whole names.
const WHOLE: [&str; 11] = [
    "auth",
    "authtoken",
    "credential",
    "pass",
    "passin",
    "passout",
    "passphrase",
    "passwd",
    "pin",
    "pw",
    "pwd",
];

/// Whether a name says that its value is a secret, however it is written: `api-key`, `dbPassword`,
/// `spring.datasource.password`.
pub(super) fn is_secret(name: &str) -> bool {
    let name = name.trim_matches(['\'', '"', '`', '\\']);
    if name.is_empty() || name.len() > 128 || !name.chars().all(is_part) {
        return false;
    }
    let mut plain = String::with_capacity(name.len() + 4);
    let mut before = ' ';
    for c in name.chars() {
        match c {
            '-' | '.' | '/' | ':' | '[' | ']' | '$' => plain.push('_'),
            _ if c.is_ascii_uppercase() && before.is_ascii_lowercase() => plain.extend(['_', c]),
            _ => plain.push(c),
        }
        before = c;
    }
    let joined = name.replace(['-', '.'], "_");
    let upper = plain.to_ascii_uppercase();
    let last = upper.rsplit_once('_').map(|(_, last)| last);
    looks_secret(&plain)
        || looks_secret(&joined)
        || last.is_some_and(|last| LAST.contains(&last))
        || WHOLE.iter().any(|it| it.eq_ignore_ascii_case(name))
}

/// What names are made of.
pub(super) fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-.".contains(c)
}

/// Whether an option takes a secret as its next word.
pub(super) fn is_option(word: &str) -> bool {
    if SECRET.contains(&word) {
        return true;
    }
    let long = word.strip_prefix("--").is_some_and(is_secret);
    // One dash is enough for some; a single letter says nothing.
    let short = || word.strip_prefix('-').is_some_and(|name| name.len() > 3 && is_secret(name));
    long || short()
}

/// Whether a parameter of an address holds a secret.
pub(super) fn is_parameter(name: &str) -> bool {
    let name = plain_percent(name);
    is_secret(&name) || ["key", "sig", "signature", "code"].contains(&name.as_str())
}

/// Returns a name without `%77`.
fn plain_percent(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    let mut rest = name;
    while let Some((before, after)) = rest.split_once('%') {
        plain.push_str(before);
        let code = after.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok());
        match code {
            Some(code) if code.is_ascii() => {
                plain.push(char::from(code));
                rest = after.get(2..).unwrap_or_default();
            }
            Some(_) | None => {
                plain.push('%');
                rest = after;
            }
        }
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_it_holds() {
        for name in [
            "password",
            "PassWord",
            "dbPassword",
            "db.password",
            "api-key",
            "AccountKey",
            "Pwd",
            "pass",
            "keyStorePassword",
            "access_token",
            "client-secret",
            "X-Amz-Signature",
            "sftp-pass",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in ["KEYBOARD", "monkey", "path", "compass", "user", "a b password", "", "pinned"]
        {
            assert!(!is_secret(name), "{name}");
        }
        assert!(is_parameter("pass%77ord") && is_parameter("key") && !is_parameter("%"));
        assert!(is_option("--token") && is_option("-password") && !is_option("-p"));
    }
}
