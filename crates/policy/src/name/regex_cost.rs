//! What looking for a regular expression may cost.

use std::iter::Peekable;
use std::str::Chars;

/// The cost of a regular expression, told by its text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Cost {
    /// How many places in it a text may be at once.
    places: usize,
    /// How many of its parts make the engine go back, or look ahead.
    turns: usize,
}

/// Bytes times places that are gone through in some milliseconds, where the engine must keep all
/// places in mind.
const KEPT: usize = 300_000;
/// Bytes that are gone through in some milliseconds, where it need not.
const READ: usize = 1_500_000;
/// Longest text in which the engine goes back: no command is longer.
const LONGEST_TURNED: usize = 64 << 10;
/// So few places that it need not.
const FEW: usize = 3;
/// More of them are not told apart.
const MANY: usize = 1 << 20;

/// What is heavier takes more than some milliseconds to compile.
pub(super) const MOST_WEIGHT: usize = 8_000;

impl Cost {
    pub(super) fn of(pattern: &str) -> Self {
        Self { places: PLACES.weigh(pattern), turns: turns(pattern) }
    }

    /// Whether a text of so many bytes is too long to be gone through at all.
    pub(super) fn is_too_long(self, length: usize) -> bool {
        let is_kept = self.places > FEW && length.saturating_mul(self.places) > KEPT;
        is_kept || self.turns > 0 && length > LONGEST_TURNED
    }

    /// How often the engine may go back in a text of so many bytes: each time it may read all of
    /// the rest.
    pub(super) fn steps(self, length: usize) -> usize {
        let each = if self.places > FEW { self.places.saturating_mul(4) } else { 1 };
        let once = length.saturating_mul(self.turns.max(1)).saturating_mul(each);
        (READ / once.max(1)).clamp(2, 20_000)
    }
}

/// Counts the parts of a pattern that make the engine go back, or look ahead.
fn turns(pattern: &str) -> usize {
    let turns = ["(?=", "(?!", "(?<", "(?>", "(?(", "(?P=", "\\k", "\\g", "++", "*+", "?+"];
    let named = pattern.matches('\\').count();
    let back = (1..=9).map(|n| pattern.matches(&format!("\\{n}")).count()).sum::<usize>();
    let turns = turns.iter().map(|turn| pattern.matches(turn).count()).sum::<usize>();
    turns + back.min(named)
}

/// What the parts of a pattern weigh.
struct Scale {
    letter: usize,
    /// `.`
    any: usize,
    /// `*`, `|`, `^` and the like.
    mark: usize,
    /// A group, beside what is in it.
    group: usize,
    /// A set, beside its members, and the most that it weighs.
    set: usize,
    widest: usize,
    member: usize,
    escaped: fn(char) -> usize,
}

/// The places in a pattern at which a text may be at once: what matches many characters.
const PLACES: Scale = Scale {
    letter: 0,
    any: 1,
    mark: 0,
    group: 0,
    set: 0,
    widest: 1,
    member: 1,
    escaped: |c| if "dDwWsSpPhHNRX".contains(c) { 1 } else { 0 },
};

/// About how many microseconds compiling takes: some classes are of a great many characters.
const COMPILING: Scale = Scale {
    letter: 1,
    any: 8,
    mark: 1,
    group: 4,
    set: 4,
    widest: MANY,
    member: 1,
    escaped: |c| match c {
        'p' | 'P' => 150,
        'w' | 'W' | 'b' | 'B' => 60,
        'd' | 'D' | 's' | 'S' | 'h' | 'H' => 10,
        _ => 1,
    },
};

/// The same where the engine goes back: the parts between are compiled one by one, and each class
/// in them anew.
const PIECEWISE: Scale = Scale { escaped: |c| 12 * (COMPILING.escaped)(c), ..COMPILING };

/// Returns about how many microseconds compiling a pattern takes, told by its text.
pub(super) fn weight(pattern: &str) -> usize {
    let scale = if turns(pattern) > 0 { PIECEWISE } else { COMPILING };
    // Every letter becomes a class of its cases.
    let case = if pattern.contains("(?i") { 3 } else { 1 };
    scale.weigh(pattern).saturating_mul(case).min(MANY)
}

type Letters<'p> = Peekable<Chars<'p>>;

