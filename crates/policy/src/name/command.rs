//! The name of a program, as a list of refused commands names it.

use std::fmt;
use std::str::FromStr;

use super::{Invalid, quote};

/// The last component of a program's path: `sudo`, `mkfs.ext4`.
///
/// It holds no `/`, so that `/usr/bin/sudo`, `./sudo` and `sudo` are one entry, not three.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct CommandName(String);

impl CommandName {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for CommandName {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        // The kernel's NAME_MAX: no longer name can be executed.
        const LONGEST: usize = 255;
        let shown = quote(text);
        if text.is_empty() {
            return Err(Invalid::new("command-empty", "the command name is empty"));
        }
        if text.len() > LONGEST {
            let problem = format!("{shown} is longer than a file name can be");
            return Err(Invalid::new("command-length", problem));
        }
        if text.chars().any(char::is_control) {
            let problem = format!("{shown} contains a control character");
            return Err(Invalid::new("command-control", problem));
        }
        if text.chars().any(char::is_whitespace) {
            let first = text.split_whitespace().next().unwrap_or_default();
            return Err(Invalid::new("command-blank", format!("{shown} contains a blank"))
                .with_hint(format!("name the program alone, like {}", quote(first))));
        }
        if let Some((_, name)) = text.rsplit_once('/') {
            return Err(Invalid::new("command-path", format!("{shown} is a path"))
                .with_hint(format!("write the file name alone: {}", quote(name))));
        }
        if matches!(text, "." | "..") {
            return Err(Invalid::new("command-folder", format!("{shown} is a folder")));
        }
        Ok(Self(text.into()))
    }
}

impl fmt::Display for CommandName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_a_file_name_and_nothing_more() {
        for name in ["sudo", "mkfs.ext4", "[", "g++", "-"] {
            assert_eq!(name.parse::<CommandName>().unwrap().as_str(), name);
        }
        #[rustfmt::skip]
        let cases = [
            ("",              "command-empty"),
            ("/bin/sudo",     "command-path"),
            ("./sudo",        "command-path"),
            ("sudo -n",       "command-blank"),
            ("sudo\u{a0}",    "command-blank"),
            ("su\0do",        "command-control"),
            ("\u{1b}[2Jls",   "command-control"),
            ("..",            "command-folder"),
        ];
        for (text, code) in cases {
            assert_eq!(text.parse::<CommandName>().unwrap_err().code(), code, "{text:?}");
        }
        let long = "a".repeat(256);
        assert_eq!(long.parse::<CommandName>().unwrap_err().code(), "command-length");
    }
}
