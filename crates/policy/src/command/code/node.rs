//! JavaScript and TypeScript, with the libraries of Node, Deno and Bun.

use std::borrow::Cow;

use super::meaning::{Form, Meaning};
use super::names::Names;
use super::scan::{Calls, Dialect, Scan};
use super::stream::Stream;
use super::token::{Escapes, Holes, Kind, Lexer, Quote, Token, Unread};
use crate::command::{Act, Concern, Extent, Language, Run};

pub(super) const DIALECT: Dialect = Dialect {
    language: Language::Node,
    special,
    function,
    method,
    canonical,
    import,
    extra,
    reached: &[],
    powers: &[
        "child_process",
        "vm",
        "module",
        "process.mainModule",
        "fs",
        "fs/promises",
        "fs-extra",
    ],
    joins: "+",
    calls: Calls::Parens,
};

fn special<'t>(lexer: &mut Lexer<'t>, out: &mut Vec<Token<'t>>) -> Result<bool, Unread> {
    let rest = lexer.rest();
    let start = lexer.pos;
    let Some(first) = rest.chars().next() else { return Ok(false) };
    let second = rest.chars().nth(1);
    let kind = match (first, second) {
        ('/', Some('/')) | ('#', Some('!')) => {
            lexer.skip_line();
            return Ok(true);
        }
        // Old comments of web pages hide the rest of a line too.
        ('<', Some('!')) if rest.starts_with("<!--") => return Err(Unread),
        ('/', Some('*')) => {
            lexer.pos += 2;
            lexer.skip_past("*/")?;
            return Ok(true);
        }
        ('"' | '\'', _) => {
            lexer.pos += 1;
            let close = if first == '"' { "\"" } else { "'" };
            lexer.quoted(&Quote {
                open: None,
                close,
                escapes: Escapes::Full,
                holes: Holes::None,
            })?
        }
        ('`', _) => {
            lexer.pos += 1;
            lexer.quoted(&Quote {
                open: None,
                close: "`",
                escapes: Escapes::Full,
                holes: Holes::Dollar,
            })?
        }
        ('/', _) if is_pattern(lexer, out)? => {
            pattern(lexer)?;
            Kind::Pattern
        }
        ('$' | '_' | '\\', _) => Kind::Name(name(lexer)?),
        (c, _) if c.is_alphabetic() => Kind::Name(name(lexer)?),
        _ => return Ok(false),
    };
    out.push(Token { kind, start, end: lexer.pos });
    Ok(true)
}

/// Returns whether the slash begins a pattern.
fn is_pattern(lexer: &Lexer<'_>, out: &[Token<'_>]) -> Result<bool, Unread> {
    let Some(last) = out.iter().rev().find(|token| !token.is_break()) else { return Ok(true) };
    if last.is("}") {
        // After a block it begins one, after an object it divides: whoever guesses wrong reads
        // code as text.
        return Err(Unread);
    }
    if last.is(")") {
        let before = lexer.before_closed.and_then(|at| out.get(at));
        return Ok(before
            .and_then(Token::name)
            .is_some_and(|word| ["if", "while", "for", "with"].contains(&word)));
    }
    let word = last.name().is_some_and(|word| {
        [
            "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do",
            "await", "yield",
        ]
        .contains(&word)
    });
    if last.is("++") || last.is("--") {
        return Err(Unread);
    }
    Ok(word || !last.ends_value())
}

fn pattern(lexer: &mut Lexer<'_>) -> Result<(), Unread> {
    lexer.pos += 1;
    let mut class = false;
    loop {
        let next = lexer.peek().ok_or(Unread)?;
        lexer.pos += next.len_utf8();
        match next {
            '\n' => return Err(Unread),
            '\\' => lexer.pos += lexer.peek().ok_or(Unread)?.len_utf8(),
            '[' => class = true,
            ']' => class = false,
            '/' if !class => break,
            _ => {}
        }
    }
    lexer.skip_name();
    Ok(())
}

/// Reads a name, which may be spelled with escapes.
fn name<'t>(lexer: &mut Lexer<'t>) -> Result<Cow<'t, str>, Unread> {
    let start = lexer.pos;
    let mut spelled: Option<String> = None;
    while let Some(next) = lexer.peek() {
        if next == '\\' {
            let sofar = lexer.text.get(start..lexer.pos).unwrap_or_default();
            let name = spelled.get_or_insert_with(|| sofar.to_owned());
            let tail =
                lexer.rest().get(1..).and_then(|tail| tail.strip_prefix('u')).ok_or(Unread)?;
            let (digits, len) = match tail.strip_prefix('{') {
                Some(tail) => tail
                    .split_once('}')
                    .map(|(digits, _)| (digits, digits.len() + 2))
                    .ok_or(Unread)?,
                None => tail.get(..4).map(|digits| (digits, 4)).ok_or(Unread)?,
            };
            let code = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
            name.push(code.ok_or(Unread)?);
            lexer.pos += 2 + len;
        } else if next.is_alphanumeric() || matches!(next, '_' | '$' | '\u{200c}' | '\u{200d}') {
            if let Some(name) = &mut spelled {
                name.push(next);
            }
            lexer.pos += next.len_utf8();
        } else {
            break;
        }
    }
    let plain = lexer.text.get(start..lexer.pos).unwrap_or_default();
    Ok(spelled.map_or(Cow::Borrowed(plain), Cow::Owned))
}

