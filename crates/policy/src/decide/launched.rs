//! Commands that other commands start: programs, but also texts and files of code.

use super::walk::{Input, Walk};
use crate::command::{Act, Arg, Certainty, Language, Run};
use crate::text::Span;

impl Walk<'_> {
    /// Judges a command that another one starts.
    pub(super) fn launched(&mut self, argv: &[Arg<'_>], span: Span, input: &Input) {
        let Some((program, rest)) = argv.split_first() else { return };
        let text = program.text.trim();
        // `lerna exec 'rm -rf x'`: some hand the one word to a shell.
        let is_text = rest.is_empty() && text.contains(char::is_whitespace);
        if is_text && program.certainty == Certainty::Known {
            return self.nested(program, input);
        }
        // `uv run a.py`
        if text.ends_with(".py") && !text.contains('/') {
            let script = Act::Run(Run::Script(Language::Python, program.clone()));
            self.perform(&script, input);
        }
        self.call(argv, span, input);
    }

    /// Judges the host in a name of an image or a module that is fetched.
    pub(super) fn pulled(&mut self, args: &[Arg<'_>]) {
        let mut words = args.iter().filter(|arg| !arg.text.starts_with('-'));
        if !words.next().is_some_and(|verb| matches!(&*verb.text, "get" | "install" | "pull")) {
            return;
        }
        for name in words.filter(|name| name.certainty == Certainty::Known) {
            let Some((host, _)) = name.text.split_once('/') else { continue };
            if host.contains(['.', ':']) && !host.starts_with('.') {
                let text = host.to_owned().into();
                let host = Arg { text, verbatim: None, ..name.clone() };
                self.perform(&Act::Connect(host), &Input::Inherited);
            }
        }
    }
}

/// Where the input of commands comes from that inline code starts.
pub(super) fn input_within(language: Language) -> Input {
    // `print | "command"`
    if language == Language::Awk { Input::Pipe } else { Input::Inherited }
}
