//! Why a path or a host can be reached, or not: told from the plan that a run would carry out.

use std::fs;
use std::path::{Component, Path, PathBuf};

use palisade_apply::HostLookup;
use palisade_plan::{Found, Level, Plan};
use palisade_policy::jail::Ground;
use palisade_policy::layer::Origin;
use palisade_policy::name::Host;
use palisade_policy::policy::{NetworkMode, Reach, Reached as Judged};

use crate::sandbox::{CannotRun, Planned, Sandbox};

/// What a command finds at a path.
#[derive(Clone, Debug)]
pub struct WhyPath {
    /// The path, through no link.
    pub path: PathBuf,
    /// Whether something lies there on the host.
    pub exists: bool,
    /// What the command finds, and by which step.
    pub found: Found,
    /// That step, as a plan prints it.
    pub step: Option<String>,
    /// What of the policy speaks of this path, if something does.
    pub said: Option<Said>,
    /// How much of the plan there is.
    pub level: Level,
}

/// What of a policy speaks of something.
#[derive(Clone, Debug)]
pub struct Said {
    /// The key, such as `files.hide`.
    pub key: &'static str,
    /// Where it stands.
    pub origin: Origin,
}

/// What a command reaches of a host.
#[derive(Clone, Debug)]
pub struct WhyHost {
    /// The host.
    pub host: Host,
    /// The port.
    pub port: u16,
    /// What the policy says of connections at all.
    pub mode: NetworkMode,
    /// Where it says so, if anybody does.
    pub mode_origin: Option<Origin>,
    /// What becomes of a connection.
    pub reached: Reached,
    /// What of the policy speaks of this host, if something does.
    pub said: Option<Said>,
}

/// What becomes of a connection.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Reached {
    /// There is no network.
    Never,
    /// It is judged by name.
    Judged(Judged),
    /// It is the host's own network, and nothing of ours stands in between.
    Unfiltered,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum CannotTell {
    /// There is no plan.
    #[error(transparent)]
    Plan(#[from] CannotRun),
    /// Not even a command that does nothing may run.
    #[error("the policy lets nothing run, not even `true`")]
    NothingRuns,
}

impl Sandbox {
    /// Tells what a command would find at `path`; one that is not absolute starts at `cwd`.
    ///
    /// # Errors
    ///
    /// When no command could be confined as the policy demands.
    pub fn why_path(&self, path: &Path, cwd: &Path) -> Result<WhyPath, CannotTell> {
        let plan = self.plan_of_nothing()?;
        let path = real(&cwd.join(self.below_home(path)));
        let found = plan.finds(&path);
        let step = found.step.and_then(|number| plan.steps().get(number));
        Ok(WhyPath {
            exists: path.symlink_metadata().is_ok(),
            said: self.said_of(&path),
            step: step.map(ToString::to_string),
            level: plan.level(),
            found,
            path,
        })
    }

    /// Tells what would become of a connection.
    ///
    /// # Errors
    ///
    /// As [`Sandbox::why_path`].
    pub fn why_host(&self, host: Host, port: u16) -> Result<WhyHost, CannotTell> {
        let plan = self.plan_of_nothing()?;
        let network = &self.session().policy().network;
        let mode = network.mode.value();
        let reached = match mode {
            _ if !plan.is_confined() => Reached::Unfiltered,
            NetworkMode::DenyAll => Reached::Never,
            NetworkMode::Disabled => Reached::Unfiltered,
            NetworkMode::AllowList | NetworkMode::Monitor => {
                Reached::Judged(Reach::new(network).judge(&host, port))
            }
        };
        let said = match &reached {
            Reached::Judged(judged) => self.rule_of(judged),
            Reached::Never | Reached::Unfiltered => None,
        };
        let mode_origin = network.mode.sourced().map(|mode| mode.origin.clone());
        Ok(WhyHost { host, port, mode, mode_origin, reached, said })
    }

    fn plan_of_nothing(&self) -> Result<Box<Plan>, CannotTell> {
        match self.plan(["true"])? {
            Planned::Plan { plan, .. } => Ok(plan),
            Planned::Denied(_) => Err(CannotTell::NothingRuns),
        }
    }

    fn below_home(&self, path: &Path) -> PathBuf {
        match (path.strip_prefix("~"), self.session().home()) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => path.to_owned(),
        }
    }

    /// Finds what the policy says of a path, the strictest first.
    fn said_of(&self, path: &Path) -> Option<Said> {
        let session = self.session();
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let (root, home) = (text(&session.root().path), session.home().map(text));
        let ground = Ground::new(session.policy(), &root, home.as_deref(), &HostLookup);
        let place = ground.place(&text(path), &root, &HostLookup);
        let said = |key, origin: Option<&Origin>| Some(Said { key, origin: origin?.clone() });
        said("files.hide", place.hidden())
            .or_else(|| said("files.protect", place.protected()))
            .or_else(|| {
                let mut folders = session.policy().files.write.entries().iter();
                let holds = folders.find(|folder| path.starts_with(folder.value.path()));
                said("files.write", holds.map(|folder| &folder.origin))
            })
    }

    /// Finds where the rule stands that decided.
    fn rule_of(&self, judged: &Judged) -> Option<Said> {
        let network = &self.session().policy().network;
        let origin = |key, origin: Option<&Origin>| Some(Said { key, origin: origin?.clone() });
        match judged {
            Judged::Denied(place) => {
                origin("network.deny", network.deny.entries().get(*place).map(|it| &it.origin))
            }
            Judged::Asked(place) => {
                origin("network.ask", network.ask.entries().get(*place).map(|it| &it.origin))
            }
            Judged::Allowed(place) => {
                origin("network.allow", network.allow.entries().get(*place).map(|it| &it.origin))
            }
            Judged::OuterPort | Judged::NoOuterPort | Judged::Open | Judged::Unlisted => None,
        }
    }
}

/// Follows links as far as something is there; the rest is taken as it is written.
fn real(path: &Path) -> PathBuf {
    let mut rest = Vec::new();
    let mut known = path;
    loop {
        if let Ok(mut real) = fs::canonicalize(known) {
            for part in rest.iter().rev() {
                match part {
                    Component::ParentDir => drop(real.pop()),
                    Component::Normal(name) => real.push(name),
                    Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
                }
            }
            return real;
        }
        let (Some(above), Some(last)) = (known.parent(), known.components().next_back()) else {
            return path.to_owned();
        };
        rest.push(last);
        known = above;
    }
}

#[cfg(test)]
mod tests {
    use palisade_testkit::Project;

    use super::*;

    #[test]
    fn links_are_followed_as_far_as_something_is_there() {
        let project = Project::new().file("a/b", "").symlink("link", "a");
        let root = fs::canonicalize(project.root()).unwrap();
        assert_eq!(real(&project.path("link/b")), root.join("a/b"));
        assert_eq!(real(&project.path("link/gone/x")), root.join("a/gone/x"));
        assert_eq!(real(&project.path("gone/../a/b")), root.join("a/b"));
        assert_eq!(real(Path::new("/")), Path::new("/"));
    }
}
