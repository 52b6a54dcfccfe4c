//! Reading where the working folder is no folder of the project, or not known.

use super::Style;
use super::path::Deed;
use super::scope::Value;
use super::verdict::Reason;
use super::walk::Walk;
use crate::command::cover::uncovered;
use crate::command::{Act, Arg, Certainty, HOLE, Holed as _};
use crate::text::{Span, byte};

/// Folders in which a name without a slash is that of a secret.
const SECRET_FOLDERS: [&str; 3] = ["/", "/etc", "~"];

impl Walk<'_> {
    /// Judges words of a command in a folder outside of the project: what its row takes for text
    /// may be a name there (`cd /etc; tool shadow`).
    pub(super) fn strays(&mut self, args: &[Arg<'_>], acts: &[Act<'_>]) {
        let root = self.judge.root();
        let inside = |cwd: &String| {
            let rest = cwd.strip_prefix(root);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if self.judge.style == Style::Runner || self.scope.cwds().iter().all(inside) {
            return; // nearly always
        }
        let is_read = |arg: &Arg<'_>| {
            acts.iter().any(|act| matches!(act, Act::Read(p) if p.span == arg.span))
        };
        let mut found = Vec::new();
        for arg in args.iter().filter(|arg| !is_read(arg)) {
            let equals = arg.text.find('=').filter(|_| arg.text.starts_with('-'));
            let value = equals.and_then(|at| arg.tail(at + 1)).unwrap_or_else(|| arg.clone());
            if value.text.starts_with(['-', '/', '~']) || value.text.contains(char::is_whitespace) {
                continue;
            }
            let outside = self.scope.cwds().iter().filter(|cwd| !inside(cwd));
            found.extend(outside.filter_map(|cwd| {
                self.path_from(&value, Deed::Read, cwd).or_else(|| self.adrift(&value, cwd))
            }));
        }
        for reason in found {
            let answer = reason.answer.min(self.asking());
            self.report(Reason { answer, ..reason });
        }
    }

    /// Asks about a value that is the name of something hidden: by whatever way it is used later, it
    /// is there to be read.
    pub(super) fn names_secret(&mut self, value: &Value, span: Span) {
        if value.certainty != Certainty::Known || self.judge.style == Style::Runner {
            return;
        }
        self.covers_secret(value, span);
        if value.text.starts_with(['/', '~']) && !value.text.has_hole() {
            self.is_secret(&value.text, span);
        }
    }

    /// Asks about a text that is such a name from the folder at hand: `../.netrc`.
    pub(super) fn names_secret_near(&mut self, text: &str, span: Span) {
        if !text.starts_with("..") || self.judge.style == Style::Runner {
            return; // nearly always
        }
        let path = Arg::known(text, span);
        let near = |cwd: &String| self.path_from(&path, Deed::Read, cwd);
        let found: Vec<Reason> = self.scope.cwds().iter().filter_map(near).collect();
        for reason in found {
            let answer = reason.answer.min(self.asking());
            self.report(Reason { answer, ..reason });
        }
    }

    /// Asks about a pattern that fits the name of something hidden, if it tells how that begins.
    pub(super) fn fits_secret(&mut self, pattern: &Arg<'_>) {
        let last = byte::behind_last(&pattern.text, b'/');
        if pattern.certainty != Certainty::Pattern
            || self.judge.style == Style::Runner
            || !pattern.text.starts_with('/')
            || last.trim_start_matches('.').starts_with(['*', '?', '['])
        {
            return; // nearly always
        }
        if let Some(reason) = self.path_from(pattern, Deed::Read, "/") {
            let answer = reason.answer.min(self.asking());
            self.report(Reason { answer, ..reason });
        }
    }

    /// Asks about a text that is such a name once it is turned back.
    pub(super) fn covers_secret(&mut self, value: &Value, span: Span) {
        if self.judge.style == Style::Confined {
            uncovered(&value.text).iter().for_each(|path| self.is_secret(path, span));
        }
    }

    fn is_secret(&mut self, path: &str, span: Span) {
        let path = Arg::known(path, span);
        if let Some(reason) = self.path_from(&path, Deed::Read, "/") {
            let answer = reason.answer.min(self.asking());
            self.report(Reason { answer, ..reason });
        }
    }

    /// Returns why a path with a part that is not known is refused: what is known of that name fits
    /// something hidden (`/etc/shad${x}ow`).
    fn torn(&self, path: &Arg<'_>, cwd: &str) -> Option<Reason> {
        if !path.text.has_hole() {
            return None; // nearly always
        }
        let is_torn = |name: &str| name.has_hole() && !name.trim_matches(HOLE).is_empty();
        if !path.text.starts_with(['/', '~']) || !path.text.split('/').any(is_torn) {
            return None;
        }
        let text = path.text.replace(HOLE, "*").into();
        let pattern = Arg { text, certainty: Certainty::Pattern, ..path.clone() };
        let reason = self.path_from(&pattern, Deed::Read, cwd)?;
        Some(Reason { answer: reason.answer.min(self.asking()), ..reason })
    }

    /// Returns why a path is refused for what is not said: links that a pattern matches, and
    /// folders that may be the working folder.
    pub(super) fn otherwise(&self, path: &Arg<'_>, deed: Deed, cwd: &str) -> Option<Reason> {
        let read = deed == Deed::Read && self.judge.style == Style::Confined;
        let adrift =
            || read.then(|| self.adrift(path, cwd).or_else(|| self.torn(path, cwd))).flatten();
        let adrift = || adrift().or_else(|| read.then(|| self.guessed(path, cwd)).flatten());
        self.matched(path, deed, cwd).or_else(adrift)
    }

    /// Returns why a name is refused where nobody knows the working folder: in some folders it is
    /// that of a secret.
    fn adrift(&self, path: &Arg<'_>, cwd: &str) -> Option<Reason> {
        if !cwd.has_hole() || path.text.has_hole() || path.text.starts_with(['/', '~']) {
            return None;
        }
        let home = self.judge.home().unwrap_or("/");
        let folders =
            SECRET_FOLDERS.iter().map(|folder| if *folder == "~" { home } else { folder });
        let mut refused = folders.filter_map(|cwd| self.path_from(path, Deed::Read, cwd));
        refused.next().map(|reason| Reason { answer: reason.answer.min(self.asking()), ..reason })
    }
}
