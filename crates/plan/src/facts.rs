//! What a host is and offers, as data. `apply` fills it in; a test may write any host down.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crate::account::Account;
use crate::block::Block;
use crate::network::Rung;
use crate::paths::{Lies as _, by_bytes};
use crate::plan::Note;
use crate::seccomp::{Arch, Groups};
use crate::step::FileId;

/// What is known of a host, and of the paths that a policy names on it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Facts {
    /// The user who starts.
    pub uid: u32,
    /// Their group.
    pub gid: u32,
    /// Their other groups.
    pub groups: Vec<u32>,
    /// The machine's own name.
    pub name: String,
    /// What they may do beyond their own.
    pub privilege: Privilege,
    /// What the kernel offers.
    pub kernel: Kernel,
    /// Every mount that can be seen, in the order of mountinfo.
    pub mounts: Vec<Mount>,
    /// What lies at each path asked about, in the order of the bytes of their paths.
    pub places: Vec<Place>,
    /// How far the writable trees were searched for names.
    pub searched: Searched,
    /// Folders in them that nobody searches, for they hold very much and hardly anything that a person
    /// wrote.
    pub skipped: Vec<PathBuf>,
    /// Sockets that somebody waits at, with names on a disk, wherever they are.
    pub sockets: Vec<PathBuf>,
    /// Whether these are all of them.
    pub doors: Searched,
    /// Where control groups may be made, if anybody asked and they may.
    pub delegated: Option<Delegated>,
    /// Where a folder for temporary files can be made, for commands that cannot have a /tmp of their
    /// own. Nothing lies there.
    pub scratch: Option<PathBuf>,
    /// What other runs knew when they began, which have not ended since the first look at the places.
    pub beside: Vec<Account>,
    /// What was found, and done, about what runs have left that were killed.
    pub left: Vec<Note>,
}

/// A folder of control groups that was handed to the starting user (cgroups(7), version 2).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Delegated {
    /// The folder.
    pub folder: PathBuf,
    /// Whether groups in it can bound memory.
    pub memory: bool,
    /// Whether they can bound the number of processes.
    pub processes: bool,
}

/// What the starting user may do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Privilege {
    /// Nothing but their own.
    Ordinary,
    /// Everything; can give mounted trees other owners where `idmap` says so.
    Root {
        /// Whether trees can be given other owners.
        idmap: Idmap,
    },
}

/// Whether a mounted tree can be given other owners (mount_setattr(2), `MOUNT_ATTR_IDMAP`).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Idmap {
    /// It can, on the usual filesystems.
    Works,
    /// It cannot; the number is the kernel's errno.
    Refused(i32),
    /// Nobody knows: something was missing that may be there again in a moment.
    Short(i32),
}

/// What the kernel offers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Kernel {
    /// The processor, if its system calls are known.
    pub arch: Option<Arch>,
    /// Whether namespaces with mounts and a fresh /proc were made in a trial.
    pub namespaces: Trial,
    /// The same without a namespace of users, for who has the right to: tried where the first fails.
    pub unaided: Trial,
    /// Whether a sandbox stands around us and was seen to hold: tried where the first two fail.
    pub around: Trial,
    /// What was found to be in the way of namespaces.
    pub blocks: Vec<Block>,
    /// The version of Landlock; 0 is none.
    pub landlock: u32,
    /// The best way to filter a network that is worth trying.
    pub network: Rung,
}

/// The outcome of trying something on the host.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Trial {
    /// It worked.
    Works,
    /// It did not.
    Refused {
        /// What was tried.
        what: Cow<'static, str>,
        /// The kernel's errno.
        errno: i32,
    },
    /// It did not, for want of something that may be there again in a moment. That is no refusal, and
    /// nothing weaker stands in for it.
    Short {
        /// What was tried.
        what: Cow<'static, str>,
        /// The kernel's errno.
        errno: i32,
    },
}

impl Trial {
    /// Returns the outcome of what nobody tried, because nobody had to know.
    pub fn untried() -> Self {
        Self::Refused { what: "nobody tried".into(), errno: 0 }
    }
}

/// One mount (proc(5), mountinfo).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Mount {
    /// Where it is.
    pub point: PathBuf,
    /// Which part of the filesystem it shows.
    pub root: PathBuf,
    /// The filesystem's device, `major:minor`.
    pub device: String,
    /// The kind of filesystem.
    pub kind: String,
    /// The folders that it shows as one, by the paths that they had when it was mounted.
    pub layers: Vec<PathBuf>,
}

