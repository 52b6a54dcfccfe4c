//! Adding entries to a policy file, and leaving everything else as it is.
//!
//! Only the plain ways of writing are changed: sections in block style, lists in one line or one entry
//! a line. Whatever is written otherwise is left to a person. The caller reads the result again, so a
//! mistake here is found before it is written.

use std::fmt::Write as _;
use std::path::Path;

use palisade_apply::{Failed, Jail, Why};

use crate::hook::install::diff;

/// Where a project keeps its policy.
const FOLDER: &str = ".palisade";
const POLICY: &str = ".palisade/policy.yaml";

/// A text before and after.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Edited {
    /// As it is.
    pub before: String,
    /// As it would be.
    pub after: String,
}

/// Why a text is left to a person.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{section}.{key}` is written in a way that is not changed automatically")]
pub struct CannotEdit {
    section: &'static str,
    key: &'static str,
}

impl Edited {
    /// Writes it to the project's policy file in one step. A link on the way leads nowhere.
    ///
    /// # Errors
    ///
    /// When the place cannot be written.
    pub fn write(&self, root: &Path) -> Result<(), Failed> {
        put(root, &self.after)
    }

    /// Puts the file back as it was.
    ///
    /// # Errors
    ///
    /// As [`Edited::write`].
    pub fn undo(&self, root: &Path) -> Result<(), Failed> {
        match self.before.is_empty() {
            true => Jail::open_root(root)?.without_links().remove(Path::new(POLICY)),
            false => put(root, &self.before),
        }
    }

    /// Returns whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.before == self.after
    }

    /// Returns the difference, as people read it.
    pub fn diff(&self) -> String {
        diff(&self.before, &self.after)
    }
}

fn put(root: &Path, text: &str) -> Result<(), Failed> {
    let jail = Jail::open_root(root)?.without_links();
    match jail.create_folder(Path::new(FOLDER)) {
        Err(failed) if failed.why() != Why::Taken => return Err(failed),
        Ok(()) | Err(_) => {}
    }
    let aside = format!("{POLICY}.{}", std::process::id());
    let aside = Path::new(&aside);
    let moved =
        jail.create(aside, text.as_bytes()).and_then(|()| jail.rename(aside, Path::new(POLICY)));
    moved.inspect_err(|_| drop(jail.remove(aside)))
}

/// Adds texts to a list.
pub(super) fn add(
    text: &str,
    section: &'static str,
    key: &'static str,
    entries: &[&str],
) -> Result<String, CannotEdit> {
    let quoted: Vec<String> = entries.iter().map(|entry| format!("\"{entry}\"")).collect();
    let quoted: Vec<&str> = quoted.iter().map(String::as_str).collect();
    add_plain(text, section, key, &quoted)
}

/// Adds entries to a list as they are.
pub(super) fn add_plain(
    text: &str,
    section: &'static str,
    key: &'static str,
    entries: &[&str],
) -> Result<String, CannotEdit> {
    let cannot = CannotEdit { section, key };
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let Found::Key { at, indent } = find(&lines, section, key).ok_or(cannot.clone())? else {
        return insert(text, section, key, &format!("[{}]", entries.join(", "))).ok_or(cannot);
    };
    let line = lines.get(at).cloned().unwrap_or_default();
    let value = line.split_once(':').map(|(_, value)| value.trim()).unwrap_or_default();
    let is_new = |known: &[String], entry: &&str| !known.iter().any(|it| bare(it) == bare(entry));
    if let Some(inner) = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let known: Vec<String> = inner.split(',').map(|it| it.trim().to_owned()).collect();
        let has_comma = |it: &String| it.matches(['"', '\'']).count() % 2 == 1;
        if known.iter().any(has_comma)
            || inner.contains(['[', ']', '{', '#'])
            || inner.matches(['"', '\'']).count() % 2 == 1
        {
            return Err(cannot);
        }
        let mut all: Vec<&str> =
            known.iter().map(String::as_str).filter(|it| !it.is_empty()).collect();
        all.extend(entries.iter().copied().filter(|entry| is_new(&known, entry)));
        let list = format!("{}{key}: [{}]", " ".repeat(indent), all.join(", "));
        *lines.get_mut(at).ok_or(cannot)? = list;
        return Ok(joined(&lines));
    }
    if !value.is_empty() {
        return Err(cannot);
    }
    // One entry a line, all with the same indentation.
    let items = lines.iter().enumerate().skip(at + 1);
    let items: Vec<(usize, String)> = items
        .take_while(|(_, line)| line.trim_start().starts_with("- ") || is_blank(line))
        .filter(|(_, line)| !is_blank(line))
        .map(|(number, line)| (number, line.clone()))
        .collect();
    let (last, sample) = items.last().ok_or(cannot)?;
    let space = sample.len() - sample.trim_start().len();
    let known: Vec<String> = items
        .iter()
        .map(|(_, line)| line.trim_start().trim_start_matches("- ").trim().to_owned())
        .collect();
    let fresh = entries.iter().filter(|entry| is_new(&known, entry));
    let fresh: Vec<String> = fresh.map(|entry| format!("{}- {entry}", " ".repeat(space))).collect();
    let place = last + 1;
    lines.splice(place..place, fresh);
    Ok(joined(&lines))
}

