//! Regular expressions, with lookaround, under a step limit.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use fancy_regex::{Expr, Regex, RegexBuilder};

use super::regex_cost::{Cost, MOST_WEIGHT, weight};
use super::regex_plain::is_plain;
use super::{Invalid, escape, quote};

/// A regular expression as Python and Rust write it.
///
/// Without lookaround and back references the engine is linear in the text; with them it
/// backtracks, under a limit of steps. `$` and `\Z` mean the very end of the text: a command that
/// ends in a newline is not the command without it.
///
/// Two patterns are equal when their texts are.
#[derive(Clone)]
pub struct Pattern {
    text: String,
    cost: Cost,
    /// Shared, so that a copy of a rule is not compiled again.
    compiled: Arc<Compiled>,
}

/// Both readings of a pattern, for each of [`TIERS`], made when first needed; `None` where that
/// failed.
#[derive(Default)]
struct Compiled {
    search: [OnceLock<Option<Regex>>; TIERS.len()],
    whole: [OnceLock<Option<Regex>>; TIERS.len()],
}

/// What came of looking for a pattern.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Found {
    /// The text does not match.
    No,
    /// The engine gave up at its limit: the caller must take the stricter answer.
    Undecided,
    /// The text matches.
    Yes,
}

impl Pattern {
    /// Parses `text` as a pattern that ignores case.
    ///
    /// # Errors
    ///
    /// When `text` is not a regular expression.
    pub fn ignoring_case(text: &str) -> Result<Self, Invalid> {
        // When it fails, the message should show what was written.
        let pattern = format!("(?i){text}").parse();
        pattern.or_else(|invalid| text.parse::<Self>().and(Err(invalid)))
    }

    /// Returns the pattern as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns whether any part of `text` matches.
    pub fn search(&self, text: &str) -> Found {
        self.answer(&self.compiled.search, text, |steps| compile_under(&self.text, steps).ok())
    }

    /// Returns whether `text` matches from its first to its last character.
    pub fn full_match(&self, text: &str) -> Found {
        self.answer(&self.compiled.whole, text, |steps| compile_whole(&self.text, steps))
    }

    fn answer(
        &self,
        compiled: &[OnceLock<Option<Regex>>; TIERS.len()],
        text: &str,
        compile: impl FnOnce(usize) -> Option<Regex>,
    ) -> Found {
        let mut tiers = compiled.iter().zip(TIERS);
        let tier = tiers.find(|(_, longest)| text.len() <= *longest);
        let Some((regex, longest)) = tier.filter(|_| !self.cost.is_too_long(text.len())) else {
            return Found::Undecided;
        };
        let regex = regex.get_or_init(|| compile(self.cost.steps(longest)));
        match regex.as_ref().map(|regex| regex.is_match(text)) {
            Some(Ok(true)) => Found::Yes,
            Some(Ok(false)) => Found::No,
            Some(Err(_)) | None => Found::Undecided,
        }
    }
}

impl FromStr for Pattern {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        const LONGEST: usize = 16 * 1024;
        if text.len() > LONGEST {
            let problem = format!("the regex {} is longer than 16 KiB", quote(text));
            return Err(Invalid::new("regex-length", problem));
        }
        if weight(text) > MOST_WEIGHT {
            let problem = format!("the regex {} would take too long to compile", quote(text));
            let hint = "repeat less, or write several rules";
            return Err(Invalid::new("regex-size", problem).with_hint(hint));
        }
        let not_a_regex = |error: fancy_regex::Error| {
            let cause = escape(&error.to_string());
            Invalid::new("regex", format!("{} is not a regex: {cause}", quote(text)))
                .with_hint("put a `\\` before a character that is meant literally")
        };
        let compiled = Compiled::default();
        if is_plain(text) {
            parse(text).map_err(not_a_regex)?;
        } else {
            let search = compile(text).map_err(not_a_regex)?;
            let [first, ..] = &compiled.search;
            first.get_or_init(|| Some(search));
        }
        Ok(Self { text: text.into(), cost: Cost::of(text), compiled: Arc::new(compiled) })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pattern").field(&self.text).finish()
    }
}

impl Eq for Pattern {}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Ord for Pattern {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text.cmp(&other.text)
    }
}

