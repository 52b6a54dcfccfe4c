//! From the meaning of a call to acts.

use super::file::local;
use super::meaning::{Form, Meaning};
use super::names::{Bound, Tail};
use super::redirect::rocket;
use super::scan::Scan;
use super::stream::{Range, Stream};
use super::token::Kind;
use super::value::Sort;
use crate::command::{Act, Arg, Certainty, Concern, Extent, Language, Run};
use crate::jail::is_any_name;

impl<'t> Scan<'t, '_> {
    /// Says what a call does. Without arguments the function is not called but handed on.
    pub(super) fn apply(
        &mut self,
        stream: &Stream<'t>,
        whole: Range,
        meaning: Meaning,
        args: Option<&[Range]>,
    ) {
        let (start, end) = stream.bytes(whole);
        if args.is_none()
            && let Some(concern) = meaning.concern()
        {
            return self.out.raise(concern, start, end);
        }
        let spread = args.and_then(|args| self.spread(stream, args));
        let args = spread.as_deref().or(args);
        let call = Called { stream, whole, args: args.unwrap_or_default(), handed: args.is_none() };
        match meaning {
            Meaning::Argv(form) => self.argv(&call, form),
            Meaning::Attribute => self.attribute(&call),
            Meaning::Build => {
                let loader = call.keyed("Loader").or_else(|| call.positional(1));
                let safe = |name: &str| name.contains("Safe") || name == "BaseLoader";
                if !loader.is_some_and(|loader| stream.any_name(loader, safe)) {
                    self.out.raise(Concern::Evaluates, start, end);
                }
            }
            Meaning::Code(place) => self.code(&call, place),
            Meaning::CodeAll => self.codes(&call),
            Meaning::CodeInto(code, file) => {
                self.code(&call, code);
                if let Some(range) = call.keyed("filename").or_else(|| call.positional(file)) {
                    self.file(&call, range, Act::Write);
                }
            }
            Meaning::Connect(place) => self.connect(&call, place),
            Meaning::Copy(from, to) => {
                self.path(&call, from, Act::Read);
                self.path(&call, to, Act::Write);
            }
            Meaning::Delete(place, extent) => {
                self.path(&call, place, |arg| deletion(arg, extent));
            }
            Meaning::DeleteAll(extent) => self.paths(&call, |arg| deletion(arg, extent)),
            Meaning::Dial(place) if self.out.socket => self.connect(&call, place),
            Meaning::Dial(_) => {}
            Meaning::Enter(place) => self.path(&call, place, Act::Enter),
            Meaning::Fetch(url, path) => {
                self.connect(&call, url);
                if call.positional(path).is_some() {
                    self.path(&call, path, Act::Write);
                }
            }
            Meaning::Find(place) => self.found(&call, place),
            Meaning::Fork if self.loops => self.out.raise(Concern::Exhausts, start, end),
            Meaning::Fork => {}
            Meaning::Import(place) => self.import(&call, place),
            Meaning::Link(target, link) => {
                self.path(&call, target, Act::Read);
                match (call.positional(target), call.positional(link)) {
                    // What is written below the new name later is written to what it leads to.
                    (Some(target), Some(link)) => {
                        let target = self.arg(stream, target).0;
                        let name = self.arg(stream, link).0;
                        self.out.act(Act::Link { target, name });
                    }
                    _ => self.path(&call, link, Act::Write),
                }
            }
            Meaning::Load(place) => {
                if let Some(arg) = self.known(&call, place) {
                    self.out.act(Act::Run(Run::Load(arg)));
                }
                self.out.raise(Concern::Spawns, start, end);
            }
            Meaning::Move(from, to) => {
                self.path(&call, from, |arg| Act::Delete(arg, Extent::Single));
                self.path(&call, to, Act::Write);
            }
            Meaning::Open(place, mode) => self.open(&call, place, mode),
            Meaning::Raise(concern) => self.out.raise(concern, start, end),
            Meaning::Read(place) => self.path(&call, place, Act::Read),
            Meaning::ReadNamed(place) => self.named(&call, place, Act::Read),
            Meaning::ReadOr(place, default) if call.args.len() <= place => {
                self.out.act(Act::Read(self.out.arg(default, start, end)));
            }
            Meaning::ReadOr(place, _) => self.path(&call, place, Act::Read),
            Meaning::Rewrite(place) => self.rewrite(&call, place),
            // `fork("a.js", {execPath: "x"})`
            Meaning::Script(_) if ["execPath", "execArgv"].iter().any(|key| call.names(key)) => {
                self.spawns(&call);
            }
            Meaning::Script(place) => self.script(&call, place),
            Meaning::Send(place) => {
                self.out.sends = true;
                self.connect(&call, place);
            }
            Meaning::Shelf(place) => {
                self.path(&call, place, Act::Write);
                self.out.raise(Concern::Evaluates, start, end);
            }
            Meaning::Shell(place) => match call.positional(place) {
                Some(text) => self.shell(&call, text),
                None => self.spawns(&call),
            },
            Meaning::Socket(place) => {
                self.out.socket = true;
                if call.positional(place).is_some() {
                    self.connect(&call, place);
                }
            }
            Meaning::Source(place) => self.source(&call, place),
            Meaning::Write(place) => self.path(&call, place, Act::Write),
            Meaning::WriteAll => self.paths(&call, Act::Write),
            Meaning::WriteKey(key, place) => {
                if let Some(range) = call.keyed(key).or_else(|| call.positional(place)) {
                    self.file(&call, range, Act::Write);
                }
            }
            Meaning::WriteNamed(place) => self.named(&call, place, Act::Write),
        }
    }

    /// Returns what some tokens are worth as an argument.
    pub(super) fn arg(&self, stream: &Stream<'t>, range: Range) -> (Arg<'t>, Sort) {
        let value = self.names.value(stream, range, 0);
        let (start, end) = stream.bytes(range);
        (self.out.verbatim(value.text, value.at, (start, end)), value.sort)
    }

    pub(super) fn known(&self, call: &Called<'t, '_>, place: usize) -> Option<Arg<'t>> {
        let (arg, _) = self.arg(call.stream, call.positional(place)?);
        arg.as_known().is_some().then_some(arg)
    }

    /// Says that something is started which is not known.
    pub(super) fn spawns(&mut self, call: &Called<'t, '_>) {
        let (start, end) = call.stream.bytes(call.whole);
        self.out.spawns = true;
        self.out.raise(self.doubt(call, Concern::Spawns), start, end);
    }

    /// Returns `otherwise`, or that the arguments hide what they are.
    pub(super) fn doubt(&self, call: &Called<'t, '_>, otherwise: Concern) -> Concern {
        let hides = |part: &Range| {
            let (start, end) = call.stream.bytes(*part);
            let at = self.decoders.partition_point(|decoder| *decoder < start);
            self.decoders.get(at).is_some_and(|decoder| *decoder < end)
        };
        if call.args.iter().any(hides) { Concern::Obfuscates } else { otherwise }
    }

    fn connect(&mut self, call: &Called<'t, '_>, place: usize) {
        let (start, end) = call.stream.bytes(call.whole);
        let mut to = self.out.unknown(start, end);
        if let Some(range) = call.positional(place).or_else(|| call.keyed("url")) {
            // `connect(("host", 80))`
            let parts = self.names.elements(call.stream, range);
            let range = parts.and_then(|parts| parts.first().copied()).unwrap_or(range);
            to = self.arg(call.stream, range).0;
        }
        let reads = |name: &str| {
            matches!(name, "open" | "read_text" | "readFileSync" | "file_get_contents" | "read")
        };
        self.out.sends |= call.args.iter().any(|part| call.stream.any_name(*part, reads));
        self.out.act(match local(&to) {
            Some(file) => Act::Read(file),
            None => Act::Connect(to),
        });
    }

    fn attribute(&mut self, call: &Called<'t, '_>) {
        let Some((at, _)) = call.positional(0) else { return };
        if call.stream.name(at).is_none() {
            return;
        }
        let object = self.names.chain(call.stream, at, 0);
        let reached = object.path.rsplit('.').next().unwrap_or_default();
        let powerful = matches!(
            reached.strip_prefix('_').unwrap_or(reached),
            "os" | "posix"
                | "subprocess"
                | "sys"
                | "builtins"
                | "shutil"
                | "importlib"
                | "pty"
                | "Kernel"
        ) || object.path.contains("__");
        if powerful {
            let (start, end) = call.stream.bytes(call.whole);
            self.out.raise(Concern::Evaluates, start, end);
        }
    }

    fn import(&mut self, call: &Called<'t, '_>, place: usize) {
        let Some(range) = call.positional(place) else { return };
        let (module, _) = self.arg(call.stream, range);
        let own = module.known_start().starts_with('.') || module.text.ends_with(".json");
        if module.as_known().is_none() && !own {
            let (start, end) = call.stream.bytes(call.whole);
            self.out.raise(self.doubt(call, Concern::Evaluates), start, end);
        }
    }

    pub(super) fn code(&mut self, call: &Called<'t, '_>, place: usize) {
        let (start, end) = call.stream.bytes(call.whole);
        let Some(range) = call.positional(place) else { return };
        if let Some(arg) = self.known(call, place) {
            return self.out.act(Act::Run(Run::Code(self.dialect.language, arg)));
        }
        // `exec(open("file").read())`
        if matches!(call.stream.name(range.0), Some("open")) {
            let chain = self.names.chain(call.stream, range.0, 0);
            if let Tail::Call((from, to)) = chain.tail
                && call.stream.is(to + 2, "read")
                && to + 5 == range.1
                && let Some(file) = call.stream.split((from, to)).first()
            {
                let (file, _) = self.arg(call.stream, *file);
                if file.as_known().is_some() {
                    return self.out.act(Act::Run(Run::Script(self.dialect.language, file)));
                }
            }
        }
        self.out.raise(self.doubt(call, Concern::Evaluates), start, end);
    }

    /// Evaluates the arguments that are texts, and not functions that the code has itself.
    fn codes(&mut self, call: &Called<'t, '_>) {
        let stream = call.stream;
        for part in call.args {
            let keyed = match call.key(*part) {
                Some("stmt" | "setup") => 2,
                Some(_) => continue,
                None => 0,
            };
            let range = (part.0 + keyed, part.1);
            let (arg, sort) = self.arg(stream, range);
            let defined = stream.name(range.0).is_some_and(|name| {
                name == "lambda" || matches!(self.names.bounds.get(name), Some(Bound::Function))
            });
            match arg.as_known() {
                Some(_) => self.out.act(Act::Run(Run::Code(self.dialect.language, arg))),
                None if sort == Sort::Other || defined => {}
                None => {
                    let (start, end) = stream.bytes(call.whole);
                    self.out.raise(self.doubt(call, Concern::Evaluates), start, end);
                }
            }
        }
    }

    fn shell(&mut self, call: &Called<'t, '_>, text: Range) {
        let (text, _) = self.arg(call.stream, text);
        match text.as_known() {
            Some(_) => self.out.act(Act::Run(Run::Shell(text))),
            None => self.spawns(call),
        }
    }

    fn argv(&mut self, call: &Called<'t, '_>, form: Form) {
        self.redirections(call);
        let is_ruby = self.dialect.language == Language::Ruby;
        let is_word = |part: &Range| {
            let is_option = rocket(call.stream, *part).is_some() || call.stream.is(part.0, "{");
            call.key(*part).is_none() && !(is_ruby && is_option)
        };
        let all: Vec<Range> = call.args.iter().filter(|part| is_word(part)).copied().collect();
        let first = all.first().copied().or_else(|| call.keyed("args"));
        let Some(first) = first else { return self.spawns(call) };
        // Streams may be opened on any file before the program starts.
        let opens = call.keyed("file_actions").is_some();
        if opens || call.keyed("executable").is_some() || call.spreads() {
            return self.spawns(call);
        }
        if let Some(folder) = call.option("cwd") {
            let (folder, sort) = self.arg(call.stream, folder);
            if sort != Sort::Other {
                self.out.act(Act::Enter(folder));
            }
        }
        let shell = call.option("shell").is_some_and(|value| {
            !["False", "false", "None", "null", "0"].iter().any(|no| call.stream.is(value.0, no))
        });
        let list = |range: Range| {
            let mut parts = self.names.elements(call.stream, range)?;
            parts.retain(is_word);
            Some(parts)
        };
        let words: Vec<Range> = match form {
            Form::List | Form::ProgramList if shell => {
                let text = list(first).and_then(|list| list.first().copied()).unwrap_or(first);
                return self.shell(call, text);
            }
            Form::List => list(first).unwrap_or_else(|| vec![first]),
            Form::ProgramList => {
                let second = call.option("args").or_else(|| all.get(1).copied());
                let rest = second.map(|second| list(second).ok_or(second));
                let rest = match rest {
                    Some(Ok(list)) => list,
                    // Options, or a function that is called at the end.
                    Some(Err(range)) if is_option(call.stream, range) => Vec::new(),
                    Some(Err(_)) => return self.spawns(call),
                    None => Vec::new(),
                };
                [vec![first], rest].concat()
            }
            Form::Named(skip) => {
                let mut words = all.get(skip..).unwrap_or_default().to_vec();
                if words.len() > 1 {
                    words.remove(1);
                }
                words
            }
            Form::NamedList(skip) => {
                let Some(program) = all.get(skip) else { return self.spawns(call) };
                let Some(rest) = all.get(skip + 1).and_then(|rest| list(*rest)) else {
                    return self.spawns(call);
                };
                [vec![*program], rest.get(1..).unwrap_or_default().to_vec()].concat()
            }
            Form::Popen if list(first).is_some() => list(first).unwrap_or_default(),
            Form::Popen => return self.shell(call, first),
            Form::Words if all.len() == 1 => return self.shell(call, first),
            Form::Words | Form::Plain => all,
        };
        let words: Vec<_> = words.into_iter().map(|word| self.arg(call.stream, word).0).collect();
        // An argument may wait for run time; the program may not.
        if words.first().and_then(Arg::as_known).is_none() {
            return self.spawns(call);
        }
        self.out.act(Act::Run(Run::Argv(words)));
    }
}

