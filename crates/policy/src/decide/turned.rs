//! What programs make of a text that comes in, where that is known: `rev`, `tr`, `sed`.

use super::scope::Value;
use super::walk::Input;
use crate::command::{Arg, Certainty};
use crate::shell::MAX_TEXT;

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
        ("sed", [script]) | ("sed", [_, script]) => {
            let told = args.len() == 1 || args.first().is_some_and(|arg| arg.text == "-e");
            let script = script.as_known().filter(|_| told)?;
            let lines: Option<Vec<String>> =
                value.text.lines().map(|line| replaced(script, line.to_owned())).collect();
            Some(Value::known(lines?.join("\n")))
        }
        _ => None,
    }
}

/// Returns what commands such as `s/a/b/;s,c,d,g` make of a line. `None` for all but plain letters.
fn replaced(script: &str, mut line: String) -> Option<String> {
    for command in script.split(';') {
        let rest = command.trim().strip_prefix('s')?;
        let sign = rest.chars().next()?;
        let mut parts = rest.get(sign.len_utf8()..)?.split(sign);
        let (from, to, flags) = (parts.next()?, parts.next()?, parts.next()?);
        let special = |text: &str| text.contains(['\\', '*', '[', ']', '.', '^', '$', '&']);
        if parts.next().is_some() || from.is_empty() || special(from) || to.contains(['\\', '&']) {
            return None;
        }
        line = match flags {
            "" => line.replacen(from, to, 1),
            "g" => line.replace(from, to),
            _ => return None,
        };
        if line.len() > MAX_TEXT {
            return None;
        }
    }
    Some(line)
}

/// Spells out a set of `tr`: `a-z`, `xyz`, `\n`. `None` for classes and other escapes.
fn letters(set: &str) -> Option<Vec<char>> {
    let set = set.replace("\\n", "\n");
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
            ("\\n", Some("\n")),
            ("\\r", None),
        ] {
            assert_eq!(spelled(set).as_deref(), expected, "{set}");
        }
    }
}
