//! PHP.

use std::borrow::Cow;

use super::meaning::{Form, Meaning};
use super::names::{Bound, Names};
use super::scan::{Calls, Dialect, Scan};
use super::sink::Sink;
use super::stream::Stream;
use super::token::{Escapes, Holes, JOIN, Kind, Lexer, Quote, Token, Unread};
use crate::command::{Act, Concern, Extent, Language};

const DIALECT: Dialect = Dialect {
    language: Language::Php,
    special,
    function,
    method: |name| {
        let saves = ["save", "saveHTMLFile", "asXML", "saveXML"].contains(&name);
        saves.then_some(Meaning::WriteNamed(1))
    },
    canonical,
    import,
    extra,
    reached: &[],
    powers: &[],
    joins: JOIN,
    calls: Calls::Parens,
};

/// Reads code with or without its `<?php`.
pub(super) fn read<'t>(code: &'t str, mut out: Sink<'t, '_>) {
    // Text before the first tag is text in a file and code after `-r`: it is read as code, and what
    // is in the tag must not hide in a quote of the text.
    let tag = code.find("<?php").or_else(|| code.find("<?="));
    if tag.is_some_and(|tag| {
        code.get(..tag).is_some_and(|text| text.contains(['"', '\'', '`', '#', '/', '<']))
    }) {
        out.raise(Concern::Unclear, 0, code.len());
    }
    Scan::run(&DIALECT, code, out);
}

fn special<'t>(lexer: &mut Lexer<'t>, out: &mut Vec<Token<'t>>) -> Result<bool, Unread> {
    let rest = lexer.rest();
    let start = lexer.pos;
    let Some(first) = rest.chars().next() else { return Ok(false) };
    let second = rest.chars().nth(1);
    let kind = match (first, second) {
        ('.', _) => return Ok(lexer.join(out)),
        ('<', Some('?')) => {
            lexer.pos += if rest.starts_with("<?php") { 5 } else { 2 };
            Kind::Break
        }
        ('?', Some('>')) => {
            text(lexer);
            Kind::Break
        }
        ('#', Some('[')) => return Ok(false),
        ('#', _) | ('/', Some('/')) => {
            // A comment ends where the tag does.
            let ends = |at: &usize| rest.get(*at..).is_some_and(|rest| rest.starts_with("?>"));
            let mut stops = rest.match_indices(['?', '\n']).map(|(at, _)| at);
            let end = stops.find(|at| rest.as_bytes().get(*at) == Some(&b'\n') || ends(at));
            lexer.pos += end.unwrap_or(rest.len());
            return Ok(true);
        }
        ('/', Some('*')) => {
            lexer.pos += 2;
            lexer.skip_past("*/")?;
            return Ok(true);
        }
        ('"', _) => quoted(lexer, "\"", Escapes::Full, Holes::Php)?,
        ('\'', _) => quoted(lexer, "'", Escapes::Plain, Holes::None)?,
        ('`', _) => match quoted(lexer, "`", Escapes::Full, Holes::Php)? {
            Kind::Text(text, _) => Kind::Shell(text),
            kind @ (Kind::Break
            | Kind::Name(_)
            | Kind::Number
            | Kind::Pattern
            | Kind::Shell(_)
            | Kind::Sign(_)) => kind,
        },
        ('<', Some('<')) if rest.starts_with("<<<") => document(lexer)?,
        ('$', Some(c)) if c.is_alphabetic() || c == '_' => {
            lexer.pos += 1;
            lexer.skip_name();
            Kind::Name(lexer.text.get(start..lexer.pos).unwrap_or_default().into())
        }
        ('\\', _) => {
            // A name from the top: `\system`.
            lexer.pos += 1;
            return Ok(true);
        }
        _ => return Ok(false),
    };
    out.push(Token { kind, start, end: lexer.pos });
    Ok(true)
}

/// Goes behind the next tag that opens.
fn text(lexer: &mut Lexer<'_>) {
    lexer.pos += lexer.rest().find("<?").unwrap_or(lexer.rest().len());
}

fn quoted<'t>(
    lexer: &mut Lexer<'t>,
    close: &str,
    escapes: Escapes,
    holes: Holes,
) -> Result<Kind<'t>, Unread> {
    lexer.pos += 1;
    lexer.quoted(&Quote { open: None, close, escapes, holes })
}

