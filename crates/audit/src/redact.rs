//! Taking secrets out of what a command line says.
//!
//! What is taken out: the value behind a name that looks secret (`--token=…`, `--password …`,
//! `API_KEY=…`, `?token=…`), the value of a header that proves who one is (`Authorization: …`,
//! `X-Api-Key: …`, `Cookie: …`), the password behind a user (`-u me:…`), and what stands in front of a
//! host. So is what looks like a secret itself: tokens of well-known services, signed tokens, private
//! keys. Names of options, headers, users and hosts stay. What a program calls a secret under a plain
//! name, and looks like nothing, cannot be seen, and stays.

mod header;
mod shape;

use palisade_policy::name::looks_secret;

const GONE: &str = "[redacted]";

/// Ways to prove who one is, as in a header.
const SCHEMES: [&str; 5] = ["Bearer", "Basic", "token", "Digest", "Negotiate"];

/// Options that take a secret, by names that do not say so.
const SECRET: [&str; 3] = ["--cookie", "--oauth2-bearer", "--pass"];

/// Options that take a user with a password.
const USER: [&str; 6] = ["--user", "--proxy-user", "--auth", "--proxy-auth", "-u", "-U"];

const QUOTES: [char; 3] = ['\'', '"', '`'];

/// Returns the words of a command, with secrets taken out.
pub fn redact(argv: &[String]) -> Vec<String> {
    let mut told: Vec<String> = Vec::with_capacity(argv.len());
    let mut before = Before::Nothing;
    for word in argv {
        told.push(match before {
            Before::Flag if !word.starts_with('-') => GONE.to_owned(),
            Before::User => without_password(word).unwrap_or_else(|| redact_text(word)),
            Before::Nothing | Before::Scheme | Before::Flag | Before::Rest(_) => redact_text(word),
        });
        // The next word is a whole one, whatever this one ends with.
        before = match Before::of(word) {
            before @ (Before::Flag | Before::User) => before,
            Before::Nothing | Before::Scheme | Before::Rest(_) => Before::Nothing,
        };
    }
    told
}

/// Returns a text, with secrets taken out. Its blanks stay as they are.
pub(crate) fn redact_text(text: &str) -> String {
    let text = header::redact(&shape::redact(text));
    let mut told = String::with_capacity(text.len());
    let mut before = Before::Nothing;
    for piece in text.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end_matches(char::is_whitespace);
        let blank = piece.get(word.len()..).unwrap_or_default();
        let bare = word.trim_matches(QUOTES);
        let gone = match before {
            Before::Rest(quote) => {
                // All of it is a secret, to the end of the quote.
                let Some((_, after)) = word.split_once(quote) else { continue };
                told.push(quote);
                told.push_str(&redact_word(after));
                told.push_str(blank);
                before = Before::Nothing;
                continue;
            }
            Before::Scheme | Before::Flag if !bare.is_empty() && !bare.starts_with('-') => {
                Some(word.replace(bare, GONE))
            }
            Before::User => without_password(bare).map(|user| word.replace(bare, &user)),
            Before::Nothing | Before::Scheme | Before::Flag => None,
        };
        match gone {
            Some(gone) => {
                told.push_str(&gone);
                if let Some(quote) = opened(word) {
                    before = Before::Rest(quote);
                    continue;
                }
                before = Before::Nothing;
            }
            None => {
                told.push_str(&redact_word(word));
                if !bare.is_empty() {
                    before = Before::of(bare);
                }
            }
        }
        told.push_str(blank);
    }
    told
}

/// What the word before this one was.
#[derive(Clone, Copy)]
enum Before {
    Nothing,
    /// The name of a way to prove who one is, as in a header.
    Scheme,
    /// An option that takes a secret.
    Flag,
    /// An option that takes a user, perhaps with a password.
    User,
    /// A part of a secret that this quote ends.
    Rest(char),
}

impl Before {
    fn of(word: &str) -> Self {
        if SCHEMES.iter().any(|it| it.eq_ignore_ascii_case(word)) {
            Self::Scheme
        } else if asks_for_a_secret(word) {
            Self::Flag
        } else if USER.contains(&word) || ends_in_user(word) {
            Self::User
        } else {
            Self::Nothing
        }
    }
}

