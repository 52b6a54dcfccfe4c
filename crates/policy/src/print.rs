//! A policy printed as a policy file, in YAML that reads back to the same values.

use serde_json::Value as Json;

use crate::key::{Row, RowForm};
use crate::layer::Origin;
use crate::name::looks_secret;
use crate::text::visible;

/// What to write behind a value about where it came from; none writes nothing.
pub type Comment<'a> = Option<&'a dyn Fn(&Origin) -> String>;

/// Lists that fit into this many columns stand on one line.
const WIDTH: usize = 96;
/// Origins are not pushed further to the right than this by one long value.
const COMMENT_COLUMN: usize = 56;

/// One line, and the comment behind it.
struct Line {
    text: String,
    comment: Option<String>,
}

/// Writes the rows as YAML that reads back to the same values.
pub fn yaml(rows: &[Row], comment: Comment<'_>) -> String {
    let mut lines = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for row in rows {
        if row.form == RowForm::One && row.values.is_empty() {
            continue; // nobody said anything, and no word says that
        }
        let mut path: Vec<&str> = row.key.split('.').collect();
        let key = path.pop().unwrap_or_default();
        let common = open.iter().zip(&path).take_while(|(a, b)| a == b).count();
        if common == 0 && open != path {
            lines.push(Line { text: String::new(), comment: None });
        }
        for (depth, section) in path.iter().enumerate().skip(common) {
            lines.push(Line { text: format!("{:1$}{section}:", "", depth * 2), comment: None });
        }
        add(&mut lines, row, key, path.len() * 2, comment);
        open = path;
    }
    join(&lines)
}

fn add(lines: &mut Vec<Line>, row: &Row, key: &str, indent: usize, comment: Comment<'_>) {
    let said = |origin: &Origin| comment.map(|comment| comment(origin));
    let pad = " ".repeat(indent);
    match row.form {
        RowForm::One => {
            for value in &row.values {
                let text = format!("{pad}{key}: {}", flow(&value.value));
                lines.push(Line { text, comment: said(&value.origin) });
            }
        }
        RowForm::List => {
            let items: Vec<String> = row.values.iter().map(|value| flow(&value.value)).collect();
            let inline = format!("{pad}{key}: [{}]", items.join(", "));
            let objects = row.values.iter().any(|value| value.value.is_object());
            let short = comment.is_none() && !objects && inline.chars().count() <= WIDTH;
            if items.is_empty() || short {
                let comment = row.said.as_ref().filter(|_| items.is_empty()).and_then(said);
                lines.push(Line { text: inline, comment });
                return;
            }
            lines.push(Line { text: format!("{pad}{key}:"), comment: None });
            for (item, value) in items.iter().zip(&row.values) {
                let text = format!("{pad}  - {item}");
                lines.push(Line { text, comment: said(&value.origin) });
            }
        }
        RowForm::Map => {
            let named = row.values.iter().filter_map(|value| {
                let (name, inner) = value.value.as_object()?.iter().next()?;
                // What looks like a secret is not shown, and so cannot be read back either.
                let hide = if looks_secret(name) { "# " } else { "" };
                let text = format!("{pad}  {hide}{}: {}", scalar(name), flow(inner));
                Some(Line { text, comment: said(&value.origin) })
            });
            let named: Vec<Line> = named.collect();
            if named.iter().all(|line| line.text.trim_start().starts_with('#')) {
                lines.push(Line { text: format!("{pad}{key}: {{}}"), comment: None });
            } else {
                lines.push(Line { text: format!("{pad}{key}:"), comment: None });
            }
            lines.extend(named);
        }
    }
}

