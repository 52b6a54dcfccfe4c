//! Placeholders that somebody removes while a command runs, as `git clean -fd` on the host does, or
//! another run, to which they are folders like others.

use std::sync::Arc;

use palisade_plan::Note;

use super::again::mount_again;
use super::folders::Heard;
use super::look::Identity;
use super::{Against, Guarded, Inside};
use crate::run::laid::Standing;
use crate::run::reserve::Names;

/// How often one is laid again: somebody may go on removing it.
const MOST: usize = 250;

/// Names that are kept from being made.
#[derive(Debug)]
pub(super) struct Vacated {
    kept: Arc<Names>,
    /// With what is there that is none of ours, if that was seen.
    names: Vec<(Guarded, Option<Identity>)>,
    done: usize,
}

impl Vacated {
    pub(super) fn new(kept: &Arc<Names>) -> Self {
        let names =
            kept.paths().into_iter().filter_map(|path| Guarded::new(&path, Against::Change));
        let names = names.map(|name| (name, None)).collect();
        Self { kept: Arc::clone(kept), names, done: 0 }
    }

    /// Keeps names again from which a placeholder is gone, and closes what has come instead.
    pub(super) fn look(&mut self, heard: &Heard, inside: &Inside) -> Vec<Note> {
        let mut notes = Vec::new();
        let told = self.names.iter_mut().filter(|(name, _)| heard.is_about(&name.path));
        for (name, seen) in told {
            if self.done >= MOST {
                break;
            }
            let (code, what) = match self.kept.standing(&name.path) {
                Standing::Laid => {
                    *seen = None;
                    continue;
                }
                Standing::Gone => {
                    *seen = None;
                    let done = self.kept.lay_again(&name.path);
                    match done.and_then(|()| mount_again(name, inside)) {
                        Ok(()) => (
                            "placeholder-again",
                            "kept a protected name and was removed while the command ran; the name \
                             is kept again"
                                .into(),
                        ),
                        Err(errno) => (
                            "placeholder-lost",
                            format!(
                                "kept a protected name and was removed while the command ran, and \
                                 cannot be made again: {errno}"
                            ),
                        ),
                    }
                }
                Standing::Other => {
                    let is = Identity::at(&name.path);
                    if is == *seen {
                        continue;
                    }
                    *seen = is;
                    let what = "came in the place of what kept a protected name";
                    match mount_again(name, inside) {
                        Ok(()) => ("protected-came", format!("{what}, and is protected now")),
                        Err(errno) => {
                            ("protected-lost", format!("{what}, and cannot be protected: {errno}"))
                        }
                    }
                }
            };
            self.done += 1;
            notes.push(Note { code, message: format!("`{}` {what}", name.path.display()) });
        }
        notes
    }
}
