//! Shell text: its words are what the shell makes of them, and nothing between them is taken for a value.

use std::collections::HashSet;
use std::ops::Range;

use palisade_policy::shell::{self, CommandKind, Part, Redirection, RedirectionOperator, Word};

use super::value::gone;
use super::{HOLE, Within, name, text, word};

/// What is told in place of a part of the text.
type Change = (Range<usize>, String);

/// Returns shell text, with secrets taken out. One that cannot be read is looked at as text.
pub(super) fn redact(source: &str, depth: usize) -> String {
    // What stands for an expansion below stands for nothing else.
    let source = &*source.replace(HOLE, "\u{fffd}");
    let Ok(script) = shell::parse(source) else { return text::redact(source, Within::Shell) };
    let mut changes: Vec<Change> = Vec::new();
    let mut known: HashSet<Range<usize>> = HashSet::new();
    let mut covered: Vec<Range<usize>> = Vec::new();
    script.every_part(&mut |part| match part {
        Part::Command(command) => {
            if let CommandKind::Simple(simple) = &command.kind {
                let words: Vec<Flat<'_>> =
                    simple.words.iter().map(|it| Flat::of(source, place(it))).collect();
                known.extend(words.iter().map(|it| it.place.clone()));
                commanded(&words, depth, &mut changes);
                heard(&words, &command.redirections, source, &mut changes);
            }
        }
        Part::Assignment(assignment) => {
            let value = Flat::of(source, place(&assignment.value));
            if name::is_secret(&assignment.name) {
                known.insert(value.place.clone());
                let told = gone(&value.text);
                value.change(told, depth, &mut changes);
            }
        }
        Part::Redirection(redirection) => {
            let body = place(&redirection.target);
            if redirection.operator == RedirectionOperator::Heredoc {
                known.insert(body.clone());
                covered.push(body.clone());
                let told = text::redact(source.get(body.clone()).unwrap_or_default(), Within::Data);
                changes.push((body, told));
            }
        }
        Part::Word(word) => {
            covered.push(place(word));
            if known.contains(&place(word)) {
                return;
            }
            let flat = Flat::of(source, place(word));
            let told = word::alone(&flat.text);
            flat.change(told, depth, &mut changes);
        }
    });
    comments(source, covered, &mut changes);
    applied(source, changes)
}

fn place(word: &Word<'_>) -> Range<usize> {
    word.span.start()..word.span.end()
}

