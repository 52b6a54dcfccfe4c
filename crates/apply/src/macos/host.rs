//! What this machine is, as far as planning asks.

use std::path::PathBuf;

use palisade_plan::seccomp::Arch;
use palisade_plan::{Facts, Idmap, Kernel, Plan, Privilege, Questions, Searched, Trial};

use super::error::CannotStart;
use super::running::Running;
use super::start::start;
use super::streams::Streams;
use super::survey::survey;

/// A machine with macOS.
#[derive(Debug)]
pub struct Host {
    kernel: Kernel,
}

impl Host {
    /// Looks at the machine.
    pub fn probe() -> Self {
        Self::assumed()
    }

    /// Takes for granted what every machine with macOS has. A plan is made as for Linux, and then
    /// turned into one for macOS (`palisade_plan::on_macos`), which says what of it does not hold.
    pub fn assumed() -> Self {
        let arch = if cfg!(target_arch = "aarch64") { Arch::Aarch64 } else { Arch::X86_64 };
        Self { kernel: Kernel { arch: Some(arch), namespaces: Trial::Works, landlock: 1 } }
    }

    /// There are no placeholders here: rules hold for names that do not exist, too.
    #[must_use]
    pub fn keeping_spares(self, _: Option<PathBuf>) -> Self {
        self
    }

    /// A process that runs one command needs nothing else.
    #[must_use]
    pub fn for_one(self) -> Self {
        self
    }

    /// Nothing is left to be done.
    pub fn finish(&self) {}

    /// Answers what a plan has to know.
    pub fn facts(&self, questions: &Questions) -> Facts {
        let uid = rustix::process::geteuid().as_raw();
        let gid = rustix::process::getegid().as_raw();
        let privilege = if uid == 0 {
            Privilege::Root { idmap: Idmap::Refused(libc::ENOSYS) }
        } else {
            Privilege::Ordinary
        };
        let surveyed = survey(questions, privilege);
        Facts {
            uid,
            gid,
            groups: Vec::new(),
            name: "localhost".into(),
            privilege,
            kernel: self.kernel.clone(),
            mounts: Vec::new(),
            places: surveyed.places,
            searched: if surveyed.searched { Searched::Whole } else { Searched::Partly },
            // A rule of every profile keeps commands from them.
            sockets: Vec::new(),
            delegated: None,
        }
    }

    /// Returns what the kernel offers.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Nothing takes long here before a command starts.
    pub fn send_ahead(&self) {}

    /// Starts the command of a plan for macOS.
    ///
    /// # Errors
    ///
    /// When it cannot be put in force. The command has not run.
    pub fn start(&self, plan: &Plan, streams: Streams) -> Result<Running, CannotStart> {
        start(plan, streams)
    }

    /// The same: nobody has to watch while nobody waits.
    ///
    /// # Errors
    ///
    /// As [`Host::start`].
    pub fn start_awaited(&self, plan: &Plan, streams: Streams) -> Result<Running, CannotStart> {
        start(plan, streams)
    }
}
