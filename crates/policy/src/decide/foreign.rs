//! Files that a text takes from elsewhere and runs after.

use super::walk::{Input, Walk};
use crate::command::{Act, Arg, Certainty};
use crate::jail::Standing;
use crate::shell::{Redirection, RedirectionOperator};

/// Programs whose output nobody has seen: it comes from the network, or is decoded.
const SOURCES: [&str; 24] = [
    "aria2c", "axel", "base32", "base64", "basenc", "curl", "gpg", "gunzip", "http", "nc", "ncat",
    "netcat", "openssl", "rsync", "scp", "sftp", "socat", "ssh", "telnet", "uudecode", "wget",
    "xxd", "xz", "zcat",
];

/// Programs that put a file elsewhere under another name.
const CARRIERS: [&str; 6] = ["cat", "cp", "dd", "install", "ln", "mv"];

impl Walk<'_> {
    /// Notes what a command takes from elsewhere, and what it makes of its input.
    pub(super) fn note_taken(&mut self, name: &str, acts: &[Act<'_>], input: &Input) {
        if SOURCES.binary_search(&name).is_ok() {
            self.tainted = true;
        }
        let from_outside = CARRIERS.contains(&name)
            && acts.iter().any(|act| match act {
                Act::Read(path) | Act::Link { target: path, .. } => self.lies_outside(path),
                Act::Write(_)
                | Act::Delete(..)
                | Act::Enter(_)
                | Act::Connect(_)
                | Act::Run(_)
                | Act::Raise(..) => false,
            });
        let takes = self.tainted && (name == "tee" || SOURCES.binary_search(&name).is_ok())
            || from_outside
            || name == "mkfifo";
        for act in acts {
            let Act::Write(file) = act else { continue };
            if takes {
                self.take(&file.text);
            } else if let ("tee", Input::Text(value, _)) = (name, input)
                && value.certainty == Certainty::Known
            {
                for path in self.places(&file.text) {
                    self.disk.write(path, value.text.clone());
                }
            }
        }
    }

    /// Notes where the output of a tainted pipeline goes.
    pub(super) fn note_taken_by<'t>(&mut self, text: &'t str, redirections: &[Redirection<'t>]) {
        if !self.tainted {
            return;
        }
        for redirection in redirections {
            if matches!(
                redirection.operator,
                RedirectionOperator::Write
                    | RedirectionOperator::Clobber
                    | RedirectionOperator::Append
                    | RedirectionOperator::WriteBoth
                    | RedirectionOperator::AppendBoth
            ) {
                let target = self.value(text, &redirection.target);
                self.take(&target.text);
            }
        }
    }

    /// Asks when a file that the text took from elsewhere is run.
    pub(super) fn run_taken(&mut self, file: &Arg<'_>) {
        let taken = self.places(&file.text).iter().any(|path| self.disk.is_foreign(path));
        if taken {
            self.ask("foreign-code", "runs a file that was just taken from elsewhere", file.span);
        }
    }

    fn take(&mut self, path: &str) {
        for path in self.places(path) {
            self.disk.take(path);
        }
    }

    fn lies_outside(&self, path: &Arg<'_>) -> bool {
        self.scope.cwds().iter().any(|cwd| {
            let place = self.judge.ground().place(&path.text, cwd, &self.sight());
            matches!(place.standing, Standing::Outside(_))
        })
    }
}
