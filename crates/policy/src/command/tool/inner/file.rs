//! Words that name files in a notation of their own.

use super::head;
use crate::command::tool::general;
use crate::command::{Act, Arg, Certainty, Concern, Language, Run};

/// `@file`, or text.
pub(super) fn at_file<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    // `name@file` too: curl encodes the file's content as the value of a name.
    if let Some(at) = arg.text.find('@')
        && !arg.text.get(..at).unwrap_or_default().contains(['=', '{', ' ', '"'])
        && let Some(file) = arg.tail(at + 1)
        && !file.text.is_empty()
    {
        sent(file, acts);
    }
}

/// A file beside which its product is written, or `@file`.
pub(super) fn compiled<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    if arg.text.starts_with('@') {
        return general::guess(arg, acts);
    }
    acts.push(Act::Read(arg.clone()));
    acts.push(Act::Write(arg.clone()));
}

/// `name=@file,file;type=…` or `name=<file`; names may be quoted.
pub(super) fn form_file<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    for mark in ["=@", "=<", ";headers=@", ";headers=<"] {
        let Some(list) = arg.text.find(mark).and_then(|at| arg.tail(at + mark.len())) else {
            continue;
        };
        let mut at = 0;
        while let Some(rest) = list.tail(at) {
            let quotes = usize::from(rest.text.starts_with('"'));
            let Some(name) = rest.tail(quotes) else { break };
            let ends: &[char] = if quotes > 0 { &['"'] } else { &[';', ','] };
            let end = name.text.find(ends).unwrap_or(name.text.len());
            if let Some(name) = head(&name, end).filter(|name| !name.text.is_empty()) {
                sent(name, acts);
            }
            at += quotes + end + quotes;
            if !list.text.get(at..).is_some_and(|tail| tail.starts_with(',')) {
                break;
            }
            at += 1;
        }
    }
}

/// A file whose content goes to another machine; a dash is standard input.
fn sent<'t>(file: Arg<'t>, acts: &mut Vec<Act<'t>>) {
    if &*file.text == "-" {
        return acts.push(Act::Send(file.span));
    }
    acts.push(Act::Raise(Concern::Exfiltrates, file.span));
    acts.push(Act::Read(file));
}

/// `9file`: how much is told, and where.
pub(super) fn verbosity<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let digits = arg.text.len() - arg.text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    acts.extend(arg.tail(digits).filter(|file| !file.text.is_empty()).map(Act::Write));
}

/// A source text; a dash is standard input.
pub(super) fn sourced<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    if &*arg.text == "-" {
        return acts.push(Act::Run(Run::Input(Language::Source, arg.span)));
    }
    general::listed(arg, acts);
    acts.push(Act::Read(arg.clone()));
}

/// `file://path`, `fileb://path`: the content takes its place; the path begins right there.
pub(super) fn posted<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let start = ["file://", "fileb://"].iter().find(|start| arg.text.starts_with(**start));
    match start.and_then(|start| arg.tail(start.len())) {
        Some(file) => acts.push(Act::Read(file)),
        None => general::guess(arg, acts),
    }
}

/// A file that is written, or a command behind `|` or `!`.
pub(super) fn output<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    // Ghostscript writes `%pipe%cmd`.
    let mark = if arg.text.starts_with("%pipe%") { 6 } else { 1 };
    if mark > 1 || arg.text.starts_with(['|', '!']) {
        acts.extend(arg.tail(mark).map(|text| Act::Run(Run::Shell(text))));
    } else if !matches!(&*arg.text, "-" | "") {
        acts.push(Act::Write(arg.clone()));
    }
}

/// `@file` in place of a header.
pub(super) fn header<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    if arg.text.starts_with('@') {
        arg.tail(1)
            .filter(|file| !file.text.is_empty())
            .into_iter()
            .for_each(|file| sent(file, acts));
    }
}

