//! The filter, run in a small machine of our own for every call there is.

use super::*;

/// Runs a filter as the kernel does, and returns its answer and how many instructions it took.
pub(crate) fn run(
    program: &[Instruction],
    arch: u32,
    number: u32,
    arguments: [u64; 6],
) -> (u32, usize) {
    let (mut at, mut a, mut steps) = (0, 0_u32, 0);
    loop {
        let (code, yes, no, k) = program[at];
        at += 1;
        steps += 1;
        let jump = |condition: bool| usize::from(if condition { yes } else { no });
        match code {
            0x20 => {
                a = match k {
                    0 => number,
                    4 => arch,
                    k => (arguments[(k as usize - 16) / 8] & 0xffff_ffff).try_into().unwrap(),
                }
            }
            0x06 => return (k, steps),
            0x05 => at += k as usize,
            0x15 => at += jump(a == k),
            0x35 => at += jump(a >= k),
            0x45 => at += jump(a & k != 0),
            other => panic!("instruction {other:#x}"),
        }
    }
}

const ALLOW: u32 = 0x7fff_0000;
const X86: Arch = Arch::X86_64;

fn errno(program: &[Instruction], number: u32, arguments: [u64; 6]) -> Option<u32> {
    let (answer, _) = run(program, X86.audit(), number, arguments);
    (answer != ALLOW).then_some(answer & 0xffff)
}

#[test]
fn every_rule_refuses_and_every_other_number_is_allowed() {
    for arch in [Arch::X86_64, Arch::Aarch64] {
        let program = compile(arch, Nesting::Off, Sockets::Own, Groups::Own);
        for number in 0..=NEWEST {
            let rule = RULES.iter().find(|rule| rule.number(arch) == Some(number));
            let (answer, _) = run(&program, arch.audit(), number, [0; 6]);
            match rule.map(|rule| rule.check) {
                Some(Check::Always(refusal)) => {
                    assert_eq!(answer, 0x5_0000 | u32::from(refusal.errno()), "{number}");
                }
                // With arguments of zero: a socket of family 0 is the one that is refused.
                Some(Check::Socket(_)) => assert_eq!(answer, 0x5_0000 | 97, "{number}"),
                Some(_) | None => assert_eq!(answer, ALLOW, "{number}"),
            }
        }
    }
}

#[test]
fn other_processors_newer_numbers_and_x32_are_refused() {
    let program = compile(X86, Nesting::Off, Sockets::Own, Groups::Own);
    assert_eq!(run(&program, 0x4000_0003, 1, [0; 6]).0, 0x8000_0000, "i386");
    for number in [NEWEST + 1, 1000, 0x4000_0000, 0x4000_0001, u32::MAX] {
        assert_eq!(errno(&program, number, [0; 6]), Some(38), "{number}");
    }
}

