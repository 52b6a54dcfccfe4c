//! Perl.

mod implicit;
mod library;

use std::borrow::Cow;

use self::implicit::{implicit, is_bare};
use self::library::function;
use super::meaning::{Form, Meaning};
use super::names::Names;
use super::scan::{Calls, Dialect, Scan};
use super::stream::{Commas, Stream};
use super::token::{Escapes, Holes, JOIN, Kind, Lexer, Quote, Token, Unread};
use crate::command::{Act, Arg, Concern, Language, Run};
use crate::shell::MAX_TEXT;

pub(super) const DIALECT: Dialect = Dialect {
    language: Language::Perl,
    special,
    function,
    method,
    canonical,
    import,
    extra,
    reached: &[],
    powers: &[],
    joins: JOIN,
    calls: Calls::Bare,
};

fn special<'t>(lexer: &mut Lexer<'t>, out: &mut Vec<Token<'t>>) -> Result<bool, Unread> {
    let rest = lexer.rest();
    let start = lexer.pos;
    let Some(first) = rest.chars().next() else { return Ok(false) };
    let kind = match first {
        '.' => return Ok(lexer.join(out)),
        '#' => {
            lexer.skip_line();
            return Ok(true);
        }
        '=' if starts_line(lexer) && is_letter(rest, 1) => {
            // Documentation, up to `=cut`.
            match rest.find("\n=cut") {
                Some(end) => {
                    lexer.pos += end + 5;
                    lexer.skip_line();
                }
                None => lexer.pos = lexer.text.len(),
            }
            return Ok(true);
        }
        '"' => {
            lexer.pos += 1;
            string(lexer, '"', Holes::Perl)?
        }
        '\'' => {
            lexer.pos += 1;
            string(lexer, '\'', Holes::None)?
        }
        '`' => {
            lexer.pos += 1;
            shell(string(lexer, '`', Holes::Perl)?)
        }
        '$' | '@' => match variable(lexer) {
            Some(kind) => kind,
            None => return Ok(false),
        },
        '/' if is_pattern(lexer, out)? => {
            lexer.pos += 1;
            pattern(lexer, '/')?
        }
        '<' if rest.starts_with("<<") && !out.last().is_some_and(ends_number) => {
            match document(lexer)? {
                Some(kind) => kind,
                None => return Ok(false),
            }
        }
        c if c.is_alphabetic() || c == '_' => match word(lexer, out)? {
            Some(kind) => kind,
            None => return Ok(true),
        },
        _ => return Ok(false),
    };
    out.push(Token { kind, start, end: lexer.pos });
    Ok(true)
}

fn is_letter(text: &str, at: usize) -> bool {
    text.chars().nth(at).is_some_and(char::is_alphabetic)
}

fn ends_number(token: &Token<'_>) -> bool {
    matches!(token.kind, Kind::Number)
        || token.closes()
        || token.name().is_some_and(|name| name.starts_with('$'))
}

fn starts_line(lexer: &Lexer<'_>) -> bool {
    lexer.text.get(..lexer.pos).is_some_and(|before| before.is_empty() || before.ends_with('\n'))
}

fn shell(kind: Kind<'_>) -> Kind<'_> {
    if let Kind::Text(text, _) = kind { Kind::Shell(text) } else { kind }
}

/// Reads a string that `open` opened.
fn string<'t>(lexer: &mut Lexer<'t>, open: char, holes: Holes) -> Result<Kind<'t>, Unread> {
    let close = closing(open);
    let escapes = if holes == Holes::None { Escapes::Plain } else { Escapes::Full };
    let mut buffer = [0; 4];
    let quote = Quote {
        open: (close != open).then_some(open),
        close: close.encode_utf8(&mut buffer),
        escapes,
        holes,
    };
    lexer.quoted(&quote)
}

/// Reads a pattern that `open` opened, with its flags.
fn pattern<'t>(lexer: &mut Lexer<'t>, open: char) -> Result<Kind<'t>, Unread> {
    part(lexer, open)?;
    lexer.skip_name();
    Ok(Kind::Pattern)
}