/// `name=value`, or a file of such.
pub(super) fn cookie<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    if !arg.text.contains('=') && !matches!(&*arg.text, "-" | "") {
        acts.push(Act::Read(arg.clone()));
    }
}

/// `%output{file}` sends what follows to a file, `@file` is read.
pub(super) fn write_out<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    const MARK: &str = "%output{";
    header(arg, acts);
    let mut from = 0;
    while let Some(rest) = arg.tail(from)
        && let Some(at) = rest.text.find(MARK)
        && let Some(file) = rest.tail(at + MARK.len())
    {
        let end = file.text.find('}').unwrap_or(file.text.len());
        // `>>` appends.
        let skip = file.text.len() - file.text.trim_start_matches('>').len();
        acts.extend(head(&file, end).and_then(|name| name.tail(skip)).map(Act::Write));
        from += at + MARK.len() + end;
    }
}

/// `sed -i.bak` names the copy `x.bak`, `sed -i'old/*'` puts it elsewhere.
pub(super) fn backup<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    if arg.text.contains('/') {
        let is_pattern = arg.text.contains('*');
        let certainty =
            if is_pattern { arg.certainty.max(Certainty::Pattern) } else { arg.certainty };
        acts.push(Act::Write(Arg { certainty, ..arg.clone() }));
    }
}

/// `link=a.out,dep-info=a.d`, `type=local,dest=out`, or a folder.
pub(super) fn products<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    const KINDS: &[&str] =
        &["", "-", "asm", "dep-info", "link", "llvm-bc", "llvm-ir", "metadata", "mir", "obj"];
    let mut at = 0;
    for part in arg.text.split(',') {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let is_kind = matches!(name, "type" | "push" | "name" | "compression" | "tar" | "mode");
        if !value.is_empty() && !is_kind && value != "-" {
            let file = arg.tail(at + name.len() + 1);
            acts.extend(file.and_then(|file| head(&file, value.len())).map(Act::Write));
        } else if value.is_empty() && !KINDS.contains(&name) {
            acts.extend(arg.tail(at).and_then(|file| head(&file, name.len())).map(Act::Write));
        }
        at += part.len() + 1;
    }
}

/// `html:folder`.
pub(super) fn report<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let file = arg.text.find(':').and_then(|at| arg.tail(at + 1));
    let is_kind = |file: &Arg<'_>| matches!(&*file.text, "" | "skip-covered" | "skip-empty");
    acts.extend(file.filter(|file| !is_kind(file)).map(Act::Write));
}

/// `load("file")` and its kin in an expression of yq.
pub(super) fn loading<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    if arg.text.contains("system(") {
        acts.push(Act::Raise(Concern::Spawns, arg.span));
    }
    for mark in ["load(", "load_str(", "load_xml(", "load_props(", "load_base64("] {
        let Some(name) = arg.text.find(mark).and_then(|at| arg.tail(at + mark.len())) else {
            continue;
        };
        let quotes = |c: char| c.is_whitespace() || matches!(c, '"' | '\'');
        let skip = name.text.len() - name.text.trim_start_matches(quotes).len();
        let Some(name) = name.tail(skip) else { continue };
        let end = name.text.find(['"', '\'', ')']).unwrap_or(name.text.len());
        acts.extend(head(&name, end).map(Act::Read));
    }
}

/// `bun run x` is a script of the project, `bun run x.ts` a file, `bun run -` its input.
pub(super) fn node_script<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let text = &*arg.text;
    let endings = [".js", ".ts", ".mjs", ".cjs", ".mts", ".cts", ".jsx", ".tsx"];
    if text.contains("://") {
        acts.push(Act::Connect(arg.clone()));
        acts.push(Act::Raise(Concern::Spawns, arg.span));
    } else if text == "-" {
        acts.push(Act::Run(Run::Input(Language::Node, arg.span)));
    } else if text.contains('/') || endings.iter().any(|ending| text.ends_with(ending)) {
        acts.push(Act::Run(Run::Script(Language::Node, arg.clone())));
    }
}
