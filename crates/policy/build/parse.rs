//! Reads `tools.txt`. Its own first lines say how it is written.

use std::collections::{BTreeMap, BTreeSet};

use crate::row::{Grammar, Opt, Row, Rule, Slot};

type Wrong = (usize, String);

/// One line with the lines that are indented below it.
struct Node<'a> {
    number: usize,
    text: &'a str,
    below: Vec<Self>,
}

/// Reads the whole table.
pub(crate) fn rows(text: &str) -> Result<Vec<Row>, Wrong> {
    let mut sets = BTreeMap::new();
    let mut rows: Vec<Row> = Vec::new();
    let mut names = BTreeSet::new();
    for node in tree(text)? {
        if let Some(name) = node.text.strip_prefix("set ") {
            sets.insert(name.trim().to_owned(), node.below);
            continue;
        }
        let row = row(&node, &sets)?;
        let first = row.names.first().cloned().unwrap_or_default();
        if rows.last().and_then(|row| row.names.first()).is_some_and(|before| *before > first) {
            return Err((node.number, format!("`{first}` is not in its place: rows are sorted")));
        }
        for name in &row.names {
            if !names.insert(name.clone()) {
                return Err((node.number, format!("`{name}` has two rows")));
            }
        }
        rows.push(row);
    }
    Ok(rows)
}

fn row(node: &Node<'_>, sets: &BTreeMap<String, Vec<Node<'_>>>) -> Result<Row, Wrong> {
    let mut grammar = Grammar::default();
    read(&mut grammar, &node.below, sets)?;
    if let Some(name) = weakened(&grammar, &[]) {
        return Err((
            node.number,
            format!("`{name}` is text below a subcommand, and more above it"),
        ));
    }
    let has = |mark: &str| node.below.iter().any(|line| line.text.starts_with(mark));
    if !has("no ") {
        return Err((node.number, "no example of what it does not do (`no …`)".into()));
    }
    if grammar.does_something() && !has("yes ") {
        return Err((node.number, "no example of what it does (`yes …`)".into()));
    }
    Ok(Row { names: node.text.split_whitespace().map(str::to_owned).collect(), grammar })
}

/// Finds a long option that is only text below a subcommand, and more than that above it. A short
/// one may mean something else there; a long one is the same, and as text it would hide what it does.
fn weakened<'g>(grammar: &'g Grammar, above: &[&'g Opt]) -> Option<&'g str> {
    let is_plain = |option: &Opt| option.slot.role == "Role::Text" && option.slot.concern.is_none();
    let is_more = |name: &String| {
        let mut same = above.iter().filter(|option| option.names.contains(name));
        same.any(|option| !is_plain(option) && option.slot.role != "Role::Guess")
    };
    let texts =
        grammar.options.iter().filter(|option| is_plain(option) && option.value != "Absent");
    let mut names = texts.flat_map(|option| &option.names).filter(|name| name.starts_with("--"));
    if let Some(name) = names.find(|name| is_more(name)) {
        return Some(name);
    }
    // Options in front of a subcommand are not read behind it.
    let here = grammar.options.iter().filter(|_| !grammar.habits.contains(&"FRONT"));
    let all: Vec<&Opt> = above.iter().copied().chain(here).collect();
    let mut subs = grammar.subs.iter().map(|(_, sub)| sub).chain(grammar.other.as_deref());
    subs.find_map(|sub| weakened(sub, &all))
}

fn tree(text: &str) -> Result<Vec<Node<'_>>, Wrong> {
    let mut lines = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let content = line.trim_start();
        if content.is_empty() || content.starts_with("# ") || content == "#" {
            continue;
        }
        let indent = line.len() - content.len();
        if indent % 2 != 0 {
            return Err((at + 1, "lines are indented by two blanks for each level".into()));
        }
        lines.push((at + 1, indent / 2, content.trim_end()));
    }
    let mut rest = lines.as_slice();
    level(&mut rest, 0)
}

fn level<'a>(rest: &mut &[(usize, usize, &'a str)], depth: usize) -> Result<Vec<Node<'a>>, Wrong> {
    let mut nodes: Vec<Node<'a>> = Vec::new();
    while let Some(((number, indent, text), tail)) = rest.split_first() {
        if *indent < depth {
            break;
        }
        if *indent > depth {
            let below = level(rest, depth + 1)?;
            nodes.last_mut().ok_or((*number, "nothing stands above this line".into()))?.below =
                below;
            continue;
        }
        *rest = tail;
        nodes.push(Node { number: *number, text, below: Vec::new() });
    }
    Ok(nodes)
}

