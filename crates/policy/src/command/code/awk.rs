//! awk, as gawk, mawk and the one true awk read it.

use super::meaning::Meaning;
use super::mention::mentions;
use super::names::Names;
use super::scan::{Calls, Dialect};
use super::sink::Sink;
use super::stream::{Range, Stream};
use super::token::{Escapes, Holes, Kind, Lexer, Quote, Token, Unread};
use crate::command::{Act, Arg, Concern, HOLE, Language, Run};

const DIALECT: Dialect = Dialect {
    language: Language::Awk,
    special,
    function: |_| None::<Meaning>,
    method: |_| None,
    canonical: |path| path,
    import: |_, _| {},
    extra: |_, _, _| {},
    reached: &[],
    powers: &[],
    // Strings that stand side by side are joined.
    joins: "",
    calls: Calls::Parens,
};

/// Bytes of a program that is short, as most are.
const SHORT: usize = 128;

/// Reads an awk program.
pub(super) fn read<'t>(code: &'t str, mut out: Sink<'t, '_>) {
    if only_prints(code) {
        return out.finish();
    }
    let Ok(lexer) = Lexer::read(code, special) else {
        out.raise(Concern::Unclear, 0, code.len());
        return out.finish();
    };
    let streams = Stream::all(lexer.streams);
    let mut names = Names::new(&DIALECT);
    names.bind(&streams);
    for stream in &streams {
        let mut reader = Reader { names: &names, stream, out: &mut out };
        for at in 0..stream.tokens.len() {
            reader.token(at);
        }
        if stream.is_cut() {
            out.raise(Concern::Unclear, 0, code.len());
        }
    }
    mentions(&streams, &names, &mut out);
    out.finish();
}

/// `{print $1, $NF}`, as most programs are: it prints parts of its input, and does nothing else.
fn only_prints(code: &str) -> bool {
    let short = Some(code).filter(|code| code.len() <= SHORT);
    let inside = short.and_then(|code| code.strip_prefix('{')?.strip_suffix('}'));
    let printed = inside.and_then(|inside| inside.trim_matches(' ').strip_prefix("print"));
    printed.is_some_and(|printed| {
        let is_part = |byte| matches!(byte, b' ' | b',' | b'$' | b'N' | b'F' | b'0'..=b'9');
        matches!(printed.as_bytes().first(), None | Some(b' ' | b'$'))
            && printed.bytes().all(is_part)
    })
}

/// Whether a part that is not known stands behind the end of something: what begins there may be a
/// statement. Behind a sign it is a part of a value, and in quotes it is text.
pub(super) fn has_open_hole(code: &str) -> bool {
    const MARK: &str = "hole_in_code";
    const TAKE_VALUES: [&str; 6] = ["print", "printf", "return", "in", "exit", "getline"];
    // Blanks keep it apart from a name or a number that it is joined to.
    let marked = code.replace(HOLE, &format!(" {MARK} "));
    let Ok(lexer) = Lexer::read(&marked, special) else { return true };
    let opens = |before: Option<&Token<'_>>| match before {
        None => true,
        Some(before) if before.name().is_some_and(|name| TAKE_VALUES.contains(&name)) => false,
        Some(before) => before.is_break() || before.is("{") || before.ends_value(),
    };
    Stream::all(lexer.streams).iter().any(|stream| {
        let holes = (0..stream.tokens.len()).filter(|at| stream.is(*at, MARK));
        holes.into_iter().any(|at| opens(stream.before(at)))
    })
}

struct Reader<'t, 'r, 'a> {
    names: &'r Names<'t>,
    stream: &'r Stream<'t>,
    out: &'r mut Sink<'t, 'a>,
}

