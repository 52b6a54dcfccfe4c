//! Texts of which nobody knows what reads them: messages, bodies, code, the text of a document.

use super::address::{address, user_at_host};
use super::value::{gone, split};
use super::{QUOTES, SCHEMES, USER, Within, name, pair, shape};

/// Returns a text, with secrets taken out. Its blanks stay as they are.
pub(super) fn redact(text: &str, within: Within) -> String {
    let text = pair::redact(&shape::redact(text), within);
    let mut told = String::with_capacity(text.len());
    let mut before = Before::Nothing;
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let bare = rest.trim_start();
        let blank = rest.len() - bare.len();
        let (blanks, next) = rest.split_at(blank);
        told.push_str(blanks);
        // What stands in another line is not its value.
        if blanks.contains('\n') {
            before = Before::Nothing;
        }
        rest = next;
        match std::mem::replace(&mut before, Before::Nothing) {
            Before::Secret if !rest.starts_with('-') && !rest.starts_with('$') => {
                let value = split(rest);
                told.push_str(value.open);
                told.push_str(&gone(value.value));
                rest = value.rest;
            }
            Before::User => {
                let value = split(rest);
                if let Some(user) = without_password(value.value) {
                    told.push_str(value.open);
                    told.push_str(&user);
                    rest = value.rest;
                }
            }
            Before::Secret | Before::Nothing => {}
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        told.push_str(&one(word));
        before = Before::of(word.trim_matches(QUOTES));
        rest = after;
    }
    told
}

/// What the word before this one was.
enum Before {
    Nothing,
    /// An option that takes a secret, or a way to prove who one is.
    Secret,
    /// An option that takes a user, perhaps with a password.
    User,
}

impl Before {
    fn of(word: &str) -> Self {
        let is_scheme = SCHEMES.iter().any(|it| *it != "token" && it.eq_ignore_ascii_case(word));
        if is_scheme || name::is_option(word) {
            Self::Secret
        } else if USER.contains(&word) || ends_in_user(word) {
            Self::User
        } else {
            Self::Nothing
        }
    }
}

/// Tells several options in one word, of which the last takes a user, such as `-su`.
pub(super) fn ends_in_user(word: &str) -> bool {
    let Some(letters) = word.strip_prefix('-').filter(|it| it.len() < 8) else { return false };
    letters.bytes().all(|it| it.is_ascii_alphabetic()) && letters.ends_with(['u', 'U'])
}

/// Returns a user without the password behind it; none where there is none. Two numbers are a user and
/// a group, and an address is something else.
pub(super) fn without_password(word: &str) -> Option<String> {
    let (user, password) = word.split_once(':')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let is_group = is_number(user) && is_number(password);
    let is_other = password.is_empty() || password.starts_with("//") || is_group;
    (!is_other).then(|| format!("{user}:{}", gone(password)))
}

/// Returns a word that has no blanks.
fn one(word: &str) -> String {
    for option in USER {
        if let Some(value) = word.strip_prefix(option).and_then(|rest| rest.strip_prefix('='))
            && let Some(user) = without_password(value)
        {
            return format!("{option}={user}");
        }
    }
    // A user right behind its letter.
    if word.starts_with("-u") || word.starts_with("-U") {
        return without_password(word).unwrap_or_else(|| word.to_owned());
    }
    match word.split_once("://") {
        Some((scheme, rest)) => address(scheme, rest),
        None => user_at_host(word),
    }
}
