//! What a command prints, where its words and the state at hand tell.

use super::child::Speech;
use super::feed::below;
use super::format::{Reader, escaped, formatted, hides};
use super::scope::Value;
use super::sought;
use super::turned::turned;
use super::walk::{Input, Walk};
use crate::command::cover::base64;
use crate::command::{Arg, Certainty, Concern, HOLE, Holed as _};

impl Walk<'_> {
    /// Returns what a command prints, as far as that is known.
    pub(super) fn printed(
        &self,
        program: &Arg<'_>,
        name: &str,
        args: &[Arg<'_>],
        input: &Input,
    ) -> Option<Value> {
        if self.functions_named(name) {
            return None;
        }
        let is = |at: usize, word: &str| args.get(at).is_some_and(|arg| arg.text == word);
        match name {
            ":" | "[" | "false" | "test" | "true" => Some(Value::known("")),
            "cd" if !args.iter().any(|arg| arg.text.starts_with('-')) => {
                self.scope.variable("CDPATH").is_none().then(|| Value::known(""))
            }
            "export" | "local" | "unset"
                if !args.is_empty() && !args.iter().any(|arg| arg.text.starts_with('-')) =>
            {
                Some(Value::known(""))
            }
            "pwd" if args.is_empty() => Some(self.working_folder()),
            "git" if args.len() == 2 && is(0, "rev-parse") && is(1, "--show-toplevel") => {
                Some(Value::known(self.judge.root()))
            }
            "mktemp" => args.iter().all(in_temp).then(made_by_mktemp),
            "echo" => {
                // Which escapes it reads, and when, differs between shells and programs.
                let settled = self.speech == Speech::Bash && !self.habits.echo;
                let here = settled && !program.text.contains('/');
                echoed(args, if here { Escapes::WhenTold } else { Escapes::Unclear })
            }
            "printf" => {
                let here = self.speech == Speech::Bash && !program.text.contains('/');
                formatted(args, if here { Reader::Bash } else { Reader::Other })
            }
            "cat" | "tee" if args.is_empty() => match input {
                Input::Text(value, ..) => Some(value.clone()),
                Input::Inherited | Input::File(..) | Input::Pipe => None,
            },
            "base64" => decoded(args, input),
            "git" if names_revision(args) => Some(Value::revision()),
            // Words without a `/`: they name nothing outside, wherever they are put.
            "date" | "nproc" | "hostname" | "whoami" | "uname" | "id" | "wc" | "arch" => {
                args.iter().all(|arg| !arg.text.contains('/')).then(Value::token)
            }
            "find" => {
                let listed = listed(name, args)?;
                Some(self.finds_secrets(args).unwrap_or(listed))
            }
            "rev" | "sed" | "tr" => turned(name, args, input),
            _ => picked(name, args, input).or_else(|| listed(name, args)),
        }
    }
}

impl Walk<'_> {
    /// `echo '\\057'`: a letter that only some shells see is used by another command.
    pub(super) fn escapes_unseen(&mut self, name: &str, args: &[Arg<'_>]) {
        if name != "echo" || self.speech == Speech::Bash {
            return;
        }
        let hidden = args.iter().find(|arg| {
            arg.text.split("\\0").skip(1).any(|rest| {
                let digits: String =
                    rest.chars().take(3).take_while(|c| ('0'..='7').contains(c)).collect();
                u8::from_str_radix(&digits, 8).is_ok_and(|byte| byte.is_ascii_graphic())
            })
        });
        if let Some(arg) = hidden {
            self.raise(Concern::Obfuscates, arg.span);
        }
    }
}