fn read(
    grammar: &mut Grammar,
    lines: &[Node<'_>],
    sets: &BTreeMap<String, Vec<Node<'_>>>,
) -> Result<(), Wrong> {
    // Rules name options: they are read when all options are known.
    let (rules, others): (Vec<_>, Vec<_>) =
        lines.iter().partition(|line| line.text.starts_with("when "));
    for line in others {
        let wrong = |message: String| (line.number, message);
        let words: Vec<&str> = line.text.split_whitespace().collect();
        let Some((first, tail)) = words.split_first() else { continue };
        match *first {
            "yes" | "no" => {}
            "is" => {
                for word in tail {
                    grammar.habits.push(habit(word).map_err(wrong)?);
                }
            }
            "use" => {
                let name = tail.first().copied().unwrap_or_default();
                let set = sets.get(name).ok_or_else(|| wrong(format!("no set `{name}` above")))?;
                read(grammar, set, sets)?;
            }
            "sub" => {
                let mut sub = Grammar::default();
                read(&mut sub, &line.below, sets)?;
                if tail == ["*"] {
                    grammar.other = Some(Box::new(sub));
                } else {
                    let names = tail.iter().map(|&name| name.to_owned()).collect();
                    grammar.subs.push((names, sub));
                }
            }
            "*" => grammar.rest = Some(slot(tail).map_err(wrong)?),
            "last" => grammar.last = Some(slot(tail).map_err(wrong)?),
            "--" => grammar.after = Some(slot(tail).map_err(wrong)?),
            place if place.parse::<usize>().is_ok() => {
                if place.parse() != Ok(grammar.slots.len() + 1) {
                    return Err(wrong(format!("operand {place} comes out of order")));
                }
                grammar.slots.push(slot(tail).map_err(wrong)?);
            }
            name if name.starts_with(['-', '+']) || name.ends_with('=') => {
                grammar.options.extend(options(&words).map_err(wrong)?);
            }
            word => return Err(wrong(format!("`{word}` begins no kind of line"))),
        }
    }
    for line in rules {
        let rule = rule(grammar, line.text).map_err(|message| (line.number, message))?;
        grammar.rules.push(rule);
    }
    Ok(())
}

fn habit(word: &str) -> Result<&'static str, String> {
    Ok(match word {
        "closed" => "CLOSED",
        "stops" => "STOPS",
        "single" => "SINGLE",
        "old" => "OLD",
        "assigns" => "ASSIGNS",
        "leading" => "LEADING",
        "front" => "FRONT",
        "unwary" => "unwary",
        _ => return Err(format!("`{word}` is no habit")),
    })
}

/// Reads a line of options. Names with a value are one option; of bare ones each is its own, and
/// `-f/--force` is one under two names.
fn options(words: &[&str]) -> Result<Vec<Opt>, String> {
    let end = words
        .iter()
        .skip(1)
        .position(|word| matches!(*word, "=" | "=?" | "==" | "=;" | "=2") || word.starts_with('!'))
        .map_or(words.len(), |at| at + 1);
    let (names, tail) = words.split_at_checked(end).unwrap_or((words, &[]));
    let (value, tail) = match tail.split_first() {
        Some((&"=", tail)) => ("Required", tail),
        Some((&"=?", tail)) => ("Glued", tail),
        Some((&"==", tail)) => ("Final", tail),
        Some((&"=;", tail)) => ("Until", tail),
        Some((&"=2", tail)) => ("Pair", tail),
        _ => ("Absent", tail),
    };
    if let Some(odd) =
        names.iter().find(|name| !name.starts_with(['-', '+']) && !name.ends_with('='))
    {
        return Err(format!("`{odd}` is no option"));
    }
    let slot = slot(tail)?;
    let split = |word: &&str| word.split('/').map(str::to_owned).collect::<Vec<_>>();
    let option = |names| Opt { names, value, slot: slot.clone(), bit: None };
    let is_bare = value == "Absent" && slot.concern.is_none();
    Ok(if is_bare {
        names.iter().map(split).map(option).collect()
    } else {
        vec![option(names.iter().flat_map(split).collect())]
    })
}

/// Reads `role [detail] [!concern]`.
fn slot(words: &[&str]) -> Result<Slot, String> {
    let mut concern = None;
    let mut role = String::from("Role::Text");
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        if let Some(name) = word.strip_prefix('!') {
            concern = Some(variant(name, CONCERNS, "concern")?);
            continue;
        }
        let mut detail = || words.next().ok_or_else(|| format!("`{word}` of what?"));
        role = match word {
            "delete" => format!("Role::Delete(Extent::{})", variant(detail()?, EXTENTS, "extent")?),
            "code" => {
                format!("Role::Code(Language::{})", variant(detail()?, LANGUAGES, "language")?)
            }
            "script" => {
                format!("Role::Script(Language::{})", variant(detail()?, LANGUAGES, "language")?)
            }
            _ => match variant(word, INNERS, "role") {
                Ok(inner) => format!("Role::Inner(Inner::{inner})"),
                Err(_) => format!("Role::{}", variant(word, ROLES, "role")?),
            },
        };
    }
    Ok(Slot { role, concern })
}

