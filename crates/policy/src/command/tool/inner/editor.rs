//! Commands of an editor's prompt (`vim -c`, `ex`): what they write, run and evaluate.

use super::database::line_from;
use super::head;
use crate::command::{Act, Arg, Concern, Run};

/// Adds what commands do: text behind `!` is for the shell, other words are code.
pub(super) fn commands<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let mut at = 0;
    for command in arg.text.split(['|', '\n']) {
        if !one(arg, at, command, Depth::Top, acts) {
            return;
        }
        at += command.len() + 1;
    }
}

/// Whether a command is done to each line that matches; such commands do not hold one another.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Depth {
    Top,
    EachLine,
}

/// Words behind which code stands, or a program.
const WORDS: &[&str] = &[
    "py", "py3", "pyf", "pyx", "python", "python3", "lua", "luado", "luafile", "perl", "perldo",
    "ruby", "rubydo", "tcl", "tcldo", "mz", "mzscheme", "sh", "shell", "terminal", "term",
    "source", "so", "make", "grep", "execute", "exe", "eval",
];

/// Functions that start programs, evaluate text or change files.
const CALLS: &[&str] = &[
    "system(",
    "systemlist(",
    "libcall",
    "writefile(",
    "delete(",
    "rename(",
    "filecopy(",
    "job_start(",
    "jobstart(",
    "term_start(",
    "termopen(",
    "ch_open(",
    "feedkeys(",
    "execute(",
    "luaeval(",
    "pyeval(",
    "py3eval(",
    "pyxeval(",
    "perleval(",
    "rubyeval(",
];

#[rustfmt::skip]
const WRITES: &[&str] = &[
    "w", "write", "wq", "sav", "saveas", "up", "update", "x", "xit", "exit", "redir", "wn", "mks",
    "mksession", "mk", "mkexrc", "mkv", "mkvimrc", "wundo", "wv", "wviminfo", "f", "file", "e",
    "edit", "n", "next", "sp", "split", "vs", "vsplit", "tabe", "tabedit",
];

/// Adds what the command does that begins at byte `at`, and tells whether others behind it count.
fn one<'t>(arg: &Arg<'t>, at: usize, command: &str, depth: Depth, acts: &mut Vec<Act<'t>>) -> bool {
    let trimmed = command.trim_start_matches(|c: char| {
        matches!(c, ':' | ' ' | '%' | '.' | ',' | '$' | '\'') || c.is_ascii_digit()
    });
    let word_end = trimmed.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(trimmed.len());
    let word = trimmed.get(..word_end).unwrap_or_default();
    let rest = trimmed.get(word_end..).unwrap_or_default();
    // `g/x/w file` does something to every line that matches.
    if depth == Depth::Top
        && matches!(word, "g" | "global" | "v" | "vglobal")
        && let Some(mark) = rest.trim_start_matches('!').chars().next()
        && let Some(inner) = rest.trim_start_matches('!').splitn(3, mark).nth(2)
    {
        return one(arg, at + (command.len() - inner.len()), inner, Depth::EachLine, acts);
    }
    let is_change = matches!(word, "s" | "substitute" | "sno" | "sm");
    // `q!` ends at its mark and `w!` forces; `!cmd`, `w !cmd` and `r!cmd` go on.
    let bang = command.find('!').filter(|at| {
        let before = command.get(..*at).unwrap_or_default();
        let after = command.get(at + 1..).unwrap_or_default().trim();
        let forces = before.ends_with(|c: char| c.is_ascii_alphabetic());
        !after.is_empty() && !is_change && (!forces || matches!(word, "r" | "read"))
    });
    if let Some(text) = bang.and_then(|bang| line_from(arg, at + bang + 1)) {
        acts.push(Act::Run(Run::Shell(text)));
        return true;
    }
    let file = rest.trim_start_matches(['!', '>', ' ']).trim_end();
    if WRITES.contains(&word)
        && let Some(from) = command.rfind(file).filter(|_| !file.is_empty())
    {
        let file = head(arg, at + from + file.len()).and_then(|text| text.tail(at + from));
        acts.extend(file.map(Act::Write));
    }
    let runs = WORDS.contains(&word) || CALLS.iter().any(|call| command.contains(call));
    if runs {
        acts.push(Act::Raise(Concern::Spawns, arg.span));
    }
    !runs
}
