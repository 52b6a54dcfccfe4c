//! Asking whoever the policy names, and remembering what was said.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use palisade_plan::Note;
use palisade_policy::decide::{Reason, Touch};
use palisade_policy::name::Period;
use palisade_policy::policy::{Backend, Confirm as Policy};

use super::always::Always;
use super::confirm::{Answered, Confirm, Nobody, Question};
use super::far::{Program, Webhook};
use super::patience::{May, Patience};
use super::record::Recorded;
use super::reply::Unconfirmed;
use super::{Inner, Sandbox};
use crate::session::Request;

/// Who is asked, and what was said so far.
pub(super) struct Asking {
    /// Who the program that embeds us would ask.
    pub(super) confirmer: Arc<dyn Confirm>,
    patience: Patience,
    /// What was answered with yes for as long as this lasts.
    agreed: Mutex<BTreeSet<String>>,
    /// What went wrong, and was not told yet.
    trouble: Mutex<Vec<Note>>,
    pub(super) request: Request,
}

impl std::fmt::Debug for Asking {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Asking").finish_non_exhaustive()
    }
}

impl Asking {
    pub(super) fn new(request: &Request) -> Self {
        Self {
            confirmer: Arc::new(Nobody),
            patience: Patience::new(own(request, "questions")),
            agreed: Mutex::default(),
            trouble: Mutex::default(),
            request: request.clone(),
        }
    }

    /// Returns whom the policy has asked.
    pub(super) fn whom(&self, policy: &Policy) -> Arc<dyn Confirm> {
        match policy.backend.value() {
            Backend::Terminal => Arc::clone(&self.confirmer),
            Backend::Program(path) => Arc::new(Program {
                path: Path::new(&*path).to_owned(),
                environment: self.request.env.clone().into_iter().collect(),
            }),
            Backend::Webhook(url) => {
                Arc::new(Webhook { url, key: own(&self.request, "webhook-key") })
            }
            // There is no page yet.
            Backend::Deny | Backend::Web => Arc::new(Nobody),
        }
    }

    /// Returns what went wrong, once.
    pub(super) fn trouble(&self) -> Vec<Note> {
        std::mem::take(&mut *self.trouble.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts a question, if it was not answered already and there were not too many.
    pub(super) fn put(
        &self,
        hash: &str,
        whom: &dyn Confirm,
        ask: impl FnOnce() -> Answered,
    ) -> (Answered, Memory) {
        // One at a time: who is asked two things at once answers the wrong one.
        let mut agreed = self.agreed.lock().unwrap_or_else(PoisonError::into_inner);
        if agreed.contains(hash) {
            return (Answered::ForRun, Memory::Known);
        }
        if !whom.is_person() {
            return (ask(), Memory::New);
        }
        match self.patience.may_ask(hash, SystemTime::now()) {
            May::Ask => {}
            May::Again => return (Answered::No, Memory::Known),
            May::Flood => return (Answered::Flood, Memory::Known),
        }
        let answer = ask();
        match answer {
            Answered::ForRun | Answered::Always => drop(agreed.insert(hash.to_owned())),
            Answered::Yes => {}
            Answered::No | Answered::Timeout => self.patience.refused(hash, SystemTime::now()),
            Answered::Nobody | Answered::Flood => self.patience.unasked(),
        }
        (answer, Memory::New)
    }

    fn save(&self, always: &Always) {
        if let Err(error) = always.save() {
            let file = palisade_policy::text::visible(&always.file.to_string_lossy());
            let message = format!("the rule was not saved to `{file}`: {error}");
            let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
            trouble.push(Note { code: "always", message });
        }
    }
}

/// Whether somebody was asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Memory {
    New,
    Known,
}

impl Memory {
    /// Returns who said it.
    pub(super) fn by(self, name: &str) -> &str {
        match self {
            Self::New => name,
            Self::Known => "memory",
        }
    }
}

/// Returns the place of something that only we read.
fn own(request: &Request, name: &str) -> Option<std::path::PathBuf> {
    Some(request.places().state?.join("audit").join(name))
}

impl Sandbox {
    /// Asks whoever the policy names, and remembers the answer. Returns why that is no yes; none if it is.
    pub(super) fn ask(&self, call: Recorded<'_>, reasons: &[Reason]) -> Option<Unconfirmed> {
        let Inner { guard, session, asking, recorder, .. } = &*self.0;
        let confirm = &session.policy().confirm;
        let whom = asking.whom(confirm);
        let touches = touches(guard.explain(call.asked, call.cwd).1);
        // A rule speaks of a text, and this call is more than its text.
        let always = match confirm.backend.value() {
            _ if !call.variables.is_empty() => None,
            Backend::Terminal => Always::of(call.asked, call.cwd, &asking.request),
            Backend::Deny | Backend::Program(_) | Backend::Web | Backend::Webhook(_) => None,
        };
        let (answer, memory) = asking.put(call.hash, &*whom, || {
            whom.ask(&Question {
                asked: call.asked,
                cwd: call.cwd,
                root: call.root,
                variables: call.variables,
                touches: &touches,
                reasons,
                hash: call.hash,
                time: confirm.timeout.value().0.map(Period::duration),
                always: always.as_ref(),
            })
        });
        if let (Answered::Always, Memory::New, Some(always)) = (answer, memory, &always) {
            asking.save(always);
        }
        recorder.confirmation(call, answer, memory.by(whom.name()));
        let far = matches!(confirm.backend.value(), Backend::Program(_) | Backend::Webhook(_));
        Unconfirmed::of((answer, memory, far))
    }
}

/// Returns everything that a call names, once.
fn touches(steps: Vec<palisade_policy::decide::Step>) -> Vec<Touch> {
    let mut all: Vec<Touch> = Vec::new();
    for touch in steps.into_iter().flat_map(|step| step.touches) {
        if !all.contains(&touch) {
            all.push(touch);
        }
    }
    all
}
