//! What may leave.

use super::{Lowered, Lowering, Out, Standing};
use crate::dialect::bloom::switch::hears;
use crate::key::{Grants, Setting, Sourced};
use crate::policy::NetworkMode;

impl Lowering<'_> {
    /// Lowers `networkPolicy` and `allowedDomains`. Domains count in one mode only, but lists are
    /// combined before they are understood: they stay where a section above chooses that mode.
    pub(super) fn lower_network(
        &self,
        standing: Standing,
        below: &[Lowered],
        out: &mut Out<'_>,
    ) -> Option<NetworkMode> {
        let section = out.section;
        let written = section.mode.as_ref().map(|mode| mode.value);
        let inherited = below.iter().rev().find_map(|lowered| lowered.mode);
        let mode = match standing {
            Standing::First | Standing::Above => {
                written.or(inherited).or(Some(NetworkMode::DenyAll))
            }
            Standing::Anywhere => written,
        };
        let default = || Sourced { value: NetworkMode::DenyAll, origin: section.origin.clone() };
        let said = section.mode.clone().or_else(|| (standing == Standing::First).then(default));
        if let Some(said) = said {
            out.policy.network.mode = Setting::new(said);
        }
        if standing == Standing::First && mode == Some(NetworkMode::AllowList) {
            // An empty list is a list too: nothing is reached.
            out.policy.network.allow = Grants::new(Vec::new());
        }
        let Some(domains) = section.domains.as_ref().filter(|list| !list.entries.is_empty()) else {
            return mode;
        };
        match mode {
            Some(mode @ (NetworkMode::DenyAll | NetworkMode::Monitor | NetworkMode::Disabled))
                if !self.are_wanted(out) =>
            {
                let message = format!("`allowedDomains` does not count: the policy is `{mode}`");
                let hint = Some("write `networkPolicy: allow-list`, or remove the list");
                out.note("unused-domains", message, domains.span, hint);
            }
            Some(_) | None => out.policy.network.allow = Grants::new(domains.entries.clone()),
        }
        mode
    }

    /// Tells whether a section above has the domains of this one count.
    fn are_wanted(&self, out: &Out<'_>) -> bool {
        let scope = &out.section.scope;
        let mut layers = self.files.iter().map(|file| file.layer);
        layers.any(|layer| {
            hears(out.file.layer, layer) && self.wanted.contains(&(scope.clone(), layer))
        })
    }
}
