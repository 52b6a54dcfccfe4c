//! What a pattern of file names matches on the disk, where a link among it leads elsewhere.

use super::Style;
use super::feed::Lists;
use super::path::Deed;
use super::verdict::{Axis, Reason};
use super::walk::Walk;
use crate::command::{Arg, Certainty};
use crate::jail::{Listing, Lookup as _, NamedKind};
use crate::name::Step;

/// Most links that one pattern is followed through.
const MOST_LINKS: usize = 32;
/// Most folders that one pattern is looked for in.
const MOST_FOLDERS: usize = 64;

/// A search for links that a pattern matches.
struct Search<'s> {
    path: &'s Arg<'s>,
    deed: Deed,
    cwd: &'s str,
    folders: usize,
    links: usize,
    /// Whether there was something that could not be looked at.
    blind: bool,
    worst: Option<Reason>,
}

impl Walk<'_> {
    /// Returns why a pattern is refused for a link that it matches, if the disk can be seen.
    pub(super) fn matched(&self, path: &Arg<'_>, deed: Deed, cwd: &str) -> Option<Reason> {
        let harmless = deed == Deed::Read && self.judge.style == Style::Confined;
        if path.certainty != Certainty::Pattern || harmless {
            return None;
        }
        let fed = self.fed.as_ref().filter(|fed| fed.text == path.text);
        if fed.is_some_and(|fed| fed.lists == Lists::Files) {
            return None;
        }
        let (folders, links, blind, worst) = (0, 0, false, None);
        let mut search = Search { path, deed, cwd, folders, links, blind, worst };
        // Of what a search finds only what has the name that it looks for is fed.
        let names = fed.and_then(|fed| fed.names.as_ref());
        let folder = path.text.strip_suffix('*');
        match names.zip(folder) {
            Some((names, folder)) => self.search("", &format!("{folder}{names}"), &mut search),
            None => self.search("", &path.text, &mut search),
        }
        // Which of the links is among what was found only running tells.
        if let (Some(_), Some(worst)) = (fed, search.worst.as_mut()) {
            worst.answer = worst.answer.min(self.asking());
        }
        let unseen = search.blind.then(|| Reason {
            answer: self.asking(),
            code: "pattern-may-climb",
            axis: Axis::Path,
            message: "a pattern may match links that could not be looked at".to_owned(),
            span: path.span,
            origin: None,
            hint: Some("name the files, or a folder with fewer".into()),
        });
        search.worst.into_iter().chain(unseen).max_by_key(|reason| reason.answer)
    }

    /// Looks for links that the first wildcard of `rest` matches, in the folder `before`.
    fn search(&self, before: &str, rest: &str, search: &mut Search<'_>) {
        let Some(wild) = rest.find(['*', '?', '[']) else { return };
        let start = rest.get(..wild).and_then(|known| known.rfind('/')).map_or(0, |at| at + 1);
        let Some((plain, rest)) = rest.split_at_checked(start) else { return };
        let (name, behind) = rest.split_once('/').map_or((rest, None), |(n, b)| (n, Some(b)));
        // A link at the end is what is deleted, and not what it leads to.
        if behind.is_none() && matches!(search.deed, Deed::Delete(_)) {
            return;
        }
        search.folders += 1;
        if search.folders > MOST_FOLDERS {
            search.blind = true;
            return;
        }
        let (above, pattern) = (format!("{before}{plain}"), Step::pattern(name));
        let folder = if above.is_empty() { "." } else { &above };
        let folder = self.judge.ground().place(folder, search.cwd, &self.sight()).path;
        let names = match self.sight().list(&folder) {
            Listing::Nowhere => return,
            Listing::Untold => {
                search.blind = true;
                return;
            }
            Listing::Names(names) => names,
        };
        for named in names.iter().filter(|named| pattern.may_be(&named.name)) {
            match (named.kind, behind) {
                (NamedKind::Link, _) => self.follow_link(&above, &named.name, behind, search),
                (NamedKind::Folder, Some(behind)) => {
                    self.search(&format!("{above}{}/", named.name), behind, search);
                }
                (NamedKind::Folder | NamedKind::Other, _) => {}
            }
        }
    }

    fn follow_link(&self, above: &str, name: &str, behind: Option<&str>, search: &mut Search<'_>) {
        search.links += 1;
        if search.links > MOST_LINKS {
            search.blind = true;
            return;
        }
        let behind = behind.map_or_else(String::new, |behind| format!("/{behind}"));
        let text = format!("{above}{name}{behind}").into();
        let link = Arg { text, verbatim: None, ..search.path.clone() };
        let refused = self.path_from(&link, search.deed, search.cwd);
        let known = search.worst.as_ref().map(|reason| reason.answer);
        if refused.as_ref().map(|reason| reason.answer) > known {
            search.worst = refused;
        }
    }
}
