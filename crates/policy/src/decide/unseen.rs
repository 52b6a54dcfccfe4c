//! Words that only running tells, where a tool takes them for code or for what is to be deleted.

use super::strict::{SHELLS, versionless};
use super::walk::Walk;
use crate::command::{Arg, Certainty, Concern, HOLE};
use crate::shell::{Piece, Word};
use crate::text::Span;

impl Walk<'_> {
    /// Judges words of a command that are not known, by where they stand.
    pub(super) fn unseen(&mut self, name: &str, args: &[Arg<'_>], span: Span) {
        match versionless(name) {
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
            "make" | "gmake" => {
                for file in ["Makefile", "makefile", "GNUmakefile"] {
                    self.run_taken(&Arg::known(file, span));
                }
            }
            "vim" | "vi" | "nvim" | "ex" | "view" => {
                self.code_behind(args, &["-c", "--cmd", "-S"]);
                let glued = |arg: &&Arg<'_>| {
                    arg.text.strip_prefix('+').is_some_and(|rest| rest.starts_with(HOLE))
                };
                let glued = args.iter().find(glued).map(|arg| arg.span);
                glued.into_iter().for_each(|span| self.unseen_code(span));
            }
            "psql" | "mysql" | "mariadb" => {
                self.code_behind(args, &["-c", "--command", "-e", "--execute"]);
            }
            "sqlite" | "duckdb" => {
                let operands = args.iter().filter(|arg| !arg.text.starts_with('-'));
                let unknown = operands.skip(1).find(|arg| is_unknown(arg)).map(|arg| arg.span);
                unknown.into_iter().for_each(|span| self.unseen_code(span));
            }
            "python" if args.first().is_some_and(|flag| flag.text == "-m") => {
                if let Some(module) = args.get(1).and_then(Arg::as_known) {
                    let file = format!("{}.py", module.replace('.', "/"));
                    self.run_taken(&Arg::known(file, span));
                }
            }
            interpreter
                if interpreter.ends_with("sh") && SHELLS.contains(&interpreter)
                    || matches!(interpreter, "python" | "perl" | "ruby" | "node" | "php") =>
            {
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

    /// A blank that no shell takes for one joins words that look apart.
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
        if !deletes || args.iter().any(|arg| arg.text == "-prune") {
            return;
        }
        let names = args.iter().enumerate().any(|(at, arg)| {
            let negated = at.checked_sub(2).and_then(|before| args.get(before));
            arg.text.contains(".git")
                && !arg.text.contains(".gitignore")
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
