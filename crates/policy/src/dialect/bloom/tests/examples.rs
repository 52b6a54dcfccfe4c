//! The reference's examples, and tasks.

use super::*;
use crate::name::Host;

fn reaches(resolved: &Resolved, host: &str) -> bool {
    let host: Host = host.parse().unwrap();
    match shown(resolved, "network.mode").concat().as_str() {
        "disabled" | "monitor" => true,
        "allow-list" => {
            resolved.policy.network.allow.values().any(|known| known.matches(&host, 443))
        }
        _ => false,
    }
}

fn may_write(resolved: &Resolved, path: &str) -> bool {
    resolved.policy.files.write.values().any(|folder| folder.matches(path.as_ref()))
}

#[test]
fn a107_the_examples_load_and_mean_what_they_say() {
    let agents = include_str!("../fixtures/agents.yaml");
    let development = include_str!("../fixtures/development.yaml");
    let research = include_str!("../fixtures/research.yaml");
    let build = include_str!("../fixtures/build.yaml");
    let offline = include_str!("../fixtures/offline.yaml");
    #[rustfmt::skip]
    let hosts = [
        // example    text         agent      host                         reached
        ("conservative", agents,   "claude",  "git.example.com",           true),
        ("conservative", agents,   "claude",  "evil.example.com",          false),
        ("relaxed",   agents,      "copilot", "evil.example.com",          true),
        ("strict",    agents,      "codex",   "git.example.com",           false),
        ("development", development, "claude", "packages.example.org",     true),
        ("development", development, "claude", "a.b.raw.example.com",      true),
        ("development", development, "claude", "raw.example.com",          false),
        ("development", development, "claude", "packages.example.org.evil.test", false),
        ("research",  research,    "claude",  "www.search.example.com",    true),
        ("research",  research,    "claude",  "git.example.com",           false),
        ("build",     build,       "claude",  "packages.example.org",      true),
        ("build",     build,       "claude",  "git.example.com",           false),
        ("offline",   offline,     "claude",  "packages.example.org",      false),
    ];
    for (example, text, agent, host, expected) in hosts {
        let resolved = of_config(text, agent);
        assert_eq!(resolved.unconfined, None, "{example}");
        assert_eq!(reaches(&resolved, host), expected, "{example}: {host}");
    }
    #[rustfmt::skip]
    let paths = [
        // example   text      agent      path                          writes hides
        ("conservative", agents, "claude", "/proj/app/src",             true,  false),
        ("conservative", agents, "claude", "/home/dev/Documents/x",     false, false),
        ("relaxed",  agents,   "copilot", "/home/dev/.ssh/id",          false, true),
        ("strict",   agents,   "codex",   "/home/dev/Documents/x",      false, true),
        ("strict",   agents,   "codex",   "/home/dev/.aws/credentials", false, true),
        ("research", research, "claude",  "/proj/app/notes",            true,  false),
        ("research", research, "claude",  "/tmp/build/x",               false, false),
        ("build",    build,    "claude",  "/tmp/build/x",               true,  false),
        ("build",    build,    "claude",  "/home/dev/.cache/packages",  true,  false),
        ("build",    build,    "claude",  "/home/dev/.cache",           false, false),
        ("offline",  offline,  "claude",  "/proj/app/src",              true,  false),
        ("offline",  offline,  "claude",  "/home/dev/.gnupg/x",         false, true),
    ];
    for (example, text, agent, path, writes, hidden) in paths {
        let resolved = of_config(text, agent);
        assert_eq!(may_write(&resolved, path), writes, "{example}: writing {path}");
        assert_eq!(hides(&resolved, path), hidden, "{example}: reading {path}");
    }
    for text in [agents, development, research, build, offline] {
        assert_eq!(codes(&config(text)), [""; 0], "{text}");
    }
}

#[test]
fn a109_a_task_s_lists_are_combined_and_its_single_values_replace() {
    let readings = readings(&[
        (CONFIG, Layer::User, include_str!("../fixtures/agents.yaml")),
        (TASKS, Layer::CommandLine, include_str!("../fixtures/tasks.yaml")),
    ]);
    assert!(readings.iter().all(|reading| reading.notes.is_empty()));
    let fetch = resolved(&readings, "", "fetch-dependencies");
    assert_eq!(fetch.choice.agent.as_deref(), Some("claude"));
    assert_eq!(shown(&fetch, "network.mode"), ["allow-list"], "inherited");
    let hosts = ["git.example.com", "api.example.com", "packages.example.org"];
    assert_eq!(shown(&fetch, "network.allow"), hosts, "combined");
    assert_eq!(shown(&fetch, "files.write"), ["/proj/app", "/tmp/fetched"], "combined");
    assert!(hides(&fetch, "/home/dev/.config/gh") && hides(&fetch, "/home/dev/.ssh"), "combined");
    assert_eq!(shown(&fetch, "limits.processes"), ["20"], "replaced");

    let check = resolved(&readings, "", "check-dependencies");
    assert_eq!(shown(&check, "network.mode"), ["allow-list"], "replaced");
    assert_eq!(shown(&check, "network.allow"), ["audit.example.org"], "not the parent's");
    assert!(hides(&check, "/home/dev/Documents"), "the agent's");
    assert!(!may_write(&check, "/tmp/fetched"), "not the parent's");

    let notes = resolved(&readings, "", "write-notes");
    assert_eq!(
        notes.choice.agent.as_deref(),
        Some("copilot"),
        "a task without a section has an agent"
    );
    let agent = resolved(&readings, "claude", "");
    assert!(!reaches(&agent, "packages.example.org"), "what a task opens stays the task's");
    assert_eq!(shown(&agent, "limits.processes"), ["4096"]);
}

