//! What a file holds, on its way to another command: printed into a word, kept in a variable, fed
//! through a pipe.

use std::rc::Rc;

use super::roster::Room;
use super::told;
use super::walk::{Input, Walk};
use crate::command::{Arg, Concern};
use crate::shell::{
    Command, CommandKind, List, Operation, Piece, RedirectionOperator, Simple, Word,
};
use crate::text::{Span, byte};

/// The name under which `$1` and those behind it are noted.
const PARAMETERS: &str = "@";

/// How a word holds what a file holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Carriage {
    /// A substitution in it prints it.
    Printed,
    /// A variable in it was given it before.
    Kept,
}

/// What flows through a pipe, or is fed to a command.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Contents {
    Any,
    /// What a file holds.
    OfFile,
}

impl Walk<'_> {
    /// Returns the places of words that hold what a file holds.
    pub(super) fn carried_by(&self, words: &[Word<'_>]) -> Vec<(Span, Carriage)> {
        let carried = |word: &Word<'_>| Some((word.span, self.carriage(word)?));
        words.iter().filter_map(carried).collect()
    }

    /// Judges what runs in `>(…)`: its input is what is written there.
    pub(super) fn pours_into<'t>(&mut self, text: &'t str, word: &Word<'t>) {
        for piece in &word.pieces {
            let Piece::Process(list) = piece else { continue };
            let written = text.get(word.span.start()..word.span.end()).unwrap_or_default();
            match written.matches(">(").count() {
                0 => {}
                1 => self.aside(|walk| walk.list(text, list, &Input::Pipe)),
                // Each one inside another would be looked at twice as often.
                _ => self.raise(Concern::Unclear, word.span),
            }
        }
    }

    /// Returns how a word holds what a file holds, if it does.
    pub(super) fn carriage(&self, word: &Word<'_>) -> Option<Carriage> {
        let printed = |piece: &Piece<'_>| matches!(piece, Piece::Command(list, _) if prints(list));
        if word.pieces.iter().any(printed) {
            return Some(Carriage::Printed);
        }
        let keeps =
            !self.scope.kept.is_empty() && word.pieces.iter().any(|piece| self.keeps(piece));
        keeps.then_some(Carriage::Kept)
    }

    /// Notes that a variable holds what a file holds, or that it does not.
    pub(super) fn note_kept(&mut self, name: &str, carriage: Option<Carriage>) {
        if carriage.is_none() && self.scope.kept.is_empty() {
            return; // nearly always
        }
        let scope = Rc::make_mut(&mut self.scope);
        match carriage {
            None => scope.kept.remove(name),
            // With so many, one more or less makes no difference: the others are noted.
            Some(_) => match scope.kept.add(name) {
                Room::Enough | Room::None => {}
            },
        }
    }

    /// Notes whether `$1` and those behind it hold what a file holds, as the words at hand do.
    pub(super) fn keep_parameters(&mut self) {
        let carriage = self.carried.first().map(|(_, carriage)| *carriage);
        self.note_kept(PARAMETERS, carriage);
    }

    /// Returns what a command feeds to others.
    pub(super) fn pours(&self, name: &str, args: &[Arg<'_>], input: &Input) -> Contents {
        let listed = |arg: &Arg<'_>| arg.text.starts_with("-a") || arg.text.starts_with("--arg-f");
        let poured = match input {
            Input::File(..) => Contents::OfFile,
            Input::Pipe => self.spilled,
            Input::Text(..) | Input::Inherited => Contents::Any,
        };
        match name.ends_with("xargs") {
            true if args.iter().any(listed) => Contents::OfFile,
            true => poured,
            false => Contents::Any,
        }
    }

    fn keeps(&self, piece: &Piece<'_>) -> bool {
        if let Piece::Parameter(parameter) = piece {
            let name = &*parameter.name;
            let own = matches!(name, "@" | "*") || name.bytes().all(|byte| byte.is_ascii_digit());
            let name = if own { PARAMETERS } else { name };
            return self.scope.kept.holds(name) && parameter.operation != Operation::Length;
        }
        // `$(echo "$x" | base64)`
        let Piece::Command(list, _) = piece else { return false };
        let says = |simple: &Simple<'_>| {
            let mut pieces = simple.words.iter().flat_map(|word| &word.pieces);
            pieces.any(|piece| self.keeps(piece))
        };
        stages(list).any(|stage| matches!(&stage.kind, CommandKind::Simple(simple) if says(simple)))
    }
}

