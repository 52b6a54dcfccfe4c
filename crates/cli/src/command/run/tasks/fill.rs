//! What stands for parts of a task in a command that is given for it.

use std::path::Path;

use palisade::policy::dialect::bloom::{Work, work};
use palisade::policy::name::{Anchors, Folder};
use palisade::policy::text::{Source, visible};
use palisade::read::{Place, read_policy_file};
use palisade::{OpenError, Request, Session};

use crate::asking::Given;
use crate::failure::Failure;

/// Fills the words of a command in with what a task says. Its workspace is `place`. What a file says
/// is no option of the command: a word that begins with it and then with `-` is refused, unless `--`
/// stands somewhere before it, behind which commands have no options.
pub(super) fn fill(
    argv: &[String],
    task: &Work,
    agent: Option<&str>,
    place: &Path,
) -> Result<Vec<String>, Failure> {
    let place = place.to_string_lossy();
    let parts = [
        ("{task}", &*task.name),
        ("{agent}", agent.unwrap_or_default()),
        ("{workspace}", &*place),
        ("{instructions}", task.instructions.as_deref().unwrap_or_default()),
    ];
    let mut done: Vec<String> = Vec::with_capacity(argv.len());
    for word in argv {
        let filled = filled(word, &parts);
        let is_ours = word.starts_with('-') || argv.iter().take(done.len()).any(|it| it == "--");
        if filled.starts_with('-') && !is_ours {
            return Err(option(word, &task.name));
        }
        done.push(filled);
    }
    Ok(done)
}

fn option(word: &str, task: &str) -> Failure {
    let (word, task) = (visible(word), visible(task));
    let message = format!(
        "`{word}` of the task `{task}` begins with `-`: the command would take it for an option"
    );
    let hint = "write `--` before it, if the command ends its options there; or begin with a word";
    Failure::new("instructions", message).hint(hint)
}

/// Fills in a command that runs once, under what `files` say for the task of a session. Text for a
/// shell is left as it is: what is put into it would be read as shell.
pub(in super::super) fn fill_one(
    command: Given,
    files: &[String],
    request: &Request,
    session: &Session,
) -> Result<Given, Failure> {
    let (Given::Argv(argv), Some(name)) = (&command, session.task()) else { return Ok(command) };
    for file in files {
        let path = request.cwd.join(file);
        let text = read_policy_file(&path, Place::Named).map_err(OpenError::Read)?;
        let folder = path.parent().unwrap_or(Path::new("/")).to_path_buf();
        let anchors = Anchors { root: folder, home: std::env::home_dir() };
        let tasks = work(&Source::new(file, &text), &anchors).map_err(OpenError::Text)?;
        if let Some(task) = tasks.iter().find(|task| &*task.name == name) {
            // One that names none works where the command runs.
            let place = task.workspace.as_ref().map(Folder::path);
            let place = place.unwrap_or_else(|| session.root().path.clone());
            return Ok(Given::Argv(fill(argv, task, session.agent(), &place)?));
        }
    }
    Ok(command)
}

/// Fills a word in, once: what is put in is not looked at again.
fn filled(word: &str, parts: &[(&str, &str)]) -> String {
    let mut rest = word;
    let mut done = String::new();
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        done.push_str(before);
        let found = parts.iter().find_map(|(name, value)| Some((from.strip_prefix(name)?, value)));
        match found {
            Some((after, value)) => {
                done.push_str(value);
                rest = after;
            }
            None => {
                done.push('{');
                rest = from.strip_prefix('{').unwrap_or_default();
            }
        }
    }
    done.push_str(rest);
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_filled_in_once() {
        let parts = [("{task}", "{agent}"), ("{agent}", "x;y $(z)")];
        for (word, expected) in [
            ("{task}", "{agent}"),
            ("a {agent} b", "a x;y $(z) b"),
            ("{{task}}", "{{agent}}"),
            ("{other} {", "{other} {"),
            ("", ""),
        ] {
            assert_eq!(filled(word, &parts), expected, "{word}");
        }
    }
}
