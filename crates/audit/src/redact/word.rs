//! The words of a command: each is one, whatever stands in it.

use super::text::{ends_in_user, without_password};
use super::tool::{self, Kind, Next};
use super::value::gone;
use super::{GONE, HOLE, QUOTES, USER, Within, name, shape, shell, text};

/// How deep texts within texts are looked at as shell text.
const DEEPEST: usize = 4;

/// Returns the words of a command, with secrets taken out.
pub(super) fn redact(words: &[String], depth: usize) -> Vec<String> {
    let mut told: Vec<String> = Vec::with_capacity(words.len());
    let mut before = Before::Nothing;
    let mut in_key = false;
    let (tool, is_language) = (tool::of(words), tool::is_language(words));
    for (number, word) in words.iter().enumerate() {
        if in_key {
            // The lines of a private key, one in each word.
            in_key = is_key_line(word) && !word.contains("-----END");
            if is_key_line(word) {
                told.push(GONE.to_owned());
                continue;
            }
        }
        let is_name = number == 0;
        told.push(match std::mem::replace(&mut before, Before::Nothing) {
            Before::Secret if is_value(word) => gone(word),
            Before::Cookie if word.contains('=') => gone(word),
            Before::Prefixed if word.contains(':') => prefixed(word),
            Before::User => without_password(word).unwrap_or_else(|| one(word)),
            Before::UserPercent => match word.split_once('%') {
                Some((user, password)) => format!("{user}%{}", gone(password)),
                None => one(word),
            },
            Before::Header => text::redact(word, Within::Header),
            Before::Assignment => assignment(word).unwrap_or_else(|| one(word)),
            Before::Shell
                if depth < DEEPEST && word.contains(char::is_whitespace) && !is_language =>
            {
                shell::redact(word, depth + 1)
            }
            Before::Nothing
            | Before::Secret
            | Before::Cookie
            | Before::Prefixed
            | Before::Shell => match tool.and_then(|tool| tool.glued(number, word)) {
                Some(told) => told,
                None if tool.is_some_and(|tool| tool.kind == Kind::Assigns) => {
                    assignment(word).unwrap_or_else(|| one(word))
                }
                None if tool.is_some_and(|tool| tool.kind == Kind::ReadsShell)
                    && depth < DEEPEST
                    && word.contains(char::is_whitespace) =>
                {
                    shell::redact(word, depth + 1)
                }
                None => one(word),
            },
        });
        in_key = word.trim_start_matches(QUOTES).starts_with("-----BEGIN ")
            && word.contains("PRIVATE KEY")
            && !word.contains("-----END");
        if !is_name {
            before = match tool.and_then(|tool| tool.next(words, number, word)) {
                Some(Next::Secret) => Before::Secret,
                Some(Next::Cookie) => Before::Cookie,
                Some(Next::Prefixed) => Before::Prefixed,
                Some(Next::UserPercent) => Before::UserPercent,
                None => Before::of(word),
            };
        }
    }
    told
}

/// What the word before this one was.
#[derive(Clone, Copy)]
enum Before {
    Nothing,
    /// An option, or a name, whose value is the next word.
    Secret,
    /// The same, where the next word may be the name of a file.
    Cookie,
    /// Something that takes `pass:` and a secret.
    Prefixed,
    /// An option that takes a user, perhaps with a password.
    User,
    /// The same, with `%` between the two.
    UserPercent,
    /// An option that takes a header.
    Header,
    /// An option that takes a variable and its value.
    Assignment,
    /// An option that takes a text for a shell, mostly.
    Shell,
}

impl Before {
    fn of(word: &str) -> Self {
        let header = word.strip_suffix(':').filter(|name| !name.contains(HOLE));
        if name::is_option(word)
            || word.eq_ignore_ascii_case("bearer")
            || header
                .is_some_and(|it| name::is_secret(it) || it.eq_ignore_ascii_case("authorization"))
        {
            Self::Secret
        } else if USER.contains(&word) || ends_in_user(word) {
            Self::User
        } else if ["-H", "--header"].contains(&word) {
            Self::Header
        } else if ["-e", "--env", "-E"].contains(&word) {
            Self::Assignment
        } else if word == "--command"
            || word.starts_with('-') && word.len() < 6 && word.ends_with('c')
        {
            Self::Shell
        } else {
            Self::Nothing
        }
    }
}

/// Whether a word is a value and no option.
fn is_value(word: &str) -> bool {
    let Some(rest) = word.strip_prefix('-') else { return true };
    // Letters of options are few, and no digits among them.
    !rest.starts_with('-') && rest.len() >= 8 && rest.bytes().any(|it| it.is_ascii_digit())
}

fn is_key_line(word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "+/=-".contains(c) || c.is_whitespace();
    word.contains("-----END") || word.len() >= 16 && word.chars().all(is_part)
}

fn prefixed(word: &str) -> String {
    match word.split_once(':') {
        Some(("pass", secret)) => format!("pass:{}", gone(secret)),
        Some(_) | None => word.to_owned(),
    }
}

/// Returns a variable without its value, if its name says that it is a secret.
fn assignment(word: &str) -> Option<String> {
    let (variable, value) = word.split_once('=')?;
    let bare = variable.strip_suffix('+').unwrap_or(variable);
    name::is_secret(bare).then(|| format!("{variable}={}", gone(value)))
}

/// Returns one word, of which nothing else is known.
fn one(word: &str) -> String {
    // An option with its value is one, blanks and all.
    if word.starts_with(['-', '/'])
        && let Some(at) = word.find(['=', ':'])
        && let (option, value) = word.split_at(at)
        && !option.contains(char::is_whitespace)
    {
        let (sign, value) = value.split_at(1);
        let bare = option.trim_start_matches(['-', '/']);
        if name::is_secret(bare)
            && !bare.is_empty()
            && !value.starts_with("//")
            && !option.starts_with("-H")
        {
            return format!("{option}{sign}{}", gone(value));
        }
        if sign == "=" && option.starts_with("--") && !value.is_empty() && option != "--header" {
            if USER.contains(&option) {
                let user = without_password(value);
                return format!("{option}={}", user.unwrap_or_else(|| value.to_owned()));
            }
            return format!("{option}={}", one(value));
        }
    }
    // So is a variable that has none in it.
    if !word.contains(char::is_whitespace)
        && let Some((variable, value)) = word.split_once('=')
        && variable.chars().all(name::is_part)
        && name::is_secret(variable.trim_start_matches('-'))
    {
        return format!("{variable}={}", gone(value));
    }
    let header = word.starts_with("-H") || word.starts_with("--header=");
    text::redact(word, if header { Within::Header } else { Within::Data })
}

/// Returns a word that stands for itself, such as the name of a file.
pub(super) fn alone(word: &str) -> String {
    one(&shape::redact(word))
}
