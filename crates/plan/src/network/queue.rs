//! The queue in which the first packets of connections wait for the supervisor.

use super::netlink::Messages;
use super::{LONGEST_QUEUE, QUEUE};

/// `NFNL_SUBSYS_QUEUE` and `NFQNL_MSG_CONFIG`.
const CONFIGURE: u16 = 3 << 8 | 2;

/// Returns what binds the queue to the socket that sends it. Packets for which there is no room are
/// dropped, and so are all when the socket is closed.
pub fn bind() -> Messages {
    const COMMAND: u16 = 1;
    const PARAMETERS: u16 = 2;
    const LONGEST: u16 = 3;
    const BIND: u8 = 1;
    const COPY: u8 = 2;
    /// Bytes of a packet: the headers, with all options that there may be.
    const SEEN: u32 = 256;
    let mut messages = Messages::default();
    let [high, low] = QUEUE.to_be_bytes();
    messages.add(CONFIGURE, 0, |body| {
        body.head([0, 0, high, low]);
        body.attribute(COMMAND, &[BIND, 0, 0, 0]);
    });
    messages.add(CONFIGURE, 0, |body| {
        body.head([0, 0, high, low]);
        let [a, b, c, d] = SEEN.to_be_bytes();
        body.attribute(PARAMETERS, &[a, b, c, d, COPY]);
        body.number(LONGEST, LONGEST_QUEUE);
    });
    messages
}
