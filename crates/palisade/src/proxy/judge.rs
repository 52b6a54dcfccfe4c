//! Who decides the calls that pass through the proxy.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use palisade_gate::llm::Call;
use palisade_gate::proxy::{Decides, Judged, Who};
use palisade_policy::decide::Answer;
use palisade_policy::interception::{self, AccessPolicies, Door, Stage, ToolVerdict, Turn, User};
use palisade_policy::name::Folder;
use palisade_policy::text::visible;
use serde_json::{Value as Json, json};

use super::Tell;
use crate::decision::Guard;
use crate::session::{OpenError, Request, Session};

/// Most projects whose policies are kept.
const MOST: usize = 64;

/// One of those who have a say.
type Judge<'j> = &'j dyn Fn(&Call, &Who) -> Judged;

/// Decides for all conversations, each in its own project.
pub(super) struct Desk {
    request: Request,
    root: PathBuf,
    /// Folders at or below which a client may choose its project.
    roots: Vec<PathBuf>,
    guards: Mutex<Guards>,
    access: Option<AccessPolicies>,
    judges: bool,
    tell: Tell,
}

#[derive(Default)]
struct Guards {
    by_root: BTreeMap<String, Arc<Guard>>,
    order: VecDeque<String>,
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").field("root", &self.root).finish_non_exhaustive()
    }
}

impl Desk {
    pub(super) fn new(
        request: &Request,
        session: &Session,
        access: Option<AccessPolicies>,
        tell: Tell,
    ) -> Self {
        let root = session.root().path.clone();
        let tools = &session.policy().tools;
        let mut roots: Vec<PathBuf> = tools.roots.values().map(Folder::path).collect();
        if roots.is_empty() {
            roots.push(root.clone());
        }
        let roots = roots.into_iter().map(|root| fs::canonicalize(&root).unwrap_or(root)).collect();
        let mut guards = Guards::default();
        guards.keep(root.to_string_lossy().into_owned(), Arc::new(Guard::new(session)));
        Self {
            request: request.clone(),
            root,
            roots,
            guards: Mutex::new(guards),
            access,
            judges: tools.enabled.value().0,
            tell,
        }
    }

    /// Says that calls are judged, in the documented words, or that they are not.
    pub(super) fn tell_start(&self) {
        let root = visible(&self.root.to_string_lossy());
        let details = json!({ "project_root": self.root });
        if self.judges {
            (self.tell)(&format!("Project root detected: {root}"), &details);
            let line = format!("File sandboxing handler initialized with project root: {root}");
            (self.tell)(&line, &details);
        }
    }

    /// Returns the policy of a project, read when it is first asked for.
    fn guard(&self, root: &str) -> Result<Arc<Guard>, OpenError> {
        let mut guards = self.guards.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(guard) = guards.by_root.get(root) {
            return Ok(guard.clone());
        }
        let mut request = self.request.clone();
        request.root = Some(root.into());
        let guard = Arc::new(Guard::new(&Session::open(&request)?));
        guards.keep(root.to_owned(), guard.clone());
        Ok(guard)
    }

    /// Decides by dangerous commands and files.
    fn by_policy(&self, call: &Call, who: &Who) -> Judged {
        let verdict = match self.guard(&who.root) {
            Ok(guard) => {
                let (tool, arguments) = (call.judged_as(), call.arguments.as_str());
                let call = interception::Call { tool, arguments, cwd: &who.root };
                guard.tool_call_at(Door::Proxy, &call)
            }
            Err(_) => ToolVerdict::failed(&call.name, &who.root),
        };
        for passed in &verdict.passed {
            let (tool, why) = (visible(&call.name), visible(&passed.reason.message));
            let line = format!("Tool call '{tool}' passed, since the policy is not strict: {why}");
            (self.tell)(&line, &json!({ "tool": call.name, "code": passed.reason.code }));
        }
        match verdict.answer {
            Answer::Allow => Judged::Allowed,
            Answer::Ask => {
                let why = verdict.findings.first().map(|finding| &*finding.reason.message);
                let why = visible(why.unwrap_or("a person must be asked"));
                let text = format!(
                    "Tool call blocked: {why}. A person would have to confirm it, and the proxy has nobody to ask."
                );
                self.tell_refusal(call, who, &text, &Json::Null);
                Judged::Blocked(text)
            }
            Answer::Deny => self.refused(call, who, &verdict),
        }
    }