/// Looks at the words of one command.
fn commanded(words: &[Flat<'_>], depth: usize, changes: &mut Vec<Change>) {
    let texts: Vec<String> = words.iter().map(|it| it.text.clone()).collect();
    let told = word::redact(&texts, depth);
    for (word, told) in words.iter().zip(told) {
        word.change(told, depth, changes);
    }
}

/// Looks at what a command is told on its standard input, where it says that this is a secret.
fn heard(
    words: &[Flat<'_>],
    redirections: &[Redirection<'_>],
    source: &str,
    changes: &mut Vec<Change>,
) {
    let asks = |word: &Flat<'_>| {
        word.text.ends_with("-stdin") && word.text.contains("pass")
            || !word.text.starts_with('-') && name::is_secret(&word.text)
            || name::is_option(&word.text)
    };
    if !words.iter().any(asks) {
        return;
    }
    let lines = redirections.iter().filter(|it| it.operator == RedirectionOperator::HereString);
    for redirection in lines {
        let value = Flat::of(source, place(&redirection.target));
        let told = gone(&value.text);
        value.change(told, 0, changes);
    }
}

/// Looks at what is no part of any command.
fn comments(source: &str, mut covered: Vec<Range<usize>>, changes: &mut Vec<Change>) {
    covered.sort_by_key(|it| it.start);
    covered.push(source.len()..source.len());
    let mut at = 0;
    for word in covered {
        if let Some(gap) = source.get(at..word.start)
            && let Some(mark) = gap.find('#')
        {
            let begin = at + mark;
            let told =
                text::redact(source.get(begin..word.start).unwrap_or_default(), Within::Shell);
            changes.push((begin..word.start, told));
        }
        at = at.max(word.end);
    }
}

/// Carries the changes out, the outer one where one is inside another.
fn applied(source: &str, mut changes: Vec<Change>) -> String {
    changes.retain(|(place, told)| source.get(place.clone()).is_some_and(|was| was != told));
    changes.sort_by_key(|(place, _)| (place.start, usize::MAX - place.end));
    let mut told = String::with_capacity(source.len());
    let mut at = 0;
    for (place, new) in changes {
        if place.start < at {
            continue;
        }
        told.push_str(source.get(at..place.start).unwrap_or_default());
        told.push_str(&new);
        at = place.end;
    }
    told.push_str(source.get(at..).unwrap_or_default());
    told
}

/// A word without its quotes. What the shell would put in is one character, and kept beside.
struct Flat<'s> {
    source: &'s str,
    place: Range<usize>,
    text: String,
    holes: Vec<&'s str>,
}

impl<'s> Flat<'s> {
    fn of(whole: &'s str, place: Range<usize>) -> Self {
        let source = whole.get(place.clone()).unwrap_or_default();
        let mut flat = Self { source, place, text: String::new(), holes: Vec::new() };
        let mut at = 0;
        let mut quote = false;
        while let Some(rest) = source.get(at..).filter(|rest| !rest.is_empty()) {
            let first = rest.chars().next().unwrap_or_default();
            let second = rest.get(first.len_utf8()..).unwrap_or_default();
            at += match first {
                '"' => {
                    quote = !quote;
                    1
                }
                '\'' if !quote => {
                    let end = second.find('\'').unwrap_or(second.len());
                    flat.text.push_str(second.get(..end).unwrap_or_default());
                    (end + 2).min(rest.len())
                }
                '\\' => {
                    let next = second.chars().next();
                    flat.text.extend(next.filter(|c| *c != '\n'));
                    1 + next.map_or(0, char::len_utf8)
                }
                '$' if !quote && second.starts_with('\'') => {
                    let inside = second.get(1..).unwrap_or_default();
                    let end = ansi_end(inside);
                    flat.text.push_str(inside.get(..end).unwrap_or_default());
                    (end + 3).min(rest.len())
                }
                '$' if !quote && second.starts_with('"') => 1,
                '$' | '`' | '<' | '>' => match expansion(rest) {
                    0 => {
                        flat.text.push(first);
                        1
                    }
                    length => {
                        flat.text.push(HOLE);
                        flat.holes.push(rest.get(..length).unwrap_or_default());
                        length
                    }
                },
                _ => {
                    flat.text.push(first);
                    first.len_utf8()
                }
            };
        }
        flat
    }

    /// Notes what is told in place of the word, if that is something else.
    fn change(&self, told: String, depth: usize, changes: &mut Vec<Change>) {
        if told == self.text {
            return;
        }
        let quote = self.source.chars().next().filter(|it| ['"', '\''].contains(it));
        let around = quote.filter(|it| self.source.len() > 1 && self.source.ends_with(*it));
        let is_special = |c: char| c.is_whitespace() || ";|&<>()'\"`\\#*?~".contains(c);
        let quote = match around {
            Some(quote) if !told.contains(quote) => Some(quote),
            Some(_) | None if told.contains(is_special) => {
                Some(if told.contains(HOLE) || told.contains('\'') { '"' } else { '\'' })
            }
            Some(_) | None => None,
        };
        let mut new = String::with_capacity(told.len() + 2);
        new.extend(quote);
        let mut holes = self.holes.iter();
        for c in told.chars() {
            match (c, holes.as_slice()) {
                (HOLE, [hole, ..]) => {
                    new.push_str(&within(hole, depth));
                    holes.next();
                }
                _ => new.push(c),
            }
        }
        // None is lost: each may be a command.
        for hole in holes {
            new.push_str(&within(hole, depth));
        }
        new.extend(quote);
        changes.push((self.place.clone(), new));
    }
}

/// Returns what the shell would put in, without the secrets in it.
fn within(hole: &str, depth: usize) -> String {
    let inner = |open: &str, close: &str| hole.strip_prefix(open)?.strip_suffix(close);
    for (open, close) in [("$(", ")"), ("<(", ")"), (">(", ")"), ("`", "`")] {
        if let Some(inner) = inner(open, close).filter(|_| depth < 8) {
            return format!("{open}{}{close}", redact(inner, depth + 1));
        }
    }
    text::redact(hole, Within::Shell)
}

/// Finds the end of `$'…'`.
fn ansi_end(inside: &str) -> usize {
    let mut escaped = false;
    for (at, c) in inside.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\'' => return at,
            _ => {}
        }
    }
    inside.len()
}

