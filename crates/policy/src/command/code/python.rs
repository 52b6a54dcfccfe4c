//! Python.

mod library;

use std::borrow::Cow;

use icu_normalizer::ComposingNormalizerBorrowed;

use self::library::{function, method};
use super::meaning::Meaning;
use super::names::{Bound, Names};
use super::scan::{Calls, Dialect, STARS, Scan};
use super::stream::Stream;
use super::token::{Escapes, Holes, Kind, Lexer, Quote, Token, Unread};
use super::value::Sort;
use crate::command::{Act, Arg, Certainty, Concern, Language};

pub(super) const DIALECT: Dialect = Dialect {
    language: Language::Python,
    special,
    function,
    method,
    canonical,
    import,
    extra,
    reached: REACHED,
    powers: &["os", "posix", "subprocess", "pty", "builtins", "importlib", "ctypes", "sys.modules"],
    joins: "+",
    calls: Calls::Parens,
};

fn special<'t>(lexer: &mut Lexer<'t>, out: &mut Vec<Token<'t>>) -> Result<bool, Unread> {
    let rest = lexer.rest();
    if rest.starts_with('#') {
        lexer.skip_line();
        return Ok(true);
    }
    let starts = out.last().is_none_or(Token::is_break);
    // Lines for the shell and commands of its own: what only an interactive Python takes.
    if starts && rest.starts_with('%') {
        return Err(Unread);
    }
    if rest.starts_with('!') && (starts || out.last().is_some_and(|last| last.is("="))) {
        let start = lexer.pos;
        lexer.skip_line();
        let line = rest.get(..lexer.pos - start).unwrap_or_default().trim_start_matches('!');
        out.push(Token { kind: Kind::Shell(line.into()), start, end: lexer.pos });
        return Ok(true);
    }
    if let Some(tail) = rest.strip_prefix('\\') {
        let ends = tail.strip_prefix('\r').unwrap_or(tail);
        lexer.pos += rest.len() - ends.strip_prefix('\n').ok_or(Unread)?.len();
        return Ok(true);
    }
    // Python reads names in their plain form: a wide or a bold letter is the letter.
    if rest.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        let part = |c: char| c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii();
        let end = rest.find(|c| !part(c)).unwrap_or(rest.len());
        let name = rest.get(..end).unwrap_or_default();
        if !name.is_ascii() {
            let plain = ComposingNormalizerBorrowed::new_nfkc().normalize(name);
            let start = lexer.pos;
            lexer.pos += end;
            out.push(Token { kind: Kind::Name(plain), start, end: lexer.pos });
            return Ok(true);
        }
    }
    let prefix =
        rest.find(|c: char| !matches!(c.to_ascii_lowercase(), 'r' | 'b' | 'u' | 'f' | 't'));
    let (Some(prefix), true) = (prefix, prefix.is_some_and(|prefix| prefix <= 2)) else {
        return Ok(false);
    };
    let (letters, body) = rest.split_at(prefix);
    let Some(mark @ ('"' | '\'')) = body.chars().next() else { return Ok(false) };
    let has = |letters: &str, wanted: &[char]| letters.contains(wanted);
    let triple = if mark == '"' { "\"\"\"" } else { "'''" };
    let close = if body.starts_with(triple) { triple } else { triple.get(..1).unwrap_or_default() };
    let start = lexer.pos;
    lexer.pos += prefix + close.len();
    let kind = lexer.quoted(&Quote {
        open: None,
        close,
        escapes: if has(letters, &['r', 'R']) { Escapes::Kept } else { Escapes::Full },
        holes: if has(letters, &['f', 'F', 't', 'T']) { Holes::Brace } else { Holes::None },
    })?;
    out.push(Token { kind, start, end: lexer.pos });
    Ok(true)
}

