//! How Agentao's sandbox stands in a session, if a file of it has a say.

use std::fs;
use std::path::PathBuf;

use palisade_policy::layer::{Layer, Trust};
use palisade_policy::name::Folder;
use palisade_policy::policy::{Policy, Profile};

use super::Session;
use crate::agentao::{State, Status, name_of, shadowing_rule};

impl Session {
    /// Tells how Agentao's sandbox stands; none if no `sandbox.json` has a say. Files that are
    /// broken open no session, so it never is.
    pub fn agentao_status(&self) -> Option<Status> {
        let agentao = |document: &&palisade_policy::policy::Document| {
            let named = document.dialect.is_some_and(|dialect| dialect.name == "agentao");
            named && !document.enabled.is_empty()
        };
        let mut documents =
            self.stack.documents().map(|(_, document)| document).filter(agentao).peekable();
        documents.peek()?;
        let on = documents.any(|document| document.switched_off(&self.resolved.choice).is_none());
        let policy = self.policy();
        Some(Status {
            state: if on { State::Enabled } else { State::Disabled },
            default_profile: Some(name_of(&policy.profile.value())),
            workspace_root: self.workspace(policy),
            profiles: self.profiles(),
            shadowed_by: shadowing_rule(policy),
            problems: Vec::new(),
        })
    }

    /// Returns the folder that the profile of a policy means by the workspace.
    pub(crate) fn workspace(&self, policy: &Policy) -> PathBuf {
        let chosen = policy.profile.sourced();
        let named = chosen.and_then(|chosen| self.stack.workspace_of(&chosen.origin));
        named.map_or_else(|| self.root.path.clone(), Folder::path)
    }

    /// Lists the profiles that can be chosen by name: the built-in ones and those of the folders
    /// that files name. A project's folder counts once the project is trusted.
    fn profiles(&self) -> Vec<String> {
        let trust = self.trust();
        let heard =
            |(_, owner): &&(PathBuf, Layer)| *owner != Layer::Project || trust == Trust::Trusted;
        let mut names: Vec<String> = Profile::NAMES.map(str::to_owned).into();
        for (folder, _) in self.profile_folders.iter().filter(heard) {
            let files = fs::read_dir(folder).into_iter().flatten().flatten();
            let files = files.filter_map(|file| file.file_name().into_string().ok());
            names.extend(files.filter_map(|file| file.strip_suffix(".sb").map(str::to_owned)));
        }
        names.sort_unstable();
        names.dedup();
        names
    }
}
