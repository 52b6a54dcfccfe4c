//! Ruby.

use std::borrow::Cow;

use super::meaning::{Form, Meaning};
use super::names::Names;
use super::scan::{Calls, Dialect, STARS, Scan};
use super::stream::{Commas, Stream};
use super::token::{Escapes, Holes, Kind, Lexer, Quote, Token, Unread};
use crate::command::{Act, Arg, Concern, Extent, Language, Run};

pub(super) const DIALECT: Dialect = Dialect {
    language: Language::Ruby,
    special,
    function,
    method,
    canonical,
    import,
    extra,
    reached: &[],
    powers: &["Dir", "File", "FileUtils", "IO", "Kernel", "Open3", "Process"],
    joins: "+",
    calls: Calls::Bare,
};

fn special<'t>(lexer: &mut Lexer<'t>, out: &mut Vec<Token<'t>>) -> Result<bool, Unread> {
    let rest = lexer.rest();
    let start = lexer.pos;
    let Some(first) = rest.chars().next() else { return Ok(false) };
    let second = rest.chars().nth(1);
    let kind = match (first, second) {
        ('#', _) => {
            lexer.skip_line();
            return Ok(true);
        }
        ('=', Some('b')) if rest.starts_with("=begin") && starts_line(lexer) => {
            lexer.skip_past("\n=end")?;
            lexer.skip_line();
            return Ok(true);
        }
        ('_', _) if rest.starts_with("__END__") && starts_line(lexer) => {
            lexer.pos = lexer.text.len();
            return Ok(true);
        }
        ('"', _) => {
            lexer.pos += 1;
            string(lexer, '"', Holes::Hash)?
        }
        ('\'', _) => {
            lexer.pos += 1;
            string(lexer, '\'', Holes::None)?
        }
        ('`', _) => {
            lexer.pos += 1;
            shell(string(lexer, '`', Holes::Hash)?)
        }
        (':', Some('"')) if !out.last().is_some_and(Token::ends_value) => {
            lexer.pos += 2;
            string(lexer, '"', Holes::Hash)?
        }
        (':', Some(c)) if (c.is_alphabetic() || c == '_') && !rest.starts_with("::") => {
            lexer.pos += 1;
            let from = lexer.pos;
            lexer.skip_name();
            lexer.pos += usize::from(lexer.rest().starts_with(['?', '!']));
            Kind::Text(lexer.text.get(from..lexer.pos).unwrap_or_default().into(), Some(from))
        }
        ('$' | '@', Some(c)) => {
            lexer.pos += 1;
            if c.is_alphanumeric() || c == '_' || c == '@' {
                lexer.pos += usize::from(c == '@');
                lexer.skip_name();
            } else if first == '$' && c.is_ascii_punctuation() {
                lexer.pos += 1;
            }
            Kind::Name(lexer.text.get(start..lexer.pos).unwrap_or_default().into())
        }
        ('?', Some(c)) if character(lexer, out, c)? => {
            lexer.pos += 1 + c.len_utf8();
            Kind::Text(c.to_string().into(), None)
        }
        ('/', _) if opens(lexer, out)? => {
            lexer.pos += 1;
            pattern(lexer, '/')?
        }
        ('%', Some(_)) => match percent(lexer, out)? {
            Some(Kind::Break) => return Ok(true),
            Some(kind) => kind,
            None => return Ok(false),
        },
        ('<', Some('<')) => match document(lexer, out)? {
            Some(kind) => kind,
            None => return Ok(false),
        },
        (c, _) if c.is_alphabetic() || c == '_' => {
            lexer.skip_name();
            // `empty?`, `save!`, but `a ?b : c` and `a != b`.
            let tail = lexer.rest();
            lexer.pos += usize::from(
                tail.starts_with(['?', '!']) && !tail.starts_with("!=") && !tail.starts_with("?."),
            );
            Kind::Name(lexer.text.get(start..lexer.pos).unwrap_or_default().into())
        }
        _ => return Ok(false),
    };
    out.push(Token { kind, start, end: lexer.pos });
    Ok(true)
}

fn starts_line(lexer: &Lexer<'_>) -> bool {
    lexer.text.get(..lexer.pos).is_some_and(|before| before.is_empty() || before.ends_with('\n'))
}