/// Returns how long an expansion is that a text begins with; nothing if there is none.
fn expansion(text: &str) -> usize {
    let second = text.chars().nth(1);
    match (text.chars().next(), second) {
        (Some('`'), _) => {
            let rest = text.get(1..).unwrap_or_default();
            let mut escaped = false;
            for (at, c) in rest.char_indices() {
                match c {
                    _ if escaped => escaped = false,
                    '\\' => escaped = true,
                    '`' => return at + 2,
                    _ => {}
                }
            }
            text.len()
        }
        (Some('$' | '<' | '>'), Some('(')) => 1 + closed(text.get(1..).unwrap_or_default()),
        (Some('$'), Some('{' | '[')) => 1 + closed(text.get(1..).unwrap_or_default()),
        (Some('$'), Some(c)) if c.is_ascii_alphabetic() || c == '_' => {
            let rest = text.get(1..).unwrap_or_default();
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            1 + end.unwrap_or(rest.len())
        }
        (Some('$'), Some(c)) if c.is_ascii_digit() || "@*#?$!-".contains(c) => 2,
        _ => 0,
    }
}

/// Finds the end of what a bracket opens, quotes and brackets inside it included.
fn closed(text: &str) -> usize {
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some('\''), '\'') => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => escaped = true,
            (Some('"'), '"') => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (_, '(' | '{' | '[') => depth += 1,
            (_, ')' | '}' | ']') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            (_, _) => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What runs: the name of each command, as it is written.
    fn run(text: &str) -> Vec<String> {
        let mut names = Vec::new();
        let script = shell::parse(text).unwrap();
        script.every_simple(&mut |simple| {
            names.push(
                simple
                    .words
                    .first()
                    .map_or(String::new(), |it| text.get(place(it)).unwrap_or_default().to_owned()),
            );
        });
        names
    }

    #[test]
    fn what_runs_is_told_whatever_stands_beside_it() {
        #[rustfmt::skip]
        let cases = [
            ("true Cookie: x; rm -rf src; curl evil",   "true Cookie: x; rm -rf src; curl evil"),
            ("PASSWORD=$(rm -rf src)",                  "PASSWORD=$(rm -rf src)"),
            ("PASSWORD=a$(rm -rf src)b",                "PASSWORD=[redacted]$(rm -rf src)[redacted]"),
            ("PASSWORD=1;rm${IFS}-rf",                  "PASSWORD=[redacted];rm${IFS}-rf"),
            ("true --token\ntouch hid",                 "true --token\ntouch hid"),
            ("true --token;touch hid",                  "true --token;touch hid"),
            ("true --token abc|tee hid",                "true --token [redacted]|tee hid"),
            ("true --token \"$(cat f; rm x)\"",         "true --token \"$(cat f; rm x)\""),
            ("true --token `rm x`",                     "true --token `rm x`"),
            ("true --token $TOKEN",                     "true --token $TOKEN"),
            ("password: rm -rf src",                    "password: rm -rf src"),
            ("true # Authorization: x\ntouch hid",      "true # Authorization: [redacted]\ntouch hid"),
            ("echo token= hid",                         "echo token= hid"),
            ("TOKEN=<(rm x)",                           "TOKEN=<(rm x)"),
            ("true -----BEGIN RSA PRIVATE KEY-----; rm x", "true -----BEGIN RSA PRIVATE KEY-----; rm x"),
            ("bash -c 'Cookie: x; rm -rf src'",         "bash -c 'Cookie: x; rm -rf src'"),
            ("bash -c \"x --token a; rm -rf src\"",     "bash -c \"x --token [redacted]; rm -rf src\""),
            ("ssh h 'PASSWORD=x rm -rf src'",           "ssh h 'PASSWORD=[redacted] rm -rf src'"),
            ("curl -H 'Cookie: a=b; rm -rf src' u; rm x", "curl -H 'Cookie: [redacted]' u; rm x"),
            ("watch 'Cookie: x; rm -rf src'",           "watch 'Cookie: x; rm -rf src'"),
            ("python3 -c 'system(\"Cookie: x; rm -rf src\")'", "python3 -c 'system(\"Cookie: [redacted]; rm -rf src\")'"),
            ("cat <<E\npassword: a b\nE\nrm x",         "cat <<E\npassword: [redacted]\nE\nrm x"),
            ("x --token $(y --token abc; rm z)",        "x --token $(y --token [redacted]; rm z)"),
        ];
        for (text, told) in cases {
            assert_eq!(redact(text, 0), told);
            assert_eq!(run(told), run(text), "{text}");
        }
        // What nobody can read is looked at as text, and loses no command either.
        let told = redact("if true Cookie: x; rm -rf src; --token a; rm b; PASSWORD=x;curl y", 0);
        assert!(
            told.contains("rm -rf src") && told.contains("rm b") && told.contains("curl y"),
            "{told}"
        );
    }

    #[test]
    fn quotes_around_a_name_or_in_a_value_hide_no_secret() {
        for text in [
            "export PASSWORD='a b S3CR'",
            "PASSWORD=$'a\\nS3CR' true",
            "true --pass''word=S3CR",
            "true --pass\\word=S3CR",
            "true \"--password\" S3CR",
            "true --password \\\n S3CR",
            "PASSWORD=( S3CR )",
            "PASSWORD+=S3CR",
            "declare -x TOKEN=S3CR",
            "TOKEN='S3'\"CR\"x",
            "read -r TOKEN <<< S3CR",
            "docker login --password-stdin <<< S3CR",
            "cat <<E\npassword=S3CR\nE",
            "bash -c \"true --password 'S3CR'\"",
            "env \"PASSWORD=a S3CR\" true",
            "python3 -c 'login(password=\"S3CR\")'",
            "http_proxy=http://bob:S3CR@p true",
            "true $(curl -u me:S3CR h)",
            "curl -H \"X-Api-Key: a S3CR\" x",
        ] {
            let told = redact(text, 0);
            assert!(!told.contains("S3CR") && told.contains("[redacted]"), "{text}: {told}");
            assert_eq!(run(&told), run(text), "{text}: {told}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_command_is_lost_in_what_is_told(
            parts in proptest::collection::vec(0..PARTS.len(), 1..9)
        ) {
            let text: Vec<&str> = parts.iter().filter_map(|at| PARTS.get(*at).copied()).collect();
            let text = text.join(" ");
            let told = redact(&text, 0);
            if shell::parse(&text).is_ok() {
                let (told_run, run) = (run(&told), run(&text));
                proptest::prop_assert_eq!(told_run.len(), run.len(), "{}", told);
                for (told, name) in told_run.iter().zip(&run) {
                    proptest::prop_assert!(told == name || told.contains("[redacted]"), "{}", told);
                }
            }
            proptest::prop_assert!(!told.contains(HOLE));
        }
    }

    const PARTS: [&str; 26] = [
        "rm x",
        ";",
        "|",
        "&&",
        "\n",
        "--token",
        "--token=a",
        "PASSWORD=b",
        "Cookie: c",
        "Bearer",
        "-u a:b",
        "'a b'",
        "\"$(rm y)\"",
        "`rm z`",
        "<(rm q)",
        "# Authorization: d",
        "<<< e",
        "(",
        ")",
        "curl -H 'X-Api-Key: f'",
        "bash -c 'rm w; --token g'",
        "https://h:i@j",
        "password:",
        "= k",
        "true",
        "$'a\\'b'",
    ];
}
