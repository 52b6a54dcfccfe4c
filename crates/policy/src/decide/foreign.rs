//! Files that a text takes from elsewhere, carries about and runs after.

use super::disk::Source;
use super::walk::{Input, Walk};
use crate::command::{Act, Arg, Certainty};
use crate::jail::{Doubt, How, Last, Standing};
use crate::shell::{Redirection, RedirectionOperator};

/// Programs that leave a file's content as it is.
const LEAVERS: [&str; 8] = ["chgrp", "chmod", "chown", "git", "mkdir", "rm", "tee", "touch"];

/// Programs that take files out of an archive.
const UNPACKERS: [&str; 12] = [
    "7z", "ar", "bsdtar", "bunzip2", "cpio", "gtar", "gunzip", "tar", "unxz", "unzip", "xz", "zstd",
];

/// What a command may copy as it does files.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Stream {
    /// Its standard input.
    Input,
    /// Another one: `3<<< text`, `<(…)`.
    Other,
}

impl Stream {
    /// Returns the stream that an act reads by its name among the devices, if it does.
    fn of(act: &Act<'_>) -> Option<Self> {
        let Act::Read(path) = act else { return None };
        match &*path.text {
            "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" => Some(Self::Input),
            text => {
                let number =
                    ["/dev/fd/", "/proc/self/fd/"].iter().find_map(|at| text.strip_prefix(at));
                number.and(Some(Self::Other))
            }
        }
    }
}

