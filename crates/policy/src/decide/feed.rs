//! Commands that get more arguments from elsewhere: `xargs`, `find -exec`.

use std::borrow::Cow;

use smallvec::{SmallVec, smallvec};

use super::child::has_letter;
use super::scope::Value;
use super::sought;
use super::walk::{Input, Walk};
use crate::command::{Act, Arg, Certainty, Holed as _};
use crate::jail::{Last, Place, Route, Standing};
use crate::text::{Span, byte};

/// Names that begin with a dot, in the home folder: some are hidden, and whoever is fed what a
/// search from there finds may be fed these.
const SECRET: &str = ".[!.]*";

/// Programs that tell of a file and not what it holds.
const SHOWS: [&str; 16] = [
    "basename",
    "chgrp",
    "chmod",
    "chown",
    "dirname",
    "du",
    "echo",
    "file",
    "ls",
    "md5sum",
    "printf",
    "readlink",
    "realpath",
    "sha256sum",
    "stat",
    "wc",
];

/// Most items of a known text that are looked at.
const MOST_ITEMS: usize = 32;

/// What a feeder puts where.
#[derive(Clone, Debug, Default)]
pub(super) struct Feed {
    /// The text in whose place each item is put; at the end if there is none.
    mark: Option<String>,
    /// What is known of the items: names below a folder, or nothing.
    items: Vec<Value>,
    /// What happens where no item was put anywhere.
    end: End,
    /// What kind of files the items name.
    lists: Lists,
    /// What the name of each item matches, if that was asked for.
    names: Option<String>,
    rounds: Rounds,
    spread: Spread,
    /// Where a search starts that runs the command in the folder of what it found.
    pub(super) folders: Vec<String>,
}

/// How often a command is started for what it is fed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Rounds {
    /// Once, with all of it.
    #[default]
    Once,
    /// For every item, or for some at a time.
    Each,
}

/// What is known of the names that a command is fed.
#[derive(Clone, Debug)]
pub(super) struct Fed {
    /// The names, as a pattern.
    pub(super) text: String,
    pub(super) lists: Lists,
    /// What the last part of each name matches, if that was asked for.
    pub(super) names: Option<String>,
    pub(super) spread: Spread,
    /// The names from other folders that are searched.
    pub(super) others: Vec<String>,
}

/// How much of the project a list may name.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Spread {
    /// All of it.
    #[default]
    Whole,
    /// What has a certain name, or lies in a certain folder.
    Part,
}

/// What kind of files a list names.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Lists {
    /// Whatever there is, links among it.
    #[default]
    Anything,
    /// Plain files, none of them reached by a link.
    Files,
}

/// What stands behind a command that marks no place for what it is fed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum End {
    /// The items.
    #[default]
    Fed,
    /// Nothing.
    Bare,
}