fn shell(kind: Kind<'_>) -> Kind<'_> {
    if let Kind::Text(text, _) = kind { Kind::Shell(text) } else { kind }
}

fn string<'t>(lexer: &mut Lexer<'t>, open: char, holes: Holes) -> Result<Kind<'t>, Unread> {
    let close = closing(open);
    let mut buffer = [0; 4];
    lexer.quoted(&Quote {
        open: (close != open).then_some(open),
        close: close.encode_utf8(&mut buffer),
        escapes: if holes == Holes::None { Escapes::Plain } else { Escapes::Full },
        holes,
    })
}

fn pattern<'t>(lexer: &mut Lexer<'t>, open: char) -> Result<Kind<'t>, Unread> {
    let close = closing(open);
    let mut buffer = [0; 4];
    let close_text: &str = close.encode_utf8(&mut buffer);
    let open = (close != open).then_some(open);
    lexer.quoted(&Quote { open, close: close_text, escapes: Escapes::Kept, holes: Holes::Hash })?;
    lexer.skip_name();
    Ok(Kind::Pattern)
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

/// Returns whether `?c` is a character.
fn character(lexer: &Lexer<'_>, out: &[Token<'_>], c: char) -> Result<bool, Unread> {
    let after = lexer.rest().get(1 + c.len_utf8()..).and_then(|rest| rest.chars().next());
    let alone =
        !c.is_whitespace() && !after.is_some_and(|after| after.is_alphanumeric() || after == '_');
    match out.last() {
        Some(last) if last.ends_value() => {
            // `x ?"a":"b"` or a character: whoever guesses wrong reads code as text.
            let quotes = matches!(c, '"' | '\'' | '`' | '/' | '#' | '%');
            if quotes { Err(Unread) } else { Ok(false) }
        }
        Some(_) | None => Ok(alone),
    }
}

/// Returns whether a slash, or what else may divide, begins a value here.
fn opens(lexer: &Lexer<'_>, out: &[Token<'_>]) -> Result<bool, Unread> {
    let Some(last) = out.last() else { return Ok(true) };
    let Some(name) = last.name() else { return Ok(!last.ends_value()) };
    if BEFORE_VALUE.contains(&name) {
        return Ok(true);
    }
    // `f /x/` is a call if `f` is a method and a division if it is a variable.
    let spaced = last.end < lexer.pos;
    let next = lexer.rest().chars().nth(1);
    let tight = next.is_some_and(|next| !next.is_whitespace() && next != '=');
    let variable = name.starts_with(['$', '@']);
    if spaced && tight && !variable { Err(Unread) } else { Ok(false) }
}

/// Reads `%w[…]`, `%x(…)` and their like.
fn percent<'t>(
    lexer: &mut Lexer<'t>,
    out: &mut Vec<Token<'t>>,
) -> Result<Option<Kind<'t>>, Unread> {
    let start = lexer.pos;
    let rest = lexer.rest();
    let letter = rest.chars().nth(1).filter(char::is_ascii_alphabetic);
    let open = rest.chars().nth(if letter.is_some() { 2 } else { 1 });
    let Some(open) = open.filter(char::is_ascii_punctuation) else { return Ok(None) };
    let known = letter.is_none_or(|letter| "wWiIqQrsx".contains(letter));
    if !known || (letter.is_none() && !matches!(open, '(' | '[' | '{' | '<' | '|' | '!' | '/')) {
        return Ok(None);
    }
    if out.last().is_some_and(Token::ends_value) {
        let prints = out
            .last()
            .and_then(Token::name)
            .is_some_and(|name| ["puts", "p", "print"].contains(&name));
        if !prints && !opens(lexer, out)? {
            return Ok(None);
        }
    }
    lexer.pos += 1 + letter.map_or(0, char::len_utf8) + open.len_utf8();
    Ok(Some(match letter {
        Some(letter @ ('w' | 'i' | 'W' | 'I')) => {
            let holes = if letter.is_lowercase() { Holes::None } else { Holes::Hash };
            let list = string(lexer, open, holes)?;
            words(&list, start, lexer.pos, out);
            // The tokens stand already: a break tells so.
            return Ok(Some(Kind::Break));
        }
        Some('q' | 's') => string(lexer, open, Holes::None)?,
        Some('x') => shell(string(lexer, open, Holes::Hash)?),
        Some('r') => pattern(lexer, open)?,
        Some(_) | None => string(lexer, open, Holes::Hash)?,
    }))
}

