//! What programs make of a text that comes in, where that is known: `rev`, `tr`.

use super::scope::Value;
use super::walk::Input;
use crate::command::{Arg, Certainty};

/// Most letters that a set of `tr` is spelled out to.
const MOST_LETTERS: usize = 256;

/// Returns what such a program prints.
pub(super) fn turned(name: &str, args: &[Arg<'_>], input: &Input) -> Option<Value> {
    let Input::Text(value, ..) = input else { return None };
    if value.certainty != Certainty::Known {
        return None;
    }
    let args: Vec<&Arg<'_>> = args.iter().filter(|arg| arg.text != "--").collect();
    match (name, &*args) {
        ("rev", []) => {
            let lines = value.text.lines().map(|line| line.chars().rev().collect::<String>());
            Some(Value::known(lines.collect::<Vec<_>>().join("\n")))
        }
        ("tr", [option, set]) if option.text == "-d" => {
            let set = letters(set.as_known()?)?;
            Some(Value::known(value.text.replace(|c| set.contains(&c), "")))
        }
        ("tr", [from, to]) if !from.text.starts_with('-') => {
            let (from, to) = (letters(from.as_known()?)?, letters(to.as_known()?)?);
            let last = to.last()?;
            let turn = |c| match from.iter().rposition(|known| *known == c) {
                Some(at) => *to.get(at).unwrap_or(last),
                None => c,
            };
            Some(Value::known(value.text.chars().map(turn).collect::<String>()))
        }
        _ => None,
    }
}

/// Spells out a set of `tr`: `a-z`, `xyz`. `None` for classes and escapes.
fn letters(set: &str) -> Option<Vec<char>> {
    if set.contains(['[', '\\']) {
        return None;
    }
    let mut letters = Vec::new();
    let mut rest = set.chars().peekable();
    while let Some(first) = rest.next() {
        let mut ahead = rest.clone();
        match (ahead.next(), ahead.next()) {
            (Some('-'), Some(last)) => {
                letters.extend((first..=last).take(MOST_LETTERS));
                rest = ahead;
            }
            (Some(_) | None, _) => letters.push(first),
        }
    }
    (letters.len() <= MOST_LETTERS).then_some(letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_spelled_out_as_far_as_they_are_plain() {
        let spelled = |set| letters(set).map(|letters| letters.into_iter().collect::<String>());
        for (set, expected) in [
            ("a-e", Some("abcde")),
            ("xa-cy", Some("xabcy")),
            ("b-za", Some("bcdefghijklmnopqrstuvwxyza")),
            ("-a", Some("-a")),
            ("a-", Some("a-")),
            ("", Some("")),
            ("[:upper:]", None),
            ("\\n", None),
        ] {
            assert_eq!(spelled(set).as_deref(), expected, "{set}");
        }
    }
}