impl Walk<'_> {
    /// Finds out what a command feeds to the commands it runs.
    pub(super) fn feed(
        &self,
        name: &str,
        args: &[Arg<'_>],
        acts: &[Act<'_>],
        input: &Input,
    ) -> Feed {
        match name {
            "find" | "gfind" | "fd" | "fdfind" => {
                let secret = match name {
                    "fd" | "fdfind" => self.fd_finds_secrets(args, acts),
                    _ => self.finds_secrets(args),
                };
                let mut items: Vec<Value> = acts
                    .iter()
                    .filter_map(|act| {
                        let Act::Read(start) = act else { return None };
                        Some(below(&start.text))
                    })
                    .collect();
                if items.is_empty() {
                    items.push(below("."));
                }
                // `fd` puts the names behind the command where no place is marked.
                let end = if name.starts_with("fd") { End::Fed } else { End::Bare };
                if let Some(secret) = secret {
                    items = vec![secret];
                }
                let (lists, names) = (self.lists_of(name, args), only_name(args));
                let (mark, rounds) = (Some("{}".into()), Rounds::Once);
                let is_part = name.ends_with("find") && self.takes_part(args);
                let spread = if is_part { Spread::Part } else { Spread::Whole };
                let folders = sought::folders(args);
                Feed { mark, items, end, lists, names, rounds, spread, folders }
            }
            _ => {
                let mark = mark(args);
                let items = match input {
                    Input::Text(value, ..) if value.certainty == Certainty::Pattern => {
                        vec![value.clone()]
                    }
                    Input::Text(value, ..)
                        if value.certainty == Certainty::Known && name.ends_with("xargs") =>
                    {
                        known_items(&value.text, mark.is_some(), args)
                            .unwrap_or_else(|| vec![Value::unknown()])
                    }
                    Input::Text(..) | Input::File(..) | Input::Inherited | Input::Pipe => {
                        vec![Value::unknown()]
                    }
                };
                let end = if mark.is_none() { End::Fed } else { End::Bare };
                let some = |arg: &Arg<'_>| {
                    ["-n", "-L", "-l", "-s", "--max-"].iter().any(|o| arg.text.starts_with(o))
                };
                let each = mark.is_some() || args.iter().any(some);
                let rounds = if each { Rounds::Each } else { Rounds::Once };
                let (lists, names, spread) = (self.lists, None, self.listed);
                Feed { mark, items, end, lists, names, rounds, spread, folders: Vec::new() }
            }
        }
    }

    /// Returns what a search from the home folder, or from above it, finds: what is hidden there,
    /// unless it looks for other names.
    pub(super) fn finds_secrets(&self, args: &[Arg<'_>]) -> Option<Value> {
        self.secrets_below(sought::starts(args)).filter(|_| !names_others(args))
    }

    /// The same for `fd`, which passes over names that begin with a dot unless it is told not to.
    fn fd_finds_secrets(&self, args: &[Arg<'_>], acts: &[Act<'_>]) -> Option<Value> {
        let looks = args.iter().any(|arg| match arg.text.strip_prefix("--") {
            Some(long) => long.starts_with("hid") || long.starts_with("unr"),
            None => arg.text.starts_with('-') && arg.text.contains(['H', 'u']),
        });
        if !looks || has_plain_endings(args) {
            return None;
        }
        let here = Arg::known(".", Span::default());
        let starts = acts.iter().filter_map(|act| {
            let (Act::Read(start) | Act::Enter(start)) = act else { return None };
            Some(start)
        });
        let starts: Vec<&Arg<'_>> = starts.collect();
        let starts = if starts.is_empty() { vec![&here] } else { starts };
        self.secrets_below(starts.into_iter())
    }

    /// Returns what is hidden in the home folder, if one of these is that folder or above it.
    fn secrets_below<'a>(&self, mut starts: impl Iterator<Item = &'a Arg<'a>>) -> Option<Value> {
        let home = self.judge.home()?;
        let is_root = |cwd: &String| cwd == self.judge.ground().root();
        let wide = starts.any(|start| {
            // Nearly every search.
            if start.text == "." && self.scope.cwds().iter().all(is_root) {
                return false;
            }
            self.any_place(start, Last::Follow, |place| {
                let above = || home.strip_prefix(place.path.trim_end_matches('/'));
                place.standing != Standing::Root
                    && above().is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        });
        wide.then(|| {
            let text = format!("{home}/{SECRET}");
            Value { text, certainty: Certainty::Pattern }
        })
    }

    /// Returns what kind of files a command lists.
    pub(super) fn lists_of(&self, name: &str, args: &[Arg<'_>]) -> Lists {
        let has = |word: &str| args.iter().any(|arg| arg.text == word);
        let flag = |flag: u8| args.iter().any(|arg| has_letter(&arg.text, &[flag]));
        let straight = || {
            let operands = args.iter().filter(|arg| !arg.text.starts_with('-'));
            operands.filter(|arg| !arg.text.is_empty()).all(|arg| {
                let is_led = |place: &Place<'_>| place.route != Route::Straight;
                arg.certainty == Certainty::Known && !self.any_place(arg, Last::Follow, is_led)
            })
        };
        let files = match name {
            "find" | "gfind" => {
                let follows = has("-L") || has("-H") || has("-follow");
                !follows
                    && sought::only(args, &sought::HANDS, |test, value| {
                        test == "-type" && value.text == "f"
                    })
            }
            "grep" | "egrep" | "fgrep" => flag(b'r') && !flag(b'R') && straight(),
            "rg" => !flag(b'L') && !has("--follow") && straight(),
            "git" => args.first().is_some_and(|command| command.text == "grep"),
            "sort" | "uniq" | "head" | "tail" => return self.lists,
            _ => false,
        };
        if files { Lists::Files } else { Lists::Anything }
    }
}

impl Fed {
    /// Whether a word stands for names that were found, and those are a part of the project.
    pub(super) fn is_part(&self, word: &str) -> bool {
        let is_found = self.text == word || self.others.iter().any(|other| other == word);
        is_found && self.spread == Spread::Part
    }
}

impl Feed {
    /// Returns what is known of what is fed.
    pub(super) fn fed(&self) -> Option<Fed> {
        let item = self.items.first().filter(|item| item.certainty == Certainty::Pattern)?;
        Some(Fed {
            text: item.text.clone(),
            lists: self.lists,
            names: self.names.clone(),
            spread: self.spread,
            others: self.items.iter().skip(1).map(|item| item.text.clone()).collect(),
        })
    }

    /// Returns the same for a command that runs in the folder of what is fed.
    pub(super) fn beside(&self) -> Self {
        Self { items: vec![below(".")], ..self.clone() }
    }

    /// Returns the command with what it is fed: once for each item that is known and has its place.
    pub(super) fn fills<'t>(&self, argv: &[Arg<'t>], span: Span) -> SmallVec<[Vec<Arg<'t>>; 1]> {
        let known = self.items.iter().all(|item| item.certainty == Certainty::Known);
        let each = known && self.items.len() > 1 && self.rounds == Rounds::Each;
        if !each {
            return smallvec![self.fill(argv, span)];
        }
        let alone = |item: &Value| Self { items: vec![item.clone()], ..self.clone() };
        let mut fills: SmallVec<_> =
            self.items.iter().map(|item| alone(item).fill(argv, span)).collect();
        // How many go together is a number that nobody read.
        if self.mark.is_none() {
            fills.push(self.fill(argv, span));
        }
        fills
    }

    fn fill<'t>(&self, argv: &[Arg<'t>], span: Span) -> Vec<Arg<'t>> {
        let unknown = Value::unknown();
        let shows = argv.first().is_some_and(|program| SHOWS.contains(&&*program.text));
        let shown: Cow<'_, [Value]> = match shows {
            true => self.items.iter().map(outside).collect(),
            false => Cow::Borrowed(&self.items),
        };
        let item = shown.first().unwrap_or(&unknown);
        let mut filled = Vec::with_capacity(argv.len() + 1);
        let mut placed = false;
        for arg in argv {
            let holds = self.mark.as_ref().filter(|mark| holds(&arg.text, mark));
            let Some(mark) = holds else {
                filled.push(arg.clone());
                continue;
            };
            placed = true;
            let text = match arg.text == *mark {
                true => item.text.clone(),
                false => arg.text.replace(mark.as_str(), &item.text),
            };
            let text = text.into();
            filled.push(Arg { text, certainty: item.certainty, span: arg.span, verbatim: None });
            // Each start of a search is a place of its own.
            if arg.text == *mark {
                for more in shown.iter().skip(1) {
                    let text = more.text.clone().into();
                    let certainty = more.certainty;
                    filled.push(Arg { text, certainty, span: arg.span, verbatim: None });
                }
            }
        }
        if !placed && self.end == End::Fed {
            for item in &*shown {
                let certainty = match item.certainty {
                    Certainty::Known => Certainty::Known,
                    Certainty::Pattern => Certainty::Pattern,
                    Certainty::Partial | Certainty::Many => Certainty::Many,
                };
                let text = item.text.clone().into();
                filled.push(Arg { text, certainty, span, verbatim: None });
            }
        }
        filled
    }
}