fn part(lexer: &mut Lexer<'_>, open: char) -> Result<(), Unread> {
    let close = closing(open);
    let holes = if open == '\'' { Holes::None } else { Holes::Perl };
    let mut buffer = [0; 4];
    let close_text: &str = close.encode_utf8(&mut buffer);
    let quote = Quote {
        open: (close != open).then_some(open),
        close: close_text,
        escapes: Escapes::Kept,
        holes,
    };
    let start = lexer.pos;
    lexer.quoted(&quote)?;
    let text = lexer.text.get(start..lexer.pos).unwrap_or_default();
    lexer.evaluates |= text.contains("(?{") || text.contains("(??{");
    Ok(())
}

fn closing(open: char) -> char {
    match open {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '<' => '>',
        other => other,
    }
}

/// Reads a variable with its sigil. `${`, `@{` and `$$x` are left as signs: code follows.
fn variable<'t>(lexer: &mut Lexer<'t>) -> Option<Kind<'t>> {
    let start = lexer.pos;
    let rest = lexer.rest();
    let sigil = rest.chars().next()?;
    let tail = rest.get(1..)?;
    let tail = if sigil == '$' { tail.strip_prefix('#').unwrap_or(tail) } else { tail };
    let next = tail.chars().next()?;
    let skip = rest.len() - tail.len();
    if next.is_alphanumeric() || next == '_' || (next == ':' && tail.starts_with("::")) {
        lexer.pos += skip;
        while lexer.rest().starts_with("::")
            || lexer.peek().is_some_and(|c| c.is_alphanumeric() || c == '_')
        {
            lexer.pos += if lexer.rest().starts_with("::") { 2 } else { 0 };
            lexer.skip_name();
        }
    } else if next == '^' {
        lexer.pos += skip + 1;
        lexer.skip_name();
    } else if next == '{' || next == '$' {
        let follows = tail
            .chars()
            .nth(1)
            .is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '{' || c == '$');
        if next == '{' || follows {
            return None;
        }
        lexer.pos += skip + 1;
    } else if sigil == '$' && next.is_ascii_punctuation() {
        // `$"`, `$'`, `$/` and their like: no quote opens here.
        lexer.pos += 2;
    } else {
        return None;
    }
    Some(Kind::Name(lexer.text.get(start..lexer.pos).unwrap_or_default().into()))
}

fn is_pattern(lexer: &Lexer<'_>, out: &[Token<'_>]) -> Result<bool, Unread> {
    let Some(last) = out.iter().rev().find(|token| !token.is_break()) else { return Ok(true) };
    if out.last().is_some_and(Token::is_break) {
        return Ok(true);
    }
    if last.is("}") {
        // A subscript's end divides, a block's end does not.
        let before = lexer.before_closed.and_then(|at| out.get(at));
        let subscript = before.is_some_and(|token| {
            token.is_sign(&["->", "]", "}", "$", "@", "%"])
                || token.name().is_some_and(|name| name.starts_with(['$', '@']))
        });
        return Ok(!subscript);
    }
    match last.name() {
        Some(name) if name.starts_with(['$', '@']) => Ok(false),
        Some(name) if TAKES_PATTERN.contains(&name) => Ok(true),
        Some(_) => Err(Unread),
        None => Ok(!last.ends_value()),
    }
}

