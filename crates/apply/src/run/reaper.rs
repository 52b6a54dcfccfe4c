//! The first process of a sandbox: it reaps, passes signals on, and takes everything with it when it goes.

use std::os::fd::BorrowedFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::enter::{CHILDREN, CONTROL, MAKER, SUPERVISOR, TMP, strip};
use super::family::Family;
use super::maker;
use super::message::{Message, receive, send, send_with};
use crate::sys::descriptor::known;
use crate::sys::process::{reap, untrace};
use crate::sys::{idle, signal};

/// Runs until the command or the supervisor has ended, and takes the whole family along.
///
/// In a sandbox it is undumpable, has no capability, and is under the same filter and rules as the
/// command. It watches a pidfd of the supervisor: a signal at the death of a parent is bound to a
/// thread, and can be missed.
pub(super) fn run(
    command: Pid,
    control: BorrowedFd<'_>,
    supervisor: BorrowedFd<'_>,
    (family, maker): (Family, Option<i32>),
) -> ! {
    if let Err(errno) = strip(control, supervisor, family, maker) {
        send(control, Message::Failed { step: u32::MAX, errno: errno.raw_os_error() }).ok();
        family.end(command, 125);
    }
    let top = [0_u8];
    attend(command, family, maker.is_some(), idle::place(&top).start)
}

/// The rest of its life. What it works with is here and in numbers that it knows: everything else
/// that it has from the supervisor is given back, at once. The command has just begun, so there is
/// time for it now, and in the end less is left to let go of.
#[inline(never)]
fn attend(command: Pid, family: Family, mut makes: bool, top: usize) -> ! {
    let (control, supervisor, children) = (known(CONTROL), known(SUPERVISOR), known(CHILDREN));
    let asked = known(MAKER);
    idle::keep_only(top);
    loop {
        let mut watched = [
            PollFd::from_borrowed_fd(supervisor, PollFlags::IN),
            PollFd::from_borrowed_fd(control, PollFlags::IN),
            PollFd::from_borrowed_fd(children, PollFlags::IN),
            PollFd::from_borrowed_fd(asked, PollFlags::IN),
        ];
        // Without anybody who asks, what is last tells nothing that concerns us.
        let watches = watched.len() - usize::from(!makes);
        match poll(watched.get_mut(..watches).unwrap_or_default(), None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => family.end(command, 125),
        }
        let [supervisor, order, children, wanted] = watched.map(|one| !one.revents().is_empty());
        if supervisor || (children && asked_to_end()) {
            family.end(command, 0);
        }
        if children {
            reap_all(command, control, family);
        }
        if wanted {
            makes = maker::answer(asked);
        }
        if order {
            match receive(control) {
                Ok(Some(Message::Signal(number))) => {
                    if let Some(signal) = Signal::from_named_raw(number) {
                        pass(command, signal);
                    }
                }
                Ok(Some(
                    Message::Go
                    | Message::Failed { .. }
                    | Message::Started
                    | Message::Ended(_)
                    | Message::Last(_)
                    | Message::Terminal
                    | Message::Listener
                    | Message::Inlets(_)
                    | Message::Maker
                    | Message::Socket(_),
                )) => {}
                // The other side is gone, or has lost interest.
                Ok(None) | Err(_) => family.end(command, 0),
            }
        }
    }
}

/// Sends a signal to the command; what a terminal would send reaches its whole group, as it would
/// from there.
fn pass(command: Pid, signal: Signal) {
    let of_terminals =
        [Signal::INT, Signal::QUIT, Signal::HUP, Signal::TSTP, Signal::STOP, Signal::CONT];
    if of_terminals.contains(&signal) {
        kill_process_group(command, signal).ok();
    } else {
        kill_process(command, signal).ok();
    }
}

/// Takes what was told, and returns whether the end was asked for.
fn asked_to_end() -> bool {
    let mut asked = false;
    while let Some(number) = signal::next_told(known(CHILDREN)) {
        asked |= number != libc::SIGCHLD;
    }
    asked
}

fn reap_all(command: Pid, control: BorrowedFd<'_>, family: Family) {
    while let Ok(Some((pid, status))) = reap() {
        // One that asked to be traced by its parent, which we are now, would wait for us for ever.
        if status & 0xff == 0x7f {
            untrace(pid, status);
            continue;
        }
        if pid == command.as_raw_nonzero().get() {
            let message =
                if family.has_ended() { Message::Last(status) } else { Message::Ended(status) };
            // What was left in /tmp is gone with us, unless somebody has it open.
            let told = send_with(control, message, known(TMP));
            // The command may have as many descriptors on their way as its user may have.
            told.or_else(|_| send(control, message)).ok();
            family.end(command, 0);
        }
    }
}
