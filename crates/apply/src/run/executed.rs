//! Names of files that somebody executes later, or that say what is.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

/// Files that are executed, or say what is, when somebody works in their folder.
#[rustfmt::skip]
pub(super) const FILES: [(&str, &[&str]); 9] = [
    ("shell start-up", &[".bashrc", ".bash_profile", ".bash_login", ".profile", ".zshrc", ".zshenv", ".zprofile", ".envrc", ".mise.toml", "mise.toml"]),
    ("package scripts", &["package.json", ".npmrc", ".yarnrc.yml", ".pnpmfile.cjs", "Gemfile"]),
    ("build", &["Makefile", "makefile", "GNUmakefile", "justfile", "build.rs", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradlew", "mvnw", "pom.xml", "CMakeLists.txt", "Rakefile", "configure", "Taskfile.yml", "Taskfile.yaml", "flake.nix", "shell.nix", "default.nix", "meson.build", "SConstruct"]),
    ("python", &["setup.py", "conftest.py", "noxfile.py", "tox.ini", "pyproject.toml", "sitecustomize.py", "usercustomize.py"]),
    ("ci", &[".gitlab-ci.yml", "Jenkinsfile", "azure-pipelines.yml", "bitbucket-pipelines.yml", ".travis.yml", ".drone.yml", ".cirrus.yml", ".woodpecker.yml", "action.yml", "action.yaml"]),
    ("hook", &[".pre-commit-config.yaml", "lefthook.yml", ".gitmodules"]),
    ("container", &["Dockerfile", "docker-compose.yml", "compose.yaml", "Vagrantfile", ".devcontainer.json"]),
    ("agent", &["CLAUDE.md", "AGENTS.md", "GEMINI.md", ".cursorrules", ".windsurfrules", ".clinerules", ".mcp.json"]),
    ("editor", &[".exrc", ".nvimrc", ".nvim.lua", ".vimrc", ".dir-locals.el", ".gdbinit", ".lldbinit"]),
];

/// Folders of such files.
pub(super) const FOLDERS: [(&str, &str); 18] = [
    ("hook", ".git/hooks"),
    ("hook", ".husky"),
    ("ci", ".github/workflows"),
    ("ci", ".github/actions"),
    ("ci", ".circleci"),
    ("ci", ".buildkite"),
    ("ci", ".woodpecker"),
    ("editor", ".vscode"),
    ("editor", ".idea"),
    ("container", ".devcontainer"),
    ("build", ".cargo"),
    ("agent", ".claude"),
    ("agent", ".cursor"),
    ("agent", ".windsurf"),
    ("login", ".ssh"),
    ("login", ".config/systemd/user"),
    ("login", ".config/autostart"),
    ("python", ".pyenv/shims"),
];

/// Single files in folders of other things.
pub(super) const INNER: [(&str, &str); 1] = [("hook", ".hg/hgrc")];

/// Where a package manager puts links to programs: nothing else is made there, and there may be many.
pub(super) const LINKS: (&str, &str) = ("package scripts", "node_modules/.bin");

/// What is read into a shell that works with an environment of Python's.
pub(super) const ACTIVATE: [&str; 3] = ["bin/activate", "bin/activate.fish", "bin/activate.csh"];

/// What a shell executes, if it may be executed.
pub(super) const SCRIPT: (&str, &str) = ("script", ".sh");

/// Tells such files by their names, of which a search sees many.
#[derive(Debug)]
pub(super) struct Executed {
    /// What they look like.
    looks: [u64; 4],
}

impl Executed {
    pub(super) fn new() -> Self {
        let mut looks = [0; 4];
        for name in FILES.iter().flat_map(|(_, names)| *names) {
            let (word, bit) = look(name.as_bytes());
            looks.iter_mut().skip(word).take(1).for_each(|it| *it |= bit);
        }
        Self { looks }
    }

    /// Returns why something of this name would be executed.
    pub(super) fn why(&self, name: &OsStr) -> Option<&'static str> {
        let bytes = name.as_bytes();
        if bytes.ends_with(SCRIPT.1.as_bytes()) {
            return Some(SCRIPT.0);
        }
        let (word, bit) = look(bytes);
        if self.looks.get(word).is_none_or(|word| word & bit == 0) {
            return None;
        }
        let has = |names: &&[&str]| names.iter().any(|it| it.as_bytes() == bytes);
        FILES.iter().find(|(_, names)| has(names)).map(|(why, _)| *why)
    }
}

/// Returns what a name looks like: a word, and a bit in it.
fn look(name: &[u8]) -> (usize, u64) {
    let [first, last] = [name.get(1), name.last()].map(|byte| byte.copied().unwrap_or(0));
    let sum = name.len() * 61 + usize::from(first) * 7 + usize::from(last);
    (sum / 64 % 4, 1 << (sum % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_whatever_they_look_like() {
        let executed = Executed::new();
        for (why, names) in FILES {
            names.iter().for_each(|name| assert_eq!(executed.why(name.as_ref()), Some(why)));
        }
        assert_eq!(executed.why("deploy.sh".as_ref()), Some("script"));
        for other in ["", "main.rs", "package.jsom", "Makefile2", "README.md", "sh"] {
            assert_eq!(executed.why(other.as_ref()), None, "{other}");
        }
    }
}