fn canonical(path: Cow<'_, str>) -> Cow<'_, str> {
    let path = match path.strip_suffix(".__call__") {
        Some(called) => Cow::Owned(called.to_owned()),
        None => path,
    };
    let path = reached(&path).map_or(path, Cow::Owned);
    // The same things under other names.
    for (from, to) in [
        ("builtins.", ""),
        ("__builtin__.", ""),
        ("posix.", "os."),
        ("nt.", "os."),
        ("io.open", "open"),
        ("codecs.open", "open"),
        ("setuptools.distutils.", "distutils."),
        ("setuptools._distutils.", "distutils."),
        ("io.FileIO", "open"),
        ("pathlib.Path.", "Path."),
        ("urllib2.", "urllib.request."),
        ("urllib.urlopen", "urllib.request.urlopen"),
        ("urllib.urlretrieve", "urllib.request.urlretrieve"),
    ] {
        if let Some(tail) = path.strip_prefix(from) {
            return format!("{to}{tail}").into();
        }
    }
    path
}

/// Returns the last module that a path goes through, with what follows: `os.remove` for
/// `pathlib.os.remove`.
fn reached(path: &str) -> Option<String> {
    let (mut found, mut start) = (None, 0);
    let mut before = "";
    for (at, _) in path.match_indices('.') {
        let part = path.get(start..at).unwrap_or_default();
        let plain = part.strip_prefix('_').unwrap_or(part);
        // What asyncio has under this name is its own.
        let own = before == "asyncio" && plain == "subprocess";
        if !own && REACHED.contains(&part) {
            let tail = path.get(at..).unwrap_or_default();
            found = Some((if part == "__self__" { "builtins" } else { plain }, tail));
        }
        (before, start) = (part, at + 1);
    }
    found.map(|(module, tail)| format!("{module}{tail}"))
}

/// Modules that other modules have as members, and so whoever has those.
const REACHED: &[&str] = &[
    "__self__",
    "_codecs",
    "_io",
    "_os",
    "_pickle",
    "_shutil",
    "_socket",
    "_subprocess",
    "_sys",
    "builtins",
    "codecs",
    "fileinput",
    "glob",
    "importlib",
    "io",
    "linecache",
    "marshal",
    "os",
    "pickle",
    "posix",
    "pty",
    "runpy",
    "shutil",
    "socket",
    "subprocess",
    "sys",
    "tokenize",
];

/// Takes in `import a.b as c` and `from a import b as c`.
fn import<'t>(names: &mut Names<'t>, stream: &Stream<'t>) {
    let mut at = 0;
    while at < stream.tokens.len() {
        let start = at;
        at += 1;
        let starts = stream.before(start).is_none_or(|before| before.is_break() || before.is(":"));
        if let (true, Some(name)) = (stream.is(start, "def"), stream.name(at)) {
            names.bounds.entry(name.to_owned()).or_insert(Bound::Function);
        }
        if let (true, Some(name)) = (stream.is(start, "class"), stream.name(at))
            && names.classes.len() < STARS
        {
            names.classes.push(name.to_owned());
        }
        let module = match stream.name(start) {
            Some("from") if starts => {
                let (path, end) = dotted(stream, at);
                if !stream.is(end, "import") {
                    continue;
                }
                at = end + 1;
                Some(path)
            }
            Some("import") if starts => None,
            _ => continue,
        };
        loop {
            at += usize::from(stream.is(at, "("));
            if let (Some(module), true) = (&module, stream.is(at, "*")) {
                if names.stars.len() <= STARS && !names.stars.contains(module) {
                    names.stars.push(module.clone());
                }
                at += 1;
            } else {
                let (path, end) = dotted(stream, at);
                if path.is_empty() {
                    break;
                }
                let first = path.split('.').next().unwrap_or_default();
                let renamed = stream.is(end, "as").then(|| stream.name(end + 1)).flatten();
                match (&module, renamed) {
                    (Some(module), name) => {
                        names.alias(name.unwrap_or(&path), &format!("{module}.{path}"));
                    }
                    (None, Some(name)) => names.alias(name, &path),
                    (None, None) => names.alias(first, first),
                }
                at = if renamed.is_some() { end + 2 } else { end };
            }
            at += usize::from(stream.is(at, ")"));
            if !stream.is(at, ",") {
                break;
            }
            at += 1;
        }
        names.skip(stream, (start, at));
    }
}

fn dotted(stream: &Stream<'_>, mut at: usize) -> (String, usize) {
    let mut path = String::new();
    while let Some(token) = stream.token(at) {
        match token.name() {
            Some(name) if path.is_empty() || path.ends_with('.') => path.push_str(name),
            None if token.is(".") => path.push('.'),
            Some(_) | None => break,
        }
        at += 1;
    }
    (path, at)
}

