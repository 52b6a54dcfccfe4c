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
use crate::command::{Concern, Language};

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
        "rename" | "replace"
            if stream.is(at + 1, "(") && stream.before(at).is_some_and(Token::is_dot) =>
        {
            // Texts have these methods too; paths are told by how they are made.
            let receiver = (stream.receiver(at - 1), at - 1);
            let made =
                stream.name(receiver.0).is_some_and(|name| name == "Path" || name == "pathlib");
            let path = made && scan.arg(stream, receiver).1 == Sort::Text;
            if path {
                let args = [vec![receiver], stream.split((at + 2, stream.mate(at + 1)))].concat();
                scan.apply(stream, whole, Meaning::Move(0, 1), Some(&args));
            }
        }
        _ => {}
    }
}
