//! A first policy, by the situation it is for.
//!
//! The texts are files under `policies/scenarios/`, each with the reason beside every value. They are
//! written as they are, so that whoever reads the file later reads why; an agent adds a section.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use palisade_apply::{Failed, Jail, Why};
use palisade_policy::agent;

use crate::places::Places;

/// What a policy is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Scenario {
    /// A developer's own machine.
    Dev,
    /// A tool inside a company.
    Internal,
    /// A service that builds and tests.
    Ci,
    /// A service that runs what strangers send.
    Saas,
    /// One process for several tenants.
    MultiTenant,
}

/// A word that names no scenario.
#[derive(Debug, thiserror::Error)]
#[error("no scenario `{0}`; there are dev, internal, ci, saas and multi-tenant")]
pub struct UnknownScenario(String);

/// Why no policy was written.
#[derive(Debug, thiserror::Error)]
pub enum CannotInit {
    /// There is one.
    #[error("there is a policy already: {}", .0.display())]
    Exists(PathBuf),
    /// The system refused, or the place leads out of the project.
    #[error("cannot write {}: {why}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// What was said.
        why: String,
    },
}

impl Scenario {
    /// Every one, in the order in which help names them.
    pub const ALL: [Self; 5] = [Self::Dev, Self::Internal, Self::Ci, Self::Saas, Self::MultiTenant];

    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Internal => "internal",
            Self::Ci => "ci",
            Self::Saas => "saas",
            Self::MultiTenant => "multi-tenant",
        }
    }

    /// Returns the policy for it, with a section for each agent.
    pub fn policy(self, agents: &[&str]) -> String {
        let mut text = self.text().to_owned();
        if !agents.is_empty() {
            text.push_str("\nagents:\n");
        }
        for name in agents {
            text.push_str(&section(name));
        }
        text
    }

    fn text(self) -> &'static str {
        match self {
            Self::Dev => include_str!("../../../policies/scenarios/dev.yaml"),
            Self::Internal => include_str!("../../../policies/scenarios/internal.yaml"),
            Self::Ci => include_str!("../../../policies/scenarios/ci.yaml"),
            Self::Saas => include_str!("../../../policies/scenarios/saas.yaml"),
            Self::MultiTenant => include_str!("../../../policies/scenarios/multi-tenant.yaml"),
        }
    }
}

impl FromStr for Scenario {
    type Err = UnknownScenario;

    fn from_str(word: &str) -> Result<Self, UnknownScenario> {
        let found = Self::ALL.into_iter().find(|scenario| scenario.word() == word);
        found.ok_or_else(|| UnknownScenario(word.to_owned()))
    }
}

impl CannotInit {
    /// Returns a name that never changes, for programs and tests.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Exists(_) => "policy-exists",
            Self::Refused { .. } => "policy-refused",
        }
    }
}

/// Opens what is known of an agent's hosts for it alone.
fn section(name: &str) -> String {
    let known = if agent::names().any(|known| known == name) {
        format!("its hosts are known (`palisade agents show {name}`)")
    } else {
        "list its hosts in `allow`".to_owned()
    };
    format!(
        "  {name}:\n    # Reached by name by this agent alone: {known}.\n    network: {{ mode: allow-list }}\n"
    )
}

/// Writes the policy of the project at `root`, and nothing over one that is there. A link on the way
/// leads nowhere: whoever cloned the project did not choose where it points.
///
/// # Errors
///
/// When there is a policy, or the place cannot be written.
pub fn write_project(root: &Path, text: &str) -> Result<PathBuf, CannotInit> {
    let path = Places::project_policy(root);
    let inside = path.strip_prefix(root).unwrap_or(&path);
    let refused =
        |failed: &Failed| CannotInit::Refused { path: path.clone(), why: failed.to_string() };
    let jail = Jail::open_root(root).map_err(|failed| refused(&failed))?.without_links();
    if let Some(folder) = inside.parent() {
        match jail.create_folder(folder) {
            Ok(()) => {}
            Err(failed) if failed.why() == Why::Taken => {}
            Err(failed) => return Err(refused(&failed)),
        }
    }
    match jail.create(inside, text.as_bytes()) {
        Ok(()) => Ok(path),
        Err(failed) if failed.why() == Why::Taken => Err(CannotInit::Exists(path)),
        Err(failed) => Err(refused(&failed)),
    }
}

/// Writes the user's own policy, and nothing over one that is there.
///
/// # Errors
///
/// As [`write_project`].
pub fn write_user(path: &Path, text: &str) -> Result<(), CannotInit> {
    let refused =
        |error: io::Error| CannotInit::Refused { path: path.into(), why: error.to_string() };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(refused)?;
    }
    let mut file = match File::create_new(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(CannotInit::Exists(path.into()));
        }
        Err(error) => return Err(refused(error)),
    };
    file.write_all(text.as_bytes()).map_err(refused)
}

#[cfg(test)]
mod tests {
    use palisade_testkit::Project;

    use super::*;

    #[test]
    fn words_and_scenarios_are_the_same() {
        for scenario in Scenario::ALL {
            assert_eq!(scenario.word().parse::<Scenario>().unwrap(), scenario);
        }
        assert!("Dev".parse::<Scenario>().is_err());
    }

    #[test]
    fn a_policy_that_is_there_stays() {
        let project = Project::new().file(".palisade/policy.yaml", "version: 1\n");
        let error = write_project(project.root(), "x").unwrap_err();
        assert!(matches!(error, CannotInit::Exists(_)), "{error}");
        let text = fs::read_to_string(project.path(".palisade/policy.yaml")).unwrap();
        assert_eq!(text, "version: 1\n");
    }

    #[test]
    fn a_link_in_the_project_leads_nowhere() {
        let outside = Project::new();
        let project = Project::new().symlink(".palisade", outside.root());
        let error = write_project(project.root(), "x").unwrap_err();
        assert!(matches!(error, CannotInit::Refused { .. }), "{error}");
        assert!(!outside.path("policy.yaml").exists());
        let project = Project::new().symlink(".palisade/policy.yaml", outside.path("x"));
        assert!(write_project(project.root(), "x").is_err());
        assert!(!outside.path("x").exists());
    }
}
