//! Profiles that stand in files.

use std::path::Path;

use palisade_policy::dialect::seatbelt::{self, Params};
use palisade_policy::key::Sourced;
use palisade_policy::layer::Layer;
use palisade_policy::name::Folder;
use palisade_policy::policy::{Document, Policy, Profile};
use palisade_policy::text::{Diagnostic, Source, Span};

use super::broken;
use super::error::{OpenError, Warning};
use super::load::{LoadedFile, Loader};
use super::world::with_surroundings;
use crate::read::{Place, read_policy_file};

impl Loader<'_> {
    /// Reads every profile file that some text names, and adds what it supplies; returns the files.
    pub(super) fn add_profiles(&mut self) -> Result<Vec<Folder>, OpenError> {
        let mut read = Vec::new();
        for Sourced { value, origin } in self.stack.profile_files() {
            let Profile::File(file) = value else { continue };
            let (path, layer) = (file.path(), origin.layer);
            // A file of the project is the project's to change, whoever names it; a person who
            // names it for this run has looked at it, a file of theirs has not.
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            let inside = [&path, &real].iter().any(|path| path.starts_with(&self.anchors.root));
            if matches!(layer, Layer::System | Layer::User) && inside {
                return Err(OpenError::ProfileInProject { file: file.to_string() });
            }
            let folder = self.folder_of(&path);
            // A project picks a name, and the file lies where the user keeps profiles.
            let users = folder.is_some_and(|owner| owner != Layer::Project) && !inside;
            let place = if users && !self.contained { Place::Named } else { self.place(layer) };
            let source = Source::new(&path.to_string_lossy(), &read_policy_file(&path, place)?);
            let workspace = self.stack.workspace_of(&origin).map(Folder::path);
            let workspace = workspace.unwrap_or_else(|| self.anchors.root.clone());
            let form = match path.extension().and_then(|ending| ending.to_str()) {
                Some("sb") => Form::Seatbelt,
                // Agentao hands whatever bears the name to Seatbelt.
                Some(_) | None if folder.is_some() => Form::Seatbelt,
                Some("yaml") => Form::Native,
                Some(_) | None => {
                    return Err(OpenError::ProfileKind { file: source.name().into() });
                }
            };
            let (policy, dialect) = match form {
                Form::Native => (native(&source, layer, self)?, "native"),
                Form::Seatbelt => {
                    let policy = self.read_profile(&source, layer, place, &workspace)?;
                    self.profile_texts.push((file.clone(), source.clone()));
                    (policy, "seatbelt")
                }
            };
            let owner = folder.filter(|_| users).unwrap_or(layer);
            if owner == Layer::Project {
                self.content.push((path.clone(), source));
            }
            self.files.push(LoadedFile { layer: owner, path, dialect });
            self.stack.push_profile(file.clone(), policy);
            read.push(file);
        }
        Ok(read)
    }

    /// Returns who named the folder of profiles that a file lies in.
    fn folder_of(&self, path: &Path) -> Option<Layer> {
        let named = self.profile_folders.iter();
        let named = named.filter(|(folder, _)| path.parent() == Some(folder));
        named.map(|(_, owner)| *owner).min()
    }

    fn read_profile(
        &mut self,
        source: &Source,
        layer: Layer,
        place: Place<'_>,
        workspace: &Path,
    ) -> Result<Policy, OpenError> {
        let params = Params::of_root(workspace);
        let read = with_surroundings(self.request, self.anchors, place, |around| {
            seatbelt::read_profile(source, &params, layer, around)
        });
        let (policy, notes) = read.map_err(broken)?;
        self.notes.extend(notes.into_iter().map(Warning::Text));
        Ok(policy)
    }
}

/// What a profile's file is written in.
enum Form {
    Native,
    Seatbelt,
}

/// Reads a profile in our own form: `files` and `network`, nothing else.
fn native(source: &Source, layer: Layer, loader: &Loader<'_>) -> Result<Policy, OpenError> {
    let document = Document::parse(source, layer, loader.anchors).map_err(broken)?;
    let Policy { files, network, .. } = document.policy.clone();
    let only = Policy { files, network, ..Policy::default() };
    if document != (Document { policy: only.clone(), ..Document::default() }) {
        let message = "a profile holds `files` and `network`, nothing else".into();
        let problem = Diagnostic::new(source, "profile-key", message).at(Span::new(0, 1));
        return Err(broken(vec![problem]));
    }
    Ok(only)
}
