//! Regular expressions of profiles, as far as they say what a path pattern can say.

use super::place::{Place, Reach, push_literal};
use crate::text::visible;

/// More ways than this to read one expression are not followed.
const MOST_WAYS: usize = 32;

/// Groups that stand for any number of folders.
const DEEP: [&str; 3] = ["(.*/)?", "(?:.*/)?", "([^/]+/)*"];
/// Endings that stand for the path itself and everything below.
const TREE: [&str; 4] = ["(/|$)", "($|/)", "(/.*)?$", "(?:/|$)"];

/// Returns the paths that a regular expression matches.
///
/// # Errors
///
/// Why no path patterns match exactly the same paths.
pub(super) fn places(regex: &str) -> Result<Vec<Place>, String> {
    let rest = regex
        .strip_prefix('^')
        .filter(|rest| rest.starts_with('/'))
        .ok_or("it is not anchored: it must start with `^/`, or it would search the whole disk")?;
    let (body, end) = ending(rest);
    let mut parser = Parser { rest: body, depth: 0 };
    let ways = parser.sequence()?;
    if !parser.rest.is_empty() {
        return Err("a `)` closes nothing".into());
    }
    let mut places = Vec::new();
    for way in ways.iter().filter(|way| !way.contains("//")) {
        let (glob, reach) = match end {
            Ending::Exact if way.ends_with('/') && way.len() > 1 => continue,
            Ending::Exact => (way.clone(), Reach::Exact),
            Ending::Tree => (way.clone(), Reach::Tree),
            Ending::Open if way == "/" => (way.clone(), Reach::Tree),
            Ending::Open if way.ends_with('/') => (way.trim_end_matches('/').into(), Reach::Below),
            Ending::Open if ends_in_star(way) => (way.clone(), Reach::Tree),
            Ending::Open => (format!("{way}*"), Reach::Tree),
        };
        places.extend(Place::globs(&glob, reach).map_err(|invalid| invalid.problem().to_owned())?);
    }
    if places.is_empty() {
        return Err("it matches no path".into());
    }
    Ok(places)
}

/// How an expression ends.
enum Ending {
    /// With `$`.
    Exact,
    /// With nothing, or anything at all.
    Open,
    /// With a slash or the end.
    Tree,
}

fn ending(rest: &str) -> (&str, Ending) {
    if let Some(body) = TREE.iter().find_map(|tree| rest.strip_suffix(tree)) {
        return (body, Ending::Tree);
    }
    let dollar = rest.strip_suffix('$').filter(|body| !ends_escaped(body));
    let body = dollar.unwrap_or(rest);
    match body.strip_suffix(".*").or_else(|| body.strip_suffix(".+").filter(|b| b.ends_with('/'))) {
        Some(body) if !ends_escaped(body) => (body, Ending::Open),
        Some(_) | None if dollar.is_some() => (body, Ending::Exact),
        Some(_) | None => (body, Ending::Open),
    }
}

fn ends_escaped(text: &str) -> bool {
    (text.len() - text.trim_end_matches('\\').len()) % 2 == 1
}

