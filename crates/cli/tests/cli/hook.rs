//! `palisade hook`: what agents ask, and what they hear.

use std::process::Stdio;

use palisade_testkit::Project;
use serde_json::{Value as Json, json};

use crate::kit::{PALISADE, Ran, World, as_both};

/// Every agent, and how it tells of a tool.
pub(crate) fn told(agent: &str, world: &World, tool: &str, input: &Json) -> Json {
    let cwd = world.project.root();
    match agent {
        "copilot" => json!({ "sessionId": "s", "cwd": cwd, "toolName": tool, "toolArgs": input }),
        "opencode" => {
            json!({ "event": "tool.execute.before", "cwd": cwd, "tool": tool, "args": input })
        }
        _ => {
            let event = match agent {
                "gemini" => "BeforeTool",
                "cursor" => "preToolUse",
                _ => "PreToolUse",
            };
            json!({ "session_id": "s", "hook_event_name": event, "cwd": cwd,
                    "tool_name": tool, "tool_input": input })
        }
    }
}

pub(crate) const AGENTS: [&str; 6] = ["claude", "codex", "copilot", "cursor", "gemini", "opencode"];

fn ask(world: &World, agent: &str, tool: &str, input: &Json) -> Ran {
    let told = told(agent, world, tool, input).to_string();
    world.run_with_input(told.as_bytes(), &["hook", agent])
}

/// Whether the agent will not make the call.
fn refuses(agent: &str, ran: &Ran) -> bool {
    let answer: Json = serde_json::from_str(&ran.stdout).unwrap_or_default();
    let word = match agent {
        "copilot" => &answer["permissionDecision"],
        "cursor" => &answer["permission"],
        "gemini" | "opencode" => &answer["decision"],
        _ => &answer["hookSpecificOutput"]["permissionDecision"],
    };
    let closed = ran.code == Some(2) && !ran.stderr.trim().is_empty();
    word == "deny" && (closed || ran.code == Some(0))
}

#[test]
fn a_call_is_refused_or_left_to_the_agent() {
    as_both(|world| {
        for agent in AGENTS {
            let refused = ask(&world, agent, "bash", &json!({ "command": "rm -rf /etc" }));
            assert!(refuses(agent, &refused), "{agent} {} {}", refused.stdout, refused.stderr);
            let allowed = ask(&world, agent, "bash", &json!({ "command": "ls" }));
            let silence = if agent == "opencode" { "{\"decision\":\"allow\"}\n" } else { "" };
            assert_eq!((allowed.code, &*allowed.stdout), (Some(0), silence), "{agent}");
        }
    });
}

#[test]
fn whatever_is_wrong_with_a_hook_refuses_the_call() {
    let world = World::new();
    let broken = World::with_policy("version: [");
    let call = json!({ "command": "ls" });
    let huge = vec![b' '; 20 << 20];
    for agent in AGENTS {
        for (what, ran) in [
            ("nothing is told", world.run_with_input(b"", &["hook", agent])),
            ("broken JSON", world.run_with_input(b"{\"a", &["hook", agent])),
            ("a huge text", world.run_with_input(&huge, &["hook", agent])),
            ("a broken policy", ask(&broken, agent, "bash", &call)),
            ("a missing root", world.run_with_input(b"{}", &["hook", agent, "--root", "/nowhere"])),
        ] {
            assert_eq!(ran.code, Some(2), "{agent}: {what}");
            assert!(refuses(agent, &ran), "{agent}: {what}: {} {}", ran.stdout, ran.stderr);
        }
        let usage = world.run_with_input(b"{}", &["hook", agent, "--no-such-option"]);
        assert_eq!(usage.code, Some(2), "{agent}");
        assert!(!usage.stderr.is_empty(), "{agent}");
        // A stack that is too small for us, and an answer that nobody takes.
        let mut small = world.command("/bin/sh");
        small.args(["-c", "ulimit -s 512; exec \"$@\"", "sh", PALISADE, "hook", agent]);
        assert_eq!(world.finish(&mut small).code, Some(2), "{agent}");
        let mut full = world.command("/bin/sh");
        full.args(["-c", "exec \"$@\" > /dev/full", "sh", PALISADE, "hook", agent]);
        full.stdin(Stdio::null());
        let full = world.finish(&mut full);
        assert_eq!(full.code, Some(2), "{agent}");
        assert!(!full.stderr.is_empty(), "{agent}");
    }
}

#[test]
fn codex_and_cursor_cannot_have_commands_replaced() {
    let world = World::new();
    for agent in ["codex", "cursor"] {
        let told = told(agent, &world, "bash", &json!({ "command": "ls" })).to_string();
        let ran = world.run_with_input(told.as_bytes(), &["hook", agent, "--wrap"]);
        assert!(ran.code == Some(2) && refuses(agent, &ran), "{agent} {}", ran.stdout);
    }
}

