//! Whether the sandbox is on, and for whom.

use std::collections::BTreeMap;

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

/// Works out the switches of a file: what files say, the strongest last, and then the default.
pub(super) fn switches(files: &[File], listener: Layer) -> BTreeMap<Scope, Sourced<bool>> {
    let mut switches = BTreeMap::new();
    let heard = || files.iter().filter(|file| hears(listener, file.layer));
    for section in heard().flat_map(|file| &file.sections) {
        if let Some(enabled) = &section.enabled {
            switches.insert(section.scope.clone(), enabled.clone());
        }
    }
    let config = heard().find_map(|file| file.config.clone());
    if let (Some(origin), None) = (config, switches.get(&Scope::Base)) {
        for section in heard().flat_map(|file| &file.sections) {
            if matches!(section.scope, Scope::Agent(_)) {
                let off = || Sourced { value: false, origin: section.origin.clone() };
                switches.entry(section.scope.clone()).or_insert_with(off);
            }
        }
        switches.insert(Scope::Base, Sourced { value: false, origin });
    }
    switches
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
        note("verbose", "BLOOM_SANDBOX_VERBOSE=1: every decision is to be logged", "unset it");
    }
    disabled.then(|| {
        let message = "BLOOM_SANDBOX_DISABLED=1: BLOOM'S FILES CONFINE NOBODY";
        note("disabled", message, "unset it; what other files require still holds");
        Origin { file: Some(DISABLED.into()), ..Origin::of(Layer::Environment) }
    })
}

const DISABLED: &str = "BLOOM_SANDBOX_DISABLED";
