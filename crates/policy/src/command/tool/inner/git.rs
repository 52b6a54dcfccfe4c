//! git's settings, addresses, refs and paths.

use crate::command::tool::general;
use crate::command::{Act, Arg, Concern, Holed as _, Run};

/// `key=value` of `git -c`.
pub(super) fn setting<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let Some(equals) = arg.text.find('=') else { return key(arg, acts) };
    let name = arg.text.get(..equals).unwrap_or_default();
    let Some(value) = arg.tail(equals + 1) else { return };
    if name.has_hole() {
        return acts.push(Act::Raise(Concern::Unclear, arg.span));
    }
    // `url.ADDRESS.pushInsteadOf`: what begins otherwise begins so.
    let rewrites = name.get(..4).is_some_and(|section| section.eq_ignore_ascii_case("url."));
    if let Some(base) = name.rfind('.').filter(|_| rewrites).and_then(|at| name.get(4..at)) {
        return url(&Arg::known(base.to_owned(), arg.span), acts);
    }
    match Setting::of(name) {
        Setting::Address => url(&value, acts),
        Setting::Output if matches!(&*value.text, "" | "/dev/null") => {}
        Setting::Output => acts.push(Act::Write(value)),
        Setting::Input => acts.push(Act::Read(value)),
        Setting::Pushed => pushed(&value, acts),
        Setting::Mirror if matches!(&*value.text, "false" | "no" | "off" | "0") => {}
        Setting::Mirror => acts.push(Act::Raise(Concern::ChangesShared, arg.span)),
        // Behind `!` stands a command; other words are names of helpers and ways to update.
        Setting::Helper | Setting::Update if value.text.starts_with('!') => {
            acts.extend(value.tail(1).map(|text| Act::Run(Run::Shell(text))));
        }
        Setting::Update => {}
        Setting::Harmless => {}
        Setting::Alias => match value.text.strip_prefix('!') {
            Some(_) => acts.extend(value.tail(1).map(|text| Act::Run(Run::Shell(text)))),
            None => {
                let text = format!("git {}", value.text);
                acts.push(Act::Run(Run::Shell(Arg { text: text.into(), verbatim: None, ..value })));
            }
        },
        Setting::Switch if matches!(&*value.text, "" | "true" | "false" | "/dev/null") => {}
        Setting::Command | Setting::Switch if value.text.is_empty() => {}
        Setting::Command | Setting::Switch => acts.push(Act::Run(Run::Shell(value))),
        // `store --file=x` is git's own helper of that name.
        Setting::Helper if is_helper(&value.text) => {
            let text = format!("git credential-{}", value.text);
            acts.push(Act::Run(Run::Shell(Arg { text: text.into(), verbatim: None, ..value })));
        }
        Setting::Helper if value.text.contains(['!', '/', ' ']) => {
            acts.push(Act::Run(Run::Shell(value)));
        }
        Setting::Helper => {}
        Setting::Folder if matches!(&*value.text, "" | "/dev/null") => {}
        Setting::Folder => acts.push(Act::Raise(Concern::Spawns, arg.span)),
    }
}

/// The key of `git config key value`: what the value will run shows only later.
pub(super) fn key(arg: &Arg<'_>, acts: &mut Vec<Act<'_>>) {
    let concern = match Setting::of(&arg.text) {
        _ if arg.text.has_hole() => Concern::Unclear,
        Setting::Harmless | Setting::Address | Setting::Input | Setting::Pushed => return,
        Setting::Mirror => Concern::ChangesShared,
        Setting::Command
        | Setting::Switch
        | Setting::Helper
        | Setting::Alias
        | Setting::Folder
        | Setting::Update
        | Setting::Output => Concern::Spawns,
    };
    acts.push(Act::Raise(concern, arg.span));
}

/// Where a repository is.
pub(super) fn url<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    if arg.text.starts_with("ext::") {
        // A blank that belongs to a word stands behind `%`.
        let command = arg.text.get(5..).unwrap_or_default();
        let command = command.replace("%%", "%").replace("% ", "\\ ");
        let text = Arg { text: command.into(), verbatim: None, ..arg.clone() };
        acts.push(Act::Run(Run::Shell(text)));
    } else if arg.text.contains("::") {
        acts.push(Act::Raise(Concern::Unclear, arg.span));
    } else if is_option_to_ssh(&arg.text) {
        acts.push(Act::Raise(Concern::Spawns, arg.span));
    } else if general::is_remote(arg) {
        acts.push(Act::Connect(arg.clone()));
    } else {
        general::guess(arg, acts);
    }
}