/// Whether a word has a mark somewhere: nearly none does.
fn holds(word: &str, mark: &str) -> bool {
    mark.bytes().next().is_none_or(|first| byte::has(word, first)) && word.contains(mark)
}

/// Names below a folder, which no `..` is among.
pub(super) fn below(start: &str) -> Value {
    if start.has_hole() {
        return Value::unknown();
    }
    let text = [start.trim_end_matches('/'), "/*"].concat();
    Value { text, certainty: Certainty::Pattern }
}

/// Returns the text that `xargs -I` replaces.
fn mark(args: &[Arg<'_>]) -> Option<String> {
    let mut args = args.iter().map(|arg| &*arg.text).peekable();
    while let Some(arg) = args.next() {
        match arg {
            "-I" | "-J" => return args.peek().map(|mark| (*mark).to_owned()),
            "-i" | "--replace" => return Some("{}".into()),
            // Their value is the next word.
            "-a" | "--arg-file" | "-d" | "--delimiter" | "-E" | "-L" | "--max-lines" | "-n"
            | "--max-args" | "-P" | "--max-procs" | "-s" | "--max-chars" | "-S" | "-R" => {
                args.next();
                continue;
            }
            _ => {}
        }
        let glued = ["-I", "-i", "--replace="].iter().find_map(|option| arg.strip_prefix(option));
        if let Some(mark) = glued {
            return Some(mark.to_owned());
        }
        if !arg.starts_with('-') {
            break;
        }
    }
    None
}

/// Splits a known text as `xargs` does; `None` where it may do so otherwise.
fn known_items(text: &str, by_line: bool, args: &[Arg<'_>]) -> Option<Vec<Value>> {
    let own = args.iter().take_while(|arg| arg.text.starts_with('-'));
    let mut own = own.filter(|arg| !arg.text.starts_with("-I") && !arg.text.starts_with("-i"));
    let otherwise = own.any(|arg| {
        let long = ["--null", "--delim", "--arg-file", "--eof"];
        let short = !arg.text.starts_with("--") && arg.text.contains(['0', 'd', 'a', 'E', 'e']);
        short || long.iter().any(|option| arg.text.starts_with(option))
    });
    if args.iter().any(|arg| arg.text == "-a" || arg.text.starts_with("--arg-file")) {
        return None;
    }
    let items: Vec<&str> = match by_line {
        true => text.lines().map(str::trim).filter(|line| !line.is_empty()).collect(),
        false => text.split_whitespace().collect(),
    };
    let plain = !text.contains(['\'', '"', '\\']) && (!otherwise || items.len() == 1);
    let some = (1..=MOST_ITEMS).contains(&items.len());
    (plain && some).then(|| items.into_iter().map(Value::known).collect())
}

/// Returns the one name that a search is for.
fn only_name(args: &[Arg<'_>]) -> Option<String> {
    let words: Vec<&str> = args.iter().map(|arg| &*arg.text).collect();
    if words.iter().any(|word| matches!(*word, "-o" | "-or" | "!" | "-not" | ",")) {
        return None;
    }
    let at = words.iter().position(|word| *word == "-name" || sought::STARTS.contains(word))?;
    let name = args.get(at + 1).and_then(Arg::as_known);
    name.filter(|name| words.get(at) == Some(&"-name") && !name.contains('\\')).map(str::to_owned)
}

/// Whether a search hands on only names that no secret has.
fn names_others(args: &[Arg<'_>]) -> bool {
    sought::only(args, &sought::HANDS, |test, value| {
        matches!(test, "-name" | "-iname")
            && !value.text.has_hole()
            && !may_be_secret(&sought::pattern(test, &value.text))
    })
}

/// Whether `fd` is told which endings names have, and none is a secret's.
fn has_plain_endings(args: &[Arg<'_>]) -> bool {
    let mut words = args.iter().map(|arg| &*arg.text);
    let mut found = false;
    while let Some(word) = words.next() {
        let ending = match word {
            "-e" | "--extension" => words.next(),
            "-x" | "-X" | "--exec" | "--exec-batch" => break,
            _ => continue,
        };
        let is_plain =
            ending.is_some_and(|it| !it.has_hole() && !may_be_secret(&format!("a.{it}")));
        if !is_plain {
            return false;
        }
        found = true;
    }
    found
}

/// What is left of what a search finds for those who do not look into it.
fn outside(item: &Value) -> Value {
    let text = item.text.strip_suffix(SECRET).map(|folder| format!("{folder}*"));
    Value { text: text.unwrap_or_else(|| item.text.clone()), certainty: item.certainty }
}

/// Whether a name, or pattern of names, may be that of a key or a password.
fn may_be_secret(name: &str) -> bool {
    const ENDINGS: [&str; 12] =
        ["asc", "conf", "db", "gpg", "json", "kbx", "kdbx", "key", "pem", "sqlite", "toml", "yml"];
    const NAMES: [&str; 9] = [
        "authorized_keys",
        "config",
        "credentials",
        "id_dsa",
        "id_ecdsa",
        "id_ed25519",
        "id_rsa",
        "known_hosts",
        "token",
    ];
    let wild = name.contains(['*', '?', '[']);
    match name.rsplit_once('.') {
        Some((_, ending)) if ending.contains(['*', '?', '[']) => true,
        Some(("", _)) => true,
        Some((_, ending)) => ENDINGS.contains(&ending),
        None => wild || NAMES.contains(&name),
    }
}
