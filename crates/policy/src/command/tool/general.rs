//! What can be told of a tool that nobody has described: by the shape of its words alone.
//!
//! A word that is a shell, a program of a system folder or text with a command in it is taken for
//! what the tool will run; an option is taken at its name.

use crate::command::{Act, Arg, Concern, Run, SHELLS};
use crate::text::Span;

/// Adds what the words of an unknown tool seem to do.
pub(super) fn read<'t>(args: &[Arg<'t>], acts: &mut Vec<Act<'t>>) {
    let mut after_option: Option<&str> = None;
    for (at, arg) in args.iter().enumerate() {
        let text = &*arg.text;
        if let Some((name, value)) = as_option(text) {
            match value.and_then(|from| arg.tail(from)) {
                Some(value) => option(name, &value, acts),
                None if hides_command(text) => acts.push(Act::Raise(Concern::Spawns, arg.span)),
                None => {}
            }
            after_option = value.is_none().then_some(name);
            continue;
        }
        let rest = args.get(at..).unwrap_or_default();
        if is_command(rest) {
            acts.push(Act::Run(Run::Argv(rest.to_vec())));
            return;
        }
        match after_option.take() {
            Some(name) => option(name, arg, acts),
            None => operand(arg, acts),
        }
    }
}

/// Adds what an option does, judged by its name and its value.
pub(super) fn option<'t>(name: &str, value: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let text = &*value.text;
    match Meaning::of_option(name) {
        Meaning::Runs if looks_like_command(text) => {
            acts.push(Act::Run(Run::Program(value.clone())));
            acts.push(Act::Raise(Concern::Spawns, value.span));
        }
        _ if hides_command(text) => acts.push(Act::Raise(Concern::Spawns, value.span)),
        _ if name == "-c" && is_command_text(text) => {
            acts.push(Act::Run(Run::Shell(value.clone())));
        }
        _ if matches!(name, "-c" | "-e" | "-E" | "-r" | "-x") && looks_like_code(text) => {
            acts.push(Act::Raise(Concern::Evaluates, value.span));
        }
        _ if is_library(text) => acts.push(Act::Run(Run::Load(value.clone()))),
        Meaning::Writes if !text.is_empty() && !is_url(text) && text != "-" => {
            acts.push(Act::Write(value.clone()));
        }
        Meaning::Other if name == "-o" && !text.contains('=') && text.contains(['/', '.']) => {
            acts.push(Act::Write(value.clone()));
        }
        Meaning::Other | Meaning::Writes | Meaning::Runs => operand(value, acts),
    }
}

/// Tells options whose name says that they run something.
pub(super) fn runs(name: &str) -> bool {
    Meaning::of_option(name) == Meaning::Runs
}

/// Adds a path that is read or a host that is talked to, if the word looks like one.
pub(super) fn guess<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let text = &*arg.text;
    if is_url(text) {
        reach(arg, acts);
    } else if is_path(text) {
        acts.push(Act::Read(arg.clone()));
        acts.extend(behind_mark(arg).map(Act::Read));
    } else {
        listed(arg, acts);
    }
}

/// Returns the path that stands behind a mark in a word: `label:@/path`, `id=a,src=/path`.
fn behind_mark<'t>(arg: &Arg<'t>) -> Option<Arg<'t>> {
    let mut marks = arg.text.as_bytes().windows(2);
    let at = marks.rposition(|pair| matches!(pair, [b':' | b'=' | b'@' | b',', b'/' | b'~']))?;
    arg.tail(at + 1)
}

/// Adds the file that `@/path` names: many tools read more words from it.
pub(super) fn listed<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let named = arg.text.strip_prefix('@').filter(|path| path.starts_with(['/', '~', '.']));
    if let Some(file) = named.and_then(|_| arg.tail(1)) {
        acts.push(Act::Read(file));
    }
}

