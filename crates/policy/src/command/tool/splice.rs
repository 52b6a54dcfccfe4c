//! `env -S`: one word that becomes several, in the notation that `env` has for it.

use crate::command::{Arg, Certainty, HOLE, Holed as _};

/// Returns the words that a text becomes; `None` if `env` would refuse it.
pub(super) fn words<'t>(text: &Arg<'t>) -> Option<Vec<Arg<'t>>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut rest = text.text.chars();
    while let Some(letter) = rest.next() {
        match (letter, quote) {
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (letter, Some(open)) if letter == open => quote = None,
            ('\\', _) => match (rest.next()?, quote) {
                (escaped @ ('\\' | '\''), Some('\'')) => word.get_or_insert_default().push(escaped),
                (other, Some('\'')) => word.get_or_insert_default().extend(['\\', other]),
                ('_', Some(_)) => word.get_or_insert_default().push(' '),
                ('_', None) => words.extend(word.take()),
                // What stands behind it is left out.
                ('c', None) => break,
                (escaped, _) => word.get_or_insert_default().push(meant(escaped)?),
            },
            ('$', None | Some('"')) => {
                let name = rest.as_str().strip_prefix('{')?;
                let end = name.find('}')?;
                rest = name.get(end + 1..)?.chars();
                word.get_or_insert_default().push(HOLE);
            }
            ('#', None) if word.is_none() => break,
            (blank, None) if blank.is_ascii_whitespace() || blank == '\u{b}' => {
                words.extend(word.take());
            }
            (letter, _) => word.get_or_insert_default().push(letter),
        }
    }
    if quote.is_some() {
        return None;
    }
    words.extend(word);
    Some(words.into_iter().map(|word| known_in_part(word, text)).collect())
}

/// What an escape stands for.
fn meant(escaped: char) -> Option<char> {
    Some(match escaped {
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        '#' | '$' | '"' | '\'' | '\\' => escaped,
        _ => return None,
    })
}

fn known_in_part<'t>(word: String, of: &Arg<'t>) -> Arg<'t> {
    let certainty = if word.has_hole() { Certainty::Many } else { Certainty::Known };
    Arg { text: word.into(), certainty, span: of.span, verbatim: None }
}
