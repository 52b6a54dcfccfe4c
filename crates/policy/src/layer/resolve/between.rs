//! Two systems that speak with one voice: the stricter of them holds (Ruling 2).

use super::Stack;
use crate::key::{Field, Grants, Item, Setting, Strictness};
use crate::layer::Layer;
use crate::name::PathPattern;
use crate::policy::Policy;

/// What one text says for everyone, an agent or a task.
pub(super) struct Statement {
    /// How strong it is.
    pub(super) rank: (Layer, u8, Layer),
    /// What the text is written in, if it is a file.
    pub(super) dialect: Option<&'static str>,
    pub(super) policy: Policy,
}

impl Statement {
    /// Returns whether a file says how far things are open: by a profile, or, in another system's
    /// words, by its own lists. A native file that only adds to lists means the ones below it.
    pub(super) fn confines(&self) -> bool {
        let Policy { profile, files, network, .. } = &self.policy;
        let lists = files.write.is_stated() || network.mode.sourced().is_some();
        let foreign = self.dialect.is_some_and(|dialect| dialect != "native");
        self.dialect.is_some() && profile.sourced().is_some() || foreign && lists
    }
}

impl Stack {
    /// Returns a statement with what its profile supplies, no wider than what held when a file of
    /// another system had spoken with the same voice (`chosen`). Within one system the later file
    /// counts, as that system documents; and what a native file says besides its profile replaces
    /// what profiles supply (Ruling 1).
    pub(super) fn beside(&self, said: Statement, chosen: &[Statement]) -> Policy {
        if !said.confines() {
            return self.with_profile(said.policy);
        }
        let Statement { rank, dialect, policy } = said;
        let others = chosen.iter().filter(|other| other.rank == rank && other.dialect != dialect);
        let others: Vec<&Policy> = others.map(|other| &other.policy).collect();
        let mut whole = self.defaults(&policy).unwrap_or_default();
        if dialect == Some("native") {
            others.iter().for_each(|other| whole.narrow(other));
            whole.merge(policy);
        } else {
            whole.merge(policy);
            others.iter().for_each(|other| whole.narrow(other));
        }
        for other in others {
            whole.profile = stricter(&whole.profile, &other.profile);
        }
        whole
    }
}

impl Policy {
    /// Takes back what is opened here and not by `other`.
    fn narrow(&mut self, other: &Self) {
        let (files, network) = (&mut self.files, &mut self.network);
        files.write.narrow(&other.files.write);
        // What the other hides stays hidden; where it hides nothing there is nothing to re-open.
        let hidden = |path: &PathPattern| other.files.hide.values().any(|hide| hide.covers(path));
        let open = |path: &PathPattern| !hidden(path) || other.files.allow_read.cover(path);
        if !files.allow_read.values().all(open) {
            let kept = files.allow_read.entries().iter().filter(|entry| open(&entry.value));
            files.allow_read = Grants::new(kept.cloned().collect()).into_default();
        }
        network.mode = stricter(&network.mode, &other.network.mode);
        network.allow.narrow(&other.network.allow);
        network.host_ports.narrow(&other.network.host_ports);
        network.publish.narrow(&other.network.publish);
        network.unix.narrow(&other.network.unix);
        network.local_binding = stricter(&network.local_binding, &other.network.local_binding);
    }
}

/// Returns the stricter of two settings, as the default of a profile; the first where they cannot
/// be compared.
fn stricter<T: Clone + Item + Strictness>(one: &Setting<T>, other: &Setting<T>) -> Setting<T> {
    match (one.sourced(), other.sourced()) {
        (Some(own), Some(wanted))
            if wanted.value.within(&own.value) && !own.value.within(&wanted.value) =>
        {
            other.clone().into_default()
        }
        (Some(_), None) => Setting::default(), // unset is the strictest
        (Some(_), Some(_)) | (None, _) => one.clone(),
    }
}
