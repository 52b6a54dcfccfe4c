//! Taking secrets out of what a command line says.
//!
//! What is taken out: the value behind a name that looks secret (`--token=…`, `--password …`,
//! `API_KEY=…`), what follows `Bearer`, `Basic` and `token` in a header, and the password in front
//! of a host. What a program calls a secret under a plain name cannot be seen, and stays.

use palisade_policy::name::looks_secret;

const GONE: &str = "[redacted]";

/// Returns the words of a command, with secrets taken out.
pub fn redact(argv: &[String]) -> Vec<String> {
    let mut told: Vec<String> = Vec::with_capacity(argv.len());
    let mut secret_follows = false;
    for word in argv {
        if secret_follows && !word.starts_with('-') {
            told.push(GONE.to_owned());
            secret_follows = false;
            continue;
        }
        secret_follows = asks_for_a_secret(word);
        told.push(redact_text(word));
    }
    told
}

/// Returns a text, with secrets taken out. Its blanks stay as they are.
pub(crate) fn redact_text(text: &str) -> String {
    let mut told = String::with_capacity(text.len());
    let mut before = Before::Nothing;
    for piece in text.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end_matches(char::is_whitespace);
        let blank = piece.get(word.len()..).unwrap_or_default();
        let bare = word.trim_matches(['\'', '"', '`']);
        match before {
            Before::Scheme | Before::Flag if !bare.is_empty() && !bare.starts_with('-') => {
                told.push_str(&word.replace(bare, GONE));
                before = Before::Nothing;
            }
            Before::Nothing | Before::Scheme | Before::Flag => {
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
}

impl Before {
    fn of(word: &str) -> Self {
        if ["Bearer", "Basic", "token"].iter().any(|it| it.eq_ignore_ascii_case(word)) {
            Self::Scheme
        } else if asks_for_a_secret(word) {
            Self::Flag
        } else {
            Self::Nothing
        }
    }
}

/// Tells an option whose value is the next word.
fn asks_for_a_secret(word: &str) -> bool {
    word.strip_prefix("--").is_some_and(|name| !name.contains('=') && names_a_secret(name))
}

fn names_a_secret(name: &str) -> bool {
    looks_secret(&name.replace('-', "_"))
}

fn redact_word(word: &str) -> String {
    if let Some((name, value)) = word.split_once('=') {
        let bare = name.trim_start_matches(['-', '\'', '"', '`']);
        if !value.is_empty() && names_a_secret(bare) {
            let end = value.trim_end_matches(['\'', '"', '`']).len();
            return format!("{name}={GONE}{}", value.get(end..).unwrap_or_default());
        }
    }
    if let Some((scheme, rest)) = word.split_once("://") {
        let (place, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        if let Some((user, host)) = place.rsplit_once('@') {
            let user = user.split(':').next().unwrap_or_default();
            return format!("{scheme}://{user}:{GONE}@{host}{path}");
        }
    }
    word.to_owned()
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
        ];
        for (text, told) in cases {
            assert_eq!(redact_text(text), told);
            if !text.contains(['\'', '\n']) && !text.contains("  ") {
                let argv: Vec<String> = text.split(' ').map(str::to_owned).collect();
                assert_eq!(redact(&argv).join(" "), told, "as words");
            }
        }
    }
}
