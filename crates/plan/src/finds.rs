//! What a command finds at a path, told from the steps alone.
//!
//! The steps are gone through in their order, as the kernel does: what a later one puts over a place
//! is what is there. So an answer is about what is enforced, and names the step that decided.

use std::path::Path;

use crate::plan::Plan;
use crate::step::{Access, Alone, Keep, Step};

/// What a command finds at a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Finds {
    /// What lies there on the host, and may change it.
    Writable,
    /// What lies there on the host, and may read it.
    Readable,
    /// What lies there on the host; it stays as it is, though what is around it may change.
    Protected,
    /// Nothing, and cannot make anything there.
    Reserved,
    /// Nothing: it does not exist.
    Nothing,
    /// Something that cannot be opened.
    Cover,
    /// A folder of this run alone, or something in it.
    Own,
    /// What lies there on the host, under a layer that takes what is written.
    Layer,
    /// A text of ours, or a view of this sandbox, in place of what lies there on the host.
    Replaced,
    /// A device.
    Device,
}

/// What a command finds at a path, and which step says so.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Found {
    /// What it finds; none if the steps do not tell.
    pub finds: Option<Finds>,
    /// The number of the step in the plan, from zero.
    pub step: Option<usize>,
}

impl Finds {
    /// Returns a word that never changes, for programs and tests.
    pub fn word(self) -> &'static str {
        match self {
            Self::Writable => "writable",
            Self::Readable => "readable",
            Self::Protected => "protected",
            Self::Reserved => "reserved",
            Self::Nothing => "nothing",
            Self::Cover => "covered",
            Self::Own => "own",
            Self::Layer => "layer",
            Self::Replaced => "replaced",
            Self::Device => "device",
        }
    }

    /// Returns whether what lies at the path on the host can be read.
    pub fn reads(self) -> bool {
        matches!(
            self,
            Self::Writable | Self::Readable | Self::Protected | Self::Layer | Self::Device
        )
    }

    /// Returns whether what lies at the path on the host can be changed.
    pub fn writes(self) -> bool {
        matches!(self, Self::Writable | Self::Device)
    }
}

impl Plan {
    /// Tells what the command finds at `path`, which is absolute and leads through no link.
    pub fn finds(&self, path: &Path) -> Found {
        let mut found = Found { finds: Some(Finds::Writable), step: None };
        let mut kept: Vec<&Keep> = Vec::new();
        for (number, step) in self.steps.iter().enumerate() {
            if let Step::Keep(keep) = step {
                kept.push(keep);
            }
            // What a profile of macOS says is not told apart here.
            if let Step::Seatbelt { .. } = step {
                found = Found { finds: None, step: Some(number) };
            } else if let Some(finds) = changed(step, path, found.finds, &kept) {
                found = Found { finds: Some(finds), step: Some(number) };
            }
        }
        found
    }
}

/// Returns what is at `path` once a step is done, if that is another thing than before.
fn changed(step: &Step, path: &Path, before: Option<Finds>, kept: &[&Keep]) -> Option<Finds> {
    let below = |folder: &Path| path.starts_with(folder);
    match step {
        Step::SealRoot => Some(Finds::Readable),
        Step::EmptyRoot => Some(Finds::Nothing),
        Step::Tmpfs { at, .. } | Step::Scratch(at) => below(at).then_some(Finds::Own),
        Step::FreshProc => below(Path::new("/proc")).then_some(Finds::Replaced),
        Step::FreshTerminals => below(Path::new("/dev/pts")).then_some(Finds::Own),
        Step::MakeFolder(at) | Step::MakeFile(at) | Step::MakeLink { at, .. } => {
            (path == at && before == Some(Finds::Nothing)).then_some(Finds::Replaced)
        }
        Step::Attach { tree, at } => {
            let keep = kept.iter().find(|keep| keep.tree == *tree)?;
            below(at).then_some(match keep.access {
                Access::Read => Finds::Readable,
                Access::Write => Finds::Writable,
                Access::Device => Finds::Device,
            })
        }
        Step::Hide { at, names, .. } => below(at).then(|| {
            let is_hidden = names.iter().any(|name| below(&at.join(name)));
            if is_hidden { Finds::Nothing } else { Finds::Readable }
        }),
        Step::Cache { at, .. } => below(at).then_some(Finds::Layer),
        Step::Cover { at, .. } => below(at).then_some(Finds::Cover),
        Step::Mask(places) => places.iter().any(|at| below(at)).then_some(Finds::Cover),
        Step::Show { at, .. } => (path == at).then_some(Finds::Replaced),
        Step::Reserve(names) => names.iter().any(|at| below(at)).then_some(Finds::Reserved),
        // A placeholder that is protected still is none of the project's.
        Step::Protect(at) => {
            (below(at) && before == Some(Finds::Writable)).then_some(Finds::Protected)
        }
        Step::LandlockAlone(alone) => Some(held(alone, path)),
        Step::Landlock { write, .. } => {
            let is_closed = !write.iter().any(|folder| below(folder));
            (is_closed && before == Some(Finds::Writable)).then_some(Finds::Readable)
        }
        Step::Namespaces(_)
        | Step::Identity(_)
        | Step::Group { .. }
        | Step::Keep(_)
        | Step::CloseRoot
        | Step::Pin(_)
        | Step::LoopbackUp
        | Step::Inlets(_)
        | Step::Publish(_)
        | Step::Undumpable
        | Step::NoCapabilities
        | Step::NoNewPrivileges
        | Step::Seccomp { .. }
        | Step::Adopt
        | Step::Reaper
        | Step::Session
        | Step::Descriptors
        | Step::Limit(_)
        | Step::Enter(_)
        | Step::Prove { .. }
        | Step::TraceWrites(_)
        | Step::Seatbelt { .. }
        | Step::Exec { .. } => None,
    }
}

/// What Landlock alone leaves of a path.
fn held(alone: &Alone, path: &Path) -> Finds {
    let below = |folders: &[std::path::PathBuf]| folders.iter().any(|at| path.starts_with(at));
    if below(&alone.devices) {
        Finds::Device
    } else if below(&alone.hidden) {
        Finds::Cover
    } else if below(&alone.fixed) {
        Finds::Protected
    } else if below(&alone.write) {
        Finds::Writable
    } else if below(&alone.shut) && !below(&alone.readable) {
        Finds::Cover
    } else {
        Finds::Readable
    }
}