/// Tells several options in one word, of which the last takes a user, such as `-su`.
fn ends_in_user(word: &str) -> bool {
    let Some(letters) = word.strip_prefix('-').filter(|it| it.len() < 8) else { return false };
    letters.bytes().all(|it| it.is_ascii_alphabetic()) && letters.ends_with(['u', 'U'])
}

/// Tells an option whose value is the next word.
fn asks_for_a_secret(word: &str) -> bool {
    SECRET.contains(&word)
        || word.strip_prefix("--").is_some_and(|name| !name.contains('=') && names_a_secret(name))
}

fn names_a_secret(name: &str) -> bool {
    looks_secret(&name.replace('-', "_"))
}

/// Returns the quote that a word opens and does not close.
fn opened(word: &str) -> Option<char> {
    let quote = word.chars().next().filter(|first| QUOTES.contains(first))?;
    (word.matches(quote).count() == 1).then_some(quote)
}

/// Returns a user without the password behind it; none where there is none. Two numbers are a user and
/// a group, and an address is something else.
fn without_password(word: &str) -> Option<String> {
    let (user, password) = word.split_once(':')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let is_group = is_number(user) && is_number(password);
    let is_other = password.is_empty() || password.starts_with("//") || is_group;
    (!is_other).then(|| format!("{user}:{GONE}"))
}

fn redact_word(word: &str) -> String {
    if let Some((name, value)) = word.split_once('=') {
        let bare = name.trim_start_matches(['-', '\'', '"', '`']);
        let end = value.trim_end_matches(QUOTES).len();
        let (value, quote) = value.split_at(end);
        if !value.is_empty() && (names_a_secret(bare) || SECRET.contains(&name)) {
            return format!("{name}={GONE}{quote}");
        }
        if USER.contains(&name)
            && let Some(user) = without_password(value)
        {
            return format!("{name}={user}{quote}");
        }
    }
    // A user right behind its letter.
    if word.starts_with("-u") || word.starts_with("-U") {
        return without_password(word).unwrap_or_else(|| word.to_owned());
    }
    match word.split_once("://") {
        Some((scheme, rest)) => address(scheme, rest),
        None => word.to_owned(),
    }
}

