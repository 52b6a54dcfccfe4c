//! `diff --git` lines, which name a file twice and do not say where the first name ends.

use super::Unreadable;
use super::line::Line;
use super::name::{self, Name};

/// Returns every name that may be meant by what comes behind `diff --git `.
pub(super) fn names(line: Line<'_>) -> Result<Vec<Name<'_>>, Unreadable> {
    let line = line.trimmed();
    if let Some((first, behind)) = name::quoted(line)? {
        let mut found = name::names(behind)?;
        found.insert(0, first);
        return Ok(found);
    }
    let mut found = Vec::new();
    // A quoted name behind one without quotes.
    if line.text.ends_with('"')
        && let Some(at) = line.text.find(" \"")
    {
        let (first, second) = split(line, at);
        found.push(Name::plain(first));
        found.extend(name::quoted(second)?.map(|(name, _)| name));
    }
    let mut add = |at: usize| {
        let (first, second) = split(line, at);
        for side in [first, second] {
            if found.iter().all(|known: &Name<'_>| known.text != side.text) {
                found.push(Name::plain(side));
            }
        }
    };
    let blanks = line.text.match_indices(' ').map(|(at, _)| at);
    // Two words; the same name twice; and where a name's first folder could be `b`.
    let mut few = blanks.clone();
    match (few.next(), few.next()) {
        (None, _) => found.push(Name::plain(line)),
        (Some(only), None) => add(only),
        (Some(_), Some(_)) => {
            blanks.filter(|&at| is_twice(line.text, at)).take(2).for_each(&mut add);
            let behind = " b/";
            line.text.find(behind).into_iter().for_each(&mut add);
            line.text.rfind(behind).into_iter().for_each(&mut add);
        }
    }
    Ok(found)
}

/// Whether both sides of the blank at `at` are one name, in folders of the same depth or in none.
fn is_twice(text: &str, at: usize) -> bool {
    let (first, second) =
        (text.get(..at).unwrap_or_default(), text.get(at + 1..).unwrap_or_default());
    let in_folder = |text: &'_ str| text.find('/').map(|slash| text.len() - slash);
    if first.len() == second.len() && first == second {
        return true;
    }
    match (in_folder(first), in_folder(second)) {
        // Lengths first: comparing at every blank would take quadratic time.
        (Some(one), Some(other)) if one == other => {
            first.get(first.len() - one..) == second.get(second.len() - other..)
        }
        _ => false,
    }
}

fn split(line: Line<'_>, at: usize) -> (Line<'_>, Line<'_>) {
    let first = line.text.get(..at).unwrap_or_default();
    let second = line.text.get(at + 1..).unwrap_or_default();
    (Line { text: first, ..line }, Line { text: second, start: line.start + at + 1 })
}
