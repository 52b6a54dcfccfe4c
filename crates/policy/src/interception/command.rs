//! The commands that stand in a call's arguments.

use super::arguments::{Arguments, Node, Step, Value};
use super::parameter::{Holds, Part};
use super::spelling::folded;
use super::tool::Sort;
use crate::command::SHELLS;

/// A command of a call.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Found {
    Shell(String),
    Argv(Vec<String>),
    /// There is one, and it cannot be read.
    Unreadable,
}

/// Most commands that are judged in one call.
const MOST: usize = 256;

/// Returns every command in the arguments, each with the number of its parameter; none if there
/// are too many.
pub(super) fn commands(
    arguments: &Arguments<'_>,
    holds: &[Holds],
    sort: Sort,
) -> Option<Vec<(usize, Found)>> {
    let looking = Looking { nodes: &arguments.nodes, holds, sort };
    let (mut found, mut parts) = (Vec::new(), 0);
    for (at, node) in arguments.nodes.iter().enumerate() {
        let (Step::Key(_), Some(Holds::Command(part))) = (&node.step, holds.get(at)) else {
            continue;
        };
        looking.at(at, *part, &mut found);
        parts += 1;
        if found.len() > MOST || parts > 2 * MOST {
            return None;
        }
    }
    let set = looking.with_variables(&found);
    found.extend(set);
    (found.len() <= MOST).then_some(found)
}

struct Looking<'l> {
    nodes: &'l [Node<'l>],
    holds: &'l [Holds],
    sort: Sort,
}

