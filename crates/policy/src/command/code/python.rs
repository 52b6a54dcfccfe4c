//! Python.

use std::borrow::Cow;

use super::meaning::{Form, Meaning};
use super::names::Names;
use super::scan::{Calls, Dialect, Scan};
use super::stream::Stream;
use super::token::{Escapes, Holes, Lexer, Quote, Token, Unread};
use super::value::Sort;
use crate::command::{Concern, Extent, Language};

pub(super) const DIALECT: Dialect = Dialect {
    language: Language::Python,
    special,
    function,
    method,
    canonical,
    import,
    extra,
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
    if rest.starts_with(char::is_alphabetic) {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        lexer.evaluates |= rest.get(..end).is_some_and(|name| name.contains(is_variant));
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

/// Returns whether a letter is another one in a different shape.
fn is_variant(c: char) -> bool {
    matches!(c,
        'ª' | 'º' | 'ſ' | '\u{2b0}'..='\u{2ff}' | '\u{1d2c}'..='\u{1dbf}' | '\u{2070}'..='\u{214f}'
        | '\u{2460}'..='\u{24ff}' | '\u{fb00}'..='\u{fb06}' | '\u{ff00}'..='\u{ffef}'
        | '\u{1d400}'..='\u{1d7ff}' | '\u{1f100}'..='\u{1f1ff}')
}

fn canonical(path: Cow<'_, str>) -> Cow<'_, str> {
    // The same things under other names.
    for (from, to) in [
        ("builtins.", ""),
        ("__builtin__.", ""),
        ("posix.", "os."),
        ("nt.", "os."),
        ("io.open", "open"),
        ("codecs.open", "open"),
        ("pathlib.Path.", "Path."),
        ("urllib2.", "urllib.request."),
        ("urllib.urlopen", "urllib.request.urlopen"),
        ("urllib.urlretrieve", "urllib.request.urlretrieve"),
        ("os.path.os.", "os."),
        ("shutil.os.", "os."),
    ] {
        if let Some(tail) = path.strip_prefix(from) {
            return format!("{to}{tail}").into();
        }
    }
    path
}

fn function(path: &str) -> Option<Meaning> {
    use Concern::{
        Backdoor, Container, Evaluates, Exfiltrates, Interactive, Privilege, Processes, Spawns,
    };
    use Meaning::{
        Argv, Attribute, Code, Connect, Fetch, Import, Load, Open, Raise, Script, Send, Shell,
        Socket, Write,
    };
    let (module, name) = path.split_once('.').unwrap_or(("", path));
    Some(match (module, name) {
        ("", "eval" | "exec" | "compile") => Code(0),
        ("", "execfile") => Script(0),
        ("", "__import__") | ("importlib", "import_module" | "__import__") => Import(0),
        ("", "getattr") => Attribute,
        ("", "__builtins__" | "__loader__" | "__spec__" | "breakpoint") => Raise(Evaluates),
        ("", "open" | "file") => Open(0, 1),
        ("__builtins__", _) => Raise(Evaluates),
        ("os", name) => return os(name),
        ("subprocess", "getoutput" | "getstatusoutput") | ("commands" | "popen2", _) => Shell(0),
        ("subprocess", "run" | "call" | "check_call" | "check_output" | "Popen") => {
            Argv(Form::List)
        }
        ("subprocess", "PIPE" | "DEVNULL" | "STDOUT" | "CalledProcessError" | "TimeoutExpired") => {
            return None;
        }
        ("subprocess", "CompletedProcess" | "SubprocessError" | "list2cmdline") => return None,
        ("subprocess", _) => Raise(Spawns),
        ("pty", "spawn") => Argv(Form::List),
        ("pty", _) => Raise(Spawns),
        ("asyncio", "create_subprocess_shell" | "subprocess.create_subprocess_shell") => Shell(0),
        ("asyncio", "create_subprocess_exec" | "subprocess.create_subprocess_exec") => {
            Argv(Form::Plain)
        }
        ("pexpect", "spawn" | "run") | ("sh" | "plumbum", _) => Raise(Spawns),
        ("ctypes", "sizeof" | "alignment" | "addressof" | "byref" | "Structure" | "Union") => {
            return None;
        }
        ("ctypes", name) if name.starts_with("c_") || name.starts_with("util") => return None,
        ("ctypes", _) => Load(0),
        ("cffi" | "_posixsubprocess" | "_ctypes", _) => Raise(Spawns),
        (
            "pickle" | "cPickle" | "_pickle" | "cloudpickle" | "dill" | "marshal",
            "load" | "loads" | "Unpickler",
        ) => Raise(Evaluates),
        ("shelve", "open") | ("yaml", "unsafe_load" | "full_load_all") => Raise(Evaluates),
        ("code", "interact" | "InteractiveConsole") | ("pdb", "set_trace" | "run") => {
            Raise(Interactive)
        }
        ("runpy", "run_path") => Script(0),
        ("importlib", name) if name.contains("Loader") || name.contains("spec_from") => {
            Raise(Evaluates)
        }
        ("imp", _) | ("sys", "_getframe" | "settrace" | "setprofile" | "meta_path") => {
            Raise(Evaluates)
        }
        ("shutil", name) => return shutil(name),
        ("Path", "unlink") => Meaning::Delete(0, Extent::Single),
        ("socket", "create_connection") => Socket(0),
        ("socket", "socket" | "socketpair" | "create_server" | "fromfd") => Socket(9),
        ("urllib", "request.urlretrieve") | ("wget", "download") => Fetch(0, 1),
        ("urllib", "request.urlopen" | "request.Request" | "request.build_opener") => Connect(0),
        ("requests" | "httpx" | "aiohttp" | "urllib3", name) => return web(name),
        ("http", "client.HTTPConnection" | "client.HTTPSConnection") => Send(0),
        ("http", "server.SimpleHTTPRequestHandler") | ("SimpleHTTPServer", _) => Raise(Exfiltrates),
        ("ftplib", "FTP" | "FTP_TLS")
        | ("smtplib", "SMTP" | "SMTP_SSL")
        | ("telnetlib", "Telnet") => Send(0),
        ("paramiko" | "fabric", _) => Raise(Spawns),
        ("xmlrpc", "client.ServerProxy") => Connect(0),
        ("zipfile", "ZipFile") | ("tarfile" | "gzip" | "bz2" | "lzma", "open") => Open(0, 1),
        ("sqlite3", "connect") => Write(0),
        ("tempfile", _) => return None,
        ("resource", "setrlimit") => Raise(Privilege),
        ("signal", "pthread_kill") => Raise(Processes),
        ("mmap", _) => return None,
        ("socketserver", _) => return None,
        ("rlcompleter" | "antigravity", _) => Raise(Backdoor),
        ("docker", "from_env" | "DockerClient") => Raise(Container),
        _ => return None,
    })
}

fn os(name: &str) -> Option<Meaning> {
    use Meaning::{Argv, Copy, Delete, Enter, Fork, Link, Move, Raise, Read, Shell, Write};
    Some(match name {
        "system" | "popen" | "popen2" | "popen3" | "popen4" => Shell(0),
        "execl" | "execle" | "execlp" | "execlpe" => Argv(Form::Named(0)),
        "execv" | "execve" | "execvp" | "execvpe" | "posix_spawn" | "posix_spawnp" => {
            Argv(Form::NamedList(0))
        }
        "spawnl" | "spawnle" | "spawnlp" | "spawnlpe" => Argv(Form::Named(1)),
        "spawnv" | "spawnve" | "spawnvp" | "spawnvpe" => Argv(Form::NamedList(1)),
        "startfile" | "memfd_create" | "fexecve" => Raise(Concern::Spawns),
        "fork" | "forkpty" => Fork,
        "dup2" => Raise(Concern::Unclear),
        "kill" | "killpg" => Raise(Concern::Processes),
        "setuid" | "setgid" | "seteuid" | "setegid" | "setreuid" | "setresuid" | "setresgid"
        | "setregid" | "initgroups" | "setgroups" => Raise(Concern::Privilege),
        "chroot" | "unshare" | "setns" => Raise(Concern::Container),
        "remove" | "unlink" | "rmdir" => Delete(0, Extent::Single),
        "removedirs" => Delete(0, Extent::Tree),
        "rename" | "replace" | "renames" => Move(0, 1),
        "symlink" | "link" => Link(0, 1),
        "mkdir" | "makedirs" | "mkfifo" | "mknod" | "chmod" | "lchmod" | "chown" | "lchown"
        | "truncate" | "utime" | "setxattr" | "removexattr" => Write(0),
        "open" => Write(0),
        "listdir" | "scandir" | "walk" | "fwalk" | "readlink" => Read(0),
        "chdir" => Enter(0),
        "sendfile" | "copy_file_range" => Copy(9, 9),
        "__dict__" | "__getattribute__" => Raise(Concern::Evaluates),
        _ => return None,
    })
}

fn shutil(name: &str) -> Option<Meaning> {
    use Meaning::{Copy, Delete, Move, Write};
    Some(match name {
        "rmtree" => Delete(0, Extent::Tree),
        "move" => Move(0, 1),
        "copy" | "copy2" | "copyfile" | "copytree" => Copy(0, 1),
        "copymode" | "copystat" => Copy(0, 1),
        "chown" => Write(0),
        "make_archive" => Write(0),
        "unpack_archive" => Copy(0, 1),
        _ => return None,
    })
}

fn web(name: &str) -> Option<Meaning> {
    use Meaning::{Connect, Send};
    let name = name.rsplit('.').next().unwrap_or_default();
    Some(match name {
        "get" | "head" | "options" | "urlopen" => Connect(0),
        "post" | "put" | "patch" | "delete" => Send(0),
        "request" | "stream" => Send(1),
        "Session" | "session" | "Client" | "AsyncClient" | "ClientSession" | "PoolManager" => {
            Connect(9)
        }
        _ => return None,
    })
}

fn method(name: &str) -> Option<Meaning> {
    use Meaning::{Code, Copy, Delete, Dial, Link, Open, Raise, Read, Socket, Write};
    Some(match name {
        "write_text" | "write_bytes" | "touch" | "mkdir" | "hardlink_to" => Write(0),
        "symlink_to" => Link(1, 0),
        "unlink" | "rmdir" => Delete(0, Extent::Single),
        "rmtree" => Delete(0, Extent::Tree),
        "read_text" | "read_bytes" | "iterdir" | "rglob" => Read(0),
        "to_csv" | "to_json" | "to_excel" | "to_parquet" | "to_pickle" | "savefig"
        | "extractall" | "tofile" => Write(1),
        "connect" => Dial(1),
        "connect_ex" | "sendto" => Socket(1),
        "copyfile" => Copy(1, 2),
        "__subclasses__" | "__globals__" | "__getattribute__" | "__mro__" | "__bases__"
        | "__base__" | "__builtins__" | "func_globals" | "f_globals" | "f_builtins"
        | "gi_frame" | "__reduce__" | "__code__" | "__closure__" | "load_module"
        | "exec_module" | "__loader__" => Raise(Concern::Evaluates),
        "create_subprocess_exec"
        | "create_subprocess_shell"
        | "subprocess_exec"
        | "subprocess_shell"
        | "exec_command" => Raise(Concern::Spawns),
        "runcode" | "runsource" => Code(1),
        "open" => Open(0, 1),
        _ => return None,
    })
}

/// Takes in `import a.b as c` and `from a import b as c`.
fn import<'t>(names: &mut Names<'t>, stream: &Stream<'t>) {
    let mut at = 0;
    while at < stream.tokens.len() {
        let start = at;
        at += 1;
        let starts = stream.before(start).is_none_or(|before| before.is_break() || before.is(":"));
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
                names.stars.push(module.clone());
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
