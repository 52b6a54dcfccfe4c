//! One name in the many ways in which it is spelled.

/// Returns a name in lower case with `_` between its words: `filePath`, `file-path` and
/// `FILE_PATH` are `file_path`.
pub(super) fn folded(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    let mut letters = name.chars().peekable();
    let mut before = '_';
    while let Some(letter) = letters.next() {
        if !letter.is_alphanumeric() {
            before = '_';
            continue;
        }
        let next_is_small = letters.peek().is_some_and(|next| next.is_lowercase());
        let starts_word =
            before == '_' || letter.is_uppercase() && (!before.is_uppercase() || next_is_small);
        if starts_word && !out.is_empty() {
            out.push('_');
        }
        out.extend(letter.to_lowercase());
        before = letter;
    }
    out
}

/// Returns whether a folded name is another one, or ends with its words: `old_path` and `paths`
/// are a `path`.
pub(super) fn ends_with(name: &str, words: &str) -> bool {
    let fits = |name: &str| {
        name.strip_suffix(words).is_some_and(|head| head.is_empty() || head.ends_with('_'))
    };
    let one = |name: &str| name.strip_suffix('s').is_some_and(fits);
    let listed =
        |name: &str| name.strip_suffix("_list").is_some_and(|name| fits(name) || one(name));
    fits(name) || one(name) || listed(name) || squeezed(name, words)
}

/// Returns the last word of a folded name.
pub(super) fn last_word(name: &str) -> &str {
    name.rsplit('_').next().unwrap_or(name)
}

/// Returns the name of a tool without the server that offers it: `mcp__files__write_file` and
/// `files.write_file` are `write_file`.
pub(super) fn base(tool: &str) -> &str {
    let tool = tool.rsplit(['.', '/', ':']).next().unwrap_or(tool);
    tool.rsplit("__").next().unwrap_or(tool)
}

/// Whether two names are the same but for where their words end: `filename` is `file_name`.
fn squeezed(name: &str, words: &str) -> bool {
    let letters = |text: &'_ str| text.len() - text.bytes().filter(|byte| *byte == b'_').count();
    letters(name) == letters(words)
        && name.bytes().filter(|b| *b != b'_').eq(words.bytes().filter(|b| *b != b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_same_however_its_words_are_joined() {
        #[rustfmt::skip]
        let cases = [
            ("file_path", "file_path"),
            ("filePath",  "file_path"),
            ("file-path", "file_path"),
            ("FilePath",  "file_path"),
            ("FILE_PATH", "file_path"),
            ("fileURI",   "file_uri"),
            ("HTMLFile",  "html_file"),
            ("__path__",  "path"),
            ("path",      "path"),
            ("",          ""),
        ];
        for (name, expected) in cases {
            assert_eq!(folded(name), expected, "{name}");
        }
    }

    #[test]
    fn a_name_ends_with_whole_words() {
        #[rustfmt::skip]
        let cases = [
            // name            words        fits
            ("path",           "path",      true),
            ("old_path",       "path",      true),
            ("paths",          "path",      true),
            ("file_path_list", "path",      true),
            ("filename",       "file_name", true),
            ("profile",        "file",      false),
            ("file_text",      "file",      false),
            ("path_prefix",    "path",      false),
            ("s",              "path",      false),
        ];
        for (name, words, fits) in cases {
            assert_eq!(ends_with(name, words), fits, "{name} for {words}");
        }
    }

    #[test]
    fn a_tool_is_known_without_its_server() {
        for tool in ["write_file", "mcp__files__write_file", "files.write_file", "a/b:write_file"] {
            assert_eq!(base(tool), "write_file", "{tool}");
        }
    }
}
