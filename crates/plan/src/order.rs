//! What is to be run, and what the policy says about it: everything that does not depend on a host.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use palisade_policy::Policy;
use palisade_policy::layer::Layer;
use palisade_policy::name::{ByteSize, Folder, PathPattern, Period, looks_secret};
use palisade_policy::policy::{self, Keep, Nested, NetworkMode, Require};

use crate::absent;
use crate::build::{bare, caches, loader};

use crate::names::Names;
use crate::paths::{below, sort_by_bytes};
use crate::plan::Note;
use crate::seccomp::Nesting;

/// One run, as a policy would have it. What a host can do about it is a matter of
/// [`Facts`](crate::Facts).
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// The project root, absolute and free of links.
    pub root: PathBuf,
    /// The folder the command starts in.
    pub cwd: PathBuf,
    /// The home folder, if there is one.
    pub home: Option<PathBuf>,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// What is executed where nothing confines it, if that is something else.
    pub plain: Option<Plain>,
    /// The environment of the command, complete.
    pub environment: Vec<(String, String)>,
    /// Folders and files that may be written.
    pub write: Vec<PathBuf>,
    /// What inside them may not be changed.
    pub protect: Vec<PathPattern>,
    /// What does not exist inside.
    pub hide: Vec<PathPattern>,
    /// What stays readable in hidden places.
    pub readable: Vec<PathPattern>,
    /// Folders of other agents, whose commands may have made links there.
    pub others: Vec<PathBuf>,
    /// What may leave the sandbox.
    pub network: NetworkMode,
    /// Sockets of the host that stay open.
    pub unix: Vec<PathPattern>,
    /// Ports of servers inside that are reached from the host.
    pub publish: Vec<u16>,
    /// Whether programs inside may make user namespaces.
    pub nesting: Nesting,
    /// The least confinement to accept.
    pub require: Require,
    /// Whether there are walls at all.
    pub walls: Walls,
    /// Upper bounds.
    pub bounds: Bounds,
    /// Where tools keep what they fetched and built.
    pub caches: Caches,
    /// What the supervisor is told of while the command runs.
    pub trace: Trace,
    /// What a person should know of it.
    pub notes: Vec<Note>,
}

/// A command as it is without what was added to it because it is confined.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Plain {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Its environment, complete.
    pub environment: Vec<(String, String)>,
}

/// Whether a command is confined.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Walls {
    /// As the policy says.
    Up,
    /// It is not: somebody who may say so has switched every wall off.
    Down {
        /// Who has, for people.
        by: String,
    },
}

/// Where tools keep what they fetched and built, in homes of theirs below `~`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Caches {
    /// Where they are, and nothing can be written there.
    Off,
    /// In a layer of the project's own over each of them: nothing reaches the real ones.
    Private {
        /// The folder with the project's layers; without one they are in memory, for one run.
        store: Option<PathBuf>,
    },
    /// In the real ones.
    Shared,
}

/// What the supervisor is told of.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Trace {
    /// Nothing: what is refused is between the command and the kernel.
    #[default]
    Off,
    /// Every write before it happens, so that those that will be refused are known.
    Writes,
}

/// Upper bounds of one run. `None` is no bound.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Bounds {
    /// Wall-clock time.
    pub time: Option<Duration>,
    /// Time without any output.
    pub idle: Option<Duration>,
    /// Bytes kept of each output stream.
    pub output: Option<u64>,
    /// Bytes passed on of each output stream that is not kept, which is for somebody to say.
    pub streamed: Option<u64>,
    /// Which end of a longer output is kept.
    pub keep: Kept,
    /// Processes at the same time.
    pub processes: Option<u64>,
    /// Memory of all processes together.
    pub memory: Option<u64>,
    /// Processor time.
    pub cpu: Option<Duration>,
    /// Size of any one file written.
    pub file_size: Option<u64>,
    /// Open files per process.
    pub open_files: Option<u64>,
    /// Size of the private temporary folder.
    pub tmp: Option<u64>,
}