/// Adds a host that is talked to, or the file that a URL names.
pub(super) fn connect<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let text = &*arg.text;
    // curl's `@file`: addresses are read from it.
    if text.starts_with('@') {
        return acts.extend(arg.tail(1).map(Act::Read));
    }
    // curl expands `{…}` and `[…]` first, and may so be given any scheme, or any file.
    let (start, tail) = text.split_once(':').unwrap_or_default();
    let is_any = start.contains(['{', '[']) && !start.starts_with('[');
    if is_any || start.eq_ignore_ascii_case("file") && tail.contains(['{', '[']) {
        acts.push(Act::Raise(Concern::Unclear, arg.span));
    }
    reach(arg, acts);
}

fn reach<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let text = &*arg.text;
    let scheme = text.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("file:"));
    let Some(path) = scheme.and_then(|_| text.get(5..)) else {
        return acts.push(Act::Connect(arg.clone()));
    };
    // `file://host/path` is a file of this machine all the same, or fails.
    let path = match path.strip_prefix("//") {
        Some(rest) => rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/"),
        None => path,
    };
    let text = unescaped(path).into();
    acts.push(Act::Read(Arg { text, verbatim: None, ..arg.clone() }));
}

/// Tells `host:path` and URLs from paths of this machine.
pub(super) fn is_remote(arg: &Arg<'_>) -> bool {
    let text = &*arg.text;
    is_url(text)
        || text.split_once(':').is_some_and(|(host, _)| {
            !host.is_empty() && !host.contains('/') && !host.starts_with(['.', '~'])
        })
}

/// Tells whether a word holds a command in some program's own notation: `!sh`, `exec:/bin/sh`,
/// `system("…")`.
pub(super) fn hides_command(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find("/bin/") {
        let name = rest.get(at + 5..).unwrap_or_default();
        let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
        if SHELLS.contains(&name.get(..end).unwrap_or_default()) {
            return true;
        }
        rest = name;
    }
    let bang = text.trim_start_matches([':', ' ', '\\', '%']).strip_prefix('!');
    bang.is_some_and(|tail| tail.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/'))
        || CALLS.iter().any(|call| text.contains(call))
}

/// Programs that run code given as an option.
const INTERPRETERS: &[&str] =
    &["awk", "gawk", "lua", "node", "perl", "php", "python", "python2", "python3", "ruby", "tclsh"];

/// Calls that start programs, as many languages write them.
const CALLS: &[&str] = &[
    "system(",
    "system (",
    "exec(",
    "execl(",
    "execv(",
    "popen(",
    "os.execute",
    "shell_exec",
    "shell-command",
    "callCommand",
    "syscmd(",
    "write18",
    "pty.spawn",
    "spawn(",
    "spawn /",
    "ProcessBuilder",
    "Pre-Invoke",
    "Post-Invoke",
    "Pre-Install-Pkgs",
    "getRuntime",
    "subprocess",
    "fork/exec",
    "child_process",
    "dlopen",
    "/dev/tcp/",
    "/inet/tcp/",
];

#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
enum Meaning {
    Other,
    Writes,
    Runs,
}

impl Meaning {
    fn of_option(name: &str) -> Self {
        let words = name.trim_start_matches('-').split(['-', '_', '.', ':']);
        words.map(Self::of).max().unwrap_or(Self::Other)
    }

    fn of(word: &str) -> Self {
        match word {
            "action" | "askpass" | "browser" | "cmd" | "command" | "do" | "editor" | "eval"
            | "exec" | "execute" | "handler" | "hook" | "interpreter" | "launcher" | "pager"
            | "post" | "pre" | "prog" | "program" | "rsh" | "run" | "script" | "shell"
            | "spawn" | "transport" | "viewer" | "wrapper" => Self::Runs,
            "dest" | "destination" | "out" | "outdir" | "outfile" | "output" | "log"
            | "logfile" | "save" | "write" => Self::Writes,
            _ => Self::Other,
        }
    }
}

fn operand<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    if hides_command(&arg.text) {
        acts.push(Act::Raise(Concern::Spawns, arg.span));
    } else {
        guess(arg, acts);
    }
}

