//! Commands that the documented rules call dangerous.
//!
//! The rules are expressions that are looked for in the text of a command, and in each command
//! that the text amounts to when it is parsed: `r""m -rf x` and `sh -c 'rm -rf x'` are found too.
//! What stands in quotes is one word: a commit message is no command. No other word in the text
//! takes anything back.

use super::danger_rules::{BUILT_IN, DOCUMENTED};
use crate::name::{Found, Pattern};

/// The rules, made ready.
#[derive(Clone, Debug)]
pub struct Dangers {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
struct Rule {
    name: &'static str,
    /// None would be an expression that is none; it fits everything then.
    pattern: Option<Pattern>,
}

impl Default for Dangers {
    fn default() -> Self {
        let all = DOCUMENTED.iter().chain(&BUILT_IN);
        let rules = all
            .map(|(name, text)| Rule { name, pattern: Pattern::ignoring_case(text).ok() })
            .collect();
        Self { rules }
    }
}

impl Dangers {
    /// Returns the name of the rule that a command falls under. `commands` are the words of every
    /// command in `text`.
    pub fn find(&self, text: &str, commands: &[Vec<String>], root: &str) -> Option<&'static str> {
        let whole = normal(&masked(text));
        let parts: Vec<String> = commands.iter().map(|words| normal(&joined(words))).collect();
        let fits = |rule: &&Rule| match &rule.pattern {
            None => true,
            Some(pattern) => {
                let mut texts = std::iter::once(&whole).chain(&parts);
                texts.any(|text| pattern.search(text) != Found::No)
            }
        };
        let ruled = self.rules.iter().find(fits).map(|rule| rule.name);
        ruled.or_else(|| commands.iter().find_map(|words| of_root(words, root)))
    }
}

/// Refuses to move or delete the project itself, in ways that need more than an expression.
fn of_root(words: &[String], root: &str) -> Option<&'static str> {
    let (program, args) = words.split_first()?;
    let program = program.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let is_root = |arg: &String| {
        let arg = arg.trim_end_matches('/');
        matches!(arg, "." | "./." | ":/" | "*" | "./*") || arg == root.trim_end_matches('/')
    };
    let mut named = args.iter().filter(|arg| !arg.starts_with('-'));
    match program.as_str() {
        "mv" => named.next().filter(|arg| is_root(arg)).map(|_| "move_project_root"),
        "rmdir" | "rd" => named.any(is_root).then_some("rmdir_project_root"),
        "git" if named.next().is_some_and(|sub| sub == "rm") => {
            named.any(is_root).then_some("git_rm_project_root")
        }
        "remove-item" | "ri" => named.any(is_root).then_some("powershell_remove_project_root"),
        _ => None,
    }
}

/// Stands for a blank inside a word, so that expressions do not see two words.
const JOINT: char = '\u{1}';

fn joined(words: &[String]) -> String {
    let mut out = String::new();
    for (at, word) in words.iter().enumerate() {
        // The program is known by its name, wherever it lies.
        let word = if at == 0 { word.rsplit('/').next().unwrap_or(word) } else { word };
        if at > 0 {
            out.push(' ');
        }
        out.extend(word.chars().map(|c| if c.is_whitespace() { JOINT } else { c }));
    }
    out
}

/// Joins the words in quotes. Where quotes may mean something else, the text stays as it is.
fn masked(text: &str) -> String {
    if text.contains("<<") || text.contains("$'") {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\\', None | Some('"')) => {
                out.push(letter);
                out.extend(letters.next());
                continue;
            }
            ('\'' | '"', None) => quote = Some(letter),
            (_, Some(open)) if open == letter => quote = None,
            // What a shell runs inside of double quotes is no text.
            ('$' | '`', Some('"')) => return text.to_owned(),
            _ => {}
        }
        out.push(if quote.is_some() && letter.is_whitespace() { JOINT } else { letter });
    }
    if quote.is_some() { text.to_owned() } else { out }
}

/// Takes wide letters for the plain ones that they look like.
fn normal(text: &str) -> String {
    let plain = |letter: char| match letter {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(letter) - 0xfee0).unwrap_or(letter),
        '\u{3000}' => ' ',
        _ => letter,
    };
    text.chars().filter(|letter| *letter != '\0').map(plain).collect()
}
