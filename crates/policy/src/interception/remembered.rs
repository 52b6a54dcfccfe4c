//! What lies at a path, looked at once for each call.

use std::cell::RefCell;

use crate::jail::{Entry, Listing, Lookup};

/// Remembers what was seen during one call: ten files of one folder are ten looks at that folder
/// otherwise. Nothing is kept for the next call, when a link may lie where a folder was.
pub(super) struct Remembered<'l> {
    lookup: &'l dyn Lookup,
    seen: RefCell<Vec<(String, Entry)>>,
}

/// Folders come before what lies in them, so the first few are the ones that come again.
const MOST: usize = 16;

impl<'l> Remembered<'l> {
    pub(super) fn new(lookup: &'l dyn Lookup) -> Self {
        Self { lookup, seen: RefCell::default() }
    }
}

impl Lookup for Remembered<'_> {
    fn look(&self, path: &str) -> Entry {
        let known = self.seen.try_borrow().ok().and_then(|seen| {
            seen.iter().find(|(known, _)| known == path).map(|(_, entry)| entry.clone())
        });
        if let Some(entry) = known {
            return entry;
        }
        let entry = self.lookup.look(path);
        if let Ok(mut seen) = self.seen.try_borrow_mut()
            && seen.len() < MOST
        {
            seen.push((path.to_owned(), entry.clone()));
        }
        entry
    }

    fn list(&self, folder: &str) -> Listing {
        self.lookup.list(folder)
    }

    fn programs_at(&self, path: &str) -> Vec<String> {
        self.lookup.programs_at(path)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::jail::{Named, NamedKind};

    /// Counts how often it is asked.
    #[derive(Default)]
    struct Counted(Cell<usize>);

    impl Lookup for Counted {
        fn look(&self, _: &str) -> Entry {
            self.0.set(self.0.get() + 1);
            Entry::Folder
        }

        fn list(&self, folder: &str) -> Listing {
            let name = folder.to_owned();
            Listing::Names(vec![Named { name, kind: NamedKind::Other }])
        }
    }

    #[test]
    fn a_path_is_looked_at_once_and_a_folder_is_still_listed() {
        let disk = Counted::default();
        let remembered = Remembered::new(&disk);
        for path in ["/a", "/a/b", "/a", "/a/b", "/a/c"] {
            assert_eq!(remembered.look(path), Entry::Folder, "{path}");
        }
        assert_eq!(disk.0.get(), 3);
        for at in 0..100 {
            assert_eq!(remembered.look(&format!("/x/{at}")), Entry::Folder);
        }
        assert!(remembered.seen.borrow().len() <= MOST, "not without end");
        assert_eq!(remembered.list("/a"), disk.list("/a"));
    }
}
