//! Whether the sandbox is on, and for whom.

use std::collections::{BTreeMap, BTreeSet};

use super::file::File;
use crate::dialect::Surroundings;
use crate::key::Sourced;
use crate::layer::{Layer, Origin, Scope};
use crate::text::Diagnostic;

/// Returns whether what a file of one layer leaves unsaid may be said by a file of another.
///
/// A project speaks for itself alone, because nobody has trusted it yet; and nobody speaks for the
/// administrator.
pub(super) fn hears(listener: Layer, speaker: Layer) -> bool {
    listener == speaker || listener != Layer::System && speaker != Layer::Project
}

/// The switches of a file, and those of them that nobody means.
pub(super) type Switches = (BTreeMap<Scope, Sourced<bool>>, BTreeSet<Scope>);

/// Works out the switches of a file: what files say, the strongest last, and then the default, which
/// is off for whoever has a section. Where there is none, nothing is said, and nobody is let out.
pub(super) fn switches(files: &[File], listener: Layer) -> Switches {
    let (mut switches, mut unsaid) = (BTreeMap::new(), BTreeSet::new());
    let heard = || files.iter().filter(|file| hears(listener, file.layer));
    for section in heard().flat_map(|file| &file.sections) {
        if let Some(enabled) = &section.enabled {
            switches.insert(section.scope.clone(), enabled.clone());
        }
    }
    let config = heard().find_map(|file| file.config.clone());
    if let (Some(origin), None) = (config, switches.get(&Scope::Base)) {
        let mut bare = false;
        for section in heard().flat_map(|file| &file.sections) {
            bare |= section.scope == Scope::Base;
            if matches!(section.scope, Scope::Agent(_)) {
                let off = || Sourced { value: false, origin: section.origin.clone() };
                switches.entry(section.scope.clone()).or_insert_with(off);
            }
        }
        switches.insert(Scope::Base, Sourced { value: false, origin });
        if !bare {
            unsaid.insert(Scope::Base);
        }
    }
    (switches, unsaid)
}

/// Reads Bloom's two variables; returns who switched the sandbox off, if the environment did.
pub(super) fn disabled(files: &mut [File], around: &Surroundings<'_>) -> Option<Origin> {
    let file = files.first_mut()?;
    let mut note = |code, message: &str, hint: &str| {
        let note = Diagnostic::new(&file.source, code, message.into()).warning();
        file.problems.push(note.hint(hint));
    };
    let mut asked = |name: &str| match (around.var)(name).as_deref() {
        Some("1") => true,
        None | Some("" | "0") => false,
        Some(_) => {
            let message = format!("{name} is neither 0 nor 1, and is not obeyed");
            note("variable", &message, "only 1 has a meaning");
            false
        }
    };
    let (disabled, verbose) = (asked(DISABLED), asked("BLOOM_SANDBOX_VERBOSE"));
    if verbose {
        let message = "BLOOM_SANDBOX_VERBOSE=1 changes nothing: no log is written by it";
        note(
            "verbose",
            message,
            "every answer names its rule and its file; `audit` keeps a record",
        );
    }
    disabled.then(|| {
        let message = "BLOOM_SANDBOX_DISABLED=1: BLOOM'S FILES CONFINE NOBODY";
        note("disabled", message, "unset it; what other files require still holds");
        Origin { file: Some(DISABLED.into()), ..Origin::of(Layer::Environment) }
    })
}

const DISABLED: &str = "BLOOM_SANDBOX_DISABLED";