#[test]
fn a109_a_project_s_tasks_only_narrow() {
    let readings = readings(&[
        (CONFIG, Layer::User, include_str!("../fixtures/agents.yaml")),
        (TASKS, Layer::Project, include_str!("../fixtures/tasks.yaml")),
    ]);
    let fetch = resolved(&readings, "claude", "fetch-dependencies");
    assert!(reaches(&fetch, "git.example.com"));
    assert!(!reaches(&fetch, "packages.example.org") && !may_write(&fetch, "/tmp/fetched"));
    assert!(hides(&fetch, "/home/dev/.config/gh"));
    assert_eq!(shown(&fetch, "limits.processes"), ["20"]);
    let ignored: Vec<&str> = fetch.ignored.iter().map(|part| &*part.key).collect();
    let expected = ["tasks.fetch-dependencies.agent", "files.write", "network.allow"];
    assert_eq!(ignored, expected);
    assert!(!reaches(&resolved(&readings, "codex", "check-dependencies"), "audit.example.org"));
}

#[test]
fn a_task_stands_on_what_is_known_of_its_agent() {
    let agents = "agent: { claude: { sandbox: { enabled: true, workspaceWritable: false, networkPolicy: allow-list } } }";
    let tasks = "tasks:
      - { id: anyone, sandbox: { enabled: true, writablePaths: [/t], allowedDomains: [t.example.com] } }
      - { id: nobody, agent: goose, sandbox: { enabled: true, writablePaths: [/t], denyReadPaths: [/h] } }";
    let readings = readings(&[(CONFIG, Layer::User, agents), (TASKS, Layer::CommandLine, tasks)]);
    let by_claude = resolved(&readings, "claude", "anyone");
    assert!(reaches(&by_claude, "t.example.com") && may_write(&by_claude, "/t"));
    assert!(!may_write(&by_claude, "/proj/app"), "the agent's workspace stays closed");
    assert!(!reaches(&resolved(&readings, "goose", "anyone"), "t.example.com"));
    let nobody = resolved(&readings, "", "nobody");
    assert_eq!(shown(&nobody, "files.write"), ["/proj/app", "/t"], "the defaults hold");
    assert!(hides(&nobody, "/home/dev/.ssh") && hides(&nobody, "/h"));
}

#[test]
fn a199_a_bare_section_is_everybody_s() {
    let text = "sandbox: { enabled: true, networkPolicy: allow-list, allowedDomains: [a.example.com], processLimit: 50 }
agent:
  codex: { sandbox: { networkPolicy: deny-all } }
  claude: { sandbox: { allowedDomains: [b.example.com], processLimit: 0 } }";
    for agent in ["", "copilot", "anyone"] {
        let resolved = of_config(text, agent);
        assert!(resolved.unconfined.is_none() && reaches(&resolved, "a.example.com"), "{agent}");
        assert!(!reaches(&resolved, "b.example.com"), "{agent}");
        assert_eq!(shown(&resolved, "limits.processes"), ["50"]);
        assert_eq!(shown(&resolved, "files.write"), ["/proj/app"]);
    }
    assert!(!reaches(&of_config(text, "codex"), "a.example.com"), "its own word");
    let claude = of_config(text, "claude");
    assert!(reaches(&claude, "a.example.com") && reaches(&claude, "b.example.com"), "combined");
    assert_eq!(shown(&claude, "limits.processes"), ["none"], "zero means any number");

    // In a project's folder it loads too, and narrows only.
    let name = "/proj/app/.bloom/config.yaml";
    let project = readings(&[(name, Layer::Project, text)]);
    let resolved = resolved(&project, "codex", "");
    assert!(resolved.unconfined.is_none() && !reaches(&resolved, "a.example.com"));
    assert_eq!(shown(&resolved, "limits.processes"), ["50"]);
}
