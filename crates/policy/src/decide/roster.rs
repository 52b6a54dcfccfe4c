//! Names in order: found by halving, joined in one pass.

use std::cmp::Ordering;
use std::rc::Rc;

/// Most names of one kind that are followed at once.
pub(super) const MOST_NAMES: usize = 256;

/// Names in order, none of them twice.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Roster(Vec<Rc<str>>);

/// Whether there was a place left.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Room {
    Enough,
    /// What came last was left out.
    None,
}

/// Something that goes by a name.
pub(super) trait Named {
    fn name(&self) -> &str;
}

impl Roster {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn holds(&self, name: &str) -> bool {
        self.place(name).is_ok()
    }

    pub(super) fn add(&mut self, name: &str) -> Room {
        match self.place(name) {
            Ok(_) => Room::Enough,
            Err(_) if self.0.len() >= MOST_NAMES => Room::None,
            Err(at) => {
                self.0.insert(at, name.into());
                Room::Enough
            }
        }
    }

    pub(super) fn remove(&mut self, name: &str) {
        if let Ok(at) = self.place(name) {
            self.0.remove(at);
        }
    }

    /// Adds every name of another.
    pub(super) fn unite(&mut self, other: &Self) -> Room {
        if self == other || other.0.is_empty() {
            return Room::Enough;
        }
        let mine = std::mem::take(&mut self.0);
        self.0 = merge(mine, &other.0, |name, _| name, Rc::clone);
        fit(&mut self.0)
    }

    /// Keeps the names that another holds as well.
    pub(super) fn intersect(&mut self, other: &Self) {
        if self != other {
            self.0.retain(|name| other.holds(name));
        }
    }

    fn place(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|known| (**known).cmp(name))
    }
}

impl Named for Rc<str> {
    fn name(&self) -> &str {
        self
    }
}

/// Joins two lists that are in order: `meet` makes one of what the first holds and what the other
/// has by the same name, `other` of what only the other has.
pub(super) fn merge<T: Named>(
    mine: Vec<T>,
    theirs: &[T],
    meet: impl Fn(T, Option<&T>) -> T,
    other: impl Fn(&T) -> T,
) -> Vec<T> {
    let mut merged = Vec::with_capacity(mine.len().max(theirs.len()));
    let mut theirs = theirs.iter().peekable();
    for mine in mine {
        let order = |their: &&T| their.name().cmp(mine.name());
        while let Some(their) = theirs.next_if(|their| order(their) == Ordering::Less) {
            merged.push(other(their));
        }
        let same = theirs.next_if(|their| order(their) == Ordering::Equal);
        merged.push(meet(mine, same));
    }
    merged.extend(theirs.map(other));
    merged
}

/// Leaves out what is too much.
pub(super) fn fit<T>(list: &mut Vec<T>) -> Room {
    let room = if list.len() > MOST_NAMES { Room::None } else { Room::Enough };
    list.truncate(MOST_NAMES);
    room
}