impl Walk<'_> {
    /// Notes what a command takes from elsewhere, and what it makes of its input.
    #[inline(always)]
    pub(super) fn note_taken(&mut self, name: &str, acts: &[Act<'_>], input: &Input) {
        let is_source = is_source(name);
        self.tainted |= is_source;
        // Most texts write nothing, and take nothing.
        let writes = acts.iter().any(|act| matches!(act, Act::Write(_)));
        if writes || self.tainted || !self.disk.is_empty() {
            self.note_taken_from(is_source, name, acts, input);
        }
    }

    #[inline(never)]
    fn note_taken_from(&mut self, is_source: bool, name: &str, acts: &[Act<'_>], input: &Input) {
        let from_outside = carries(name)
            && acts.iter().any(|act| match act {
                Act::Read(path) | Act::Link { target: path, .. } => self.lies_outside(path),
                Act::Write(_)
                | Act::Delete(..)
                | Act::Enter(_)
                | Act::Connect(_)
                | Act::Run(_)
                | Act::Send(_)
                | Act::Mention(_)
                | Act::Raise(..) => false,
            });
        let takes =
            self.tainted && (name == "tee" || is_source) || from_outside || name == "mkfifo";
        let reads = acts.iter().any(|act| matches!(act, Act::Read(_)));
        let copied = acts.iter().find_map(Stream::of).filter(|_| carries(name));
        for act in acts {
            let Act::Write(file) = act else { continue };
            if takes {
                self.take(file, Source::Elsewhere);
            } else if matches!(name, "tee" | "dd" | "sponge") && !reads
                || copied == Some(Stream::Input)
            {
                self.keep(file, input);
            } else if copied == Some(Stream::Other) {
                self.take(file, Source::Running);
            }
        }
        // A link is looked through, and nothing is copied.
        let known = self.tainted || !self.disk.is_empty();
        if name != "ln" && known && !self.disk.is_full() {
            self.carry(name, acts);
        }
    }

    /// A file becomes what comes in.
    fn keep(&mut self, file: &Arg<'_>, input: &Input) {
        for path in self.places(&file.text) {
            match input {
                Input::Text(value, ..) if value.certainty == Certainty::Known => {
                    self.disk.write(path, value.text.clone());
                }
                Input::Text(..) | Input::Pipe => self.disk.take(path, Source::Running),
                Input::File(value, at) => {
                    let (text, verbatim) = (value.text.clone().into(), at.verbatim);
                    let from = Arg { text, certainty: value.certainty, span: at.span, verbatim };
                    if self.lies_outside(&from) {
                        self.disk.take(path, Source::Elsewhere);
                    }
                }
                Input::Inherited => {}
            }
        }
    }

    /// What is known of files holds for their copies, and not for what was made of them.
    fn carry(&mut self, name: &str, acts: &[Act<'_>]) {
        let mut from = Vec::new();
        let mut to = Vec::new();
        for act in acts {
            match act {
                Act::Read(path) | Act::Delete(path, _) => from.extend(self.kept(path)),
                Act::Link { target, .. } => from.extend(self.kept(target)),
                Act::Write(path) => to.extend(self.kept(path)),
                Act::Enter(path) if UNPACKERS.contains(&name) => to.extend(self.kept(path)),
                Act::Enter(_)
                | Act::Connect(_)
                | Act::Send(_)
                | Act::Run(_)
                | Act::Mention(_)
                | Act::Raise(..) => {}
            }
        }
        let seen = from.iter().chain(&to).find_map(|path| self.disk.foreign(path));
        let source = seen.or(self.tainted.then_some(Source::Elsewhere));
        if seen.is_some() {
            // What it prints is made of what it read.
            self.tainted = true;
        }
        if UNPACKERS.contains(&name) {
            let Some(source) = source else { return };
            // `x.gz` becomes `x`; an archive fills the folder.
            let stems: Vec<String> = from
                .iter()
                .chain(&to)
                .filter_map(|path| Some(path.rsplit_once('.')?.0.to_owned()))
                .collect();
            let folders = if to.is_empty() { self.scope.cwds().to_vec() } else { to };
            for path in folders.into_iter().chain(stems) {
                self.disk.take(path, source);
            }
            return;
        }
        if carries(name) {
            for (from, to) in from.iter().flat_map(|from| to.iter().map(move |to| (from, to))) {
                if from != to {
                    self.disk.carry(from, to);
                }
            }
            return;
        }
        for path in to {
            let known = !self.disk.written(&path).is_empty();
            if !LEAVERS.contains(&name) && (known || seen.is_some()) {
                self.disk.take(path, seen.unwrap_or(Source::Running));
            }
        }
    }

    /// Notes where the output of a tainted pipeline goes.
    pub(super) fn note_taken_by<'t>(&mut self, text: &'t str, redirections: &[Redirection<'t>]) {
        if !self.tainted {
            return;
        }
        for redirection in redirections.iter().filter(|redirection| writes(redirection)) {
            let target = self.value(text, &redirection.target);
            for path in self.places(&target.text) {
                self.disk.take(path, Source::Elsewhere);
            }
        }
    }

    /// Asks when a file that the text took from elsewhere is run.
    pub(super) fn run_taken(&mut self, file: &Arg<'_>) {
        if self.disk.is_empty() {
            return;
        }
        // A pattern may name any file below the folder that it begins with.
        let wild = file.text.find(['*', '?', '[']).filter(|_| file.certainty == Certainty::Pattern);
        let source = match wild {
            Some(wild) => {
                let known = file.text.get(..wild).and_then(|known| known.rsplit_once('/'));
                let folder = known.map_or(".", |(folder, _)| folder);
                let places = self.places(if folder.is_empty() { "/" } else { folder });
                places.iter().any(|path| self.disk.fills(path)).then_some(Source::Running)
            }
            None => self.places(&file.text).iter().find_map(|path| self.disk.foreign(path)),
        };
        let message = match source {
            Some(Source::Elsewhere) => "runs a file that was just taken from elsewhere",
            Some(Source::Unpacked) => "runs a file that was just cloned or unpacked",
            Some(Source::Running) => {
                "runs a file that was just made, and only running tells of what"
            }
            None => return,
        };
        self.ask("foreign-code", message, file.span);
    }

    /// Notes a file whose content nobody has seen.
    pub(super) fn take(&mut self, file: &Arg<'_>, source: Source) {
        for path in self.places(&file.text) {
            self.disk.take(path, source);
        }
    }

    /// Returns where a name itself may lie from here, and not what a link there leads to.
    pub(super) fn kept(&self, path: &Arg<'_>) -> Vec<String> {
        if path.text.contains(crate::command::HOLE) {
            return Vec::new();
        }
        let how = How { last: Last::Keep, ..How::default() };
        let place =
            |cwd: &String| self.judge.ground().place_with(&path.text, cwd, &self.sight(), how).path;
        self.scope.cwds().iter().map(place).collect()
    }

    fn lies_outside(&self, path: &Arg<'_>) -> bool {
        self.scope.cwds().iter().any(|cwd| {
            let place = self.judge.ground().place(&path.text, cwd, &self.sight());
            // `cp $(which x) y`: whatever is copied, it may be any program.
            let anything = Standing::Unknowable(Doubt::Hole);
            matches!(place.standing, Standing::Outside(_)) || place.standing == anything
        })
    }
}

/// Whether a redirection puts output into a file.
pub(super) fn writes(redirection: &Redirection<'_>) -> bool {
    let target = redirection.target.settled();
    match redirection.operator {
        RedirectionOperator::Write
        | RedirectionOperator::Clobber
        | RedirectionOperator::Append
        | RedirectionOperator::ReadWrite
        | RedirectionOperator::WriteBoth
        | RedirectionOperator::AppendBoth => target.is_none_or(|file| file != "/dev/null"),
        RedirectionOperator::DuplicateOutput => target.is_none_or(|file| {
            let number = file.trim_end_matches('-');
            file != "/dev/null" && !number.bytes().all(|byte| byte.is_ascii_digit())
        }),
        RedirectionOperator::Read
        | RedirectionOperator::DuplicateInput
        | RedirectionOperator::Heredoc
        | RedirectionOperator::HereString => false,
    }
}

/// Programs whose output nobody has seen: it comes from the network, or is decoded.
fn is_source(name: &str) -> bool {
    matches!(
        name,
        "aria2c"
            | "axel"
            | "base32"
            | "base64"
            | "basenc"
            | "curl"
            | "curlie"
            | "gpg"
            | "gunzip"
            | "http"
            | "httpie"
            | "https"
            | "nc"
            | "ncat"
            | "netcat"
            | "openssl"
            | "rsync"
            | "scp"
            | "sftp"
            | "socat"
            | "ssh"
            | "telnet"
            | "uudecode"
            | "wget"
            | "wget2"
            | "xh"
            | "xxd"
            | "xz"
            | "zcat"
    )
}

/// Programs that put a file elsewhere under another name.
fn carries(name: &str) -> bool {
    matches!(name, "cat" | "cp" | "dd" | "install" | "ln" | "mv" | "rsync")
}
