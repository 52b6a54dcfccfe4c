//! Deciding calls of a project: the policy of a session, and the disk to look at.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use palisade_apply::{HostLookup, Once};
use palisade_policy::decide::{Answer, Asked, Call, Judge, Reason, Step, Verdict};
use palisade_policy::interception::{self, Door, Interception, Seen, ToolVerdict};
use palisade_policy::jail::{self, Lookup, NoLookup, Side, WindowsRoot, judge_lexically};
use palisade_policy::key::Strictness as _;
use palisade_policy::patch::{self, Naming};
use palisade_policy::permission::{Confirmation, Decision, Nature, PrefixRules, ToolCall};
use palisade_policy::policy::{Policy, Profile};
use serde_json::Map;

use crate::session::{Existence, OpenError, Request, Session};

/// A session's policy, made ready for deciding. Deciding runs nothing. An error of ours denies.
#[derive(Clone, Debug)]
pub struct Guard {
    judge: Judge,
    interception: Interception,
    root: String,
    sight: Sight,
    /// The profile of calls that no rule picks another for.
    own: Profile,
    /// What holds for calls for which rules pick a profile.
    picks: Vec<Pick>,
    /// What to do where the user's own list of files to write does not count.
    outvoted: Option<String>,
}

/// A profile that rules pick, and the policy that holds then.
#[derive(Clone, Debug)]
struct Pick {
    profile: Profile,
    policy: Policy,
    judge: Judge,
    interception: Interception,
}

/// Whether the disk is looked at.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Sight {
    Disk,
    Text,
}

impl Sight {
    fn lookup(self) -> &'static dyn Lookup {
        match self {
            Self::Disk => &HostLookup,
            Self::Text => &NoLookup,
        }
    }
}

impl Guard {
    /// Makes a session's policy ready.
    pub fn new(session: &Session) -> Self {
        Self::with(session, Sight::Disk)
    }

    /// Decides one call in the folder `cwd`.
    pub fn decide(&self, command: Asked<'_>, cwd: &str) -> Verdict {
        self.decide_as(None, command, cwd)
    }

    /// Decides one call that a tool of this name makes; any shell where none is named.
    pub fn decide_as(&self, tool: Option<&str>, command: Asked<'_>, cwd: &str) -> Verdict {
        let call = Call { command, cwd };
        let lookup = Once::of(self.lookup());
        let judge = || match (self.judge_of(tool, &call), tool) {
            (None, _) => Verdict::failed(),
            (Some(judge), None) => judge.decide(&call, &lookup),
            (Some(judge), Some(tool)) => judge.decide_as(tool, &call, &lookup),
        };
        self.advised(guarded(judge, Verdict::failed))
    }

    /// Decides one call, and tells how.
    pub fn explain(&self, command: Asked<'_>, cwd: &str) -> (Verdict, Vec<Step>) {
        let call = Call { command, cwd };
        let failed = || (Verdict::failed(), Vec::new());
        let judge = || match self.judge_of(None, &call) {
            Some(judge) => judge.explain(&call, self.lookup()),
            None => failed(),
        };
        let (verdict, mut steps) = guarded(judge, failed);
        steps.iter_mut().for_each(|step| self.advise(&mut step.reasons));
        (self.advised(verdict), steps)
    }

    fn advised(&self, mut verdict: Verdict) -> Verdict {
        if let Verdict::Ask(reasons) | Verdict::Deny(reasons) = &mut verdict {
            self.advise(reasons);
        }
        verdict
    }

    /// Says what stands above the list that a hint would have the user write in.
    fn advise(&self, reasons: &mut [Reason]) {
        let Some(outvoted) = &self.outvoted else { return };
        let closed = ["outside-root", "link-leads-outside", "read-only"];
        let closed = reasons.iter_mut().filter(|reason| closed.contains(&reason.code));
        closed.for_each(|reason| reason.hint = Some(outvoted.clone()));
    }

    /// Decides whether a patch may be applied in the folder `cwd`.
    pub fn patch(&self, text: &str, naming: Naming, cwd: &str) -> Verdict {
        let judge = || patch::judge(text, naming, self.judge.ground(), cwd, self.lookup());
        guarded(judge, Verdict::failed)
    }

