//! What lies at a path, asked of whoever may look.

/// Says what lies at a path, without following a link there.
///
/// `policy` sees no disk: `palisade` hands in a look-up that does, or [`NoLookup`].
pub trait Lookup {
    /// Returns what lies at `path`, which is absolute and whose folders are free of links.
    fn look(&self, path: &str) -> Entry;

    /// Returns what lies in a folder, which is absolute and free of links.
    fn list(&self, _folder: &str) -> Listing {
        Listing::Nowhere
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

/// What lies in a folder.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Listing {
    /// There is no such folder, or no disk to look at.
    Nowhere,
    /// Nobody may tell all of it: it cannot be read, holds too much, or a link whose name is no
    /// text.
    Untold,
    /// These names.
    Names(Vec<Named>),
}

/// One name in a folder.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Named {
    /// The name.
    pub name: String,
    /// What has it.
    pub kind: NamedKind,
}

/// What a name in a folder belongs to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NamedKind {
    /// A symbolic link.
    Link,
    /// A folder.
    Folder,
    /// Something else.
    Other,
}

/// Knows of nothing, so that paths are judged by their text alone (Ruling 15).
#[derive(Clone, Copy, Debug)]
pub struct NoLookup;

impl Lookup for NoLookup {
    fn look(&self, _: &str) -> Entry {
        Entry::Absent
    }
}
