//! Words with a small language of their own: settings, addresses, modes, statements.

mod database;
mod git;
mod setting;

use std::borrow::Cow;

use super::general;
use super::grammar::Inner;
use crate::command::{Act, Arg, Concern, Run};

/// Adds what such a word does.
pub(super) fn read<'t>(inner: Inner, arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    match inner {
        Inner::AtFile => at_file(arg, acts),
        Inner::FormFile => form_file(arg, acts),
        Inner::Mode => mode(arg, acts),
        Inner::GitSetting => git::setting(arg, acts),
        Inner::GitKey => git::key(arg, acts),
        Inner::GitUrl => git::url(arg, acts),
        Inner::GitRef => git::pushed(arg, acts),
        Inner::GitTree => git::tree(arg, acts),
        Inner::SshSetting => setting::ssh(arg, acts),
        Inner::CargoSetting => setting::cargo(arg, acts),
        Inner::MakeVariable => setting::make(arg, acts),
        Inner::Sysctl => setting::sysctl(arg, acts),
        Inner::TarAction => tail_of(arg, "exec=", acts),
        Inner::Process => process(arg, acts),
        Inner::Sql => database::statement(arg, acts),
        Inner::Editor => editor(arg, acts),
        Inner::Socat => socat(arg, acts),
        Inner::Volume => volume(arg, acts),
        Inner::Target => target(arg, acts),
        Inner::Tex => tex(arg, acts),
        Inner::Verb => verb(arg, acts),
        Inner::Hidden => hidden(arg, acts),
    }
}

/// Returns the first `length` bytes of a word.
fn head<'t>(arg: &Arg<'t>, length: usize) -> Option<Arg<'t>> {
    let text = match &arg.text {
        Cow::Borrowed(text) => Cow::Borrowed(text.get(..length)?),
        Cow::Owned(text) => Cow::Owned(text.get(..length)?.to_owned()),
    };
    Some(Arg { text, ..arg.clone() })
}

/// Adds shell text that stands behind `mark` at the beginning of the word.
fn tail_of<'t>(arg: &Arg<'t>, mark: &str, acts: &mut Vec<Act<'t>>) {
    if arg.text.starts_with(mark)
        && let Some(tail) = arg.tail(mark.len())
    {
        acts.push(Act::Run(Run::Shell(tail)));
    }
}

fn at_file<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    // `name@file` too: curl encodes the file's content as the value of a name.
    if let Some(at) = arg.text.find('@')
        && !arg.text.get(..at).unwrap_or_default().contains(['=', '{', ' ', '"'])
        && let Some(file) = arg.tail(at + 1)
        && !matches!(&*file.text, "-" | "")
    {
        acts.push(Act::Read(file));
    }
}

fn form_file<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let at = arg.text.find("=@").or_else(|| arg.text.find("=<"));
    if let Some(file) = at.and_then(|at| arg.tail(at + 2)) {
        let end = file.text.find(';').unwrap_or(file.text.len());
        acts.extend(head(&file, end).map(Act::Read));
    }
}

/// Raises on modes that let others run a program as its owner.
fn mode(arg: &Arg<'_>, acts: &mut Vec<Act<'_>>) {
    let text = &*arg.text;
    let digits = text.trim_start_matches('0');
    let octal = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let raises = if octal {
        digits.len() > 3
            && digits.as_bytes().first().is_some_and(|byte| matches!(byte, b'2'..=b'7'))
    } else {
        text.split(',').any(|part| {
            part.find(['+', '=']).is_some_and(|at| {
                !part.starts_with('o') && part.get(at..).is_some_and(|bits| bits.contains('s'))
            })
        })
    };
    if raises {
        acts.push(Act::Raise(Concern::Privilege, arg.span));
    }
}

fn process(arg: &Arg<'_>, acts: &mut Vec<Act<'_>>) {
    if matches!(&*arg.text, "1" | "-1" | "0") {
        acts.push(Act::Raise(Concern::Processes, arg.span));
    }
}

/// A command of an editor's prompt: text behind `!` is for the shell, other words are code.
fn editor<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    const WORDS: &[&str] = &[
        "py", "py3", "pyf", "pyx", "python", "python3", "lua", "luado", "luafile", "perl",
        "perldo", "ruby", "rubydo", "tcl", "tcldo", "mz", "mzscheme", "sh", "shell", "terminal",
        "term", "source", "so", "make", "grep", "execute", "exe", "eval",
    ];
    let text = &*arg.text;
    let mut part = 0;
    for command in text.split('|') {
        let trimmed = command.trim_start_matches([':', ' ', '%', '.']);
        let word_end = trimmed.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(trimmed.len());
        let word = trimmed.get(..word_end).unwrap_or_default();
        // `q!` ends at its mark; `!cmd` and `w !cmd` go on.
        let bang = command.find('!').filter(|at| {
            let before = command.get(..*at).unwrap_or_default();
            let after = command.get(at + 1..).unwrap_or_default().trim();
            let forced = before.ends_with(|c: char| c.is_ascii_alphabetic());
            !after.is_empty() && !forced
        });
        if let Some(tail) = bang.and_then(|at| arg.tail(part + at + 1)) {
            acts.push(Act::Run(Run::Shell(tail)));
            return;
        }
        if WORDS.contains(&word) || command.contains("system(") || command.contains("libcall") {
            acts.push(Act::Raise(Concern::Spawns, arg.span));
            return;
        }
        part += command.len() + 1;
    }
}

