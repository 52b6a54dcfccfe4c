//! What a policy refuses by shape alone, whatever a command would do: inline code for listed
//! interpreters, shells where there is to be no shell, and the runner's jail over every argument.

use super::child::is_flag;
use super::evaluated::substitutes;
use super::scope::Value;
use super::verdict::{Answer, Axis, Reason};
use super::walk::{Input, Walk};
use super::{Judge, Style};
use crate::command::{Act, Arg, Concern, HOLE, Holed as _, Language, Run, SHELLS};
use crate::jail::{self, Entry, Lookup as _, Standing};
use crate::policy::ShellUse;
use crate::text::Span;

/// What a shell would give a meaning to. `$` counts before `(` and `{` only, as source 1 has it.
const METACHARACTERS: [&str; 12] =
    [";", "|", "&", ">", "<", "`", "$(", "${", ")", "\n", "\r", "\0"];

/// Options of zsh that change nothing about how it reads.
const PLAIN_OPTIONS: [&str; 8] =
    ["errexit", "noexec", "nomatch", "nonomatch", "nounset", "pipefail", "verbose", "xtrace"];

impl Walk<'_> {
    /// Judges a program's arguments by their shape. It goes by its name, and by that without a
    /// version.
    pub(super) fn strictly(
        &mut self,
        (name, plain): (&str, &str),
        program: &Arg<'_>,
        args: &[Arg<'_>],
        acts: &[Act<'_>],
    ) {
        if self.judge.shell_use == ShellUse::Never && SHELLS.contains(&versionless(name)) {
            self.refuse(
                "shell-never",
                Axis::Structure,
                format!("`{name}` is a shell, and the policy says that none runs"),
                program.span,
            );
        }
        if let Some(entry) = self.judge.interpreter(name) {
            let origin = Some(entry.origin.clone());
            if let Some((flag, span)) = inline_code(args, acts, program.span) {
                self.report(Reason {
                    answer: Answer::Deny,
                    code: "interpreter",
                    axis: Axis::Argv,
                    message: format!("interpreter `{name}` is given code: {flag}"),
                    span,
                    origin,
                    hint: Some("put the code into a file of the project".into()),
                });
            }
        }
        let language = match plain {
            "perl" => Some(Language::Perl),
            "ruby" => Some(Language::Ruby),
            _ => None,
        };
        if let Some(language) = language {
            for pair in args.windows(2) {
                if let [flag, code] = pair
                    && is_numbered_bundle(&flag.text)
                {
                    self.code(language, code, &Input::Inherited);
                }
            }
        }
        // `bash +c` runs its argument as `-c` does; no such flag has a use.
        let odd = |arg: &&Arg<'_>| {
            arg.text.as_bytes().first() == Some(&b'+') && arg.text.contains(['c', 's'])
        };
        if let Some(arg) = args.iter().find(odd).filter(|_| SHELLS.contains(&plain)) {
            self.ask("unclear", "an option that turns code on in an odd spelling", arg.span);
        }
        // Every shell that has such options ends so; most programs do not.
        if name.ends_with("sh") && SHELLS.contains(&name) {
            self.shell_options(name, args);
        }
        if self.judge.style == Style::Runner {
            for arg in args {
                self.jailed(arg);
            }
        }
    }

    /// Options of a shell that change how it reads.
    fn shell_options(&mut self, shell: &str, args: &[Arg<'_>]) {
        for pair in args.windows(2) {
            if let [flag, name] = pair
                && matches!(&*flag.text, "-O" | "-o")
            {
                self.habit(name);
                // Zsh has many that change how it reads.
                if shell == "zsh" && !PLAIN_OPTIONS.contains(&&*name.text) {
                    self.raise(Concern::Obfuscates, name.span);
                }
            }
        }
        // What follows the text are its parameters, which it may compute with.
        let text = args.iter().position(|arg| is_flag(&arg.text, 'c'));
        for arg in text.and_then(|at| args.get(at + 2..)).unwrap_or_default() {
            self.hidden_subscript(&arg.text, arg.span);
            // `declare -a x="$1"`
            if arg.text.starts_with('(') && substitutes(&arg.text) {
                self.raise(Concern::Evaluates, arg.span);
            }
        }
        let mut flags = args.iter().take_while(|arg| arg.text.starts_with('-'));
        // A text may begin with a dash: no option has a blank.
        let odd = |arg: &&Arg<'_>| is_flag(&arg.text, 'k') || arg.text.contains([' ', '\t', '\n']);
        if let Some(flag) = flags.find(odd) {
            self.raise(Concern::Obfuscates, flag.span);
        }
    }

    /// Refuses metacharacters where no shell reads them.
    pub(super) fn metacharacters(&mut self, argv: &[Arg<'_>]) {
        for arg in argv {
            let found = METACHARACTERS.iter().filter(|mark| arg.text.contains(**mark));
            for mark in found {
                let shown = mark.escape_default();
                self.refuse(
                    "metacharacter",
                    Axis::Structure,
                    format!("an argument contains the shell metacharacter `{shown}`"),
                    arg.span,
                );
            }
        }
    }

    /// The jail over one argument, wherever in it a path stands.
    pub(super) fn jailed(&mut self, arg: &Arg<'_>) {
        if arg.text.has_hole() {
            let message = "an argument is only known at run time".to_owned();
            return self.refuse("path-unknown", Axis::Path, message, arg.span);
        }
        for path in paths_in(&arg.text) {
            self.jail(arg, path);
        }
        // No path by its looks: it is one if something of that name lies there.
        let whole = &*arg.text;
        let value = whole.split_once('=').map(|(_, value)| value);
        for name in [Some(whole).filter(|text| !text.starts_with('-')), value] {
            let Some(name) = name.filter(|name| !name.is_empty()) else { continue };
            let exists = self.scope.cwds().iter().any(|cwd| {
                let path = format!("{}/{name}", cwd.trim_end_matches('/'));
                !matches!(self.sight().look(&path), Entry::Absent)
            });
            if exists {
                self.jail(arg, name);
            }
        }
    }

    /// What `[[ … ]]` looks at.
    pub(super) fn tested(&mut self, value: &Value, span: Span) {
        if self.judge.style == Style::Runner && !value.text.has_hole() {
            let text = value.text.as_str().into();
            self.jailed(&Arg { text, certainty: value.certainty, span, verbatim: None });
        }
    }

    fn jail(&mut self, arg: &Arg<'_>, path: &str) {
        let mut refused = None;
        for cwd in self.scope.cwds() {
            let place = self.judge.ground().place(path, cwd, &self.sight());
            if place.standing == Standing::Device {
                continue;
            }
            refused = match place.inside() {
                jail::Answer::Yes => continue,
                jail::Answer::No(why) => {
                    Some((why.why.code(), format!("`{}` {}", shown(path), why.why)))
                }
                jail::Answer::Unclear(doubt) => {
                    Some((doubt.code(), format!("`{}` {doubt}", shown(path))))
                }
                jail::Answer::Shared => continue,
            };
        }
        if let Some((code, message)) = refused {
            self.refuse(code, Axis::Path, message, arg.span);
        }
    }

    pub(super) fn refuse(&mut self, code: &'static str, axis: Axis, message: String, span: Span) {
        self.report(Reason {
            answer: Answer::Deny,
            code,
            axis,
            message,
            span,
            origin: None,
            hint: None,
        });
    }
}

impl Judge {
    /// Returns the policy's line that lists an interpreter, whatever its version.
    pub(super) fn interpreter(
        &self,
        name: &str,
    ) -> Option<&crate::key::Sourced<crate::name::CommandName>> {
        if self.interpreters.is_empty() {
            return None;
        }
        let plain = versionless(name);
        self.interpreters.iter().find(|entry| {
            let listed = entry.value.as_str();
            name.eq_ignore_ascii_case(listed)
                || plain.eq_ignore_ascii_case(versionless(listed))
                || family(plain) == family(listed)
        })
    }
}

/// Returns a name without its version: `python3.12` is `python`.
#[inline]
pub(super) fn versionless(name: &str) -> &str {
    // Nearly every name ends otherwise.
    match name.as_bytes() {
        [.., b'0'..=b'9' | b'.' | b'-']
        | [.., b'0'..=b'9', b'd' | b'm' | b't']
        | [.., b'.', b'e', b'x', b'e'] => bare(name),
        _ => name,
    }
}

#[cold]
fn bare(name: &str) -> &str {
    let stem = name.strip_suffix(".exe").unwrap_or(name);
    // `python3.13t`, `python3.12d`: builds of a version.
    let built = stem
        .strip_suffix(['t', 'd', 'm'])
        .filter(|rest| rest.ends_with(|c: char| c.is_ascii_digit()));
    let stem = built.unwrap_or(stem);
    stem.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-')
}

/// Interpreters that are one language under several names.
fn family(name: &str) -> &str {
    match name {
        "python" | "pypy" | "ipython" | "micropython" | "jython" | "graalpy" | "cpython" => {
            "python"
        }
        "node" | "nodejs" | "bun" | "deno" | "tsx" | "ts-node" | "qjs" | "gjs" | "d8" => "node",
        "ruby" | "jruby" | "irb" => "ruby",
        "sh" | "bash" | "dash" | "ash" | "ksh" | "mksh" | "rbash" | "yash" => "sh",
        "awk" | "gawk" | "mawk" | "nawk" | "original-awk" | "goawk" => "awk",
        "lua" | "luajit" => "lua",
        other => other,
    }
}

/// Returns the argument that hands an interpreter code, and how it is to be called.
fn inline_code(args: &[Arg<'_>], acts: &[Act<'_>], program: Span) -> Option<(String, Span)> {
    for arg in args {
        let text = &*arg.text;
        if is_numbered_bundle(text) {
            return Some((format!("`{}`", shown(text)), arg.span));
        }
        let starts = ["-c", "-e", "--eval", "--exec", "--print"];
        let bundled = text.len() > 1
            && text.starts_with('-')
            && !text.starts_with("--")
            && text[1..].bytes().all(|byte| byte.is_ascii_alphabetic())
            && text.bytes().any(|byte| matches!(byte, b'c' | b'e' | b'E'));
        if starts.iter().any(|start| text.starts_with(start)) || bundled {
            let flag = text.split(['=', ' ']).next().unwrap_or(text);
            return Some((format!("`{}`", shown(flag)), arg.span));
        }
    }
    // Modules that run what they are given, or serve the folder to others.
    let modules = ["pdb", "runpy", "http.server", "zipapp", "code", "timeit", "cProfile", "trace"];
    for pair in args.windows(2) {
        if let [flag, module] = pair
            && &*flag.text == "-m"
            && modules.contains(&&*module.text)
        {
            return Some((format!("`-m {}`", module.text), module.span));
        }
    }
    acts.iter().find_map(|act| match act {
        Act::Run(Run::Code(_, code) | Run::Shell(code)) => Some(("inline".into(), code.span)),
        Act::Run(Run::Input(..)) => Some(("on standard input".into(), program)),
        Act::Run(Run::Script(_, file)) if is_stream(&file.text) => {
            Some(("on standard input".into(), file.span))
        }
        Act::Raise(..) => Some(("a module that runs code".into(), program)),
        Act::Run(
            Run::Argv(_)
            | Run::Fed(_)
            | Run::ShellWords(_)
            | Run::Program(_)
            | Run::Script(..)
            | Run::Load(_)
            | Run::Elsewhere(_)
            | Run::ElsewhereInput(_),
        )
        | Act::Read(_)
        | Act::Write(_)
        | Act::Delete(..)
        | Act::Enter(_)
        | Act::Connect(_)
        | Act::Send(_)
        | Act::Mention(_)
        | Act::Link { .. } => None,
    })
}

/// `-0777ne`, `-l012e`: single letters and numbers, and code follows.
pub(super) fn is_numbered_bundle(text: &str) -> bool {
    let Some(letters) = text.strip_prefix('-') else { return false };
    letters.ends_with(['e', 'E'])
        && letters.contains(|c: char| c.is_ascii_digit())
        && letters.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b',' | b':'))
}