/// Splits an option's word into its name and where its value begins.
fn as_option(text: &str) -> Option<(&str, Option<usize>)> {
    if !text.starts_with('-') || text.len() < 2 {
        return None;
    }
    Some(match text.find('=') {
        Some(equals) => (text.get(..equals).unwrap_or(text), Some(equals + 1)),
        None => (text, None),
    })
}

/// Tells whether words are a command that the tool is given to run.
fn is_command(words: &[Arg<'_>]) -> bool {
    let Some(text) = words.first().and_then(Arg::as_known) else { return false };
    let name = text.rsplit('/').next().unwrap_or(text);
    let has_code = || {
        let next = words.get(1).map(|arg| &*arg.text);
        next.is_some_and(|next| next.starts_with('-') && next.len() > 1)
    };
    if text.contains('/') {
        return is_system_program(text);
    }
    SHELLS.contains(&name)
        || INTERPRETERS.contains(&name) && has_code()
        || is_blunt(name, words.get(1..).unwrap_or_default())
}

/// Tells whether a text is a command that does harm by what it is given.
fn is_command_text(text: &str) -> bool {
    let words: Vec<Arg<'_>> =
        text.split_whitespace().map(|word| Arg::known(word, Span::default())).collect();
    words.len() > 1 && is_command(&words)
}

/// Tells programs that do harm by what they are given, where what follows is for them: `rm -rf x`
/// and not `remove rm`.
fn is_blunt(name: &str, args: &[Arg<'_>]) -> bool {
    let Some(first) = args.first() else { return false };
    let is_option = first.text.starts_with('-');
    let any = |shape: fn(&str) -> bool| args.iter().any(|arg| shape(&arg.text));
    match name {
        "sudo" | "doas" => is_option || first.text.starts_with(|c: char| c.is_ascii_lowercase()),
        "dd" => any(|text| text.starts_with("of=")),
        "rm" | "shred" | "unlink" | "rmdir" | "chmod" | "chown" | "chgrp" | "mv" | "tee"
        | "truncate" => is_option || any(is_path),
        "git" => any(|text| matches!(text, "reset" | "clean" | "push" | "checkout" | "config")),
        _ => false,
    }
}

/// Tells paths of programs in folders of the system.
fn is_system_program(text: &str) -> bool {
    const FOLDERS: &[&str] =
        &["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/usr/local/sbin/"];
    FOLDERS.iter().any(|folder| {
        text.strip_prefix(folder).is_some_and(|name| {
            !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-._[".contains(&byte))
        })
    })
}

/// Tells whether the value of an option that runs something is a command, and not a switch or a
/// file of the project.
fn looks_like_command(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    let name = first.rsplit('/').next().unwrap_or(first);
    first.starts_with('/')
        || SHELLS.contains(&name)
        || INTERPRETERS.contains(&name)
        || text.contains(['|', ';', '&', '`', '$', '<', '>', '(', '!'])
        || text.trim().contains(char::is_whitespace)
        || hides_command(text)
}

/// Tells code from names and numbers: a call, or several statements.
fn looks_like_code(text: &str) -> bool {
    text.contains(['(', ';', '`', '|'])
}

/// Tells libraries by the ending of their names.
pub(super) fn is_library(text: &str) -> bool {
    text.ends_with(".so") || text.ends_with(".dylib") || text.contains(".so.")
}

/// Tells `scheme://…` from everything else.
pub(super) fn is_url(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, rest)| {
        !rest.is_empty()
            && !scheme.is_empty()
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    })
}

/// Puts bytes for `%2e` and the like.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, tail)) = rest.split_first() {
        let digits = tail.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.filter(|_| *byte == b'%').and_then(|d| u8::from_str_radix(d, 16).ok());
        bytes.push(code.unwrap_or(*byte));
        rest = if code.is_some() { tail.get(2..).unwrap_or_default() } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn is_path(text: &str) -> bool {
    text == "~"
        || text == ".."
        || text.starts_with("~/")
        || text.contains('/') && !text.contains(char::is_whitespace) && !text.starts_with('@')
}
