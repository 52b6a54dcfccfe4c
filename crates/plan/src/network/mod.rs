//! A network in which every address is the sandbox's own, and the doors in it.
//!
//! Nothing leaves an empty network. Inside it every address is made local; rules of the kernel's
//! hand each connection to a relay of ours, whose sockets the supervisor holds, and hold its first
//! packet until the supervisor has an answer. What is written here are the messages to the kernel
//! that make that so.

mod netlink;
mod queue;
mod route;
mod rules;

use std::net::{Ipv4Addr, Ipv6Addr};

pub use netlink::Messages;
pub use queue::bind as bind_queue;
pub use route::everywhere;
pub use rules::{Hold, rules};

/// The sandbox's own address.
pub const OWN_V4: Ipv4Addr = Ipv4Addr::new(10, 255, 0, 1);
/// The same for IPv6.
pub const OWN_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xaaaa, 0, 0, 0, 0, 0, 1);

/// How connections inside are led to the supervisor, the best first (Ruling 28).
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Rung {
    /// The first packet waits until there is an answer: programs see what they would see outside.
    Queue,
    /// Connections are made with us at once, and cut where they may not be.
    Redirect,
    /// They are not: only programs that use a proxy reach anything.
    None,
}

impl Rung {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Redirect => "redirect",
            Self::None => "none",
        }
    }

    /// Returns the lower of this and the one that a word names; one that is not understood is the
    /// lowest.
    #[must_use]
    pub fn lowered(self, word: &str) -> Self {
        let all = [Self::Queue, Self::Redirect];
        self.max(all.into_iter().find(|rung| rung.word() == word).unwrap_or(Self::None))
    }
}

/// The port of the relay on the sandbox's loopback: no program inside may listen below 1024.
pub const RELAY_PORT: u16 = 1;
/// Where names are asked for.
pub const NAMES_PORT: u16 = 53;
/// Where programs find a proxy, if they look for one.
pub const PROXY_PORT: u16 = 1023;
/// The queue in which first packets wait.
pub const QUEUE: u16 = 0;
/// The most packets that wait at once.
pub const LONGEST_QUEUE: u32 = 4096;
/// The mark of a connection that may not be made.
pub const DENIED: u32 = 0xdead;
/// The mark of a connection that the other side refuses.
pub const REFUSED: u32 = 0xbeef;

#[cfg(test)]
mod tests {
    use super::Rung::{self, None, Queue, Redirect};

    #[test]
    fn a_word_lowers_and_never_raises() {
        #[rustfmt::skip]
        let cases: [(Rung, &str, Rung); 7] = [
            (Queue, "queue", Queue), (Queue, "redirect", Redirect), (Queue, "none", None),
            (Redirect, "queue", Redirect), (None, "redirect", None),
            (Queue, "Queue", None), (Redirect, "", None),
        ];
        for (had, word, expected) in cases {
            assert_eq!(had.lowered(word), expected, "{had:?} {word}");
        }
    }
}