/// `ssh://-oProxyCommand=…`: ssh takes the host for an option.
fn is_option_to_ssh(text: &str) -> bool {
    let host = text.split_once("://").map_or(text, |(_, rest)| rest);
    host.starts_with('-') || host.split(['/', ':']).next().is_some_and(|host| host.contains("@-"))
}

/// What is pushed: `+ref` replaces it there, `:ref` removes it.
pub(super) fn pushed(arg: &Arg<'_>, acts: &mut Vec<Act<'_>>) {
    if arg.text.starts_with(['+', ':']) && arg.text.len() > 1 {
        acts.push(Act::Raise(Concern::ChangesShared, arg.span));
    }
}

/// A word of `git checkout`: a branch, or paths whose changes it throws away.
pub(super) fn tree(arg: &Arg<'_>, acts: &mut Vec<Act<'_>>) {
    let text = &*arg.text;
    let name = text.rsplit('/').next().unwrap_or(text);
    let is_file = name.rsplit_once('.').is_some_and(|(stem, ending)| {
        (1..=5).contains(&ending.len())
            && ending.bytes().all(|byte| byte.is_ascii_alphabetic())
            && !stem.bytes().any(|byte| byte.is_ascii_digit())
    });
    let is_path = matches!(text, "." | ".." | "*" | ":/")
        || text.starts_with("./")
        || text.starts_with("../")
        || text.ends_with('/')
        || text.contains('*')
        || is_file;
    if is_path {
        acts.push(Act::Raise(Concern::LosesWork, arg.span));
    }
}

/// `store --file=x`: a helper by its name, with words behind it.
fn is_helper(text: &str) -> bool {
    text.split_once(' ').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    })
}

/// What one of git's settings makes git do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Setting {
    Harmless,
    /// Its value is shell text.
    Command,
    /// The same, unless it is a truth value.
    Switch,
    /// The name of a helper, or shell text.
    Helper,
    /// A command of git, or shell text behind `!`.
    Alias,
    /// A folder or file with things that git runs.
    Folder,
    /// Where a repository is.
    Address,
    /// How a submodule is updated, or shell text behind `!`.
    Update,
    /// A file that is written.
    Output,
    /// A file that is read.
    Input,
    /// What is pushed where nothing is named.
    Pushed,
    /// Whether all there becomes what is here.
    Mirror,
}

impl Setting {
    fn of(key: &str) -> Self {
        let key = key.to_ascii_lowercase();
        let (section, rest) = key.split_once('.').unwrap_or((&key, ""));
        let name = rest.rsplit('.').next().unwrap_or(rest);
        match (section, name) {
            ("alias", _) => Self::Alias,
            ("core", "fsmonitor") => Self::Switch,
            ("core", "hookspath" | "worktree" | "attributesfile") => Self::Folder,
            ("include" | "includeif", _) | ("init", "templatedir") | ("protocol", "allow") => {
                Self::Folder
            }
            ("credential", "helper") => Self::Helper,
            ("commit", "template")
            | ("core", "excludesfile")
            | ("blame", "ignorerevsfile")
            | ("mailmap", "file")
            | ("http", "cookiefile" | "sslcert" | "sslkey" | "sslcainfo" | "sslcapath")
            | ("gpg", "allowedsignersfile" | "revocationfile") => Self::Input,
            ("remote", "push") => Self::Pushed,
            ("remote", "mirror") => Self::Mirror,
            ("remote" | "submodule", "url" | "pushurl") | ("http" | "https", "proxy") => {
                Self::Address
            }
            ("submodule", "update") => Self::Update,
            ("trace2", "normaltarget" | "perftarget" | "eventtarget") => Self::Output,
            (
                "core",
                "pager" | "editor" | "sshcommand" | "askpass" | "gitproxy" | "alternaterefscommand",
            )
            | ("sequence", "editor")
            | ("pager", _)
            | ("diff", "external" | "textconv" | "command")
            | ("filter", "clean" | "smudge" | "process")
            | ("merge", "driver")
            | ("mergetool" | "difftool" | "browser" | "man" | "guitool", "cmd" | "path")
            | ("gpg", "program" | "defaultkeycommand")
            | ("uploadpack", "packobjectshook")
            | ("remote", "uploadpack" | "receivepack" | "vcs" | "proxy")
            | ("sendemail", "sendmailcmd" | "tocmd" | "cccmd" | "headercmd" | "smtpserver")
            | ("interactive", "difffilter")
            | ("trailer", "command" | "cmd")
            | ("tar", "command")
            | ("hook", "command")
            | ("imap", "tunnel")
            | ("instaweb", "httpd")
            | ("help", "browser") => Self::Command,
            _ => Self::Harmless,
        }
    }
}
