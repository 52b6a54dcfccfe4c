//! What this machine is, as far as planning asks.

use std::path::PathBuf;

use palisade_plan::seccomp::Arch;
use palisade_plan::{
    Enforced, Facts, Idmap, Kernel, Mount, Plan, Privilege, Questions, Searched, Trial,
};

use super::error::CannotStart;
use super::handed::Streams;
use super::running::Running;
use super::start::start;
use super::survey::{Changes, survey};

/// What is planned instead where the kernel turns out to offer less.
pub type Other<'o> = &'o dyn Fn(&Kernel) -> Option<Plan>;

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
        let kernel = Kernel {
            arch: Some(arch),
            namespaces: Trial::Works,
            unaided: Trial::untried(),
            around: Trial::untried(),
            blocks: Vec::new(),
            network: palisade_plan::network::Rung::None,
            landlock: 1,
        };
        Self { kernel }
    }

    /// The same: there is nothing to choose from.
    pub fn probed(&self) -> Kernel {
        self.kernel.clone()
    }

    /// There are no placeholders here: rules hold for names that do not exist, too.
    #[must_use]
    pub fn keeping_spares(self, _: Option<PathBuf>) -> Self {
        self
    }

    /// A process that runs one command needs nothing else.
    pub fn for_one(&mut self) {}

    /// Nothing is left to be done.
    pub fn finish(&self) {}

    /// Answers what a plan has to know.
    pub fn facts(&self, questions: &Questions) -> Facts {
        self.facts_of(&self.kernel, questions)
    }

    /// Returns what the layers of a plan hold on this machine.
    pub fn enforced(&self, plan: &Plan) -> Vec<Enforced> {
        plan.enforced().to_vec()
    }

    /// The same for a machine whose kernel is this one.
    pub fn facts_of(&self, kernel: &Kernel, questions: &Questions) -> Facts {
        let uid = rustix::process::geteuid().as_raw();
        let gid = rustix::process::getegid().as_raw();
        let privilege = if uid == 0 {
            Privilege::Root { idmap: Idmap::Refused(libc::ENOSYS) }
        } else {
            Privilege::Ordinary
        };
        let surveyed = survey(questions, privilege, Changes::Trees, &[]);
        Facts {
            uid,
            gid,
            groups: Vec::new(),
            name: "localhost".into(),
            privilege,
            kernel: kernel.clone(),
            mounts: vec![whole()],
            places: surveyed.places,
            searched: if surveyed.searched { Searched::Whole } else { Searched::Partly },
            skipped: surveyed.skipped,
            // A rule of every profile keeps commands from them.
            sockets: Vec::new(),
            doors: Searched::Whole,
            delegated: None,
            scratch: None,
            beside: Vec::new(),
            left: Vec::new(),
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

    /// The same: there is no other plan for this machine.
    ///
    /// # Errors
    ///
    /// As [`Host::start`].
    pub fn start_or(
        &self,
        plan: &Plan,
        streams: Streams,
        _: bool,
        _: Other<'_>,
    ) -> Result<Running, CannotStart> {
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

/// One mount for all there is: the profile goes by paths without links, and files have no others.
fn whole() -> Mount {
    let (device, kind, layers) = (String::new(), String::new(), Vec::new());
    Mount { point: "/".into(), root: "/".into(), device, kind, layers }
}
