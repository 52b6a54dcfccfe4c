//! Shell text that a command runs: in a shell of its own, or in the shell at hand.

use std::rc::Rc;

use super::Style;
use super::builtin::LastWord;
use super::scope::Environment;
use super::strict::versionless;
use super::verdict::{Answer, Axis, Reason};
use super::walk::{Input, Walk};
use crate::command::{Arg, Certainty, HOLE, Holed as _};
use crate::shell;
use crate::text::{Span, byte};

/// Which shell reads a text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Speech {
    /// Bash.
    Bash,
    /// Some shell: it may be bash, and may be one that differs from it wherever POSIX lets it.
    Posix,
    /// Zsh, which is like bash and has much of its own.
    Zsh,
}

/// Whose state a text changes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Ownership {
    /// That of a process of its own.
    Child,
    /// That of the shell at hand: `eval`, `.`
    Here,
}

impl Walk<'_> {
    /// Shell text in an argument.
    pub(super) fn nested(&mut self, arg: &Arg<'_>, input: &Input) {
        let ownership = std::mem::replace(&mut self.ownership, Ownership::Child);
        if arg.certainty != Certainty::Known {
            self.ask("dynamic-shell", "runs shell text that is only known at run time", arg.span);
            // What stands around the unknown part is judged all the same.
            let text = arg.text.replace(HOLE, "${_}").into();
            let around = Arg { text, verbatim: None, ..arg.clone() };
            if arg.text.has_hole() {
                self.owned(ownership, &around, input);
            }
            if ownership == Ownership::Here {
                let scope = Rc::make_mut(&mut self.scope);
                scope.forget_all();
                scope.enter(Vec::new());
            }
        } else {
            self.owned(ownership, arg, input);
        }
        self.ownership = ownership;
    }

    fn owned(&mut self, ownership: Ownership, arg: &Arg<'_>, input: &Input) {
        self.deeper(arg.span, |walk| {
            if ownership == Ownership::Here {
                return walk.within(arg, |walk| walk.shell_text(&arg.text, input));
            }
            let child = walk.scope.child(&walk.given, walk.environment);
            let environment = std::mem::replace(&mut walk.environment, Environment::Passed);
            let speech = std::mem::replace(&mut walk.speech, walk.child_speech);
            walk.aside(|walk| {
                walk.scope = Rc::new(child);
                walk.within(arg, |walk| walk.shell_text(&arg.text, input));
            });
            walk.environment = environment;
            walk.speech = speech;
        });
    }

    /// Reads and judges a whole shell text.
    pub(super) fn shell_text(&mut self, text: &str, input: &Input) {
        // Most texts have no sign of that at all.
        let expands = byte::has_either(text, b'$', b'{');
        if expands && takes_last(text) {
            self.habits.last = LastWord::Kept;
        }
        match shell::parse(text) {
            Ok(script) => {
                let span = Span::new(0, text.len());
                self.nesting(script.depth, span, |walk| {
                    walk.read_otherwise(&script, input);
                    walk.list(script.text, &script.body, input);
                    if expands {
                        walk.read_by_standard(&script, input);
                    }
                });
            }
            Err(mut unparsed) => {
                self.note_broken(text);
                if is_too_deep(text) {
                    unparsed.code = "too-deep";
                    unparsed.message = "parentheses are nested too deep".to_owned();
                }
                // A mistake in the syntax is something to ask about; what is too much to read, or
                // not what it looks like, is not.
                let asks = self.judge.style == Style::Confined && !is_refusal(unparsed.code);
                let answer = if asks { Answer::Ask } else { Answer::Deny };
                self.report(Reason {
                    answer,
                    code: unparsed.code,
                    axis: Axis::Structure,
                    message: unparsed.message,
                    span: unparsed.span,
                    origin: None,
                    hint: None,
                });
            }
        }
    }

    /// Notes what a program hands on to the shells that it starts.
    pub(super) fn hand_on(&mut self, name: &str, args: &[Arg<'_>]) {
        self.child_speech = match versionless(name) {
            "bash" | "rbash" if self.keeps_to_standard(args) => Speech::Posix,
            "bash" | "rbash" => Speech::Bash,
            "zsh" => Speech::Zsh,
            _ => Speech::Posix,
        };
        match name {
            "env" | "genv" => {
                for arg in args {
                    match arg.text.split_once('=') {
                        Some((name, _)) if !arg.text.starts_with('-') => {
                            let Some(value) = arg.tail(name.len() + 1) else { continue };
                            let value = (&value).into();
                            self.variable(name, &value, arg.span);
                            self.given.push((name.to_owned(), value));
                        }
                        None if arg.text.starts_with('-') && arg.text != "--" => {
                            self.environment = Environment::Lost;
                        }
                        Some(_) => self.environment = Environment::Lost,
                        None => break,
                    }
                }
            }
            "exec" if args.iter().any(|arg| is_flag(&arg.text, 'c')) => {
                self.environment = Environment::Lost;
            }
            name if is_transparent(versionless(name)) => {}
            _ => self.environment = Environment::Lost,
        }
    }

    /// Whether a bash that is started with these words reads as the standard says.
    fn keeps_to_standard(&self, args: &[Arg<'_>]) -> bool {
        const VARIABLE: &str = "POSIXLY_CORRECT";
        args.iter().any(|arg| matches!(&*arg.text, "--posix" | "posix"))
            || self.given.iter().any(|(name, _)| name == VARIABLE)
            || self.scope.variable(VARIABLE).is_some()
    }
}

/// Programs that hand on the environment they are given.
fn is_transparent(name: &str) -> bool {
    matches!(
        name,
        "." | "ash"
            | "bash"
            | "builtin"
            | "busybox"
            | "chrt"
            | "command"
            | "dash"
            | "eval"
            | "exec"
            | "fd"
            | "fdfind"
            | "find"
            | "flock"
            | "gfind"
            | "gtimeout"
            | "gxargs"
            | "ionice"
            | "ksh"
            | "mksh"
            | "nice"
            | "nohup"
            | "parallel"
            | "script"
            | "setsid"
            | "sh"
            | "source"
            | "stdbuf"
            | "strace"
            | "taskset"
            | "timeout"
            | "toybox"
            | "trap"
            | "watch"
            | "xargs"
            | "zsh"
    )
}

/// Whether a word is a bundle of short options with this one among them.
pub(super) fn is_flag(text: &str, flag: char) -> bool {
    text.starts_with('-') && !text.starts_with("--") && text.contains(flag)
}

/// Whether a word is a bundle of short options with one of these ASCII letters among them.
pub(super) fn has_letter(text: &str, letters: &[u8]) -> bool {
    match text.as_bytes() {
        [b'-', b'-', ..] => false,
        [b'-', bundle @ ..] => bundle.iter().any(|byte| letters.contains(byte)),
        _ => false,
    }
}

/// Whether a text may take up the last word of an earlier command: `$_`, `${_}`.
fn takes_last(text: &str) -> bool {
    let mut takes = false;
    byte::each(text, b'_', |at| {
        let before = at.checked_sub(1).and_then(|before| text.as_bytes().get(before));
        takes |= matches!(before, Some(b'$' | b'{'));
    });
    takes
}

/// Whether a text that cannot be read opens more parentheses than anybody could follow.
fn is_too_deep(text: &str) -> bool {
    let mut depth = 0_usize;
    text.bytes().any(|byte| {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > 4 * shell::MAX_DEPTH
    })
}

/// What is not read at all, however well it is written.
fn is_refusal(code: &str) -> bool {
    let is_unseen = matches!(
        code,
        "too-long" | "too-deep" | "too-many-commands" | "control-character" | "invisible-character"
    );
    is_unseen || code == "not-text"
}