/// What lies at a path.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Place {
    /// The path, as it was asked about.
    pub path: PathBuf,
    /// The same, with its folders free of links; a link at its end is still there.
    pub at: PathBuf,
    /// Where it leads, free of links.
    pub real: PathBuf,
    /// The links that lead there, in their order, each with its folders free of links.
    pub links: Vec<PathBuf>,
    /// What lies there itself, a link not followed.
    pub is: Kind,
    /// What lies where it leads.
    pub leads_to: Kind,
    /// How many names a file has.
    pub names: u64,
    /// The topmost folder above it that only its owner may search, if there is one.
    pub shut: Option<PathBuf>,
    /// Permission bits of what it leads to.
    pub mode: u32,
    /// Who owns that.
    pub owner: (u32, u32),
    /// Which file or folder that is, if there is one.
    pub id: Option<FileId>,
    /// Whether it is a folder with nothing in it. Nobody looks unless it has the mark of what keeps a
    /// name.
    pub empty: bool,
    /// Whether names in it could be looked for, if it is a folder of a tree: its mode may forbid that
    /// to its own user, who can change it.
    pub searched: Searched,
}

/// What something on a disk is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// Nothing, or nothing that can be seen.
    Absent,
    /// A folder.
    Folder,
    /// A file.
    File,
    /// A symbolic link.
    Link,
    /// A socket.
    Socket,
    /// A device or a pipe.
    Other,
}

/// How far trees were searched.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Searched {
    /// To the depth that is promised.
    Whole,
    /// Not all of it.
    Partly,
}

impl Facts {
    /// Returns whose group files made by a command have.
    pub(crate) fn groups_made(&self) -> Groups {
        match self.privilege {
            Privilege::Ordinary => Groups::Own,
            Privilege::Root { .. } => Groups::Roots,
        }
    }

    /// Returns what lies at a path that was asked about.
    pub fn place(&self, path: &Path) -> Option<&Place> {
        // Byte by byte: comparing components takes ten times as long, and there are many.
        let at = self.places.binary_search_by(|place| by_bytes(&place.path, path)).ok()?;
        self.places.get(at)
    }

    /// Returns the folders of trees in which names could not be looked for.
    pub(crate) fn unsearched(&self) -> impl Iterator<Item = &Place> {
        self.places.iter().filter(|place| place.searched == Searched::Partly)
    }

    /// Returns whether any mount lies strictly below `folder`.
    pub fn has_mount_below(&self, folder: &Path) -> bool {
        self.mounts.iter().any(|mount| mount.point.lies_in(folder) && mount.point != folder)
    }

    /// Returns whether no /proc can be seen whole, as far as the mounts tell: then the kernel may refuse
    /// to mount another in a namespace of users. Only trying shows it.
    pub fn covers_proc(&self) -> bool {
        let is_whole = |proc: &Mount| {
            let covers = self.mounts.iter().filter(|mount| mount.point.lies_in(&proc.point));
            let mut covers = covers.filter(|mount| mount.point != proc.point);
            // A folder that the kernel made to mount on hides nothing.
            proc.root == Path::new("/")
                && covers.all(|mount| mount.point == proc.point.join("sys/fs/binfmt_misc"))
        };
        !self.mounts.iter().filter(|mount| mount.kind == "proc").any(is_whole)
    }

    /// Returns the other paths under which the thing at `path` can be seen, through other mounts
    /// of the same filesystem.
    pub fn aliases(&self, path: &Path) -> Vec<PathBuf> {
        let Some(own) = self.mount_of(path) else { return Vec::new() };
        let Ok(below) = path.strip_prefix(&own.point) else { return Vec::new() };
        let inside = own.root.join(below);
        let others = self.mounts.iter().filter(|mount| mount.device == own.device);
        let mut aliases: Vec<PathBuf> = others
            .filter_map(|mount| {
                let alias = mount.point.join(inside.strip_prefix(&mount.root).ok()?);
                // Unless another mount is shown there.
                let is_shown =
                    self.mount_of(&alias).is_some_and(|shown| std::ptr::eq(shown, mount));
                (alias != path && is_shown).then_some(alias)
            })
            .collect();
        aliases.sort();
        aliases.dedup();
        aliases
    }

    /// Returns the paths under which an overlay may show the thing at `path`, which lies in one of its
    /// layers: what was changed there since is another.
    pub(crate) fn overlaid(&self, path: &Path) -> Vec<PathBuf> {
        let overlays = self.mounts.iter().filter(|mount| !mount.layers.is_empty());
        let shown = overlays.flat_map(|mount| {
            let below = mount.layers.iter().filter_map(|layer| path.strip_prefix(layer).ok());
            below.map(|below| mount.point.join(below))
        });
        shown.filter(|alias| alias != path).collect()
    }

    /// Returns the mount that a path lies in.
    fn mount_of(&self, path: &Path) -> Option<&Mount> {
        let above = self.mounts.iter().filter(|mount| path.lies_in(&mount.point));
        // The last of the longest: later mounts cover earlier ones.
        above.max_by_key(|mount| mount.point.components().count())
    }
}

impl Place {
    /// Returns whether anything lies there.
    pub fn exists(&self) -> bool {
        self.is != Kind::Absent
    }
}
