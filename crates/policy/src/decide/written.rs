//! Files that a text writes first and runs after.

use std::rc::Rc;

use super::disk::Source;
use super::flow::join;
use super::foreign::writes;
use super::walk::{Input, Walk};
use crate::command::{Arg, Certainty, Concern, Holed as _, Language};
use crate::shell::{Descriptor, Redirection, RedirectionOperator};
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
    /// Notes what a command writes to the files that its output goes to.
    pub(super) fn note_written<'t>(&mut self, text: &'t str, redirections: &[Redirection<'t>]) {
        if redirections.is_empty() {
            return;
        }
        let printed = self.output.take();
        let known = printed
            .as_ref()
            .filter(|value| value.certainty == Certainty::Known && value.text.len() <= LONGEST);
        let mut elsewhere = false;
        for redirection in redirections.iter().filter(|redirection| writes(redirection)) {
            elsewhere = true;
            let target = self.value(text, &redirection.target);
            let output = matches!(redirection.descriptor, None | Some(Descriptor::Number(1)))
                && redirection.operator != RedirectionOperator::ReadWrite;
            let appends = matches!(
                redirection.operator,
                RedirectionOperator::Append | RedirectionOperator::AppendBoth
            );
            for path in self.places(&target.text) {
                match known {
                    Some(value) if output && appends => self.disk.append(path, &value.text),
                    Some(value) if output => self.disk.write(path, value.text.clone()),
                    Some(_) | None => self.disk.take(path, Source::Running),
                }
            }
        }
        if !elsewhere {
            self.output = printed;
        }
    }

    /// Judges the content of a file that the text itself wrote and now runs.
    pub(super) fn rerun(&mut self, language: Option<Language>, file: &Arg<'_>) {
        // Each may be what it holds: in the shell at hand, they lead to different states.
        let before = Rc::clone(&self.scope);
        let mut after = Rc::clone(&before);
        for path in self.places(&file.text) {
            for content in self.disk.written(&path) {
                let language = language.unwrap_or_else(|| by_first_line(&content));
                let code = Arg::known(content, file.span);
                self.scope = Rc::clone(&before);
                if let Some(argv) = interpreter(&code, file) {
                    self.deeper(file.span, |walk| {
                        walk.call(&argv, file.span, &Input::Inherited);
                    });
                }
                self.within(&code, |walk| walk.code(language, &code, &Input::Inherited));
                join(&mut after, &self.scope);
            }
        }
        self.scope = after;
    }

    /// A command that follows after a shell was named in some file may be the one that reads it.
    pub(super) fn after_writing(&mut self, name: &str, span: Span) {
        let names_shell = |content: &str| {
            let body = if content.starts_with("#!") {
                content.split_once('\n').map_or("", |(_, body)| body)
            } else {
                content
            };
            ["/bin/sh", "/bin/bash", "/bin/zsh", "/bin/dash"]
                .iter()
                .any(|shell| body.contains(shell))
        };
        if self.disk.contents().any(names_shell) && ONLY_LOOK.binary_search(&name).is_err() {
            self.raise(Concern::Spawns, span);
        }
    }

    /// Returns where a path may lead from here.
    pub(super) fn places(&self, path: &str) -> Vec<String> {
        if path.has_hole() {
            return Vec::new();
        }
        let ground = self.judge.ground();
        self.scope.cwds().iter().map(|cwd| ground.place(path, cwd, &self.sight()).path).collect()
    }
}

/// Returns the command by which a script's first line has it run, unless that is a language whose
/// code is read.
fn interpreter<'t>(code: &Arg<'_>, file: &Arg<'t>) -> Option<Vec<Arg<'t>>> {
    const READ: [&str; 14] = [
        "ash", "bash", "bun", "dash", "deno", "gawk", "ksh", "mawk", "node", "perl", "php", "ruby",
        "sh", "zsh",
    ];
    let first = code.text.strip_prefix("#!")?.lines().next()?.trim();
    let mut words = first.split_whitespace().map(|word| Arg::known(word.to_owned(), file.span));
    let program = words.next()?;
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let mut asked = name(&program.text);
    if asked == "env" {
        asked = first.split_whitespace().skip(1).find(|it| !it.starts_with('-')).map(name)?;
    }
    let is_read = READ.contains(&&*asked) || asked.starts_with("python") || asked == "awk";
    (!is_read).then(|| std::iter::once(program).chain(words).chain([file.clone()]).collect())
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
