//! A list of files to write that a profile of the command line stands above.

use palisade_policy::layer::Layer;

use super::Session;

impl Session {
    /// Tells whose `files.write` does not count, because a profile that was chosen by an option or a
    /// variable says what is writable. Only what the user or the machine says is told of: naming a
    /// project's file would be to trust it.
    pub(crate) fn outvoted(&self) -> Option<String> {
        let policy = self.policy();
        let chosen = policy.profile.sourced()?;
        let in_person = chosen.origin.file.is_none() && chosen.origin.layer > Layer::Project;
        if !in_person || policy.files.write.is_explicit() {
            return None;
        }
        let found = self
            .stack
            .documents()
            .filter(|(layer, _)| matches!(layer, Layer::System | Layer::User));
        let lists = found.flat_map(|(_, document)| document.policy.files.write.entries());
        let origin = &lists.last()?.origin;
        let profile = &chosen.value;
        Some(format!(
            "the profile `{profile}` ({}) stands above files.write of {origin}: leave it out, or name \
             that file with --policy",
            chosen.origin
        ))
    }
}
