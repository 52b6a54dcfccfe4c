//! Statements for databases, and the commands of their prompts.

use super::head;
use crate::command::{Act, Arg, Concern, Run};

/// A statement of SQL, or a command of a prompt (`.shell`, `\!`).
pub(super) fn statement<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let text = &*arg.text;
    for (at, line) in lines(text) {
        let trimmed = line.trim_start();
        let start = at + (line.len() - trimmed.len());
        if trimmed.starts_with('!') {
            acts.extend(line_from(arg, start + 1).map(|text| Act::Run(Run::Shell(text))));
        } else if let Some(command) = trimmed.strip_prefix(['.', '\\']) {
            prompt(arg, start + 1, command, acts);
        }
    }
    let words = text.to_ascii_lowercase();
    files(arg, &words, acts);
    mentions(arg, acts);
    clients(arg, &words, acts);
    let has = |phrase: &str| words.contains(phrase);
    if has("load_extension(")
        || has("xp_cmdshell")
        || has("sys_exec(")
        || has("to program")
        || has("from program")
        || has("into outfile")
        || has("into dumpfile")
        || has("create function")
        || has("edit(")
        || has("install ") && has("load ")
    {
        acts.push(Act::Raise(Concern::Spawns, arg.span));
    }
    let deletes_all = has("delete from") && !has(" where ");
    if deletes_all || has("drop ") || has("truncate ") || has("flushall") || has("dropdatabase") {
        acts.push(Act::Raise(Concern::ChangesShared, arg.span));
    }
}

/// `from '/path'`: some databases take a text for the name of a file.
fn mentions<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let mut at = 0;
    for (place, piece) in arg.text.split('\'').enumerate() {
        if place % 2 == 1 && piece.len() > 1 && piece.starts_with(['/', '~']) {
            let named = arg.tail(at).and_then(|tail| head(&tail, piece.len()));
            acts.extend(named.map(Act::Mention));
        }
        at += piece.len() + 1;
    }
}

/// Tells whether statements only look: what is not known to is taken to change the database.
pub(in crate::command::tool) fn only_reads(text: &str) -> bool {
    const LOOKS: &[&str] = &[
        "",
        ".databases",
        ".dbinfo",
        ".fullschema",
        ".header",
        ".headers",
        ".indexes",
        ".mode",
        ".schema",
        ".tables",
        ".timeout",
        ".width",
        "explain",
        "select",
        "values",
    ];
    let words = text.to_ascii_lowercase();
    let mut pieces = words.split([';', '\n']).map(str::trim);
    pieces.all(|piece| {
        let word = piece.split(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
        LOOKS.contains(&word) || word == "pragma" && !piece.contains('=')
    })
}

/// Returns the rest of the line from byte `from` on: a prompt's command ends there.
pub(super) fn line_from<'t>(arg: &Arg<'t>, from: usize) -> Option<Arg<'t>> {
    let rest = arg.text.get(from..)?;
    let end = rest.find('\n').unwrap_or(rest.len());
    // In this order: a tail is looked through for what is not known.
    head(arg, from + end)?.tail(from)
}

/// Returns lines with where they begin.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split('\n').map(move |line| {
        let start = at;
        at += line.len() + 1;
        (start, line)
    })
}

fn prompt<'t>(arg: &Arg<'t>, start: usize, command: &str, acts: &mut Vec<Act<'t>>) {
    let end = command.find(char::is_whitespace).unwrap_or(command.len());
    let name = command.get(..end).unwrap_or_default();
    let value = || {
        let line = arg.tail(start + end + 1)?;
        let length = line.text.find('\n').unwrap_or(line.text.len());
        unquoted(&head(&line, length)?)
    };
    let first = || {
        let value = value()?;
        let length = value.text.find(char::is_whitespace).unwrap_or(value.text.len());
        head(&value, length).filter(|word| !word.text.starts_with('-'))
    };
    match name {
        "shell" | "system" | "sh" => {
            let text = line_from(arg, start + end + 1);
            let text = text.filter(|text| !text.text.trim().is_empty());
            acts.extend(text.map(|text| Act::Run(Run::Shell(text))));
        }
        _ if name.starts_with('!') => {
            acts.extend(line_from(arg, start + 1).map(|text| Act::Run(Run::Shell(text))));
        }
        "load" => acts.extend(value().map(|file| Act::Run(Run::Load(file)))),
        "output" | "once" | "backup" | "save" | "log" | "clone" | "o" | "out" | "g" | "gx"
        | "w" | "open" | "trace" | "T" | "tee" => {
            match value() {
                // An editor or a spreadsheet is opened with what was printed.
                Some(file) if file.text.starts_with('-') => {
                    acts.push(Act::Raise(Concern::Spawns, arg.span));
                }
                Some(file) if file.text.starts_with('|') => {
                    acts.extend(file.tail(1).map(|text| Act::Run(Run::Shell(text))));
                }
                Some(file) if !matches!(&*file.text, "stdout" | "off" | "stderr") => {
                    acts.push(Act::Write(file));
                }
                Some(_) | None => {}
            }
        }
        "read" | "import" | "i" | "copy" => match value() {
            Some(file) if file.text.contains('|') || file.text.contains("program") => {
                acts.push(Act::Raise(Concern::Spawns, arg.span));
            }
            Some(value) if name == "copy" => copied(&value, acts),
            Some(_) | None => acts.extend(first().map(Act::Read)),
        },
        "cd" => acts.extend(value().map(Act::Enter)),
        "restore" | "include" | "ir" | "source" => acts.extend(first().map(Act::Read)),
        "ar" | "archive" => acts.push(Act::Raise(Concern::Unclear, arg.span)),
        "P" | "pager" | "setenv" => acts.push(Act::Raise(Concern::Spawns, arg.span)),
        "www" | "excel" | "edit" | "e" => acts.push(Act::Raise(Concern::Spawns, arg.span)),
        _ => {}
    }
}

