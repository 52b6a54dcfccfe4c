//! Rules about tools that run commands.

use super::*;
use Answer::{Allow, Ask, Deny};

fn ruled(rules: &str) -> World {
    World::new(&format!("commands: {{ rules: [{rules}] }}"))
}

#[test]
fn a_rule_about_a_shell_tool_holds_under_whatever_name_it_has() {
    #[rustfmt::skip]
    let cases = [
        // rule                                      tool                    arguments                                  answer
        ("{ tool: run_in_terminal, action: deny }",  "run_in_terminal",      json!({ "command": "ls" }),                Deny),
        ("{ tool: zsh, action: deny }",              "zsh",                  json!({ "command": "ls" }),                Deny),
        ("{ tool: zsh, action: deny }",              "mcp__box__zsh",        json!({ "command": "ls" }),                Deny),
        ("{ tool: zsh, action: deny }",              "mcp__box__zsh",        json!({ "commands": [] }),                 Deny),
        ("{ tool: mcp__box__zsh, action: deny }",    "mcp__box__zsh",        json!({ "command": "ls" }),                Deny),
        ("{ tool: zsh, action: deny }",              "bash",                 json!({ "command": "ls" }),                Allow),
        ("{ tool: Bash, action: ask }",              "run_in_terminal",      json!({ "command": "ls" }),                Ask),
        ("{ tool: Bash, args: { cwd: secret }, action: deny }", "Bash",      json!({ "command": "ls", "cwd": "secret" }), Deny),
        ("{ tool: Bash, args: { cwd: secret }, action: deny }", "Bash",      json!({ "command": "ls", "cwd": "src" }),  Allow),
        ("{ tool: write_file, action: deny }",       "mcp__fs__write_file",  json!({ "path": "a" }),                    Deny),
        ("{ tool: write_file, action: deny }",       "mcp__fs__edit_file",   json!({ "path": "a" }),                    Allow),
        // A rule that allows means the tool that it names.
        ("{ tool: shell, args: { command: '^git ' }, action: allow }", "shell", json!({ "command": "git reset --hard" }), Allow),
        ("{ tool: shell, args: { command: '^git ' }, action: allow }", "bash",  json!({ "command": "git reset --hard" }), Ask),
        ("{ tool: shell, action: allow }, { tool: bash, action: deny }", "bash", json!({ "command": "ls" }),            Deny),
    ];
    for (rule, tool, arguments, answer) in cases {
        let verdict = ruled(rule).hook(tool, arguments.clone());
        assert_eq!(verdict.answer, answer, "{rule}: {tool} {arguments}: {:?}", codes(&verdict));
    }
    let world = ruled("{ tool: Bash, args: { cwd: secret }, action: deny }");
    let text = r#""{\"command\":\"ls\",\"cwd\":\"secret\"}""#;
    assert_eq!(world.text(Door::Hook, "Bash", text).answer, Deny, "a text of JSON");
    assert_eq!(world.text(Door::Hook, "Bash", "ls").answer, Allow, "plain text");
}

#[test]
fn arguments_that_programs_read_differently_are_held_against_no_rule() {
    let yaml = "tools: { enabled: true }
commands: { rules: [{ tool: Bash, args: { cwd: secret }, action: deny }] }";
    let world = World::new(yaml);
    for arguments in
        [r#"{"command":"ls","cwd":"secret","cwd":"src"}"#, r#"{"command":"ls","cwd":"secret""#]
    {
        let verdict = world.text(Door::Proxy, "Bash", arguments);
        assert_eq!(codes(&verdict), ["arguments-unreadable"], "{arguments}");
    }
}

#[test]
fn a174_shell_never_refuses_tools_that_are_shells() {
    let (never, strict) = (World::new("commands: { shell: never }"), World::new(""));
    for tool in ["bash", "Bash", "run_in_terminal", "mcp__box__zsh", "container.exec"] {
        for arguments in [
            json!({ "command": "ls" }),
            json!({ "command": ["ls"] }),
            json!({ "command": "ls", "args": ["-l"] }),
        ] {
            let verdict = never.hook(tool, arguments.clone());
            assert_eq!(codes(&verdict), ["shell-never"], "{tool} {arguments}");
            assert_eq!(verdict.answer, Deny);
            assert_eq!(strict.hook(tool, arguments).answer, Allow, "{tool}");
        }
        assert!(codes(&never.hook(tool, json!({}))).contains(&"shell-never"), "{tool}");
    }
    assert_eq!(never.hook("write_file", json!({ "path": "a" })).answer, Allow);
    let yaml = "commands: { shell: never }\ntools: { enabled: true, patterns: [write_file] }";
    let other = World::new(yaml).proxied("bash", json!({ "command": ["ls"] }));
    assert_eq!(codes(&other), ["shell-never"], "whatever is intercepted");
}

#[test]
fn what_one_run_denies_is_denied_under_every_name_and_above_the_root() {
    for yaml in ["", "tools: { allow_parent: 1 }"] {
        let mut world = World::new(yaml);
        world.judge = world.judge.denying(["zsh".parse().unwrap(), "write_.*".parse().unwrap()]);
        assert_eq!(world.hook("zsh", json!({ "command": "ls" })).answer, Deny, "{yaml}");
        assert_eq!(world.hook("mcp__x__zsh", json!({ "command": "ls" })).answer, Deny, "{yaml}");
        assert_eq!(world.hook("write_file", json!({ "path": "a" })).answer, Deny, "{yaml}");
        assert_eq!(world.hook("bash", json!({ "command": "ls" })).answer, Allow, "{yaml}");
        assert_eq!(world.hook("edit_file", json!({ "path": "a" })).answer, Allow, "{yaml}");
    }
}
