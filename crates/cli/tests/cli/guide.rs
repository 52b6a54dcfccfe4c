//! The guide as a whole: no page shows a command that nobody runs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use palisade_testkit::{Fact, Need, need};

use crate::kit::{PALISADE, Ran, World};
use crate::replay::{blocks, document, replay, repository, words};

/// The tests that replay pages one by one.
const REPLAYS: [&str; 2] = [include_str!("documents.rs"), include_str!("guide.rs")];

/// Words that begin like a command of ours and are none: what a signature is made over.
const NO_COMMANDS: [&str; 2] = ["palisade question 1", "palisade answer 1"];

/// What stands for any value of its kind.
const PLACEHOLDERS: [(&str, &str); 4] =
    [("SHELL", "bash"), ("ENGINE", "bwrap"), ("AGENT", "claude"), ("COMMAND", "run")];

fn pages() -> Vec<String> {
    let entries = fs::read_dir(repository().join("docs/guide")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut pages: Vec<String> = names.map(|name| format!("docs/guide/{name}")).collect();
    pages.sort();
    pages
}

/// Finds what is shown as something to type, and is not in a block that is run.
fn unrun(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (language, lines) in blocks(text) {
        let is_file = language.contains(' ');
        match language.as_str() {
            // Set-up from a clone: the README's own two commands, which CI runs.
            "text" if lines == ["cargo install --locked --path crates/cli"] => {}
            "sh" | "bash" | "shell" => found.push(lines.join("\n")),
            "" | "text" => {
                let typed = ["$ ", "palisade ", "cargo ", "mkdir ", "curl ", "sudo ", "npm "];
                let begins = |line: &&&str| typed.iter().any(|typed| line.starts_with(typed));
                found.extend(lines.iter().filter(begins).map(|line| (*line).to_owned()));
            }
            "console" | "yaml" | "json" | "toml" | "python" | "js" | "rust" => {}
            _ => assert!(is_file, "a block of the kind `{language}` is read by no test"),
        }
    }
    found
}

#[test]
fn a204_every_command_of_set_up_and_troubleshooting_is_run() {
    let page = document("docs/guide/troubleshooting.md");
    for part in ["does not work", "refuses what it should not", "lets pass what it should not"] {
        assert!(page.contains(&format!("\n## It {part}\n")), "{part}");
        let text = page.split(&format!("\n## It {part}\n")).nth(1).unwrap();
        let text = text.split("\n## ").next().unwrap();
        assert!(text.matches("\n$ ").count() >= 5, "{part}");
    }
    for name in ["docs/guide/getting-started.md", "docs/guide/troubleshooting.md"] {
        assert_eq!(unrun(&document(name)), [""; 0], "{name}");
        let shown = document(name).matches("\n$ ").count();
        assert!(shown >= 12, "{name}");
        assert_eq!(replay(name), shown, "{name}");
    }
}

#[test]
fn a204_no_page_shows_a_command_that_is_not_run() {
    for name in pages() {
        let text = document(&name);
        assert_eq!(unrun(&text), [""; 0], "{name}");
        let agent = name.trim_start_matches("docs/guide/").trim_end_matches(".md");
        let called = format!("replay(\"{name}\")");
        let is_replayed = REPLAYS.iter().any(|tests| {
            tests.contains(&called)
                || tests.contains(&format!("\"{name}\"]"))
                || tests.contains(&format!("\"{name}\","))
                || tests.contains(&format!("\"{agent}\""))
        });
        assert!(is_replayed || !text.contains("\n$ "), "{name} is replayed by no test");
    }
}

#[test]
fn pages_about_walls_programs_and_the_network_show_what_happens() {
    assert!(replay("docs/guide/network.md") >= 1);
    assert!(replay("docs/guide/embedding.md") >= 1);
    assert!(replay("docs/guide/security-model.md") >= 3);
}

#[test]
fn every_command_that_the_prose_names_is_one_of_ours() {
    let world = World::new();
    let mut all = pages();
    all.extend(["README.md", "docs/known-escapes.md", "docs/threat-model.md"].map(str::to_owned));
    let mut seen = 0;
    for name in all {
        let text = document(&name);
        for span in text.split('`').filter(|span| span.starts_with("palisade ")) {
            if span.contains(['…', '\n', '|']) || NO_COMMANDS.contains(&span) {
                continue;
            }
            let ours = span.split(" -- ").next().unwrap().trim_end_matches(" --");
            let ours = ours.split(" < ").next().unwrap();
            let filled = words(ours).into_iter().skip(1).map(|word| {
                let known = PLACEHOLDERS.iter().find(|(name, _)| *name == word);
                known.map_or(word, |(_, value)| (*value).to_owned())
            });
            let filled: Vec<String> = filled.chain(["--help".to_owned()]).collect();
            let ran = world.run(&filled.iter().map(String::as_str).collect::<Vec<_>>());
            let is_cut = ran.stderr.contains("a value is required");
            assert!(ran.code == Some(0) || is_cut, "{name}: {span}\n{}", ran.stderr);
            seen += 1;
        }
    }
    assert!(seen >= 60, "{seen}");
}

#[test]
fn every_test_that_the_known_escapes_name_exists_and_no_row_is_left_out() {
    let (page, rows) = (document("docs/known-escapes.md"), document("docs/rows.md"));
    let is_test = |span: &&str| {
        let mut letters = span.chars();
        matches!(letters.next(), Some('a' | 'e'))
            && letters.by_ref().take(3).all(|letter| letter.is_ascii_digit())
            && letters.next() == Some('_')
    };
    for test in page.split('`').filter(is_test) {
        assert!(rows.contains(&format!("\n- `{test}` in ")), "{test}");
    }
    for row in rows.lines().filter_map(|line| line.strip_prefix("## e")) {
        assert!(page.contains(&format!("\n| e{row} | ")), "e{row}");
        assert!(page.contains(&format!("`e{row}_")), "e{row}");
    }
}

/// Runs an example of a page in a project.
fn example(page: &str, language: &str, look: impl Fn(&World, &str) -> Ran) {
    let text = document(page);
    let mut examples = 0;
    for (_, lines) in blocks(&text).iter().filter(|(kind, _)| kind == language) {
        let ran = look(&World::new(), &lines.join("\n"));
        assert_eq!(ran.code, Some(0), "{page}: {}{}", ran.stdout, ran.stderr);
        examples += 1;
    }
    assert!(examples >= 1, "{page}");
}

#[test]
fn the_examples_in_python_run() {
    for page in ["docs/guide/embedding.md", "docs/guide/serve.md"] {
        example(page, "python", |world, text| {
            world.write("example.py", text);
            let mut command = world.command("/usr/bin/python3");
            command.args(["-B", "example.py"]).env("PATH", path());
            command.env("PYTHONPATH", repository().join("clients/python/src"));
            world.finish(&mut command)
        });
    }
}

#[test]
fn the_examples_in_node_run() {
    if need(Fact::Tools("node --version")) == Need::Skip {
        return;
    }
    for page in ["docs/guide/embedding.md", "docs/guide/serve.md"] {
        example(page, "js", |world, text| {
            world.write("example.mjs", text);
            let modules = world.project.path("node_modules");
            fs::create_dir(&modules).unwrap();
            let client = repository().canonicalize().unwrap().join("clients/node");
            symlink(client, modules.join("palisade-client")).unwrap();
            let mut command = world.command("/usr/bin/node");
            world.finish(command.arg("example.mjs").env("PATH", path()))
        });
    }
}

/// Where our binary is found, and those of the machine.
fn path() -> String {
    let folder = Path::new(PALISADE).parent().unwrap();
    format!("{}:/usr/local/bin:/usr/bin:/bin", folder.display())
}