/// Writes out a list of words as a list of strings.
fn words<'t>(kind: &Kind<'t>, start: usize, end: usize, out: &mut Vec<Token<'t>>) {
    let Kind::Text(text, _) = kind else { return };
    out.push(Token { kind: Kind::Sign("["), start, end });
    for word in text.split_whitespace() {
        out.push(Token { kind: Kind::Text(word.to_owned().into(), None), start, end });
        out.push(Token { kind: Kind::Sign(","), start, end });
    }
    out.push(Token { kind: Kind::Sign("]"), start, end });
}

fn document<'t>(lexer: &mut Lexer<'t>, out: &[Token<'t>]) -> Result<Option<Kind<'t>>, Unread> {
    let rest = lexer.rest();
    let Some(tail) = rest.get(2..) else { return Ok(None) };
    let indented = tail.starts_with(['-', '~']);
    let tail = tail.strip_prefix(['-', '~']).unwrap_or(tail);
    let mark = tail.chars().next();
    let (label, len) = match mark {
        Some(mark @ ('"' | '\'' | '`')) => {
            let body = tail.get(1..).unwrap_or_default();
            let end = body.find(mark).ok_or(Unread)?;
            (body.get(..end).unwrap_or_default(), end + 2)
        }
        Some(c) if c.is_alphabetic() || c == '_' => {
            let end = tail.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(tail.len());
            (tail.get(..end).unwrap_or_default(), end)
        }
        Some(_) | None => return Ok(None),
    };
    // `class << self`, `list <<item`
    let appends = out.last().is_some_and(Token::ends_value) && !indented;
    if appends && label != label.to_uppercase() {
        return Ok(None);
    }
    lexer.pos += rest.len() - tail.len() + len;
    let (escapes, holes) = match mark {
        Some('\'') => (Escapes::Plain, Holes::None),
        Some(_) | None => (Escapes::Full, Holes::Hash),
    };
    let text = lexer.document(label, indented, &Quote { open: None, close: "", escapes, holes })?;
    Ok(Some(if mark == Some('`') { shell(text) } else { text }))
}

/// Takes in `include FileUtils`.
fn import<'t>(names: &mut Names<'t>, stream: &Stream<'t>) {
    for at in 0..stream.tokens.len() {
        let module = stream.name(at + 1).filter(|_| stream.is(at, "include"));
        if let Some(module) = module.filter(|module| !names.stars.iter().any(|star| star == module))
            && names.stars.len() <= STARS
        {
            names.stars.push(module.to_owned());
        }
    }
}