#[test]
fn a_command_that_is_replaced_runs_behind_walls() {
    as_both(|world| {
        let script = "#!/bin/sh\necho in > a; echo out > /var/tmp/../palisade-out\n";
        let input = json!({ "command": "./work.sh", "description": "d" });
        world.write("work.sh", script);
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(world.project.path("work.sh"), mode).unwrap();
        let told = told("claude", &world, "Bash", &input).to_string();
        let ran = world.run_with_input(told.as_bytes(), &["hook", "claude", "--wrap"]);
        // Paths are as the test sees them; the answer is not for running elsewhere.
        let answer: Json = serde_json::from_str(&ran.stdout).unwrap();
        let changed = &answer["hookSpecificOutput"]["updatedInput"];
        assert_eq!(changed["description"], "d", "{}", ran.stdout);
        assert_eq!(answer["hookSpecificOutput"].get("permissionDecision"), None);
        let root = world.project.root().to_str().unwrap();
        let command = changed["command"].as_str().unwrap().replace("/home/dev/app", root);
        let mut shell = world.command("/bin/sh");
        let ran = world.finish(shell.args(["-c", &command]));
        assert!(world.project.path("a").exists(), "{command}: {}", ran.stderr);
        assert!(ran.stderr.contains("palisade-out"), "{}", ran.stderr);
        assert!(!std::path::Path::new("/var/palisade-out").exists());
    });
}

#[test]
fn a180_no_tool_that_a_hook_hears_of_changes_a_policy_file() {
    let includes =
        "version: 1\ninclude: ['agentao:', 'bloom:../tasks.yaml', 'srt:../.srt-settings.json']\n";
    let world = World::of(
        Project::new()
            .file("Cargo.toml", "")
            .file(".palisade/policy.yaml", includes)
            .file(".agentao/sandbox.json", "{}")
            .file(".agentao/permissions.json", "{\"rules\": []}")
            .file("tasks.yaml", "tasks: []\n")
            .file(".srt-settings.json", "{\"network\":{\"allowedDomains\":[],\"deniedDomains\":[]},\"filesystem\":{\"denyRead\":[],\"allowWrite\":[],\"denyWrite\":[]}}")
            .file(".github/hooks/palisade.json", "{}")
            .file(".opencode/plugins/palisade.js", ""),
    );
    for file in [
        ".palisade/policy.yaml",
        ".palisade/other.yaml",
        ".agentao/sandbox.json",
        ".agentao/permissions.json",
        "tasks.yaml",
        ".srt-settings.json",
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".codex/hooks.json",
        ".cursor/hooks.json",
        ".gemini/settings.json",
        ".github/hooks/palisade.json",
        ".opencode/plugins/palisade.js",
    ] {
        let patch =
            format!("*** Begin Patch\n*** Update File: {file}\n@@\n-a\n+b\n*** End Patch\n");
        for agent in AGENTS {
            for (tool, input) in [
                ("Write", json!({ "file_path": file, "content": "x" })),
                (
                    "Edit",
                    json!({ "file_path": format!("./{file}"), "old_string": "a", "new_string": "b" }),
                ),
                ("apply_patch", json!({ "patch": patch })),
                ("mcp__files__write_file", json!({ "path": file, "content": "x" })),
                ("bash", json!({ "command": format!("echo x > {file}") })),
            ] {
                let ran = ask(&world, agent, tool, &input);
                assert!(
                    refuses(agent, &ran),
                    "{agent} {tool} {file}: {} {}",
                    ran.stdout,
                    ran.stderr
                );
            }
        }
    }
    let plain = World::new();
    let ran = ask(&plain, "claude", "Write", &json!({ "file_path": "a.txt", "content": "x" }));
    assert_eq!((ran.code, &*ran.stdout), (Some(0), ""), "{}", ran.stderr);
}

#[test]
fn e039_what_a_project_says_gives_a_hook_no_more_power() {
    let widens = "version: 1\nfiles: { write: [., /etc] }\ntools: { exclude: [Write, Bash] }\n\
                  commands: { rules: [{ tool: Bash, action: allow }] }\nrequire: none\n";
    let world = World::with_policy(widens);
    world.write(
        ".claude/settings.json",
        r#"{"permissions":{"allow":["Bash"]},"disableAllHooks":true}"#,
    );
    world.write(".mcp.json", r#"{"mcpServers":{"x":{"command":"sh"}}}"#);
    world.write(".env", "PALISADE_POLICY=/dev/null\nPALISADE_PRESET=runner\nPALISADE_ROOT=/\n");
    for agent in AGENTS {
        for (tool, input) in [
            ("Write", json!({ "file_path": "/etc/x", "content": "x" })),
            ("Bash", json!({ "command": "echo x > /etc/x" })),
            ("Write", json!({ "file_path": ".mcp.json", "content": "x" })),
        ] {
            let ran = ask(&world, agent, tool, &input);
            assert!(refuses(agent, &ran), "{agent} {tool} {}: {}", ran.stdout, ran.stderr);
        }
    }
    // It narrows, though.
    let narrow = World::with_policy("version: 1\ncommands: { deny: [ls] }\n");
    assert!(refuses("claude", &ask(&narrow, "claude", "Bash", &json!({ "command": "ls" }))));
}

#[test]
fn a_refusal_that_no_verdict_explains_is_recorded_too() {
    let world = World::new().user_policy("audit: { path: ~/log/events.jsonl }\n");
    for told in ["{", r#"{"hook_event_name":"PreToolUse","hook_event_name":"Stop"}"#] {
        let ran = world.run_with_input(told.as_bytes(), &["hook", "claude"]);
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    }
    let log = std::fs::read_to_string(world.home.path("log/events.jsonl")).unwrap();
    let events = log.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    let calls: Vec<Json> = events.filter(|event| event["event"] == "tool-call").collect();
    assert_eq!(calls.len(), 2, "{log}");
    for call in calls {
        let told = (&call["verdict"], &call["reasons"][0]["code"], &call["agent"]);
        assert_eq!(told, (&json!("deny"), &json!("hook-failed"), &json!("claude")), "{call}");
    }
}
