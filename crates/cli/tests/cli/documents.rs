//! The documents say what the binary does (`replay.rs` says how they are read).

use std::collections::BTreeSet;
use std::fs;

use palisade::plan::export::{Engine, Lack};

use crate::kit::World;
use crate::replay::{blocks, document, replay, repository};

#[test]
fn the_guide_and_the_readme_show_what_happens() {
    assert!(replay("README.md") >= 1);
    assert!(replay("docs/guide/getting-started.md") >= 8);
    assert!(replay("docs/guide/run.md") >= 12);
    assert!(replay("docs/guide/deciding.md") >= 20);
    assert!(replay("docs/guide/other-systems.md") >= 8);
    assert!(replay("docs/guide/profiles.md") >= 6);
    assert!(replay("docs/guide/tool-calls.md") >= 12);
    assert!(replay("docs/guide/proxy.md") >= 3);
    assert!(replay("docs/guide/engines.md") >= 3);
    assert!(replay("docs/guide/agents.md") >= 10);
    assert!(replay("docs/guide/levels.md") >= 3);
    assert!(replay("docs/guide/record.md") >= 6);
    assert!(replay("docs/guide/confirming.md") >= 1);
    assert!(replay("docs/guide/telemetry.md") >= 2);
    assert!(replay("docs/guide/eval.md") >= 3);
    assert!(replay("docs/guide/writing-policies.md") >= 7);
}

#[test]
fn the_page_of_each_agent_shows_what_happens() {
    for agent in ["claude", "codex", "copilot", "cursor", "gemini", "opencode"] {
        assert!(replay(&format!("docs/guide/{agent}.md")) >= 2, "{agent}");
    }
    assert!(document("docs/guide/cursor.md").contains("**Unverified.**"));
    assert!(replay("docs/guide/serve.md") >= 1);
    assert!(replay("docs/guide/mcp.md") >= 1);
    assert!(replay("docs/guide/acp.md") >= 1);
}

#[test]
fn the_guide_lists_every_engine_and_everything_that_one_may_lack() {
    let guide = document("docs/guide/engines.md");
    let listed = |heading: &str| -> Vec<String> {
        let part = guide.split(heading).nth(1).unwrap().split("\n## ").next().unwrap();
        let rows = part.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
        rows.map(str::to_owned).collect()
    };
    assert_eq!(listed("## The engines"), Engine::ALL.map(Engine::word));
    assert_eq!(listed("## What an engine may lack"), Lack::ALL.map(Lack::word));
}

#[test]
fn the_guide_explains_every_step_of_a_plan_and_no_other() {
    let source = document("crates/plan/src/render.rs");
    let steps = source.split("fn told(step").nth(1).unwrap().split("\n}\n").next().unwrap();
    let steps = steps.split(" (\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned());
    let steps: BTreeSet<String> = steps.chain(["look-over".to_owned()]).collect();
    let guide = document("docs/guide/run.md");
    let table = guide.split("| Step |").nth(1).unwrap().split("\n\n").next().unwrap();
    let cells = table.lines().filter_map(|line| line.strip_prefix("| `")?.split(" |").next());
    let named =
        cells.flat_map(|cell| cell.split(", ").map(|name| name.trim_matches('`').to_owned()));
    assert_eq!(named.collect::<BTreeSet<String>>(), steps);
}

/// What stands in front of a reason's code in the sources.
const BEFORE_A_CODE: [&str; 21] = [
    "code: \"",
    "ask(\"",
    "refuse(\"",
    "refuse( \"",
    "refused(\"",
    ".error(\"",
    "Argv, \"",
    "Name, \"",
    "Structure, \"",
    "Answer::Ask, \"",
    "Answer::Deny, \"",
    "ruled.answer, \"",
    "self.asking(), \"",
    "true => (\"",
    "false => (\"",
    "code\": \"",
    "Unreadable::new(\"",
    "refusal(\"",
    "refusal( \"",
    "Refused::new(\"",
    "LIES: &str = \"",
];

#[test]
fn the_guide_lists_every_reason_code_and_no_other() {
    let rust_files = |folder: &str| {
        let entries = fs::read_dir(repository().join(folder)).unwrap();
        let files = entries.map(|entry| entry.unwrap().path());
        files.filter(|file| file.extension().is_some_and(|end| end == "rs")).collect::<Vec<_>>()
    };
    let mut files = rust_files("crates/policy/src/decide");
    files.extend(rust_files("crates/policy/src/shell"));
    files.extend(rust_files("crates/policy/src/patch"));
    files.extend(rust_files("crates/policy/src/permission"));
    files.push(repository().join("crates/cli/src/command/check/kind.rs"));
    let named = ["crates/policy/src/jail/place.rs", "crates/policy/src/url/judge.rs"];
    let mut codes = BTreeSet::new();
    let mut collect = |text: &str, before: &str| {
        for part in text.split(before).skip(1) {
            codes.insert(part.split('"').next().unwrap().to_owned());
        }
    };
    for file in files {
        let text = fs::read_to_string(file).unwrap();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for before in BEFORE_A_CODE {
            collect(&text, before);
        }
    }
    for file in named {
        for code in document(file).split("fn code(self)").skip(1) {
            collect(code.split("\n    }\n").next().unwrap(), "=> \"");
        }
    }
    let guide = document("docs/guide/deciding.md");
    let table = guide.split("## Reason codes").nth(1).unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let listed: BTreeSet<String> = rows.map(str::to_owned).collect();
    assert_eq!(listed, codes);
}

#[test]
fn the_guide_lists_every_code_of_tool_calls_and_no_other() {
    let mut codes = BTreeSet::new();
    for name in ["arguments", "mod", "path", "verdict", "walk", "walk/commands", "walk/paths"] {
        let text = document(&format!("crates/policy/src/interception/{name}.rs"));
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for before in ["reason(\"", "reason( \"", "about(\"", "fault(\"", "Self::"] {
            for part in text.split(before).skip(1) {
                let part = match (before, part.split_once(" => \"")) {
                    ("Self::", Some((name, code))) if !name.contains(' ') => code,
                    ("Self::", _) => continue,
                    _ => part,
                };
                codes.insert(part.split('"').next().unwrap().to_owned());
            }
        }
    }
    // Words and messages of other enums, which no code looks like.
    codes.retain(|code| !code.contains([' ', '_']) && (code.contains('-') || code == "rule"));
    let guide = document("docs/guide/tool-calls.md");
    let table = guide.split("## Codes").nth(1).unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let listed: BTreeSet<String> = rows.map(str::to_owned).collect();
    assert_eq!(listed, codes);
}

#[test]
fn the_readme_has_exactly_two_set_up_commands() {
    let text = document("README.md");
    let set_up: Vec<&str> = blocks(&text)
        .into_iter()
        .filter(|(language, _)| language == "sh")
        .flat_map(|(_, lines)| lines)
        .collect();
    let wanted = ["cargo install --locked --path crates/cli", "cargo test --workspace"];
    assert_eq!(set_up, wanted);
}

#[test]
fn the_manual_of_the_command_line_is_up_to_date() {
    let wanted = World::new().run(&["markdown-help"]).stdout;
    assert!(document("docs/cli.md") == wanted, "docs/cli.md is stale; run `cargo xtask docs`");
}
