//! Calls that read and write files.

use super::apply::Called;
use super::scan::Scan;
use super::stream::Range;
use super::token::{Kind, Token};
use super::value::Sort;
use crate::command::{Act, Arg, Certainty, Concern, HOLE, Holed as _, Language, Run};

impl<'t> Scan<'t, '_> {
    pub(super) fn path(
        &mut self,
        call: &Called<'t, '_>,
        place: usize,
        act: impl FnOnce(Arg<'t>) -> Act<'t>,
    ) {
        let keys = if place == 0 { FIRST_KEYS } else { LATER_KEYS };
        let named = || keys.iter().find_map(|key| call.keyed(key));
        let Some(range) = call.positional(place).or_else(named) else {
            // Handed on, or called with what is in a list: any file.
            if call.handed || call.spreads() {
                let (start, end) = call.stream.bytes(call.whole);
                self.out.act(act(self.out.unknown(start, end)));
            }
            return;
        };
        self.file(call, range, act);
    }

    /// Says what is done to the file that some tokens name.
    pub(super) fn file(
        &mut self,
        call: &Called<'t, '_>,
        range: Range,
        act: impl FnOnce(Arg<'t>) -> Act<'t>,
    ) {
        let (arg, sort) = self.arg(call.stream, range);
        let language = self.dialect.language;
        if language == Language::Php && arg.text.contains("://") {
            return self.stream_of(call, arg, act);
        }
        match arg.text.strip_prefix('|') {
            // `IO.read("|id")`
            Some(command) if language == Language::Ruby => match arg.as_known() {
                Some(_) => {
                    let command = command.to_owned();
                    let shell = Arg { text: command.into(), verbatim: None, ..arg };
                    self.out.act(Act::Run(Run::Shell(shell)));
                }
                None => self.spawns(call),
            },
            Some(_) | None if sort != Sort::Other => {
                self.out.act(act(local(&arg).unwrap_or(arg)));
            }
            Some(_) | None => {}
        }
    }

    pub(super) fn paths(&mut self, call: &Called<'t, '_>, act: impl Fn(Arg<'t>) -> Act<'t>) {
        for part in call.args.iter().filter(|part| call.key(**part).is_none()) {
            let parts = self.names.elements(call.stream, *part).unwrap_or_else(|| vec![*part]);
            for part in parts {
                let (arg, sort) = self.arg(call.stream, part);
                if sort != Sort::Other {
                    self.out.act(act(arg));
                }
            }
        }
        if call.handed {
            let (start, end) = call.stream.bytes(call.whole);
            self.out.act(act(self.out.unknown(start, end)));
        }
    }

    pub(super) fn open(&mut self, call: &Called<'t, '_>, place: usize, mode: usize) {
        let keyed = || call.keyed("mode").or_else(|| call.keyed("flag"));
        let mode = call.positional(mode).or_else(keyed);
        // Ruby and Node take a mode as a number too.
        let numbers = matches!(self.dialect.language, Language::Node | Language::Ruby);
        let writes = mode.is_some_and(|range| {
            let number = call.stream.token(range.0).is_some_and(is_number);
            let (mode, sort) = self.arg(call.stream, range);
            (numbers && number) || (sort != Sort::Other && mode.as_known().is_none_or(is_writing))
        });
        // What is handed on may be called with any mode.
        let writes = writes || call.handed;
        self.path(call, place, if writes { Act::Write } else { Act::Read });
    }

    /// Reads or writes the files at a place, one or a list, if they are named by texts.
    pub(super) fn named(
        &mut self,
        call: &Called<'t, '_>,
        place: usize,
        act: fn(Arg<'t>) -> Act<'t>,
    ) {
        let Some(range) = call.positional(place) else { return };
        let parts = self.names.elements(call.stream, range).unwrap_or_else(|| vec![range]);
        for part in parts {
            if self.arg(call.stream, part).1 == Sort::Text {
                self.file(call, part, act);
            }
        }
    }

    /// Finds files by a pattern of their names, or by several.
    pub(super) fn found(&mut self, call: &Called<'t, '_>, place: usize) {
        let Some(range) = call.positional(place) else { return };
        let folder = call.option("cwd").or_else(|| call.keyed("base"));
        let folder = folder.map(|folder| self.arg(call.stream, folder).0);
        for part in self.names.elements(call.stream, range).unwrap_or_else(|| vec![range]) {
            let (pattern, sort) = self.arg(call.stream, part);
            if sort == Sort::Other {
                continue;
            }
            let spelled = spelled_out(&pattern.text);
            if spelled.len() >= MOST_SPELLED {
                self.out.act(Act::Raise(Concern::Unclear, pattern.span));
            }
            for text in spelled {
                let text = match &folder {
                    Some(folder) if !text.starts_with('/') => format!("{}/{text}", folder.text),
                    Some(_) | None => text,
                };
                let is_pattern = text.contains(['*', '?', '[']);
                let certainty = match is_pattern {
                    true => pattern.certainty.max(Certainty::Pattern),
                    false => pattern.certainty,
                };
                let (text, verbatim) = (text.into(), None);
                self.out.act(Act::Read(Arg { text, certainty, verbatim, ..pattern.clone() }));
            }
        }
    }

    /// Reads files, or changes them if `inplace` says so.
    pub(super) fn rewrite(&mut self, call: &Called<'t, '_>, place: usize) {
        let act = if call.keyed("inplace").is_some() { Act::Write } else { Act::Read };
        let Some(range) = call.positional(place).or_else(|| call.keyed("files")) else {
            return self.path(call, place, act);
        };
        let parts = self.names.elements(call.stream, range).unwrap_or_else(|| vec![range]);
        for part in parts {
            self.file(call, part, act);
        }
    }

    /// Reads a file, or a URL.
    pub(super) fn source(&mut self, call: &Called<'t, '_>, place: usize) {
        let url = call.positional(place).map(|range| self.arg(call.stream, range).0);
        match url.filter(|url| url.text.contains("://") && local(url).is_none()) {
            Some(url) => self.out.act(Act::Connect(url)),
            None => self.path(call, place, Act::Read),
        }
    }

    /// Judges what PHP opens as a file and is a URL, or one of its own streams.
    fn stream_of(
        &mut self,
        call: &Called<'t, '_>,
        arg: Arg<'t>,
        act: impl FnOnce(Arg<'t>) -> Act<'t>,
    ) {
        let Some((scheme, rest)) = arg.text.split_once("://") else { return };
        match scheme.to_ascii_lowercase().as_str() {
            "file" | "glob" | "phar" | "zip" | "compress.zlib" | "compress.bzip2" => {
                let inner = if rest.contains("://") { HOLE.to_string() } else { rest.to_owned() };
                let inner = self.out.arg(inner, 0, 0);
                self.out.act(act(Arg { span: arg.span, ..inner }));
            }
            "php" => {
                if let Some((_, file)) = rest.split_once("resource=") {
                    let file = self.out.arg(file.to_owned(), 0, 0);
                    self.out.act(act(Arg { span: arg.span, ..file }));
                }
            }
            "data" => {}
            "expect" => self.spawns(call),
            _ => self.out.act(Act::Connect(arg)),
        }
    }

    /// Says what including a file does, which in PHP may be a URL.
    pub(super) fn script(&mut self, call: &Called<'t, '_>, place: usize) {
        let (start, end) = call.stream.bytes(call.whole);
        // `new Worker(code, {eval: true})`
        if call.option("eval").is_some() {
            return self.code(call, place);
        }
        let Some(arg) = self.known(call, place) else {
            return self.out.raise(self.doubt(call, Concern::Evaluates), start, end);
        };
        let scheme = arg.text.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
        match scheme.as_deref().filter(|_| self.dialect.language == Language::Php) {
            Some("http" | "https" | "ftp" | "ftps") => {
                self.out.act(Act::Connect(arg));
                self.out.raise(Concern::Evaluates, start, end);
            }
            Some(_) => self.out.raise(Concern::Evaluates, start, end),
            None => self.out.act(Act::Run(Run::Script(self.dialect.language, arg))),
        }
    }
}

/// Returns the file that a `file:` URL names.
pub(super) fn local<'t>(url: &Arg<'t>) -> Option<Arg<'t>> {
    let text = url.text.trim_start_matches(['<', ' ']);
    let start = |text: &'_ str, start: &str| {
        text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
    };
    let text = if start(text, "url:") { text.get(4..)? } else { text };
    let (_, rest) = text.split_once(':')?;
    if !start(text, "file:") && !start(text, "local_file:") {
        return None;
    }
    let path = match rest.strip_prefix("//") {
        Some(rest) => rest.find('/').and_then(|at| rest.get(at..)).unwrap_or(rest),
        None => rest,
    };
    let path = path.split(['?', '#', '>']).next().unwrap_or_default();
    // What is written with percent signs is as good as not known.
    let text = match path.split_once('%') {
        Some((known, _)) => format!("{known}{HOLE}"),
        None => path.to_owned(),
    };
    let certainty = if text.has_hole() { Certainty::Partial } else { Certainty::Known };
    Some(Arg { text: text.into(), certainty, span: url.span, verbatim: None })
}

fn is_number(token: &Token<'_>) -> bool {
    matches!(token.kind, Kind::Number)
}

/// Returns whether a file opened with this mode can be changed. What is no mode is something else.
fn is_writing(mode: &str) -> bool {
    mode.len() <= 8
        && mode.chars().all(|c| "rwaxctbsUnf+:e|".contains(c))
        && (mode.contains(['w', 'a', 'x', 'c', '+']) || mode.starts_with('n'))
}

/// Names of the argument that is a function's first file.
const FIRST_KEYS: &[&str] = &[
    "file",
    "filename",
    "path",
    "name",
    "src",
    "source",
    "database",
    "fname",
    "dirname",
    "fp",
    "env_dir",
    "base_name",
    "pathname",
    "top",
    "filepath_or_buffer",
];

/// Names of the argument that is a later file, or the first of a method.
const LATER_KEYS: &[&str] = &[
    "dst",
    "target",
    "destination",
    "dest",
    "path",
    "path_or_buf",
    "fname",
    "filename",
    "file",
    "extract_dir",
    "root_dir",
    "excel_writer",
    "buf",
    "f",
];

/// Most patterns that one is spelled out as.
const MOST_SPELLED: usize = 32;

/// Returns what stands for `{a,b}` in a pattern: each of them in its place.
fn spelled_out(pattern: &str) -> Vec<String> {
    let mut patterns = vec![pattern.to_owned()];
    let mut at = 0;
    while let Some(text) = patterns.get(at).filter(|_| patterns.len() < MOST_SPELLED).cloned() {
        at += 1;
        let open = text.find('}').and_then(|close| Some((text.get(..close)?.rfind('{')?, close)));
        let Some((open, close)) = open else { continue };
        let (start, end) = (text.get(..open), text.get(close + 1..));
        let inside = text.get(open + 1..close).unwrap_or_default();
        let spelled = inside
            .split(',')
            .map(|name| format!("{}{name}{}", start.unwrap_or_default(), end.unwrap_or_default()));
        patterns.extend(spelled);
    }
    patterns
}
