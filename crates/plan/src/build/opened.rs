//! Sockets of the host that stay open, because `network.unix` lists them.
//!
//! Each is attached where it lies, so that it is also there in folders that are replaced, and belongs
//! to whoever may use it. Hidden ones stay hidden. Which there are is known when the run starts.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use palisade_policy::name::PathPattern;

use super::Owners;
use super::files::is_private;
use super::planted::{Ground, refused};
use crate::facts::{Facts, Kind, Place};
use crate::order::Order;
use crate::plan::Note;

/// Sockets of the host that stay open.
pub(super) struct Opened<'f> {
    facts: &'f Facts,
    /// In the order of their paths, each once.
    sockets: Vec<&'f Place>,
}

impl<'f> Opened<'f> {
    /// Finds those that the policy lists, and says which they are.
    pub(super) fn of(
        order: &Order,
        facts: &'f Facts,
        (owners, is_hidden): (Owners, &dyn Fn(&Path) -> bool),
        notes: &mut Vec<Note>,
    ) -> Self {
        let mut opened = Self { facts, sockets: Vec::new() };
        let mut seen: BTreeSet<&Path> = BTreeSet::new();
        let mut note = |code, message| notes.push(Note { code, message });
        // A pattern may name a folder by a link, and sockets are known by the names they were bound to.
        let ground = Ground::of(order, facts);
        let mut planted: Vec<Note> = Vec::new();
        let mut leads_to = |pattern: &PathPattern| {
            let place = facts.place(&pattern.as_literal()?)?;
            let Some(link) = ground.planted(place) else { return Some(place) };
            planted.push(refused(place, link, "socket-link"));
            None
        };
        let listed: Vec<(&PathPattern, Option<&Place>)> =
            order.unix.iter().map(|pattern| (pattern, leads_to(pattern))).collect();
        let mut found: Vec<&PathPattern> = Vec::new();
        let sockets = facts.places.iter().filter(|place| place.leads_to == Kind::Socket);
        for place in sockets.filter(|place| ground.planted(place).is_none()) {
            let names = [&place.path, &place.at, &place.real];
            let mut by = listed.iter().filter(|(pattern, leads_to)| {
                names.iter().any(|name| pattern.matches(name))
                    || leads_to.is_some_and(|tree| place.real.starts_with(&tree.real))
            });
            let first = by.next();
            found.extend(first.into_iter().chain(by).map(|(pattern, _)| *pattern));
            let is_listed = first.is_some();
            if !is_listed || !seen.insert(&place.real) {
                continue;
            }
            let shown = place.real.display();
            if is_hidden(&place.real) || is_hidden(&place.at) {
                note("socket-hidden", format!("`{shown}` is hidden, and stays closed"));
                continue;
            }
            // Our own user is nobody outside, and cannot get there.
            let shut = place.shut.as_ref().filter(|_| owners == Owners::Swapped);
            match shut.filter(|_| !is_private(&place.real, facts)) {
                Some(shut) => {
                    let shut = shut.display();
                    let message = format!("`{shown}` is open, but only root may enter `{shut}`");
                    note("socket-shut", message);
                }
                None => note("socket-open", format!("`{shown}` of the host can be reached")),
            }
            opened.sockets.push(place);
        }
        for pattern in order.unix.iter().filter(|pattern| !found.contains(pattern)) {
            note("socket-absent", format!("`{pattern}` is to be open, and no socket is there"));
        }
        notes.extend(planted);
        opened
    }

    /// Returns whether what lies at a path is one of them.
    pub(super) fn has(&self, path: &Path) -> bool {
        let real = self.facts.place(path).map_or(path, |place| &place.real);
        self.sockets.iter().any(|place| place.real == *real)
    }

