//! Files that leave by another way than an option of the tool that sends them.

use super::strict::versionless;
use super::walk::Walk;
use crate::command::tool::is_own_machine;
use crate::command::{Act, Arg, Concern};
use crate::jail::{Last, Standing};
use crate::shell::{Command, CommandKind, List, Piece, RedirectionOperator, Word};

/// Programs that print what the files hold that they are given.
const READERS: [&str; 17] = [
    "base32", "base64", "cat", "gpg", "gzip", "head", "hexdump", "nl", "od", "openssl", "rev",
    "strings", "tac", "tail", "tar", "uuencode", "xxd",
];
/// The same, with a first operand that says what of it.
const FILTERS: [&str; 6] = ["awk", "cut", "grep", "jq", "sed", "tr"];
/// Programs that ask other machines, and are given no address.
const ASKERS: [&str; 7] = ["dig", "drill", "host", "http", "nslookup", "ping", "xh"];

/// Returns whether a substitution in a word prints what a file holds.
pub(super) fn carries(word: &Word<'_>) -> bool {
    let carries = |piece: &Piece<'_>| matches!(piece, Piece::Command(list, _) if prints(list));
    word.pieces.iter().any(carries)
}

impl Walk<'_> {
    /// Judges what the words of a command carry to another machine.
    pub(super) fn carries(&mut self, name: &str, args: &[Arg<'_>], acts: &[Act<'_>]) {
        let connects = || acts.iter().filter_map(Act::host).any(|host| !is_own_machine(host));
        let carried = match self.carried.is_empty() {
            true => None, // nearly always
            false => args.iter().find(|arg| self.carried.contains(&arg.span)),
        };
        if let Some(arg) = carried.filter(|_| connects() || ASKERS.contains(&name)) {
            self.raise(Concern::Exfiltrates, arg.span);
        }
        match versionless(name) {
            // Programs that send the files of items such as `@file`.
            "curlie" | "http" | "httpie" | "https" | "xh" => {
                let own = |arg: &Arg<'_>| is_own_machine(&arg.text) || arg.text.starts_with(':');
                let sent = |arg: &&Arg<'_>| {
                    arg.text.len() > 1 && arg.text.starts_with('@') || arg.text.contains("=@")
                };
                let item = args.iter().find(sent).map(|arg| arg.span);
                if let Some(span) = item.filter(|_| !args.iter().any(own)) {
                    self.raise(Concern::Exfiltrates, span);
                }
            }
            "python" if args.iter().any(|arg| arg.text == "http.server") => self.serves(args),
            "http-server" | "serve" => self.serves(args),
            _ => {}
        }
    }

    /// A server of files shows a folder to whoever asks: of the project, and of nothing else.
    fn serves(&mut self, args: &[Arg<'_>]) {
        let outside = args.iter().find(|arg| {
            let equals = arg.text.find('=').filter(|_| arg.text.starts_with('-'));
            let value = equals.and_then(|at| arg.tail(at + 1)).unwrap_or_else(|| (*arg).clone());
            let is_path = value.text.starts_with(['/', '~', '.']);
            is_path
                && self
                    .every_place(&value, Last::Follow)
                    .iter()
                    .any(|place| matches!(place.standing, Standing::Outside(_)))
        });
        if let Some(span) = outside.map(|arg| arg.span) {
            self.raise(Concern::Exfiltrates, span);
        }
    }
}

fn prints(list: &List<'_>) -> bool {
    list.items.iter().any(|item| {
        let rest = item.rest.iter().map(|(_, pipeline)| pipeline);
        let mut pipelines = std::iter::once(&item.first).chain(rest);
        pipelines.any(|pipeline| pipeline.stages.iter().any(prints_file))
    })
}

fn prints_file(command: &Command<'_>) -> bool {
    let CommandKind::Simple(simple) = &command.kind else { return false };
    let mut files = command.redirections.iter();
    let redirected = files.any(|redirection| redirection.operator == RedirectionOperator::Read);
    let Some((program, args)) = simple.words.split_first() else { return redirected };
    let Some(name) = program.settled().and_then(|path| path.rsplit('/').next()) else {
        return false;
    };
    let is_operand = |word: &&Word<'_>| {
        word.settled().is_none_or(|text| {
            !text.starts_with('-') && !text.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    let operands = args.iter().filter(is_operand).count();
    let has = |option: &str| args.iter().any(|word| word.settled() == Some(option));
    if READERS.contains(&name) {
        return operands > 0 || redirected;
    }
    FILTERS.contains(&name) && !has("-n") && !has("--null-input") && (operands > 1 || redirected)
}
