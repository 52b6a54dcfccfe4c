//! Names of environment variables, and which of them look like secrets.

use std::fmt;
use std::str::FromStr;

use super::{Invalid, quote};

/// The name of an environment variable: letters, digits and `_`, not starting with a digit.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct EnvName(String);

impl EnvName {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for EnvName {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let shown = quote(text);
        if text.is_empty() {
            return Err(Invalid::new("env-empty", "the variable's name is empty"));
        }
        if let Some((name, _)) = text.split_once('=') {
            let problem = format!("{shown} is a name and a value");
            return Err(Invalid::new("env-value", problem)
                .with_hint(format!("name the variable alone: {}", quote(name))));
        }
        if !is_name(text) {
            return Err(Invalid::new("env-name", format!("{shown} is not a variable's name"))
                .with_hint("use letters, digits and `_`, and start with a letter or `_`"));
        }
        Ok(Self(text.into()))
    }
}

impl fmt::Display for EnvName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One variable, or all whose names start alike: `PATH`, `LC_*`.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct EnvPattern {
    start: EnvName,
    reach: Reach,
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Reach {
    Exact,
    Prefix,
}

impl EnvPattern {
    /// Returns whether the variable `name` falls under this pattern.
    ///
    /// A name that is no [`EnvName`] never does: shells smuggle functions under such names.
    pub fn matches(&self, name: &str) -> bool {
        match self.reach {
            Reach::Exact => name == self.start.0,
            Reach::Prefix => name.starts_with(&self.start.0) && is_name(name),
        }
    }

    /// Returns whether every name that `other` matches is matched by this pattern too.
    pub fn covers(&self, other: &Self) -> bool {
        match self.reach {
            Reach::Exact => self == other,
            // A prefix hands no secret over, a name in full does: naming it is more.
            Reach::Prefix => {
                other.start.0.starts_with(&self.start.0)
                    && (other.reach == Reach::Prefix || !looks_secret(&other.start.0))
            }
        }
    }
}

impl FromStr for EnvPattern {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let (start, reach) = match text.strip_suffix('*') {
            Some(start) => (start, Reach::Prefix),
            None => (text, Reach::Exact),
        };
        if text == "*" {
            return Err(Invalid::new("env-everything", "`*` would pass every variable")
                .with_hint("name the variables, or the start of their names, like `LC_*`"));
        }
        if start.contains('*') {
            let problem = format!("{} has a `*` that is not at its end", quote(text));
            return Err(Invalid::new("env-wildcard", problem)
                .with_hint("a `*` may only end a name, like `LC_*`"));
        }
        Ok(Self { start: start.parse()?, reach })
    }
}

impl From<EnvName> for EnvPattern {
    fn from(start: EnvName) -> Self {
        Self { start, reach: Reach::Exact }
    }
}

impl fmt::Display for EnvPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let star = match self.reach {
            Reach::Exact => "",
            Reach::Prefix => "*",
        };
        write!(f, "{}{star}", self.start)
    }
}

/// Returns whether a variable of this name probably holds a secret, so that it passes only when
/// named in full. Errs on the side of "yes".
pub fn looks_secret(name: &str) -> bool {
    const INSIDE: [&str; 10] = [
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "CREDENTIAL",
        "APIKEY",
        "API_KEY",
        "PRIVATE_KEY",
        "ACCESS_KEY",
    ];
    const LAST_WORD: [&str; 7] = ["KEY", "AUTH", "PAT", "PASS", "PWD", "PSK", "DSN"];

    let name = name.to_ascii_uppercase();
    let last_word = name.rsplit_once('_').map(|(_, word)| word);
    INSIDE.iter().any(|word| name.contains(word))
        || last_word.is_some_and(|word| LAST_WORD.contains(&word))
}

fn is_name(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit())
        && !text.is_empty()
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> EnvPattern {
        text.parse().unwrap()
    }

    #[test]
    fn a_pattern_matches_one_name_or_one_prefix() {
        #[rustfmt::skip]
        let cases = [
            // pattern  name                matches because
            ("PATH",    "PATH",             true,   "the very name"),
            ("LC_*",    "LC_ALL",           true,   "below the prefix"),
            ("LC_*",    "LC_",              true,   "nothing after the prefix is fine"),
            ("PATH",    "PATHEXT",          false,  "a name is not a prefix"),
            ("PATH",    "path",             false,  "names are case-sensitive"),
            ("LC_*",    "LCX",              false,  "the prefix is literal"),
            ("LC_*",    "XLC_ALL",          false,  "the prefix is at the start"),
            ("B*",      "BASH_FUNC_ls%%",   false,  "shell functions are not variables"),
            ("A*",      "A=B",              false,  "no name contains `=`"),
        ];
        for (text, name, expected, because) in cases {
            assert_eq!(pattern(text).matches(name), expected, "{text} {name}: {because}");
        }
    }

    #[test]
    fn what_is_not_a_name_is_refused() {
        #[rustfmt::skip]
        let cases = [
            ("",        "env-empty"),
            ("*",       "env-everything"),
            ("1A",      "env-name"),
            ("1*",      "env-name"),
            ("A-B",     "env-name"),
            ("A B",     "env-name"),
            ("A\0",     "env-name"),
            ("Ä",       "env-name"),
            ("A=1",     "env-value"),
            ("*_KEY",   "env-wildcard"),
            ("A*B",     "env-wildcard"),
            ("A**",     "env-wildcard"),
        ];
        for (text, code) in cases {
            assert_eq!(text.parse::<EnvPattern>().unwrap_err().code(), code, "{text:?}");
        }
    }

    #[test]
    fn secrets_are_known_by_their_names() {
        for name in [
            "GITHUB_TOKEN",
            "gh_token",
            "AWS_SECRET_ACCESS_KEY",
            "OPENAI_API_KEY",
            "SOME_APIKEY",
            "DB_PASSWORD",
            "PGPASSWORD",
            "SIGNING_KEY",
            "NPM_CONFIG__AUTH",
            "ADO_PAT",
            "GOOGLE_APPLICATION_CREDENTIALS",
        ] {
            assert!(looks_secret(name), "{name}");
        }
        for name in ["PATH", "HOME", "OLDPWD", "KEYBOARD", "PATTERN", "AUTHOR", "CARGO_HOME"] {
            assert!(!looks_secret(name), "{name}");
        }
    }
}
