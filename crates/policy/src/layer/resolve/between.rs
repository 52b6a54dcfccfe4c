//! Several systems that speak with one voice: the strictest of them holds (Ruling 2).

use super::{CannotResolve, Stack};
use crate::dialect::{DIALECTS, Dialect, FilesOf, Lists};
use crate::key::{Field as _, Grants, Setting, Silence, Sourced, Strictness as _};
use crate::layer::Layer;
use crate::name::{HostPattern, PathPattern, WideHost};
use crate::policy::{NetworkMode, Policy, Profile};

/// What one text says for everyone, an agent or a task.
pub(super) struct Statement {
    /// How strong it is.
    pub(super) rank: Rank,
    /// What the text is written in, if it is a file.
    pub(super) dialect: Option<&'static Dialect>,
    pub(super) policy: Policy,
}

/// The group of layers, for whom it is said, and the layer.
pub(super) type Rank = (Layer, u8, Layer);

/// What one system says in one layer, for everyone and for those who are chosen.
struct System {
    layer: Layer,
    dialect: &'static Dialect,
    policy: Policy,
}

impl Stack {
    /// Returns statements, weakest first, each with what its profile supplies and no wider than
    /// what other systems say in the same layer, for whomever they say it. Within one system the
    /// later file counts, as that system documents, and so do options, which come last. In which
    /// order the systems were named makes no difference.
    pub(super) fn between(&self, mut said: Vec<Statement>) -> Result<Vec<Policy>, CannotResolve> {
        let place = |dialect: Option<&'static Dialect>| {
            dialect.map_or(DIALECTS.len(), |dialect| {
                DIALECTS.iter().position(|known| *known == dialect).unwrap_or_default()
            })
        };
        said.sort_by_key(|said| (said.rank, place(said.dialect))); // stable: see `statements`
        let mut said = under_their_layers(said);
        let mut systems: Vec<System> = Vec::new();
        for Statement { rank, dialect, policy } in &mut said {
            *policy = self.with_profile(std::mem::take(policy))?;
            if let Some(dialect) = *dialect {
                System::hear(&mut systems, rank.2, dialect, policy);
            }
        }
        let narrowed = |Statement { rank, dialect, mut policy }: Statement| {
            let others = systems.iter().filter(|other| other.layer == rank.2);
            for other in others.filter(|other| dialect.is_some_and(|own| own != other.dialect)) {
                policy.narrow_beside(other);
            }
            policy
        };
        Ok(said.into_iter().map(narrowed).collect())
    }
}

/// Puts the profile that an option chooses, or a later file of ours, under all that is said in the
/// same layer for the same people: it only supplies defaults, and explicit keys of its layer replace
/// them (Ruling 1). Another choice in that layer is replaced by it.
fn under_their_layers(said: Vec<Statement>) -> Vec<Statement> {
    let mut all: Vec<Statement> = Vec::with_capacity(said.len() + 1);
    let mut rest = said.into_iter().peekable();
    while let Some(first) = rest.next() {
        let mut layer = vec![first];
        while let Some(next) = rest.next_if(|next| layer.iter().all(|it| it.rank == next.rank)) {
            layer.push(next);
        }
        lay_under(&mut layer);
        all.append(&mut layer);
    }
    all
}

// Apart, as here and below: mostly nothing is said, and a policy takes much of a stack.
#[inline(never)]
fn lay_under(layer: &mut Vec<Statement>) {
    let chooses = |said: &Statement| said.is_ours() && said.policy.profile.sourced().is_some();
    let Some(at) = layer.iter().rposition(chooses) else { return };
    let Some(Statement { rank, dialect, policy }) = layer.get_mut(at) else { return };
    let (rank, dialect) = (*rank, *dialect);
    // An option replaces the choice of every system, a file of ours that of our own files.
    let replaces = |said: &Statement| dialect.is_none() || said.is_ours();
    let profile = std::mem::take(&mut policy.profile);
    let under = layer.iter().position(replaces).unwrap_or(at);
    if under == at {
        if let Some(Statement { policy, .. }) = layer.get_mut(at) {
            policy.profile = profile;
        }
        return;
    }
    for said in layer.iter_mut().filter(|said| replaces(said)) {
        if std::mem::take(&mut said.policy.profile).sourced().is_some() && !said.is_ours() {
            said.policy.files.write = Grants::default(); // what its profile was for
        }
    }
    let policy = Policy { profile, ..Policy::default() };
    // Beside the lists of another system the stricter holds, as between files (Ruling 2).
    let beside = layer.iter().any(|said| !said.is_ours());
    let dialect = if beside { Some(crate::dialect::native()) } else { dialect };
    layer.insert(under, Statement { rank, dialect, policy });
}

impl Statement {
    /// Returns whether it is an option or stands in a file of our own form.
    fn is_ours(&self) -> bool {
        self.dialect.is_none_or(|dialect| *dialect == *crate::dialect::native())
    }
}

impl System {
    /// Adds what a system says for an agent or a task to what it says for everyone.
    #[inline(never)]
    fn hear(systems: &mut Vec<Self>, layer: Layer, dialect: &'static Dialect, policy: &Policy) {
        let same = |known: &&mut Self| known.layer == layer && known.dialect == dialect;
        match systems.iter_mut().find(same) {
            Some(known) => known.policy.merge(policy.clone()),
            None => systems.push(Self { layer, dialect, policy: policy.clone() }),
        }
    }

