//! Settings of ssh, cargo, php, make and the kernel.

use crate::command::{Act, Arg, Concern, Holed as _, Language, Run};

/// `Key=value` or `Key value` of `ssh -o`.
pub(super) fn ssh<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let text = &*arg.text;
    let end = text.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(text.len());
    let key = text.get(..end).unwrap_or_default().to_ascii_lowercase();
    let blanks = text.get(end..).unwrap_or_default();
    let from = end + (blanks.len() - blanks.trim_start_matches([' ', '\t', '=']).len());
    let Some(value) = arg.tail(from) else { return };
    if value.text.eq_ignore_ascii_case("none") {
        return;
    }
    acts.push(match &*key {
        "proxycommand" | "localcommand" | "knownhostscommand" => Act::Run(Run::Shell(value)),
        // The same of sshfs, whose mount options hold it.
        "ssh_command" | "sftp_server" => Act::Run(Run::Shell(value)),
        "pkcs11provider" | "securitykeyprovider" => Act::Run(Run::Load(value)),
        "userknownhostsfile" | "globalknownhostsfile" => Act::Write(value),
        "identityfile" | "certificatefile" => Act::Read(value),
        "xauthlocation" => Act::Run(Run::Program(value)),
        "remotecommand" => Act::Run(Run::Elsewhere(arg.span)),
        "match" | "include" => Act::Raise(Concern::Unclear, arg.span),
        "proxyjump" | "hostname" => Act::Connect(value),
        _ => return,
    });
}

/// `key=value`, or a file of such, of `cargo --config`.
pub(super) fn cargo(arg: &Arg<'_>, acts: &mut Vec<Act<'_>>) {
    let text = &*arg.text;
    let runs = ["runner", "wrapper", "linker", "provider", "alias", "rustc", "rustdoc", "include"];
    let key = text.split('=').next().unwrap_or_default();
    if !text.contains('=') || runs.iter().any(|word| key.contains(word)) || text.contains("linker=")
    {
        acts.push(Act::Raise(Concern::Spawns, arg.span));
    }
}

/// What stands behind `cargo` in shell text.
pub(super) fn cargo_words<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let text = format!("cargo {}", arg.text).into();
    acts.push(Act::Run(Run::Shell(Arg { text, verbatim: None, ..arg.clone() })));
}

/// `key=value` of `wget -e`; a dash, an underline or a blank makes no difference in a key.
pub(super) fn wget<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let Some(equals) = arg.text.find('=') else { return };
    let key: String = arg.text.get(..equals).unwrap_or_default().to_ascii_lowercase();
    let key: String = key.chars().filter(char::is_ascii_alphanumeric).collect();
    let blanks = arg.text.get(equals + 1..).unwrap_or_default();
    let skip = blanks.len() - blanks.trim_start().len();
    let Some(value) = arg.tail(equals + 1 + skip) else { return };
    let act = match &*key {
        "useaskpass" => Act::Run(Run::Program(value)),
        "outputdocument" | "logfile" | "dirprefix" | "savecookies" | "warcfile" | "hstsfile" => {
            Act::Write(value)
        }
        "postfile" | "bodyfile" => {
            acts.push(Act::Raise(Concern::Exfiltrates, arg.span));
            Act::Read(value)
        }
        "input" | "loadcookies" | "certificate" | "privatekey" => Act::Read(value),
        "httpproxy" | "httpsproxy" | "ftpproxy" => Act::Connect(value),
        _ => return,
    };
    acts.push(act);
}

/// `key=value` of `php -d`.
pub(super) fn php<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let Some(equals) = arg.text.find('=') else { return };
    let key = arg.text.get(..equals).unwrap_or_default().trim().to_ascii_lowercase();
    let Some(value) = arg.tail(equals + 1) else { return };
    if matches!(value.text.trim(), "" | "0" | "none") {
        return;
    }
    match &*key {
        // `data:,code` and what else is no file.
        "auto_prepend_file" | "auto_append_file" if value.text.contains(':') => {
            acts.push(Act::Raise(Concern::Evaluates, arg.span));
        }
        "auto_prepend_file" | "auto_append_file" => {
            acts.push(Act::Run(Run::Script(Language::Php, value)));
        }
        // `xdebug` and the like are names of what is installed.
        "extension" | "zend_extension" | "extension_dir" | "opcache.preload" | "ffi.preload"
            if value.text.contains(['/', '.']) =>
        {
            acts.push(Act::Run(Run::Load(value)));
        }
        "error_log"
        | "mail.log"
        | "opcache.error_log"
        | "opcache.file_cache"
        | "session.save_path"
        | "sys_temp_dir"
        | "upload_tmp_dir"
        | "xdebug.output_dir"
        | "xdebug.log"
        | "xdebug.profiler_output_dir" => acts.push(Act::Write(value)),
        "sendmail_path" => acts.push(Act::Run(Run::Shell(value))),
        "include_path" => acts.push(Act::Read(value)),
        _ if key.has_hole() => acts.push(Act::Raise(Concern::Unclear, arg.span)),
        _ => {}
    }
}

