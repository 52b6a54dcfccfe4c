//! Path patterns, spelt as regular expressions.

/// Spells one component of a pattern's text, in which a backslash stands before what is literal.
/// The expression matches no `/`.
pub(super) fn component(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '*' => out.push_str("[^/]*"),
            '?' => out.push_str("[^/]"),
            '\\' => out.extend(chars.next().map(literal)),
            '[' => {
                let negated = chars.as_str().starts_with(['!', '^']);
                out.push_str(if negated { "[^/" } else { "[" });
                chars.by_ref().take(usize::from(negated)).for_each(drop);
                while let Some(c) = chars.next().filter(|c| *c != ']') {
                    match c {
                        '-' => out.push('-'),
                        '\\' => out.extend(chars.next().map(member)),
                        c => out.push_str(&member(c)),
                    }
                }
                out.push(']');
            }
            c => out.push_str(&literal(c)),
        }
    }
    out
}

/// Takes a character literally. Only what means something is escaped: `\<` is no `<`.
pub(super) fn literal(c: char) -> String {
    escaped(c, r"\.+*?()|[]{}^$")
}

/// Takes a member of a set literally.
fn member(c: char) -> String {
    escaped(c, r"\[]-^&~")
}

fn escaped(c: char, special: &str) -> String {
    if special.contains(c) { format!("\\{c}") } else { c.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::{Found, PathPattern, Pattern};

    #[test]
    fn an_expression_matches_what_the_pattern_matches() {
        #[rustfmt::skip]
        let cases = [
            // component       names that may match
            ("*.pem",          ["a.pem", ".pem", "apem", "a/b.pem"]),
            ("?x",             ["ax", "x", "aax", "/x"]),
            ("[a-c]d",         ["ad", "cd", "dd", "-d"]),
            ("[!a]d",          ["bd", "ad", "/d", "!d"]),
            ("[&&a~~^]",       ["&", "~", "^", "b"]),
            (r"[\]\[\-\\]",    ["]", "[", "-", "a"]),
            ("a<b>c*",         ["a<b>c", "abc", "a<b>", "a<b>cd"]),
            ("$(x){2}|y+^#*",  ["$(x){2}|y+^#", "$(x){2}|y", "y", "y+^#"]),
            (r"\*\?\[é*",      ["*?[é", "x?[é", "*?[éé", "*?["]),
        ];
        for (text, names) in cases {
            let pattern: PathPattern = format!("/a/{text}").parse().unwrap();
            let shown = pattern.to_string();
            let expression: Pattern = format!("(?s)^{}$", component(&shown[3..])).parse().unwrap();
            for name in names {
                let matches = !name.contains('/') && pattern.matches(format!("/a/{name}").as_ref());
                assert_eq!(expression.search(name) == Found::Yes, matches, "{text} on {name}");
            }
        }
    }
}