/// Which end of an output that is too long is kept.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Kept {
    /// The first bytes.
    #[default]
    Head,
    /// The last bytes.
    Tail,
}

/// What has to be looked up on the host before a run can be planned.
#[derive(Clone, Debug, PartialEq)]
pub struct Questions {
    /// Paths about which everything must be known.
    pub paths: Vec<PathBuf>,
    /// Folders in which names are searched that [`Questions::wants`] answers yes to.
    pub trees: Vec<PathBuf>,
    /// Trees that may have to change owners.
    pub owned: Vec<PathBuf>,
    /// The memory of all processes together, if that is bounded: a control group could hold it.
    pub memory: Option<u64>,
    /// Whether everything must be known about sockets of the host, wherever they are.
    pub sockets: bool,
    names: Names,
}

impl Order {
    /// Works out what `policy` says about running `argv` in `cwd`.
    ///
    /// `outside` is the caller's environment, of which only what the policy passes goes inside.
    pub fn new(
        policy: &Policy,
        root: &Path,
        cwd: &Path,
        home: Option<&Path>,
        argv: &[String],
        outside: &[(String, String)],
    ) -> Self {
        let (files, limits) = (&policy.files, &policy.limits);
        let keep = match limits.keep.value() {
            Keep::Head => Kept::Head,
            Keep::Tail => Kept::Tail,
        };
        Self {
            root: root.into(),
            cwd: cwd.into(),
            home: home.map(Into::into),
            argv: argv.to_vec(),
            plain: None,
            environment: environment(policy, outside),
            write: files.write.values().map(Folder::path).collect(),
            others: Vec::new(),
            protect: files.protect.values().cloned().collect(),
            hide: files.hide.values().cloned().collect(),
            readable: files.allow_read.values().cloned().collect(),
            network: policy.network.mode.value(),
            unix: policy.network.unix.values().cloned().collect(),
            publish: policy.network.publish.values().map(|port| port.number()).collect(),
            nesting: match policy.nested.value() {
                Nested::Off => Nesting::Off,
                Nested::Userns => Nesting::UserNamespaces,
            },
            require: policy.require.value(),
            walls: Walls::Up,
            bounds: Bounds {
                time: limits.timeout.value().0.map(Period::duration),
                idle: limits.idle.value().0.map(Period::duration),
                output: limits.output.value().0.map(ByteSize::bytes),
                // What we bring ourselves is for what is captured (Ruling 13).
                streamed: limits
                    .output
                    .sourced()
                    .filter(|limit| limit.origin.layer > Layer::Preset)
                    .and_then(|limit| limit.value.0)
                    .map(ByteSize::bytes),
                keep,
                processes: limits.processes.value().0.map(|count| count.0),
                memory: limits.memory.value().0.map(ByteSize::bytes),
                cpu: limits.cpu.value().0.map(Period::duration),
                file_size: limits.file_size.value().0.map(ByteSize::bytes),
                open_files: limits.open_files.value().0.map(|count| count.0),
                tmp: limits.tmp.value().0.map(ByteSize::bytes),
            },
            caches: match files.caches.value() {
                policy::Caches::Off => Caches::Off,
                policy::Caches::Private => Caches::Private { store: None },
                policy::Caches::Shared => Caches::Shared,
            },
            trace: Trace::Off,
            notes: Vec::new(),
        }
    }

    /// Returns the paths of which one must be there for the tools of this project to need caches.
    pub fn cache_markers(&self) -> Vec<PathBuf> {
        caches::markers(self)
    }

