//! Traps: text that the shell runs later, at its end or at any time.

use std::rc::Rc;

use super::child::Ownership;
use super::scope::Scope;
use super::walk::{Input, Walk};
use crate::command::Arg;

/// A trap that has been set.
#[derive(Debug)]
pub(super) struct Trap {
    body: Arg<'static>,
}

/// How many bytes are read for the price of a step.
const BYTES: usize = 16;

impl Walk<'_> {
    /// Notes a trap whose body was judged as if it ran here; `before` is the state without it.
    pub(super) fn trap(&mut self, args: &[Arg<'_>], before: &Rc<Scope>) {
        let after = std::mem::replace(&mut self.scope, Rc::clone(before));
        let mut words = args.iter().skip_while(|arg| matches!(&*arg.text, "--" | "-P"));
        let Some(body) = words.next().filter(|body| !body.text.starts_with('-')) else { return };
        let at_end_only = words.all(|signal| matches!(&*signal.text, "EXIT" | "0"));
        if !at_end_only && !Rc::ptr_eq(before, &after) {
            Rc::make_mut(&mut self.scope).disturb(&after);
        }
        let span = self.place(body.span);
        let text = body.text.clone().into_owned().into();
        let body = Arg { text, certainty: body.certainty, span, verbatim: None };
        if !body.text.is_empty() && !self.traps.iter().any(|known| known.body == body) {
            self.traps.push(Trap { body });
        }
    }

    /// Judges traps once more where what they depend on has changed: a variable, or, without a
    /// name, the working folder.
    pub(super) fn retrap(&mut self, name: Option<&str>) {
        if self.traps.is_empty() {
            return;
        }
        // A body that changes what it depends on ends here.
        let traps = std::mem::take(&mut self.traps);
        for Trap { body } in &traps {
            let depends = name
                .is_none_or(|name| body.text.contains(name) || self.calls_holder(&body.text, name));
            if !depends {
                continue;
            }
            // Its body is read once more, however much or little there is in it to judge.
            if self.spend(body.text.len() / BYTES, body.span).is_none() {
                break;
            }
            self.aside(|walk| {
                walk.ownership = Ownership::Here;
                walk.whole(body.span, |walk| walk.nested(body, &Input::Inherited));
                walk.ownership = Ownership::Child;
            });
        }
        self.traps = traps;
    }
}