#[test]
fn arguments_are_compared_on_their_low_half() {
    let program = compile(X86, Nesting::Off, Sockets::Own, Groups::Own);
    let high = 0xdead_beef_0000_0000_u64;
    #[rustfmt::skip]
    let cases: [(u32, [u64; 6], Option<u32>, &str); 30] = [
        // call  arguments                        errno      because
        (56,     [0x11, 0, 0, 0, 0, 0],           None,      "fork"),
        (56,     [0x3d0f00, 0, 0, 0, 0, 0],       None,      "a thread"),
        (90,     [0, 0o4755, 0, 0, 0, 0],         Some(1),   "a file that runs as its owner"),
        (257,    [0, 0, 0o100, 0o4755, 0, 0],     Some(1),   "the same, from the start"),
        (257,    [0, 0, 0, 0o4755, 0, 0],         None,      "no mode: nothing is created"),
        (257,    [0, 0, 0o100, high | 0o755, 0, 0], None,    "an ordinary file"),
        (56,     [0x1000_0011, 0, 0, 0, 0, 0],    Some(1),   "a user namespace"),
        (56,     [high | 0x2_0011, 0, 0, 0, 0, 0], Some(1),  "a mount namespace, with noise above"),
        (272,    [0x400, 0, 0, 0, 0, 0],          None,      "unshare of files"),
        (272,    [0x4000_0000, 0, 0, 0, 0, 0],    Some(1),   "a network namespace"),
        (272,    [0x80, 0, 0, 0, 0, 0],           Some(1),   "a time namespace"),
        (16,     [0, 0x5401, 0, 0, 0, 0],         None,      "TCGETS"),
        (16,     [0, 0x5412, 0, 0, 0, 0],         Some(1),   "TIOCSTI"),
        (16,     [0, high | 0x5412, 0, 0, 0, 0],  Some(1),   "TIOCSTI with noise above"),
        (16,     [0, 0x541c, 0, 0, 0, 0],         Some(1),   "TIOCLINUX"),
        (16,     [0, 0x5423, 0, 0, 0, 0],         Some(1),   "TIOCSETD"),
        (41,     [1, 1, 0, 0, 0, 0],              None,      "unix"),
        (41,     [2, 1, 6, 0, 0, 0],              None,      "TCP"),
        (41,     [10, 2, 17, 0, 0, 0],            None,      "UDP"),
        (41,     [2, 3, 1, 0, 0, 0],              Some(93),  "ICMP"),
        (41,     [2, 1, 132, 0, 0, 0],            Some(93),  "SCTP"),
        (41,     [16, 3, 0, 0, 0, 0],             None,      "routes"),
        (41,     [16, 3, 12, 0, 0, 0],            Some(93),  "netfilter"),
        (41,     [high | 40, 1, 0, 0, 0, 0],      Some(97),  "vsock"),
        (54,     [3, 6, 1, 0, 0, 0],              None,      "TCP_NODELAY"),
        (54,     [3, 6, 31, 0, 0, 0],             Some(1),   "TCP_ULP"),
        (285,    [3, 0, 0, 9, 0, 0],              None,      "a file that grows within its bound"),
        (285,    [3, 3, 0, 9, 0, 0],              None,      "a hole"),
        (285,    [3, 0x20, 0, 9, 0, 0],           Some(95),  "a file that grows from within"),
        (285,    [3, high | 1, 0, 9, 0, 0],       Some(95),  "disk behind its end"),
    ];
    for (call, arguments, expected, because) in cases {
        assert_eq!(errno(&program, call, arguments), expected, "{because}");
    }
}

#[test]
fn nested_user_namespaces_open_namespaces_and_mounts_and_nothing_else() {
    let (off, on) = (
        compile(X86, Nesting::Off, Sockets::Own, Groups::Own),
        compile(X86, Nesting::UserNamespaces, Sockets::Own, Groups::Own),
    );
    assert_eq!(errno(&on, 272, [0x1000_0000, 0, 0, 0, 0, 0]), None);
    assert_eq!(errno(&on, 165, [0; 6]), None);
    assert_eq!(errno(&on, 321, [0; 6]), Some(1), "bpf stays refused");
    assert_eq!(errno(&on, 437, [0; 6]), Some(38), "no filter sees the mode of what it makes");
    assert_eq!(errno(&off, 165, [0; 6]), Some(1));
}

#[test]
fn the_tree_is_shallow() {
    let program = compile(X86, Nesting::Off, Sockets::Own, Groups::Own);
    let deepest = (0..=NEWEST).map(|number| run(&program, X86.audit(), number, [0; 6]).1).max();
    assert!(deepest <= Some(16), "{deepest:?} of {}", program.len());
    assert!(program.len() < 256, "{}", program.len());
}

#[test]
fn no_call_has_two_rules() {
    for arch in [Arch::X86_64, Arch::Aarch64] {
        let mut numbers: Vec<_> = RULES.iter().filter_map(|rule| rule.number(arch)).collect();
        let all = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), all);
    }
}

#[test]
fn tracing_tells_of_writes_and_refuses_nothing() {
    const TELL: u32 = 0x7fc0_0000;
    for arch in [Arch::X86_64, Arch::Aarch64] {
        let program = trace(arch);
        assert!(program.len() < 256);
        for number in 0..=NEWEST {
            let told = TRACED.iter().any(|call| call.number(arch) == Some(number));
            // Every flag of an open is set, then none.
            let (all, _) = run(&program, arch.audit(), number, [u64::MAX; 6]);
            assert_eq!(all, if told { TELL } else { ALLOW }, "{number}");
            let (none, _) = run(&program, arch.audit(), number, [0; 6]);
            let is_open =
                number == if arch == X86 { 257 } else { 56 } || (arch == X86 && number == 2);
            assert_eq!(none, if told && !is_open { TELL } else { ALLOW }, "{number}");
        }
    }
    let program = trace(X86);
    for (flags, told) in
        [(0, false), (0x80000, false), (1, true), (2, true), (0x40, true), (0x200, true)]
    {
        let (answer, _) = run(&program, X86.audit(), 257, [0, 0, flags, 0, 0, 0]);
        assert_eq!(answer == TELL, told, "{flags:#x}");
    }
}