impl Scale {
    /// Adds up what a pattern consists of, each part as often as it is repeated.
    fn weigh(&self, pattern: &str) -> usize {
        let mut groups = vec![0_usize];
        // What the last part weighs: where it is repeated, it weighs more.
        let mut last = 0_usize;
        let mut chars = pattern.chars().peekable();
        while let Some(c) = chars.next() {
            last = match c {
                '\\' => chars.next().map_or(self.letter, self.escaped),
                '.' => self.any,
                '[' => self.set(&mut chars),
                '(' => {
                    groups.push(self.group);
                    continue;
                }
                ')' if groups.len() > 1 => groups.pop().unwrap_or_default(),
                ')' => 0,
                '{' => {
                    let times = times(&mut chars);
                    // A plain letter may weigh nothing until it is to be counted.
                    let once = usize::from(last > 0);
                    let more = last.max(1).saturating_mul(times.saturating_sub(once));
                    add(&mut groups, more);
                    last = last.saturating_add(more).min(MANY);
                    continue;
                }
                '*' | '+' | '?' | '|' | '^' | '$' => {
                    add(&mut groups, self.mark);
                    continue;
                }
                _ => self.letter,
            };
            add(&mut groups, last);
        }
        groups.iter().fold(0_usize, |sum, group| sum.saturating_add(*group)).min(MANY)
    }

    /// Reads a set behind its `[`. A `]` that begins it is a member.
    fn set(&self, chars: &mut Letters<'_>) -> usize {
        chars.next_if_eq(&'^');
        let mut weight = self.set;
        if chars.next_if_eq(&']').is_some() {
            weight += self.member;
        }
        while let Some(c) = chars.next() {
            let member = match c {
                ']' => break,
                '\\' => chars.next().map_or(self.member, self.escaped),
                _ => self.member,
            };
            weight = weight.saturating_add(member);
        }
        weight.min(self.widest)
    }
}

fn add(groups: &mut [usize], weight: usize) {
    if let Some(group) = groups.last_mut() {
        *group = group.saturating_add(weight).min(MANY);
    }
}

/// Reads `m}`, `m,}` or `m,n}`: the greatest number of times that are counted.
fn times(chars: &mut Letters<'_>) -> usize {
    let (mut most, mut number) = (0_usize, 0_usize);
    while let Some(c) = chars.next_if(|c| c.is_ascii_digit() || matches!(c, ',' | ' ')) {
        match c.to_digit(10) {
            Some(digit) => number = number.saturating_mul(10).saturating_add(digit as usize),
            None => (most, number) = (most.max(number), 0),
        }
    }
    most.max(number).min(MANY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_long_to_compile_is_heavy_and_ordinary_rules_are_not() {
        let words = |count: usize| {
            let words: Vec<String> = (0..count).map(|at| format!("word{at}")).collect();
            words.join("|")
        };
        for heavy in [
            words(1_500),
            format!("(?i){}", words(500)),
            r"[\p{L}\p{N}\p{S}]".repeat(100),
            r"(?=\w{300})\w{300}".to_owned(),
            r"[^]\w]{300}".to_owned(),
            r"(\w+)\s\1".repeat(12),
            r"(?<!\w)y".repeat(13),
            "((((a{10}){10}){10}){10})".to_owned(),
            "x{99999999999999999999}".to_owned(),
        ] {
            assert!(weight(&heavy) > MOST_WEIGHT, "{heavy}: {}", weight(&heavy));
        }
        for light in [
            words(200),
            r"(?i)^(git|ls)\s+[\w./-]{1,20}$".to_owned(),
            r"\brm\s+(-[a-zA-Z]*[rf][a-zA-Z]*\s+)+(/|~|\$HOME)".to_owned(),
            r"(\w+)\s\1".repeat(5),
            r"(?i)^(?!.*--force)git\s+push\s+\w+\s+(?!main\b)".to_owned(),
            "[]a]]".to_owned(),
            "[".to_owned(),
            ")".to_owned(),
        ] {
            assert!(weight(&light) <= MOST_WEIGHT, "{light}: {}", weight(&light));
        }
    }

    #[test]
    fn what_matches_much_and_what_is_counted_weighs() {
        #[rustfmt::skip]
        let cases = [
            // pattern                   places  turns
            ("git push",                 0,      0),
            (r"rm\s+-rf",                1,      0),
            (r"^git\s+push\s+.*-f",      3,      0),
            ("[ab]*a[ab]{30}$",          31,     0),
            ("a{30}",                    30,     0),
            ("(a.){20}",                 20,     0),
            ("((.){10}){10}",            100,    0),
            ("[]a].[^]]",                3,      0),
            (r"[\w]*[^\s]*[\.]",         2,      0),
            (r"\.\{3}",                  0,      0),
            ("(?=.*a)(?!b)",             1,      2),
            (r"(.)\1",                   1,      1),
            ("x{99999999999999999999}",  1 << 20, 0),
        ];
        for (pattern, places, turns) in cases {
            assert_eq!(Cost::of(pattern), Cost { places, turns }, "{pattern}");
        }
    }
}
