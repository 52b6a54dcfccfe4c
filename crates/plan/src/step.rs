//! One act that the kernel sees. A plan is a list of them.

use std::path::PathBuf;

use crate::network::Rung;
use crate::seccomp::{Arch, Groups, Nesting, Sockets};

/// One act, in the words of whoever reads a plan. They are done in the order of the list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Step {
    /// A first process in namespaces of its own.
    Namespaces(Vec<Namespace>),
    /// Who the command is: a user inside, and the user outside whose rights it has.
    Identity(Identity),
    /// A control group of its own, which bounds all processes together.
    Group {
        /// The folder that it is made in.
        folder: PathBuf,
        /// Bytes of memory.
        memory: u64,
        /// Processes, if that is bounded and the group can.
        processes: Option<u64>,
    },
    /// Holds on to a tree as it is now, to be attached later.
    Keep(Keep),
    /// Makes every mount read-only, without devices and set-user-id programs, and private.
    SealRoot,
    /// An empty root in place of the host's: only what is attached to it is there.
    EmptyRoot,
    /// Lets go of the host's root behind an empty one, and seals that.
    CloseRoot,
    /// An empty folder in memory.
    Tmpfs {
        /// Where.
        at: PathBuf,
        /// Its most bytes; half of the memory if nobody says.
        size: Option<u64>,
        /// Its permission bits.
        mode: u32,
    },
    /// A /proc that shows this sandbox only.
    FreshProc,
    /// Terminals of its own.
    FreshTerminals,
    /// A folder, with those above it that are missing.
    MakeFolder(PathBuf),
    /// An empty file to attach something to.
    MakeFile(PathBuf),
    /// A symbolic link.
    MakeLink {
        /// Where.
        at: PathBuf,
        /// What it says.
        to: String,
    },
    /// Puts a kept tree in its place.
    Attach {
        /// Which.
        tree: Tree,
        /// Where.
        at: PathBuf,
    },
    /// Shows a kept folder without some of the names in it: they do not exist.
    Hide {
        /// The folder as it was.
        tree: Tree,
        /// Where it is shown.
        at: PathBuf,
        /// Permission bits of the folder.
        mode: u32,
        /// The names, relative to it.
        names: Vec<PathBuf>,
        /// The folders between, relative to it and from the top down, with their permission bits.
        between: Vec<(PathBuf, u32)>,
    },
    /// Shows a home of tools under a layer that takes what is written; the real one stays.
    Cache {
        /// The layer: a folder with `upper` and `work` in it.
        tree: Tree,
        /// The home.
        at: PathBuf,
    },
    /// Covers something in a writable tree so that it can neither be read nor written.
    Cover {
        /// Where.
        at: PathBuf,
        /// What lies there.
        shape: Shape,
    },
    /// Covers files and folders of the machine, those of them that there are.
    Mask(Vec<PathBuf>),
    /// Shows a text in place of a file, read-only.
    Show {
        /// Where.
        at: PathBuf,
        /// What it says.
        text: String,
    },
    /// Keeps names from being made: until the run ends, an empty folder stands at each.
    Reserve(Vec<PathBuf>),
    /// Mounts a folder on itself, so that it cannot be renamed or removed.
    Pin(PathBuf),
    /// Mounts something on itself, read-only.
    Protect(PathBuf),
    /// Brings up the loopback of the empty network.
    LoopbackUp,
    /// Makes every address of that network lead to sockets that the supervisor gets: this is the best
    /// way that is tried.
    Inlets(Rung),
    /// The first process makes sockets inside for the supervisor, who reaches servers at these ports
    /// with them.
    Publish(Vec<u16>),
    /// Nobody inside may look into the first process.
    Undumpable,
    /// Gives up every capability, in every set.
    NoCapabilities,
    /// No program gains rights by being started.
    NoNewPrivileges,
    /// The second wall: what may be read and written, whatever the mounts say.
    Landlock {
        /// Which version is used.
        version: u32,
        /// Where everything may be done; all the rest can be read and executed.
        write: Vec<PathBuf>,
    },
    /// The only wall for files, where mounts cannot be had: what may be read and written.
    LandlockAlone(Alone),
    /// A folder for temporary files, for this run alone; it is removed with what is in it.
    Scratch(PathBuf),
    /// The filter of system calls.
    Seccomp {
        /// For which processor.
        arch: Arch,
        /// Whether user namespaces may be made inside.
        nesting: Nesting,
        /// Which sockets may be opened.
        sockets: Sockets,
        /// Whose group new files have.
        groups: Groups,
    },
    /// Whoever loses its parent becomes a child of the first process, which ends them all when it
    /// goes. For commands without namespaces, which end everything by themselves.
    Adopt,
    /// The first process stays and reaps; the rest happens in its child.
    Reaper,
    /// A session of its own: no terminal of anybody else.
    Session,
    /// Nothing open but the three standard descriptors.
    Descriptors,
    /// An upper bound.
    Limit(Limit),
    /// The folder to start in.
    Enter(PathBuf),
    /// Tries what must fail, and starts nothing if it does not.
    Prove {
        /// Folders in which nothing can be made.
        sealed: Vec<PathBuf>,
        /// Whether an address outside must be out of reach.
        network: Reached,
        /// Whether user namespaces must be refused.
        nesting: Nesting,
    },
    /// Tells the supervisor of each write before it happens. It refuses nothing.
    TraceWrites(Arch),
    /// On macOS: the command is started by `sandbox-exec` with a profile.
    Seatbelt {
        /// The profile. No path of ours stands in it.
        text: String,
        /// What its parameters are; `_TMP`, a new folder, comes to them.
        parameters: Vec<(String, String)>,
    },
    /// The command.
    Exec {
        /// The program and its arguments.
        argv: Vec<String>,
        /// The paths that are tried for it, in order.
        paths: Vec<PathBuf>,
        /// Its environment. Values are never printed.
        environment: Vec<(String, String)>,
    },
}