/// Drops blanks and quotes around a value.
fn unquoted<'t>(value: &Arg<'t>) -> Option<Arg<'t>> {
    let odd = |c: char| c.is_whitespace() || matches!(c, '"' | '\'');
    let skip = value.text.len() - value.text.trim_start_matches(odd).len();
    let value = value.tail(skip)?;
    let length = value.text.trim_end_matches(odd).len();
    head(&value, length).filter(|value| !value.text.is_empty())
}

/// `\copy x to 'file'` on this machine.
fn copied<'t>(value: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let words = value.text.to_ascii_lowercase();
    for (mark, act) in [(" to ", Act::Write as fn(Arg<'t>) -> Act<'t>), (" from ", Act::Read)] {
        let file = words.rfind(mark).and_then(|at| value.tail(at + mark.len()));
        let file = file.and_then(|file| {
            let trimmed = file.text.trim_start();
            let skip = file.text.len() - trimmed.len();
            let length = trimmed.find(char::is_whitespace).unwrap_or(trimmed.len());
            unquoted(&head(&file.tail(skip)?, length)?)
        });
        let is_stream = |file: &Arg<'_>| matches!(&*file.text, "stdout" | "stdin" | "pstdout");
        acts.extend(file.filter(|file| !is_stream(file)).map(act));
    }
}

/// Functions and statements that name files of this machine, each in quotes.
fn files<'t>(arg: &Arg<'t>, words: &str, acts: &mut Vec<Act<'t>>) {
    const WRITTEN: &[&str] = &[
        "writefile(",
        "copy_to(",
        "export database ",
        "vacuum into ",
        "attach database ",
        "attach ",
    ];
    const READ: &[&str] = &[
        "readfile(",
        "fsdir(",
        "read_csv(",
        "read_json(",
        "read_parquet(",
        "read_text(",
        "read_csv_auto(",
        "load_file(",
        "pg_read_file(",
        "from file(",
    ];
    let mut find = |mark: &str, act: fn(Arg<'t>) -> Act<'t>| {
        let mut from = 0;
        while let Some(at) = words.get(from..).and_then(|tail| tail.find(mark)) {
            from += at + mark.len();
            let Some(rest) = arg.tail(from) else { break };
            let trimmed = rest.text.trim_start();
            let skip = rest.text.len() - trimmed.len() + 1;
            let Some(quote) = trimmed.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
                continue;
            };
            let name = rest.tail(skip).and_then(|name| {
                let end = name.text.find(quote).unwrap_or(name.text.len());
                head(&name, end)
            });
            acts.extend(name.filter(|name| &*name.text != ":memory:").map(act));
        }
    };
    // `copy x to 'file'`: where the server runs here, it writes here.
    if words.trim_start().starts_with("copy ")
        || words.contains(";copy ")
        || words.contains(" copy ")
    {
        find(" to ", Act::Write);
    }
    for mark in WRITTEN {
        find(mark, Act::Write);
    }
    for mark in READ {
        find(mark, Act::Read);
    }
}

/// Commands of mysql's prompt, which stand among statements.
fn clients<'t>(arg: &Arg<'t>, words: &str, acts: &mut Vec<Act<'t>>) {
    let mut at = 0;
    for piece in words.split([';', '\n']) {
        let trimmed = piece.trim_start();
        let start = at + (piece.len() - trimmed.len());
        at += piece.len() + 1;
        let Some((word, rest)) = trimmed.split_once(char::is_whitespace) else { continue };
        let value = arg.tail(start + word.len() + 1).and_then(|tail| head(&tail, rest.len()));
        let Some(value) = value.and_then(|value| unquoted(&value)) else { continue };
        match word {
            "system" | "pager" => acts.push(Act::Run(Run::Shell(value))),
            "source" => acts.push(Act::Read(value)),
            // Of programs that move files.
            "put" | "mput" | "reput" => {
                acts.push(Act::Raise(Concern::Exfiltrates, value.span));
                let length = value.text.find(char::is_whitespace).unwrap_or(value.text.len());
                acts.extend(head(&value, length).map(Act::Read));
            }
            "tee" => acts.push(Act::Write(value)),
            _ => {}
        }
    }
}
