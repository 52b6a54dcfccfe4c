//! Files that a text writes first and runs after.

use std::rc::Rc;

use super::disk::Source;
use super::flow::join;
use super::foreign::writes;
use super::strict::versionless;
use super::walk::{Input, Walk};
use crate::command::{Arg, Certainty, Concern, Holed as _, Language, SHELLS};
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
                let first = FirstLine::of(&content);
                let named = first.as_ref().and_then(FirstLine::language);
                let argv = first.filter(|_| named.is_none()).map(|first| first.argv(file));
                // Without a first line it is a shell that takes it.
                let language = language.or(named).unwrap_or(Language::Shell);
                let code = Arg::known(content, file.span);
                self.scope = Rc::clone(&before);
                if let Some(argv) = argv {
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

/// The first line of a script: what it says runs it.
struct FirstLine<'t> {
    words: Vec<&'t str>,
    /// The last part of the program's path, without a version; behind `env` the one it starts.
    program: &'t str,
}

impl<'t> FirstLine<'t> {
    fn of(content: &'t str) -> Option<Self> {
        let words: Vec<&str> =
            content.strip_prefix("#!")?.lines().next()?.split_whitespace().collect();
        let name = |path: &'t str| versionless(path.rsplit('/').next().unwrap_or_default());
        let mut program = name(words.first()?);
        if program == "env" {
            let mut behind = words.iter().skip(1);
            program = name(behind.find(|word| !word.starts_with('-') && !word.contains('='))?);
        }
        Some(Self { words, program })
    }

    /// Returns the language that is read here, if it is one.
    fn language(&self) -> Option<Language> {
        match self.program {
            "python" | "pypy" => Some(Language::Python),
            "node" | "nodejs" | "deno" | "bun" => Some(Language::Node),
            "perl" => Some(Language::Perl),
            "ruby" => Some(Language::Ruby),
            "php" => Some(Language::Php),
            "awk" | "gawk" | "mawk" | "nawk" => Some(Language::Awk),
            shell if SHELLS.contains(&shell) => Some(Language::Shell),
            _ => None,
        }
    }

    /// Returns the command that runs the script.
    fn argv<'a>(&self, file: &Arg<'a>) -> Vec<Arg<'a>> {
        let words = self.words.iter().map(|word| Arg::known((*word).to_owned(), file.span));
        words.chain([file.clone()]).collect()
    }
}