impl Looking<'_> {
    fn at(&self, at: usize, part: Part, found: &mut Vec<(usize, Found)>) {
        let Some(node) = self.nodes.get(at) else { return };
        match (part, &node.value) {
            (_, Value::Plain(_)) => {}
            (Part::Environment, Value::Map | Value::List) => {
                found.extend(self.environment(at).map(|argv| (at, Found::Argv(argv))));
            }
            // `A=b C=d`, as it would stand in front of a command.
            (Part::Environment, Value::Text(text)) if text.contains('=') => {
                found.push((at, Found::Shell(format!("{text} true"))));
            }
            (Part::Environment, Value::Text(_)) | (_, Value::Map) => {}
            (Part::Whole, Value::Text(text)) => {
                if self.sort == Sort::Shell || !is_verb(text) {
                    self.with_arguments(at, text, found);
                }
            }
            (Part::Shell, Value::Text(text)) => {
                // With a command beside it, a shell's name is only that.
                let alone = self.beside(at, is_main).is_none();
                let runs = if is_shell(text) {
                    alone && self.beside(at, is_arguments).is_some()
                } else {
                    self.sort == Sort::Shell || text.trim().contains(char::is_whitespace)
                };
                if runs {
                    self.with_arguments(at, text, found);
                }
            }
            (Part::Code, Value::Text(text)) => found.push((at, self.code(at, text))),
            (Part::Lines, Value::Text(text)) => found.push((at, Found::Shell(text.to_string()))),
            (Part::Arguments | Part::Input, _) if self.beside(at, is_main).is_some() => {}
            (Part::Arguments, _) if self.beside(at, |part| part == Part::Shell).is_some() => {}
            (Part::Arguments | Part::Input, Value::Text(text)) => {
                found.push((at, Found::Shell(text.to_string())));
            }
            (Part::Lines, Value::List) => {
                self.list(at, found, |words| vec![Found::Shell(words.join("\n"))]);
            }
            (
                Part::Whole | Part::Shell | Part::Arguments | Part::Input | Part::Code,
                Value::List,
            ) => {
                self.list(at, found, readings);
            }
        }
    }

    /// Reads a list of words, or of such lists.
    fn list(
        &self,
        at: usize,
        found: &mut Vec<(usize, Found)>,
        read: impl Fn(Vec<String>) -> Vec<Found> + Copy,
    ) {
        let (mut words, mut lists, mut objects) = (Vec::new(), Vec::new(), 0);
        for (item, node) in self.inside(at) {
            match &node.value {
                Value::Text(text) => words.push(text.to_string()),
                Value::Plain(text) => words.push((*text).to_owned()),
                Value::List => lists.push(item),
                Value::Map => objects += 1,
            }
        }
        if !words.is_empty() && (!lists.is_empty() || objects > 0) {
            found.push((at, Found::Unreadable));
        } else if !words.is_empty() {
            found.extend(read(words).into_iter().map(|command| (at, command)));
        }
        // What stands in objects goes by its own names.
        for list in lists {
            self.list(list, found, readings);
        }
    }

    fn with_arguments(&self, at: usize, program: &str, found: &mut Vec<(usize, Found)>) {
        let Some((other, node)) = self.beside(at, is_arguments) else {
            return found.push((at, Found::Shell(program.to_owned())));
        };
        match &node.value {
            Value::Text(text) => found.push((at, Found::Shell(format!("{program} {text}")))),
            Value::List => {
                let mut argv = vec![program.to_owned()];
                for (_, node) in self.inside(other) {
                    match &node.value {
                        Value::Text(text) => argv.push(text.to_string()),
                        Value::Plain(text) => argv.push((*text).to_owned()),
                        Value::List | Value::Map => return found.push((at, Found::Unreadable)),
                    }
                }
                found.extend(readings(argv).into_iter().map(|command| (at, command)));
            }
            Value::Plain("null") => found.push((at, Found::Shell(program.to_owned()))),
            Value::Plain(_) | Value::Map => found.push((at, Found::Unreadable)),
        }
    }

    /// Code runs in what its language says; without a word about that, in a shell.
    fn code(&self, at: usize, text: &str) -> Found {
        let language = self.siblings(at).find_map(|(_, node)| match (&node.step, &node.value) {
            (Step::Key(key), Value::Text(text))
                if matches!(&*folded(key), "language" | "lang" | "interpreter") =>
            {
                Some(text.to_ascii_lowercase())
            }
            _ => None,
        });
        let (program, option) = match language.as_deref() {
            None | Some("" | "bash" | "sh" | "shell" | "zsh") => return Found::Shell(text.into()),
            Some("python" | "python3" | "py") => ("python3", "-c"),
            Some("javascript" | "js" | "node") => ("node", "-e"),
            Some("ruby" | "rb") => ("ruby", "-e"),
            Some("perl") => ("perl", "-e"),
            Some("php") => ("php", "-r"),
            Some(_) => return Found::Unreadable,
        };
        Found::Argv(vec![program.into(), option.into(), text.into()])
    }

    /// Returns the commands again that use variables which the call sets, with these set in front.
    fn with_variables(&self, found: &[(usize, Found)]) -> Vec<(usize, Found)> {
        let is_environment =
            |at: &usize| matches!(self.holds.get(*at), Some(Holds::Command(Part::Environment)));
        let mut all = Vec::new();
        for at in (0..self.nodes.len()).filter(is_environment).take(MOST) {
            let argv = self.environment(at).unwrap_or_default();
            let text = self.nodes.get(at).and_then(|node| match &node.value {
                Value::Text(text) if text.contains('=') => Some(&**text),
                Value::Text(_) | Value::Plain(_) | Value::List | Value::Map => None,
            });
            for (of, command) in found.iter().filter(|(of, _)| !is_environment(of)) {
                if all.len() > MOST {
                    return all;
                }
                all.extend(with_set(command, &argv, text).map(|command| (*of, command)));
            }
        }
        all
    }

    /// Variables are judged as if `env` set them.
    fn environment(&self, at: usize) -> Option<Vec<String>> {
        let mut argv = vec!["env".to_owned()];
        for (item, node) in self.inside(at) {
            let value = match &node.value {
                Value::Text(text) => &**text,
                Value::Plain(text) => text,
                Value::Map => {
                    argv.extend(self.named(item));
                    continue;
                }
                Value::List => continue,
            };
            argv.push(match &node.step {
                Step::Key(key) => format!("{key}={value}"),
                Step::Top | Step::Item(_) => value.to_owned(),
            });
        }
        argv.push("true".to_owned());
        (argv.len() > 2).then_some(argv)
    }

    /// `{"name": "A", "value": "b"}`
    fn named(&self, at: usize) -> Option<String> {
        let text = |names: [&str; 3]| {
            self.inside(at).find_map(|(_, node)| match (&node.step, &node.value) {
                (Step::Key(key), Value::Text(text)) if names.contains(&&*folded(key)) => {
                    Some(text.to_string())
                }
                _ => None,
            })
        };
        let name = text(["name", "key", "variable"])?;
        Some(format!("{name}={}", text(["value", "val", "content"]).unwrap_or_default()))
    }

    /// Returns the values directly inside of a list or an object.
    fn inside(&self, at: usize) -> impl Iterator<Item = (usize, &Node<'_>)> {
        // All that stands in it follows it, and goes by a number that is not lower.
        let after = self.nodes.iter().enumerate().skip(at + 1);
        after.take_while(move |(_, node)| node.parent >= at).filter(move |(_, n)| n.parent == at)
    }

    fn siblings(&self, at: usize) -> impl Iterator<Item = (usize, &Node<'_>)> {
        let parent = self.nodes.get(at).map_or(0, |node| node.parent);
        self.inside(parent).filter(move |(other, _)| *other != at)
    }

    /// Returns the first value beside this one that is such a part of a command.
    fn beside(&self, at: usize, fits: fn(Part) -> bool) -> Option<(usize, &Node<'_>)> {
        self.siblings(at).find(|(other, _)| match self.holds.get(*other) {
            Some(Holds::Command(part)) => fits(*part),
            Some(
                Holds::Path(_) | Holds::Perhaps(_) | Holds::Uri(_) | Holds::Patch | Holds::Nothing,
            )
            | None => false,
        })
    }
}

