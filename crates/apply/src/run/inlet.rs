//! The doors of a filtered network: sockets inside, whose other side the supervisor holds.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use palisade_plan::network::{self, Hold, Messages, Rung};
use rustix::io::Result;

use super::message::{Message, send_all};
use crate::sys::inlet::{self, Sockets};

/// The sockets inside a sandbox that everything is led to.
#[derive(Debug)]
pub struct Inlets {
    /// How.
    pub rung: Rung,
    /// Where connections arrive, by IPv4 and by IPv6.
    pub relay: [OwnedFd; 2],
    /// Where questions about names arrive: packets, then connections.
    pub names: [OwnedFd; 4],
    /// Where programs that look for a proxy find one.
    pub proxy: OwnedFd,
    /// Where first packets wait, if they do.
    pub queue: Option<OwnedFd>,
}

impl Inlets {
    /// Takes what came with a message.
    pub(super) fn new(rung: i32, along: Vec<OwnedFd>) -> Option<Self> {
        let mut along = along.into_iter();
        let mut next = || along.next();
        let relay = [next()?, next()?];
        let names = [next()?, next()?, next()?, next()?];
        let rung = match rung {
            0 => Rung::Queue,
            1 => Rung::Redirect,
            _ => Rung::None,
        };
        Some(Self { rung, relay, names, proxy: next()?, queue: next() })
    }
}

/// The messages that make a filtered network, ready to be sent.
#[derive(Debug)]
pub(super) struct Ready {
    everywhere: Messages,
    queue: Messages,
    /// By the best rung that is tried.
    rules: Vec<(Hold, Messages)>,
}

impl Ready {
    /// Writes them. `best` is where the ladder begins.
    pub(super) fn new(best: Rung) -> Self {
        let holds: &[Hold] = match best {
            // For what a kernel was built without it looks for a module first, which takes longer than
            // all else; the target is there more often.
            Rung::Queue => &[Hold::Target, Hold::Queue, Hold::Nothing],
            Rung::Redirect => &[Hold::Nothing],
            Rung::None => &[],
        };
        Self {
            everywhere: network::everywhere(),
            queue: network::bind_queue(),
            rules: holds.iter().map(|hold| (*hold, network::rules(*hold))).collect(),
        }
    }

    /// Returns the memory that is needed to send them.
    pub(super) fn memory(&self) -> (&[(Hold, Messages)], impl Iterator<Item = &[u8]>) {
        let rules = self.rules.iter().map(|(_, rules)| rules);
        let all = [&self.everywhere, &self.queue].into_iter().chain(rules);
        (&self.rules, all.map(Messages::bytes))
    }

    /// Makes the network, and hands its sockets over. It allocates nothing.
    pub(super) fn open(&self, control: BorrowedFd<'_>) -> Result<()> {
        ask(inlet::about_routes()?.as_fd(), &self.everywhere)?;
        let Sockets { relay: [a, b], names: [c, d, e, f], proxy } = inlet::open()?;
        inlet::tell_every_refusal();
        let (rung, queue) = self.lead();
        let message = Message::Inlets(match rung {
            Rung::Queue => 0,
            Rung::Redirect => 1,
            Rung::None => 2,
        });
        let sockets = [&a, &b, &c, &d, &e, &f, &proxy].map(|socket| socket.as_fd());
        let [a, b, c, d, e, f, proxy] = sockets;
        match &queue {
            Some(queue) => send_all(control, message, &[a, b, c, d, e, f, proxy, queue.as_fd()]),
            None => send_all(control, message, &sockets),
        }
    }

    /// Puts the first rules in force that this kernel knows.
    fn lead(&self) -> (Rung, Option<OwnedFd>) {
        let Ok(about) = inlet::about_rules() else { return (Rung::None, None) };
        // Bound before there is a rule: what is queued for nobody is lost.
        let queue = inlet::about_rules().ok().filter(|it| ask(it.as_fd(), &self.queue).is_ok());
        for (hold, rules) in &self.rules {
            let holds = *hold != Hold::Nothing;
            if (queue.is_some() || !holds) && ask(about.as_fd(), rules).is_ok() {
                return if holds { (Rung::Queue, queue) } else { (Rung::Redirect, None) };
            }
        }
        (Rung::None, None)
    }
}

fn ask(socket: BorrowedFd<'_>, messages: &Messages) -> Result<()> {
    inlet::ask(socket, messages.bytes(), messages.answered())
}