fn document<'t>(lexer: &mut Lexer<'t>) -> Result<Kind<'t>, Unread> {
    let rest = lexer.rest();
    let tail = rest.get(3..).unwrap_or_default().trim_start_matches([' ', '\t']);
    let raw = tail.starts_with('\'');
    let label = tail.strip_prefix(['\'', '"']).unwrap_or(tail);
    let end = label.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(label.len());
    let label = label.get(..end).filter(|label| !label.is_empty()).ok_or(Unread)?;
    lexer.pos +=
        rest.len() - tail.len() + label.len() + if tail.starts_with(['\'', '"']) { 2 } else { 0 };
    let (escapes, holes) =
        if raw { (Escapes::Plain, Holes::None) } else { (Escapes::Full, Holes::Php) };
    lexer.document(label, true, &Quote { open: None, close: "", escapes, holes })
}

fn import<'t>(_: &mut Names<'t>, _: &Stream<'t>) {}

/// Names of functions are the same in any case.
fn canonical(path: Cow<'_, str>) -> Cow<'_, str> {
    if path.contains(|c: char| c.is_ascii_uppercase()) && !path.starts_with('$') {
        return path.to_ascii_lowercase().into();
    }
    path
}

fn function(path: &str) -> Option<Meaning> {
    use Concern::{Evaluates, Privilege, Processes, Spawns};
    use Meaning::{
        Argv, Code, Connect, Copy, Delete, Enter, Fork, Link, Load, Move, Open, Raise, Read,
        Script, Shell, Socket, Write,
    };
    Some(match path {
        "system" | "exec" | "shell_exec" | "passthru" | "popen" => Shell(0),
        "proc_open" => Argv(Form::Popen),
        "pcntl_exec" => Argv(Form::ProgramList),
        "pcntl_fork" => Fork,
        "expect_popen" | "ssh2_exec" | "mail" | "mb_send_mail" => Raise(Spawns),
        "dl" => Load(0),
        "ffi.cdef" | "ffi.load" | "ffi.scope" => Raise(Spawns),
        "eval" => Code(0),
        "assert" | "create_function" => Raise(Evaluates),
        "unserialize"
        | "extract"
        | "reflectionfunction"
        | "reflectionmethod"
        | "closure.fromcallable" => Raise(Evaluates),
        "include" | "include_once" | "require" | "require_once" => Script(0),
        "posix_kill" => Raise(Processes),
        "posix_setuid" | "posix_setgid" | "posix_seteuid" | "posix_setegid" => Raise(Privilege),
        "fsockopen" | "pfsockopen" | "stream_socket_client" | "socket_connect" => Socket(0),
        "socket_create" => Socket(9),
        "curl_init" => Connect(0),
        "file_put_contents" | "mkdir" | "touch" | "chmod" | "chown" | "chgrp" | "lchown"
        | "tempnam" | "sqlite3" => Write(0),
        "error_log" => Write(2),
        name if IMAGES.contains(&name) => Write(1),
        "ftp_connect" | "ftp_ssl_connect" => Connect(0),
        "hash_file" => Read(1),
        "unlink" | "rmdir" => Delete(0, Extent::Single),
        "rename" | "move_uploaded_file" => Move(0, 1),
        "copy" => Copy(0, 1),
        "symlink" | "link" => Link(0, 1),
        "fopen" | "gzopen" | "bzopen" | "splfileobject" => Open(0, 1),
        "file_get_contents"
        | "readfile"
        | "file"
        | "scandir"
        | "opendir"
        | "highlight_file"
        | "show_source"
        | "parse_ini_file"
        | "md5_file"
        | "sha1_file"
        | "glob"
        | "php_strip_whitespace"
        | "gzfile"
        | "readgzfile"
        | "simplexml_load_file" => Read(0),
        "chdir" => Enter(0),
        _ => return None,
    })
}

/// Looks for functions called through variables and texts.
fn extra<'t>(scan: &mut Scan<'t, '_>, stream: &Stream<'t>, at: usize) {
    let evaluates = Meaning::Raise(Concern::Evaluates);
    let Some(token) = stream.token(at) else { return };
    let calls = stream.is(at + 1, "(");
    let whole = (at, at + 1);
    let args = || stream.split((at + 2, stream.mate(at + 1)));
    match &token.kind {
        // `"system"("id")`
        Kind::Text(name, _) if calls => match scan.names.function(name) {
            Some(meaning) => scan.apply(stream, whole, meaning, Some(&args())),
            None => scan.apply(stream, whole, evaluates, Some(&[])),
        },
        Kind::Sign(")" | "]" | "}") if calls => {
            let open = stream.mate(at);
            let function =
                ["function", "fn", "static"].iter().any(|word| stream.is(open + 1, word));
            let block = token.is("}")
                && stream.before(open).is_some_and(|before| before.is(")") || before.is("else"));
            if !function && !block {
                scan.apply(stream, whole, evaluates, Some(&[]));
            }
        }
        Kind::Name(name) if calls && name.starts_with('$') => {
            let bound = scan.names.bounds.get(&**name);
            let meaning = match bound {
                Some(Bound::Function) => None,
                Some(Bound::Text(value)) => {
                    let known = value.known().map(str::to_owned);
                    match known {
                        Some(known) => scan.names.function(&known),
                        None => Some(evaluates),
                    }
                }
                Some(Bound::Listing | Bound::Path(_) | Bound::Various) | None => Some(evaluates),
            };
            if let Some(meaning) = meaning {
                scan.apply(stream, whole, meaning, Some(&args()));
            }
        }
        Kind::Name(name) if calls && TAKES_FUNCTION.contains(&&*name.to_ascii_lowercase()) => {
            for part in args() {
                callback(
                    scan,
                    stream,
                    name.starts_with("call_user") || name.starts_with("CALL"),
                    part,
                );
            }
        }
        Kind::Name(name) if calls && name.eq_ignore_ascii_case("ini_set") => {
            let args = args();
            let setting = args.first().map(|first| scan.arg(stream, *first).0);
            let harmless = setting.as_ref().and_then(|name| name.as_known()).is_some_and(|name| {
                !["error_log", "mail.log", "sendmail_path", "unserialize_callback_func"]
                    .contains(&name)
                    && !name.contains("path")
                    && !name.ends_with("_file")
            });
            if !harmless {
                scan.apply(stream, whole, Meaning::Write(1), Some(&args));
            }
        }
        Kind::Name(name) if calls && name.eq_ignore_ascii_case("pdo") => {
            let source = args().first().map(|first| scan.arg(stream, *first).0);
            let file = source.filter(|source| source.text.starts_with("sqlite:"));
            let file = file.and_then(|source| source.tail("sqlite:".len()));
            let file = file.filter(|file| !matches!(&*file.text, "" | ":memory:"));
            file.into_iter().for_each(|file| scan.out.act(Act::Write(file)));
        }
        // Archives are made by a method that databases and others have too.
        Kind::Name(name)
            if calls
                && name.eq_ignore_ascii_case("open")
                && stream.before(at).is_some_and(Token::is_dot) =>
        {
            scan.apply(stream, whole, Meaning::WriteNamed(0), Some(&args()));
        }
        Kind::Name(name) if calls && name.eq_ignore_ascii_case("preg_replace") => {
            let Some(first) = args().first().copied() else { return };
            let (pattern, _) = scan.arg(stream, first);
            let flags =
                pattern.text.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
            if flags.contains('e') && flags.len() < pattern.text.len() {
                scan.apply(stream, whole, evaluates, Some(&[]));
            }
        }
        Kind::Break
        | Kind::Name(_)
        | Kind::Number
        | Kind::Pattern
        | Kind::Shell(_)
        | Kind::Sign(_)
        | Kind::Text(..) => {}
    }
}

