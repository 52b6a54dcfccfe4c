//! From the table to a program for the kernel's filter machine.

use super::{
    Arch, Check, Family, Groups, NEWEST, Nesting, ROOTS, RULES, Refusal, Rule, Sockets, UNSHARED,
};

/// One instruction, as the kernel reads it: code, jump if true, jump if false, operand.
pub type Instruction = (u16, u8, u8, u32);

pub(super) const LOAD: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS
pub(super) const RETURN: u16 = 0x06; // BPF_RET | BPF_K
const JUMP: u16 = 0x05; // BPF_JMP | BPF_JA
pub(super) const IF_EQUAL: u16 = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const IF_AT_LEAST: u16 = 0x35; // BPF_JMP | BPF_JGE | BPF_K
pub(super) const IF_ANY_BIT: u16 = 0x45; // BPF_JMP | BPF_JSET | BPF_K

/// Where `struct seccomp_data` keeps the call's number and the processor.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;

pub(super) const ALLOW: Instruction = (RETURN, 0, 0, 0x7fff_0000);
/// A program of another processor cannot even end by itself.
const KILL: Instruction = (RETURN, 0, 0, 0x8000_0000);

/// The calls that `nested: userns` leaves to the kernel.
const NESTED: [&str; 14] = [
    "clone",
    "unshare",
    "setns",
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "open_tree",
    "move_mount",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
];

/// Returns the filter for programs of `arch`.
///
/// It asks for the processor first, then finds the call's number in a balanced tree: the kernel
/// runs the program for every number it knows when a filter is installed, so depth is what costs.
pub fn compile(arch: Arch, nesting: Nesting, sockets: Sockets, groups: Groups) -> Vec<Instruction> {
    let mut special: Vec<(u32, &Rule)> = match sockets {
        Sockets::Own => refused(arch, nesting, groups).collect(),
        Sockets::Internet | Sockets::Pairs => unshared(arch, nesting, sockets, groups).collect(),
    };
    special.sort_by_key(|(number, _)| *number);

    let mut leaves: Vec<(u32, Vec<Instruction>)> = vec![(0, vec![ALLOW])];
    let mut add = |from: u32, block: Vec<Instruction>| {
        match leaves.last_mut() {
            Some((_, last)) if *last == block => {}
            Some((start, last)) if *start == from => *last = block,
            Some(_) | None => leaves.push((from, block)),
        };
    };
    for (number, rule) in special {
        add(number, leaf(&rule.check));
        add(number + 1, vec![ALLOW]);
    }
    // Also every x32 call: those have bit 30.
    add(NEWEST + 1, vec![refuse(Refusal::Missing)]);

    let mut program = Backwards(Vec::with_capacity(300));
    program.tree(&leaves);
    program.0.extend([
        (LOAD, 0, 0, NUMBER),
        KILL,
        (IF_EQUAL, 1, 0, arch.audit()),
        (LOAD, 0, 0, ARCH),
    ]);
    program.0.reverse();
    program.0
}

/// Returns the lines of the table that hold, with the numbers of their calls.
pub(crate) fn refused(
    arch: Arch,
    nesting: Nesting,
    groups: Groups,
) -> impl Iterator<Item = (u32, &'static Rule)> {
    let roots = match groups {
        Groups::Own => &[][..],
        Groups::Roots => ROOTS,
    };
    let is_other = |rule: &&Rule| !roots.iter().any(|it| it.call == rule.call);
    let rules: Vec<&Rule> = RULES.iter().filter(is_other).chain(roots).collect();
    rules
        .into_iter()
        .filter(move |rule| nesting == Nesting::Off || !NESTED.contains(&rule.call))
        .filter_map(move |rule| Some((rule.number(arch)?, rule)))
}

/// Returns the lines that hold where the command shares the host's network and memory.
fn unshared(
    arch: Arch,
    nesting: Nesting,
    sockets: Sockets,
    groups: Groups,
) -> impl Iterator<Item = (u32, &'static Rule)> {
    let others = UNSHARED.iter().filter(move |(these, _)| these.is_none_or(|it| it == sockets));
    let others = others.filter_map(move |(_, rule)| Some((rule.number(arch)?, rule)));
    refused(arch, nesting, groups).filter(|(_, rule)| rule.call != "socket").chain(others)
}

/// A program that is written from its end, where answers are that many places lead to: it is half as
/// long as with an answer at each place, and the kernel translates it in every start.
struct Backwards(Vec<Instruction>);

/// How far a place is looked for: a conditional jump reaches 255 instructions.
const REACH: usize = 200;