/// Reads a here-document's operator and finds its text.
fn document<'t>(lexer: &mut Lexer<'t>) -> Result<Option<Kind<'t>>, Unread> {
    let rest = lexer.rest();
    let Some(tail) = rest.get(2..) else { return Ok(None) };
    let tail = tail.strip_prefix('~').unwrap_or(tail);
    let indented = rest.get(2..).is_some_and(|tail| tail.starts_with('~'));
    let mark = tail.chars().next();
    let (label, len, raw) = match mark {
        Some(mark @ ('"' | '\'' | '`')) => {
            let body = tail.get(1..).unwrap_or_default();
            let end = body.find(mark).ok_or(Unread)?;
            (body.get(..end).unwrap_or_default(), end + 2, mark == '\'')
        }
        Some(c) if c.is_alphabetic() || c == '_' => {
            let end = tail.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(tail.len());
            (tail.get(..end).unwrap_or_default(), end, false)
        }
        Some(_) | None => return Ok(None),
    };
    lexer.pos += rest.len() - tail.len() + len;
    let (escapes, holes) =
        if raw { (Escapes::Plain, Holes::None) } else { (Escapes::Full, Holes::Perl) };
    let text = lexer.document(label, indented, &Quote { open: None, close: "", escapes, holes })?;
    Ok(Some(if mark == Some('`') { shell(text) } else { text }))
}

/// Reads a word, which may be one that quotes: `qq{…}`, `s/…/…/e`, `y/…/…/`.
fn word<'t>(lexer: &mut Lexer<'t>, out: &mut Vec<Token<'t>>) -> Result<Option<Kind<'t>>, Unread> {
    let start = lexer.pos;
    lexer.skip_name();
    while lexer.rest().starts_with("::") {
        lexer.pos += 2;
        lexer.skip_name();
    }
    let name = lexer.text.get(start..lexer.pos).unwrap_or_default();
    if name == "__END__" || name == "__DATA__" {
        lexer.pos = lexer.text.len();
        return Ok(None);
    }
    let plain = Kind::Name(Cow::Borrowed(name));
    if !["q", "qq", "qw", "qx", "qr", "m", "s", "y", "tr"].contains(&name) {
        return Ok(Some(plain));
    }
    let rest = lexer.rest();
    let trimmed = rest.trim_start();
    let blank = rest.len() != trimmed.len();
    let Some(open) = trimmed.chars().next() else { return Ok(Some(plain)) };
    let last = out.last();
    let key = trimmed.starts_with("=>")
        || (open == '}' && last.is_some_and(|last| last.is("{")))
        || last.is_some_and(|last| last.is_sign(&["->", "&", "%"]) || last.is("sub"))
        // `-s $file` asks for a size.
        || last.is_some_and(|last| last.is("-") && last.end == start);
    let no = open.is_whitespace()
        || matches!(open, ',' | ';' | ')')
        || (blank && (open == '#' || open == '='));
    if key || no || open.is_alphanumeric() || open == '_' {
        return Ok(Some(plain));
    }
    lexer.pos += rest.len() - trimmed.len() + open.len_utf8();
    let holes = if open == '\'' { Holes::None } else { Holes::Perl };
    Ok(Some(match name {
        "q" | "qw" => string(lexer, open, Holes::None)?,
        "qq" => string(lexer, open, Holes::Perl)?,
        "qx" => shell(string(lexer, open, holes)?),
        "m" | "qr" => pattern(lexer, open)?,
        _ => {
            replace(lexer, open, name)?;
            Kind::Pattern
        }
    }))
}

/// Reads the rest of `s/…/…/flags`, `tr` or `y`.
fn replace(lexer: &mut Lexer<'_>, open: char, name: &str) -> Result<(), Unread> {
    if name == "s" {
        part(lexer, open)?;
    } else {
        string(lexer, open, Holes::None)?;
    }
    let mut second = open;
    if closing(open) != open {
        let rest = lexer.rest();
        let trimmed = rest.trim_start();
        second = trimmed.chars().next().ok_or(Unread)?;
        lexer.pos += rest.len() - trimmed.len() + second.len_utf8();
    }
    let start = lexer.pos;
    if name != "s" {
        string(lexer, second, Holes::None)?;
        lexer.skip_name();
        return Ok(());
    }
    // Where it ends is the same whether it is text or code; the flags tell which it is.
    let streams = lexer.streams.len();
    string(lexer, second, if second == '\'' { Holes::None } else { Holes::Perl })?;
    let end = lexer.pos - closing(second).len_utf8();
    let flags = lexer.pos;
    lexer.skip_name();
    let flags = lexer.text.get(flags..lexer.pos).unwrap_or_default();
    if !flags.contains('e') {
        return Ok(());
    }
    lexer.evaluates |= flags.matches('e').count() > 1;
    lexer.streams.truncate(streams);
    // One in another is read twice by each: that must not double with every level.
    lexer.reread += end.saturating_sub(start);
    if lexer.reread > MAX_TEXT {
        return Err(Unread);
    }
    let whole = (lexer.text, lexer.pos);
    (lexer.text, lexer.pos) = (lexer.text.get(..end).unwrap_or_default(), start);
    let read = lexer.stream(None);
    (lexer.text, lexer.pos) = whole;
    read
}

