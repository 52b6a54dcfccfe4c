//! Sockets of the host that lie where nothing is replaced.
//!
//! To connect to one the kernel asks for the right to write to its file, and does not care whether
//! the mount can be written; Landlock cannot forbid it. Each is covered. One that comes to be later
//! is a stated limit (Ruling 26).

use std::path::Path;

use super::files::is_private;
use super::opened::Opened;
use crate::facts::{Facts, Kind, Place, Searched};
use crate::paths::Lies as _;
use crate::plan::{Note, Strength};
use crate::step::Step;

/// Returns what covers them, but for those that are `opened` and those in folders that are replaced: by private ones, or by
/// layers, below which sockets lead nowhere. What is `attached` there is as it is outside. Those in
/// writable trees that were found there are covered already.
pub(super) fn cover(
    facts: &Facts,
    trees: &[&Place],
    (layers, attached): (&[&Path], &[&Path]),
    opened: &Opened<'_>,
) -> Option<Step> {
    let within = |path: &Path, folders: &[&Path]| folders.iter().any(|it| path.lies_in(it));
    let is_found = |path: &Path| {
        facts.place(path).is_some_and(|place| place.is == Kind::Socket)
            && trees.iter().any(|tree| path.lies_in(&tree.real))
    };
    let is_gone =
        |path: &Path| (is_private(path, facts) || within(path, layers)) && !within(path, attached);
    let doors =
        facts.sockets.iter().filter(|path| !is_gone(path) && !is_found(path) && !opened.has(path));
    let doors: Vec<_> = doors.cloned().collect();
    (!doors.is_empty()).then_some(Step::Mask(doors))
}

/// Says what does not hold where there are more of them than anybody looks at, and where there is no
/// second wall: a pipe can be written whatever its mount says.
pub(super) fn held(facts: &Facts, landlock: &Strength) -> (Strength, Option<Note>) {
    let (mut strength, mut note) = (Strength::Kernel, None);
    match facts.doors {
        Searched::Whole => {}
        Searched::Partly => {
            let what = "not all sockets of the host were looked at, for there are too many: those \
                        outside of folders that are replaced can be reached";
            strength.lacks(what.into());
            note = Some(Note { code: "many-sockets", message: what.into() });
        }
    }
    if matches!(landlock, Strength::Absent(_)) {
        let what = "pipes of the host outside of folders that are replaced can be written";
        strength.lacks(what.into());
    }
    (strength, note)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::build::tests::{facts, order, permit};
    use crate::{Privilege, build};

    #[test]
    fn a_socket_is_covered_unless_its_folder_is_replaced() {
        let mut facts = facts(Privilege::Ordinary);
        facts.sockets = [
            "/home/dev/.agent",
            // Below the layer over the home, but shown as it is.
            "/home/dev/.cargo/daemon",
            // Not found by the search: it may have come to be since.
            "/home/dev/app/server",
            "/run/docker.sock",
            "/srv/database",
            "/tmp/.X11-unix/X0",
        ]
        .map(PathBuf::from)
        .into();
        let plan = build(&permit(), &order(), &facts).unwrap();
        let masks = plan.steps().iter().filter(|step| matches!(step, Step::Mask(_)));
        let covered = ["/home/dev/.cargo/daemon", "/home/dev/app/server", "/srv/database"];
        let expected = Step::Mask(covered.map(PathBuf::from).into());
        assert_eq!(masks.collect::<Vec<_>>(), [&expected]);
    }

    #[test]
    fn sockets_that_nobody_looked_at_are_told() {
        use crate::plan::Layer;
        let told = |doors| {
            let facts = Facts { doors, ..facts(Privilege::Ordinary) };
            let plan = build(&permit(), &order(), &facts).unwrap();
            let is_noted = plan.notes().iter().any(|note| note.code == "many-sockets");
            let files = plan.enforced().iter().find(|it| it.layer == Layer::Files).unwrap();
            (is_noted, files.strength.word())
        };
        assert_eq!(told(Searched::Whole), (false, "kernel"));
        assert_eq!(told(Searched::Partly), (true, "partial"));
    }
}
