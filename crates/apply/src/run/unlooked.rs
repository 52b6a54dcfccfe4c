//! What runs have left that were killed before anybody looked it over.
//!
//! A janitor can set aside what was known beforehand, and nothing else: it has no memory to ask for. The
//! next run that works there does the rest, before it takes what it finds for the host's. Meanwhile the
//! host may have made something too: what came is judged by its dates, which no command can turn back.

use std::path::{Path, PathBuf};

use palisade_plan::{After, Note};
use rustix::fs::{AtFlags, CWD, StatxFlags, StatxTimestamp, statx};

use super::accounts::Killed;
use super::after::{Came, look_over_made};

/// Files are dated by a clock that moves in steps, which can be behind by so many nanoseconds.
const BEHIND: u64 = 20_000_000;

/// Looks over what was left in these trees; nothing if nobody was killed there.
pub(super) fn look_over(
    folder: Option<&Path>,
    killed: &[Killed],
    trees: &[PathBuf],
) -> Option<Vec<Note>> {
    let folder = folder.filter(|_| !killed.is_empty() && !trees.is_empty())?;
    let trees: Vec<PathBuf> = trees.iter().filter_map(|tree| tree.canonicalize().ok()).collect();
    let overlaps = |its: &PathBuf| {
        trees.iter().any(|tree| tree.starts_with(its) || its.starts_with(tree)) || !its.exists()
    };
    let concerned = killed.iter().filter(|run| match &*run.account.trees {
        [] => true,
        its => its.iter().any(overlaps),
    });
    let mut notes: Option<Vec<Note>> = None;
    for run in concerned {
        if let Some(found) = run.settle(folder, || left_by(run)) {
            notes.get_or_insert_default().extend(found);
        }
    }
    notes
}

fn left_by(run: &Killed) -> Vec<Note> {
    if run.account.trees.is_empty() {
        let message = "a run was killed, and what it told of itself cannot be read: protected names \
                       that it made are not set aside";
        return vec![Note { code: "not-looked-over", message: message.into() }];
    }
    let after = After::of_killed(&run.account);
    look_over_made(&after, None, None, &|path| came(path, &run.account.trees, run.ran)).notes
}

/// Returns when something came to a path, by the dates of it and of the folders that it is in.
fn came(path: &Path, trees: &[PathBuf], (began, ended): (u64, Option<u64>)) -> Came {
    let Some(ended) = ended else { return Came::Unknown };
    let ran = began.saturating_sub(BEHIND)..=ended;
    let is_inner =
        |above: &&Path| trees.iter().any(|tree| above.starts_with(tree) && above != tree);
    let mut all = path.ancestors().take_while(is_inner).map(dates);
    let Some(its) = all.next() else { return Came::Unknown };
    let is_late = |dates: Dates| dates.born.is_some_and(|born| born > ended);
    if is_late(its) || all.any(is_late) {
        return Came::Later;
    }
    let mut its = its.born.into_iter().chain(its.changed);
    if its.any(|date| ran.contains(&date)) { Came::Meanwhile } else { Came::Unknown }
}

/// When something was made, and when it was last changed or moved.
#[derive(Clone, Copy, Debug, Default)]
struct Dates {
    born: Option<u64>,
    changed: Option<u64>,
}

fn dates(path: &Path) -> Dates {
    let wanted = StatxFlags::BTIME | StatxFlags::CTIME;
    let Ok(found) = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, wanted) else {
        return Dates::default();
    };
    let has = |what: StatxFlags| found.stx_mask & what.bits() != 0;
    Dates {
        born: has(StatxFlags::BTIME).then(|| nanoseconds(&found.stx_btime)),
        changed: has(StatxFlags::CTIME).then(|| nanoseconds(&found.stx_ctime)),
    }
}

fn nanoseconds(time: &StatxTimestamp) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default().saturating_mul(1_000_000_000);
    seconds.saturating_add(time.tv_nsec.into())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    use palisade_testkit::Project;

    use super::*;

    fn now() -> u64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        u64::try_from(now.as_nanos()).unwrap()
    }

    #[test]
    fn what_came_while_a_run_went_on_is_told_by_dates() {
        let project = Project::new().file("old", "").file("moved", "").file("s/x", "");
        let tick = || std::thread::sleep(Duration::from_millis(40));
        tick();
        let began = now();
        tick();
        fs::write(project.path("made"), "").unwrap();
        fs::write(project.path("changed"), "").unwrap();
        fs::rename(project.path("moved"), project.path("there")).unwrap();
        fs::rename(project.path("s"), project.path("t")).unwrap();
        tick();
        let ran = (began, Some(now()));
        tick();
        fs::write(project.path("changed"), "by the host").unwrap();
        fs::write(project.path("later"), "").unwrap();
        fs::create_dir(project.path("new")).unwrap();
        fs::rename(project.path("old"), project.path("new/old")).unwrap();
        let trees = [project.root().to_owned()];
        let when = |name: &str| came(&project.path(name), &trees, ran);
        // A filesystem that does not say when files were made leaves doubts.
        let has_birth = dates(&project.path("made")).born.is_some();
        let or_unknown = |came| if has_birth { came } else { Came::Unknown };
        assert_eq!(when("made"), Came::Meanwhile);
        assert_eq!(when("there"), Came::Meanwhile, "moved");
        assert_eq!(when("changed"), or_unknown(Came::Meanwhile));
        assert_eq!(when("later"), or_unknown(Came::Later));
        assert_eq!(when("new/old"), or_unknown(Came::Later), "its folder is new");
        assert_eq!(when("t/x"), Came::Unknown, "its folder was moved");
        assert_eq!(came(&project.path("made"), &trees, (began, None)), Came::Unknown);
    }
}