    /// Decides a tool call in the folder `cwd`, by rules and mode.
    pub fn decide_tool(&self, call: &ToolCall<'_>, cwd: &str) -> Decision {
        let judge = || self.judge.decide_tool(call, cwd, self.lookup());
        guarded(judge, || Decision::failed(call.tool))
    }

    /// Decides a tool call in the folder `cwd`, by everything that stands in its arguments, as
    /// hooks and MCP servers do: always, and strictly. `arguments` is JSON.
    pub fn tool_call(&self, tool: &str, arguments: &str, cwd: &str) -> ToolVerdict {
        self.tool_call_at(Door::Hook, &interception::Call { tool, arguments, cwd })
    }

    /// Decides a tool call as it is decided at `door`.
    pub fn tool_call_at(&self, door: Door, call: &interception::Call<'_>) -> ToolVerdict {
        let judge = || {
            let (interception, judge) = self.of_tool(call);
            interception.judge(call, door, judge, self.lookup())
        };
        guarded(judge, || self.failed(call))
    }

    /// Decides a tool call, and tells everything that was looked at.
    pub fn explain_tool_call(
        &self,
        door: Door,
        call: &interception::Call<'_>,
    ) -> (ToolVerdict, Vec<Seen>) {
        let judge = || {
            let (interception, judge) = self.of_tool(call);
            interception.explain(call, door, judge, self.lookup())
        };
        guarded(judge, || (self.failed(call), Vec::new()))
    }

    /// Returns the profile that the rules pick for a call, made by a tool of this name or else by
    /// any shell; none leaves the policy's own.
    pub fn profile(&self, tool: Option<&str>, command: Asked<'_>, cwd: &str) -> Option<Profile> {
        if self.picks.is_empty() {
            return None;
        }
        let judge = || self.judge.profile(tool, &Call { command, cwd }, self.lookup());
        guarded(judge, || Some(Profile::Readonly))
    }

    /// Returns the policy under a profile that rules pick; none if it is the session's own.
    pub(crate) fn policy_under(&self, profile: &Profile) -> Option<&Policy> {
        self.picks.iter().find(|pick| pick.profile == *profile).map(|pick| &pick.policy)
    }

    /// Returns who decides a call: for one that rules pick a profile for, the policy under that. None
    /// if that cannot be told, and then nobody may.
    fn judge_of(&self, tool: Option<&str>, call: &Call<'_>) -> Option<&Judge> {
        match self.profile(tool, call.command, call.cwd) {
            None => Some(&self.judge),
            Some(profile) if profile == self.own => Some(&self.judge),
            Some(profile) => {
                self.picks.iter().find(|pick| pick.profile == profile).map(|pick| &pick.judge)
            }
        }
    }

    /// Returns who decides a tool call: under a stricter profile that rules pick for it, that one. A
    /// wider one is for who runs the command, and reads its arguments in one way only.
    fn of_tool(&self, call: &interception::Call<'_>) -> (&Interception, &Judge) {
        let own = (&self.interception, &self.judge);
        let args = Some(call.arguments).filter(|_| !self.picks.is_empty());
        let Some(args) = args.and_then(|args| serde_json::from_str::<Map<_, _>>(args).ok()) else {
            return own;
        };
        let nature = Nature::Changes(Confirmation::NotAsked);
        let asked = ToolCall { tool: call.tool, args: &args, nature };
        let picked = self.judge.decide_tool(&asked, call.cwd, self.lookup()).profile;
        let mut picks = self.picks.iter().filter(|pick| pick.profile.within(&self.own));
        let pick = picks.find(|pick| Some(&pick.profile) == picked.as_ref());
        pick.map_or(own, |pick| (&pick.interception, &pick.judge))
    }

    /// Returns the project root.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// Whether no link on the disk leads a path out of the project.
    fn leads_inside(&self, path: &str) -> bool {
        let place = self.judge.ground().place(path, &self.root, self.lookup());
        self.sight == Sight::Text || matches!(place.inside(), jail::Answer::Yes)
    }

