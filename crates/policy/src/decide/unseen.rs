//! Words that only running tells, where a tool takes them for code or for what is to be deleted.

use super::child::is_flag;
use super::sought;
use super::walk::{Input, Walk};
use crate::command::{Act, Arg, Certainty, Concern, HOLE, Run, SHELLS};
use crate::shell::{Piece, Word};
use crate::text::Span;

impl Walk<'_> {
    /// Judges words of a command that are not known, by where they stand. `name` is without a
    /// version.
    #[inline(never)]
    pub(super) fn unseen(&mut self, name: &str, args: &[Arg<'_>], span: Span) {
        if name == "perl" {
            self.magic_files(args);
        }
        match name {
            "find" | "gfind" => self.searched(args, span),
            // Whoever started this, and what a search among all processes finds.
            "kill" => {
                const FOREIGN: [&str; 3] = ["PPID", "pgrep", "pidof"];
                let written = |arg: &&Arg<'_>| {
                    let text = self.as_written(arg.span).unwrap_or_default();
                    FOREIGN.iter().any(|mark| text.contains(mark))
                };
                let foreign = args.iter().find(written).map(|arg| arg.span);
                foreign.into_iter().for_each(|span| self.raise(Concern::Processes, span));
            }
            "vim" | "vi" | "nvim" | "ex" | "view" => {
                self.code_behind(args, &["-c", "--cmd", "-S"]);
                let glued = |arg: &&Arg<'_>| {
                    arg.text.strip_prefix('+').is_some_and(|rest| rest.starts_with(HOLE))
                };
                let glued = args.iter().find(glued).map(|arg| arg.span);
                glued.into_iter().for_each(|span| self.unseen_code(span));
            }
            "getent" => {
                let asked = |arg: &&Arg<'_>| matches!(&*arg.text, "shadow" | "gshadow");
                if let Some(arg) = args.iter().find(asked) {
                    let text = format!("/etc/{}", arg.text).into();
                    let file = Arg { text, verbatim: None, ..arg.clone() };
                    self.perform(&Act::Read(file), &Input::Inherited);
                }
            }
            "docker" | "finch" | "go" | "nerdctl" | "podman" => self.pulled(args),
            "psql" | "mysql" | "mariadb" => {
                self.code_behind(args, &["-c", "--command", "-e", "--execute"]);
            }
            "sqlite" | "duckdb" => {
                let operands = args.iter().filter(|arg| !arg.text.starts_with('-'));
                let unknown = operands.skip(1).find(|arg| is_unknown(arg)).map(|arg| arg.span);
                unknown.into_iter().for_each(|span| self.unseen_code(span));
            }
            interpreter
                if interpreter.ends_with("sh") && SHELLS.contains(&interpreter)
                    || matches!(interpreter, "python" | "perl" | "ruby" | "node" | "php") =>
            {
                self.aliases(args);
                // It may turn out to be the option that says that code follows.
                let first = args.iter().position(|arg| !arg.text.starts_with('-'));
                let first = first.and_then(|at| Some((args.get(at)?, args.len() > at + 1)));
                if let Some((arg, true)) = first
                    && arg.certainty == Certainty::Many
                    && arg.text.starts_with(HOLE)
                {
                    self.unseen_code(arg.span);
                }
            }
            _ => {}
        }
    }

    /// `bash -ic 'alias x=rm …'`: where a person is to type, words are no longer the commands that
    /// they name.
    fn aliases(&mut self, args: &[Arg<'_>]) {
        let defines = |arg: &&Arg<'_>| {
            let mut behind = arg.text.split("alias").skip(1);
            behind.any(|rest| rest.starts_with(char::is_whitespace) && rest.contains('='))
        };
        if args.iter().any(|arg| is_flag(&arg.text, 'i'))
            && let Some(arg) = args.iter().find(defines)
        {
            self.raise(Concern::Evaluates, arg.span);
        }
    }

    /// Perl opens the files of its command line as its `open` does: `>file` writes, `text|` runs.
    fn magic_files(&mut self, args: &[Arg<'_>]) {
        let (mut has_code, mut is_code) = (false, false);
        for arg in args {
            if std::mem::take(&mut is_code) {
                continue;
            }
            if let Some(letters) = arg.text.strip_prefix('-').filter(|rest| !rest.is_empty()) {
                // These take the rest of the word.
                let end = letters.find(['e', 'E', 'i', 'I', 'M', 'm', 'F', 'x', 'D', 'd', 'V']);
                let tail = end.and_then(|end| letters.get(end..)).unwrap_or_default();
                if tail.starts_with(['e', 'E']) {
                    (has_code, is_code) = (true, tail.len() == 1);
                }
                continue;
            }
            if !has_code {
                return;
            }
            let text = arg.text.trim();
            let as_file = |text: &str| Arg {
                text: text.trim().to_owned().into(),
                verbatim: None,
                ..arg.clone()
            };
            let act = if text.starts_with('|') || text.ends_with('|') {
                Act::Run(Run::Shell(as_file(text.trim_matches('|'))))
            } else if text.starts_with('>') || text.starts_with("+>") || text.starts_with("+<") {
                Act::Write(as_file(text.trim_start_matches(['+', '>', '<'])))
            } else if let Some(file) = text.strip_prefix('<') {
                Act::Read(as_file(file))
            } else {
                continue;
            };
            self.perform(&act, &Input::Inherited);
        }
    }

    /// A blank that no shell takes for one joins words that look apart.
    #[inline]
    pub(super) fn blanks(&mut self, word: &Word<'_>) {
        let looks_blank = |c: char| c != ' ' && !c.is_ascii() && c.is_whitespace();
        let hides = word.pieces.iter().any(|piece| {
            matches!(piece, Piece::Literal(text) if !text.is_ascii() && text.contains(looks_blank))
        });
        if hides {
            self.raise(Concern::Obfuscates, word.span);
        }
    }

    fn code_behind(&mut self, args: &[Arg<'_>], flags: &[&str]) {
        let behind = args.windows(2).filter_map(|pair| match pair {
            [flag, value] if flags.contains(&&*flag.text) && is_unknown(value) => Some(value.span),
            _ => None,
        });
        let spans: Vec<Span> = behind.collect();
        spans.into_iter().for_each(|span| self.unseen_code(span));
    }

    fn unseen_code(&mut self, span: Span) {
        self.ask("dynamic-code", "runs code that is only known at run time", span);
    }

    /// A search that finds what git keeps and deletes it.
    fn searched(&mut self, args: &[Arg<'_>], span: Span) {
        let deletes =
            args.iter().any(|arg| matches!(&*arg.text, "-delete" | "rm" | "shred" | "unlink"));
        // Passed over, and something else is done with the others.
        let passes = args.windows(2).any(|pair| {
            matches!(pair, [prune, or] if prune.text == "-prune" && matches!(&*or.text, "-o" | "-or" | ")"))
        });
        if !deletes || passes {
            return;
        }
        let names = args.iter().enumerate().any(|(at, arg)| {
            let negated = at.checked_sub(2).and_then(|before| args.get(before));
            // In any case of letters: some tests do not tell them apart, and some disks.
            let text = sought::pattern("-iname", &arg.text);
            text.contains(".git")
                && !text.contains(".gitignore")
                && !negated.is_some_and(|word| matches!(&*word.text, "-not" | "!"))
        });
        if names {
            self.raise(Concern::LosesWork, span);
        }
    }
}

fn is_unknown(arg: &Arg<'_>) -> bool {
    arg.text.starts_with(HOLE)
}
