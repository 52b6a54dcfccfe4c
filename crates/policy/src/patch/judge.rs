//! Holding what a patch touches against a policy.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::planted::Planted;
use super::{Deed, Form, Target, Touched, read};
use crate::decide::{Answer, Axis, Reason, Verdict};
use crate::effort::{Counted, Effort};
use crate::jail::{self, Ground, How, Last, Lookup, Need, Place, Spelling};
use crate::text::{Span, visible};

/// Whether whoever applies a patch is told the file another way.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Naming {
    /// By the patch alone: a change in it that names no file is refused.
    InPatch,
    /// Also beside it, as by a `file_path` of the same call, which is judged by others.
    Beside,
}

/// The code of a patch that is not what its own headers say. It is the one thing about a patch that
/// a tool which is not judged strictly may pass.
pub(crate) const LIES: &str = "patch-lies";

/// Decides whether a patch may be applied in the folder `cwd`.
///
/// Every path in it must lead into the project, or into a folder that `files.write` lists, in every
/// reading; what cannot be read or told is denied. The walls of a run are not counted on: tools
/// apply patches outside of them. So a link that leads out of the project is not made either.
pub fn judge(text: &str, naming: Naming, ground: &Ground, cwd: &str, disk: &dyn Lookup) -> Verdict {
    judge_within(&Effort::of_one_call(), text, naming, ground, cwd, disk)
}

/// Decides the same, and spends of what a call may cost. A patch that costs more is denied.
pub(crate) fn judge_within(
    effort: &Effort,
    text: &str,
    naming: Naming,
    ground: &Ground,
    cwd: &str,
    disk: &dyn Lookup,
) -> Verdict {
    let patch = match read(text) {
        Ok(patch) => patch,
        Err(error) => return Verdict::of(vec![refusal(error.code, error.message, error.span)]),
    };
    let mut reasons = Vec::new();
    if let Some(span) = patch.unnamed.filter(|_| naming == Naming::InPatch) {
        let message = "the patch changes a file and does not name it";
        reasons.push(refusal("patch-unnamed", message, span));
    }
    if let Some(lie) = patch.lie {
        let hint = Some("count its lines again, and let it end".to_owned());
        let axis = Axis::Structure;
        reasons.push(Reason { axis, hint, ..refusal(LIES, lie.message, lie.span) });
    }
    let disk: &dyn Lookup = &Counted { disk, effort };
    let planted = Planted::new(&patch, ground, cwd, disk, effort);
    // With and without its links: nobody knows which parts of a patch will apply.
    let disks: &[&dyn Lookup] = if planted.is_bare() { &[disk] } else { &[disk, &planted] };
    let mut fine = BTreeSet::new();
    for touched in &patch.touched {
        if effort.is_spent() {
            let message = "the patch names more than can be judged at once";
            reasons.push(refusal("patch-too-many-names", message, touched.span));
            break;
        }
        let mut worst: Option<Reason> = None;
        for path in touched.readings() {
            let question = Question { touched, path: &path, ground, cwd };
            let key = (path.clone(), needs(touched), target(touched));
            if fine.contains(&key) {
                continue;
            }
            let refused = disks.iter().filter_map(|disk| question.refused(*disk));
            match refused.min_by_key(|reason| Reverse(reason.answer)) {
                Some(reason) => {
                    let is_worse = worst.as_ref().is_none_or(|it| it.answer < reason.answer);
                    worst = if is_worse { Some(reason) } else { worst };
                }
                None => _ = fine.insert(key),
            }
        }
        reasons.extend(worst);
    }
    Verdict::of(reasons)
}

/// One reading of one path.
struct Question<'q> {
    touched: &'q Touched,
    path: &'q str,
    ground: &'q Ground,
    cwd: &'q str,
}

