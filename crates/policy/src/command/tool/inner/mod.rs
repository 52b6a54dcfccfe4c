//! Words with a small language of their own: settings, addresses, modes, statements.

mod database;
mod editor;
mod file;
mod git;
mod keyed;
mod library;
mod setting;

use std::borrow::Cow;

use super::general;
use super::grammar::Inner;
use crate::command::{Act, Arg, Concern, Language, Run};

pub(super) use database::only_reads;

/// Adds what such a word does.
pub(super) fn read<'t>(inner: Inner, arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    match inner {
        Inner::AtFile => file::at_file(arg, acts),
        Inner::FormFile => file::form_file(arg, acts),
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
        Inner::Editor => editor::commands(arg, acts),
        Inner::Socat => socat(arg, acts),
        Inner::Volume => volume(arg, acts),
        Inner::Target => target(arg, acts),
        Inner::Tex => tex(arg, acts),
        Inner::Verb => verb(arg, acts),
        Inner::Hidden => hidden(arg, acts),
        Inner::Output => file::output(arg, acts),
        Inner::Header => file::header(arg, acts),
        Inner::Cookie => file::cookie(arg, acts),
        Inner::WriteOut => file::write_out(arg, acts),
        Inner::PhpSetting => setting::php(arg, acts),
        Inner::Backup => file::backup(arg, acts),
        Inner::Renaming => renaming(arg, acts),
        Inner::Products => file::products(arg, acts),
        Inner::Expanded => expanded(arg, acts),
        Inner::Loading => file::loading(arg, acts),
        Inner::CargoWords => setting::cargo_words(arg, acts),
        Inner::NodeScript => file::node_script(arg, acts),
        Inner::ShellOption => shell_option(arg, acts),
        Inner::WgetSetting => setting::wget(arg, acts),
        Inner::Compiler => setting::compiler(arg, acts),
        Inner::Plugin => library::plugin(arg, acts),
        Inner::Package => library::package(arg, acts),
        Inner::Report => file::report(arg, acts),
        Inner::NpmSetting => setting::npm(arg, acts),
        Inner::PerlModule => library::perl(arg, acts),
        Inner::RubyLibrary => library::ruby(arg, acts),
        Inner::Debugger => debugger(arg, acts),
        Inner::Passed => setting::passed(arg, acts),
        Inner::Splitting => setting::splitting(arg, acts),
        Inner::Compiled => file::compiled(arg, acts),
        Inner::Task => task(arg, acts),
        Inner::Keyed => keyed::written(arg, acts),
        Inner::KeyedRead => keyed::read(arg, acts),
        Inner::Property => keyed::property(arg, acts),
        Inner::Switch => keyed::switch(arg, acts),
        Inner::Pair => keyed::pair(arg, acts),
        Inner::MediaFilter => keyed::media_filter(arg, acts),
        Inner::MediaTarget => keyed::media_target(arg, acts),
        Inner::SplitNames => keyed::split_names(arg, acts),
        Inner::Query => keyed::query(arg, acts),
        Inner::Library => keyed::library(arg, acts),
        Inner::RsyncFilter => keyed::rsync_filter(arg, acts),
        Inner::Status => keyed::status(arg, acts),
        Inner::Verbosity => file::verbosity(arg, acts),
        Inner::Sourced => file::sourced(arg, acts),
        Inner::Posted => file::posted(arg, acts),
        Inner::Clock => clock(arg, acts),
        Inner::Compressor => compressor(arg, acts),
        Inner::Mongo => {
            database::statement(arg, acts);
            acts.push(Act::Run(Run::Code(Language::Node, arg.clone())));
        }
    }
}

/// Adds what lines do that are typed at the prompt of a client or an editor.
pub(in crate::command) fn typed<'t>(prompt: Prompt, arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    match prompt {
        Prompt::Client => database::statement(arg, acts),
        Prompt::Editor => editor::commands(arg, acts),
    }
}

/// Whose prompt it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::command) enum Prompt {
    /// A database's, or one of a program that moves files.
    Client,
    /// An editor's.
    Editor,
}

