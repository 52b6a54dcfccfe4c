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
    let mut blanks = line.text.match_indices(' ').map(|(at, _)| at);
    // Two words; the same name twice; and where a name's first folder could be `b`.
    match (blanks.next(), blanks.next()) {
        (None, _) => found.push(Name::plain(line)),
        (Some(only), None) => add(only),
        (Some(_), Some(_)) => {
            twice(line.text).for_each(&mut add);
            let behind = " b/";
            line.text.find(behind).into_iter().for_each(&mut add);
            line.text.rfind(behind).into_iter().for_each(&mut add);
        }
    }
    Ok(found)
}

/// Returns the blanks between one name and the same name again, each in one folder or in none.
fn twice(text: &str) -> impl Iterator<Item = usize> {
    let half = text.len() / 2;
    let bare = (text.get(..half) == text.get(half + 1..)).then_some(half);
    // What follows the first folder gets longer on the left and shorter on the right from blank to
    // blank, so there is one at most where both are equally long.
    let left = text.find('/').unwrap_or(text.len());
    let mut right = None;
    let foldered = text.bytes().enumerate().rev().find_map(|(at, byte)| {
        match byte {
            b'/' => right = Some(at),
            b' ' if right.is_some_and(|right| at.checked_sub(left) == Some(text.len() - right)) => {
                return Some((at, right?));
            }
            _ => {}
        }
        None
    });
    let foldered = foldered.filter(|&(at, right)| text.get(left..at) == text.get(right..));
    bare.into_iter()
        .chain(foldered.map(|(at, _)| at))
        .filter(|&at| text.as_bytes().get(at) == Some(&b' '))
}

fn split(line: Line<'_>, at: usize) -> (Line<'_>, Line<'_>) {
    let first = line.text.get(..at).unwrap_or_default();
    let second = line.text.get(at + 1..).unwrap_or_default();
    (Line { text: first, ..line }, Line { text: second, start: line.start + at + 1 })
}