    fn lookup(&self) -> &'static dyn Lookup {
        self.sight.lookup()
    }

    fn failed(&self, call: &interception::Call<'_>) -> ToolVerdict {
        ToolVerdict::failed(call.tool, &self.root)
    }

    fn with(session: &Session, sight: Sight) -> Self {
        let root = session.root().path.to_string_lossy().into_owned();
        let home = session.home().map(|home| home.to_string_lossy().into_owned());
        let (policy, home, lookup) = (session.policy(), home.as_deref(), Once::of(sight.lookup()));
        let judge = Judge::new(policy, &root, home, &lookup);
        let interception = Interception::new(policy, &root, home, &lookup);
        let own = policy.profile.value();
        let picks = picked(policy).into_iter().filter(|profile| *profile != own);
        let picks = picks.filter_map(|profile| {
            let policy = session.policy_for(&profile).ok()?;
            let judge = Judge::new(&policy, &root, home, &lookup);
            let interception = Interception::new(&policy, &root, home, &lookup);
            Some(Pick { profile, policy, judge, interception })
        });
        let picks = picks.collect();
        let outvoted = session.outvoted();
        Self { judge, interception, root, sight, own, picks, outvoted }
    }
}

/// Decides calls in projects that are only talked about: where the root does not exist, paths are
/// judged by their text.
///
/// The policy of a root is read when it is first asked about, and holds until [`Judges::MOST`] other
/// roots have been asked about: who changes a policy makes new judges.
#[derive(Clone, Debug)]
pub struct Judges {
    request: Request,
    by_root: BTreeMap<String, Guard>,
    /// The roots of the map, the oldest first.
    order: VecDeque<String>,
    tools: Tools,
}

/// Whether the table of tools is used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Tools {
    Known,
    Unknown,
}

impl Judges {
    /// Most roots whose policies are kept.
    pub const MOST: usize = 64;

    /// Makes judges that open each project as `request` says.
    pub fn new(mut request: Request) -> Self {
        request.existence = Existence::Hypothetical;
        let (by_root, order) = (BTreeMap::new(), VecDeque::new());
        Self { request, by_root, order, tools: Tools::Known }
    }

    /// Decides as if the program that a call begins with were not known by name, to measure how
    /// much of deciding rests on that.
    #[must_use]
    pub fn without_tools(mut self) -> Self {
        self.tools = Tools::Unknown;
        self
    }

    /// Decides a command in the project at `root`.
    ///
    /// # Errors
    ///
    /// When the policy that holds there cannot be used.
    pub fn command(&mut self, command: Asked<'_>, root: &str) -> Result<Verdict, OpenError> {
        let guard = self.guard(root)?;
        Ok(guard.decide(command, &guard.root))
    }

    /// Decides a command in the folder `cwd` of the project at `root`.
    ///
    /// # Errors
    ///
    /// When the policy that holds there cannot be used.
    pub fn command_at(
        &mut self,
        command: Asked<'_>,
        root: &str,
        cwd: &str,
    ) -> Result<Verdict, OpenError> {
        Ok(self.guard(root)?.decide(command, cwd))
    }

    /// Decides a shell text by rules about the first words of commands, and by nothing else; none
    /// if they say nothing.
    ///
    /// # Errors
    ///
    /// When the policy that holds there cannot be used.
    pub fn prefixes(
        &mut self,
        rules: &PrefixRules,
        text: &str,
    ) -> Result<Option<Answer>, OpenError> {
        let guard = self.guard("/")?;
        let call = Call { command: Asked::Shell(text), cwd: "/" };
        let judge = || guard.judge.judge_prefixes(rules, &call, guard.lookup());
        Ok(guarded(judge, || Some(Answer::Deny)))
    }

    /// Tells whether a path stays in the project at `root`, which may lie on Windows.
    ///
    /// # Errors
    ///
    /// When the policy that holds there cannot be used.
    pub fn path(&mut self, path: &str, root: &str) -> Result<bool, OpenError> {
        let guard = self.guard(root)?;
        let is_inside = || match WindowsRoot::read(root) {
            Some(root) => root.judge(path) == Side::Inside,
            None => judge_lexically(path, &guard.root) == Side::Inside && guard.leads_inside(path),
        };
        Ok(guarded(is_inside, || false))
    }

    /// Decides whether a patch may be applied in the project at `root`.
    ///
    /// # Errors
    ///
    /// When the policy that holds there cannot be used.
    pub fn patch(&mut self, text: &str, root: &str) -> Result<Verdict, OpenError> {
        let guard = self.guard(root)?;
        Ok(guard.patch(text, Naming::InPatch, &guard.root))
    }