/// `git rev-parse --short HEAD`, `git describe`: a name that git allows for a commit or a branch,
/// which begins with no `/` and holds no `..`.
fn names_revision(args: &[Arg<'_>]) -> bool {
    let Some((command, rest)) = args.split_first() else { return false };
    let has = |option: &str| rest.iter().any(|arg| arg.text.starts_with(option));
    let plain = rest.iter().all(|arg| arg.text == "HEAD" || arg.text.starts_with("--"));
    plain
        && match &*command.text {
            "rev-parse" => {
                rest.iter().all(|arg| {
                    arg.text == "HEAD"
                        || ["--short", "--abbrev-ref", "--verify", "--quiet"]
                            .iter()
                            .any(|option| arg.text.starts_with(option))
                }) && (has("--short") || has("--abbrev-ref"))
            }
            "describe" => !has("--contains") && !has("--dirty=") && !has("--broken="),
            "branch" => rest.len() == 1 && has("--show-current"),
            _ => false,
        }
}

/// The name that stands for every name that `mktemp` makes.
const MADE: &str = "/tmp/mktemp.made";

/// A file or folder that the text itself made in a temporary folder.
fn made_by_mktemp() -> Value {
    Value { text: MADE.into(), certainty: Certainty::Pattern }
}

/// Whether a path is what the text itself made there.
pub(super) fn is_made(path: &str) -> bool {
    path.strip_prefix(MADE).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// An argument with which `mktemp` stays in the temporary folder.
fn in_temp(arg: &Arg<'_>) -> bool {
    matches!(&*arg.text, "-d" | "-q" | "-t" | "-u" | "-dt" | "-td")
        || arg.text.ends_with('X') && !arg.text.contains('/')
}

/// When a program takes a backslash for the start of an escape.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Escapes {
    WhenTold,
    Unclear,
}

fn echoed(args: &[Arg<'_>], escapes: Escapes) -> Option<Value> {
    let is_option = |text: &str| {
        text.len() > 1
            && text.strip_prefix('-').is_some_and(|flags| !flags.contains(|c| !"neE".contains(c)))
    };
    let options = args.iter().take_while(|arg| is_option(&arg.text)).count();
    let told = args.iter().take(options).any(|arg| arg.text.contains('e'));
    let words = args.get(options..).unwrap_or_default();
    if let [pattern] = words
        && pattern.certainty == Certainty::Pattern
        && pattern.text.contains(['*', '?', '['])
        && !pattern.text.contains([' ', '\\'])
    {
        // Every name that fits it.
        let certainty = Certainty::Pattern;
        return Some(Value { text: pattern.text.clone().into_owned(), certainty });
    }
    let words: Option<Vec<&str>> = words.iter().map(Arg::as_known).collect();
    let text = words?.join(" ");
    match (text.contains('\\'), escapes) {
        (false, Escapes::Unclear) if told => None,
        (false, _) => Some(Value::known(text)),
        (true, Escapes::Unclear) => None,
        (true, Escapes::WhenTold) if told && hides(&text) => escaped(&Value::known(text)),
        (true, Escapes::WhenTold) if told => unescaped(&text).map(Value::known),
        (true, Escapes::WhenTold) => Some(Value::known(text)),
    }
}

/// What `base64 -d` makes of a known text. Whoever hides a text is asked about it all the same, so
/// it counts as known but for its end.
fn decoded(args: &[Arg<'_>], input: &Input) -> Option<Value> {
    let Input::Text(value, ..) = input else { return None };
    let decodes = |arg: &Arg<'_>| matches!(&*arg.text, "-d" | "-D" | "-di" | "--decode");
    if value.certainty != Certainty::Known || args.is_empty() || !args.iter().all(decodes) {
        return None;
    }
    let text = String::from_utf8(base64(&value.text)?).ok()?;
    (!text.has_hole())
        .then(|| Value { text: format!("{text}\n{HOLE}"), certainty: Certainty::Partial })
}

/// Reads the escapes that all shells read alike; `None` where there are others.
fn unescaped(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        plain.push(match c {
            '\\' => match rest.next()? {
                '\\' => '\\',
                'n' => '\n',
                't' => '\t',
                _ => return None,
            },
            c => c,
        });
    }
    Some(plain)
}

/// Names that came in and are only picked from.
fn picked(name: &str, args: &[Arg<'_>], input: &Input) -> Option<Value> {
    let Input::Text(value, ..) = input else { return None };
    let picks = matches!(name, "sort" | "uniq" | "head" | "tail" | "grep" | "egrep" | "fgrep");
    if !picks || value.certainty != Certainty::Pattern {
        return None;
    }
    // With a file to read, or with numbers and parts in front of names, these are others.
    let operands = args.iter().filter(|arg| !arg.text.starts_with('-'));
    let others = operands.filter(|arg| arg.text.parse::<u32>().is_err()).count();
    let plain = others <= usize::from(name.ends_with("grep"))
        && !args.iter().any(|arg| matches!(&*arg.text, "-o" | "-n" | "-c" | "-H" | "-r"));
    plain.then(|| value.clone())
}

/// Names of files below a folder.
fn listed(name: &str, args: &[Arg<'_>]) -> Option<Value> {
    let texts = || args.iter().map(|arg| &*arg.text);
    let stays =
        |text: &str| !text.has_hole() && !text.contains("..") && !text.starts_with(['/', '~']);
    match name {
        "find" => {
            let prints = |text: &str| {
                let acts = ["-printf", "-exec", "-ok", "-ls", "-fprint"];
                text.starts_with('-') && acts.iter().any(|act| text.starts_with(act))
                    || text.has_hole()
            };
            let mut starts = sought::starts(args);
            match (starts.next(), starts.next()) {
                _ if texts().any(prints) => None,
                (None, _) => Some(below(".")),
                (Some(start), None) => Some(below(&start.text)),
                (Some(_), Some(_)) => None,
            }
        }
        "git" => {
            let lists = match args.first().map(|arg| &*arg.text) {
                Some("ls-files") => true,
                Some("diff" | "show") => texts().any(|text| text == "--name-only"),
                Some("grep") => texts().any(lists_names),
                Some(_) | None => false,
            };
            (lists && texts().all(stays)).then(|| below("."))
        }
        "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" => {
            (texts().any(lists_names) && texts().all(stays)).then(|| below("."))
        }
        "ls" => {
            let long = |text: &str| text.starts_with('-') && text.contains(['l', 's', 'i']);
            let plain = texts().all(|text| stays(text) && !text.contains('/') && !long(text));
            plain.then(|| below("."))
        }
        _ => None,
    }
}

/// `-l`, `-rlZ`, `--files-with-matches`
fn lists_names(text: &str) -> bool {
    text == "--files-with-matches"
        || text.starts_with('-') && !text.starts_with("--") && text.contains('l')
}
