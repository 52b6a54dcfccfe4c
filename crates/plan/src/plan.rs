//! A plan, and what it promises.

use std::sync::Arc;

use crate::Bounds;
use crate::after::After;
use crate::coming::Coming;
use crate::step::{Access, Step};

/// Everything that will be done to a command, in order, before its first instruction runs.
///
/// A plan is a value: building one touches nothing. Two plans that print the same confine the same,
/// but for the values of environment variables, which are never printed. It is cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub(crate) level: Level,
    pub(crate) steps: Arc<[Step]>,
    pub(crate) enforced: Vec<Enforced>,
    pub(crate) notes: Vec<Note>,
    pub(crate) bounds: Bounds,
    pub(crate) after: Option<Arc<After>>,
    pub(crate) coming: Option<Arc<Coming>>,
}

/// How much of it all there is: the strongest word of `require` that is met.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Level {
    /// All walls.
    Full,
    /// Landlock and the filter of system calls.
    Landlock,
    /// Nothing of ours: the policy relies on what stands around us.
    External,
    /// Nothing.
    None,
}

/// How strongly one layer holds.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Enforced {
    /// The layer.
    pub layer: Layer,
    /// How strongly.
    pub strength: Strength,
}

/// A layer of confinement.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Layer {
    /// Namespaces.
    Namespaces,
    /// What can be written.
    Files,
    /// What does not exist.
    Hide,
    /// What cannot be changed in writable trees.
    Protect,
    /// Devices and terminals.
    Devices,
    /// System calls.
    SystemCalls,
    /// Landlock.
    Landlock,
    /// The network.
    Network,
    /// Users and capabilities.
    Privileges,
    /// Upper bounds.
    Limits,
}

/// How strongly a layer holds.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Strength {
    /// The kernel holds all of it.
    Kernel,
    /// The kernel holds it but for a moment or a corner that the supervisor watches; each is listed.
    Window(Vec<String>),
    /// The kernel holds it, but for what is listed.
    Partial(Vec<String>),
    /// It is not there, and why.
    Absent(String),
}

/// Something about a path of the policy that a person should know.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Note {
    /// A name that never changes.
    pub code: &'static str,
    /// What a person reads.
    pub message: String,
}

impl Plan {
    /// Returns what is needed of it once a command runs, in memory of its own: all that was made
    /// together with it can go. Of the steps those stay that tell what could be written, and the last.
    /// Who waits for names that come has them, and others have been told what this run knew.
    #[must_use]
    pub fn apart(&self) -> Self {
        let stays = |step: &&Step| {
            matches!(step, Step::Tmpfs { .. } | Step::Exec { .. })
                || matches!(step, Step::Keep(keep) if keep.access == Access::Write)
        };
        Self {
            level: self.level,
            steps: self.steps.iter().filter(stays).cloned().collect(),
            enforced: self.enforced.clone(),
            notes: self.notes.clone(),
            bounds: self.bounds,
            after: self.after.as_ref().map(|after| Arc::new(after.apart())),
            coming: None,
        }
    }

    /// Returns the steps, in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns what holds once every step has been done.
    pub fn enforced(&self) -> &[Enforced] {
        &self.enforced
    }

    /// Returns what a person should know.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Returns how much of it all there is.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Returns whether there are walls around the command.
    pub fn is_confined(&self) -> bool {
        match self.level {
            Level::Full | Level::Landlock => true,
            Level::External | Level::None => false,
        }
    }

    /// Returns whether the command has namespaces of its own, which end all of its processes.
    pub fn has_namespaces(&self) -> bool {
        !self.steps.contains(&Step::Adopt)
    }

    /// Returns what the supervisor looks for once the run has ended.
    pub fn after(&self) -> Option<&After> {
        self.after.as_deref()
    }

    /// Returns the names that the supervisor hides once they come.
    pub fn coming(&self) -> Option<&Arc<Coming>> {
        self.coming.as_ref()
    }

    /// Returns the bounds that the supervisor keeps.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }
}

impl Level {
    /// Returns the word that policies and programs use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Landlock => "landlock",
            Self::External => "external",
            Self::None => "none",
        }
    }
}

impl Layer {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 10] = [
        Self::Namespaces,
        Self::Files,
        Self::Hide,
        Self::Protect,
        Self::Devices,
        Self::SystemCalls,
        Self::Landlock,
        Self::Network,
        Self::Privileges,
        Self::Limits,
    ];

    /// Returns the word that programs read.
    pub fn word(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::Files => "files",
            Self::Hide => "hide",
            Self::Protect => "protect",
            Self::Devices => "devices",
            Self::SystemCalls => "system-calls",
            Self::Landlock => "landlock",
            Self::Network => "network",
            Self::Privileges => "privileges",
            Self::Limits => "limits",
        }
    }
}

impl Strength {
    /// Returns the word that programs read.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Window(_) => "kernel+window",
            Self::Partial(_) => "partial",
            Self::Absent(_) => "absent",
        }
    }

    /// Notes one thing that does not hold.
    pub fn lacks(&mut self, what: String) {
        match self {
            Self::Kernel => *self = Self::Partial(vec![what]),
            Self::Window(list) => {
                list.push(what);
                *self = Self::Partial(std::mem::take(list));
            }
            Self::Partial(list) => list.push(what),
            Self::Absent(_) => {}
        }
    }

    /// Notes one thing that the supervisor watches.
    pub(crate) fn watches(&mut self, what: String) {
        match self {
            Self::Kernel => *self = Self::Window(vec![what]),
            Self::Window(list) | Self::Partial(list) if list.contains(&what) => {}
            Self::Window(list) | Self::Partial(list) => list.push(what),
            Self::Absent(_) => {}
        }
    }
}