impl<'t> Reader<'t, '_, '_> {
    fn token(&mut self, at: usize) {
        let stream = self.stream;
        let Some(token) = stream.token(at) else { return };
        match &token.kind {
            Kind::Name(name) if name == "system" => {
                let open = at + 1;
                self.run((open + 1, stream.mate(open)));
            }
            Kind::Name(name) if name == "print" || name == "printf" => self.print(at + 1),
            Kind::Name(name) if name == "getline" => self.getline(at),
            // What is put there is read as if it were an argument.
            Kind::Name(name) if name == "ARGV" && stream.is(at + 1, "[") => {
                let set = stream.after(at + 1);
                if stream.is(set, "=") {
                    self.file((set + 1, self.end(set + 1)), Act::Read);
                }
            }
            Kind::Sign("|&") => self.coprocess(at),
            // `@load "x"`, `@include "x"`, `@f()`
            Kind::Sign("@") => {
                let concern =
                    if stream.is(at + 1, "load") { Concern::Spawns } else { Concern::Evaluates };
                if stream.name(at + 1).is_some() {
                    self.out.raise(concern, token.start, token.end);
                }
            }
            Kind::Text(text, _) if text.starts_with("/inet") => {
                self.out.socket = true;
                let host = text.split('/').nth(4).unwrap_or_default().to_owned();
                self.out.act(Act::Connect(self.out.arg(host, token.start, token.end)));
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

    /// Looks where the output goes.
    fn print(&mut self, from: usize) {
        let stream = self.stream;
        let mut at = from;
        while let Some(token) = stream.token(at) {
            if token.is_break() || token.closes() || !stream.pays(1) {
                return;
            }
            if token.is("|") || token.is(">") {
                let to = at + 1 + usize::from(token.is(">") && stream.is(at + 1, ">"));
                let range = (to, self.end(to));
                return if token.is("|") { self.run(range) } else { self.file(range, Act::Write) };
            }
            at = stream.after(at);
        }
    }

    /// Looks where the input comes from: a command before the pipe, or a file behind `<`.
    fn getline(&mut self, at: usize) {
        let stream = self.stream;
        if stream.before(at).is_some_and(|before| before.is("|")) {
            let pipe = at - 1;
            let last = pipe.saturating_sub(1);
            let from = if stream.token(last).is_some_and(Token::closes) {
                stream.mate(last).min(last)
            } else {
                last
            };
            // What stands before it may belong to the command.
            let joined =
                stream.before(from).is_some_and(|before| before.ends_value() && !before.closes());
            return self.run(if joined { (pipe, pipe) } else { (from, pipe) });
        }
        let variable = usize::from(stream.name(at + 1).is_some());
        if stream.is(at + 1 + variable, "<") {
            let from = at + 2 + variable;
            let end = self.end(from).min(from + 1);
            self.file((from, end), Act::Read);
        }
    }

    fn coprocess(&mut self, at: usize) {
        let stream = self.stream;
        let before = if stream.is(at + 1, "getline") {
            (at.saturating_sub(1), at)
        } else {
            (at + 1, self.end(at + 1))
        };
        let arg = self.arg(before);
        if !arg.text.starts_with("/inet") {
            self.run(before);
        } else if before.0 > at {
            // What is printed there leaves the machine.
            let (start, end) = stream.bytes(before);
            self.out.raise(Concern::Exfiltrates, start, end);
        }
    }

    fn run(&mut self, range: Range) {
        let arg = self.arg(range);
        match arg.as_known() {
            Some(_) => self.out.act(Act::Run(Run::Shell(arg))),
            None => {
                let (start, end) = self.stream.bytes(range);
                self.out.raise(Concern::Spawns, start, end);
            }
        }
    }

    fn file(&mut self, range: Range, act: fn(Arg<'t>) -> Act<'t>) {
        let arg = self.arg(range);
        let standard = ["/dev/stdout", "/dev/stderr", "/dev/stdin", "-"].contains(&&*arg.text);
        if !standard && !arg.text.starts_with("/inet") {
            self.out.act(act(arg));
        }
    }

    fn arg(&self, range: Range) -> Arg<'t> {
        let value = self.names.value(self.stream, range, 0);
        self.out.verbatim(value.text, value.at, self.stream.bytes(range))
    }

    fn end(&self, from: usize) -> usize {
        let mut at = from;
        while let Some(token) = self.stream.token(at) {
            if token.is_break() || token.closes() || token.is("|") || !self.stream.pays(1) {
                return at;
            }
            at = self.stream.after(at);
        }
        at
    }
}

fn special<'t>(lexer: &mut Lexer<'t>, out: &mut Vec<Token<'t>>) -> Result<bool, Unread> {
    let start = lexer.pos;
    let rest = lexer.rest();
    let kind = match rest.chars().next() {
        Some('#') => {
            lexer.skip_line();
            return Ok(true);
        }
        Some('\\') => {
            let tail = rest.get(1..).unwrap_or_default();
            let tail = tail.strip_prefix('\r').unwrap_or(tail);
            lexer.pos += rest.len() - tail.strip_prefix('\n').ok_or(Unread)?.len();
            return Ok(true);
        }
        Some('"') => {
            lexer.pos += 1;
            lexer.quoted(&Quote {
                open: None,
                close: "\"",
                escapes: Escapes::Full,
                holes: Holes::None,
            })?
        }
        Some('/') if is_pattern(out)? => {
            pattern(lexer)?;
            Kind::Pattern
        }
        // Nothing in awk is written with these.
        Some('\'' | '`') => return Err(Unread),
        Some(_) | None => return Ok(false),
    };
    out.push(Token { kind, start, end: lexer.pos });
    Ok(true)
}

fn is_pattern(out: &[Token<'_>]) -> Result<bool, Unread> {
    let Some(last) = out.last() else { return Ok(true) };
    if last.is("++") || last.is("--") {
        return Err(Unread);
    }
    let word = last.name().is_some_and(|name| {
        ["getline", "print", "printf", "return", "in", "case", "else", "do"].contains(&name)
    });
    Ok(word || last.is("}") || !last.ends_value())
}

fn pattern(lexer: &mut Lexer<'_>) -> Result<(), Unread> {
    lexer.pos += 1;
    let mut class: Option<usize> = None;
    loop {
        let next = lexer.peek().ok_or(Unread)?;
        let at = lexer.pos;
        lexer.pos += next.len_utf8();
        match (next, class) {
            ('\n', _) => return Err(Unread),
            ('\\', _) => lexer.pos += lexer.peek().ok_or(Unread)?.len_utf8(),
            ('[', None) => {
                let caret = usize::from(lexer.rest().starts_with('^'));
                class = Some(at + 1 + caret);
            }
            ('[', Some(_)) if lexer.rest().starts_with(':') => {
                lexer.skip_past(":]")?;
            }
            // A bracket that comes first is one of the characters.
            (']', Some(first)) if at > first => class = None,
            ('/', None) => return Ok(()),
            _ => {}
        }
    }
}
