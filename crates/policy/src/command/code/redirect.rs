//! Where a program's streams lead, and the folder it starts in, as options beside its words:
//! `spawn("ls", out: "file")`, `proc_open("ls", [1 => ["file", "a", "w"]], $pipes)`.

use super::apply::Called;
use super::scan::Scan;
use super::stream::{Range, Stream};
use super::token::Kind;
use super::value::Sort;
use crate::command::{Act, Language};

/// Options of Ruby that are no stream.
const OTHERS: [&str; 8] = [
    "binmode",
    "close_others",
    "exception",
    "new_pgroup",
    "pgroup",
    "stdin_data",
    "umask",
    "unsetenv_others",
];

impl<'t> Scan<'t, '_> {
    /// Says what the options beside a program's words do.
    pub(super) fn redirections(&mut self, call: &Called<'t, '_>) {
        let stream = call.stream;
        match self.dialect.language {
            Language::Ruby => {
                // The last one may stand in braces; a first one is the environment.
                let parts: Vec<Range> = call
                    .args
                    .iter()
                    .enumerate()
                    .flat_map(|(at, part)| {
                        let inside = || stream.split((part.0 + 1, stream.mate(part.0)));
                        let is_list = stream.is(part.0, "[") && rocket(stream, *part).is_none();
                        match stream.is(part.0, "{") {
                            true if at > 0 => inside(),
                            true => Vec::new(),
                            // `popen(["ls", {err: "file"}])`
                            false if is_list => inside(),
                            false => vec![*part],
                        }
                    })
                    .flat_map(|part| match stream.is(part.0, "{") {
                        true => stream.split((part.0 + 1, stream.mate(part.0))),
                        false => vec![part],
                    })
                    .collect();
                for part in parts {
                    let (key, value) = match (call.key(part), rocket(stream, part)) {
                        (Some(key), _) => (key.to_owned(), (part.0 + 2, part.1)),
                        (None, Some(value)) => (spelled(stream, part.0), value),
                        (None, None) => continue,
                    };
                    self.redirected(call, &key, value);
                }
            }
            Language::Php => {
                let files = call.positional(1).and_then(|list| self.names.elements(stream, list));
                for file in files.unwrap_or_default() {
                    let value = rocket(stream, file).unwrap_or(file);
                    let parts = self.names.elements(stream, value).unwrap_or_default();
                    let is_file = parts
                        .first()
                        .is_some_and(|kind| self.arg(stream, *kind).0.as_known() == Some("file"));
                    if let Some(name) = parts.get(1).filter(|_| is_file) {
                        self.file(call, *name, Act::Write);
                    }
                }
                if let Some(folder) = call.positional(3) {
                    let (folder, sort) = self.arg(stream, folder);
                    if sort == Sort::Text {
                        self.out.act(Act::Enter(folder));
                    }
                }
            }
            Language::Shell
            | Language::Python
            | Language::Node
            | Language::Perl
            | Language::Awk
            | Language::Sed
            | Language::Sql
            | Language::Editor
            | Language::Patch
            | Language::Source
            | Language::Other => {}
        }
    }

    fn redirected(&mut self, call: &Called<'t, '_>, key: &str, value: Range) {
        if OTHERS.contains(&key) {
            return;
        }
        let parts = self.names.elements(call.stream, value);
        let value = parts.and_then(|parts| parts.first().copied()).unwrap_or(value);
        let (file, sort) = self.arg(call.stream, value);
        if sort != Sort::Text {
            return;
        }
        self.out.act(match key {
            // `cwd` is seen to wherever it stands.
            "chdir" => Act::Enter(file),
            "in" | "0" | "STDIN" | "$stdin" => Act::Read(file),
            _ => Act::Write(file),
        });
    }
}

/// Returns the value of `key => value`.
pub(super) fn rocket(stream: &Stream<'_>, (from, to): Range) -> Option<Range> {
    let after = stream.after(from);
    (after < to && stream.is(after, "=>")).then_some((after + 1, to))
}

/// Returns a key as it is written; several in a list are those of streams that are written.
fn spelled(stream: &Stream<'_>, at: usize) -> String {
    match stream.token(at).map(|token| &token.kind) {
        Some(Kind::Text(text, _)) => text.to_string(),
        Some(Kind::Name(name)) => name.to_string(),
        Some(Kind::Number) => {
            let token = stream.token(at).map(|token| token.end - token.start);
            if token == Some(1) && stream.is(at, "0") { "0".to_owned() } else { String::new() }
        }
        Some(Kind::Sign("[")) => match stream.token(at + 1).map(|token| &token.kind) {
            Some(Kind::Text(text, _)) => text.to_string(),
            Some(_) | None => String::new(),
        },
        Some(Kind::Break | Kind::Pattern | Kind::Shell(_) | Kind::Sign(_)) | None => String::new(),
    }
}
