//! What is heard from a sandbox.

use std::os::fd::OwnedFd;

use palisade_plan::{Plan, Step};
use rustix::io::Errno;

use super::message::Message;
use super::outcome::{Bound, End};
use super::trace::Tracer;

/// What the sandbox has said, and what was done about it.
#[derive(Default)]
pub(super) struct Said {
    pub(super) failed: Option<(u32, i32)>,
    pub(super) started: bool,
    /// How many steps were left out since, before the last.
    pub(super) left_out: usize,
    pub(super) ended: Option<i32>,
    /// Whether nobody was left then.
    pub(super) is_last: bool,
    pub(super) over: Option<End>,
    pub(super) limit: Option<Bound>,
    pub(super) tracer: Option<Tracer>,
    pub(super) tmp: Option<OwnedFd>,
    pub(super) closed: bool,
}

impl Said {
    /// Lets go of what only the start needed.
    #[inline(never)]
    pub(super) fn free(&mut self, plan: &mut Plan) {
        if !self.started {
            return;
        }
        let executes = |plan: &Plan| {
            plan.steps().iter().position(|step| matches!(step, Step::Exec { .. })).unwrap_or(0)
        };
        let before = executes(plan);
        *plan = plan.apart();
        // All others are done.
        self.left_out += before - executes(plan);
    }

    /// Takes a message, or its absence.
    pub(super) fn hear(&mut self, heard: rustix::io::Result<Option<Message>>) {
        match heard {
            Ok(Some(Message::Failed { step, errno })) => {
                // The first failure is the cause of the others.
                self.failed.get_or_insert((step, errno));
            }
            Ok(Some(Message::Started)) => self.started = true,
            Ok(Some(Message::Ended(status))) => self.ended = Some(status),
            Ok(Some(Message::Last(status))) => (self.ended, self.is_last) = (Some(status), true),
            Ok(Some(
                Message::Go
                | Message::Signal(_)
                | Message::Terminal
                | Message::Listener
                | Message::Inlets(_)
                | Message::Maker
                | Message::Socket(_),
            ))
            | Err(Errno::AGAIN) => {}
            // It went without having heard all of us. What it said before comes next.
            Err(Errno::CONNRESET) => {}
            Ok(None) | Err(_) => self.closed = true,
        }
    }
}
