//! Tables of code and what it does, one for each language.

mod around;
mod awk;
mod long;
mod node;
mod perl;
mod php;
mod places;
mod prompt;
mod python;
mod ruby;
mod sed;

use super::acts;
use crate::command::{Act, Arg, HOLE, Language, Run};
use crate::text::Span;

/// The languages that have a reader of their own here.
const LANGUAGES: [Language; 7] = [
    Language::Python,
    Language::Node,
    Language::Perl,
    Language::Ruby,
    Language::Php,
    Language::Awk,
    Language::Sed,
];

/// Checks each code against the acts it must have, as [`shown`] writes them.
fn check(language: Language, cases: &[(&str, &str)]) {
    for (code, expected) in cases {
        assert_eq!(shown(language, code), *expected, "{language:?}: {code}");
    }
}

/// Checks that nothing is to be said of any of these.
fn harmless(language: Language, cases: &[&str]) {
    for code in cases {
        assert_eq!(shown(language, code), "", "{language:?}: {code}");
    }
}

/// Writes acts in short: `read a; write ?/b; run ls -l; shell ls | wc; !Spawns`.
fn shown(language: Language, code: &str) -> String {
    let mut found = Vec::new();
    acts(language, code, Span::new(0, code.len()), Some(0), &mut found);
    found.retain(|act| !matches!(act, Act::Mention(_)));
    found.iter().map(show).collect::<Vec<_>>().join("; ")
}

fn show(act: &Act<'_>) -> String {
    match act {
        Act::Link { target, name } => format!("link {} {}", target.text, name.text),
        Act::Read(arg) => format!("read {}", text(arg)),
        Act::Write(arg) => format!("write {}", text(arg)),
        Act::Delete(arg, extent) => format!("delete {} {extent:?}", text(arg)),
        Act::Enter(arg) => format!("enter {}", text(arg)),
        Act::Connect(arg) => format!("connect {}", text(arg)),
        Act::Send(_) => "send".into(),
        Act::Mention(arg) => format!("mention {}", text(arg)),
        Act::Raise(concern, _) => format!("!{concern:?}"),
        Act::Run(Run::Shell(arg)) => format!("shell {}", text(arg)),
        Act::Run(Run::Argv(args)) => {
            format!("run {}", args.iter().map(text).collect::<Vec<_>>().join(" "))
        }
        Act::Run(Run::Code(_, arg)) => format!("code {}", text(arg)),
        Act::Run(Run::Script(_, arg)) => format!("script {}", text(arg)),
        Act::Run(Run::Load(arg)) => format!("load {}", text(arg)),
        Act::Run(
            run @ (Run::Fed(_)
            | Run::ShellWords(_)
            | Run::Program(_)
            | Run::Input(..)
            | Run::Elsewhere(_)
            | Run::ElsewhereInput(_)),
        ) => format!("{run:?}"),
    }
}

fn text(arg: &Arg<'_>) -> String {
    arg.text.replace(HOLE, "?")
}
