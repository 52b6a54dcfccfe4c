//! The filter of system calls as the profile that container engines read.
//!
//! Those compare whole arguments of 64 bits, and the kernel looks at 32 of them: every comparison
//! here goes through a mask. What is refused unless it is listed becomes a list of all the rest, by
//! common beginnings of bits, as networks are written.

use serde_json::{Value, json};

use crate::seccomp::{Arch, Check, Family, Groups, Nesting, Refusal, refused};

/// Returns the profile.
pub(super) fn profile(arch: Arch, nesting: Nesting, groups: Groups) -> Value {
    let mut calls = Vec::new();
    for (_, rule) in refused(arch, nesting, groups) {
        for (arguments, refusal) in conditions(&rule.check) {
            let mut call = json!({
                "names": [rule.call],
                "action": "SCMP_ACT_ERRNO",
                "errnoRet": refusal.errno(),
            });
            if !arguments.is_empty() {
                call["args"] = arguments.iter().map(Bits::json).collect();
            }
            calls.push(call);
        }
    }
    let arch = match arch {
        Arch::X86_64 => "SCMP_ARCH_X86_64",
        Arch::Aarch64 => "SCMP_ARCH_AARCH64",
    };
    json!({ "defaultAction": "SCMP_ACT_ALLOW", "architectures": [arch], "syscalls": calls })
}

/// Says that some bits of an argument are these.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Bits {
    argument: u8,
    mask: u32,
    are: u32,
}

impl Bits {
    fn all(argument: u8, are: u32) -> Self {
        Self { argument, mask: u32::MAX, are }
    }

    fn json(&self) -> Value {
        let Self { argument, mask, are } = self;
        json!({ "index": argument, "value": mask, "valueTwo": are, "op": "SCMP_CMP_MASKED_EQ" })
    }
}

/// Returns when a call is refused: each entry is one case, in which all of it holds.
fn conditions(check: &Check) -> Vec<(Vec<Bits>, Refusal)> {
    match *check {
        Check::Always(refusal) => vec![(Vec::new(), refusal)],
        Check::AnyBit(argument, bits, refusal) => {
            each(argument, bits).map(|bit| (vec![bit], refusal)).collect()
        }
        Check::OneOf(argument, values, refusal) => {
            let all = values.iter().map(|value| Bits::all(argument, *value));
            all.map(|bits| (vec![bits], refusal)).collect()
        }
        Check::Both((one, this), (other, that), refusal) => {
            vec![(vec![Bits::all(one, this), Bits::all(other, that)], refusal)]
        }
        Check::BothBits((one, these), (other, those), refusal) => {
            let pairs = each(one, these)
                .flat_map(|this| each(other, those).map(move |that| vec![this, that]));
            pairs.map(|pair| (pair, refusal)).collect()
        }
        Check::Socket(families) => sockets(families),
    }
}

/// Returns a condition for each bit of `bits`.
fn each(argument: u8, bits: u32) -> impl Iterator<Item = Bits> {
    let set = (0..32).map(|place| 1_u32 << place).filter(move |bit| bits & bit != 0);
    set.map(move |bit| Bits { argument, mask: bit, are: bit })
}

/// Returns when a socket is refused: by its family, and by its protocol in some families.
fn sockets(families: &[Family]) -> Vec<(Vec<Bits>, Refusal)> {
    let numbers: Vec<u32> = families.iter().map(|family| family.number).collect();
    let mut cases: Vec<(Vec<Bits>, Refusal)> = others(&numbers)
        .map(|(mask, are)| (vec![Bits { argument: 0, mask, are }], Refusal::NoFamily))
        .collect();
    for family in families.iter().filter(|family| !family.protocols.is_empty()) {
        let own = Bits::all(0, family.number);
        let cases_of = others(family.protocols)
            .map(|(mask, are)| (vec![own, Bits { argument: 2, mask, are }], Refusal::NoProtocol));
        cases.extend(cases_of);
    }
    cases
}

/// Returns every number but those listed, as masks and what is left of a number under them.
fn others(listed: &[u32]) -> impl Iterator<Item = (u32, u32)> {
    let mut found = Vec::new();
    let mut open = vec![(0_u32, 0_u32)];
    while let Some((mask, are)) = open.pop() {
        if !listed.iter().any(|number| number & mask == are) {
            found.push((mask, are));
        } else if mask != u32::MAX {
            // The next bit, from the top.
            let bit = 1_u32 << (31 - mask.count_ones());
            open.extend([(mask | bit, are | bit), (mask | bit, are)]);
        }
    }
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seccomp::Sockets;
    use crate::seccomp::tests::run;
    use crate::seccomp::{RULES, compile};

    #[test]
    fn all_numbers_but_those_listed_are_others() {
        let listed = [0, 6, 17, 262];
        let is_other = |number: u32| others(&listed).any(|(mask, are)| number & mask == are);
        for number in (0..2000).chain([u32::MAX, 1 << 31, (1 << 31) + 6]) {
            assert_eq!(is_other(number), !listed.contains(&number), "{number}");
        }
        assert!(others(&listed).count() < 60);
    }

    /// Says what the rules of a call do to it, as libseccomp reads them.
    fn engine(rules: &[&Value], arguments: [u64; 6]) -> u32 {
        let holds = |it: &Value| {
            let part = |key: &str| it[key].as_u64().unwrap();
            arguments[usize::try_from(part("index")).unwrap()] & part("value") == part("valueTwo")
        };
        let matches = |rule: &&&Value| {
            rule.get("args").is_none_or(|args| args.as_array().unwrap().iter().all(holds))
        };
        let refusal = rules.iter().find(matches).map(|rule| rule["errnoRet"].as_u64().unwrap());
        refusal.map_or(0x7fff_0000, |errno| 0x0005_0000 | u32::try_from(errno).unwrap())
    }

    #[test]
    fn the_profile_refuses_what_our_own_filter_refuses() {
        let numbers = [0, 1, 2, 6, 10, 16, 17, 31, 64, 262, 0x1000_0000, 0x5412, 0o4000, 0o2755];
        let high = 7 << 32;
        let (on, off) = (Nesting::UserNamespaces, Nesting::Off);
        let kinds = [(off, Groups::Own), (on, Groups::Own), (off, Groups::Roots)];
        for (nesting, groups) in kinds {
            let ours = compile(Arch::X86_64, nesting, Sockets::Own, groups);
            let theirs = profile(Arch::X86_64, nesting, groups);
            for rule in RULES {
                let Some(number) = rule.number(Arch::X86_64) else { continue };
                let all = theirs["syscalls"].as_array().unwrap().iter();
                let theirs: Vec<&Value> = all.filter(|it| it["names"][0] == rule.call).collect();
                for (a, b) in numbers.iter().flat_map(|a| numbers.map(|b| (*a, b))) {
                    let low: [[u64; 6]; 2] = [[a, a, b, b, a, 0], [a, b, b, a, b, 0]];
                    for arguments in low.into_iter().chain(low.map(|it| it.map(|word| word | high)))
                    {
                        let (is, _) = run(&ours, Arch::X86_64.audit(), number, arguments);
                        assert_eq!(engine(&theirs, arguments), is, "{} {arguments:x?}", rule.call);
                    }
                }
            }
        }
    }
}
