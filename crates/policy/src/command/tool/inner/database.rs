//! Statements for databases, and the commands of their prompts.

use crate::command::{Act, Arg, Concern, Run};

/// A statement of SQL, or a command of a prompt (`.shell`, `\!`).
pub(super) fn statement<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let text = &*arg.text;
    for (at, line) in lines(text) {
        let trimmed = line.trim_start();
        let start = at + (line.len() - trimmed.len());
        if trimmed.starts_with('!') {
            acts.extend(arg.tail(start + 1).map(|text| Act::Run(Run::Shell(text))));
        } else if let Some(command) = trimmed.strip_prefix(['.', '\\']) {
            prompt(arg, start + 1, command, acts);
        }
    }
    let words = text.to_ascii_lowercase();
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
    {
        acts.push(Act::Raise(Concern::Spawns, arg.span));
    }
    let deletes_all = has("delete from") && !has(" where ");
    if deletes_all || has("drop ") || has("truncate ") || has("flushall") || has("dropdatabase") {
        acts.push(Act::Raise(Concern::ChangesShared, arg.span));
    }
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
    let value = || arg.tail(start + end + 1).filter(|value| !value.text.trim().is_empty());
    match name {
        "shell" | "system" | "sh" => acts.extend(value().map(|text| Act::Run(Run::Shell(text)))),
        _ if name.starts_with('!') => {
            acts.extend(arg.tail(start + 1).map(|text| Act::Run(Run::Shell(text))));
        }
        "load" => acts.extend(value().map(|file| Act::Run(Run::Load(file)))),
        "output" | "once" | "backup" | "save" | "log" | "clone" | "o" | "g" | "w" => {
            match value() {
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
            Some(_) | None => {}
        },
        "www" | "excel" | "edit" | "e" => acts.push(Act::Raise(Concern::Spawns, arg.span)),
        _ => {}
    }
}
