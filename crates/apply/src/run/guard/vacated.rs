//! Placeholders that somebody removes while a command runs, as `git clean -fd` on the host does, or
//! another run, to which they are folders like others.

use std::sync::Arc;
use std::time::{Duration, Instant};

use palisade_plan::Note;
use rustix::io::Errno;

use super::again::mount_again;
use super::folders::Heard;
use super::look::Identity;
use super::{Against, Guarded, Inside};
use crate::run::laid::Standing;
use crate::run::reserve::Names;

/// How often one is laid again: somebody may go on removing it.
const MOST: usize = 250;

/// How often that is tried at once, while somebody else has its name.
const TRIES: u32 = 3;

/// When there is another try where none helped: later each time, unless something happens there.
const PAUSE: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(2);

/// Names that are kept from being made.
#[derive(Debug)]
pub(super) struct Vacated {
    kept: Arc<Names>,
    names: Vec<Vacant>,
    done: usize,
    /// How long nobody has to look, if nothing happens.
    pause: Duration,
    due: Instant,
}

/// One of them.
#[derive(Debug)]
struct Vacant {
    name: Guarded,
    /// What is there that was not laid before the command ran, once it is closed.
    closed: Option<Identity>,
    /// Whether it could not be closed, which was said.
    is_lost: bool,
}

impl Vacated {
    pub(super) fn new(kept: &Arc<Names>) -> Self {
        let names =
            kept.paths().into_iter().filter_map(|path| Guarded::new(&path, Against::Change));
        let names = names.map(|name| Vacant { name, closed: None, is_lost: false }).collect();
        Self { kept: Arc::clone(kept), names, done: 0, pause: PAUSE, due: Instant::now() }
    }

    /// Returns how long nobody has to look, if nothing happens.
    pub(super) fn pause(&self) -> Option<Duration> {
        let waits = self.names.iter().any(|it| it.is_lost) && self.done < MOST;
        waits.then(|| self.due.saturating_duration_since(Instant::now()))
    }

    /// Keeps names again from which a placeholder is gone, and closes what has come instead.
    pub(super) fn look(&mut self, heard: &Heard, inside: &Inside) -> Vec<Note> {
        let mut notes = Vec::new();
        let now = Instant::now();
        let is_due = self.due <= now;
        for vacant in &mut self.names {
            if self.done >= MOST {
                break;
            }
            let is_tried = vacant.is_lost && is_due;
            if !is_tried && !heard.is_about(vacant.name.path()) {
                continue;
            }
            let Some((code, what)) = vacant.look(&self.kept, inside) else { continue };
            self.done += 1;
            let message = format!("`{}` {what}", vacant.name.path().display());
            notes.push(Note { code, message });
        }
        self.wait(now, is_due);
        notes
    }
}

impl Vacated {
    /// Says when there is another try, if one is lost.
    fn wait(&mut self, now: Instant, was_due: bool) {
        if !self.names.iter().any(|it| it.is_lost) {
            (self.pause, self.due) = (PAUSE, now);
        } else if was_due {
            self.due = now + self.pause;
            self.pause = (2 * self.pause).min(LONGEST);
        }
    }
}

impl Vacant {
    /// Looks, and returns what there is to say.
    fn look(&mut self, kept: &Names, inside: &Inside) -> Option<(&'static str, String)> {
        let path = self.name.path();
        let mut was_gone = false;
        let mut done = Ok(());
        for _ in 0..TRIES {
            match kept.standing(path) {
                Standing::Laid => {
                    (self.closed, self.is_lost) = (None, false);
                    return None;
                }
                Standing::Gone => {
                    was_gone = true;
                    done = kept.lay_again(path);
                }
                Standing::Other => {
                    let is = Identity::at(path);
                    if is == self.closed && !was_gone {
                        self.is_lost = false;
                        return None;
                    }
                    done = mount_again(&self.name, inside);
                    // What was mounted is what was seen, or there is another try.
                    if done.is_ok() && is.is_some() && Identity::at(path) == is {
                        (self.closed, self.is_lost) = (is, false);
                        return Some(closed(was_gone));
                    }
                }
            }
        }
        self.closed = None;
        let was_lost = std::mem::replace(&mut self.is_lost, true);
        (!was_lost).then(|| lost(was_gone, done.err().unwrap_or(Errno::AGAIN)))
    }
}

fn closed(was_gone: bool) -> (&'static str, String) {
    if was_gone {
        let what = "kept a protected name and was removed while the command ran; the name is kept \
                    again";
        ("placeholder-again", what.into())
    } else {
        let what = "came in the place of what kept a protected name, and is protected now";
        ("protected-came", what.into())
    }
}

fn lost(was_gone: bool, errno: Errno) -> (&'static str, String) {
    if was_gone {
        let what = "kept a protected name and was removed while the command ran, and cannot be made \
                    again";
        ("placeholder-lost", format!("{what}: {errno}"))
    } else {
        let what = "came in the place of what kept a protected name, and cannot be protected";
        ("protected-lost", format!("{what}: {errno}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_is_tried_again_less_and_less_often() {
        let mut vacated = Vacated::new(&Arc::new(Names::default()));
        let name = Guarded::new("/x".as_ref(), Against::Change).unwrap();
        vacated.names.push(Vacant { name, closed: None, is_lost: true });
        let (begun, mut now, mut tries) = (vacated.due, vacated.due, 0);
        while now < begun + Duration::from_secs(60) {
            vacated.wait(now, true);
            (now, tries) = (vacated.due, tries + 1);
        }
        assert!((30..40).contains(&tries), "{tries}");
        vacated.names.clear();
        vacated.wait(now, true);
        assert_eq!((vacated.pause, vacated.pause()), (PAUSE, None));
    }
}