    /// Returns those that lie in none of `trees`, which are attached as they are, and where each is
    /// to be.
    pub(super) fn outside(&self, trees: &[&Place]) -> Vec<(&'f Place, PathBuf)> {
        let in_tree = |path: &Path| trees.iter().any(|tree| path.starts_with(&tree.real));
        let mut all = Vec::new();
        for place in &self.sockets {
            all.push((*place, place.real.clone()));
            // A link in a folder that is replaced is gone with it.
            if place.at != place.real && is_private(&place.at, self.facts) {
                all.push((*place, place.at.clone()));
            }
        }
        all.retain(|(_, at)| !in_tree(at));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::tests::{facts, order, pattern, permit};
    use crate::facts::{Idmap, Privilege};
    use crate::step::{Owner, Shape, Step};
    use crate::{Plan, build};

    const SOCKETS: [&str; 6] = [
        "/home/dev/.ssh/agent",
        "/home/dev/app/server",
        "/run/db/one",
        "/run/db/two",
        "/srv/database",
        "/tmp/x",
    ];

    fn planned(unix: &[&str], privilege: Privilege) -> Plan {
        let mut facts = facts(privilege);
        facts.sockets = SOCKETS.map(PathBuf::from).into();
        let home = facts.place("/home/dev".as_ref()).unwrap().clone();
        for path in SOCKETS.map(PathBuf::from) {
            let (at, real) = (path.clone(), path.clone());
            let (is, leads_to, owner) = (Kind::Socket, Kind::Socket, (7, 8));
            facts.places.push(Place { path, at, real, is, leads_to, owner, ..home.clone() });
        }
        facts.places.sort_by(|one, other| crate::paths::by_bytes(&one.path, &other.path));
        let unix = unix.iter().map(|text| pattern(text)).collect();
        build(&permit(), &Order { unix, ..order() }, &facts).unwrap()
    }

    /// Returns what is attached of them, and what is covered.
    fn seen(plan: &Plan) -> (Vec<String>, Vec<String>) {
        let (mut attached, mut covered) = (Vec::new(), Vec::new());
        let is_socket = |path: &&PathBuf| SOCKETS.iter().any(|it| Path::new(it) == **path);
        for step in plan.steps() {
            if let Step::Attach { at, .. } = step {
                attached.extend([at].into_iter().filter(is_socket));
            } else if let Step::Mask(paths) = step {
                covered.extend(paths.iter().filter(is_socket));
            } else if let Step::Cover { at, shape: Shape::File } = step {
                covered.extend([at].into_iter().filter(is_socket));
            }
        }
        let shown = |mut paths: Vec<&PathBuf>| {
            paths.sort();
            paths.into_iter().map(|path| path.display().to_string()).collect()
        };
        (shown(attached), shown(covered))
    }

    #[test]
    fn what_is_listed_is_open_and_the_rest_is_not() {
        let in_tree = "/home/dev/app/server";
        #[rustfmt::skip]
        let table: [(&[&str], &[&str], &[&str]); 6] = [
            (&[],                          &[],                             &[in_tree, "/srv/database"]),
            (&["/run/db/one"],             &["/run/db/one"],                &[in_tree, "/srv/database"]),
            (&["/run/db"],                 &["/run/db/one", "/run/db/two"], &[in_tree, "/srv/database"]),
            (&["/run/*/two", "/srv"],      &["/run/db/two", "/srv/database"], &[in_tree]),
            (&["/"],                       &["/run/db/one", "/run/db/two", "/srv/database", "/tmp/x"], &[]),
            (&["/home/dev/app", "/run/d"], &[],                             &["/srv/database"]),
        ];
        for (unix, open, covered) in table {
            let plan = planned(unix, Privilege::Ordinary);
            let (attached, masked) = seen(&plan);
            assert_eq!(attached, open, "{unix:?}");
            assert_eq!(masked, covered, "{unix:?}");
            let is_told = |it: &&str| plan.notes().iter().any(|note| note.message.contains(*it));
            assert!(open.iter().all(is_told), "{:?}", plan.notes());
        }
    }

    #[test]
    fn what_is_hidden_stays_so_and_what_is_not_there_is_told() {
        let plan = planned(&["/", "/run/nothing"], Privilege::Ordinary);
        let codes: Vec<_> = plan.notes().iter().map(|note| note.code).collect();
        assert!(codes.contains(&"socket-hidden"), "{codes:?}");
        let absent = plan.notes().iter().filter(|note| note.code == "socket-absent");
        let absent: Vec<_> = absent.map(|note| &*note.message).collect();
        assert_eq!(absent, ["`/run/nothing` is to be open, and no socket is there"]);
        assert!(!seen(&plan).0.contains(&"/home/dev/.ssh/agent".to_owned()));
    }

    #[test]
    fn what_root_opens_belongs_to_whoever_runs_inside() {
        let plan = planned(&["/run/db/one"], Privilege::Root { idmap: Idmap::Works });
        let owner = Owner::Swapped { uid: 7, gid: 8 };
        let is_ours = |step: &Step| {
            matches!(step, Step::Keep(keep)
                if keep.path == Path::new("/run/db/one") && keep.owner == owner)
        };
        assert!(plan.steps().iter().any(is_ours), "{plan}");
    }
}