/// Judges an argument that names a function to be called.
fn callback<'t>(scan: &mut Scan<'t, '_>, stream: &Stream<'t>, must: bool, part: (usize, usize)) {
    let (name, _) = scan.arg(stream, part);
    let meaning = name.as_known().and_then(|name| scan.names.function(name));
    if let Some(meaning) = meaning {
        scan.apply(stream, part, meaning, None);
    } else if must
        && name.as_known().is_none()
        && stream.name(part.0).is_some_and(|name| name.starts_with('$'))
    {
        scan.apply(stream, part, Meaning::Raise(Concern::Evaluates), Some(&[]));
    }
}

/// Functions that call a function they are given.
const TAKES_FUNCTION: &[&str] = &[
    "array_all",
    "array_any",
    "array_diff_uassoc",
    "array_diff_ukey",
    "array_filter",
    "array_find",
    "array_find_key",
    "array_intersect_uassoc",
    "array_intersect_ukey",
    "array_map",
    "array_reduce",
    "array_udiff",
    "array_udiff_assoc",
    "array_udiff_uassoc",
    "array_uintersect",
    "array_uintersect_assoc",
    "array_uintersect_uassoc",
    "array_walk",
    "array_walk_recursive",
    "call_user_func",
    "call_user_func_array",
    "forward_static_call",
    "forward_static_call_array",
    "header_register_callback",
    "iterator_apply",
    "mb_ereg_replace_callback",
    "ob_start",
    "preg_replace_callback",
    "register_shutdown_function",
    "register_tick_function",
    "set_error_handler",
    "set_exception_handler",
    "spl_autoload_register",
    "uasort",
    "uksort",
    "usort",
];

/// Functions that write a picture to a file.
const IMAGES: [&str; 9] = [
    "imageavif",
    "imagebmp",
    "imagegd",
    "imagegd2",
    "imagegif",
    "imagejpeg",
    "imagepng",
    "imagewbmp",
    "imagewebp",
];