impl Question<'_> {
    fn refused(&self, lookup: &dyn Lookup) -> Option<Reason> {
        let refused = needs(self.touched).iter().find_map(|(need, last)| {
            let place = self.place(self.path, self.cwd, *last, lookup);
            self.reason(place.may_outside_walls(*need))
        });
        refused.or_else(|| match target(self.touched)? {
            Target::Text(text) => self.leads_out(text, lookup),
            Target::Unknown => {
                let message = "the patch makes a link and does not say plainly where it leads";
                Some(refusal("patch-link", message, self.touched.span))
            }
        })
    }

    /// Refuses a link that leads to where nothing may be read or written.
    fn leads_out(&self, text: &str, lookup: &dyn Lookup) -> Option<Reason> {
        let link = self.place(self.path, self.cwd, Last::Keep, lookup).path;
        let folder = link.rsplit_once('/').map_or("/", |(folder, _)| folder);
        let folder = if folder.is_empty() { "/" } else { folder };
        // A link knows no home folder.
        let text = if text.starts_with('~') { format!("./{text}") } else { text.to_owned() };
        let place = self.place(&text, folder, Last::Follow, lookup);
        let outside = |reason: Reason| Reason {
            code: jail::Refusal::LinkLeadsOutside.code(),
            message: format!("`{}` {}", visible(self.path), jail::Refusal::LinkLeadsOutside),
            ..reason
        };
        self.reason(place.granted()).map(outside).or_else(|| self.reason(place.may(Need::Read)))
    }

    fn place(&self, path: &str, cwd: &str, last: Last, lookup: &dyn Lookup) -> Place<'_> {
        self.ground.place_with(path, cwd, lookup, How { last, spelling: Spelling::Plain })
    }

    fn reason(&self, answer: jail::Answer<'_>) -> Option<Reason> {
        let shown = visible(self.path);
        let span = self.touched.span;
        match answer {
            jail::Answer::Yes => None,
            jail::Answer::No(refused) => Some(Reason {
                origin: refused.origin.cloned(),
                hint: refused.hint().map(str::to_owned),
                ..refusal(refused.why.code(), &format!("`{shown}` {}", refused.why), span)
            }),
            jail::Answer::Unclear(doubt) => {
                Some(refusal(doubt.code(), &format!("`{shown}` {doubt}"), span))
            }
            jail::Answer::Shared => {
                let message = format!("`{shown}` has other names, perhaps outside the project");
                Some(Reason { answer: Answer::Ask, ..refusal("shared-file", &message, span) })
            }
        }
    }
}

/// Returns what must be allowed, and whether a link at the end is followed.
fn needs(touched: &Touched) -> &'static [(Need, Last)] {
    match (&touched.deed, touched.form) {
        (Deed::Create | Deed::Change | Deed::MoveTo | Deed::CopyTo | Deed::Mode, _) => {
            &[(Need::Write, Last::Follow)]
        }
        // The name itself is written, and not what a link there leads to.
        (Deed::Link(_), _) => &[(Need::Write, Last::Keep)],
        (Deed::CopyFrom, _) => &[(Need::Read, Last::Follow)],
        (Deed::Unlink, _) | (Deed::Delete, Form::Whole) => &[(Need::Delete, Last::Keep)],
        // A diff that takes all lines away writes to what it finds, if more is left.
        (Deed::Delete, Form::Prefixed | Form::Git) | (Deed::MoveFrom, _) => {
            &[(Need::Delete, Last::Keep), (Need::Write, Last::Follow)]
        }
    }
}

/// Returns where a link leads, if one is made.
fn target(touched: &Touched) -> Option<&Target> {
    match &touched.deed {
        Deed::Link(target) => Some(target),
        Deed::Create
        | Deed::Change
        | Deed::Delete
        | Deed::Unlink
        | Deed::MoveFrom
        | Deed::MoveTo
        | Deed::CopyFrom
        | Deed::CopyTo
        | Deed::Mode => None,
    }
}

fn refusal(code: &'static str, message: &str, span: Span) -> Reason {
    Reason {
        answer: Answer::Deny,
        code,
        axis: Axis::Path,
        message: message.to_owned(),
        span,
        origin: None,
        hint: None,
    }
}
