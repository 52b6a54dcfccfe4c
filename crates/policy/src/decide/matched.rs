//! What a pattern of file names matches on the disk, where a link among it leads elsewhere.

use super::Style;
use super::perform::Deed;
use super::verdict::Reason;
use super::walk::Walk;
use crate::command::{Arg, Certainty};
use crate::jail::{Entry, Lookup as _};
use crate::name::Step;

/// Most links that one pattern is followed through.
const MOST_LINKS: usize = 32;

impl Walk<'_> {
    /// Returns why a pattern is refused for a link that it matches, if the disk can be seen.
    pub(super) fn matched(&self, path: &Arg<'_>, deed: Deed, cwd: &str) -> Option<Reason> {
        let harmless = deed == Deed::Read && self.judge.style == Style::Confined;
        if path.certainty != Certainty::Pattern || harmless {
            return None;
        }
        let wild = path.text.find(['*', '?', '['])?;
        let (known, rest) = path.text.split_at_checked(wild)?;
        let (folder, start) = known.rsplit_once('/').map_or((".", known), |(folder, start)| {
            (if folder.is_empty() { "/" } else { folder }, start)
        });
        let (end, behind) = rest.split_once('/').map_or((rest, None), |(end, b)| (end, Some(b)));
        // A link at the end is what is deleted, and not what it leads to.
        if behind.is_none() && matches!(deed, Deed::Delete(_)) {
            return None;
        }
        let sight = self.sight();
        let folder = self.judge.ground().place(folder, cwd, &sight).path;
        let pattern = format!("{start}{end}");
        let pattern = Step::pattern(&pattern);
        let is_link = |name: &String| {
            let path = format!("{}/{name}", folder.trim_end_matches('/'));
            pattern.may_be(name) && matches!(sight.look(&path), Entry::Link(_))
        };
        let links = sight.entries(&folder)?.into_iter().filter(is_link).take(MOST_LINKS);
        let refused = links.filter_map(|name| {
            let behind = behind.map_or_else(String::new, |behind| format!("/{behind}"));
            let text = format!("{}/{name}{behind}", folder.trim_end_matches('/')).into();
            self.path_from(&Arg { text, verbatim: None, ..path.clone() }, deed, cwd)
        });
        refused.max_by_key(|reason| reason.answer)
    }
}
