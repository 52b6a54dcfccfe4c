//! Just enough of a Rust lexer to judge code and not its comments or strings.

/// A word, number or mark of the code, with the line it stands on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Token<'a> {
    pub(crate) line: usize,
    pub(crate) text: &'a str,
}

/// A path as written or imported, `use` groups spelt out: `std::fs::File`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Path {
    pub(crate) line: usize,
    pub(crate) text: String,
}

impl Path {
    /// Returns whether this path is `module` or lies below it.
    pub(crate) fn is_under(&self, module: &str) -> bool {
        self.text.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    }
}

/// Splits `text` into tokens; comments, strings and characters are left out.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut line = 1;
    while let Some(first) = rest.chars().next() {
        let skipped = skip_literal(rest);
        let length = if skipped > 0 {
            skipped
        } else if is_word(first) {
            let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            found.push(Token { line, text: &rest[..length] });
            length
        } else {
            let length = if rest.starts_with("::") { 2 } else { first.len_utf8() };
            if !first.is_whitespace() {
                found.push(Token { line, text: &rest[..length] });
            }
            length
        };
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    found
}

/// Returns every path of the code: the leaves of `use` trees, and paths written in place.
pub(crate) fn paths(tokens: &[Token<'_>]) -> Vec<Path> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        let next = tokens.get(at).map(|token| token.text);
        if token.text == "use" && next != Some("<") {
            use_tree(tokens, &mut at, "", &mut found);
        } else if token.text.starts_with(is_word) {
            let mut path = token.text.to_owned();
            while let [colons, word, ..] = tokens.get(at..).unwrap_or_default()
                && colons.text == "::"
                && word.text.starts_with(is_word)
            {
                path.push_str("::");
                path.push_str(word.text);
                at += 2;
            }
            found.push(Path { line: token.line, text: path });
        }
    }
    found
}

/// Returns the line from which a file holds only its `#[cfg(test)] mod`.
pub(crate) fn tests_start(tokens: &[Token<'_>]) -> Option<usize> {
    const HEAD: [&str; 8] = ["#", "[", "cfg", "(", "test", ")", "]", "mod"];
    let start = tokens
        .windows(HEAD.len())
        .find(|window| window.iter().zip(HEAD).all(|(token, wanted)| token.text == wanted))?;
    start.first().map(|token| token.line)
}

fn use_tree(tokens: &[Token<'_>], at: &mut usize, prefix: &str, found: &mut Vec<Path>) {
    let mut path = prefix.to_owned();
    let mut line = 0;
    while let Some(token) = tokens.get(*at) {
        match token.text {
            "::" => *at += 1,
            "{" => {
                *at += 1;
                while tokens.get(*at).is_some_and(|token| token.text != "}" && token.text != ";") {
                    use_tree(tokens, at, &path, found);
                    if tokens.get(*at).is_some_and(|token| token.text == ",") {
                        *at += 1;
                    }
                }
                *at += usize::from(tokens.get(*at).is_some_and(|token| token.text == "}"));
                return;
            }
            "," | "}" | ";" => break,
            "as" => {
                *at += 2;
                break;
            }
            word => {
                if !path.is_empty() {
                    path.push_str("::");
                }
                path.push_str(word);
                line = token.line;
                *at += 1;
            }
        }
    }
    if line > 0 {
        found.push(Path { line, text: path });
    }
}

/// Returns the length of the comment, string or character that `rest` starts with, or zero.
fn skip_literal(rest: &str) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return block_comment(rest);
    }
    let prefix = rest.find(|c| !matches!(c, 'b' | 'c' | 'r')).unwrap_or(0);
    let (head, body) = rest.split_at(prefix);
    match head {
        "" | "b" | "c" if body.starts_with('"') => prefix + quoted(body, '"'),
        "r" | "br" | "cr" => raw_string(body).map_or(0, |length| prefix + length),
        "" | "b" if body.starts_with('\'') => character(body).map_or(0, |length| prefix + length),
        _ => 0,
    }
}

fn block_comment(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(tail) = rest.get(at..)
        && let Some(first) = tail.chars().next()
    {
        if tail.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if tail.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += first.len_utf8();
        }
    }
    rest.len()
}

fn quoted(body: &str, mark: char) -> usize {
    let mut escaped = false;
    for (at, c) in body.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == mark => return at + c.len_utf8(),
            _ => {}
        }
    }
    body.len()
}

fn raw_string(body: &str) -> Option<usize> {
    let hashes = body.find(|c| c != '#')?;
    let text = body.get(hashes..)?.strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    Some(text.find(&end).map_or(body.len(), |at| hashes + 1 + at + end.len()))
}

/// A quote starts a character only if it is closed; otherwise it is a lifetime.
fn character(body: &str) -> Option<usize> {
    let mut chars = body.char_indices().skip(1);
    let (_, first) = chars.next()?;
    if first == '\\' {
        return Some(quoted(body, '\''));
    }
    let (at, close) = chars.next()?;
    (close == '\'').then_some(at + 1)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        tokens(text).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn comments_strings_and_characters_are_not_code() {
        let cases = [
            ("a // unsafe\nb", vec!["a", "b"]),
            ("a /* unsafe /* x */ y */ b", vec!["a", "b"]),
            (r#"a "unsafe \" b" c"#, vec!["a", "c"]),
            (r##"a r#"un"safe"# b"##, vec!["a", "b"]),
            ("'x' '\\'' 'é' b'\"' y", vec!["y"]),
            ("&'a str", vec!["&", "'", "a", "str"]),
            ("broken \"never closed", vec!["broken"]),
            ("/* never closed", vec![]),
            ("r#type b r", vec!["r", "#", "type", "b", "r"]),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn lines_are_counted_through_skipped_text() {
        let found = tokens("\"one\ntwo\" /* x\n */ here");
        assert_eq!(found, [Token { line: 3, text: "here" }]);
    }

    #[test]
    fn use_groups_are_spelt_out() {
        let text = "use std::{fs::{self, File as F}, io};\nuse a::*; let x = std::env::var(\"y\");";
        let found: Vec<_> = paths(&tokens(text)).into_iter().map(|path| path.text).collect();
        let expected =
            ["std::fs::self", "std::fs::File", "std::io", "a::*", "let", "x", "std::env::var"];
        assert_eq!(found, expected);
    }

    #[test]
    fn broken_use_trees_end() {
        for text in ["use", "use {", "use a::{b, {", "use a::{b}}", "use a as", "use {{{;", "use <"]
        {
            drop(paths(&tokens(text)));
        }
    }

    #[test]
    fn a_path_is_under_a_module_by_whole_words() {
        let path = |text: &str| Path { line: 1, text: text.to_owned() };
        assert!(path("std::fs").is_under("std::fs"));
        assert!(path("std::fs::File").is_under("std::fs"));
        assert!(!path("std::fsync").is_under("std::fs"));
    }

    #[test]
    fn the_test_module_is_found_by_its_attribute() {
        assert_eq!(tests_start(&tokens("fn a() {}\n#[cfg(test)]\nmod tests {}")), Some(2));
        assert_eq!(tests_start(&tokens("#[cfg(test)]\nfn only_for_tests() {}")), None);
    }
}
