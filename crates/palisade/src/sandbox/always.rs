//! A yes that is meant for good: the narrowest rule that says so, in the user's own file.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use palisade_policy::decide::{Answer, Asked, Call};
use palisade_policy::text::visible;

use super::confirm::spelled;
use crate::decision::Guard;
use crate::session::{Request, Session};

/// A rule that would allow exactly this call, and the file it goes into.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Always {
    /// The rule, as it is written.
    pub rule: String,
    /// The user's own policy file.
    pub file: PathBuf,
    /// What the file holds now.
    before: Option<String>,
    /// What it will hold.
    after: String,
}

impl Always {
    /// Works out the rule, if there is one: with it, this call is allowed, and nothing else changes.
    pub(super) fn of(asked: Asked<'_>, cwd: &str, request: &Request) -> Option<Self> {
        let file = request.places().user_policy?;
        let text = Call { command: asked, cwd }.text();
        // What could be read in two ways is not written down.
        if text.is_empty() || visible(&text) != text {
            return None;
        }
        let rule = rule(&text);
        let before = match fs::read_to_string(&file) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(_) => return None,
        };
        let after = with_rule(before.as_deref().unwrap_or_default(), &rule)?;
        let always = Self { rule, file, before, after };
        always.allows(asked, cwd, request).then_some(always)
    }

    /// Says what is saved where, and what it then holds for.
    pub fn text(&self) -> String {
        let file = spelled(&self.file.to_string_lossy());
        let rule = spelled(&self.rule);
        format!(
            "This rule is added to {file}:\n\n  - {rule}\n\nIt holds for this very text in \
             every folder and every project. A call that sets variables which make programs load or \
             run something is asked about all the same.\n"
        )
    }

    /// Tries the file elsewhere: it has to be a policy, and has to allow the call.
    fn allows(&self, asked: Asked<'_>, cwd: &str, request: &Request) -> bool {
        let Some(state) = request.places().state else { return false };
        let trial = state.join(format!("audit/trial-{}", std::process::id()));
        let tried = self.tried(&trial, request);
        fs::remove_dir_all(&trial).ok();
        tried.is_some_and(|session| {
            Guard::new(&session).decide(asked, cwd).answer() == Answer::Allow
        })
    }

    fn tried(&self, trial: &Path, request: &Request) -> Option<Session> {
        let folder = trial.join("palisade");
        DirBuilder::new().recursive(true).mode(0o700).create(&folder).ok()?;
        fs::write(folder.join("policy.yaml"), &self.after).ok()?;
        let mut request = request.clone();
        request.env.insert("XDG_CONFIG_HOME".into(), trial.into());
        Session::open(&request).ok()
    }

    /// Saves the rule. A file that has changed meanwhile stays as it is.
    ///
    /// # Errors
    ///
    /// When it has changed, or cannot be written.
    pub(super) fn save(&self) -> io::Result<()> {
        let now = match fs::read_to_string(&self.file) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if now != self.before {
            return Err(io::Error::other("it has changed since you were asked"));
        }
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder)?;
        }
        // A link stays one: what it leads to is written.
        let file = self.file.canonicalize().unwrap_or_else(|_| self.file.clone());
        let mut new = file.clone().into_os_string();
        new.push(format!(".{}", std::process::id()));
        let mut written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
        let moved = written
            .write_all(self.after.as_bytes())
            .and_then(|()| written.sync_all())
            .and_then(|()| match file.metadata() {
                Ok(had) => written.set_permissions(had.permissions()),
                Err(_) => Ok(()),
            })
            .and_then(|()| fs::rename(&new, &file));
        if moved.is_err() {
            fs::remove_file(&new).ok();
        }
        moved
    }
}

/// Writes the rule for exactly this text.
fn rule(text: &str) -> String {
    let mut pattern = String::from("^");
    for c in text.chars() {
        if !c.is_alphanumeric() && !" _-/,:=@%\"'#<>!~&".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('$');
    let pattern = pattern.replace('\'', "''");
    format!("{{ tool: run_shell_command, args: {{ command: '{pattern}' }}, action: allow }}")
}

/// Puts a rule in front of those of a policy file; none where it is not written line by line.
fn with_rule(text: &str, rule: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let is_said = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let is_key = |line: &str, key: &str| {
        line.trim_start().strip_prefix(key).is_some_and(|rest| {
            rest.strip_prefix(':')
                .is_some_and(|rest| rest.trim().is_empty() || rest.trim_start().starts_with('#'))
        })
    };
    let commands = lines.iter().position(|line| line.starts_with("commands"));
    let Some(commands) = commands else {
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        return Some(format!("{text}{gap}commands:\n  rules:\n    - {rule}\n"));
    };
    if !is_key(lines.get(commands)?, "commands") {
        return None;
    }
    let inside = lines.get(commands + 1..)?;
    let length = inside.iter().position(|line| is_said(line) && indent(line) == 0);
    let inside = inside.get(..length.unwrap_or(inside.len()))?;
    let wide = inside.iter().find(|line| is_said(line)).map_or(2, |line| indent(line));
    let rules = inside.iter().position(|line| indent(line) == wide && is_key(line, "rules"));
    let (at, new) = match rules {
        Some(rules) => {
            let first = inside.iter().skip(rules + 1).find(|line| is_said(line))?;
            if !first.trim_start().starts_with("- ") {
                return None;
            }
            (commands + 1 + rules + 1, format!("{}- {rule}", " ".repeat(indent(first))))
        }
        None if inside.iter().any(|line| line.trim_start().starts_with("rules")) => return None,
        None => {
            let blanks = " ".repeat(wide);
            (commands + 1, format!("{blanks}rules:\n{blanks}  - {rule}"))
        }
    };
    let (before, after) = lines.split_at_checked(at)?;
    let all: Vec<&str> = [before, &[new.as_str()], after].concat();
    Some(all.join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_matches_one_text_and_no_other() {
        assert_eq!(
            rule("git push 'a.b' [x] $(y)"),
            r"{ tool: run_shell_command, args: { command: '^git push ''a\.b'' \[x\] \$\(y\)$' }, action: allow }"
        );
    }

    #[test]
    fn a_rule_goes_in_front_of_those_that_are_there() {
        #[rustfmt::skip]
        let cases = [
            ("",                                        Some("commands:\n  rules:\n    - R\n")),
            ("preset: x",                               Some("preset: x\ncommands:\n  rules:\n    - R\n")),
            ("commands:\n  rules:\n    - a\n",          Some("commands:\n  rules:\n    - R\n    - a\n")),
            ("commands: # x\n  rules: # y\n  # z\n  - a\n", Some("commands: # x\n  rules: # y\n  - R\n  # z\n  - a\n")),
            ("commands:\n    deny: [a]\nenv: {}\n",     Some("commands:\n    rules:\n      - R\n    deny: [a]\nenv: {}\n")),
            ("commands:\n  deny:\n    - rules\n  rules:\n    - a\n", Some("commands:\n  deny:\n    - rules\n  rules:\n    - R\n    - a\n")),
            ("commands: { rules: [] }\n",               None),
            ("commands:\n  rules: []\n",                None),
            ("commands:\n  rules:\n",                   None),
        ];
        for (text, after) in cases {
            assert_eq!(with_rule(text, "R").as_deref(), after, "{text}");
        }
    }
}