/// Most addresses of `socat` that are looked at in one word; it takes two itself.
const MOST_ADDRESSES: usize = 16;

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

/// Raises on modes that let others run a program as its owner.
fn mode(arg: &Arg<'_>, acts: &mut Vec<Act<'_>>) {
    // `=6755` and `+6000` are numbers too.
    let text = arg.text.strip_prefix(['=', '+']).filter(|rest| is_octal(rest)).unwrap_or(&arg.text);
    let digits = text.trim_start_matches('0');
    let raises = if is_octal(text) {
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

fn is_octal(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `010100002020.30` sets the clock, `+%F` prints it.
fn clock(arg: &Arg<'_>, acts: &mut Vec<Act<'_>>) {
    if arg.text.starts_with(|c: char| c.is_ascii_digit()) {
        acts.push(Act::Raise(Concern::System, arg.span));
    }
}

/// Of programs that pack it is known what they do with what they are given.
fn compressor<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    const PLAIN: &[&str] =
        &["bzip2", "gzip", "lz4", "lzma", "lzop", "pbzip2", "pigz", "pixz", "pzstd", "xz", "zstd"];
    let name = arg.text.strip_prefix("/usr/bin/").unwrap_or(&arg.text);
    if !PLAIN.contains(&name) {
        acts.push(Act::Raise(Concern::Spawns, arg.span));
    }
    acts.push(Act::Run(Run::Program(arg.clone())));
}

fn process(arg: &Arg<'_>, acts: &mut Vec<Act<'_>>) {
    if matches!(&*arg.text, "1" | "-1" | "0") {
        acts.push(Act::Raise(Concern::Processes, arg.span));
    }
}

/// `a!!b` is two addresses, one for each direction.
fn socat<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let mut rest = Some(arg.clone());
    for _ in 0..MOST_ADDRESSES {
        let Some(address) = rest else { return };
        rest = address.text.find("!!").and_then(|at| address.tail(at + 2));
        socat_address(&address, acts);
    }
    if let Some(rest) = rest {
        acts.push(Act::Raise(Concern::Unclear, rest.span));
    }
}

fn socat_address<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let text = &*arg.text;
    let end = text.find([':', ',']).unwrap_or(text.len());
    // What has a slash and no kind is a file.
    if text.get(..end).is_some_and(|start| start.contains('/')) {
        let end = [text.find(','), text.find("!!")].into_iter().flatten().min();
        let Some(path) = head(arg, end.unwrap_or(text.len())) else { return };
        if !path.text.starts_with("/dev/") {
            acts.push(Act::Raise(Concern::Exfiltrates, arg.span));
        }
        return acts.push(Act::Write(path));
    }
    let Some(colon) = text.find([':', ',']) else { return };
    let kind = text.get(..colon).unwrap_or_default().to_ascii_lowercase();
    // `u-open:f` is `open:f` in one direction.
    let kind = kind.strip_prefix("u-").unwrap_or(&kind);
    let Some(tail) = arg.tail(colon + 1) else { return };
    match kind {
        "exec" | "system" | "shell" => {
            acts.push(Act::Run(Run::Shell(tail)));
            acts.push(Act::Raise(Concern::Backdoor, arg.span));
        }
        "open" | "file" | "create" | "creat" | "gopen" | "pipe" | "fifo" | "unix" => {
            // What is read there goes to the other address.
            if matches!(kind, "open" | "file" | "gopen") && !tail.text.starts_with("/dev/") {
                acts.push(Act::Raise(Concern::Exfiltrates, arg.span));
            }
            let end = tail.text.find(',').unwrap_or(tail.text.len());
            acts.extend(head(&tail, end).map(Act::Write));
        }
        "unix-listen" | "unix-l" | "unix-recv" | "unix-sendto" => {
            let end = tail.text.find(',').unwrap_or(tail.text.len());
            acts.extend(head(&tail, end).map(Act::Write));
            acts.push(Act::Raise(Concern::Listens, arg.span));
        }
        _ if kind.ends_with("listen") => acts.push(Act::Raise(Concern::Listens, arg.span)),
        _ if kind.starts_with("tcp")
            || kind.starts_with("udp")
            || kind.starts_with("ssl")
            || kind.starts_with("openssl")
            || kind.starts_with("proxy")
            || kind.starts_with("socks") =>
        {
            acts.push(Act::Send(arg.span));
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
    } else if text.contains("input") || text.contains("include") || text.contains("openin") {
        for path in text.split(['{', '}', ' ']).filter(|part| part.starts_with(['/', '~'])) {
            let (text, verbatim) = (path.to_owned().into(), None);
            acts.push(Act::Read(Arg { text, verbatim, ..arg.clone() }));
        }
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
    if text.starts_with("file://") || text.starts_with("fileb://") {
        // The content of a file in place of a value: it goes to the service.
        acts.push(Act::Raise(Concern::Exfiltrates, arg.span));
        return file::posted(arg, acts);
    }
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

/// Commands of a debugger that show where a program is, or let it go on.
fn debugger(arg: &Arg<'_>, acts: &mut Vec<Act<'_>>) {
    const PLAIN: &[&str] = &[
        "backtrace",
        "break",
        "bt",
        "b",
        "c",
        "continue",
        "detach",
        "disassemble",
        "down",
        "f",
        "finish",
        "frame",
        "info",
        "kill",
        "l",
        "list",
        "n",
        "next",
        "p",
        "print",
        "q",
        "quit",
        "r",
        "run",
        "s",
        "start",
        "step",
        "tbreak",
        "thread",
        "up",
        "where",
        "x",
    ];
    let text = arg.text.trim();
    let word = text.split(|c: char| c.is_whitespace() || c == '/').next().unwrap_or_default();
    let is_set = ["set pagination ", "set confirm ", "set print ", "set width ", "set height "];
    let is_plain = PLAIN.contains(&word) || is_set.iter().any(|set| text.starts_with(set));
    // `run > file` is a command line for the shell; `p f()` calls a function of the program.
    let reaches = text.contains(['(', '|', '!', '`', '$', '>', '<', ';', '\n']);
    if !is_plain || reaches && !text.starts_with("info") {
        acts.push(Act::Raise(Concern::Spawns, arg.span));
    }
}

/// `deploy`, `:lib:publish`, `release:perform`: what was built goes to others, unless it is put into
/// a store of this machine.
fn task<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let name = arg.text.rsplit([':', '+']).next().unwrap_or_default().to_ascii_lowercase();
    let publishes = name.starts_with("publish") && !name.contains("local") && name != "publishm2";
    let others = ["deploy", "deploy-file", "perform", "release", "site-deploy", "uploadarchives"];
    if publishes || others.contains(&&*name) {
        acts.push(Act::Raise(Concern::ChangesShared, arg.span));
    }
    hidden(arg, acts);
}

fn hidden<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    if general::hides_command(&arg.text) {
        acts.push(Act::Raise(Concern::Spawns, arg.span));
    } else {
        general::guess(arg, acts);
    }
}

/// `s/a/b/e` runs what it makes.
fn renaming(arg: &Arg<'_>, acts: &mut Vec<Act<'_>>) {
    let runs = |part: &str| {
        let mark = part.chars().nth(1).unwrap_or('/');
        part.split(mark).nth(3).is_some_and(|flags| flags.contains('e'))
    };
    if arg.text.split(';').any(runs) {
        acts.push(Act::Raise(Concern::Spawns, arg.span));
    }
}

/// With `expand_aliases`, words are no longer the commands that they name.
fn shell_option(arg: &Arg<'_>, acts: &mut Vec<Act<'_>>) {
    if &*arg.text == "expand_aliases" {
        acts.push(Act::Raise(Concern::Evaluates, arg.span));
    }
}

/// Text in which the shell expands: what it runs is found by reading it as words.
fn expanded<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    if arg.text.contains(['$', '`']) {
        let text = format!(": {}", arg.text).into();
        acts.push(Act::Run(Run::Shell(Arg { text, verbatim: None, ..arg.clone() })));
    }
}
