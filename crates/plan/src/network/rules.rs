//! The rules that lead connections to the relay (nftables).

use std::net::{Ipv4Addr, Ipv6Addr};

use super::netlink::{Body, LAST, Messages, NEW};
use super::{DENIED, NAMES_PORT, OWN_V4, OWN_V6, QUEUE, REFUSED, RELAY_PORT};

/// What holds the first packet of a connection until there is an answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Hold {
    /// An expression of the rules' own.
    Queue,
    /// A target of the rules before these, for kernels that were built without the expression.
    Target,
    /// Nothing: a connection is made with the relay, which then learns what becomes of it.
    Nothing,
}

/// `NFNL_SUBSYS_NFTABLES`.
const TABLES: u16 = 10;
const NEW_TABLE: u16 = TABLES << 8;
const NEW_CHAIN: u16 = TABLES << 8 | 3;
const NEW_RULE: u16 = TABLES << 8 | 6;
const BATCH_BEGINS: u16 = 16;
const BATCH_ENDS: u16 = 17;
/// `NFPROTO_INET`: both versions.
const INET: u8 = 1;
/// Where packets arrive that are for this machine.
const INPUT: u32 = 1;
/// Where packets begin that this machine sends.
const OUTPUT: u32 = 3;
const TABLE: &str = "palisade";
const TCP: u8 = 6;
const UDP: u8 = 17;

/// Returns the rules: what is sent elsewhere than to this machine is held, judged by its mark, and
/// led to the relay; what is no TCP is refused, but for questions about names.
pub fn rules(hold: Hold) -> Messages {
    let mut messages = Messages::default();
    let [high, low] = TABLES.to_be_bytes();
    messages.put(BATCH_BEGINS, 0, |body| body.head([0, 0, high, low]));
    messages.add(NEW_TABLE, NEW, |body| {
        body.head([INET, 0, 0, 0]);
        body.text(1, TABLE);
    });
    if hold != Hold::Nothing {
        chain(&mut messages, "hold", "filter", OUTPUT, -150);
        for family in FAMILIES {
            rule(&mut messages, "hold", |list| {
                leaves(list, family, TCP);
                begins(list);
                match hold {
                    Hold::Queue => list.queue(),
                    Hold::Target => list.queue_target(),
                    Hold::Nothing => {}
                }
            });
        }
        chain(&mut messages, "judge", "filter", OUTPUT, -140);
        rule(&mut messages, "judge", |list| {
            list.mark(DENIED);
            list.reject(Answer::NoHost);
        });
        rule(&mut messages, "judge", |list| {
            list.mark(REFUSED);
            list.protocol(TCP, Compare::Is);
            list.reject(Answer::Reset);
        });
    }
    // Where it arrives: who sends is told then, as by any other machine.
    chain(&mut messages, "others", "filter", INPUT, 0);
    for family in FAMILIES {
        rule(&mut messages, "others", |list| {
            leaves(list, family, UDP);
            list.reject(Answer::NoPort);
        });
        rule(&mut messages, "others", |list| {
            elsewhere(list, family);
            list.protocol(TCP, Compare::IsNot);
            list.protocol(UDP, Compare::IsNot);
            list.reject(Answer::NoHost);
        });
    }
    chain(&mut messages, "lead", "nat", OUTPUT, -100);
    for family in FAMILIES {
        for protocol in [TCP, UDP] {
            rule(&mut messages, "lead", |list| {
                asks(list, family, protocol);
                list.redirect(NAMES_PORT);
            });
        }
        rule(&mut messages, "lead", |list| {
            leaves(list, family, TCP);
            list.redirect(RELAY_PORT);
        });
    }
    messages.put(BATCH_ENDS, 0, |body| body.head([0, 0, high, low]));
    messages
}

/// A version of the protocol.
#[derive(Clone, Copy)]
struct Family {
    number: u8,
    /// Where the address of the other side lies.
    address: Field,
    /// The loopback, and what all of its addresses begin with.
    loopback: &'static [u8],
    begins: &'static [u8],
    own: &'static [u8],
}

const FAMILIES: [Family; 2] = [
    Family {
        number: 2,
        address: Field { base: 1, at: 16, length: 4 },
        loopback: &Ipv4Addr::LOCALHOST.octets(),
        begins: &[127],
        own: &OWN_V4.octets(),
    },
    Family {
        number: 10,
        address: Field { base: 1, at: 24, length: 16 },
        loopback: &Ipv6Addr::LOCALHOST.octets(),
        begins: &Ipv6Addr::LOCALHOST.octets(),
        own: &OWN_V6.octets(),
    },
];

/// A part of a packet.
#[derive(Clone, Copy)]
struct Field {
    /// The header: 1 of the network, 2 of the protocol above.
    base: u32,
    at: u32,
    length: u32,
}

const PORT: Field = Field { base: 2, at: 2, length: 2 };
const FLAGS: Field = Field { base: 2, at: 13, length: 1 };

/// What is of a version of the protocol.
fn is(list: &mut Expressions<'_, '_>, family: Family) {
    const NFPROTO: u32 = 15;
    list.meta(NFPROTO);
    list.compare(Compare::Is, &[family.number]);
}