    /// Decides a tool call in the project at `root`, which may lie on Windows.
    ///
    /// # Errors
    ///
    /// When the policy that holds there cannot be used.
    pub fn tool_call(
        &mut self,
        door: Door,
        tool: &str,
        arguments: &str,
        root: &str,
    ) -> Result<ToolVerdict, OpenError> {
        let guard = self.guard(root)?;
        let call = interception::Call { tool, arguments, cwd: &guard.root };
        Ok(guard.tool_call_at(door, &call))
    }

    fn guard(&mut self, root: &str) -> Result<&Guard, OpenError> {
        if !self.by_root.contains_key(root) {
            let guard = self.open(root)?;
            if self.order.len() == Self::MOST
                && let Some(oldest) = self.order.pop_front()
            {
                self.by_root.remove(&oldest);
            }
            self.order.push_back(root.to_owned());
            self.by_root.insert(root.to_owned(), guard);
        }
        Ok(&self.by_root[root])
    }

    fn open(&self, root: &str) -> Result<Guard, OpenError> {
        let mut request = self.request.clone();
        let windows = WindowsRoot::read(root);
        let root = windows.as_ref().map_or(root, WindowsRoot::folder);
        request.root = Some(root.into());
        let session = Session::open(&request)?;
        // `/` is always there: it stands for a project whose place is not known.
        let exists = root != "/" && windows.is_none() && Path::new(root).is_dir();
        let sight = if exists { Sight::Disk } else { Sight::Text };
        let mut guard = Guard::with(&session, sight);
        if let Some(root) = windows {
            guard.interception = guard.interception.on_windows(root);
        }
        if self.tools == Tools::Unknown {
            guard.judge = guard.judge.without_table();
        }
        Ok(guard)
    }
}

/// Returns the profiles that rules may pick: those they name, and the one that is stricter than any
/// two that cannot be compared.
fn picked(policy: &Policy) -> Vec<Profile> {
    let rules = policy.commands.rules.lists().iter().flat_map(|list| &list.rules);
    let mut profiles: Vec<Profile> = Vec::new();
    for profile in rules.filter_map(|rule| rule.value.profile.as_ref()) {
        for profile in [profile, &Profile::Readonly] {
            if !profiles.contains(profile) {
                profiles.push(profile.clone());
            }
        }
    }
    profiles
}

/// Decides, and where that fails for an error of ours takes the strictest answer: what is not
/// decided must not look like an allow.
fn guarded<T>(decide: impl FnOnce() -> T, failed: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(decide)).unwrap_or_else(|_| failed())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judges() -> Judges {
        Judges::new(Request::new("/", BTreeMap::new()))
    }

    #[test]
    fn what_fails_is_denied() {
        assert_eq!(guarded(|| 1, || 2), 1);
        let verdict = guarded(|| panic!("an error of ours"), Verdict::failed);
        assert_eq!(verdict.answer(), Answer::Deny);
        assert_eq!(verdict.reasons()[0].code, "internal-error");
        let decision = guarded(|| panic!("an error of ours"), || Decision::failed("bash"));
        assert_eq!(decision.answer, Answer::Deny);
        assert_eq!(decision.profile, Some(Profile::Readonly));
    }

    #[test]
    fn a_link_that_exists_leads_a_path_out() {
        let folder = std::env::temp_dir().join(format!("palisade-links-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        std::os::unix::fs::symlink("/etc", folder.join("link")).unwrap();
        let root = folder.to_string_lossy();
        let mut judges = judges();
        let verdicts =
            ["link/passwd", "plain/passwd", "../x"].map(|path| judges.path(path, &root).unwrap());
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(verdicts, [false, true, false]);
    }

    #[test]
    fn only_so_many_policies_are_kept() {
        let mut judges = judges();
        for at in 0..3 * Judges::MOST {
            let verdict = judges.command(Asked::Shell("ls"), &format!("/nowhere/{at}")).unwrap();
            assert_eq!(verdict.answer(), Answer::Allow);
        }
        assert_eq!((judges.by_root.len(), judges.order.len()), (Judges::MOST, Judges::MOST));
        assert!(judges.by_root.contains_key("/nowhere/191"));
        let again = judges.command(Asked::Shell("rm -rf /"), "/nowhere/0").unwrap();
        assert_eq!(again.answer(), Answer::Deny, "opened again");
    }
}
