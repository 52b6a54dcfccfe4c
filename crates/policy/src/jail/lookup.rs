//! What lies at a path, asked of whoever may look.

/// Says what lies at a path, without following a link there.
///
/// `policy` sees no disk: `palisade` hands in a look-up that does, or [`NoLookup`].
pub trait Lookup {
    /// Returns what lies at `path`, which is absolute and whose folders are free of links.
    fn look(&self, path: &str) -> Entry;

    /// Returns the names in a folder, or nothing where nobody may tell or they are too many.
    fn entries(&self, _folder: &str) -> Option<Vec<String>> {
        None
    }

    /// Returns the paths of the machine's own programs that are the very file at `path`: the same
    /// file on the same disk, under another name. Asked only of an [`Entry::SharedFile`].
    fn programs_at(&self, _path: &str) -> Vec<String> {
        Vec::new()
    }
}

/// What lies at a path.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Entry {
    /// Nothing.
    Absent,
    /// A symbolic link, and the text it leads to.
    Link(String),
    /// A folder.
    Folder,
    /// A file that has this name only.
    File,
    /// A file that has more names: writing to it also changes what lies at the others.
    SharedFile,
    /// Something else: a device, a socket, a pipe.
    Other,
    /// Nobody may tell: a folder above cannot be searched, or a link leads to no text.
    Unknown,
}

/// Knows of nothing, so that paths are judged by their text alone (Ruling 15).
#[derive(Clone, Copy, Debug)]
pub struct NoLookup;

impl Lookup for NoLookup {
    fn look(&self, _: &str) -> Entry {
        Entry::Absent
    }
}
