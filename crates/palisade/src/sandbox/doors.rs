//! The doors of a run: what the policy lets through is carried from here.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

use palisade_apply::{Inlets, Running};
use palisade_gate::address::Own;
use palisade_gate::net::{Gate, Outside, Rules, Sockets};
use palisade_gate::traffic::Report;
use palisade_plan::network::Rung;
use palisade_plan::{Plan, Step};
use palisade_policy::name::HostName;
use palisade_policy::policy::Network;

use super::Sandbox;
use super::beside::{Beside, Log};
use super::network::Traffic;

/// The doors, once the sandbox has handed its sockets over.
#[derive(Clone, Default)]
pub(super) struct Doors(Arc<Mutex<Option<Opened>>>);

/// What came of opening them.
struct Opened {
    rung: Rung,
    gate: io::Result<Gate>,
    log: Option<Log>,
}

impl Doors {
    /// Attends to the doors of a run, if its plan has any.
    pub(super) fn attend(
        running: Running,
        plan: &Plan,
        network: &Network,
        (sandbox, run): (&Sandbox, &str),
    ) -> (Running, Self) {
        let doors = Self::default();
        if !plan.steps().iter().any(|step| matches!(step, Step::Inlets(_))) {
            return (running, doors);
        }
        let (slot, network) = (doors.clone(), network.clone());
        let beside = Beside::new(sandbox, run);
        let running = running.with_inlets(move |inlets| slot.open(inlets, &network, &beside));
        (running, doors)
    }

    /// Opens them. Where that fails they stay closed, and nothing is reached.
    fn open(&self, inlets: Inlets, network: &Network, beside: &Beside) {
        let Inlets { rung, relay, names, proxy, queue } = inlets;
        let rules = Rules::new(network, Own::asked(own_addresses));
        let Room { flows, pipes } = room();
        let log = beside.log();
        let told = log.as_ref().map(Log::told);
        let outside = Outside { hosts: hosts(), flows, pipes, ask: beside.ask(network), told };
        let sockets = Sockets { relay, names, proxy, queue };
        let gate = Gate::open(sockets, rules, outside);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Opened { rung, gate, log });
    }

    /// Closes them, and returns what went through.
    pub(super) fn close(self) -> Option<Traffic> {
        let opened = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Opened { rung, gate, log } = opened?;
        let mut report = match gate {
            Ok(gate) => gate.close(),
            Err(error) => {
                let trouble = vec![format!("the network was never opened: {error}")];
                Report { trouble, ..Report::default() }
            }
        };
        let lost = log.map_or(0, Log::end);
        if lost > 0 {
            report.trouble.push(format!("{lost} connections are not in the record"));
        }
        Some(Traffic { rung, report })
    }
}

impl fmt::Debug for Doors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Doors").finish_non_exhaustive()
    }
}

/// How many connections there is room for, and pipes between their ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Room {
    flows: usize,
    pipes: usize,
}

/// Counts the descriptors that this process may have. A connection takes two; a pipe takes two more,
/// for each way through which much goes.
fn room() -> Room {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    room_in(limit.unwrap_or(u64::MAX))
}

fn room_in(descriptors: u64) -> Room {
    const MOST: u64 = 4096;
    const OWN: u64 = 64;
    let left = descriptors.saturating_sub(OWN);
    let flows = (left / 12).saturating_mul(5).clamp(8, MOST);
    let pipes = (left.saturating_sub(flows.saturating_mul(2)) / 2).min(MOST);
    let number = |count: u64| usize::try_from(count).unwrap_or(0);
    Room { flows: number(flows), pipes: number(pipes) }
}

/// Returns what the host's own table says of names (hosts(5)).
fn hosts() -> BTreeMap<HostName, Vec<IpAddr>> {
    fs::read_to_string("/etc/hosts").map(|text| parse_hosts(&text)).unwrap_or_default()
}

