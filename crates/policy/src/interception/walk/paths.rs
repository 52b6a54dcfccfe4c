//! The paths of a call, in all their readings and from all folders in which it may work.

use std::borrow::Cow;

use super::super::What;
use super::super::parameter::Role;
use super::super::path::{Count, Flaw, readings};
use super::super::tool::{self, Sort};
use super::{Aim, Walk, about, is_outside};
use crate::decide::{Answer, Reason};
use crate::jail::{self, How, Last, Need, Place, Refusal, Spelling, Standing, is_kept_by_git};

/// A path that is refused.
enum Refused {
    /// In any mode.
    Whatever(Reason),
    /// In strict mode: no program could use it.
    Unusable(Reason),
}

impl Walk<'_> {
    pub(super) fn path(
        &mut self,
        text: &str,
        role: Role,
        count: Count,
        pointer: &dyn Fn() -> String,
    ) {
        self.judged += 1;
        if self.effort.is_spent() {
            return;
        }
        let outer = self.found.take();
        let (mut paths, mut flaw) = readings(text, count, self.windows);
        if self.aim == Aim::Read && text.contains('{') && !spell_out(&mut paths) {
            flaw = Some(Flaw::Excess);
        }
        self.effort.spend(4 * paths.len() + text.len() / 16);
        let (whatever, unusable) = self.worst(&paths, role);
        if let Some((reason, path)) = whatever {
            let path = if is_outside(reason.code) { Some(shown(text, path)) } else { None };
            self.refuse(reason, pointer(), text, path);
        }
        // Whatever denies is enough; a question is not, if there is more to be said.
        let flaw = flaw.filter(|_| self.found != Some(Answer::Deny));
        let about_flaw = |flaw: Flaw| about(flaw.code(), text, flaw.message());
        match flaw {
            // Reading elsewhere is no matter of the project.
            Some(Flaw::Foreign | Flaw::Variable) if self.aim == Aim::Read => {}
            Some(flaw @ (Flaw::Foreign | Flaw::Variable | Flaw::Excess)) => {
                self.refuse(about_flaw(flaw), pointer(), text, Some(text.to_owned()));
            }
            Some(flaw @ (Flaw::Alias | Flaw::Invisible)) => {
                self.refuse(about_flaw(flaw), pointer(), text, None);
            }
            Some(flaw @ (Flaw::Blank | Flaw::Nul)) => {
                self.doubt(about_flaw(flaw), pointer(), text);
            }
            None => {}
        }
        if let Some(reason) = unusable.filter(|_| flaw.is_none())
            && self.found != Some(Answer::Deny)
        {
            self.doubt(reason, pointer(), text);
        }
        if self.seen.is_some() {
            self.note(What::Path, &pointer(), text);
        }
        self.found = self.found.max(outer);
    }

    /// Returns what is worst about all readings of a path in all folders: with its reading what any
    /// mode refuses, and what only strict mode does.
    fn worst<'p>(
        &self,
        paths: &'p [Cow<'_, str>],
        role: Role,
    ) -> (Option<(Reason, &'p str)>, Option<Reason>) {
        let mut whatever: Option<(Reason, &str)> = None;
        let mut unusable = None;
        for path in paths {
            let is_fixed = path.starts_with(['/', '~']);
            let others = if is_fixed { &[] } else { &*self.folders };
            for cwd in [self.cwd].into_iter().chain(others.iter().map(|cwd| &**cwd)) {
                if !self.effort.spend(1 + path.len() / 64) {
                    return (whatever, unusable);
                }
                match self.refused(path, role, cwd) {
                    Some(Refused::Whatever(reason)) if reason.answer == Answer::Deny => {
                        return (Some((reason, path)), unusable);
                    }
                    Some(Refused::Whatever(reason)) => {
                        whatever = whatever.or(Some((reason, path)));
                    }
                    Some(Refused::Unusable(reason)) => unusable = unusable.or(Some(reason)),
                    None => {}
                }
            }
        }
        (whatever, unusable)
    }

    fn refused(&self, path: &str, role: Role, cwd: &str) -> Option<Refused> {
        let (last, need) = match (self.aim, role) {
            (Aim::Read, _) => (Last::Follow, Need::Read),
            (Aim::Change(Sort::Delete), Role::Target | Role::Source)
            | (Aim::Change(Sort::Move), Role::Source) => (Last::Keep, Need::Delete),
            (Aim::Change(_), Role::Folder | Role::Source) => (Last::Follow, Need::Read),
            (Aim::Change(_), Role::Target) => (Last::Follow, Need::Write),
        };
        let how = How { last, spelling: Spelling::Plain };
        let place = self.judge.ground().place_with(path, cwd, self.lookup, how);
        let answer = match self.aim {
            // Reading elsewhere is no matter of the project.
            Aim::Read => place.may(need),
            Aim::Change(_) => place.may_outside_walls(need),
        };
        match answer {
            jail::Answer::Yes
                if matches!(need, Need::Write | Need::Delete) && is_kept_by_git(&place.path) =>
            {
                Some(Refused::Whatever(about("loses-work", path, "is for git alone to write")))
            }
            jail::Answer::Yes => {
                let spread = self.spread(path, cwd, need, &place);
                spread.or_else(|| self.whole(path, &place)).map(Refused::Whatever)
            }
            jail::Answer::No(refused) => {
                let reason = Reason {
                    origin: refused.origin.cloned(),
                    hint: refused.hint().map(str::to_owned),
                    ..about(refused.why.code(), path, &refused.why.to_string())
                };
                let is_unusable = refused.why == Refusal::Impossible;
                Some(if is_unusable {
                    Refused::Unusable(reason)
                } else {
                    Refused::Whatever(reason)
                })
            }
            jail::Answer::Unclear(doubt) => {
                let reason = about(doubt.code(), path, &doubt.to_string());
                let is_secret = doubt == jail::Doubt::Secret;
                let answer = if is_secret { Answer::Ask } else { Answer::Deny };
                Some(Refused::Whatever(Reason { answer, ..reason }))
            }
            jail::Answer::Shared => {
                let what = "has other names, perhaps outside the project";
                let reason = about("shared-file", path, what);
                Some(Refused::Whatever(Reason { answer: Answer::Ask, ..reason }))
            }
        }
    }

    /// Asks about a folder that a tool searches with all in it, where some of that is hidden.
    fn whole(&self, path: &str, place: &Place<'_>) -> Option<Reason> {
        let is_outside = matches!(place.standing, Standing::Outside(_));
        let searches = self.aim == Aim::Read && is_outside && tool::searches(self.tool());
        (searches && self.judge.ground().holds_hidden(&place.path)).then(|| {
            let reason =
                about("hidden-path", path, "is searched as a whole, and holds what is hidden");
            Reason { answer: Answer::Ask, ..reason }
        })
    }

    /// Asks about a pattern that may match what its letters do not say, where the tool reads it as
    /// one: some do, and some take a `*` for a letter like any other.
    fn spread(&self, path: &str, cwd: &str, need: Need, place: &Place<'_>) -> Option<Reason> {
        if !path.contains(['*', '?', '[']) {
            return None;
        }
        let ground = self.judge.ground();
        let (last, texts) = match need {
            Need::Write => return None,
            Need::Delete => (Last::Keep, vec![path.to_owned()]),
            // In the project a search finds what is there to be found.
            Need::Read if matches!(place.granted(), jail::Answer::Yes) => return None,
            Need::Read => (Last::Follow, deepened(path)),
        };
        let asked = |reason: Reason| Some(Reason { answer: Answer::Ask, ..reason });
        if need == Need::Delete && ground.empties(&place.path) {
            let hint = Some("name what is to go".to_owned());
            let reason = about("bulk-delete", path, "is all that lies in the project");
            return asked(Reason { hint, ..reason });
        }
        let how = How { last, spelling: Spelling::Pattern };
        texts.iter().find_map(|text| {
            // A pattern is held against every mark of the policy.
            if !self.effort.spend(PATTERN) {
                return None;
            }
            let place = ground.place_with(text, cwd, self.lookup, how);
            match place.may(need) {
                jail::Answer::Yes | jail::Answer::Shared => None,
                jail::Answer::No(refused) => {
                    let what = format!("may name what {}", refused.why);
                    let reason = about(refused.why.code(), path, &what);
                    asked(Reason { origin: refused.origin.cloned(), ..reason })
                }
                jail::Answer::Unclear(doubt) => {
                    asked(about(doubt.code(), path, &format!("may name what {doubt}")))
                }
            }
        })
    }
}

