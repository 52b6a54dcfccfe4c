//! Verdicts in each agent's words.

use palisade_testkit::{Home, Project};
use serde_json::json;

use super::*;

struct World {
    home: Home,
    project: Project,
}

impl World {
    fn new() -> Self {
        Self { home: Home::new(), project: Project::new().file("Cargo.toml", "[package]\n") }
    }

    fn request(&self) -> Request {
        Request::new(self.project.root(), self.home.env().clone())
    }

    fn told(&self, agent: Agent, tool: &str, input: &Json) -> Json {
        let cwd = self.project.root();
        match agent {
            Agent::Claude | Agent::Codex => json!({ "hook_event_name": "PreToolUse", "cwd": cwd,
                "permission_mode": "default", "tool_name": tool, "tool_input": input }),
            Agent::Gemini => json!({ "hook_event_name": "BeforeTool", "cwd": cwd,
                "tool_name": tool, "tool_input": input }),
            Agent::Copilot => json!({ "cwd": cwd, "toolName": tool, "toolArgs": input }),
            Agent::Cursor => json!({ "hook_event_name": "preToolUse", "cwd": cwd,
                "tool_name": tool, "tool_input": input }),
            Agent::OpenCode => json!({ "event": "tool.execute.before", "cwd": cwd,
                "tool": tool, "args": input }),
        }
    }

    fn answer(&self, hook: &Hook, tool: &str, input: &Json) -> Reply {
        let told = self.told(hook.agent, tool, input).to_string();
        hook.answer(told.as_bytes(), self.request())
    }
}

fn hook(agent: Agent) -> Hook {
    Hook { agent, auto_allow: false, wrap: None }
}

fn printed(reply: &Reply) -> Json {
    if reply.stdout.is_empty() { Json::Null } else { serde_json::from_str(&reply.stdout).unwrap() }
}

/// Returns the word that the agent goes by.
fn word(agent: Agent, reply: &Reply) -> Option<String> {
    let answer = printed(reply);
    let word = match agent {
        Agent::Claude | Agent::Codex => &answer["hookSpecificOutput"]["permissionDecision"],
        Agent::Copilot => &answer["permissionDecision"],
        Agent::Cursor => &answer["permission"],
        Agent::Gemini | Agent::OpenCode => &answer["decision"],
    };
    word.as_str().map(str::to_owned)
}

#[test]
fn what_is_denied_is_refused_in_the_agents_own_words() {
    let world = World::new();
    for agent in Agent::ALL {
        let reply = world.answer(&hook(agent), "bash", &json!({ "command": "rm -rf /etc" }));
        assert_eq!(word(agent, &reply).as_deref(), Some("deny"), "{agent} {reply:?}");
        assert!(reply.stderr.contains("outside project root"), "{agent} {reply:?}");
        assert!(reply.stdout.contains("outside-root"), "{agent} {reply:?}");
        let code = match agent {
            Agent::Claude | Agent::Codex | Agent::Gemini => 2,
            Agent::Copilot | Agent::Cursor | Agent::OpenCode => 0,
        };
        assert_eq!(reply.code, code, "{agent}");
    }
}

#[test]
fn what_is_allowed_says_nothing_unless_it_is_told_to() {
    let world = World::new();
    for agent in Agent::ALL {
        let input = json!({ "command": "ls" });
        let reply = world.answer(&hook(agent), "bash", &input);
        let expected = (agent == Agent::OpenCode).then(|| "allow".to_owned());
        assert_eq!((reply.code, word(agent, &reply)), (0, expected), "{agent}");
        let auto = Hook { auto_allow: true, ..hook(agent) };
        let reply = world.answer(&auto, "bash", &input);
        let expected = (agent != Agent::Codex).then(|| "allow".to_owned());
        assert_eq!((reply.code, word(agent, &reply)), (0, expected), "{agent}");
        assert_eq!(reply.stderr, "");
    }
}

#[test]
fn what_is_asked_is_asked_by_the_agent_or_refused() {
    let world = World::new();
    let input = json!({ "command": "$X y" });
    for agent in Agent::ALL {
        let reply = world.answer(&hook(agent), "bash", &input);
        let asks = matches!(agent, Agent::Claude | Agent::Copilot | Agent::Cursor);
        let expected = if asks { "ask" } else { "deny" };
        assert_eq!(word(agent, &reply).as_deref(), Some(expected), "{agent} {reply:?}");
    }
    let mut told = world.told(Agent::Claude, "Bash", &input);
    told["permission_mode"] = "bypassPermissions".into();
    let reply = hook(Agent::Claude).answer(told.to_string().as_bytes(), world.request());
    assert_eq!(word(Agent::Claude, &reply).as_deref(), Some("deny"), "nobody would be asked");
}

