//! Texts with places that values are put into.

use crate::command::HOLE;
use crate::shell::MAX_TEXT;

/// How places are marked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Form {
    /// `{}`, `{0}`, `{name:>8}`.
    Braces,
    /// `%s`, `%-8.2f`, `%(name)s`.
    Percent,
}

/// Puts values into a text, and [`HOLE`]s where it cannot be told which; `None` if that is too long.
pub(super) fn filled(text: &str, form: Form, values: &[String]) -> Option<String> {
    let mark = if form == Form::Braces { '{' } else { '%' };
    let mut out = String::new();
    let mut rest = text;
    let mut next = 0;
    while let Some((known, tail)) = rest.split_once(mark) {
        out.push_str(known);
        if let Some(tail) = tail.strip_prefix(mark) {
            out.push(mark);
            rest = tail;
            continue;
        }
        let (name, tail) = match form {
            Form::Braces => tail.split_once('}').unwrap_or((tail, "")),
            Form::Percent => {
                let named = tail.strip_prefix('(').and_then(|tail| tail.split_once(')'));
                let (name, tail) = named.unwrap_or(("", tail));
                let end = tail.find(|c: char| c.is_alphabetic());
                let letter = end.and_then(|end| tail.get(end..)?.chars().next());
                let length = end.unwrap_or(0) + letter.map_or(0, char::len_utf8);
                (name, tail.get(length..).unwrap_or_default())
            }
        };
        let place = match name.split([':', '!']).next().unwrap_or_default() {
            "" if form == Form::Braces || name.is_empty() => {
                next += 1;
                Some(next - 1)
            }
            number => number.parse::<usize>().ok(),
        };
        match place.and_then(|place| values.get(place)) {
            Some(value) => out.push_str(value),
            None => out.push(HOLE),
        }
        if out.len() > MAX_TEXT {
            return None;
        }
        rest = tail;
    }
    out.push_str(rest);
    (out.len() <= MAX_TEXT).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_put_where_they_belong() {
        let values = ["a".to_owned(), "b".to_owned()];
        for (text, form, expected) in [
            ("/x/%s/%s", Form::Percent, "/x/a/b"),
            ("%%s %-8.2f %(n)s", Form::Percent, "%s a \u{FDD0}"),
            ("{}/{}", Form::Braces, "a/b"),
            ("{1}{0:>3} {n} {{", Form::Braces, "ba \u{FDD0} {"),
            ("%", Form::Percent, "a"),
        ] {
            assert_eq!(filled(text, form, &values).as_deref(), Some(expected), "{text}");
        }
        let long = vec!["x".repeat(MAX_TEXT)];
        assert_eq!(filled("{0}{0}", Form::Braces, &long), None);
    }
}