    /// Returns what must be known of the host to plan this.
    pub fn questions(&self) -> Questions {
        if let Walls::Down { .. } = self.walls {
            let (paths, trees, owned) = (Vec::new(), Vec::new(), Vec::new());
            let names = Names::new(&[], &[]);
            return Questions { paths, trees, owned, memory: None, sockets: false, names };
        }
        let mut paths: Vec<PathBuf> =
            Vec::with_capacity(self.hide.len() + self.protect.len() + 128);
        paths.extend(self.hide.iter().filter_map(PathPattern::literal));
        paths.extend(loader::questions(&paths));
        paths.extend(self.protect.iter().filter_map(PathPattern::literal));
        paths.extend(absent::candidates(&self.protect, &self.write));
        paths.extend(self.readable.iter().filter_map(PathPattern::literal));
        paths.extend(self.unix.iter().filter_map(PathPattern::literal));
        paths.extend(self.write.iter().cloned());
        paths.extend(self.write.iter().map(|tree| below(tree, ".git".as_ref())));
        paths.extend([self.root.clone(), self.cwd.clone()]);
        paths.extend(self.home.clone());
        if let Some(home) = &self.home {
            paths.extend(TOOLCHAINS.iter().map(|name| below(home, name.as_ref())));
        }
        paths.extend(SYSTEM.iter().map(PathBuf::from));
        paths.extend(caches::questions(self));
        paths.extend(bare::questions(&self.hide));
        sort_by_bytes(&mut paths);
        paths.dedup_by(|a, b| a.as_os_str() == b.as_os_str());
        let names = Names::new(&self.protect, &self.hide);
        let mut owned = self.write.clone();
        owned.push(self.root.clone());
        owned.extend(self.home.clone());
        let memory = self.bounds.memory;
        // Names are hidden in a project that can only be read, too.
        let mut trees = self.write.clone();
        if !trees.iter().any(|tree| self.root.starts_with(tree)) {
            trees.push(self.root.clone());
        }
        let sockets = !self.unix.is_empty();
        Questions { paths, trees, owned, memory, sockets, names }
    }
}

/// Homes of tools below `~`: work in them stays as fast as it is outside.
pub(crate) const TOOLCHAINS: [&str; 9] =
    [".cargo", ".rustup", ".nvm", ".pyenv", "go", ".local/share/uv", ".bun", ".deno", ".sdkman"];

/// What every plan asks about.
pub(crate) const SYSTEM: [&str; 7] =
    ["/tmp", "/var/tmp", "/run", "/dev/shm", "/etc/hosts", "/etc/resolv.conf", "/dev/pts"];

impl Questions {
    /// Returns whether something of this name in one of the trees may matter to the plan, as
    /// [`Questions::wants`] then tells.
    pub fn may_want(&self, name: &OsStr) -> bool {
        self.names.may_want(name)
    }

    /// Returns whether [`Questions::within`] may know of anything in a folder of this name.
    pub fn may_begin(&self, name: &OsStr) -> bool {
        self.names.may_begin(name)
    }

    /// Returns whether a path in one of the trees matters to the plan.
    pub fn wants(&self, path: &Path) -> bool {
        self.names.want(path)
    }

    /// Returns whether a link at a path in one of the trees would lead what is protected elsewhere.
    pub fn leads(&self, path: &Path) -> bool {
        self.names.lead(path, self.trees.iter())
    }

    /// Returns what matters in a folder of one of the trees, whether it exists or not.
    pub fn within(&self, folder: &Path) -> Vec<PathBuf> {
        self.names.within(folder)
    }
}

/// Works out the environment of a command: of the caller's what the policy passes, and over it what
/// the policy sets.
pub fn environment(policy: &Policy, outside: &[(String, String)]) -> Vec<(String, String)> {
    let env = &policy.env;
    let named = |name: &str| env.pass.values().any(|pattern| pattern.to_string() == name);
    let passes = |name: &str| {
        env.pass.values().any(|pattern| pattern.matches(name))
            && (!looks_secret(name) || named(name))
    };
    let mut inside: Vec<(String, String)> = outside
        .iter()
        // Ours is /tmp, whatever the caller's was.
        .filter(|(name, _)| name != "TMPDIR" && passes(name))
        .cloned()
        .collect();
    for (name, value) in env.set.iter() {
        inside.retain(|(had, _)| had != name.as_str());
        inside.push((name.as_str().to_owned(), value.value.clone()));
    }
    inside
}