/// Returns whether a key is there, or something that is not read here.
pub(super) fn has(text: &str, section: &str, key: &str) -> bool {
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    !matches!(find(&lines, section, key), Some(Found::Nothing))
}

/// Sets a single value.
pub(super) fn set(
    text: &str,
    section: &'static str,
    key: &'static str,
    value: &str,
) -> Result<String, CannotEdit> {
    let cannot = CannotEdit { section, key };
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    match find(&lines, section, key).ok_or(cannot.clone())? {
        Found::Key { at, indent } => {
            let line = lines.get_mut(at).ok_or(cannot)?;
            let comment = line.split_once(" #").map(|(_, rest)| format!(" #{rest}"));
            let comment = comment.unwrap_or_default();
            *line = format!("{}{key}: {value}{comment}", " ".repeat(indent));
            Ok(joined(&lines))
        }
        Found::Nothing => insert(text, section, key, value).ok_or(cannot),
    }
}

/// Where a key stands.
enum Found {
    Key { at: usize, indent: usize },
    Nothing,
}

/// Finds a key of a section. None where the section is written in a way that is not read here.
fn find(lines: &[String], section: &str, key: &str) -> Option<Found> {
    let Some(start) = heading(lines, section)? else { return Some(Found::Nothing) };
    for (at, line) in lines.iter().enumerate().skip(start + 1) {
        if is_blank(line) {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        if indent == 0 {
            break;
        }
        let name = line.trim_start().split_once(':').map(|(name, _)| name.trim());
        if name == Some(key) && Some(indent) == first_indent(lines, start) {
            return Some(Found::Key { at, indent });
        }
    }
    Some(Found::Nothing)
}

/// Returns the line of a section in block style; `Some(None)` if there is no such section, `None` if
/// it is written otherwise.
fn heading(lines: &[String], section: &str) -> Option<Option<usize>> {
    let named = |line: &String| {
        line.starts_with(section)
            && line.get(section.len()..).is_some_and(|rest| rest.trim_start().starts_with(':'))
    };
    let Some(at) = lines.iter().position(named) else { return Some(None) };
    let rest = lines.get(at)?.split_once(':')?.1.trim();
    let is_block = rest.is_empty() || rest.starts_with('#');
    is_block.then_some(Some(at))
}

fn first_indent(lines: &[String], start: usize) -> Option<usize> {
    let line = lines.iter().skip(start + 1).find(|line| !is_blank(line))?;
    let indent = line.len() - line.trim_start().len();
    (indent > 0).then_some(indent)
}

/// Puts a new key at the end of its section, or a new section at the end of the file.
fn insert(text: &str, section: &str, key: &str, value: &str) -> Option<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let Some(start) = heading(&lines, section)? else {
        let mut text = joined(&lines);
        write!(text, "{section}:\n  {key}: {value}\n").ok()?;
        return Some(text);
    };
    let indent = first_indent(&lines, start).unwrap_or(2);
    let inside = |line: &&String| is_blank(line) || line.starts_with(' ');
    let mut end = start + 1 + lines.iter().skip(start + 1).take_while(inside).count();
    while end > start + 1 && lines.get(end - 1).is_some_and(|line| is_blank(line)) {
        end -= 1;
    }
    lines.insert(end, format!("{}{key}: {value}", " ".repeat(indent)));
    Some(joined(&lines))
}

fn is_blank(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

/// An entry without the quotes around it.
fn bare(entry: &str) -> &str {
    entry.trim().trim_matches(['"', '\''])
}

fn joined(lines: &[String]) -> String {
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_added_where_people_would() {
        #[rustfmt::skip]
        let cases = [
            ("version: 1\n",                         "version: 1\nnetwork:\n  allow: [\"b\"]\n"),
            ("network: # net\n    mode: x\n\nlimits:\n  cpu: 1s\n",
             "network: # net\n    mode: x\n    allow: [\"b\"]\n\nlimits:\n  cpu: 1s\n"),
            ("network:\n  allow: [a, 'c']\n",        "network:\n  allow: [a, 'c', \"b\"]\n"),
            ("network:\n  allow: []\n",              "network:\n  allow: [\"b\"]\n"),
            ("network:\n  allow: [b]\n",             "network:\n  allow: [b]\n"),
            ("network:\n  allow:\n    # why\n    - a\n    - c\n  mode: x\n",
             "network:\n  allow:\n    # why\n    - a\n    - c\n    - \"b\"\n  mode: x\n"),
        ];
        for (before, after) in cases {
            assert_eq!(add(before, "network", "allow", &["b"]).as_deref(), Ok(after), "{before}");
        }
    }

    #[test]
    fn what_is_written_otherwise_is_left_alone() {
        for text in [
            "network: { mode: x }\n",
            "network:\n  allow: &list [a]\n",
            "network:\n  allow: *list\n",
            "network:\n  allow: [a, # b\n    c]\n",
        ] {
            assert!(add(text, "network", "allow", &["b"]).is_err(), "{text}");
        }
    }

    #[test]
    fn a_value_is_set_and_its_comment_stays() {
        let text = "network:\n  mode: deny-all # closed\n";
        let set = set(text, "network", "mode", "allow-list").unwrap();
        assert_eq!(set, "network:\n  mode: allow-list # closed\n");
        let edited = Edited { before: text.into(), after: set };
        assert!(
            edited.diff().contains("-   mode: deny-all # closed\n+   mode: allow-list # closed")
        );
    }
}
