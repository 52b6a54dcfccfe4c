//! What looking for a regular expression may cost.

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

impl Cost {
    pub(super) fn of(pattern: &str) -> Self {
        let turns = ["(?=", "(?!", "(?<", "(?>", "(?(", "(?P=", "\\k", "\\g", "++", "*+", "?+"];
        let named = pattern.matches('\\').count();
        let back = (1..=9).map(|n| pattern.matches(&format!("\\{n}")).count()).sum::<usize>();
        let turns = turns.iter().map(|turn| pattern.matches(turn).count()).sum::<usize>();
        Self { places: places(pattern), turns: turns + back.min(named) }
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

/// Counts the places in a pattern at which a text may be at once: what matches many characters,
/// and what is repeated so many times.
fn places(pattern: &str) -> usize {
    let mut groups = vec![0_usize];
    // What the last part weighs: where it is repeated, it weighs more.
    let mut last = 0_usize;
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                let wide = chars.next().is_some_and(|next| "dDwWsSpPhHNRX".contains(next));
                last = usize::from(wide);
                add(&mut groups, last);
            }
            '.' => {
                last = 1;
                add(&mut groups, last);
            }
            '[' => {
                let mut inside = chars.next_if_eq(&'^').is_some();
                inside |= chars.next_if_eq(&']').is_some();
                let mut escaped = false;
                for c in chars.by_ref() {
                    match c {
                        _ if escaped => escaped = false,
                        '\\' => escaped = true,
                        ']' => break,
                        _ => inside = true,
                    }
                }
                last = usize::from(inside);
                add(&mut groups, last);
            }
            '(' => groups.push(0),
            ')' => {
                last = if groups.len() > 1 { groups.pop().unwrap_or_default() } else { 0 };
                add(&mut groups, last);
            }
            '{' => {
                let times = times(&mut chars);
                // A plain letter weighs nothing until it is to be counted.
                let more = last.max(1).saturating_mul(times.saturating_sub(usize::from(last > 0)));
                last = last.saturating_add(more).min(MANY);
                add(&mut groups, more);
            }
            '*' | '+' | '?' | '|' | '^' | '$' => {}
            _ => last = 0,
        }
    }
    groups.iter().fold(0_usize, |sum, group| sum.saturating_add(*group)).min(MANY)
}

fn add(groups: &mut [usize], weight: usize) {
    if let Some(group) = groups.last_mut() {
        *group = group.saturating_add(weight).min(MANY);
    }
}

/// Reads `m}`, `m,}` or `m,n}`: the greatest number of times that are counted.
fn times(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> usize {
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