fn canonical(path: Cow<'_, str>) -> Cow<'_, str> {
    for own in ["Kernel.", "self.", "Object.", "main."] {
        if let Some(tail) = path.strip_prefix(own) {
            return tail.to_owned().into();
        }
    }
    path
}

fn function(path: &str) -> Option<Meaning> {
    use Concern::{Evaluates, Interactive, Privilege, Processes, Spawns};
    use Meaning::{
        Argv, Code, Connect, Copy, Delete, Enter, Fork, Link, Move, Open, Raise, Read, Script,
        Socket, Write,
    };
    let (module, name) = path.split_once('.').unwrap_or(("", path));
    Some(match (module, name) {
        ("" | "Process", "system" | "exec" | "spawn") => Argv(Form::Words),
        ("", "fork") | ("Process", "fork" | "daemon") => Fork,
        ("", "syscall")
        | ("PTY", _)
        | ("Fiddle" | "FFI" | "DL", _)
        | ("", "PTY" | "Fiddle" | "FFI") => Raise(Spawns),
        ("IO", "popen") => Argv(Form::Popen),
        ("Open3", _) => Argv(Form::Words),
        ("", "eval" | "instance_eval" | "class_eval" | "module_eval") | ("binding", "eval") => {
            Code(0)
        }
        ("", "load" | "require_relative") => Script(0),
        ("", "autoload") => Script(1),
        ("CSV" | "Zlib", "open") => Open(0, 1),
        ("Zlib", "GzipWriter.open") | ("Logger" | "PStore" | "YAML", "new" | "Store.new") => {
            Write(0)
        }
        (
            "CSV" | "YAML" | "JSON" | "Zlib",
            "read" | "foreach" | "load_file" | "GzipReader.open",
        ) => Read(0),
        ("Dir", "children" | "entries" | "each_child" | "foreach" | "open" | "new")
        | ("File", "readlink")
        | ("Find", "find") => Read(0),
        ("Dir", "glob") => Meaning::Find(0),
        ("Tempfile", _) | ("Dir", "mktmpdir") => Write(1),
        ("DRb", "start_service") => Raise(Concern::Backdoor),
        ("Marshal", "load" | "restore")
        | ("YAML", "unsafe_load")
        | ("", "ObjectSpace" | "TracePoint") => Raise(Evaluates),
        ("", "const_get") | ("ERB" | "RubyVM", _) => Raise(Evaluates),
        ("binding", "irb" | "pry") | ("IRB", "start") => Raise(Interactive),
        ("Process", "kill") => Raise(Processes),
        ("Process", name) if name.contains("uid") || name.contains("gid") => {
            if name == "uid" || name == "euid" { return None } else { Raise(Privilege) }
        }
        (
            "TCPSocket" | "UDPSocket" | "Socket" | "TCPServer" | "UNIXSocket",
            "new" | "open" | "tcp",
        ) => Socket(0),
        ("OpenSSL", "SSL.SSLSocket.new") => Socket(9),
        (
            "Net",
            "HTTP.get" | "HTTP.get_response" | "HTTP.start" | "HTTP.new" | "HTTP.get_print"
            | "FTP.new" | "FTP.open" | "SMTP.start" | "SMTP.new",
        ) => Connect(0),
        ("Net", "HTTP.post" | "HTTP.post_form") => Meaning::Send(0),
        ("Net", "SSH.start") => Raise(Spawns),
        ("URI", "open") => Connect(0),
        ("HTTParty" | "RestClient" | "Faraday", "get" | "new") => Connect(0),
        ("HTTParty" | "RestClient" | "Faraday", "post" | "put") => Meaning::Send(0),
        ("File" | "IO" | "Pathname", "write" | "binwrite") | ("File", "truncate" | "mkfifo") => {
            Write(0)
        }
        ("File", "chmod" | "chown" | "lchmod" | "lchown" | "utime") => Write(1),
        ("File", "delete" | "unlink") => Meaning::DeleteAll(Extent::Single),
        ("File", "open" | "new") => Open(0, 1),
        ("File" | "IO", "read" | "readlines" | "foreach" | "binread" | "each_line") => Read(0),
        ("File", "rename") => Move(0, 1),
        ("File", "symlink" | "link") => Link(0, 1),
        ("IO", "copy_stream") => Copy(0, 1),
        ("IO", "sysopen") => Open(0, 1),
        ("Dir", "mkdir") => Write(0),
        ("Dir", "rmdir" | "delete" | "unlink") => Delete(0, Extent::Single),
        ("Dir", "chdir") => Enter(0),
        ("FileUtils", name) => return file_utils(name),
        _ => return None,
    })
}

fn file_utils(name: &str) -> Option<Meaning> {
    use Meaning::{Copy, DeleteAll, Link, Move, Write, WriteAll};
    Some(match name {
        "rm_rf"
        | "rm_r"
        | "rmtree"
        | "remove_dir"
        | "remove_entry"
        | "remove_entry_secure"
        | "remove_dir_r" => DeleteAll(Extent::Tree),
        "rm" | "rm_f" | "remove" | "safe_unlink" | "rmdir" | "remove_file" => {
            DeleteAll(Extent::Single)
        }
        "mv" | "move" => Move(0, 1),
        "cp" | "cp_r" | "copy" | "copy_file" | "copy_entry" | "install" | "cp_lr" => Copy(0, 1),
        "ln" | "ln_s" | "ln_sf" | "link" | "symlink" => Link(0, 1),
        "mkdir" | "mkdir_p" | "makedirs" | "mkpath" | "touch" => WriteAll,
        "chmod" | "chmod_R" => Write(1),
        "chown" | "chown_R" => Write(2),
        "cd" | "chdir" => Meaning::Enter(0),
        _ => return None,
    })
}

fn method(name: &str) -> Option<Meaning> {
    use Meaning::{Code, Raise};
    Some(match name {
        "instance_eval" | "class_eval" | "module_eval" => Code(1),
        "const_get" => Raise(Concern::Evaluates),
        "rmtree" => Meaning::Delete(0, Extent::Tree),
        // Streams are opened anew on a file.
        "reopen" => Meaning::WriteNamed(1),
        "to_proc" => Raise(Concern::Evaluates),
        _ => return None,
    })
}

/// Looks for functions called by name, and `open` of a pipe or a URL.
fn extra<'t>(scan: &mut Scan<'t, '_>, stream: &Stream<'t>, at: usize) {
    let Some(name) = stream.name(at) else { return };
    let member = stream.before(at).is_some_and(Token::is_dot);
    let open = stream.is(at + 1, "(");
    let from = at + 1 + usize::from(open);
    let args = || {
        let end =
            if open { stream.mate(at + 1) } else { stream.expression_end(from, Commas::Stay) };
        stream.split((from, end))
    };
    let whole = (at, at + 1);
    match name {
        "send" | "public_send" | "__send__" | "method" | "instance_method" | "public_method" => {
            let args = args();
            let Some(first) = args.first() else { return };
            let (called, _) = scan.arg(stream, *first);
            let concern = match called.as_known() {
                Some("system" | "exec" | "spawn" | "popen" | "`" | "fork" | "syscall" | "open") => {
                    Concern::Spawns
                }
                Some(
                    "eval" | "instance_eval" | "class_eval" | "const_get" | "send" | "__send__"
                    | "load",
                )
                | None => Concern::Evaluates,
                Some(name) => {
                    // `File.send(:delete, "x")` is `File.delete("x")`.
                    let start = if member { stream.receiver(at - 1) } else { at };
                    let object = stream.name(start).filter(|_| member);
                    let path = object.map(|_| scan.names.chain(stream, start, 0).path);
                    let path = path.as_deref().and_then(|path| path.rsplit_once('.'));
                    let path = path.map(|(object, _)| format!("{object}.{name}"));
                    if let Some(meaning) = path.and_then(|path| scan.names.function(&path)) {
                        let given = args.get(1..).filter(|_| {
                            stream
                                .name(at)
                                .is_some_and(|it| it.ends_with("send") || it == "__send__")
                        });
                        scan.apply(stream, whole, meaning, given);
                    }
                    return;
                }
            };
            // Sockets send too.
            if scan.out.socket && called.as_known().is_none() {
                scan.out.sends = true;
            } else {
                scan.apply(stream, whole, Meaning::Raise(concern), Some(&[]));
            }
        }
        "open" if !member || stream.before(at - 1).is_some_and(|token| token.is("Kernel")) => {
            let args = args();
            let Some(first) = args.first() else { return };
            let (path, _) = scan.arg(stream, *first);
            if let Some(command) = path.text.strip_prefix('|') {
                let command = Arg { span: path.span, ..scan.out.arg(command.to_owned(), 0, 0) };
                match command.as_known() {
                    Some(_) => scan.out.act(Act::Run(Run::Shell(command))),
                    None => scan.apply(stream, whole, Meaning::Raise(Concern::Spawns), Some(&[])),
                }
            } else if path.text.contains("://") {
                scan.out.act(Act::Connect(path));
            } else {
                scan.apply(stream, whole, Meaning::Open(0, 1), Some(&args));
            }
        }
        // Of a path, and of nothing else: streams and strings are written to as well.
        "write" | "binwrite" | "delete" | "unlink" | "mkpath" | "mkdir" if member && at > 1 => {
            let receiver = (stream.receiver(at - 1), at - 1);
            if stream.is(receiver.0, "Pathname") {
                let meaning = match name {
                    "delete" | "unlink" => Meaning::Delete(0, Extent::Single),
                    _ => Meaning::Write(0),
                };
                scan.apply(stream, whole, meaning, Some(&[receiver]));
            }
        }
        "require" if !member => {
            let args = args();
            let path = args.first().map(|first| scan.arg(stream, *first).0);
            // A library has a name, a file has a path.
            if path.is_some_and(|path| path.text.starts_with(['/', '.', '~'])) {
                scan.apply(stream, whole, Meaning::Script(0), Some(&args));
            }
        }
        "Dir" if stream.is(at + 1, "[") => {
            let patterns = stream.split((at + 2, stream.mate(at + 1)));
            patterns
                .iter()
                .for_each(|one| scan.apply(stream, whole, Meaning::Find(0), Some(&[*one])));
        }
        "ENV" | "Object" | "Kernel" if stream.is(at + 1, ".") && stream.is(at + 2, "const_get") => {
            scan.apply(stream, whole, Meaning::Raise(Concern::Evaluates), Some(&[]));
        }
        _ => {}
    }
}

/// Words behind which a value begins.
const BEFORE_VALUE: [&str; 16] = [
    "and", "begin", "case", "do", "else", "elsif", "if", "in", "not", "or", "return", "then",
    "unless", "until", "when", "while",
];
