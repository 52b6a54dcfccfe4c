//! GNU parallel: a command, `:::`, and the words that are added to it.

use crate::command::{Act, Arg, Certainty, HOLE, Run};

/// Most words that are tried one by one; more stand for anything.
const MAX_WORDS: usize = 64;

/// Adds what is run, with each word put in.
pub(super) fn read<'t>(words: &[Arg<'t>], acts: &mut Vec<Act<'t>>) {
    let end = words.iter().position(is_mark).unwrap_or(words.len());
    let (command, added) = words.split_at_checked(end).unwrap_or((words, &[]));
    let Some(mark) = added.first() else {
        return unfed(command, acts);
    };
    let plain = added.get(1..).unwrap_or_default();
    let is_plain = &*mark.text == ":::" && !plain.iter().any(is_mark) && plain.len() <= MAX_WORDS;
    if is_plain {
        for word in plain {
            acts.push(Act::Run(filled(command, word)));
        }
    } else {
        // Names of files with words, or several lists that are combined.
        acts.push(Act::Run(filled(command, &unknown(mark))));
        let is_file = |word: &&Arg<'_>| &*mark.text == "::::" && !is_mark(word);
        acts.extend(plain.iter().filter(is_file).cloned().map(Act::Read));
    }
}

fn is_mark(word: &Arg<'_>) -> bool {
    matches!(&*word.text, ":::" | "::::" | ":::+" | "::::+")
}

/// The words come on standard input: a command of one word may be a whole text.
fn unfed<'t>(command: &[Arg<'t>], acts: &mut Vec<Act<'t>>) {
    match command {
        [only] if only.text.contains(is_special) => {
            acts.push(Act::Run(filled(command, &unknown(only))));
        }
        _ => acts.push(Act::Run(Run::Fed(command.to_vec()))),
    }
}

fn is_special(letter: char) -> bool {
    letter.is_whitespace() || ";|&$`(<>".contains(letter)
}

fn unknown<'t>(near: &Arg<'t>) -> Arg<'t> {
    let text = HOLE.to_string().into();
    Arg { text, certainty: Certainty::Partial, span: near.span, verbatim: None }
}

/// Puts `word` for each `{}`, or behind the command if there is none. Of a bare list each word is
/// a command.
fn filled<'t>(command: &[Arg<'t>], word: &Arg<'t>) -> Run<'t> {
    if command.is_empty() {
        return Run::Shell(word.clone());
    }
    let mut words: Vec<Arg<'t>> = Vec::with_capacity(command.len() + 1);
    let mut has_place = false;
    for part in command {
        let (text, found) = replaced(&part.text, &word.text);
        has_place |= found;
        let certainty = if found { part.certainty.max(word.certainty) } else { part.certainty };
        words.push(if found {
            Arg { text: text.into(), certainty, verbatim: None, ..part.clone() }
        } else {
            part.clone()
        });
    }
    if !has_place {
        words.push(word.clone());
    }
    // What is put in is quoted: only the command itself can be more than words, and what stands for
    // all of it.
    let starts = command.first().is_some_and(|part| replaced(&part.text, "").1);
    if starts || command.iter().any(|part| part.text.contains(is_special)) {
        Run::ShellWords(words)
    } else {
        Run::Argv(words)
    }
}

/// Replaces `{}`, and what stands for parts of the word (`{.}`, `{/}`, `{1}`) by what is not known.
fn replaced(text: &str, word: &str) -> (String, bool) {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut found = false;
    while let Some(open) = rest.find('{') {
        let tail = rest.get(open..).unwrap_or_default();
        let inside = tail.find('}').and_then(|close| tail.get(1..close));
        out.push_str(rest.get(..open).unwrap_or_default());
        let length = match inside {
            Some("" | "1") => {
                out.push_str(word);
                found = true;
                inside.map_or(1, str::len) + 2
            }
            Some(part) if part.bytes().all(|byte| b"./0123456789#%".contains(&byte)) => {
                out.push(HOLE);
                found = true;
                part.len() + 2
            }
            Some(_) | None => {
                out.push('{');
                1
            }
        };
        rest = tail.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    (out, found)
}
