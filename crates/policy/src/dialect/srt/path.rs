//! Paths as srt spells them, translated to ours and back.
//!
//! srt has no escapes: a backslash is a character of a name, and `{ "path": …, "literal": true }`
//! takes every character as it is. A trailing `/**` is the folder itself.

use crate::key::Reader;
use crate::name::{Folder, Invalid, PathPattern};
use crate::text::{Node, Value, visible};

/// Reads a path or a pattern for a list that closes or re-opens.
pub(in crate::dialect) fn pattern(item: &Node, cx: &mut Reader<'_>) -> Option<PathPattern> {
    let text = match spelled(item)? {
        Spelled::Literal(text) => escape(text),
        Spelled::Glob(text) => match glob(text) {
            Ok(text) => text,
            Err(invalid) => return cx.invalid(item, &invalid),
        },
    };
    let pattern = text.parse::<PathPattern>().and_then(|pattern| pattern.anchored(cx.anchors()));
    pattern.map_or_else(|invalid| cx.invalid(item, &invalid), Some)
}

/// Reads a folder that may be written. A wildcard cannot be enforced there, so it is an error, but
/// for one that is the very name of something that exists.
pub(in crate::dialect) fn folder(
    item: &Node,
    exists: impl Fn(&std::path::Path) -> bool,
    cx: &mut Reader<'_>,
) -> Option<Folder> {
    let anchored = |text: String, cx: &Reader<'_>| {
        text.parse::<Folder>().and_then(|folder| folder.anchored(cx.anchors()))
    };
    let (Spelled::Literal(text) | Spelled::Glob(text)) = spelled(item)?;
    let literal = anchored(escape(text), cx);
    let folder = match spelled(item)? {
        Spelled::Literal(_) => literal,
        Spelled::Glob(text) => glob(text)
            .and_then(|text| anchored(text, cx))
            .or_else(|invalid| literal.ok().filter(|folder| exists(&folder.path())).ok_or(invalid)),
    };
    folder.map_or_else(|invalid| cx.invalid(item, &invalid), Some)
}

/// Spells a pattern for srt: text, or text that must be marked as literal; none if srt's wildcards
/// cannot say it.
pub(super) fn spell(pattern: &PathPattern) -> Option<SettingsPath> {
    if let Some(path) = pattern.literal() {
        let text = path.to_str()?.to_owned();
        let plain = !text.contains(['*', '?', '[', '\\']);
        return Some(if plain { SettingsPath::Text(text) } else { SettingsPath::Literal(text) });
    }
    let mut text = String::new();
    let mut chars = pattern.to_string().chars().collect::<Vec<_>>().into_iter();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next()? {
                c @ ('*' | '?' | '[') => text.extend(['[', c, ']']),
                c => text.push(c),
            },
            '[' => {
                let set: String = chars.by_ref().take_while(|c| *c != ']').collect();
                if set.starts_with('!') || set.contains('\\') {
                    return None;
                }
                text.extend(["[", &set, "]"]);
            }
            c => text.push(c),
        }
    }
    Some(SettingsPath::Text(text))
}

/// A path as it stands in a settings file.
pub(super) enum SettingsPath {
    /// Text whose wildcards count.
    Text(String),
    /// Text whose characters all stand for themselves.
    Literal(String),
}

enum Spelled<'n> {
    Glob(&'n str),
    Literal(&'n str),
}

/// Returns the path of an entry; none if the entry has the wrong shape, which was complained about.
fn spelled(item: &Node) -> Option<Spelled<'_>> {
    if let Some(text) = item.text() {
        return Some(Spelled::Glob(text));
    }
    let text = item.find("path")?.text()?;
    let literal = item.find("literal").is_some_and(|node| node.value == Value::Bool(true));
    Some(if literal { Spelled::Literal(text) } else { Spelled::Glob(text) })
}

fn glob(text: &str) -> Result<String, Invalid> {
    if text.contains("[!") || text.contains("[^") {
        let problem = format!("`{}` has a set that begins with `!` or `^`", visible(text));
        return Err(Invalid::new("srt-set", problem)
            .with_hint("srt does not say what that means; list the characters that are meant"));
    }
    let folder = match text.strip_suffix("/**") {
        Some("") => "/",
        Some(folder) => folder,
        None => text,
    };
    if folder.contains(['*', '?', '[']) && folder.ends_with('/') {
        let problem = format!("`{}` is a pattern that ends in `/`", visible(text));
        return Err(Invalid::new("srt-slash", problem).with_hint("leave the last `/` out"));
    }
    Ok(folder.replace('\\', "\\\\"))
}

/// Escapes what our own patterns would act on; `~` at the start is still the home folder.
fn escape(text: &str) -> String {
    let (home, rest) = match text.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => ("~", rest),
        Some(_) | None => ("", text),
    };
    let special = |c: char| matches!(c, '*' | '?' | '[' | ']' | '\\' | '~');
    let escaped = rest.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c]));
    home.chars().chain(escaped).collect()
}