fn import<'t>(_: &mut Names<'t>, _: &Stream<'t>) {}

fn canonical(path: Cow<'_, str>) -> Cow<'_, str> {
    // `POSIX::unlink` is `unlink`; `POSIX::execl` takes its arguments otherwise than `exec`.
    let posix = path.strip_prefix("POSIX::").filter(|name| !name.starts_with("exec"));
    let core = path.strip_prefix("CORE::GLOBAL::").or_else(|| path.strip_prefix("CORE::"));
    let posix = posix.map(|name| if name == "remove" { "unlink" } else { name });
    let short = core.or(posix);
    match short {
        Some(short) => short.to_owned().into(),
        None => path,
    }
}

fn method(name: &str) -> Option<Meaning> {
    matches!(name, "spew" | "spew_utf8" | "spew_raw").then_some(Meaning::Write(0))
}

/// Looks for `open` in its many forms, `eval` of text, and functions called by a name in a text.
fn extra<'t>(scan: &mut Scan<'t, '_>, stream: &Stream<'t>, at: usize) {
    let evaluates = Meaning::Raise(Concern::Evaluates);
    if stream.is(at, "&") && !stream.before(at).is_some_and(Token::ends_value) {
        let named =
            stream.is(at + 1, "{") || stream.name(at + 1).is_some_and(|name| name.starts_with('$'));
        // `\&unlink`: whoever is given it calls it.
        let handed = stream.before(at).is_some_and(|before| before.is("\\"))
            && stream.name(at + 1).is_some_and(|name| scan.names.function(name).is_some());
        if named || handed {
            scan.apply(stream, (at, at + 2), evaluates, Some(&[]));
        }
        return;
    }
    let Some(name) = stream.name(at) else { return };
    if stream.before(at).is_some_and(|before| before.is_dot() || before.is("sub"))
        || stream.is(at + 1, "=>")
    {
        return;
    }
    let open = stream.is(at + 1, "(");
    let from = at + 1 + usize::from(open);
    let args = || {
        let end =
            if open { stream.mate(at + 1) } else { stream.expression_end(from, Commas::Stay) };
        stream.split((from, end))
    };
    match name {
        "eval" if !stream.is(at + 1, "{") => {
            let args = args();
            match args.first() {
                Some(_) => scan.apply(stream, (at, at + 1), Meaning::Code(0), Some(&args)),
                None => scan.apply(stream, (at, at + 1), evaluates, Some(&[])),
            }
        }
        "do" | "require"
            if stream.token(from).is_some_and(Token::is_text)
                || stream.name(from).is_some_and(|name| name.starts_with('$')) =>
        {
            scan.apply(stream, (at, at + 1), Meaning::Script(0), Some(&args()));
        }
        // `<>` opens what is in it, and runs what ends with a pipe.
        "@ARGV"
            if stream.is(at + 1, "=")
                || [at.wrapping_sub(1), at.wrapping_sub(2)].iter().any(|before| {
                    ["push", "unshift", "splice"].iter().any(|word| stream.is(*before, word))
                }) =>
        {
            scan.apply(stream, (at, at + 1), Meaning::Raise(Concern::Spawns), Some(&[]));
        }
        "$ARGV" if stream.is(at + 1, "[") && stream.is(stream.after(at + 1), "=") => {
            scan.apply(stream, (at, at + 1), Meaning::Raise(Concern::Spawns), Some(&[]));
        }
        // `IO::File->new("id |")` opens as `open` does.
        "IO::File" => {
            let new = at + 1 + if stream.is(at + 1, "->") { 2 } else { 0 };
            if stream.is(new, "(") {
                let args = stream.split((new + 1, stream.mate(new)));
                let mode = args.get(1).map(|mode| scan.arg(stream, *mode).0);
                match (args.first(), mode) {
                    (Some(path), None) => opens(scan, stream, at, &[(at, at + 1), *path]),
                    (_, Some(mode)) => {
                        let reads = matches!(mode.as_known(), Some("r" | "<"));
                        let pipes = mode.text.contains('|');
                        let meaning = match (reads, pipes) {
                            (true, _) => Meaning::Read(0),
                            (_, true) => Meaning::Raise(Concern::Spawns),
                            (false, false) => Meaning::Write(0),
                        };
                        scan.apply(stream, (at, at + 1), meaning, Some(&args));
                    }
                    (None, None) => {}
                }
            }
        }
        "open" => opens(scan, stream, at, &args()),
        "unlink" | "rmdir" | "mkdir" | "require" if is_bare(stream, from) => {
            implicit(scan, stream, name);
        }
        "use" | "no" => {
            let module = stream.name(at + 1).unwrap_or_default();
            if module.starts_with("Inline") || module == "lib" {
                scan.apply(stream, (at, at + 2), evaluates, Some(&[]));
            }
        }
        _ => {}
    }
}