/// Returns an address without what proves who asks for it.
fn address(scheme: &str, rest: &str) -> String {
    let (place, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let place = match place.rsplit_once('@') {
        None => place.to_owned(),
        Some((user, host)) => match user.split_once(':') {
            Some((user, _)) => format!("{user}:{GONE}@{host}"),
            // There it is a name; elsewhere it may be all there is.
            None if scheme.ends_with("ssh") || scheme.ends_with("sftp") => format!("{user}@{host}"),
            None => format!("{GONE}@{host}"),
        },
    };
    let mut told = format!("{scheme}://{place}");
    for part in path.split_inclusive(['?', '&', '#', ';']) {
        match part.split_once('=') {
            Some((name, value)) if names_a_secret(name) => {
                let end = value.trim_end_matches(['?', '&', '#', ';', '\'', '"', '`']).len();
                told.push_str(&format!("{name}={GONE}{}", value.get(end..).unwrap_or_default()));
            }
            Some(_) | None => match part.split_once("://") {
                Some((scheme, rest)) => told.push_str(&address(scheme, rest)),
                None => told.push_str(part),
            },
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_taken_out_and_the_rest_stays() {
        #[rustfmt::skip]
        let cases = [
            // text                                     told
            ("git status --short",                      "git status --short"),
            ("x --token=abc y",                         "x --token=[redacted] y"),
            ("x --token abc y",                         "x --token [redacted] y"),
            ("x --api-key 'abc' y",                     "x --api-key '[redacted]' y"),
            ("x --token --verbose",                     "x --token --verbose"),
            ("API_KEY=abc make",                        "API_KEY=[redacted] make"),
            ("export 'DB_PASSWORD=abc'",                "export 'DB_PASSWORD=[redacted]'"),
            ("curl -H 'Authorization: Bearer abc' u",   "curl -H 'Authorization: Bearer [redacted]' u"),
            ("get https://me:abc@example.com/a@b",      "get https://me:[redacted]@example.com/a@b"),
            ("get https://example.com/a@b",             "get https://example.com/a@b"),
            ("cc -DKEYBOARD=1 a.c",                     "cc -DKEYBOARD=1 a.c"),
            ("a  b\n\tc",                               "a  b\n\tc"),
            ("TOKEN=",                                  "TOKEN="),
            ("curl -u me:abc https://example.com",      "curl -u me:[redacted] https://example.com"),
            ("curl -sSu me:abc https://example.com",    "curl -sSu me:[redacted] https://example.com"),
            ("curl -ume:abc https://example.com",       "curl -ume:[redacted] https://example.com"),
            ("curl --user me:abc example.com",          "curl --user me:[redacted] example.com"),
            ("curl --proxy-user=me:abc example.com",    "curl --proxy-user=me:[redacted] example.com"),
            ("curl -u me example.com",                  "curl -u me example.com"),
            ("curl -u 'me:a b c' example.com",          "curl -u 'me:[redacted]' example.com"),
            ("x --token 'a b' y",                       "x --token '[redacted]' y"),
            ("run -u 1000:1000 image:tag",              "run -u 1000:1000 image:tag"),
            ("sort -u a.txt b:c",                       "sort -u a.txt b:c"),
            ("git push -u origin main:main",            "git push -u origin main:main"),
            ("curl --cookie a=b example.com",           "curl --cookie [redacted] example.com"),
            ("curl --oauth2-bearer abc example.com",    "curl --oauth2-bearer [redacted] example.com"),
            ("get https://abc@example.com/a",           "get https://[redacted]@example.com/a"),
            ("get https://x-token:abc@example.com/a",   "get https://x-token:[redacted]@example.com/a"),
            ("get ssh://git@example.com/a",             "get ssh://git@example.com/a"),
            ("--proxy=https://me:abc@example.com",      "--proxy=https://me:[redacted]@example.com"),
            ("get https://example.com/?a=1&token=abc&b=2", "get https://example.com/?a=1&token=[redacted]&b=2"),
            ("get https://example.com/?a=1&b=2#c",      "get https://example.com/?a=1&b=2#c"),
            ("curl -H Authorization:abc example.com",   "curl -H Authorization:[redacted] example.com"),
            ("curl -H 'X-Api-Key: abc' example.com",    "curl -H 'X-Api-Key: [redacted]' example.com"),
            ("curl -H 'Accept: text/html' example.com", "curl -H 'Accept: text/html' example.com"),
            ("curl --header \"authorization: Basic abc d\" u", "curl --header \"authorization: Basic [redacted]\" u"),
            ("curl -H 'Cookie: a=b; c=d' example.com",  "curl -H 'Cookie: [redacted]' example.com"),
        ];
        for (text, told) in cases {
            assert_eq!(redact_text(text), told);
            if !text.contains(['\'', '"', '\n']) && !text.contains("  ") {
                let argv: Vec<String> = text.split(' ').map(str::to_owned).collect();
                assert_eq!(redact(&argv).join(" "), told, "as words");
            }
        }
    }

    #[test]
    fn a_word_is_one_whatever_stands_in_it() {
        #[rustfmt::skip]
        let cases: [(&[&str], &[&str]); 7] = [
            (&["curl", "-u", "me:a b c", "example.com"],    &["curl", "-u", "me:[redacted]", "example.com"]),
            (&["curl", "--header", "Authorization: a b"],   &["curl", "--header", "Authorization: [redacted]"]),
            (&["curl", "-HX-Auth-Token: a b", "x"],         &["curl", "-HX-Auth-Token: [redacted]", "x"]),
            (&["curl", "--header=Cookie: a=b; c", "x"],     &["curl", "--header=Cookie: [redacted]", "x"]),
            (&["curl", "-H", "Accept: a b", "-u", "me"],    &["curl", "-H", "Accept: a b", "-u", "me"]),
            (&["x", "--token", "a b", "y:z"],               &["x", "--token", "[redacted]", "y:z"]),
            (&["x", "-u", "--", "a:b"],                     &["x", "-u", "--", "a:b"]),
        ];
        for (argv, told) in cases {
            let argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(redact(&argv), told);
        }
    }
}