/// Joins the lines, with the comments below each other.
fn join(lines: &[Line]) -> String {
    let commented = lines.iter().filter(|line| line.comment.is_some());
    let longest = commented.map(|line| line.text.chars().count()).max().unwrap_or(0);
    let column = longest.min(COMMENT_COLUMN);
    let mut text = String::new();
    for Line { text: line, comment } in lines {
        match comment {
            Some(comment) => text.push_str(&format!("{line:<column$}  # {comment}")),
            None => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

/// Writes a value on one line.
fn flow(value: &Json) -> String {
    match value {
        Json::Null | Json::Bool(_) | Json::Number(_) => value.to_string(),
        Json::String(text) => scalar(text),
        Json::Array(items) => {
            format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", "))
        }
        Json::Object(map) if map.is_empty() => "{}".into(),
        Json::Object(map) => {
            let entries =
                map.iter().map(|(key, value)| format!("{}: {}", scalar(key), flow(value)));
            format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Writes text, in quotes unless it is plain beyond doubt.
pub(crate) fn scalar(text: &str) -> String {
    let hidden = visible(text) != text;
    if !hidden && is_plain(text) {
        text.into()
    } else if !hidden && text.contains(['\\', '"']) {
        format!("'{}'", text.replace('\'', "''"))
    } else {
        format!("\"{}\"", text.chars().map(escaped).collect::<String>())
    }
}

/// Answers whether text means itself without quotes, also inside brackets.
fn is_plain(text: &str) -> bool {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
    let within = |at: usize, c: char| {
        c.is_ascii_alphanumeric()
            || "/._-+*".contains(c)
            || c == ':' && text[at + 1..].starts_with(|next: char| next.is_ascii_alphanumeric())
    };
    let word = text.to_ascii_lowercase();
    let special = ["null", "true", "false", "yes", "no", "on", "y", "n"].contains(&word.as_str());
    starts && !special && text.char_indices().all(|(at, c)| within(at, c)) || is_quantity(text)
}

/// Answers whether text is a size or a time such as `64KiB` or `1h30m`, which no reader takes for
/// a number.
fn is_quantity(text: &str) -> bool {
    const UNITS: [&str; 10] = ["ms", "s", "m", "h", "d", "B", "KiB", "MiB", "GiB", "TiB"];
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let end = unit.find(|c: char| c.is_ascii_digit()).unwrap_or(unit.len());
    let (unit, rest) = unit.split_at(end);
    !text.starts_with(unit) && UNITS.contains(&unit) && (rest.is_empty() || is_quantity(rest))
}

fn escaped(c: char) -> String {
    let code = u32::from(c);
    match c {
        '"' | '\\' => format!("\\{c}"),
        _ if visible(&c.to_string()) == c.to_string() => c.to_string(),
        _ if code > 0xffff => format!("\\U{code:08x}"),
        _ => format!("\\u{code:04x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_quoted_unless_it_is_plain_beyond_doubt() {
        #[rustfmt::skip]
        let cases = [
            // text                written                because
            ("agentao:plan",       "agentao:plan",        "a colon inside a word"),
            ("/home/dev/app",      "/home/dev/app",       "a path"),
            ("64KiB",              "64KiB",               "a size"),
            ("1h30m",              "1h30m",               "a time"),
            ("/app/**/*.pem",      "/app/**/*.pem",       "a star is an alias only in front"),
            ("1e5",                "\"1e5\"",             "a number to a reader"),
            ("0x1B",               "\"0x1B\"",            "a number to other readers"),
            ("8080",               "\"8080\"",            "text, not a number"),
            ("true",               "\"true\"",            "text, not a boolean"),
            ("NO",                 "\"NO\"",              "a boolean to older readers"),
            ("a: b",               "\"a: b\"",            "would be a map"),
            ("a:",                 "\"a:\"",              "would be a key"),
            ("a, b",               "\"a, b\"",            "would be two"),
            ("a #b",               "\"a #b\"",            "would be a comment"),
            ("*.example.com",      "\"*.example.com\"",   "would be an alias"),
            ("",                   "\"\"",                "would be nothing"),
            ("it's \\d",           "'it''s \\d'",         "backslashes stay readable"),
            ("a\nb\u{1b}[2K",      "\"a\\u000ab\\u001b[2K\"", "lines and escapes stay inside"),
            ("\u{202e}\u{e0001}",  "\"\\u202e\\U000e0001\"",  "what hides is spelled out"),
        ];
        for (text, written, because) in cases {
            assert_eq!(scalar(text), written, "{text:?}: {because}");
        }
    }
}