fn canonical(path: Cow<'_, str>) -> Cow<'_, str> {
    let mut path = path;
    for global in ["globalThis.", "global.", "window.", "self.", "process.mainModule."] {
        if let Some(tail) = path.strip_prefix(global) {
            path = tail.to_owned().into();
        }
    }
    for (from, to) in [
        ("fs/promises.", "fs."),
        ("fs-extra.", "fs."),
        ("graceful-fs.", "fs."),
        ("fs.promises.", "fs."),
        ("fsPromises.", "fs."),
        ("cross-spawn.", "child_process."),
        ("shelljs.", "child_process."),
    ] {
        if let Some(tail) = path.strip_prefix(from) {
            path = format!("{to}{}", tail.trim_start_matches("default.")).into();
        }
    }
    if path.contains(".default.") {
        path = path.replace(".default.", ".").into();
    }
    match path.strip_suffix("Sync") {
        Some(short)
            if path.starts_with("fs.") || path.starts_with("Deno.") || path.starts_with("Bun.") =>
        {
            short.to_owned().into()
        }
        Some(_) | None => path,
    }
}

fn function(path: &str) -> Option<Meaning> {
    use Concern::Evaluates;
    use Meaning::Raise;
    // `f.call(null, …)` and the like: the arguments stand elsewhere.
    let ways = [".call", ".apply", ".bind"];
    let mut called = path;
    while let Some(shorter) = ways.iter().find_map(|way| called.strip_suffix(way)) {
        called = shorter;
    }
    if called.len() < path.len()
        && let Some(meaning) =
            direct(called).or_else(|| method(called.rsplit('.').next().unwrap_or_default()))
    {
        return Some(Raise(meaning.concern().unwrap_or(Evaluates)));
    }
    direct(path)
}

/// What a function means that is called by its own name.
fn direct(path: &str) -> Option<Meaning> {
    use Concern::{Evaluates, Processes};
    use Meaning::{Argv, Code, Connect, Import, Load, Raise, Script, Send, Shell, Socket, Write};
    let (module, name) = path.split_once('.').unwrap_or(("", path));
    Some(match (module, name) {
        ("", "eval") => Code(0),
        ("", "Function" | "AsyncFunction") => Raise(Evaluates),
        ("", "require" | "import") => Import(0),
        ("module", "require") | ("process", "getBuiltinModule") => Import(0),
        ("require", "main.require")
        | ("module", "_load" | "constructor._load" | "parent.require") => Import(0),
        ("module", "createRequire" | "_compile") | ("fs", "then") => Raise(Evaluates),
        ("", "fetch" | "WebSocket" | "EventSource" | "XMLHttpRequest") => Connect(0),
        ("", "axios" | "got" | "node-fetch" | "undici" | "request") => Connect(0),
        ("axios" | "got" | "undici" | "superagent" | "needle", name) => match name {
            "get" | "head" | "fetch" | "request" => Connect(0),
            "post" | "put" | "patch" => Send(0),
            _ => return None,
        },
        ("http" | "https" | "http2", "get" | "connect") => Connect(0),
        ("http" | "https" | "http2", "request") => Send(0),
        ("net" | "tls", "connect" | "createConnection" | "Socket") | ("dgram", "createSocket") => {
            Socket(1)
        }
        ("child_process", "exec" | "execSync") => Shell(0),
        ("child_process", "spawn" | "spawnSync" | "execFile" | "execFileSync") => {
            Argv(Form::ProgramList)
        }
        ("child_process", "fork") => Script(0),
        ("child_process", _) => Raise(Concern::Spawns),
        ("execa" | "zx", _) | ("", "execa" | "execaSync" | "execaCommand") => {
            Raise(Concern::Spawns)
        }
        ("", "execSync") => Shell(0),
        ("", "spawnSync" | "execFileSync") => Argv(Form::ProgramList),
        ("Deno", "run" | "dlopen" | "core") => Raise(Concern::Spawns),
        ("Deno", "Command") => Argv(Form::ProgramList),
        ("Deno", "connect" | "connectTls") => Socket(0),
        ("Bun", "spawn" | "spawnSync") => Argv(Form::List),
        ("Bun", "write") => Write(0),
        ("Bun", "dlopen") | ("process", "dlopen") => Load(1),
        ("bun:ffi" | "ffi" | "ffi-napi" | "koffi" | "node-pty", _) => Raise(Concern::Spawns),
        ("vm", _) | ("repl", "start") | ("v8", "setFlagsFromString" | "deserialize") => {
            Raise(Evaluates)
        }
        ("process", "binding" | "_linkedBinding" | "execve") => Raise(Concern::Spawns),
        ("process", "report.writeReport") | ("v8", "writeHeapSnapshot") => Write(0),
        ("heapdump", "writeSnapshot")
        | ("module", "enableCompileCache")
        | ("sqlite" | "bun:sqlite", "DatabaseSync" | "Database")
        | ("", "better-sqlite3") => Write(0),
        ("sqlite", "backup") => Write(1),
        ("process", "loadEnvFile") | ("Bun", "file") => Meaning::Read(0),
        ("glob" | "fast-glob", _) => Meaning::Find(0),
        ("module", "register" | "registerHooks") | ("test", "run") => Raise(Evaluates),
        ("process", "kill") => Raise(Processes),
        ("process", "setuid" | "setgid" | "seteuid" | "setegid") => Raise(Concern::Privilege),
        ("process", "chdir") => Meaning::Enter(0),
        ("cluster", "fork") => Meaning::Fork,
        ("worker_threads", "Worker") | ("", "Worker") => Script(0),
        ("inspector", "open") => Raise(Concern::Backdoor),
        ("fs" | "Deno", name) => return files(name),
        ("", name) if name.ends_with("Sync") => return files(name.trim_end_matches("Sync")),
        ("rimraf", "sync" | "rimraf" | "rimrafSync") | ("", "rimraf") => {
            Meaning::Delete(0, Extent::Tree)
        }
        _ => return None,
    })
}

fn files(name: &str) -> Option<Meaning> {
    use Meaning::{Copy, Delete, Link, Move, Open, Read, Write};
    Some(match name {
        "writeFile" | "appendFile" | "createWriteStream" | "mkdir" | "mkdtemp" | "chmod"
        | "lchmod" | "chown" | "lchown" | "truncate" | "utimes" | "outputFile" | "writeJson"
        | "outputJson" | "ensureDir" | "ensureFile" | "writeTextFile" | "create"
        | "WriteStream" | "FileWriteStream" | "SyncWriteStream" | "lutimes" | "mkdirp"
        | "mkdirs" | "mkdtempDisposable" | "createFile" | "openKv" => Write(0),
        "rm" | "remove" | "emptyDir" | "rmdir" => Delete(0, Extent::Tree),
        "unlink" => Delete(0, Extent::Single),
        "rename" | "move" => Move(0, 1),
        "copyFile" | "cp" | "copy" => Copy(0, 1),
        "symlink" | "link" => Link(0, 1),
        "open" => Open(0, 1),
        "readFile" | "createReadStream" | "readdir" | "readTextFile" | "readDir" | "readJson"
        | "readlink" | "opendir" | "ReadStream" | "FileReadStream" | "openAsBlob" => Read(0),
        "glob" => Meaning::Find(0),
        _ => return None,
    })
}

fn method(name: &str) -> Option<Meaning> {
    use Meaning::{Raise, Shell};
    Some(match name {
        "execSync" => Shell(1),
        "execFileSync" | "spawnSync" => Raise(Concern::Spawns),
        "constructor" | "runInThisContext" | "runInNewContext" | "runInContext" => {
            Raise(Concern::Evaluates)
        }
        "mainModule" | "binding" | "_load" => Raise(Concern::Evaluates),
        "writeFile" | "appendFile" | "createWriteStream" | "copyFile" | "readFile"
        | "createReadStream" | "unlink" | "symlink" => return files(name).map(Meaning::of_method),
        name => return files(name.strip_suffix("Sync")?).map(Meaning::of_method),
    })
}

/// Takes in `import x from "m"`, `import {a as b} from "m"` and `const {a: b} = require("m")`.
fn import<'t>(names: &mut Names<'t>, stream: &Stream<'t>) {
    for at in 0..stream.tokens.len() {
        if stream.is(at, "import") && !stream.is(at + 1, "(") && !stream.is(at + 1, ".") {
            if stream.token(at + 1).is_some_and(Token::is_text) {
                names.skip(stream, (at, at + 2));
                continue;
            }
            let mut rest = (at..stream.tokens.len()).take_while(|_| stream.pays(1));
            let end = rest.find(|at| stream.token(*at).is_some_and(Token::is_text));
            let Some(end) = end.filter(|end| stream.is(end.saturating_sub(1), "from")) else {
                continue;
            };
            let Some(Kind::Text(module, _)) = stream.token(end).map(|token| &token.kind) else {
                continue;
            };
            let module = module.clone();
            let mut next = at + 1;
            while next + 1 < end {
                if stream.is(next, "{") {
                    pattern_names(names, stream, next, &module);
                    next = stream.after(next);
                } else if stream.is(next, "*") && stream.is(next + 1, "as") {
                    if let Some(name) = stream.name(next + 2) {
                        names.alias(name, &module);
                    }
                    next += 3;
                } else {
                    if let Some(name) = stream.name(next) {
                        names.alias(name, &module);
                    }
                    next += 1;
                }
            }
            names.skip(stream, (at, end + 1));
        } else if stream.is(at, "{") && stream.is(stream.after(at), "=") {
            let close = stream.mate(at);
            let from = close + 2 + usize::from(stream.is(close + 2, "await"));
            if stream.name(from).is_none() {
                continue;
            }
            let module = names.chain(stream, from, 0).path;
            if module != "require" && module != "import" {
                pattern_names(names, stream, at, &module);
            }
        }
    }
}

