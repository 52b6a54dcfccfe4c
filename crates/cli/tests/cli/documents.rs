//! The documents say what the binary does.
//!
//! In README.md and the guide, a fenced `yaml` block that starts with `# some/file.yaml` is that
//! file, a block `json some/file.json` is that one, and in `console` blocks each `$ palisade …` is run, in order, in one project. A remark
//! `# exit N` behind the command names the exit code (0 otherwise). The lines below it must be in
//! the output; a line `…` stands for anything.

use std::fs;
use std::path::{Path, PathBuf};

use crate::kit::World;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn document(name: &str) -> String {
    fs::read_to_string(repository().join(name)).unwrap()
}

/// Returns the fenced blocks: the language, and the lines.
fn blocks(text: &str) -> Vec<(String, Vec<&str>)> {
    let mut found = Vec::new();
    let mut open: Option<(String, Vec<&str>)> = None;
    for line in text.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(language)) => open = Some((language.to_owned(), Vec::new())),
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some((_, lines)), None) => lines.push(line),
            (None, None) => {}
        }
    }
    found
}

/// Runs everything a document shows, and returns how many commands that were.
fn replay(name: &str) -> usize {
    let text = document(name);
    let world = World::new();
    let mut commands = 0;
    for (language, lines) in blocks(&text) {
        match language.as_str() {
            "yaml" => {
                if let Some(file) =
                    lines[0].strip_prefix("# ").filter(|file| file.ends_with(".yaml"))
                {
                    world.write(file, lines.join("\n") + "\n");
                }
            }
            _ if language.starts_with("json ") => {
                world.write(&language["json ".len()..], lines.join("\n") + "\n");
            }
            "console" => {
                let mut output = String::new();
                for line in lines {
                    let Some(command) = line.strip_prefix("$ ") else {
                        let known = line == "…" || output.lines().any(|shown| same(shown, line));
                        assert!(known, "{name}: `{line}` is not in:\n{output}");
                        continue;
                    };
                    let (command, exit) = command.split_once("# exit ").unwrap_or((command, "0"));
                    let words: Vec<&str> = command.split_whitespace().collect();
                    assert_eq!(words[0], "palisade", "{name}: {command}");
                    let ran = world.run(&words[1..]);
                    output = format!("{}{}", ran.stderr, ran.stdout);
                    let exit = exit.trim().parse().unwrap();
                    assert_eq!(ran.code, Some(exit), "{name}: {command}\n{output}");
                    commands += 1;
                }
            }
            _ => {}
        }
    }
    commands
}

/// Compares two lines but for blanks: how far a remark is pushed to the right depends on the length
/// of the test's own paths.
fn same(shown: &str, line: &str) -> bool {
    let indent = |text: &str| text.len() - text.trim_start().len();
    indent(shown) == indent(line) && shown.split_whitespace().eq(line.split_whitespace())
}

#[test]
fn the_guide_and_the_readme_show_what_happens() {
    assert!(replay("README.md") >= 1);
    assert!(replay("docs/guide/getting-started.md") >= 8);
    assert!(replay("docs/guide/other-systems.md") >= 8);
}

#[test]
fn the_readme_has_exactly_two_set_up_commands() {
    let text = document("README.md");
    let set_up: Vec<&str> = blocks(&text)
        .into_iter()
        .filter(|(language, _)| language == "sh")
        .flat_map(|(_, lines)| lines)
        .collect();
    let wanted = ["cargo run --release -p palisade-cli -- policy show", "cargo test --workspace"];
    assert_eq!(set_up, wanted);
}

#[test]
fn the_manual_of_the_command_line_is_up_to_date() {
    let wanted = World::new().run(&["markdown-help"]).stdout;
    assert!(document("docs/cli.md") == wanted, "docs/cli.md is stale; run `cargo xtask docs`");
}