/// What Landlock allows where it is the only wall. It can only give rights to whole trees, so where
/// something in a tree is left out, rights are given to what lies beside it, one by one: folders above
/// something left out get none themselves, and what is made in them later gets none either.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Alone {
    /// Which version is used.
    pub version: u32,
    /// What cannot be read; all the rest can be read and executed.
    pub hidden: Vec<PathBuf>,
    /// Folders that cannot be read either, but for what is listed here.
    pub shut: Vec<PathBuf>,
    /// What can be read all the same.
    pub readable: Vec<PathBuf>,
    /// Where everything may be done.
    pub write: Vec<PathBuf>,
    /// What may not be changed there.
    pub fixed: Vec<PathBuf>,
    /// Devices that can be read and written.
    pub devices: Vec<PathBuf>,
}

/// What the network reaches.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reached {
    /// Nothing outside.
    Nothing,
    /// Nothing either, but for what the supervisor does on its behalf.
    Inlets,
    /// What the host's reaches.
    World,
}

/// A kind of namespace.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Namespace {
    /// Users and capabilities.
    User,
    /// Mounts.
    Mount,
    /// Processes.
    Process,
    /// Network.
    Network,
    /// Shared memory and message queues.
    Ipc,
    /// The machine's name.
    Name,
    /// Control groups.
    Cgroup,
}

/// Who the command is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Identity {
    /// The user inside.
    pub uid: u32,
    /// The user outside.
    pub outer_uid: u32,
    /// The group inside.
    pub gid: u32,
    /// The group outside.
    pub outer_gid: u32,
    /// Who may write the map.
    pub mapped_by: MappedBy,
}

/// Who tells the kernel which user is which.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum MappedBy {
    /// The first process itself: everybody may map themselves.
    Itself,
    /// The supervisor, who has the right to map others.
    Supervisor,
    /// Nobody: there is no namespace of users, and everybody is who they are outside.
    Nobody,
}

/// The number of a kept tree.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Tree(pub u16);

/// A tree to hold on to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Keep {
    /// Its number.
    pub tree: Tree,
    /// Where it is now.
    pub path: PathBuf,
    /// What may be done with it once it is attached.
    pub access: Access,
    /// Whether mounts below it come along.
    pub depth: Depth,
    /// Whose its files are.
    pub owner: Owner,
    /// Which folder or file it was when the host was looked at, if it must still be that one.
    pub id: Option<FileId>,
}

/// Which folder or file something is, whatever its name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FileId {
    /// Its filesystem.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
}

/// What may be done with an attached tree.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Access {
    /// Read.
    Read,
    /// Read and write.
    Write,
    /// Read and write; it is a device.
    Device,
}

/// Whether mounts below a tree come along.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Depth {
    /// All of them.
    All,
    /// None.
    One,
}

/// Whose the files of a tree are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Owner {
    /// As on the disk.
    Same,
    /// Those of one owner belong to the user of the sandbox, and what that one makes belongs to
    /// the owner.
    Swapped {
        /// The owner on the disk.
        uid: u32,
        /// The group on the disk.
        gid: u32,
    },
}

/// The shape of a cover.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Shape {
    /// Over a folder.
    Folder,
    /// Over anything else.
    File,
}

/// An upper bound that the kernel keeps for each process.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Limit {
    /// Processes and threads of the sandbox.
    Processes(u64),
    /// Bytes of data of one process.
    Data(u64),
    /// Seconds of processor time of one process.
    CpuSeconds(u64),
    /// Bytes of one file.
    FileSize(u64),
    /// Open files of one process.
    OpenFiles(u64),
    /// No core files.
    NoCores,
}