/// Whether a command prints what a file holds.
pub(super) fn prints_file(command: &Command<'_>) -> bool {
    if let CommandKind::Group(list) | CommandKind::Subshell(list) = &command.kind {
        return prints(list);
    }
    let CommandKind::Simple(simple) = &command.kind else { return false };
    let mut files = command.redirections.iter();
    let redirected = files.any(|redirection| redirection.operator == RedirectionOperator::Read);
    let Some((program, args)) = simple.words.split_first() else { return redirected };
    let Some(path) = program.settled() else { return false };
    let name = byte::behind_last(path, b'/');
    let (reads, filters) = (is_reader(name), is_filter(name));
    if !reads && !filters {
        return told::tells(name, args, redirected); // nearly never
    }
    let is_operand = |word: &&Word<'_>| {
        word.settled().is_none_or(|text| {
            // A number is an option's value, but for a program: `awk 1 file`.
            let is_number = || text.bytes().all(|byte| byte.is_ascii_digit());
            !text.starts_with('-') && (name.ends_with("awk") || !is_number())
        })
    };
    let operands = args.iter().filter(is_operand).count();
    let has = |option: &str| args.iter().any(|word| word.settled() == Some(option));
    if reads {
        return operands > 0 || redirected;
    }
    let takes_nothing = name == "jq" && (has("-n") || has("--null-input"));
    !takes_nothing && (operands > 1 || redirected)
}

/// Tells programs that print what the files hold that they are given.
pub(super) fn is_reader(name: &str) -> bool {
    matches!(
        name,
        "base32"
            | "base64"
            | "basenc"
            | "bat"
            | "batcat"
            | "brotli"
            | "bzcat"
            | "bzip2"
            | "cat"
            | "column"
            | "comm"
            | "cpio"
            | "dd"
            | "diff"
            | "expand"
            | "fmt"
            | "fold"
            | "gpg"
            | "gzip"
            | "hd"
            | "head"
            | "hexdump"
            | "iconv"
            | "join"
            | "less"
            | "lz4"
            | "more"
            | "nl"
            | "od"
            | "openssl"
            | "paste"
            | "pr"
            | "rev"
            | "shuf"
            | "sort"
            | "strings"
            | "tac"
            | "tail"
            | "tar"
            | "uniq"
            | "uuencode"
            | "xxd"
            | "xz"
            | "xzcat"
            | "zcat"
            | "zip"
            | "zstd"
    )
}

/// Tells the same with a first operand that says what of it.
pub(super) fn is_filter(name: &str) -> bool {
    matches!(
        name,
        "ag" | "awk"
            | "cut"
            | "egrep"
            | "fgrep"
            | "gawk"
            | "grep"
            | "gsed"
            | "jq"
            | "mawk"
            | "rg"
            | "sed"
            | "tr"
            | "yq"
            | "zgrep"
    )
}

fn prints(list: &List<'_>) -> bool {
    stages(list).any(prints_file)
}

fn stages<'l, 't>(list: &'l List<'t>) -> impl Iterator<Item = &'l Command<'t>> {
    list.items.iter().flat_map(|item| {
        let rest = item.rest.iter().map(|(_, pipeline)| pipeline);
        std::iter::once(&item.first).chain(rest).flat_map(|pipeline| &pipeline.stages)
    })
}
