//! Runs what a document shows.
//!
//! In README.md and the guide, a fenced `yaml` block that starts with `# some/file.yaml` is that
//! file, a block `json some/file.json`, `sh some/file.sh` or `scheme some/file.sb` is that one, and
//! in `console` blocks each `$ palisade …` is run, in order, in one project; quotes hold words
//! together, a word may start with `~/`, `NAME=value` in front is a variable, and `< FILE` is its
//! input. A remark `# exit N` behind the command names the exit code (0 otherwise), and `# runs on`
//! a server, beside which the other commands of its block are run. The lines below a command must be
//! in its output; a line `…` stands for anything. Agents that a page calls are stand-ins that do
//! nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use palisade_testkit::{Fact, Need, need};
use serde_json::{Value as Json, json};

use crate::kit::{NOBODY, PALISADE, Person, World};
use crate::town::own;

/// What stands in a block: the language, and the lines.
pub(crate) type Block<'a> = (String, Vec<&'a str>);

/// Programs that pages call beside ours.
const STAND_INS: [&str; 3] = ["claude", "codex", "my-agent"];

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn document(name: &str) -> String {
    fs::read_to_string(repository().join(name)).unwrap()
}

/// Returns the fenced blocks.
pub(crate) fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut found = Vec::new();
    let mut open: Option<Block<'_>> = None;
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