/// Returns a command with variables set in front: those of `env NAME=value… true`, or of a text.
/// `None` if it uses none of them.
fn with_set(command: &Found, env: &[String], text: Option<&str>) -> Option<Found> {
    let sets = env.iter().filter_map(|word| word.split_once('='));
    let is_used = |body: &str, name: &str| {
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        is_name && (body.contains(name) || matches!(name, "CDPATH" | "HOME" | "IFS"))
    };
    match (command, text) {
        (Found::Shell(body), Some(text)) => Some(Found::Shell(format!("{text}\n{body}"))),
        (Found::Shell(body), None) => {
            let set: String = sets
                .filter(|(name, _)| is_used(body, name))
                .map(|(name, value)| format!("export {name}='{}'\n", value.replace('\'', r"'\''")))
                .collect();
            (!set.is_empty()).then(|| Found::Shell(format!("{set}{body}")))
        }
        (Found::Argv(argv), None) => {
            let used = sets.filter(|(name, _)| argv.iter().any(|word| is_used(word, name)));
            let mut words = vec!["env".to_owned()];
            words.extend(used.map(|(name, value)| format!("{name}={value}")));
            (words.len() > 1).then(|| {
                words.extend(argv.iter().cloned());
                Found::Argv(words)
            })
        }
        (Found::Argv(_), Some(_)) | (Found::Unreadable, _) => None,
    }
}

fn is_main(part: Part) -> bool {
    matches!(part, Part::Whole | Part::Lines | Part::Code)
}

fn is_arguments(part: Part) -> bool {
    part == Part::Arguments
}

/// Whether a text names a shell, and nothing for it to do.
fn is_shell(text: &str) -> bool {
    const FOLDERS: [&str; 5] = ["", "/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"];
    let (folder, name) = text.trim().rsplit_once('/').unwrap_or(("", text.trim()));
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    FOLDERS.contains(&folder) && (SHELLS.contains(&name) || matches!(name, "" | "cmd" | "default"))
}

/// Returns what a list of words may mean: arguments, or text for a shell. Some tools hand the words
/// on as they are, some put them together for a shell, and some have it read the first alone.
fn readings(words: Vec<String>) -> Vec<Found> {
    let first = words.first().map(|word| word.trim()).unwrap_or_default();
    let is_program = !first.contains(char::is_whitespace);
    if words.len() == 1 {
        return vec![if is_program { Found::Argv(words) } else { Found::Shell(words.concat()) }];
    }
    let starts_as_text = !is_program || has_operator(first);
    let mut found = Vec::new();
    if starts_as_text || words.iter().any(|word| is_for_shell(word)) {
        found.push(Found::Shell(words.join(" ")));
    }
    if starts_as_text {
        found.push(Found::Shell(first.to_owned()));
    }
    found.push(if is_program { Found::Argv(words) } else { spread(words) });
    found
}

/// Whether a word behind the first is one that only a shell reads. What has blanks is a message or
/// a script, and in these operators are letters like any other, but for the first.
fn is_for_shell(word: &str) -> bool {
    if word.trim().contains(char::is_whitespace) {
        let starts = [";", "&", "|", ">", "<(", "$(", "`"];
        return starts.iter().any(|operator| word.trim_start().starts_with(operator));
    }
    has_operator(word)
}

/// Whether an operator of the shell stands in a word, and not in quotes.
fn has_operator(word: &str) -> bool {
    let (mut quote, mut found, mut quoted) = (None, false, false);
    let mut letters = word.chars().peekable();
    while let Some(letter) = letters.next() {
        let substitutes = letter == '`' || letter == '$' && letters.peek() == Some(&'(');
        let operates = substitutes || matches!(letter, ';' | '&' | '|' | '<' | '>' | '\n');
        match (quote, letter) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('\''), _) => quoted |= operates,
            (_, '\\') => _ = letters.next(),
            (None, '\'' | '"') => quote = Some(letter),
            (None, _) => found |= operates,
            (Some(_), _) => {
                found |= substitutes;
                quoted |= operates;
            }
        }
    }
    // A quote that does not end here may end, or begin, in another word.
    found || quoted && quote.is_some()
}

/// Text for a shell, with arguments behind it that it does not read again.
fn spread(argv: Vec<String>) -> Found {
    let mut words = argv.into_iter();
    let mut text = words.next().unwrap_or_default();
    for word in words {
        text.push_str(&format!(" '{}'", word.replace('\'', r"'\''")));
    }
    Found::Shell(text)
}

/// Whether a word tells an editor what to do: many call that a command.
fn is_verb(text: &str) -> bool {
    const VERBS: [&str; 14] = [
        "append",
        "create",
        "delete",
        "edit",
        "insert",
        "list",
        "open",
        "read",
        "rename",
        "replace",
        "str_replace",
        "undo_edit",
        "view",
        "write",
    ];
    VERBS.contains(&text)
}
