//! Judging what a command does with a path.

use std::borrow::Cow;

use super::Style;
use super::host::is_connection;
use super::printed::is_made;
use super::verdict::{Answer, Axis, Reason};
use super::walk::Walk;
use crate::command::{Arg, Certainty, Extent, HOLE, Holed as _};
use crate::jail::{self, How, Last, Need, Place, Spelling, Standing, of_repository};

/// What a command does with a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Deed {
    Read,
    Write,
    Delete(Extent),
}

impl Walk<'_> {
    /// Judges a path under every working folder that is possible here; the strictest holds.
    pub(super) fn path(&mut self, path: &Arg<'_>, deed: Deed) {
        let mut worst: Option<Reason> = None;
        for cwd in self.scope.cwds() {
            let reason = self.path_from(path, deed, cwd);
            let Some(reason) = reason.or_else(|| self.otherwise(path, deed, cwd)) else { continue };
            if worst.as_ref().is_none_or(|known| known.answer < reason.answer) {
                worst = Some(reason);
            }
        }
        if let Some(reason) = worst {
            self.report(reason);
        }
    }

    pub(super) fn path_from(&self, path: &Arg<'_>, deed: Deed, cwd: &str) -> Option<Reason> {
        // No program opens an empty name.
        if path.text.is_empty() {
            return None;
        }
        let last = if matches!(deed, Deed::Delete(_)) { Last::Keep } else { Last::Follow };
        self.at(path, cwd, last, |place| self.reason_at(place, path, deed, cwd))
    }

    fn reason_at(
        &self,
        place: &Place<'_>,
        path: &Arg<'_>,
        deed: Deed,
        cwd: &str,
    ) -> Option<Reason> {
        let jailed = self.judge.style == Style::Runner && place.standing != Standing::Device;
        let need = match deed {
            Deed::Read => Need::Read,
            Deed::Write => Need::Write,
            Deed::Delete(_) => Need::Delete,
        };
        let answer = match if jailed { place.inside() } else { jail::Answer::Yes } {
            jail::Answer::Yes => place.may(need),
            refused @ (jail::Answer::No(_) | jail::Answer::Unclear(_) | jail::Answer::Shared) => {
                refused
            }
        };
        let shown = || self.shown(path);
        let reason = |answer, code, message, origin, hint: Option<&str>| Reason {
            answer,
            code,
            axis: Axis::Path,
            message,
            span: path.span,
            origin,
            hint: hint.map(str::to_owned),
        };
        match answer {
            // `lnk*/` deletes what the links lead to.
            jail::Answer::Yes
                if deed == Deed::Delete(Extent::Tree)
                    && path.certainty == Certainty::Pattern
                    && path.text.ends_with('/') =>
            {
                let message =
                    format!("`{}` may be links, and what they lead to is deleted", shown());
                Some(reason(self.asking(), "pattern-may-climb", message, None, None))
            }
            jail::Answer::Yes if self.may_be_other(path, deed) => {
                let message = format!("`{}` may name what it does not say", shown());
                Some(reason(self.asking(), "pattern-may-climb", message, None, None))
            }
            jail::Answer::Yes if matches!(deed, Deed::Delete(_)) && of_repository(&place.path) => {
                let message = format!("`{}` is a part of the repository itself", shown());
                let hint = Some("use git's own commands");
                Some(reason(self.asking(), "loses-work", message, None, hint))
            }
            jail::Answer::Yes
                if matches!(deed, Deed::Delete(Extent::Forced | Extent::Tree))
                    && path.certainty == Certainty::Pattern
                    && !self.is_part(path)
                    && self.empties(&place.path) =>
            {
                let message = format!("`{}` is all that lies in the project", shown());
                let hint = Some("name what is to go");
                Some(reason(self.asking(), "bulk-delete", message, None, hint))
            }
            jail::Answer::Yes
                if self.feeding > 0 && matches!(deed, Deed::Delete(_)) && !self.is_part(path) =>
            {
                let message = "deletes or moves files that only running finds".to_owned();
                Some(reason(self.asking(), "bulk-delete", message, None, None))
            }
            jail::Answer::Yes => {
                // Others use the same temporary folder by name.
                let bold = matches!(deed, Deed::Delete(Extent::Forced | Extent::Tree));
                (bold && place.standing == Standing::Temp && !is_made(&place.path)).then(|| {
                    let message =
                        format!("`{}` lies in a temporary folder, and is removed", shown());
                    reason(self.asking(), "deletes-temp", message, None, None)
                })
            }
            jail::Answer::No(refused) if is_connection(&path.text) => {
                let message = format!("`{}` is a connection to another machine", shown());
                let hint = Some("use a program for that, whose host network.allow can list");
                Some(reason(Answer::Deny, refused.why.code(), message, None, hint))
            }
            jail::Answer::No(refused) if self.only_perhaps(path, refused.why, cwd) => {
                let message = format!("`{}` may name what {}", shown(), refused.why);
                let origin = refused.origin.cloned();
                Some(reason(self.asking(), refused.why.code(), message, origin, refused.hint()))
            }
            jail::Answer::No(refused) => {
                let message = ["`", &shown(), "` ", refused.why.text()].concat();
                let origin = refused.origin.cloned();
                Some(reason(Answer::Deny, refused.why.code(), message, origin, refused.hint()))
            }
            // What cannot be told may be read: hidden paths do not exist behind the walls.
            jail::Answer::Unclear(doubt)
                if deed == Deed::Read
                    && doubt != jail::Doubt::Secret
                    && self.judge.style == Style::Confined =>
            {
                None
            }
            jail::Answer::Unclear(doubt) => {
                let message = format!("`{}` {doubt}", shown());
                Some(reason(self.asking(), doubt.code(), message, None, None))
            }
            jail::Answer::Shared => {
                let message = format!("`{}` has other names, perhaps outside the project", shown());
                Some(reason(self.asking(), "shared-file", message, None, None))
            }
        }
    }

    /// Whether a pattern is refused only for names that it may match, and not for the folder that
    /// all of them lie in.
    fn only_perhaps(&self, path: &Arg<'_>, why: jail::Refusal, cwd: &str) -> bool {
        let depends = matches!(
            why,
            jail::Refusal::Hidden
                | jail::Refusal::Protected
                | jail::Refusal::Whole
                | jail::Refusal::HoldsProtected
        );
        if path.certainty != Certainty::Pattern || !depends {
            return false;
        }
        let Some(wild) = path.text.find(['*', '?', '[']) else { return false };
        let known = path.text.get(..wild).and_then(|start| start.rsplit_once('/'));
        let folder = match known {
            Some(("", _)) => "/",
            Some((folder, _)) => folder,
            None => ".",
        };
        let place = self.judge.ground().place(folder, cwd, &self.sight());
        place.hidden().is_none() && place.protected().is_none()
    }

    /// Writes a path for a message; what is not known stands there as it is written.
    fn shown<'p>(&self, path: &'p Arg<'_>) -> Cow<'p, str> {
        if !path.text.has_hole() {
            return Cow::Borrowed(&path.text);
        }
        match self.as_written(path.span) {
            Some(text) => Cow::Owned(text.trim_matches('"').to_owned()),
            None => Cow::Owned(path.text.replace(HOLE, "…")),
        }
    }

    /// Whether a pattern may match a link that the text itself made, or names that begin with a dot
    /// where the text says that it does.
    fn may_be_other(&self, path: &Arg<'_>, deed: Deed) -> bool {
        if deed != Deed::Read && self.disk.is_full() {
            return true;
        }
        if path.certainty != Certainty::Pattern || deed == Deed::Read {
            return false;
        }
        let Some(wild) = path.text.find(['*', '?', '[']) else { return false };
        let follows = path.text.get(wild..).is_some_and(|rest| rest.contains('/'));
        self.habits.dots || !self.disk.links().is_empty() && (follows || deed == Deed::Write)
    }
}

/// How a word is meant as a path.
pub(super) fn how(arg: &Arg<'_>, last: Last) -> How {
    let spelling = match arg.certainty {
        Certainty::Known => Spelling::Plain,
        Certainty::Pattern | Certainty::Partial | Certainty::Many => Spelling::Pattern,
    };
    How { last, spelling }
}