/// A word of `make`: a target, or a variable that may replace the shell.
pub(super) fn make<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let text = &*arg.text;
    // BSD's make: `${:!cmd!}`, `${X:sh}`.
    if text.contains(":!") || text.contains(":sh}") {
        acts.push(Act::Raise(Concern::Spawns, arg.span));
    }
    let Some(equals) = text.find('=') else { return };
    let name = text.get(..equals).unwrap_or_default().trim_end_matches([':', '+', '?', '!']);
    let value = text.get(equals + 1..).unwrap_or_default();
    if matches!(name, "SHELL" | ".SHELLFLAGS" | "MAKEFLAGS" | "GNUMAKEFLAGS" | "MAKE") {
        acts.extend(arg.tail(equals + 1).map(|value| Act::Run(Run::Program(value))));
        acts.push(Act::Raise(Concern::Spawns, arg.span));
    } else if matches!(name, "DESTDIR" | "PREFIX" | "prefix") {
        acts.extend(arg.tail(equals + 1).filter(|at| !at.text.is_empty()).map(Act::Write));
    } else if TOOLS.contains(&name) && value.contains(char::is_whitespace) {
        acts.extend(arg.tail(equals + 1).map(|value| Act::Run(Run::Program(value))));
    } else if text.contains("!=") || value.contains("$(shell") || value.contains("$(eval") {
        acts.push(Act::Raise(Concern::Spawns, arg.span));
    } else if value.starts_with(['/', '~']) {
        acts.extend(arg.tail(equals + 1).map(Act::Mention));
    }
}

/// Variables of make that name a program; words behind it are its own.
const TOOLS: &[&str] = &[
    "AR", "AS", "CC", "CPP", "CXX", "FC", "GO", "INSTALL", "LD", "NODE", "NPM", "PERL", "PYTHON",
    "RM", "RUSTC", "CARGO",
];

/// `scripts.test=command` of `npm pkg set`: the command is run by and by.
pub(super) fn npm<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let Some(equals) = arg.text.find('=') else { return };
    let key = arg.text.get(..equals).unwrap_or_default();
    if key.starts_with("scripts.") || key.starts_with("scripts[") {
        acts.extend(arg.tail(equals + 1).map(|text| Act::Run(Run::Shell(text))));
    } else if key.has_hole() {
        acts.push(Act::Raise(Concern::Unclear, arg.span));
    }
}

/// A word that `cargo rustc` hands on: the linker, or a file that is made.
pub(super) fn compiler<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    if let Some(at) = arg.text.find("linker=") {
        acts.extend(arg.tail(at + 7).map(|value| Act::Run(Run::Program(value))));
    } else if let Some(products) = arg.text.strip_prefix("--emit=").and_then(|_| arg.tail(7)) {
        super::file::products(&products, acts);
    } else if arg.text.contains('/') {
        let from = arg.text.rfind('=').map_or(0, |at| at + 1);
        let skip = if arg.text.starts_with("-o") { 2 } else { from };
        acts.extend(arg.tail(skip).map(Act::Write));
    }
}

/// `l,-o,file`, `l,-Map=file`, `dump-tree-all=file`: what the stages of a compiler write.
pub(super) fn passed<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    // The file is the next such word, which nobody here sees.
    if WRITTEN.contains(&&*arg.text) {
        return acts.push(Act::Raise(Concern::Unclear, arg.span));
    }
    let (mut at, mut is_file) = (0, false);
    for part in arg.text.split([',', ' ']) {
        let file = match part.split_once('=') {
            _ if is_file => Some((0, part)),
            // `-o/file`
            _ if part.starts_with("-o/") || part.starts_with("-o.") => {
                Some((2, part.get(2..).unwrap_or_default()))
            }
            Some((name, file)) if WRITTEN.contains(&name) || name.starts_with("dump-") => {
                Some((name.len() + 1, file))
            }
            Some(_) | None => None,
        };
        let written = file.and_then(|(from, file)| Some((arg.tail(at + from)?, file.len())));
        acts.extend(written.and_then(|(tail, len)| super::head(&tail, len)).map(Act::Write));
        is_file = WRITTEN.contains(&part);
        at += part.len() + 1;
    }
}

/// Options of preprocessors, assemblers and linkers that name a file to write.
const WRITTEN: [&str; 11] = [
    "--Map",
    "--dependency-file",
    "--out-implib",
    "--output",
    "-MD",
    "-MF",
    "-MMD",
    "-Map",
    "-dependency-file",
    "-o",
    "profile-dir",
];

/// `/x/, code`: what stands between slashes or quotes is put into the code as it is.
pub(super) fn splitting<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let quote = arg.text.chars().next().filter(|first| matches!(first, '/' | '"' | '\''));
    if quote.is_some_and(|quote| arg.text.matches(quote).nth(1).is_some()) {
        acts.push(Act::Run(Run::Code(Language::Perl, arg.clone())));
    }
}

/// `key` is shown, `key=value` is set.
pub(super) fn sysctl(arg: &Arg<'_>, acts: &mut Vec<Act<'_>>) {
    if arg.text.contains('=') {
        acts.push(Act::Raise(Concern::Kernel, arg.span));
    } else if arg.text.contains("..") {
        acts.push(Act::Raise(Concern::Obfuscates, arg.span));
    }
}