fn rule(grammar: &mut Grammar, text: &str) -> Result<Rule, String> {
    let body = text.strip_prefix("when ").unwrap_or(text);
    let (terms, effect) = body.split_once(" : ").ok_or("a rule is `when terms : effect`")?;
    let terms =
        terms.split_whitespace().map(|word| term(grammar, word)).collect::<Result<_, _>>()?;
    let words: Vec<&str> = effect.split_whitespace().collect();
    let (first, tail) = words.split_first().ok_or("a rule needs an effect")?;
    let detail = tail.first().copied().unwrap_or_default();
    let effect = match *first {
        "raise" => format!("Effect::Raise(Concern::{})", variant(detail, CONCERNS, "concern")?),
        "send" => "Effect::Send".into(),
        "elsewhere" => "Effect::Elsewhere".into(),
        "input" => format!("Effect::Input(Language::{})", variant(detail, LANGUAGES, "language")?),
        "here" => format!("Effect::Here({})", slot(tail)?.role),
        "*" => format!("Effect::Rest({})", super::emit::slot(&slot(tail)?)),
        "last" => format!("Effect::Last({})", super::emit::slot(&slot(tail)?)),
        place if place.parse::<usize>().is_ok_and(|place| place > 0) => {
            let place: usize = place.parse().unwrap_or(1);
            format!("Effect::Slot({}, {})", place - 1, super::emit::slot(&slot(tail)?))
        }
        names => {
            let bits = bits(grammar, names)?;
            format!("Effect::Value({bits}, {})", super::emit::slot(&slot(tail)?))
        }
    };
    Ok(Rule { terms, effect })
}

fn term(grammar: &mut Grammar, word: &str) -> Result<String, String> {
    Ok(match word {
        "always" => "Term::AtLeast(0)".into(),
        "none" => "Term::Under(1)".into(),
        "some" => "Term::AtLeast(1)".into(),
        _ => match (word.strip_suffix('+'), word.strip_prefix('!')) {
            (Some(count), _) if count.parse::<usize>().is_ok() => format!("Term::AtLeast({count})"),
            _ if let Some(count) = word.strip_prefix('<') => {
                let count: usize = count.parse().map_err(|_| format!("`{word}` counts nothing"))?;
                format!("Term::Under({count})")
            }
            (_, Some(names)) => format!("Term::Lacks({})", bits(grammar, names)?),
            (_, None) => format!("Term::Has({})", bits(grammar, word)?),
        },
    })
}

/// Gives each of `-a|--b` a bit, and returns them all.
fn bits(grammar: &mut Grammar, names: &str) -> Result<u64, String> {
    let mut all = 0;
    for name in names.split('|') {
        let next = grammar.options.iter().filter_map(|option| option.bit).max();
        let next = next.map_or(0, |bit| bit + 1);
        let option = grammar
            .options
            .iter_mut()
            .find(|option| option.names.iter().any(|known| known == name))
            .ok_or_else(|| format!("a rule names `{name}`, which is no option here"))?;
        let bit = *option.bit.get_or_insert(next);
        all |= 1_u64.checked_shl(bit).ok_or("more than 64 options in rules")?;
    }
    Ok(all)
}

/// Turns `loses-work` into `LosesWork`, if that is one of `known`.
fn variant(word: &str, known: &str, kind: &str) -> Result<String, String> {
    let name: String = word
        .split('-')
        .map(|part| {
            let mut letters = part.chars();
            let first = letters.next().map(|letter| letter.to_ascii_uppercase());
            first.into_iter().chain(letters).collect::<String>()
        })
        .collect();
    if known.split_whitespace().any(|variant| variant == name) {
        Ok(name)
    } else {
        Err(format!("`{word}` is no {kind}"))
    }
}

const CONCERNS: &str = "LosesWork ChangesShared Privilege Container Persists System Processes Device \
    Kernel Power Exhausts Exfiltrates Backdoor Listens Floods Evaluates Obfuscates Spawns Interactive Environment \
    Guard Unclear";
const LANGUAGES: &str = "Shell Python Node Perl Ruby Php Awk Sed Sql Editor Patch Source Other";
const EXTENTS: &str = "Single Forced Below Tree";
const ROLES: &str = "Text Guess Read Write Into Linked Symlinked Enter Work Aside Connect RemoteRead RemoteWrite Shell ShellWords \
    Program Argv Fed Parallel Elsewhere Load Splice Sub";
const INNERS: &str = "AtFile FormFile Mode GitSetting GitKey GitUrl GitRef GitTree SshSetting \
    TarAction Process Sql Editor CargoSetting Socat Volume Target Tex MakeVariable Sysctl Verb Hidden \
    Output Header Cookie WriteOut PhpSetting Backup Renaming Products Expanded Loading CargoWords \
    NodeScript ShellOption WgetSetting Mongo Compiler Plugin Package Report NpmSetting PerlModule \
    RubyLibrary Debugger Passed Splitting Compiled Task Keyed KeyedRead Property Switch Pair \
    MediaFilter MediaTarget SplitNames Query Library RsyncFilter Status Verbosity Sourced Posted \
    Clock Compressor";