/// A call, with its arguments.
pub(super) struct Called<'t, 'c> {
    pub(super) stream: &'c Stream<'t>,
    pub(super) whole: Range,
    pub(super) args: &'c [Range],
    pub(super) handed: bool,
}

impl Called<'_, '_> {
    /// Returns the argument at a place, counting only those without a name.
    pub(super) fn positional(&self, place: usize) -> Option<Range> {
        self.args.iter().filter(|part| self.key(**part).is_none()).nth(place).copied()
    }

    /// Returns the name of an argument that has one.
    pub(super) fn key(&self, (from, to): Range) -> Option<&str> {
        let named = from + 1 < to && self.stream.token(from + 1)?.is_sign(&["=", ":"]);
        match &self.stream.token(from)?.kind {
            // `"name": value` of an object.
            Kind::Text(text, _) => Some(&**text).filter(|_| named && self.stream.is(from + 1, ":")),
            Kind::Name(name) => Some(&**name).filter(|_| named),
            Kind::Break | Kind::Number | Kind::Pattern | Kind::Shell(_) | Kind::Sign(_) => None,
        }
    }

    pub(super) fn keyed(&self, name: &str) -> Option<Range> {
        let part = self.args.iter().find(|part| self.key(**part) == Some(name))?;
        Some((part.0 + 2, part.1))
    }