/// Looks for names in tables of names, and for paths that are renamed.
fn extra<'t>(scan: &mut Scan<'t, '_>, stream: &Stream<'t>, at: usize) {
    let Some(name) = stream.name(at) else { return };
    let whole = (at, at + 1);
    match name {
        "globals" | "locals" | "vars" if stream.is(at + 1, "(") => {
            let end = stream.after(at + 1);
            let taken = stream.is(end, "[") || stream.is(end, ".");
            let of = stream
                .name(at + 2)
                .is_some_and(|of| matches!(of, "os" | "subprocess" | "sys" | "builtins"));
            if taken || of {
                scan.apply(stream, whole, Meaning::Raise(Concern::Evaluates), Some(&[]));
            }
        }
        // What an object of a library does, whoever made it.
        "kill" | "terminate" | "suspend" | "send_signal"
            if stream.is(at + 1, "(") && takes_from(scan, "psutil") =>
        {
            scan.apply(stream, whole, Meaning::Raise(Concern::Processes), Some(&[]));
        }
        "git"
            if stream.before(at).is_some_and(Token::is_dot)
                && stream.is(at + 1, ".")
                && takes_from(scan, "git") =>
        {
            scan.apply(stream, whole, Meaning::Raise(Concern::Spawns), Some(&[]));
        }
        "write"
            if stream.is(at + 1, "(") && (takes_from(scan, "xml") || takes_from(scan, "lxml")) =>
        {
            let args = stream.split((at + 2, stream.mate(at + 1)));
            scan.apply(stream, whole, Meaning::WriteNamed(0), Some(&args));
        }
        "system" | "popen"
            if stream.is(at + 1, "(")
                && !stream.is(at + 2, ")")
                && stream.before(at).is_some_and(Token::is_dot) =>
        {
            let start = stream.receiver(at - 1);
            let path = stream.name(start).map(|_| scan.names.chain(stream, start, 0).path);
            // An object of a class that has the module as a member, or the interactive Python.
            let reaches = !scan.names.classes.is_empty() && takes_from(scan, "os")
                || stream.is(start, "get_ipython");
            if reaches && path.is_none_or(|path| scan.names.function(&path).is_none()) {
                scan.apply(stream, whole, Meaning::Raise(Concern::Spawns), Some(&[]));
            }
        }
        "glob" | "iglob" if stream.is(at + 1, "(") => {
            let args = stream.split((at + 2, stream.mate(at + 1)));
            let pattern = args.first().map(|first| scan.arg(stream, *first).0);
            if let Some(pattern) = pattern.filter(|it| it.text.contains("/.")) {
                let certainty = pattern.certainty.max(Certainty::Pattern);
                scan.out.act(Act::Read(Arg { certainty, ..pattern }));
            }
        }
        "rename" | "replace"
            if stream.is(at + 1, "(") && stream.before(at).is_some_and(Token::is_dot) =>
        {
            // Texts have `replace` too, of two texts; tables have `rename`, of no text.
            let receiver = (stream.receiver(at - 1), at - 1);
            let given = stream.split((at + 2, stream.mate(at + 1)));
            let known =
                stream.name(receiver.0).map(|_| scan.names.chain(stream, receiver.0, 0).path);
            let is_function =
                known.is_some_and(|path| scan.names.function(&format!("{path}.{name}")).is_some());
            let [target] = given.as_slice() else { return };
            if is_function || stream.is(target.0 + 1, "=") {
                return;
            }
            let args = [receiver, *target];
            let meaning = match scan.arg(stream, receiver).1 {
                Sort::Text => Meaning::Move(0, 1),
                Sort::Other | Sort::Unknown => Meaning::WriteNamed(1),
            };
            scan.apply(stream, whole, meaning, Some(&args));
        }
        _ => {}
    }
}

/// Whether the code takes something in from this library.
fn takes_from(scan: &Scan<'_, '_>, library: &str) -> bool {
    scan.names
        .bounds
        .values()
        .any(|bound| matches!(bound, Bound::Path(path) if path.split('.').next() == Some(library)))
}
