//! Agentao's sandbox, switched on or off by a person for one session.
//!
//! Off means that its `sandbox.json` files have no say, whatever stands in them: they are not read,
//! so a broken one is no obstacle. Its `permissions.json` counts all the same, and so does every
//! other file. On means that no file of its can switch it off.

use std::path::Path;

use palisade_policy::dialect::{self, Dialect, Reading, agentao};
use palisade_policy::key::Sourced;
use palisade_policy::layer::Scope;
use palisade_policy::policy::{Document, Include};
use palisade_policy::text::Source;

use super::error::OpenError;
use super::group::Group;
use super::load::Loader;
use super::request::{Request, Sandboxing};
use super::said_by;

/// Returns what stands in place of a policy that is named and has no say, because it is what was
/// switched off.
pub(super) fn silent(request: &Request, named: &str) -> Option<Group> {
    let Include { dialect, path } = Include::new(named);
    let dialect = dialect::named(&dialect?)?;
    let off = is_silenced(request, dialect, Path::new(&*path));
    off.then(|| Group::Texts(dialect, Vec::new()))
}

/// Returns whether a file of a dialect is not even read.
pub(super) fn is_silenced(request: &Request, dialect: &Dialect, path: &Path) -> bool {
    let named = path.file_name().is_some_and(|name| name == "sandbox.json");
    request.switches.off() && is_agentao(dialect) && named
}

/// Returns whether a text has no say.
pub(super) fn silences(request: &Request, dialect: &Dialect, source: &Source) -> bool {
    request.switches.off() && is_agentao(dialect) && agentao::is_sandbox(source)
}

/// Lets no file switch off what a person switched on.
pub(super) fn on(request: &Request, dialect: &Dialect, readings: &mut [Reading]) {
    if request.switches.enabled != Some(true) || !is_agentao(dialect) {
        return;
    }
    for Reading { document, .. } in readings {
        document.enabled.values_mut().for_each(|switch| switch.value = true);
    }
}

impl Loader<'_> {
    /// Adds what a person switched.
    pub(super) fn add_switches(&mut self) {
        let switches = &self.request.switches;
        if switches.off() || switches.chosen.is_some() {
            self.add_switched();
        }
    }

    // Apart, as mostly nothing is switched, and a policy takes much of a stack.
    #[inline(never)]
    fn add_switched(&mut self) {
        let layer = self.request.layer();
        let switches = &self.request.switches;
        if switches.off() {
            let mut document =
                Document { dialect: dialect::named("agentao"), ..Document::default() };
            let switch = Sourced { value: false, origin: said_by(layer) };
            document.enabled.insert(Scope::Base, switch);
            self.stack.push(layer, document);
        } else if let Some(policy) = switches.chosen.clone() {
            self.stack.push(layer, Document { policy: *policy, ..Document::default() });
        }
    }
}

impl Loader<'_> {
    /// Adds what the LLM proxy's variables and its flag say. The variables count also where there is
    /// no file of its, and are stronger than any file, a native one that is named on the command line
    /// among them; the flag is stronger still.
    pub(super) fn add_sandboxing(&mut self) -> Result<(), OpenError> {
        match self.request.sandboxing {
            Some(sandboxing) => self.add_said_by_flag(sandboxing),
            None => Ok(()),
        }
    }

    #[inline(never)]
    fn add_said_by_flag(&mut self, sandboxing: Sandboxing) -> Result<(), OpenError> {
        // A file of the project's has only the project's voice, and they have their own.
        if let Some(dialect) = dialect::named("proxy") {
            let said = self.add(Group::Texts(dialect, Vec::new()), &mut Vec::new())?;
            for Reading { document, .. } in said {
                self.stack.push(self.request.layer(), document);
            }
        }
        let flag = match sandboxing {
            Sandboxing::NotSaid => return Ok(()),
            Sandboxing::On => "true",
            Sandboxing::Off => "false",
        };
        let wrong = |invalid| OpenError::Option { name: "--enable-sandboxing".into(), invalid };
        let document = dialect::proxy::from_flag(Some(flag)).map_err(wrong)?;
        self.stack.push(self.request.layer(), document);
        Ok(())
    }
}

fn is_agentao(dialect: &Dialect) -> bool {
    dialect.name == "agentao"
}
