//! Specifiers of `Read` and `Edit`: the syntax of `.gitignore`, with anchors of its own.
//!
//! | Written | Starts at |
//! | --- | --- |
//! | `//x` | the disk's root |
//! | `~/x` | the home folder |
//! | `/x` | the settings' own project, or `~/.claude` |
//! | `./x`, `x` | the current folder |

use std::path::Path;

use super::command::escape;
use crate::name::{Anchors, Invalid, PathPattern};
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
/// or asks: what it leads to is not in the text.
pub(super) fn expression(pattern: &PathPattern, action: Action, cwd: &Path) -> String {
    let body = body(pattern);
    if action == Action::Allow {
        return format!(r"(?s)^(?!.*(?:^|/)\.\.(?:/|$)){body}(?:/.*)?$");
    }
    let here: String = cwd.to_string_lossy().chars().map(escape).collect();
    let spelled = match body.strip_prefix(&format!("{here}/")) {
        Some(rest) => format!("(?:{here}/|(?:\\./)*){rest}"),
        None => body,
    };
    format!(r"(?s)(?:^|/)\.\.(?:/|$)|^{spelled}(?:/.*)?$")
}

/// Translates a pattern as it prints itself: absolute, one spelling, a backslash before what is
/// literal.
fn body(pattern: &PathPattern) -> String {
    let text = pattern.to_string();
    if text == "/" {
        return String::new();
    }
    let mut out = String::new();
    for component in text.split('/').skip(1) {
        // `**` takes its own slash along, so that it can stand for no folder at all.
        if component == "**" {
            out.push_str("(?:/[^/]*)*");
        } else {
            out.push('/');
            out.push_str(&name(component));
        }
    }
    out
}

fn name(component: &str) -> String {
    let mut out = String::new();
    let mut chars = component.chars();
    while let Some(c) = chars.next() {
        match c {
            '*' => out.push_str("[^/]*"),
            '?' => out.push_str("[^/]"),
            '\\' => out.extend(chars.next().map(escape)),
            '[' => {
                out.push('[');
                let mut first = true;
                while let Some(c) = chars.next().filter(|c| *c != ']') {
                    match c {
                        '!' if first => out.push('^'),
                        '-' => out.push('-'),
                        '\\' => out.extend(chars.next().map(escape)),
                        c => out.push_str(&escape(c)),
                    }
                    first = false;
                }
                out.push(']');
            }
            c => out.push_str(&escape(c)),
        }
    }
    out
}
