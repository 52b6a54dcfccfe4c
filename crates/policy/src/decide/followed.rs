//! Where paths lead: one word of a command is asked about more than once.

use smallvec::SmallVec;

use super::path::how;
use super::walk::Walk;
use crate::command::Arg;
use crate::jail::{How, Last, Place};

/// Most paths that are remembered.
const MOST: usize = 2;

/// The paths that were asked about last, from the project's root and on the disk as it is.
#[derive(Default)]
pub(super) struct Followed<'j> {
    paths: SmallVec<[Path<'j>; MOST]>,
    /// The one that is forgotten next.
    next: usize,
}

struct Path<'j> {
    text: SmallVec<[u8; 32]>,
    how: How,
    place: Place<'j>,
}

/// Whether a place is remembered: that costs something, too.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Kept {
    No,
    Yes,
}

impl<'j> Followed<'j> {
    fn find(&self, text: &str, how: How) -> Option<&Place<'j>> {
        let is_it = |path: &&Path<'_>| path.how == how && *path.text == *text.as_bytes();
        self.paths.iter().find(is_it).map(|path| &path.place)
    }

    fn keep(&mut self, text: &str, how: How, place: Place<'j>) {
        let path = Path { text: SmallVec::from_slice(text.as_bytes()), how, place };
        match self.paths.get_mut(self.next) {
            Some(oldest) => *oldest = path,
            None => self.paths.push(path),
        }
        self.next = (self.next + 1) % MOST;
    }
}

impl Walk<'_> {
    /// Asks something of the place that a path leads to from a folder.
    pub(super) fn at<R>(
        &self,
        path: &Arg<'_>,
        cwd: &str,
        last: Last,
        ask: impl FnOnce(&Place<'_>) -> R,
    ) -> R {
        self.place_of(path, cwd, (last, Kept::No), ask)
    }

    /// Asks the same, where others will ask about this path again.
    pub(super) fn first_at<R>(
        &self,
        path: &Arg<'_>,
        cwd: &str,
        last: Last,
        ask: impl FnOnce(&Place<'_>) -> R,
    ) -> R {
        self.place_of(path, cwd, (last, Kept::Yes), ask)
    }

    #[inline]
    fn place_of<R>(
        &self,
        path: &Arg<'_>,
        cwd: &str,
        (last, kept): (Last, Kept),
        ask: impl FnOnce(&Place<'_>) -> R,
    ) -> R {
        let how = how(path, last);
        let is_settled = self.is_settled(cwd);
        if is_settled
            && let Ok(followed) = self.followed.try_borrow()
            && let Some(place) = followed.find(&path.text, how)
        {
            return ask(place);
        }
        let place = self.judge.ground().place_with(&path.text, cwd, &self.sight(), how);
        let answer = ask(&place);
        if is_settled
            && kept == Kept::Yes
            && let Ok(mut followed) = self.followed.try_borrow_mut()
        {
            followed.keep(&path.text, how, place);
        }
        answer
    }

    /// Whether something holds of a place that a path may lead to, from any folder that may be the
    /// working folder.
    pub(super) fn any_place(
        &self,
        path: &Arg<'_>,
        last: Last,
        mut is_so: impl FnMut(&Place<'_>) -> bool,
    ) -> bool {
        self.scope.cwds().iter().any(|cwd| self.first_at(path, cwd, last, &mut is_so))
    }

    /// Whether a path means what it did before: links that the text makes, and other folders, give
    /// it another meaning.
    fn is_settled(&self, cwd: &str) -> bool {
        self.disk.links().is_empty()
            && self.disk.moves().is_empty()
            && cwd == self.judge.ground().root()
    }
}
