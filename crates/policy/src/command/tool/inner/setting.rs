//! Settings of ssh, cargo, make and the kernel.

use crate::command::{Act, Arg, Concern, Run};

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

/// A word of `make`: a target, or a variable that may replace the shell.
pub(super) fn make<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let text = &*arg.text;
    let Some(equals) = text.find('=') else { return };
    let name = text.get(..equals).unwrap_or_default().trim_end_matches([':', '+', '?', '!']);
    let value = text.get(equals + 1..).unwrap_or_default();
    if matches!(name, "SHELL" | ".SHELLFLAGS" | "MAKEFLAGS" | "GNUMAKEFLAGS" | "MAKE") {
        acts.extend(arg.tail(equals + 1).map(|value| Act::Run(Run::Program(value))));
        acts.push(Act::Raise(Concern::Spawns, arg.span));
    } else if text.contains("!=") || value.contains("$(shell") || value.contains("$(eval") {
        acts.push(Act::Raise(Concern::Spawns, arg.span));
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
