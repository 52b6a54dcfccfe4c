//! Files that a text writes first and runs after.

use std::rc::Rc;

use super::scope::Value;
use super::walk::{Input, Walk};
use crate::command::{Arg, Certainty, Concern, HOLE, Language};
use crate::shell::{Redirection, RedirectionOperator};
use crate::text::Span;

/// Longest text that is kept as a file's content.
const LONGEST: usize = 16 << 10;

/// Programs that look at files, move them or keep them, and run nothing that stands in them.
const ONLY_LOOK: [&str; 30] = [
    "[", "awk", "cat", "cd", "chmod", "cmp", "cp", "diff", "echo", "file", "git", "grep", "head",
    "jq", "ls", "mkdir", "mv", "printf", "pwd", "rg", "rm", "sed", "sort", "stat", "tail", "tee",
    "test", "touch", "true", "wc",
];

impl Walk<'_> {
    /// Notes what a command that prints a known text writes to files.
    pub(super) fn note_written<'t>(&mut self, text: &'t str, redirections: &[Redirection<'t>]) {
        let Some(Value { text: content, certainty: Certainty::Known }) = self.output.clone() else {
            return;
        };
        if content.len() > LONGEST {
            return;
        }
        for redirection in redirections {
            let writes = matches!(
                redirection.operator,
                RedirectionOperator::Write
                    | RedirectionOperator::Clobber
                    | RedirectionOperator::Append
                    | RedirectionOperator::WriteBoth
            );
            if !writes {
                continue;
            }
            let target = self.value(text, &redirection.target);
            self.output = None;
            for path in self.places(&target.text) {
                Rc::make_mut(&mut self.scope).write(path, content.clone());
            }
        }
    }

    /// Judges the content of a file that the text itself wrote and now runs.
    pub(super) fn rerun(&mut self, language: Option<Language>, file: &Arg<'_>) {
        for path in self.places(&file.text) {
            let Some(content) = self.scope.written(&path).map(str::to_owned) else { continue };
            let language = language.unwrap_or_else(|| by_first_line(&content));
            let code = Arg::known(content, file.span);
            self.within(&code, |walk| walk.code(language, &code, &Input::Inherited));
        }
    }

    /// A command that follows after a shell was named in some file may be the one that reads it.
    pub(super) fn after_writing(&mut self, name: &str, span: Span) {
        let names_shell = |content: &str| {
            let body = if content.starts_with("#!") {
                content.split_once('\n').map_or("", |(_, body)| body)
            } else {
                content
            };
            ["/bin/sh", "/bin/bash", "/bin/zsh", "/bin/dash"].iter().any(|shell| body.contains(shell))
        };
        if ONLY_LOOK.binary_search(&name).is_err() && self.scope.contents().any(names_shell) {
            self.raise(Concern::Spawns, span);
        }
    }

    /// Returns where a path may lead from here.
    fn places(&self, path: &str) -> Vec<String> {
        if path.contains(HOLE) {
            return Vec::new();
        }
        let ground = self.judge.ground();
        self.scope.cwds().iter().map(|cwd| ground.place(path, cwd, self.lookup).path).collect()
    }
}

/// Returns the language that a script names in its first line; a shell's without one.
fn by_first_line(content: &str) -> Language {
    let first = content.lines().next().unwrap_or_default();
    let named = |word: &str| first.starts_with("#!") && first.contains(word);
    match () {
        () if named("python") => Language::Python,
        () if named("node") || named("deno") || named("bun") => Language::Node,
        () if named("perl") => Language::Perl,
        () if named("ruby") => Language::Ruby,
        () if named("php") => Language::Php,
        () if named("awk") => Language::Awk,
        () => Language::Shell,
    }
}