/// What is not for this machine.
fn elsewhere(list: &mut Expressions<'_, '_>, family: Family) {
    is(list, family);
    let length = u32::try_from(family.begins.len()).unwrap_or(u32::MAX);
    list.load(Field { length, ..family.address });
    list.compare(Compare::IsNot, family.begins);
    list.load(family.address);
    list.compare(Compare::IsNot, family.own);
}

/// What is not for this machine, of a protocol with ports, but for questions about names.
fn leaves(list: &mut Expressions<'_, '_>, family: Family, protocol: u8) {
    elsewhere(list, family);
    list.protocol(protocol, Compare::Is);
    list.load(PORT);
    list.compare(Compare::IsNot, &NAMES_PORT.to_be_bytes());
}

/// Questions about names, to anybody but us.
fn asks(list: &mut Expressions<'_, '_>, family: Family, protocol: u8) {
    is(list, family);
    list.load(family.address);
    list.compare(Compare::IsNot, family.loopback);
    list.protocol(protocol, Compare::Is);
    list.load(PORT);
    list.compare(Compare::Is, &NAMES_PORT.to_be_bytes());
}

/// The first packet of a connection: SYN, and neither FIN, RST nor ACK.
fn begins(list: &mut Expressions<'_, '_>) {
    list.load(FLAGS);
    list.bits(&[0x17]);
    list.compare(Compare::Is, &[0x02]);
}

fn chain(messages: &mut Messages, name: &str, kind: &str, hook: u32, priority: i32) {
    messages.add(NEW_CHAIN, NEW, |body| {
        body.head([INET, 0, 0, 0]);
        body.text(1, TABLE);
        body.text(3, name);
        body.nested(4, |body| {
            body.number(1, hook);
            body.number(2, priority.cast_unsigned());
        });
        body.text(7, kind);
    });
}

fn rule(messages: &mut Messages, chain: &str, write: impl FnOnce(&mut Expressions<'_, '_>)) {
    messages.add(NEW_RULE, LAST, |body| {
        body.head([INET, 0, 0, 0]);
        body.text(1, TABLE);
        body.text(2, chain);
        body.nested(4, |body| write(&mut Expressions { body }));
    });
}

/// The expressions of a rule. Each works on one register.
struct Expressions<'b, 'm> {
    body: &'b mut Body<'m>,
}

/// `NFT_REG_1`.
const REGISTER: u32 = 1;

#[derive(Clone, Copy)]
enum Compare {
    Is,
    IsNot,
}

#[derive(Clone, Copy)]
enum Answer {
    NoPort,
    NoHost,
    Reset,
}

impl Expressions<'_, '_> {
    fn add(&mut self, name: &str, write: impl FnOnce(&mut Body<'_>)) {
        self.body.nested(1, |body| {
            body.text(1, name);
            body.nested(2, write);
        });
    }

    fn meta(&mut self, key: u32) {
        self.add("meta", |body| {
            body.number(1, REGISTER);
            body.number(2, key);
        });
    }

    fn protocol(&mut self, protocol: u8, compare: Compare) {
        const L4PROTO: u32 = 16;
        self.meta(L4PROTO);
        self.compare(compare, &[protocol]);
    }

    fn mark(&mut self, mark: u32) {
        const MARK: u32 = 3;
        self.meta(MARK);
        self.compare(Compare::Is, &mark.to_ne_bytes());
    }

    fn load(&mut self, field: Field) {
        self.add("payload", |body| {
            body.number(1, REGISTER);
            body.number(2, field.base);
            body.number(3, field.at);
            body.number(4, field.length);
        });
    }

    fn bits(&mut self, mask: &[u8]) {
        let length = u32::try_from(mask.len()).unwrap_or(u32::MAX);
        self.add("bitwise", |body| {
            body.number(1, REGISTER);
            body.number(2, REGISTER);
            body.number(3, length);
            body.nested(4, |body| body.attribute(1, mask));
            body.nested(5, |body| body.attribute(1, &vec![0; mask.len()]));
        });
    }

    fn compare(&mut self, compare: Compare, value: &[u8]) {
        let operator = match compare {
            Compare::Is => 0,
            Compare::IsNot => 1,
        };
        self.add("cmp", |body| {
            body.number(1, REGISTER);
            body.number(2, operator);
            body.nested(3, |body| body.attribute(1, value));
        });
    }

    fn queue(&mut self) {
        self.add("queue", |body| {
            body.attribute(1, &QUEUE.to_be_bytes());
            body.attribute(2, &1_u16.to_be_bytes());
        });
    }

    fn queue_target(&mut self) {
        let [a, b] = QUEUE.to_ne_bytes();
        self.add("target", |body| {
            body.text(1, "NFQUEUE");
            body.number(2, 0);
            body.attribute(3, &[a, b, 0, 0, 0, 0, 0, 0]);
        });
    }

    fn reject(&mut self, answer: Answer) {
        let (kind, code) = match answer {
            Answer::NoPort => (2, 1),
            Answer::NoHost => (2, 2),
            Answer::Reset => (1, 0),
        };
        self.add("reject", |body| {
            body.number(1, kind);
            body.attribute(2, &[code]);
        });
    }

    fn redirect(&mut self, port: u16) {
        self.add("immediate", |body| {
            body.number(1, REGISTER);
            body.nested(2, |body| body.attribute(1, &port.to_be_bytes()));
        });
        self.add("redir", |body| body.number(1, REGISTER));
    }
}