#[test]
fn a_request_for_permission_gets_a_no_or_nothing() {
    let world = World::new();
    for agent in [Agent::Claude, Agent::Codex] {
        let ask = |command: &str| {
            let mut told = world.told(agent, "Bash", &json!({ "command": command }));
            told["hook_event_name"] = "PermissionRequest".into();
            hook(agent).answer(told.to_string().as_bytes(), world.request())
        };
        let refused = ask("rm -rf /etc");
        let decision = &printed(&refused)["hookSpecificOutput"]["decision"];
        assert_eq!((&decision["behavior"], refused.code), (&json!("deny"), 0), "{refused:?}");
        assert_eq!(ask("ls"), Reply::silent());
        assert_eq!(ask("$X y"), Reply::silent(), "a person is about to be asked");
    }
}

#[test]
fn whatever_is_wrong_refuses() {
    let world = World::new();
    let mut broken = World::new();
    broken.project = Project::new().file(".palisade/policy.yaml", "version: [");
    for agent in Agent::ALL {
        let closed = |reply: &Reply| {
            assert_eq!(reply.code, 2, "{agent} {reply:?}");
            assert!(!reply.stderr.trim().is_empty(), "{agent}");
            assert_eq!(word(agent, reply).as_deref(), Some("deny"), "{agent} {reply:?}");
        };
        closed(&hook(agent).answer(b"{", world.request()));
        closed(&hook(agent).answer(&vec![b'x'; MAX_INPUT + 1], world.request()));
        closed(&broken.answer(&hook(agent), "bash", &json!({ "command": "ls" })));
        let mut nowhere = world.told(agent, "bash", &json!({ "command": "ls" }));
        nowhere["cwd"] = "/nowhere/at/all".into();
        closed(&hook(agent).answer(nowhere.to_string().as_bytes(), world.request()));
        let mut relative = world.told(agent, "bash", &json!({ "command": "ls" }));
        relative["cwd"] = "..".into();
        closed(&hook(agent).answer(relative.to_string().as_bytes(), world.request()));
    }
}

#[test]
fn the_model_does_not_choose_the_project_by_going_elsewhere() {
    let world = World::new();
    for (agent, variable) in
        [(Agent::Claude, "CLAUDE_PROJECT_DIR"), (Agent::Gemini, "GEMINI_PROJECT_DIR")]
    {
        let mut request = world.request();
        request.env.insert(variable.into(), world.project.root().into());
        let mut told = world.told(agent, "bash", &json!({ "command": "touch x" }));
        told["cwd"] = "/usr/share".into();
        let reply = hook(agent).answer(told.to_string().as_bytes(), request);
        assert_eq!(word(agent, &reply).as_deref(), Some("deny"), "{agent} {reply:?}");
    }
}

#[test]
fn e024_what_runs_instead_is_judged_again() {
    let world = World::new();
    for agent in [Agent::Claude, Agent::Copilot, Agent::Gemini, Agent::OpenCode] {
        let (tool, _) = agent.facts().shells[0];
        let wrapping = Hook { wrap: Some("/opt/palisade".into()), ..hook(agent) };
        let input = json!({ "command": "echo 'it''s' > a", "description": "d" });
        let reply = world.answer(&wrapping, tool, &input);
        let answer = printed(&reply);
        let changed = match agent {
            Agent::Claude => &answer["hookSpecificOutput"]["updatedInput"],
            Agent::Gemini => &answer["hookSpecificOutput"]["tool_input"],
            Agent::Copilot => &answer["modifiedArgs"],
            Agent::Codex | Agent::Cursor | Agent::OpenCode => &answer["args"],
        };
        let root = wrap::quoted(world.project.root().to_str().unwrap());
        let expected =
            format!(r"/opt/palisade run --root {root} --shell 'echo '\''it'\'''\''s'\'' > a'");
        assert_eq!(changed["command"], expected, "{agent} {reply:?}");
        assert_eq!(changed["description"], "d", "{agent}");
        assert_ne!(word(agent, &reply).as_deref(), Some("deny"));
        // A deny is not turned into anything by what would run instead.
        let denied = world.answer(&wrapping, tool, &json!({ "command": "rm -rf /etc" }));
        assert_eq!(word(agent, &denied).as_deref(), Some("deny"), "{agent}");
    }
}

#[test]
fn what_the_policy_says_of_an_agent_holds_for_its_hook() {
    let mut world = World::new();
    let policy = "version: 1\nagents:\n  codex:\n    files:\n      protect: [./kept]\n";
    world.home = Home::new().file(".config/palisade/policy.yaml", policy);
    let input = json!({ "file_path": "kept/a", "content": "x" });
    let codex = world.answer(&hook(Agent::Codex), "write_file", &input);
    assert_eq!(word(Agent::Codex, &codex).as_deref(), Some("deny"), "{codex:?}");
    let claude = world.answer(&hook(Agent::Claude), "write_file", &input);
    assert_eq!(claude, Reply::silent());
}