/// Returns every path that an argument holds, by its looks: the whole, what stands behind a mark
/// (`--file=/etc/x`, `if=/etc/x`, `@/etc/x`, `a.jar:/etc`, `src=/etc,dst=x`), and what is glued to
/// a flag (`-I../..`).
fn paths_in(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    // An address of another machine is no path; a file's is.
    if let Some((scheme, rest)) = text.split_once("://") {
        if scheme.ends_with("file") || scheme == "sqlite" {
            found.push(rest);
        }
        return found;
    }
    for part in text.split(['=', ',', ':', '@']) {
        let part = if part.starts_with('-') {
            let start = ["/", "..", "~"].iter().filter_map(|mark| part.find(mark)).min();
            start.and_then(|start| part.get(start..)).unwrap_or_default()
        } else {
            part
        };
        if is_path(part) {
            found.push(part);
        }
    }
    found
}

/// Whether a file's name may be that of a stream: no file of a project ends so.
fn is_stream(text: &str) -> bool {
    let text = text.trim_end_matches('/');
    text == "-" || text.ends_with("/stdin") || text.contains("/fd/") || text.ends_with("://stdin")
}

fn is_path(text: &str) -> bool {
    text.contains(['/', '\\']) || matches!(text, "." | ".." | "~") || text.starts_with("~")
}

fn shown(text: &str) -> String {
    text.replace(HOLE, "…")
}
