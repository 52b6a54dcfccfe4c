//! Which project a request is about, and what was made ready for it.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use palisade::agentao::SandboxSession;
use palisade::policy::layer::Trust;
use palisade::{Agreement, Guard, Request, RunnerConfig, Sandbox, Session};
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::connection::Server;
use crate::failure::Failure;

/// Which project is meant, and what the client says on top of its files.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Wanted {
    root: Option<PathBuf>,
    cwd: Option<PathBuf>,
    policies: Vec<String>,
    preset: Option<String>,
    profile: Option<String>,
    agent: Option<String>,
    task: Option<String>,
    config: Option<RunnerConfig>,
}

/// A project that is ready.
#[derive(Debug)]
pub(super) struct Project {
    pub(super) sandbox: Sandbox,
    pub(super) guard: Guard,
    pub(super) cwd: String,
}

/// The projects of one connection. What a policy says is read once, and again after `reload`.
#[derive(Debug, Default)]
pub(super) struct Projects {
    ready: BTreeMap<String, Arc<Project>>,
    order: VecDeque<String>,
    /// What the client switched, by project.
    switched: BTreeMap<String, SandboxSession>,
}

/// Most projects that are kept ready.
const MOST: usize = 64;

impl Wanted {
    /// Reads what stands under `project`.
    pub(super) fn read(params: &mut Map<String, Json>) -> Result<(String, Self), Failure> {
        let told = params.remove("project").unwrap_or_else(|| Json::Object(Map::new()));
        let key = told.to_string();
        let wanted = serde_json::from_value(told).map_err(|error| {
            Failure::new("project", format!("`project` cannot be read: {error}"))
        })?;
        Ok((key, wanted))
    }

    fn request(&self, server: &Server) -> Result<Request, Failure> {
        let mut request = server.request.clone();
        if let Some(cwd) = &self.cwd {
            request.cwd = request.cwd.join(cwd);
        } else if let Some(root) =
            self.root.as_ref().or(self.config.as_ref().and_then(|it| it.project_root.as_ref()))
        {
            request.cwd = request.cwd.join(root);
        }
        request.root = self.root.as_ref().map(|root| server.request.cwd.join(root));
        request.policies.clone_from(&self.policies);
        request.preset.clone_from(&self.preset);
        request.profile.clone_from(&self.profile);
        request.agent.clone_from(&self.agent);
        request.task.clone_from(&self.task);
        request.runner.clone_from(&self.config);
        Ok(request)
    }
}

impl Projects {
    /// Returns a project, and makes it ready if it is not.
    pub(super) fn get(
        &mut self,
        server: &Server,
        (key, wanted): (String, Wanted),
    ) -> Result<Arc<Project>, Failure> {
        if let Some(project) = self.ready.get(&key) {
            return Ok(Arc::clone(project));
        }
        let request = wanted.request(server)?;
        let sandbox = match self.switched.get(&key) {
            Some(switched) => switched
                .sandbox(&request)
                .map_err(|error| Failure::new("sandbox", error.to_string()))?,
            None => Sandbox::new(&request)?,
        };
        let root = &sandbox.session().root().path;
        if let Some(below) = server.below.as_ref().filter(|below| !root.starts_with(below)) {
            let message = format!("`{}` is not below `{}`", root.display(), below.display());
            return Err(
                Failure::new("root", message).hint("the server was started for that folder")
            );
        }
        let cwd = if request.cwd.starts_with(root) { request.cwd.clone() } else { root.clone() };
        let cwd = cwd
            .into_os_string()
            .into_string()
            .map_err(|_| Failure::new("cwd", "the working folder's name is no text"))?;
        let guard = Guard::new(sandbox.session());
        let project = Arc::new(Project { sandbox, guard, cwd });
        if self.order.len() == MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.ready.remove(&oldest);
        }
        self.order.push_back(key.clone());
        self.ready.insert(key, Arc::clone(&project));
        Ok(project)
    }

    /// Hands over what can be switched for a project; what was read of it is read again afterwards.
    pub(super) fn switch<T>(
        &mut self,
        server: &Server,
        (key, wanted): (String, Wanted),
        does: impl FnOnce(&mut SandboxSession) -> T,
    ) -> Result<T, Failure> {
        if !self.switched.contains_key(&key) {
            let project = self.get(server, (key.clone(), wanted))?;
            let session = project.sandbox.session();
            let opened = SandboxSession::open(&session.root().path, session.home(), trust(session));
            self.switched.insert(key.clone(), opened);
        }
        let switched = self.switched.get_mut(&key);
        let switched = switched.ok_or_else(|| Failure::new("sandbox", "there is none"))?;
        let done = does(switched);
        self.ready.remove(&key);
        self.order.retain(|known| *known != key);
        Ok(done)
    }

    /// Forgets what was read of policies.
    pub(super) fn reload(&mut self) {
        self.ready.clear();
        self.order.clear();
    }
}

fn trust(session: &Session) -> Trust {
    match session.project_files().map(|files| files.agreement) {
        Some(Agreement::Trusted) => Trust::Trusted,
        Some(Agreement::Changed | Agreement::Never) | None => Trust::NotTrusted,
    }
}