    /// Returns whether it says by lists of its own how far things are open, where others name a
    /// profile.
    fn confines_by_lists(&self) -> bool {
        let Policy { profile, files, network, .. } = &self.policy;
        let lists = files.write.is_stated() || network.mode.sourced().is_some();
        self.dialect.manner.files == FilesOf::OneSystem && profile.sourced().is_none() && lists
    }
}

impl Policy {
    /// Takes back what is opened here and not by another system.
    #[inline(never)]
    fn narrow_beside(&mut self, other: &System) {
        let (readable, asked) = (self.files.allow_read.clone(), self.network.ask.clone());
        let allowed = self.network.allow.clone();
        let profile = self.profile.clone();
        self.narrow(&other.policy, Silence::SaysNothing);
        let Self { files, network, .. } = &other.policy;
        if other.dialect.manner.lists == Lists::Replace {
            // Its file is a whole policy: what it does not open is closed.
            self.files.narrow(files, Silence::Closes);
            self.network.narrow(network, Silence::Closes);
            if network.local_binding.sourced().is_none() {
                self.network.local_binding = Setting::default();
            }
        }
        if matches!(network.mode.value(), NetworkMode::Monitor | NetworkMode::Disabled) {
            self.network.allow = allowed.clone(); // every host is open there
        }
        self.files.allow_read = readable;
        self.keep_hidden(&other.policy);
        self.network.ask = asked;
        self.keep_asking(&allowed, &other.policy);
        // A name must not promise more than the lists hold.
        let wider = match (profile.sourced(), other.policy.profile.sourced()) {
            (Some(own), Some(theirs)) => {
                !own.value.within(&theirs.value) && !theirs.value.within(&own.value)
            }
            (Some(own), None) => own.value != Profile::Readonly && other.confines_by_lists(),
            (None, _) => false,
        };
        if wider {
            self.profile = Setting::default();
        }
    }

    /// Leaves out what is re-opened here and hidden by the other. Where that hides nothing, there
    /// is nothing to re-open.
    fn keep_hidden(&mut self, other: &Self) {
        let hides = |hide: &PathPattern, path: &PathPattern| {
            let (outer, inner) = (hide.fixed_prefix(), path.fixed_prefix());
            let near = inner.starts_with(&outer) || outer.starts_with(&inner);
            near && (hide == path || !path.covers(hide)) // the more specific of the two counts
        };
        let open = |path: &PathPattern| {
            let hidden = other.files.hide.values().any(|hide| hides(hide, path));
            !hidden || other.files.allow_read.cover(path)
        };
        let files = &mut self.files;
        if !files.allow_read.values().all(open) {
            let kept = files.allow_read.entries().iter().filter(|entry| open(&entry.value));
            let kept = kept.cloned().collect();
            files.allow_read.replace(kept);
        }
    }

    /// Asks where one of the two asks and the other does not refuse. `*` is about names that no list
    /// knows: what one of them allows is known.
    fn keep_asking(&mut self, allowed: &Grants<HostPattern>, other: &Self) {
        let (own, theirs) = (&self.network, &other.network);
        let opened = |asked: &Grants<WideHost>, allowed: &Grants<HostPattern>| {
            let allowed_too = allowed.entries().iter().map(|Sourced { value, origin }| Sourced {
                value: WideHost::from(value.clone()),
                origin: origin.clone(),
            });
            let entries = asked.entries().iter().cloned().chain(allowed_too);
            (asked.is_stated() || allowed.is_stated()).then(|| Grants::new(entries.collect()))
        };
        let (Some(by_us), Some(by_them)) =
            (opened(&own.ask, allowed), opened(&theirs.ask, &theirs.allow))
        else {
            return; // one of the two has no say
        };
        let questions = || own.ask.values().chain(theirs.ask.values());
        let known = own.ask.entries().iter().chain(theirs.ask.entries());
        let listed_by_us = |host: &HostPattern| {
            theirs.ask.values().any(|asked| asked.is_everything() && asked.cancels(host))
        };
        let is_meant = |entry: &Sourced<WideHost>| {
            // An entry of `allow` that only `*` reaches is no question.
            known.clone().any(|asked| asked == entry)
                || questions().any(|asked| !asked.is_everything() && asked.covers(&entry.value))
        };
        let mut asked: Vec<_> = own.ask.common(&by_them).into_iter().filter(is_meant).collect();
        for entry in theirs.ask.common(&by_us).into_iter().filter(is_meant) {
            if !asked.contains(&entry) {
                asked.push(entry);
            }
        }
        let back = allowed.entries().iter().filter(|entry| {
            listed_by_us(&entry.value) && !self.network.allow.entries().contains(entry)
        });
        let opened: Vec<_> = self.network.allow.entries().iter().chain(back).cloned().collect();
        // What somebody asks about and cannot be named exactly is not let through unasked.
        let questions: Vec<&WideHost> =
            questions().filter(|asked| !asked.is_everything()).collect();
        let settled = |host: &HostPattern| {
            let mut near = questions.iter().filter(|question| question.meets(host));
            near.all(|question| asked.iter().any(|entry| entry.value.covers(question)))
        };
        let unasked: Vec<_> = opened.into_iter().filter(|e| settled(&e.value)).collect();
        if unasked != self.network.allow.entries() {
            self.network.allow.replace(unasked);
        }
        if self.network.ask.is_stated() {
            self.network.ask.replace(asked);
        } else if !asked.is_empty() {
            self.network.ask = Grants::new(asked);
        }
    }
}
