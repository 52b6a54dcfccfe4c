//! Commands that get more arguments from elsewhere: `xargs`, `find -exec`.

use super::scope::Value;
use super::walk::{Input, Walk};
use crate::command::{Act, Arg, Certainty, Holed as _};
use crate::text::Span;

/// What a feeder puts where.
#[derive(Clone, Debug, Default)]
pub(super) struct Feed {
    /// The text in whose place each item is put; at the end if there is none.
    mark: Option<String>,
    /// What is known of the items: names below a folder, or nothing.
    items: Vec<Value>,
    /// What happens where no item was put anywhere.
    end: End,
}

/// What stands behind a command that marks no place for what it is fed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum End {
    /// The items.
    #[default]
    Fed,
    /// Nothing.
    Bare,
}

impl Walk<'_> {
    /// Finds out what a command feeds to the commands it runs.
    pub(super) fn feed(
        &self,
        name: &str,
        args: &[Arg<'_>],
        acts: &[Act<'_>],
        input: &Input,
    ) -> Feed {
        match name {
            "find" | "gfind" | "fd" | "fdfind" => {
                let mut items: Vec<Value> = acts
                    .iter()
                    .filter_map(|act| match act {
                        Act::Read(start) => Some(below(&start.text)),
                        Act::Write(_)
                        | Act::Delete(..)
                        | Act::Enter(_)
                        | Act::Connect(_)
                        | Act::Link { .. }
                        | Act::Run(_)
                        | Act::Send(_)
                        | Act::Raise(..) => None,
                    })
                    .collect();
                if items.is_empty() {
                    items.push(below("."));
                }
                // `fd` puts the names behind the command where no place is marked.
                let end = if name.starts_with("fd") { End::Fed } else { End::Bare };
                Feed { mark: Some("{}".into()), items, end }
            }
            _ => {
                let items = match input {
                    Input::Text(value, ..) if value.certainty == Certainty::Pattern => {
                        vec![value.clone()]
                    }
                    Input::Text(..) | Input::File(..) | Input::Inherited | Input::Pipe => {
                        vec![Value::unknown()]
                    }
                };
                let mark = mark(args);
                let end = if mark.is_none() { End::Fed } else { End::Bare };
                Feed { mark, items, end }
            }
        }
    }
}

impl Feed {
    /// Returns the command with what it is fed.
    pub(super) fn fill<'t>(&self, argv: &[Arg<'t>], span: Span) -> Vec<Arg<'t>> {
        let unknown = Value::unknown();
        let item = self.items.first().unwrap_or(&unknown);
        let mut filled = Vec::with_capacity(argv.len() + 1);
        let mut placed = false;
        for arg in argv {
            let holds = self.mark.as_ref().filter(|mark| arg.text.contains(mark.as_str()));
            let Some(mark) = holds else {
                filled.push(arg.clone());
                continue;
            };
            placed = true;
            let text = arg.text.replace(mark.as_str(), &item.text).into();
            filled.push(Arg { text, certainty: item.certainty, span: arg.span, verbatim: None });
            // Each start of a search is a place of its own.
            if arg.text == *mark {
                for more in self.items.iter().skip(1) {
                    let text = more.text.clone().into();
                    let certainty = more.certainty;
                    filled.push(Arg { text, certainty, span: arg.span, verbatim: None });
                }
            }
        }
        if !placed && self.end == End::Fed {
            let certainty = match item.certainty {
                Certainty::Known | Certainty::Pattern => Certainty::Pattern,
                Certainty::Partial | Certainty::Many => Certainty::Many,
            };
            filled.push(Arg { text: item.text.clone().into(), certainty, span, verbatim: None });
        }
        filled
    }
}

/// Names below a folder, which no `..` is among.
pub(super) fn below(start: &str) -> Value {
    if start.has_hole() {
        return Value::unknown();
    }
    let text = format!("{}/*", start.trim_end_matches('/'));
    Value { text, certainty: Certainty::Pattern }
}

/// Returns the text that `xargs -I` replaces.
fn mark(args: &[Arg<'_>]) -> Option<String> {
    let mut args = args.iter().map(|arg| &*arg.text).peekable();
    while let Some(arg) = args.next() {
        match arg {
            "-I" | "-J" => return args.peek().map(|mark| (*mark).to_owned()),
            "-i" | "--replace" => return Some("{}".into()),
            // Their value is the next word.
            "-a" | "--arg-file" | "-d" | "--delimiter" | "-E" | "-L" | "--max-lines" | "-n"
            | "--max-args" | "-P" | "--max-procs" | "-s" | "--max-chars" | "-S" | "-R" => {
                args.next();
                continue;
            }
            _ => {}
        }
        let glued = ["-I", "-i", "--replace="].iter().find_map(|option| arg.strip_prefix(option));
        if let Some(mark) = glued {
            return Some(mark.to_owned());
        }
        if !arg.starts_with('-') {
            break;
        }
    }
    None
}