/// Takes in `{a, b: c, d as e}`.
fn pattern_names<'t>(names: &mut Names<'t>, stream: &Stream<'t>, open: usize, module: &str) {
    for (from, to) in stream.split((open + 1, stream.mate(open))) {
        let Some(member) = stream.name(from) else { continue };
        let renamed = from + 3 == to && (stream.is(from + 1, ":") || stream.is(from + 1, "as"));
        let name = renamed.then(|| stream.name(from + 2)).flatten().unwrap_or(member);
        let path = format!("{}.{member}", module.strip_prefix("node:").unwrap_or(module));
        names.alias(name, &path);
        names.skip(stream, (from, to));
    }
}

/// Looks for shell templates, code in strings and members that are computed.
fn extra<'t>(scan: &mut Scan<'t, '_>, stream: &Stream<'t>, at: usize) {
    let whole = (at, at + 1);
    if makes_functions(scan, stream, at) {
        return scan.apply(stream, whole, Meaning::Raise(Concern::Evaluates), Some(&[]));
    }
    let Some(name) = stream.name(at) else { return };
    match name {
        "$" | "sh" | "exec" if stream.token(at + 1).is_some_and(Token::is_text) => {
            let (arg, _) = scan.arg(stream, (at + 1, at + 2));
            match arg.as_known() {
                Some(_) => scan.out.act(Act::Run(Run::Shell(arg))),
                None => scan.apply(stream, whole, Meaning::Raise(Concern::Spawns), Some(&[])),
            }
        }
        "setTimeout" | "setInterval" | "setImmediate"
            if stream.is(at + 1, "(") && stream.token(at + 2).is_some_and(Token::is_text) =>
        {
            let args = stream.split((at + 2, stream.mate(at + 1)));
            scan.apply(stream, whole, Meaning::Code(0), Some(&args));
        }
        "fork" if scan.loops && stream.is(at + 1, "(") => {
            scan.apply(stream, whole, Meaning::Raise(Concern::Exhausts), Some(&[]));
        }
        "globalThis" | "global" | "process" | "child_process" | "require" | "fs" | "fsp"
            if stream.is(at + 1, "[") =>
        {
            let subscript = (at + 2, stream.mate(at + 1));
            if scan.arg(stream, subscript).0.as_known().is_none() {
                scan.apply(stream, whole, Meaning::Raise(Concern::Evaluates), Some(&[]));
            }
        }
        _ => {}
    }
}