impl PartialOrd for Pattern {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Texts up to so many bytes share a limit on how often the engine may go back in one. Each time it
/// may read the text again, so that [`Cost`] bounds the time; a longer text is not decided.
const TIERS: [usize; 7] = [128, 512, 2 << 10, 8 << 10, 32 << 10, 64 << 10, 128 << 10];
/// Compiling takes time in proportion to this; policies come from strangers too.
const BYTES: usize = 1 << 18;

/// Checks the syntax alone.
pub(super) fn parse(text: &str) -> Result<(), fancy_regex::Error> {
    Expr::parse_tree(&strict_end(text)).map(drop)
}

pub(super) fn compile(text: &str) -> Result<Regex, fancy_regex::Error> {
    let [shortest, ..] = TIERS;
    compile_under(text, Cost::of(text).steps(shortest))
}

fn compile_under(text: &str, steps: usize) -> Result<Regex, fancy_regex::Error> {
    RegexBuilder::new(&strict_end(text))
        .backtrack_limit(steps)
        .delegate_size_limit(BYTES)
        .delegate_dfa_size_limit(BYTES)
        .build()
}

fn compile_whole(text: &str, steps: usize) -> Option<Regex> {
    let group = compile_under(&format!(r"\A(?:{text})\z"), steps);
    // Under `(?x)` a comment at the end swallows our closing bracket; a newline ends the comment.
    group.or_else(|_| compile_under(&format!("\\A(?:{text}\n)\\z"), steps)).ok()
}

/// Replaces `\Z`, which the engine also matches before a final newline, by `\z`.
fn strict_end(text: &str) -> String {
    let mut strict = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        strict.push(c);
        if c == '\\' {
            strict.extend(chars.next().map(|next| if next == 'Z' { 'z' } else { next }));
        }
    }
    strict
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Pattern {
        text.parse().unwrap()
    }

    #[test]
    fn a_pattern_is_searched_or_fills_the_text() {
        #[rustfmt::skip]
        let cases = [
            // pattern                  text            search      full match
            ("git",                     "git",          Found::Yes, Found::Yes),
            ("^(git|ls) ",              "git push",     Found::Yes, Found::No),
            (r"(?P<q>['\x22]).*(?P=q)", "'x'",          Found::Yes, Found::Yes),
            (r"^rm (?!-rf)",            "rm -rf /",     Found::No,  Found::No),
            (r"(?<!un)safe",            "unsafe",       Found::No,  Found::No),
            ("^ls$",                    "ls\n",         Found::No,  Found::No),
            (r"^ls\Z",                  "ls\n",         Found::No,  Found::No),
            (r"^ls\Z",                  "ls",           Found::Yes, Found::Yes),
            ("^ls$",                    "ls\nrm -rf /", Found::No,  Found::No),
            ("ls.*",                    "ls\nrm",       Found::Yes, Found::No),
            ("a|ab",                    "ab",           Found::Yes, Found::Yes),
            ("(?x)a # )",               "a",            Found::Yes, Found::Yes),
            ("(?x)a # )",               "ab",           Found::Yes, Found::No),
        ];
        for (text, input, search, full) in cases {
            assert_eq!(pattern(text).search(input), search, "search {text} in {input:?}");
            assert_eq!(pattern(text).full_match(input), full, "{text} fills {input:?}");
        }
        assert_eq!(Pattern::ignoring_case("sudo").unwrap().search("SUDO ls"), Found::Yes);
        assert_eq!(pattern("sudo").search("SUDO ls"), Found::No);
    }

    #[test]
    fn a_pattern_that_runs_away_is_undecided_and_soon() {
        let greedy = pattern(r"^(a+)+(?=b)$");
        assert_eq!(greedy.search(&"a".repeat(40)), Found::Undecided);
        assert_eq!(greedy.full_match(&"a".repeat(40)), Found::Undecided);
    }

    #[test]
    fn a_long_text_is_not_read_again_and_again() {
        let long = "a".repeat(60_000);
        // Each place of the text would be a start from which all of the rest is read.
        assert_eq!(pattern("(?!q).*z").search(&long), Found::Undecided);
        // What is anchored, or needs no going back, is decided all the same.
        assert_eq!(pattern(r"^(?!b)a").search(&long), Found::Yes);
        assert_eq!(pattern("a*b").search(&long), Found::No);
        assert_eq!(pattern("b").search(&"a".repeat(128 << 10)), Found::No);
        assert_eq!(pattern("b").search(&"a".repeat((128 << 10) + 1)), Found::Undecided);
    }

    #[test]
    fn what_is_not_a_regex_is_refused_when_it_is_read() {
        for text in
            ["(", ")", "a)|(b", "[z-a]", "[a", "*", "a{2,1}", "\\", "(?<=a", "(?P=x)", "(?z)"]
        {
            let invalid = text.parse::<Pattern>().unwrap_err();
            assert_eq!(invalid.code(), "regex", "{text}");
            assert!(invalid.problem().contains(&format!("`{text}`")), "{invalid}");
        }
        assert_eq!("(".repeat(200).parse::<Pattern>().unwrap_err().code(), "regex");
        assert_eq!("((a{999}){999}){999}".parse::<Pattern>().unwrap_err().code(), "regex-size");
        assert_eq!("a".repeat(16_385).parse::<Pattern>().unwrap_err().code(), "regex-length");
    }
}
