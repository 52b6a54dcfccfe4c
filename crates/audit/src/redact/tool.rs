//! Programs that take secrets under names that do not say so.

use super::value::gone;

/// What a program does with its words.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tool {
    /// Options whose next word is a secret.
    next: &'static [&'static str],
    /// Options with a secret right behind their letter.
    glued: &'static [&'static str],
    /// Options whose next word is a secret in front of which `pass:` says so.
    prefixed: &'static [&'static str],
    /// Options whose next word is a cookie, or the name of a file.
    cookie: &'static [&'static str],
    /// Options whose next word is a user, `%` and a password.
    percent: &'static [&'static str],
    /// The word without which all that does not hold.
    only: Option<&'static str>,
    pub(super) kind: Kind,
}

/// What the words of a program are, beside its options.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Kind {
    #[default]
    Others,
    /// The last one is a secret.
    EndsInSecret,
    /// Names of settings, each with its value behind it.
    Sets,
    /// Variables with values.
    Assigns,
    /// Text for a shell.
    ReadsShell,
}

/// What the next word is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Next {
    Secret,
    Cookie,
    Prefixed,
    UserPercent,
}

const NONE: Tool = Tool {
    next: &[],
    glued: &[],
    prefixed: &[],
    cookie: &[],
    percent: &[],
    only: None,
    kind: Kind::Others,
};

#[rustfmt::skip]
const TOOLS: &[(&[&str], Tool)] = &[
    (&["mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlshow", "mariadb", "mariadb-dump"],
     Tool { glued: &["-p"], ..NONE }),
    (&["sshpass"],                                      Tool { next: &["-p"], glued: &["-p"], ..NONE }),
    (&["docker", "podman", "buildah", "skopeo", "nerdctl", "helm", "oras", "crane"],
     Tool { next: &["-p"], only: Some("login"), ..NONE }),
    (&["az"],                                           Tool { next: &["-p"], only: Some("login"), ..NONE }),
    (&["redis-cli"],                                    Tool { next: &["-a"], ..NONE }),
    (&["mongo", "mongosh", "mongodump", "cqlsh", "sqlcmd", "isql", "influx"],
     Tool { next: &["-p", "-P"], ..NONE }),
    (&["curl"],                                         Tool { cookie: &["-b"], ..NONE }),
    (&["ldapsearch", "ldapmodify", "ldapadd", "ldapdelete", "ldapwhoami", "ldappasswd"],
     Tool { next: &["-w"], ..NONE }),
    (&["openssl"],
     Tool { next: &["-k"], prefixed: &["-passin", "-passout", "-pass"], ..NONE }),
    (&["7z", "7za", "7zr", "rar", "unrar"],             Tool { glued: &["-p"], ..NONE }),
    (&["zip", "unzip"],                                 Tool { next: &["-P"], glued: &["-P"], ..NONE }),
    (&["htpasswd"],                                     Tool { only: Some("-b"), kind: Kind::EndsInSecret, ..NONE }),
    (&["smbclient", "rpcclient", "smbget", "net"],      Tool { percent: &["-U", "--user"], ..NONE }),
    (&["git", "npm", "yarn", "pnpm", "aws", "gh", "glab", "gcloud", "pip", "pip3", "poetry", "composer", "bundle", "conda"],
     Tool { kind: Kind::Sets, ..NONE }),
    (&["export", "declare", "typeset", "local", "readonly", "env", "alias"],
     Tool { kind: Kind::Assigns, ..NONE }),
    (&["eval", "ssh", "su", "watch", "parallel"],       Tool { kind: Kind::ReadsShell, ..NONE }),
];

/// Programs that run another.
const AROUND: [&str; 8] = ["sudo", "doas", "env", "nice", "nohup", "time", "exec", "command"];

/// Programs whose texts are no shell text.
const LANGUAGES: [&str; 11] = [
    "python",
    "node",
    "perl",
    "ruby",
    "php",
    "lua",
    "psql",
    "mysql",
    "sqlite",
    "deno",
    "osascript",
];

/// Whether words run a text in another language than the shell's.
pub(super) fn is_language(words: &[String]) -> bool {
    words.iter().any(|word| {
        let base = word.rsplit('/').next().unwrap_or_default();
        LANGUAGES.iter().any(|it| base.starts_with(it))
    })
}

/// Finds what is known of the program that words name.
pub(super) fn of(words: &[String]) -> Option<Tool> {
    let base = |word: &String| word.rsplit('/').next().unwrap_or_default().to_owned();
    let is_other = |word: &&String| {
        !AROUND.contains(&base(word).as_str()) && !word.starts_with('-') && !word.contains('=')
    };
    let inner = words.iter().find(is_other).map(base);
    let known = |name: &str| TOOLS.iter().find(|(names, _)| names.contains(&name));
    let found = inner.as_deref().and_then(known);
    let found = found.or_else(|| words.first().map(base).as_deref().and_then(known));
    let (_, tool) = found?;
    let holds = tool.only.is_none_or(|only| words.iter().any(|word| word == only));
    holds.then_some(*tool)
}

impl Tool {
    /// Says what stands behind a word.
    pub(super) fn next(&self, words: &[String], number: usize, word: &str) -> Option<Next> {
        if self.kind == Kind::EndsInSecret && number + 2 == words.len() || self.next.contains(&word)
        {
            return Some(Next::Secret);
        }
        if self.kind == Kind::Sets
            && words.iter().any(|word| word == "config" || word == "configure" || word == "set")
            && !word.starts_with('-')
            && super::name::is_secret(word.rsplit([':', '/']).next().unwrap_or_default())
        {
            return Some(Next::Secret);
        }
        let takes = |options: &[&str]| options.contains(&word);
        takes(self.cookie)
            .then_some(Next::Cookie)
            .or_else(|| takes(self.prefixed).then_some(Next::Prefixed))
            .or_else(|| takes(self.percent).then_some(Next::UserPercent))
    }

    /// Returns a word without the secret behind its letter.
    pub(super) fn glued(&self, number: usize, word: &str) -> Option<String> {
        let option = self.glued.iter().find(|option| word.starts_with(**option))?;
        let secret = word.strip_prefix(option).filter(|it| !it.is_empty() && number > 0)?;
        Some(format!("{option}{}", gone(secret)))
    }
}