/// Judges `open(F, ">file")`, `open(F, ">", "file")` and pipes.
fn opens<'t>(scan: &mut Scan<'t, '_>, stream: &Stream<'t>, at: usize, args: &[(usize, usize)]) {
    let whole = (at, at + 1);
    let Some(second) = args.get(1) else {
        return scan.apply(stream, whole, Meaning::Raise(Concern::Unclear), Some(&[]));
    };
    let (mode, _) = scan.arg(stream, *second);
    let text = mode.text.trim().to_owned();
    if text == "-|" || text == "|-" {
        let program = args.get(2..).unwrap_or_default();
        return scan.apply(stream, whole, Meaning::Argv(Form::Words), Some(program));
    }
    if text.starts_with('|') || text.ends_with('|') {
        let command = scan.out.arg(
            text.trim_matches('|').trim().to_owned(),
            mode.span.start(),
            mode.span.end(),
        );
        let command = Arg { span: mode.span, ..command };
        return match command.as_known() {
            Some(_) => scan.out.act(Act::Run(Run::Shell(command))),
            None => scan.apply(stream, whole, Meaning::Raise(Concern::Spawns), Some(&[])),
        };
    }
    let sign: String = text.chars().take_while(|c| "+<>&=".contains(*c)).collect();
    let writes = sign.contains(['>', '+']);
    if args.len() > 2 {
        // A mode that is not known may be a pipe.
        if sign.is_empty() {
            return scan.apply(stream, whole, Meaning::Raise(Concern::Spawns), Some(&[]));
        }
        let meaning = if writes { Meaning::Write(2) } else { Meaning::Read(2) };
        if !sign.contains('&') {
            scan.apply(stream, whole, meaning, Some(args));
        }
        return;
    }
    if sign.is_empty() && mode.as_known().is_none() {
        // `open(F, $x)` runs a program if `$x` says so.
        return scan.apply(stream, whole, Meaning::Raise(Concern::Spawns), Some(&[]));
    }
    if sign.contains('&') {
        return;
    }
    let path = text.get(sign.len()..).unwrap_or_default().trim_start().to_owned();
    let path = Arg { span: mode.span, ..scan.out.arg(path, 0, 0) };
    scan.out.act(if writes { Act::Write(path) } else { Act::Read(path) });
}

/// Words behind which a slash begins a pattern.
const TAKES_PATTERN: [&str; 24] = [
    "and", "cmp", "eq", "ge", "grep", "gt", "if", "join", "le", "lt", "map", "ne", "not", "or",
    "print", "push", "return", "say", "split", "unless", "until", "when", "while", "xor",
];