fn socat<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let text = &*arg.text;
    let Some(colon) = text.find([':', ',']) else { return };
    let kind = text.get(..colon).unwrap_or_default().to_ascii_lowercase();
    let Some(tail) = arg.tail(colon + 1) else { return };
    match &*kind {
        "exec" | "system" | "shell" => {
            acts.push(Act::Run(Run::Shell(tail)));
            acts.push(Act::Raise(Concern::Backdoor, arg.span));
        }
        "open" | "file" | "create" | "gopen" => {
            let end = tail.text.find(',').unwrap_or(tail.text.len());
            acts.extend(head(&tail, end).map(Act::Write));
        }
        _ if kind.ends_with("listen") => acts.push(Act::Raise(Concern::Backdoor, arg.span)),
        _ if kind.starts_with("tcp")
            || kind.starts_with("udp")
            || kind.starts_with("ssl")
            || kind.starts_with("openssl")
            || kind.starts_with("proxy")
            || kind.starts_with("socks") =>
        {
            acts.push(Act::Connect(tail));
        }
        _ => {}
    }
}

/// `host:container`, or `type=bind,src=host,dst=…`: what a container may change out here.
fn volume<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let text = &*arg.text;
    let (from, end) = match text
        .find("src=")
        .map(|at| at + 4)
        .or_else(|| text.find("source=").map(|at| at + 7))
    {
        Some(from) => (from, text.get(from..).and_then(|tail| tail.find(','))),
        None => (0, text.find(':')),
    };
    let Some(host) = arg.tail(from) else { return };
    let host = head(&host, end.unwrap_or(host.text.len())).unwrap_or(host);
    if host.text.starts_with(['/', '~', '.']) {
        acts.push(Act::Write(host));
    }
}

fn target<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    const PLAIN: &[&str] = &["fd/", "full", "null", "shm/", "stderr", "stdout", "tty", "zero"];
    let device = arg.text.strip_prefix("/dev/");
    if device.is_some_and(|name| !PLAIN.iter().any(|plain| name.starts_with(plain))) {
        acts.push(Act::Raise(Concern::Device, arg.span));
    }
    acts.push(Act::Write(arg.clone()));
}

fn tex<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let text = &*arg.text;
    let runs = ["write18", "directlua", "openout", "input|", "ShellEscape", "shipout"];
    if runs.iter().any(|call| text.contains(call)) {
        acts.push(Act::Raise(Concern::Spawns, arg.span));
    } else if !text.contains('\\') {
        acts.push(Act::Read(arg.clone()));
    }
}

/// Command lines of services name what they do: `delete-bucket`, `apps:destroy`, `purge`.
fn verb<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    const VERBS: &[&str] = &[
        "break",
        "cancel",
        "clean",
        "clear",
        "compact",
        "decommission",
        "del",
        "delete",
        "deprovision",
        "deregister",
        "destroy",
        "detach",
        "disable",
        "drop",
        "empty",
        "erase",
        "evict",
        "expire",
        "flush",
        "flushall",
        "flushdb",
        "force",
        "forget",
        "kill",
        "nuke",
        "prune",
        "purge",
        "rb",
        "reboot",
        "remove",
        "reset",
        "revoke",
        "rm",
        "rmdir",
        "rollback",
        "stop",
        "suspend",
        "terminate",
        "truncate",
        "undeploy",
        "uninstall",
        "unpublish",
        "unregister",
        "unsubscribe",
        "untag",
        "wipe",
    ];
    let text = &*arg.text;
    if text.contains('/') {
        return general::guess(arg, acts);
    }
    if text
        .split([':', '-', '_', '.'])
        .any(|word| VERBS.iter().any(|verb| verb.eq_ignore_ascii_case(word)))
    {
        acts.push(Act::Raise(Concern::ChangesShared, arg.span));
    }
}

fn hidden<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    if general::hides_command(&arg.text) {
        acts.push(Act::Raise(Concern::Spawns, arg.span));
    } else {
        general::guess(arg, acts);
    }
}