/// Makes a project of an ordinary user, as readers of the guide are.
pub(crate) fn reader() -> World {
    let root = rustix::process::geteuid().is_root();
    let mut world = World::new();
    let folder = world.home.path("bin");
    fs::create_dir(&folder).unwrap();
    for name in STAND_INS {
        fs::write(folder.join(name), "#!/bin/sh\nexit 0\n").unwrap();
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("/usr/local/bin:/usr/bin:/bin:{}", folder.display());
    world.home = world.home.var("PATH", path);
    World { person: if root { Person::Nobody } else { Person::Ours }, ..world }
}

/// Runs everything a document shows, and returns how many commands that were.
pub(crate) fn replay(name: &str) -> usize {
    let text = document(name);
    let world = reader();
    let mut commands = 0;
    for (language, lines) in blocks(&text) {
        match language.as_str() {
            "yaml" => {
                if let Some(file) =
                    lines[0].strip_prefix("# ").filter(|file| file.ends_with(".yaml"))
                {
                    let file = place(&world, file);
                    fs::create_dir_all(file.parent().unwrap()).unwrap();
                    fs::write(file, lines.join("\n") + "\n").unwrap();
                }
            }
            _ if ["json ", "scheme ", "sh "].iter().any(|kind| language.starts_with(kind)) => {
                let (_, file) = language.split_once(' ').unwrap();
                world.write(file, lines.join("\n") + "\n");
            }
            "console" => commands += console(name, &world, &lines),
            _ => {}
        }
    }
    commands
}

/// A file of the project, or of the home.
fn place(world: &World, file: &str) -> PathBuf {
    match file.strip_prefix("~/") {
        Some(below) => world.home.path(below),
        None => world.project.path(file),
    }
}

/// Runs one block.
fn console(name: &str, world: &World, lines: &[&str]) -> usize {
    let mut shown: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in lines {
        match line.strip_prefix("$ ") {
            Some(command) => shown.push((command, Vec::new())),
            None => shown.last_mut().unwrap().1.push(line),
        }
    }
    let outputs = match shown.first() {
        Some((first, _)) if first.contains("# runs on") => match beside(world, &shown) {
            Some(outputs) => outputs,
            None => return shown.len(),
        },
        _ => shown.iter().map(|(command, _)| ran(name, world, command)).collect(),
    };
    for ((command, below), output) in shown.iter().zip(outputs) {
        for line in below {
            let known = *line == "…" || output.lines().any(|shown| same(shown, line));
            assert!(known, "{name}: {command}: `{line}` is not in:\n{output}");
        }
    }
    shown.len()
}

/// Runs one command, and returns what it printed.
fn ran(name: &str, world: &World, line: &str) -> String {
    let (line, exit) = line.split_once("# exit ").unwrap_or((line, "0"));
    let mut words = words_at_home(world, line);
    let variables = words.iter().take_while(|word| is_assignment(word)).count();
    let variables: Vec<String> = words.drain(..variables).collect();
    let input = match words.iter().position(|word| word == "<") {
        Some(at) => words.split_off(at).pop(),
        None => None,
    };
    let program = words.remove(0);
    assert!(["palisade", "mkdir"].contains(&program.as_str()), "{name}: {line}");
    let ran = match input {
        Some(file) => {
            let input = fs::read(world.project.path(file)).unwrap();
            world.run_with_input(&input, &words.iter().map(String::as_str).collect::<Vec<_>>())
        }
        None => {
            let program = if program == "palisade" { PALISADE } else { "/usr/bin/mkdir" };
            let mut command = world.command(program);
            command.args(&words);
            command.envs(variables.iter().filter_map(|word| word.split_once('=')));
            world.finish(&mut command)
        }
    };
    let output = format!("{}{}", ran.stderr, ran.stdout);
    assert_eq!(ran.code, Some(exit.trim().parse().unwrap()), "{name}: {line}\n{output}");
    output
}

/// Runs a server, and commands beside it. None where a tool is missing, which was told.
fn beside(world: &World, shown: &[(&str, Vec<&str>)]) -> Option<Vec<String>> {
    if need(Fact::Tools("curl --version")) == Need::Skip {
        return None;
    }
    let of = |(line, _): &(&str, Vec<&str>)| -> (Vec<String>, i64) {
        let (line, remark) = line.split_once(" # ").unwrap_or((line, ""));
        let mut words = words_at_home(world, line);
        words[0] = match words[0].as_str() {
            "palisade" => own(world).to_str().unwrap().to_owned(),
            "curl" => "/usr/bin/curl".to_owned(),
            other => panic!("{other}: a server is asked by curl"),
        };
        (words, remark.strip_prefix("exit ").map_or(0, |code| code.parse().unwrap()))
    };
    let commands: Vec<(Vec<String>, i64)> = shown.iter().map(of).collect();
    let config = json!({
        "uid": (world.person == Person::Nobody).then_some(NOBODY),
        "commands": commands.iter().map(|(words, _)| words).collect::<Vec<_>>(),
    });
    let mut command = Command::new("/usr/bin/unshare");
    let is_root = rustix::process::geteuid().is_root();
    command.args(if is_root { &[][..] } else { &["--map-root-user"] });
    command.args(["--net", "/usr/bin/python3", "-c", include_str!("beside.py")]);
    command.arg(config.to_string());
    command.env_clear().envs(world.home.env()).current_dir(world.project.root());
    let ran = world.finish(&mut command);
    let told: Vec<Json> =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr));
    for (one, (words, code)) in told.iter().zip(&commands) {
        assert_eq!(one["code"], *code, "{words:?}: {one}");
    }
    Some(told.iter().map(|one| one["output"].as_str().unwrap().to_owned()).collect())
}

fn words_at_home(world: &World, line: &str) -> Vec<String> {
    let home = world.home.root().to_str().unwrap();
    let words = words(line).into_iter().map(|word| match word.strip_prefix("~/") {
        Some(below) => format!("{home}/{below}"),
        None => word,
    });
    words.collect()
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_')
}

/// Takes a command line apart at its blanks; quotes hold a word together.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for letter in line.trim().chars() {
        match (letter, quote) {
            (' ', None) => words.push(String::new()),
            ('\'' | '"', None) => quote = Some(letter),
            (_, Some(open)) if open == letter => quote = None,
            _ => words.last_mut().unwrap().push(letter),
        }
    }
    words
}

/// Compares two lines but for blanks: how far a remark is pushed to the right depends on the length
/// of the test's own paths.
fn same(shown: &str, line: &str) -> bool {
    let indent = |text: &str| text.len() - text.trim_start().len();
    indent(shown) == indent(line) && shown.split_whitespace().eq(line.split_whitespace())
}