    fn refused(&self, call: &Call, who: &Who, verdict: &ToolVerdict) -> Judged {
        let violation = verdict.violation();
        let text = violation.as_ref().map_or_else(
            || "Tool call blocked. Operation blocked for security.".to_owned(),
            |violation| violation.error_to_model.clone(),
        );
        let told = violation.map_or(Json::Null, |violation| violation.to_json());
        self.tell_refusal(call, who, &text, &told);
        let code = verdict.findings.first().map_or("", |finding| finding.reason.code);
        let invalid = code.starts_with("arguments-")
            || matches!(code, "path-blank" | "path-nul" | "internal-error");
        if invalid { Judged::Invalid(text) } else { Judged::Blocked(text) }
    }

    /// Decides by who may use a tool.
    fn by_access(&self, call: &Call, who: &Who) -> Judged {
        let Some(access) = &self.access else { return Judged::Allowed };
        let found = access.judge(&call.name, user(who));
        match found.answer {
            Answer::Allow => Judged::Allowed,
            Answer::Ask | Answer::Deny => {
                let text = found.message.unwrap_or("This tool is not available.").to_owned();
                let details = json!({ "policy": found.policy });
                self.tell_refusal(call, who, &text, &details);
                Judged::Blocked(text)
            }
        }
    }

    fn tell_refusal(&self, call: &Call, who: &Who, text: &str, violation: &Json) {
        let tool = visible(&call.name);
        let line = format!("File sandboxing violation detected for tool '{tool}'");
        let details = json!({
            "tool": call.name, "project_root": who.root, "model": who.model, "error": text,
            "violation": violation,
        });
        (self.tell)(&line, &details);
    }

    /// Returns a folder as a project, if it lies at or below one that the operator named.
    fn within(&self, folder: &str) -> Option<String> {
        let path = Path::new(folder);
        let real =
            fs::canonicalize(path).ok().filter(|real| path.is_absolute() && real.is_dir())?;
        let inside = self.roots.iter().any(|root| real.starts_with(root));
        inside.then(|| real.to_str().map(str::to_owned)).flatten()
    }
}

impl Guards {
    fn keep(&mut self, root: String, guard: Arc<Guard>) {
        if self.order.len() == MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_root.remove(&oldest);
        }
        self.order.push_back(root.clone());
        self.by_root.insert(root, guard);
    }
}

impl Decides for Desk {
    fn watches(&self) -> bool {
        self.judges || self.access.is_some()
    }

    fn root(&self, chosen: Option<&str>, mentioned: &[String]) -> Result<String, String> {
        if let Some(folder) = chosen {
            let refused = || {
                let folder = visible(folder);
                format!(
                    "`{folder}` is no folder at or below those that the proxy serves (tools.roots)"
                )
            };
            return self.within(folder).ok_or_else(refused);
        }
        let mut found: Vec<String> =
            mentioned.iter().filter_map(|folder| self.within(folder)).collect();
        found.sort();
        found.dedup();
        // Of several nobody knows which is meant.
        match <[String; 1]>::try_from(found) {
            Ok([folder]) => Ok(folder),
            Err(_) => Ok(self.root.to_string_lossy().into_owned()),
        }
    }

    fn offers(&self, tool: &str, who: &Who) -> bool {
        let access = self.access.as_ref();
        access.is_none_or(|access| access.judge(tool, user(who)).answer == Answer::Allow)
    }

    fn judge(&self, call: &Call, who: &Who) -> Judged {
        let policy = |call: &Call, who: &Who| self.by_policy(call, who);
        let access = |call: &Call, who: &Who| self.by_access(call, who);
        let mut turns: [Turn<Judge<'_>>; 2] =
            [Turn::new(Stage::Access, &access), Turn::new(Stage::Files, &policy)];
        Turn::sort(&mut turns);
        let judge = || {
            let mut judged = turns.iter().map(|turn| (turn.who)(call, who));
            judged.find(|judged| *judged != Judged::Allowed).unwrap_or(Judged::Allowed)
        };
        // An error of ours never lets a call pass.
        catch_unwind(AssertUnwindSafe(judge)).unwrap_or_else(|_| {
            self.refused(call, who, &ToolVerdict::failed(&call.name, &who.root))
        })
    }

    fn tell(&self, line: &str) {
        (self.tell)(&visible(line), &Json::Null);
    }
}

fn user(who: &Who) -> User<'_> {
    User { model: &who.model, agent: who.agent.as_deref() }
}