impl Backwards {
    /// Finds the leaf whose range holds the number in the accumulator; returns where that begins.
    fn tree(&mut self, leaves: &[(u32, Vec<Instruction>)]) -> usize {
        let (below, above) = leaves.split_at(leaves.len() / 2);
        let Some((pivot, block)) = above.first() else { return self.block(&[ALLOW]) };
        if below.is_empty() {
            return self.block(block);
        }
        let (above, below) = (self.tree(above), self.tree(below));
        let (above, below) = (self.near(above), self.near(below));
        let at = self.0.len();
        self.0.push((IF_AT_LEAST, skipped(at, above), skipped(at, below), *pivot));
        at
    }

    /// Writes some instructions, unless they are one answer that is already near.
    fn block(&mut self, block: &[Instruction]) -> usize {
        let end = self.0.len().saturating_sub(REACH);
        if let [answer] = block
            && let Some(known) = self.0.iter().skip(end).rposition(|known| known == answer)
        {
            return end + known;
        }
        self.0.extend(block.iter().rev());
        self.0.len() - 1
    }

    /// Returns a place that leads to another and that a conditional jump reaches.
    fn near(&mut self, place: usize) -> usize {
        if self.0.len() - place <= REACH {
            return place;
        }
        let skip = u32::try_from(self.0.len() - place - 1).unwrap_or(u32::MAX);
        self.0.push((JUMP, 0, 0, skip));
        self.0.len() - 1
    }
}

/// Returns how many instructions lie between two, counted from the end.
fn skipped(from: usize, to: usize) -> u8 {
    u8::try_from(from - to - 1).unwrap_or(u8::MAX)
}

/// Returns what to do once the number is known; it always ends in an answer.
fn leaf(check: &Check) -> Vec<Instruction> {
    match *check {
        Check::Always(refusal) => vec![refuse(refusal)],
        Check::AnyBit(place, bits, refusal) => {
            vec![argument(place), (IF_ANY_BIT, 0, 1, bits), refuse(refusal), ALLOW]
        }
        Check::OneOf(place, values, refusal) => {
            let mut block = vec![argument(place)];
            block.extend(one_of(values, refusal));
            block
        }
        Check::Both(first, second, refusal) => both(IF_EQUAL, first, second, refusal),
        Check::BothBits(first, second, refusal) => both(IF_ANY_BIT, first, second, refusal),
        Check::Socket(families) => {
            let mut block = vec![argument(0)];
            for family in families {
                let protocols = protocols(family);
                let skip = u8::try_from(protocols.len()).unwrap_or(u8::MAX);
                block.push((IF_EQUAL, 0, skip, family.number));
                block.extend(protocols);
            }
            block.push(refuse(Refusal::NoFamily));
            block
        }
    }
}

/// Refuses what is one of these values, which are in order where there are many.
fn one_of(values: &[u32], refusal: Refusal) -> Vec<Instruction> {
    const FEW: usize = 4;
    let (low, high) = values.split_at(values.len() / 2);
    if let Some(first) = high.first().filter(|_| values.len() > FEW) {
        let below = one_of(low, refusal);
        let mut block = vec![(IF_AT_LEAST, skipped(below.len() + 1, 0), 0, *first)];
        block.extend(below);
        block.extend(one_of(high, refusal));
        return block;
    }
    let left = (1..=values.len()).rev();
    let tests = values.iter().zip(left);
    let mut block: Vec<Instruction> =
        tests.map(|(value, left)| (IF_EQUAL, skipped(left + 1, 0), 0, *value)).collect();
    block.extend([ALLOW, refuse(refusal)]);
    block
}

/// Refuses where one test holds for both arguments.
fn both(
    test: u16,
    (first, one): (u8, u32),
    (second, other): (u8, u32),
    refusal: Refusal,
) -> Vec<Instruction> {
    vec![
        argument(first),
        (test, 0, 3, one),
        argument(second),
        (test, 0, 1, other),
        refuse(refusal),
        ALLOW,
    ]
}

fn protocols(family: &Family) -> Vec<Instruction> {
    if family.protocols.is_empty() {
        return vec![ALLOW];
    }
    let mut block = vec![argument(2)];
    for protocol in family.protocols {
        block.extend([(IF_EQUAL, 0, 1, *protocol), ALLOW]);
    }
    block.push(refuse(Refusal::NoProtocol));
    block
}

/// Loads the low half of an argument: the kernel looks at no more of an `int`.
fn argument(place: u8) -> Instruction {
    (LOAD, 0, 0, 16 + 8 * u32::from(place))
}

fn refuse(refusal: Refusal) -> Instruction {
    (RETURN, 0, 0, 0x0005_0000 | refusal.errno() as u32)
}