/// Returns whether the way to `Function` is taken here, which makes functions from texts, or
/// names are looked up in an object.
fn makes_functions<'t>(scan: &Scan<'t, '_>, stream: &Stream<'t>, at: usize) -> bool {
    let Some(token) = stream.token(at) else { return false };
    let before = stream.before(at);
    match &token.kind {
        Kind::Text(text, _) => text == "constructor",
        Kind::Sign("[") if before.is_some_and(Token::ends_value) => {
            let subscript = (at + 1, stream.mate(at));
            scan.names.value(stream, subscript, 0).known() == Some("constructor")
        }
        Kind::Name(name) if name == "with" => {
            stream.is(at + 1, "(") && !before.is_some_and(Token::is_dot)
        }
        Kind::Name(name) if name == "constructor" => {
            let next = stream.token(at + 1);
            if !before.is_some_and(Token::is_dot) {
                return next.is_some_and(|next| next.is(":"));
            }
            let shown = stream.is(at + 1, ")") && {
                let open = stream.mate(at + 1);
                stream.before(open).is_some_and(|token| token.is("log"))
            };
            let compared =
                next.is_some_and(|next| next.is_dot() || next.is_sign(&["==", "===", "!=", "!=="]));
            !shown && !compared
        }
        Kind::Break
        | Kind::Name(_)
        | Kind::Number
        | Kind::Pattern
        | Kind::Shell(_)
        | Kind::Sign(_) => false,
    }
}