/// Turns an expression into globs, one for each way to read it.
struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl Parser<'_> {
    /// Reads up to a `|` or `)` of the group around, or the end.
    fn sequence(&mut self) -> Result<Vec<String>, String> {
        let mut ways = vec![String::new()];
        while let Some(c) = self.rest.chars().next() {
            if matches!(c, '|' | ')') && self.depth > 0 {
                break;
            }
            if let Some(deep) = DEEP.iter().find(|deep| self.rest.starts_with(**deep)) {
                // `**` is a component of its own, so it must stand at the start of one.
                if ways.iter().any(|way| !way.ends_with('/')) || self.depth > 0 {
                    return Err(format!("`{deep}` must follow a `/`"));
                }
                self.rest = &self.rest[deep.len()..];
                ways.iter_mut().for_each(|way| way.push_str("**/"));
                continue;
            }
            let piece = self.piece(c)?;
            if let [only] = piece.as_slice() {
                ways.iter_mut().for_each(|way| append(way, only));
                continue;
            }
            ways = ways
                .iter()
                .flat_map(|way| piece.iter().map(move |more| join(way, more)))
                .take(MOST_WAYS + 1)
                .collect();
            if ways.len() > MOST_WAYS {
                return Err(format!("it can be read in more than {MOST_WAYS} ways"));
            }
        }
        Ok(ways)
    }

    /// Reads one character, set or group with what follows it.
    fn piece(&mut self, c: char) -> Result<Vec<String>, String> {
        let all = self.rest;
        let once = match c {
            '(' => {
                self.rest = all.strip_prefix("(?:").unwrap_or(&all[1..]);
                self.group()?
            }
            '[' => vec![self.set()?],
            '.' => {
                self.rest = &all[1..];
                if let Some(rest) = self.rest.strip_prefix('*') {
                    self.rest = rest;
                    return Ok(vec!["*".into(), "*/**/*".into()]);
                }
                vec!["?".into(), "/".into()]
            }
            '\\' => {
                let literal = all[1..].chars().next().ok_or("it ends in a backslash")?;
                if literal.is_alphanumeric() {
                    return Err(format!("`\\{literal}` says what no path pattern can"));
                }
                self.rest = &all[1 + literal.len_utf8()..];
                vec![glob_of(literal)]
            }
            '^' | '$' | '*' | '+' | '?' | '{' | '}' | '|' | ')' | ']' => {
                return Err(format!("`{c}` at this place says what no path pattern can"));
            }
            c => {
                self.rest = &all[c.len_utf8()..];
                vec![glob_of(c)]
            }
        };
        self.repeated(once, all)
    }

    /// Reads what says how often a piece stands there.
    fn repeated(&mut self, mut once: Vec<String>, from: &str) -> Result<Vec<String>, String> {
        let Some(mark) = self.rest.chars().next().filter(|c| "*+?{".contains(*c)) else {
            return Ok(once);
        };
        let name = once.len() == 1 && once[0] == "?" && from.starts_with("[^/]");
        self.rest = &self.rest[1..];
        match mark {
            '?' => once.push(String::new()),
            '*' if name => once = vec!["*".into()],
            '+' if name => once = vec!["?*".into()],
            _ => {
                let piece: String = from[..from.len() - self.rest.len()].chars().take(40).collect();
                return Err(format!("no path pattern can say `{}`", visible(&piece)));
            }
        }
        if self.rest.starts_with(['*', '+', '?', '{']) {
            return Err("two repetitions stand side by side".into());
        }
        Ok(once)
    }

    /// Reads a group whose `(` has been read.
    fn group(&mut self) -> Result<Vec<String>, String> {
        if self.depth == 8 {
            return Err("its groups nest too deep".into());
        }
        self.depth += 1;
        let mut ways = self.sequence()?;
        while let Some(rest) = self.rest.strip_prefix('|') {
            self.rest = rest;
            ways.extend(self.sequence()?);
        }
        self.depth -= 1;
        self.rest = self.rest.strip_prefix(')').ok_or("a `(` is never closed")?;
        Ok(ways)
    }

    /// Reads a set. It must not match a slash, as no set of a path pattern does.
    fn set(&mut self) -> Result<String, String> {
        let mut chars = self.rest[1..].chars();
        let mut ranges: Vec<(char, char)> = Vec::new();
        let negated = chars.as_str().starts_with('^');
        if negated {
            chars.next();
        }
        let unclosed = "a `[` is never closed";
        loop {
            match chars.next().ok_or(unclosed)? {
                ']' if !ranges.is_empty() => break,
                '\\' => {
                    let c = chars.next().ok_or(unclosed)?;
                    ranges.push((c, c));
                }
                '[' => return Err("a named class says what no path pattern can".into()),
                '-' if !ranges.is_empty() && !chars.as_str().starts_with(']') => {
                    let (low, _) = ranges.pop().ok_or("a range has no start")?;
                    let high = chars.next().ok_or(unclosed)?;
                    if !(low.is_ascii_alphanumeric() && high.is_ascii_alphanumeric() && low <= high)
                    {
                        return Err("a range is not clear".into());
                    }
                    ranges.push((low, high));
                }
                c => ranges.push((c, c)),
            }
        }
        self.rest = chars.as_str();
        if ranges.contains(&('/', '/')) != negated {
            return Err("a set that matches `/` says what no path pattern can".into());
        }
        ranges.retain(|range| *range != ('/', '/'));
        if ranges.is_empty() {
            return Ok("?".into());
        }
        let mut set = String::from(if negated { "[!" } else { "[" });
        for (low, high) in ranges {
            push_member(&mut set, low);
            if low != high {
                set.push('-');
                push_member(&mut set, high);
            }
        }
        set.push(']');
        Ok(set)
    }
}

fn push_member(set: &mut String, c: char) {
    if matches!(c, ']' | '[' | '\\' | '-' | '!' | '^') {
        set.push('\\');
    }
    set.push(c);
}

/// Adds to a glob; a `*` after a `*` adds nothing.
fn append(way: &mut String, more: &str) {
    way.push_str(more.strip_prefix('*').filter(|_| ends_in_star(way)).unwrap_or(more));
}

fn join(way: &str, more: &str) -> String {
    let mut joined = way.to_owned();
    append(&mut joined, more);
    joined
}

fn ends_in_star(glob: &str) -> bool {
    glob.strip_suffix('*').is_some_and(|before| !ends_escaped(before))
}

fn glob_of(c: char) -> String {
    let mut glob = String::new();
    push_literal(&mut glob, c);
    glob
}
