//! Any text as code of every language that is read: reading ends, and what is found lies in the
//! text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use palisade_policy::command::{Act, Arg, Certainty, HOLE, Language, Run, code};
use palisade_policy::text::Span;

const LANGUAGES: [Language; 12] = [
    Language::Shell,
    Language::Python,
    Language::Node,
    Language::Perl,
    Language::Ruby,
    Language::Php,
    Language::Awk,
    Language::Sed,
    Language::Sql,
    Language::Editor,
    Language::Patch,
    Language::Other,
];

fuzz_target!(|text: &str| {
    for language in LANGUAGES {
        let mut acts = Vec::new();
        code::acts(language, text, Span::new(0, text.len()), Some(0), &mut acts);
        acts.iter().for_each(|act| check(text, act));
        let mut unplaced = Vec::new();
        code::acts(language, text, Span::new(7, 9), None, &mut unplaced);
        assert_eq!(acts.len(), unplaced.len(), "a place changes nothing else");
    }
});

fn check(text: &str, act: &Act<'_>) {
    match act {
        Act::Read(arg)
        | Act::Write(arg)
        | Act::Delete(arg, _)
        | Act::Enter(arg)
        | Act::Connect(arg)
        | Act::Mention(arg) => {
            word(text, arg);
        }
        Act::Link { target, name } => {
            word(text, target);
            word(text, name);
        }
        Act::Send(span) | Act::Raise(_, span) => lies(text, *span),
        Act::Run(Run::Argv(args) | Run::Fed(args) | Run::ShellWords(args)) => {
            assert!(!args.is_empty(), "a program without a name");
            args.iter().for_each(|arg| word(text, arg));
        }
        Act::Run(
            Run::Shell(arg)
            | Run::Program(arg)
            | Run::Code(_, arg)
            | Run::Script(_, arg)
            | Run::Load(arg),
        ) => word(text, arg),
        Act::Run(Run::Input(_, span) | Run::Elsewhere(span) | Run::ElsewhereInput(span)) => {
            lies(text, *span);
        }
    }
}

fn word(text: &str, arg: &Arg<'_>) {
    lies(text, arg.span);
    let is_partial = match arg.certainty {
        Certainty::Known | Certainty::Pattern => false,
        Certainty::Partial | Certainty::Many => true,
    };
    assert_eq!(is_partial, arg.text.contains(HOLE), "{arg:?}");
    if let Some(at) = arg.verbatim {
        assert_eq!(text.get(at..at + arg.text.len()), Some(&*arg.text), "{arg:?}");
    }
}

fn lies(text: &str, span: Span) {
    assert!(text.get(span.start()..span.end()).is_some(), "{span:?} is no place in {text:?}");
}