    /// Returns an argument by name, also from an object of options.
    pub(super) fn option(&self, name: &str) -> Option<Range> {
        self.keyed(name).or_else(|| {
            let objects = self.args.iter().filter(|part| self.stream.is(part.0, "{"));
            let mut parts =
                objects.flat_map(|part| self.stream.split((part.0 + 1, self.stream.mate(part.0))));
            let part = parts.find(|part| self.key(*part) == Some(name))?;
            Some((part.0 + 2, part.1))
        })
    }

    fn names(&self, option: &str) -> bool {
        self.option(option).is_some()
    }

    /// Returns whether arguments come from a list: `f(*args)`, `f(...args)`.
    pub(super) fn spreads(&self) -> bool {
        self.args.iter().any(|part| self.stream.is(part.0, "*") || self.stream.is(part.0, "..."))
    }
}

/// Every file that is found, without a folder in front of it, is every file; and code asks nobody
/// about write protection.
fn deletion(arg: Arg<'_>, extent: Extent) -> Act<'_> {
    let is_every = arg.certainty == Certainty::Pattern
        && arg.text.split('/').all(|name| name == "." || is_any_name(name));
    let forced = is_every && extent == Extent::Single;
    Act::Delete(arg, if forced { Extent::Forced } else { extent })
}

fn is_option(stream: &Stream<'_>, range: Range) -> bool {
    let function =
        stream.any_name((range.0, range.0 + 2), |name| name == "function" || name == "async");
    stream.is(range.0, "{") || function || stream.is(stream.after(range.0), "=>")
}
