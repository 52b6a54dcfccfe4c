//! Many host patterns, asked at once.

use std::net::IpAddr;

use super::host_pattern::{Net, Scope, Shape, Target};
use super::{Host, HostName, HostPattern, Port, WideHost};

/// An index over a list of patterns that answers which of them is the first to match.
///
/// Names are kept sorted by their reversed text, so that a look-up walks from the last label to
/// the first, narrows the sorted range at each, and ends as soon as nothing is left. It neither
/// hashes nor allocates.
#[derive(Clone, Debug, Default)]
pub struct HostSet {
    names: Vec<Names>,
    nets: Vec<(Net, Entry)>,
    any: Vec<Entry>,
}

/// All patterns that share one base name.
#[derive(Clone, Debug)]
struct Names {
    reversed: Box<[u8]>,
    entries: Vec<(Scope, Entry)>,
}

/// A pattern's place in the list, and the port it is limited to.
#[derive(Clone, Copy, Debug)]
struct Entry {
    index: usize,
    port: Option<Port>,
}

impl HostSet {
    /// Builds the index of `patterns`, a list that grants.
    pub fn new<'a>(patterns: impl IntoIterator<Item = &'a HostPattern>) -> Self {
        Self::of_shapes(patterns.into_iter().map(|pattern| &pattern.0))
    }

    /// Builds the index of `patterns`, a list that refuses or asks.
    pub fn of_wide<'a>(patterns: impl IntoIterator<Item = &'a WideHost>) -> Self {
        Self::of_shapes(patterns.into_iter().map(|pattern| &pattern.0))
    }

    /// Returns the place in the list of the first pattern that matches.
    pub fn find(&self, host: &Host, port: u16) -> Option<usize> {
        let any = self.any.iter().find(|entry| entry.takes(port)).map(|entry| entry.index);
        // `None` is smaller than any place, so it must not take part in the comparison.
        any.into_iter().chain(self.find_specific(host, port)).min()
    }

    /// Returns the place in the list of the first pattern that matches and is not `*`.
    pub fn find_specific(&self, host: &Host, port: u16) -> Option<usize> {
        match host {
            Host::Name(name) => self.find_name(name, port),
            Host::Ip(address) => self.find_address(*address, port),
        }
    }

    /// Returns whether some pattern matches at some port.
    pub fn has_any_port(&self, host: &Host) -> bool {
        self.at_ports(host, |_| true)
    }

    /// Returns whether some pattern matches at every port.
    pub fn has_every_port(&self, host: &Host) -> bool {
        self.at_ports(host, |entry| entry.port.is_none())
    }

    fn at_ports(&self, host: &Host, wanted: impl Fn(&Entry) -> bool) -> bool {
        self.any.iter().any(&wanted)
            || match host {
                Host::Name(name) => self.names.iter().any(|names| {
                    let hits = |scope: Scope| names.reaches(scope, name);
                    names.entries.iter().any(|(scope, entry)| wanted(entry) && hits(*scope))
                }),
                Host::Ip(address) => {
                    self.nets.iter().any(|(net, entry)| wanted(entry) && net.contains(*address))
                }
            }
    }

    fn of_shapes<'a>(shapes: impl Iterator<Item = &'a Shape>) -> Self {
        let mut set = Self::default();
        let mut names: Vec<(Box<[u8]>, Scope, Entry)> = Vec::new();
        for (index, shape) in shapes.enumerate() {
            let entry = Entry { index, port: shape.port };
            match &shape.target {
                Target::Any => set.any.push(entry),
                Target::Name(scope, base) => {
                    names.push((base.as_str().bytes().rev().collect(), *scope, entry));
                }
                Target::Net(net) => set.nets.push((*net, entry)),
            }
        }
        // A stable sort: within one base, entries stay in the order of the list.
        names.sort_by(|a, b| a.0.cmp(&b.0));
        for (reversed, scope, entry) in names {
            match set.names.last_mut() {
                Some(last) if last.reversed == reversed => last.entries.push((scope, entry)),
                Some(_) | None => {
                    set.names.push(Names { reversed, entries: vec![(scope, entry)] });
                }
            }
        }
        set
    }

    fn find_address(&self, address: IpAddr, port: u16) -> Option<usize> {
        let hit = self.nets.iter().find(|(net, entry)| entry.takes(port) && net.contains(address));
        hit.map(|(_, entry)| entry.index)
    }

    fn find_name(&self, name: &HostName, port: u16) -> Option<usize> {
        let mut buffer = [0; HostName::LONGEST];
        let reversed = buffer.get_mut(..name.as_str().len())?;
        for (place, byte) in reversed.iter_mut().zip(name.as_str().bytes().rev()) {
            *place = byte;
        }
        let reversed = &*reversed;

        let mut best: Option<usize> = None;
        let mut range = self.names.as_slice();
        let mut known = 0;
        for end in label_ends(reversed) {
            // All names in the range agree up to `known`: only the new label is compared.
            let label = reversed.get(known..end)?;
            let part = |names: &Names| {
                let rest = names.reversed.get(known..).unwrap_or_default();
                rest.get(..label.len()).unwrap_or(rest).cmp(label)
            };
            let first = range.partition_point(|names| part(names).is_lt());
            range = range.get(first..)?;
            range = range.get(..range.partition_point(|names| part(names).is_eq()))?;
            // The shortest text comes first, so the base itself, if listed, heads its range.
            let Some(base) = range.first() else { break };
            if base.reversed.len() == end {
                let whole = end == reversed.len();
                let hit = base.entries.iter().find(|(scope, entry)| {
                    let reaches = match scope {
                        Scope::Exact => whole,
                        Scope::Below => !whole,
                        Scope::Tree => true,
                    };
                    reaches && entry.takes(port)
                });
                best = best.into_iter().chain(hit.map(|(_, entry)| entry.index)).min();
            }
            known = end;
        }
        best
    }
}

impl Names {
    /// Returns whether patterns of this base and scope match a name.
    fn reaches(&self, scope: Scope, name: &HostName) -> bool {
        let name = name.as_str().as_bytes();
        let ends = self.reversed.iter().eq(name.iter().rev().take(self.reversed.len()));
        let rest = name.len().saturating_sub(self.reversed.len());
        let below = rest > 0 && name.get(rest - 1) == Some(&b'.');
        ends && match scope {
            Scope::Exact => rest == 0,
            Scope::Below => below,
            Scope::Tree => rest == 0 || below,
        }
    }
}

impl Entry {
    fn takes(self, port: u16) -> bool {
        self.port.is_none_or(|only| only.number() == port)
    }
}

/// Returns where the labels of a reversed name end, from the last label to the first.
fn label_ends(reversed: &[u8]) -> impl Iterator<Item = usize> {
    let dots = reversed.iter().enumerate().filter(|(_, byte)| **byte == b'.');
    dots.map(|(place, _)| place).chain([reversed.len()])
}