/// What holding a pattern against all marks costs.
const PATTERN: usize = 32;

/// Adds what stands for `{a,b}` in a pattern: each of them in its place. Tells whether that is all.
#[cold]
fn spell_out(paths: &mut Vec<Cow<'_, str>>) -> bool {
    const MOST: usize = 256;
    let mut at = 0;
    while let Some(path) = paths.get(at) {
        if paths.len() > MOST {
            return false;
        }
        let path = path.clone();
        at += 1;
        // The innermost one: what it holds has no other inside.
        let Some(close) = path.find('}') else { continue };
        let Some(open) = path.get(..close).and_then(|start| start.rfind('{')) else { continue };
        let (start, end) = (path.get(..open), path.get(close + 1..));
        let (Some(start), Some(end)) = (start, end) else { continue };
        let inside = path.get(open + 1..close).unwrap_or_default();
        for name in inside.split(',') {
            paths.push(Cow::Owned(format!("{start}{name}{end}")));
        }
    }
    true
}

/// Spells out `**` for the first few depths that it stands for.
fn deepened(pattern: &str) -> Vec<String> {
    if !pattern.contains("**") {
        return vec![pattern.to_owned()];
    }
    ["*", "*/*", "*/*/*"].map(|names| pattern.replace("**", names)).to_vec()
}

/// The path to show: as it was written, unless it is one of several in a text.
fn shown(text: &str, path: &str) -> String {
    if text.contains(['\n', ',']) { path.to_owned() } else { text.to_owned() }
}
