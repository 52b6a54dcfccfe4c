//! Specifiers of `Read` and `Edit`: the syntax of `.gitignore`, with anchors of its own.
//!
//! | Written | Starts at |
//! | --- | --- |
//! | `//x` | the disk's root |
//! | `~/x` | the home folder |
//! | `/x` | the settings' own project, or `~/.claude` |
//! | `./x`, `x` | the current folder |

use std::collections::BTreeSet;
use std::path::Path;

use crate::dialect::glob::{component, literal};
use crate::name::{Anchors, Found, Invalid, PathPattern, Pattern};
use crate::policy::Action;
use crate::text::visible;

/// Reads a specifier. A bare name means that name at any depth where it refuses or asks, and the
/// nearest reading where it allows.
pub(super) fn pattern(
    text: &str,
    action: Action,
    base: &Anchors,
    cwd: &Path,
) -> Result<PathPattern, Invalid> {
    if text.is_empty() || text.starts_with('!') {
        let problem = format!("`{}` names no path", visible(text));
        return Err(Invalid::new("claude-path", problem)
            .with_hint("write `//absolute`, `~/home`, `/project` or `./here`"));
    }
    let whole = |text: &str| match text.strip_suffix("/**") {
        Some(folder) => format!("{folder}/"),
        None => text.to_owned(),
    };
    let here = Anchors { root: cwd.into(), home: base.home.clone() };
    let (text, anchors) = if text.starts_with("//") {
        (whole(&text[1..]), base)
    } else if text.starts_with('~') {
        (whole(text), base)
    } else if text.starts_with('/') {
        (format!(".{}", whole(text)), base)
    } else {
        let named = text.strip_suffix('/').unwrap_or(text);
        let bare = !named.contains('/') && !matches!(named, "." | ".." | "**");
        let deep = bare && action != Action::Allow;
        (if deep { format!("**/{named}") } else { whole(text) }, &here)
    };
    text.parse::<PathPattern>()?.anchored(anchors)
}

/// Returns an expression for the path argument of a tool.
///
/// A path with `..` in it is never allowed by its text, and always falls under a rule that refuses
/// or asks: what it leads to is not in the text. Such a rule also sees through `//` and `/./`, and
/// through paths that start at the current folder.
pub(super) fn expression(pattern: &PathPattern, action: Action, cwd: &Path) -> String {
    // A pattern prints itself absolute, in one spelling, a backslash before what is literal.
    let text = pattern.to_string();
    let parts: Vec<&str> = text.split('/').filter(|part| !part.is_empty()).collect();
    if action == Action::Allow {
        let body = absolute(&parts, "/");
        return format!(r"(?s)^(?!.*(?:^|/)\.\.(?:/|$)){body}(?:/.*)?$");
    }
    let mut spelled = vec![absolute(&parts, SLASH)];
    spelled.extend(rests(&parts, cwd).into_iter().map(relative));
    format!(r"(?s)(?:^|/)\.\.(?:/|$)|^(?:{})(?:/.*)?$", spelled.join("|"))
}

/// The spellings of one `/`.
const SLASH: &str = r"/+(?:\./+)*";

fn absolute(parts: &[&str], slash: &str) -> String {
    let mut out = String::new();
    for part in parts {
        // `**` takes its own slash along, so that it can stand for no folder at all.
        if *part == "**" {
            out.push_str("(?:/[^/]*)*");
        } else {
            out.push_str(slash);
            out.push_str(&component(part));
        }
    }
    out
}

/// Spells what is left of a pattern below the current folder.
fn relative(parts: &[&str]) -> String {
    let Some((last, folders)) = parts.split_last() else {
        return "(?:[^/].*)?".into(); // the current folder itself, so everything in it
    };
    let mut out = String::from(r"(?:\./+)*");
    for part in folders {
        match *part {
            "**" => out.push_str("(?:[^/]+/+)*"),
            part => out.extend([&*component(part), SLASH]),
        }
    }
    out.push_str(&if *last == "**" { "(?:[^/].*)?".into() } else { component(last) });
    out
}

/// Returns what is left of a pattern when the current folder is taken from its front, in every way
/// that this can be done; none if nothing below that folder can match.
fn rests<'p>(parts: &'p [&'p str], cwd: &Path) -> Vec<&'p [&'p str]> {
    // Where in the pattern one can be; `**` may stand for nothing.
    let settled = |mut places: BTreeSet<usize>| {
        for (place, part) in parts.iter().enumerate() {
            if *part == "**" && places.contains(&place) {
                places.insert(place + 1);
            }
        }
        places
    };
    let mut places = settled(BTreeSet::from([0]));
    let cwd = cwd.to_string_lossy();
    for folder in cwd.split('/').filter(|folder| !folder.is_empty()) {
        let next = places.iter().filter_map(|place| match parts.get(*place) {
            // The pattern is used up: all below is meant.
            None | Some(&"**") => Some(*place),
            Some(part) => can_be(part, folder).then_some(place + 1),
        });
        places = settled(next.collect());
    }
    // What `**` stands before is included in what it begins.
    let begun =
        |place: usize| place > 0 && parts[place - 1] == "**" && places.contains(&(place - 1));
    places.iter().filter(|place| !begun(**place)).map(|place| &parts[*place..]).collect()
}

/// Returns whether a component of a pattern can be the name of a folder; in doubt it can.
fn can_be(part: &str, folder: &str) -> bool {
    let expression = component(part);
    if !part.contains(['*', '?', '[']) {
        return expression == folder.chars().map(literal).collect::<String>();
    }
    let pattern = format!("(?s)^{expression}$").parse::<Pattern>();
    pattern.map_or(true, |pattern| pattern.search(folder) != Found::No)
}
