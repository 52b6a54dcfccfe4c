//! Every example of the table, and what holds for all rows at once.

use super::*;
use crate::command::{Certainty, Extent, HOLE, Language, Run};

const TABLE: &str = include_str!("../../../tools.txt");

/// Splits an example's words: quotes as in a shell, `$name` is not known.
fn words(line: &str) -> Vec<Arg<'static>> {
    let mut args: Vec<Arg<'static>> = Vec::new();
    let mut text = String::new();
    let mut quote = None;
    let mut begun = false;
    let mut certainty = Certainty::Known;
    let mut letters = line.chars().chain([' ']).peekable();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (' ', None) => {
                if begun {
                    let mut arg = Arg::known(std::mem::take(&mut text), Span::new(0, 0));
                    arg.certainty = std::mem::replace(&mut certainty, Certainty::Known);
                    args.push(arg);
                }
                begun = false;
            }
            ('\'' | '"', None) => {
                quote = Some(letter);
                begun = true;
            }
            (_, Some(open)) if open == letter => quote = None,
            ('$', None | Some('"')) if letters.peek().is_some_and(char::is_ascii_alphabetic) => {
                while letters.next_if(char::is_ascii_alphanumeric).is_some() {}
                text.push(HOLE);
                begun = true;
                certainty = if quote.is_none() { Certainty::Many } else { Certainty::Partial };
            }
            (letter, _) => {
                text.push(letter);
                begun = true;
            }
        }
    }
    args
}

fn read_line(line: &str, knowledge: Knowledge) -> (Familiarity, Vec<Act<'static>>) {
    let args = words(line);
    let (name, args) = args.split_first().unwrap();
    let mut found = Vec::new();
    let familiarity = acts(&name.text, Span::new(0, 0), args, knowledge, &mut found);
    (familiarity, found)
}

fn joined(args: &[Arg<'_>]) -> String {
    args.iter().map(|arg| arg.text.replace(HOLE, "$")).collect::<Vec<_>>().join(" ")
}

fn language(language: Language) -> String {
    format!("{language:?}").to_lowercase()
}

fn shown(act: &Act<'_>) -> String {
    let one = |kind: &str, arg: &Arg<'_>| format!("{kind}:{}", joined(std::slice::from_ref(arg)));
    match act {
        Act::Read(arg) => one("read", arg),
        Act::Write(arg) => one("write", arg),
        Act::Delete(arg, Extent::Single) => one("delete", arg),
        Act::Delete(arg, Extent::Forced) => one("force", arg),
        Act::Delete(arg, Extent::Tree) => one("tree", arg),
        Act::Enter(arg) => one("enter", arg),
        Act::Connect(arg) => one("connect", arg),
        Act::Raise(concern, _) => format!("!{concern:?}"),
        Act::Run(run) => match run {
            Run::Argv(args) => format!("argv:{}", joined(args)),
            Run::Fed(args) => format!("fed:{}", joined(args)),
            Run::Shell(arg) => one("shell", arg),
            Run::ShellWords(args) => format!("words:{}", joined(args)),
            Run::Program(arg) => one("program", arg),
            Run::Code(spoken, arg) => one(&language(*spoken), arg),
            Run::Script(spoken, arg) => one(&format!("{}-file", language(*spoken)), arg),
            Run::Input(spoken, _) => format!("{}-input", language(*spoken)),
            Run::Load(arg) => one("load", arg),
            Run::Elsewhere(_) => "elsewhere".into(),
        },
    }
}

/// Returns the examples: line number, whether something must be found, words, what is expected.
fn examples() -> impl Iterator<Item = (usize, bool, &'static str, Vec<&'static str>)> {
    TABLE.lines().enumerate().filter_map(|(at, line)| {
        let line = line.trim();
        let (expects, rest) = match line.strip_prefix("yes ") {
            Some(rest) => (true, rest),
            None => (false, line.strip_prefix("no ")?),
        };
        let (words, expected) = rest.split_once(" => ").unwrap_or((rest, ""));
        let expected = expected.split(" ; ").map(str::trim).filter(|act| !act.is_empty()).collect();
        Some((at + 1, expects, words.trim(), expected))
    })
}

#[test]
fn every_example_of_the_table_holds() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (line, expects, text, expected) in examples() {
        count += 1;
        let (familiarity, found) = read_line(text, Knowledge::Table);
        let found: Vec<String> = found.iter().map(shown).collect();
        let grave = found.iter().any(|act| {
            let kind = act.split(':').next().unwrap_or_default();
            !matches!(kind, "read" | "write" | "delete" | "force" | "tree" | "enter" | "connect")
        });
        let holds = familiarity == Familiarity::Known
            && if expects {
                !expected.is_empty()
                    && expected.iter().all(|act| found.iter().any(|found| found == act))
            } else {
                !grave && (expected.is_empty() || expected == found)
            };
        if !holds {
            wrong.push(format!("tools.txt:{line}: {text}: found {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {count} examples fail:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 50, "{count} examples");
}