fn parse_hosts(text: &str) -> BTreeMap<HostName, Vec<IpAddr>> {
    let mut found: BTreeMap<HostName, Vec<IpAddr>> = BTreeMap::new();
    for line in text.lines() {
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        let Some(Ok(address)) = words.next().map(str::parse::<IpAddr>) else { continue };
        for name in words.filter_map(|word| word.parse::<HostName>().ok()) {
            found.entry(name).or_default().push(address);
        }
    }
    found
}

/// Returns the addresses of this machine (proc(5), /proc/net).
fn own_addresses() -> Vec<IpAddr> {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let mut found = parse_v4(&read("/proc/net/fib_trie"));
    found.extend(parse_v6(&read("/proc/net/if_inet6")));
    found
}

/// Finds the leaves that are addresses of this machine itself.
fn parse_v4(trie: &str) -> Vec<IpAddr> {
    let mut found = Vec::new();
    let mut leaf = None;
    for line in trie.lines().map(str::trim) {
        if let Some(address) = line.strip_prefix("|-- ") {
            leaf = address.parse::<Ipv4Addr>().ok();
        } else if line.starts_with("/32 host LOCAL") {
            found.extend(leaf.map(IpAddr::V4));
        }
    }
    found.dedup();
    found
}

fn parse_v6(table: &str) -> Vec<IpAddr> {
    let address = |line: &str| {
        let digits = line.split_whitespace().next()?;
        u128::from_str_radix(digits, 16).ok().map(|bits| IpAddr::V6(Ipv6Addr::from_bits(bits)))
    };
    table.lines().filter_map(address).collect()
}

#[cfg(test)]
mod tests {
    use palisade_gate::net;
    use palisade_plan::network;

    use super::*;

    #[test]
    fn both_sides_of_the_doors_mean_the_same_marks_and_port() {
        let gate = (net::DENIED, net::REFUSED, net::OWN_PORT);
        assert_eq!(gate, (network::DENIED, network::REFUSED, network::RELAY_PORT));
        let own = palisade_gate::dns::GATEWAY;
        assert_eq!((own.v4, own.v6), (network::OWN_V4, network::OWN_V6));
    }

    #[test]
    fn connections_and_pipes_together_need_no_more_descriptors_than_there_are() {
        assert_eq!(room_in(1024), Room { flows: 400, pipes: 80 });
        assert_eq!(room_in(u64::MAX), Room { flows: 4096, pipes: 4096 });
        for limit in [128, 256, 1000, 4096, 20_000] {
            let Room { flows, pipes } = room_in(limit);
            let most = usize::try_from(limit).unwrap() - 64;
            assert!(flows >= 8 && 2 * (flows + pipes) <= most.max(16), "{limit}");
        }
    }

    #[test]
    fn tables_of_names_are_read_as_the_system_reads_them() {
        let text = "127.0.0.1 localhost # own\n\n::1 localhost ip6\nx y\n192.0.2.7\tDB.test db\n";
        let found = parse_hosts(text);
        let of = |name: &str| found.get(&name.parse().unwrap()).cloned().unwrap_or_default();
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        assert_eq!(of("localhost"), [address("127.0.0.1"), address("::1")]);
        assert_eq!(
            (of("db.test"), of("db")),
            (vec![address("192.0.2.7")], vec![address("192.0.2.7")])
        );
        assert_eq!((of("own"), of("y")), (vec![], vec![]));
    }

    #[test]
    fn own_addresses_are_found_in_the_tables_of_the_kernel() {
        let trie = "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 10.0.0.0\n        /24 link UNICAST\n     \
            |-- 10.0.0.5\n        /32 host LOCAL\n     |-- 10.0.0.255\n        /32 link BROADCAST\n";
        assert_eq!(parse_v4(trie), ["10.0.0.5".parse::<IpAddr>().unwrap()]);
        let table = "fe80000000000000000000000000abcd 02 40 20 80 eth0\n\
            00000000000000000000000000000001 01 80 10 80 lo\nodd\n";
        let expected = ["fe80::abcd", "::1"].map(|text| text.parse::<IpAddr>().unwrap());
        assert_eq!(parse_v6(table), expected);
    }
}
