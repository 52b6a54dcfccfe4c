//! Every address is an address of the sandbox (rtnetlink(7)).

use super::netlink::{Messages, NEW};
use super::{OWN_V4, OWN_V6};

const NEW_ADDRESS: u16 = 20;
const NEW_ROUTE: u16 = 24;
const V4: u8 = 2;
const V6: u8 = 10;
/// The loopback is the first interface of every network.
const LOOPBACK: u32 = 1;
/// `IFA_F_NODAD`: nobody is asked whether it is theirs, and it can be used now.
const AT_ONCE: u8 = 2;
/// `RT_SCOPE_HOST`: on this machine alone.
const HERE: u8 = 254;
/// `RT_TABLE_LOCAL`: where the kernel looks first.
const LOCAL_TABLE: u8 = 255;
/// `RTPROT_STATIC`.
const BY_HAND: u8 = 4;
/// `RTN_LOCAL`: what goes there has arrived.
const LOCAL: u8 = 2;

/// Returns what gives the sandbox an address of its own, and makes every other address lead to it.
/// Programs then send from the former: without it, from the one that they send to.
pub fn everywhere() -> Messages {
    let mut messages = Messages::default();
    address(&mut messages, V4, 32, &OWN_V4.octets());
    address(&mut messages, V6, 128, &OWN_V6.octets());
    route(&mut messages, V4, &OWN_V4.octets());
    route(&mut messages, V6, &OWN_V6.octets());
    messages
}

fn address(messages: &mut Messages, family: u8, bits: u8, own: &[u8]) {
    const ADDRESS: u16 = 1;
    const LOCAL: u16 = 2;
    messages.add(NEW_ADDRESS, NEW, |body| {
        let [a, b, c, d] = LOOPBACK.to_ne_bytes();
        body.head([family, bits, AT_ONCE, 0, a, b, c, d]);
        body.attribute(LOCAL, own);
        body.attribute(ADDRESS, own);
    });
}

fn route(messages: &mut Messages, family: u8, own: &[u8]) {
    const INTERFACE: u16 = 4;
    const PREFERRED: u16 = 7;
    messages.add(NEW_ROUTE, NEW, |body| {
        body.head([family, 0, 0, 0, LOCAL_TABLE, BY_HAND, HERE, LOCAL, 0, 0, 0, 0]);
        body.attribute(INTERFACE, &LOOPBACK.to_ne_bytes());
        body.attribute(PREFERRED, own);
    });
}
