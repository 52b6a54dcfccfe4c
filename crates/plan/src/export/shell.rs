//! Command lines for a POSIX shell.

use std::path::Path;

use super::CannotExport;

/// Returns a word that a shell reads as `text`.
pub(super) fn word(text: &str) -> Result<String, CannotExport> {
    if text.contains('\0') {
        return Err(CannotExport::NoText(text.escape_default().to_string()));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%,".contains(c);
    // One shell takes `=x` for the path of a program.
    if !text.is_empty() && !text.starts_with('=') && text.chars().all(plain) {
        return Ok(text.into());
    }
    Ok(format!("'{}'", text.replace('\'', r"'\''")))
}

/// Returns a path as text.
pub(super) fn text(path: &Path) -> Result<&str, CannotExport> {
    path.to_str().ok_or_else(|| CannotExport::NoText(path.to_string_lossy().into()))
}

/// A command line that grows.
#[derive(Debug, Default)]
pub(super) struct Line(String);

impl Line {
    /// Adds words as they are.
    pub(super) fn raw(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if !self.0.is_empty() {
            self.0.push(' ');
        }
        self.0.push_str(text);
    }

    /// Adds one word.
    pub(super) fn word(&mut self, text: &str) -> Result<(), CannotExport> {
        self.raw(&word(text)?);
        Ok(())
    }

    /// Adds an option and the paths behind it.
    pub(super) fn option(&mut self, name: &str, paths: &[&Path]) -> Result<(), CannotExport> {
        self.raw(name);
        paths.iter().try_for_each(|path| self.word(text(path)?))
    }

    /// Adds the variables of a command: those that the caller has too by their names, so that no
    /// value is printed that is not in a policy.
    pub(super) fn variables(
        &mut self,
        environment: &[(String, String)],
        outside: &[(String, String)],
    ) -> Result<(), CannotExport> {
        for variable @ (name, value) in environment {
            if outside.contains(variable) {
                self.raw(&format!("{name}={}", named(name)?));
            } else {
                self.word(&format!("{name}={value}"))?;
            }
        }
        Ok(())
    }

    /// Returns the line.
    pub(super) fn done(self) -> String {
        self.0
    }
}

/// Returns a word that a shell reads as the value of a variable of its own.
pub(super) fn named(name: &str) -> Result<String, CannotExport> {
    if is_name(name) {
        return Ok(format!("\"${name}\""));
    }
    Err(CannotExport::Value { name: name.into(), why: "shells have no variable of this name" })
}

/// Returns whether a shell takes a text for the name of a variable.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_out_of_a_shell_as_they_went_in() {
        #[rustfmt::skip]
        let cases = [
            ("a/b.c",     "a/b.c"),
            ("",          "''"),
            ("a b",       "'a b'"),
            ("$HOME",     "'$HOME'"),
            ("it's",      r"'it'\''s'"),
            ("a\nb",      "'a\nb'"),
            ("~",         "'~'"),
            ("`x`",       "'`x`'"),
            ("é",         "'é'"),
            ("=ls",       "'=ls'"),
            ("a=b",       "a=b"),
        ];
        for (text, expected) in cases {
            assert_eq!(word(text).unwrap(), expected);
        }
        assert!(word("a\0b").is_err());
    }

    #[test]
    fn values_of_the_caller_are_not_printed() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut line = Line::default();
        let inside = [pair("TOKEN", "secret"), pair("SET", "x y"), pair("odd.name", "z")];
        line.variables(&inside, &[pair("TOKEN", "secret")]).unwrap();
        assert_eq!(line.done(), "TOKEN=\"$TOKEN\" 'SET=x y' odd.name=z");
        let refused = Line::default().variables(&inside, &inside).unwrap_err();
        assert!(refused.to_string().starts_with("the value of `odd.name` cannot be"), "{refused}");
    }
}
