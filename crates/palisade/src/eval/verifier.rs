//! Seeing whether a task was solved.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use palisade_apply::Jail;
use palisade_policy::name::{Found, Pattern};
use palisade_policy::text::visible;
use serde_json::{Map, Value as Json};

use super::candidate::Sample;
use crate::sandbox::{Job, Sandbox};
use crate::session::Request;

/// The largest file that is looked at.
const LARGEST: u64 = 16 << 20;

/// How long a command may take, if the task does not say.
const TIME: Duration = Duration::from_secs(10);

/// The longest that a task may say.
const LONGEST: f64 = 86_400.0;

/// How it is seen whether a task was solved.
#[derive(Clone, Debug)]
pub enum Verifier {
    /// A file is as in `expected`.
    FileEquals {
        /// The file.
        path: PathBuf,
        /// Whether newlines at the end count for nothing.
        normalize_trailing_newline: bool,
    },
    /// A pattern is found in a file; `^` and `$` mean lines.
    RegexMatch {
        /// The file.
        path: PathBuf,
        /// The pattern.
        pattern: Pattern,
    },
    /// A command, in the sandbox, ends with a code.
    ShellExitZero {
        /// Program and arguments.
        argv: Vec<String>,
        /// How long it may take.
        timeout: Duration,
        /// The code: zero, unless the task says another.
        expected_exit_code: u8,
    },
}

/// Why a task has no verifier that could be asked.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct WrongVerifier(String);

/// What a verifier says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Verified {
    /// Whether the task was solved.
    pub passed: bool,
    /// What was seen.
    pub detail: String,
}

impl Verifier {
    pub(super) fn read(told: &Json) -> Result<Self, WrongVerifier> {
        let wrong = |what: &str| WrongVerifier(format!("the verifier is wrong: {what}"));
        let name = told.get("name").and_then(Json::as_str);
        let name = name.ok_or_else(|| wrong("it has no `name`"))?;
        let none = Map::new();
        let args = match told.get("args") {
            None => &none,
            Some(args) => args.as_object().ok_or_else(|| wrong("`args` is no object"))?,
        };
        let args = Args(args);
        let read = match name {
            "file_equals" => args.path().and_then(|path| {
                let normalize_trailing_newline = args.flag("normalize_trailing_newline", true)?;
                Ok(Self::FileEquals { path, normalize_trailing_newline })
            }),
            "regex_match" => args.path().and_then(|path| {
                let text = args.text("pattern")?;
                let pattern = format!("(?m){text}").parse();
                let pattern = pattern.map_err(|invalid| format!("`pattern`: {invalid}"))?;
                Ok(Self::RegexMatch { path, pattern })
            }),
            "shell_exit_zero" => args.command(),
            unknown => Err(format!(
                "nobody knows `{}`; there are `file_equals`, `regex_match` and `shell_exit_zero`",
                visible(unknown)
            )),
        };
        read.map_err(|what| wrong(&what))
    }

    /// Looks at a sample, or runs its command there, as `request` says.
    pub(super) fn check(&self, sample: &Sample<'_>, request: &Request) -> Verified {
        let seen = match self {
            Self::FileEquals { path, normalize_trailing_newline } => {
                equal(sample, path, *normalize_trailing_newline)
            }
            Self::RegexMatch { path, pattern } => matching(sample, path, pattern),
            Self::ShellExitZero { argv, timeout, expected_exit_code } => {
                let job = Job::argv(argv.clone()).timeout(*timeout).brief();
                ends_with(job, (sample, request), i32::from(*expected_exit_code))
            }
        };
        match seen {
            Ok(detail) => Verified { passed: true, detail },
            Err(detail) => Verified { passed: false, detail },
        }
    }
}

fn equal(sample: &Sample<'_>, path: &Path, normalize: bool) -> Result<String, String> {
    let expected = content(&sample.task.expected(), path);
    let expected = expected.map_err(|why| format!("in `expected`: {why}"))?;
    let found = content(sample.folder, path)?;
    let bare = |bytes: &[u8]| match normalize {
        true => {
            bytes.len() - bytes.iter().rev().take_while(|it| matches!(it, b'\n' | b'\r')).count()
        }
        false => bytes.len(),
    };
    let (found, expected) = (found.get(..bare(&found)), expected.get(..bare(&expected)));
    let shown = shown(path);
    if found == expected {
        return Ok(format!("`{shown}` is as expected"));
    }
    let lines = |bytes: Option<&[u8]>| {
        let lines = bytes.unwrap_or_default().split(|byte| *byte == b'\n');
        lines.map(<[u8]>::to_vec).collect::<Vec<_>>()
    };
    let (found, expected) = (lines(found), lines(expected));
    let same = found.iter().zip(&expected).take_while(|(one, other)| one == other).count();
    Err(format!("`{shown}` differs from what is expected in line {}", same + 1))
}

fn matching(sample: &Sample<'_>, path: &Path, pattern: &Pattern) -> Result<String, String> {
    let content = content(sample.folder, path)?;
    let text = String::from_utf8_lossy(&content);
    let (path, shown) = (shown(path), visible(pattern.as_str().trim_start_matches("(?m)")));
    match pattern.search(&text) {
        Found::Yes => Ok(format!("`{path}` matches `{shown}`")),
        Found::No => Err(format!("`{path}` does not match `{shown}`")),
        Found::Undecided => Err(format!("`{shown}` takes too long on `{path}`")),
    }
}

fn ends_with(
    job: Job,
    (sample, request): (&Sample<'_>, &Request),
    expected: i32,
) -> Result<String, String> {
    let sandbox = Sandbox::new(request).map_err(|error| format!("no sandbox: {error}"))?;
    let outcome = sandbox.start(job).and_then(|run| sample.stopping.wait(run));
    let outcome = outcome.map_err(|error| format!("no sandbox: {error}"))?;
    let line = visible(&outcome.argv.join(" "));
    if outcome.denied() || !outcome.executed() || outcome.timed_out() {
        let why = outcome.reason().unwrap_or_default();
        return Err(format!("`{line}`: {}", visible(&why)));
    }
    let code = outcome.exit_code();
    if code == expected {
        return Ok(format!("`{line}` ended with {code}"));
    }
    // Mostly the last thing that it said is why.
    let said = format!("{}{}", outcome.stdout_text(), outcome.stderr_text());
    let said = said.lines().rev().find(|line| !line.trim().is_empty()).map(|line| {
        let line: String = line.trim().chars().take(200).collect();
        format!(": {}", visible(&line))
    });
    let said = said.unwrap_or_default();
    Err(format!("`{line}` ended with {code} and not with {expected}{said}"))
}

/// Reads a file beneath a folder, whatever links were planted there.
fn content(folder: &Path, path: &Path) -> Result<Vec<u8>, String> {
    let jail = Jail::open_root(folder).map_err(|failed| visible(&failed.to_string()))?;
    jail.read(path, LARGEST).map_err(|failed| visible(&failed.to_string()))
}

fn shown(path: &Path) -> String {
    visible(&path.to_string_lossy())
}

/// The arguments of a verifier.
struct Args<'a>(&'a Map<String, Json>);

impl Args<'_> {
    fn text(&self, key: &str) -> Result<&str, String> {
        match self.0.get(key) {
            Some(Json::String(text)) if !text.is_empty() => Ok(text),
            Some(_) => Err(format!("`{key}` is no text")),
            None => Err(format!("`{key}` is missing")),
        }
    }

    fn path(&self) -> Result<PathBuf, String> {
        let path = PathBuf::from(self.text("path")?);
        let mut parts = path.components();
        match parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
            true => Ok(path),
            false => Err("`path` leads out of the task".to_owned()),
        }
    }

    fn flag(&self, key: &str, otherwise: bool) -> Result<bool, String> {
        match self.0.get(key) {
            None => Ok(otherwise),
            Some(Json::Bool(flag)) => Ok(*flag),
            Some(_) => Err(format!("`{key}` is neither `true` nor `false`")),
        }
    }

    fn command(&self) -> Result<Verifier, String> {
        let argv = self.0.get("argv").ok_or("`argv` is missing")?;
        let words = argv.as_array().filter(|words| !words.is_empty());
        let words = words.ok_or("`argv` is no list of words")?;
        let words = words.iter().map(|word| word.as_str().map(str::to_owned));
        let argv = words.collect::<Option<Vec<String>>>().ok_or("`argv` holds more than text")?;
        let timeout = match self.0.get("timeout_seconds") {
            None => TIME,
            Some(time) => {
                let time = time.as_f64().filter(|time| *time > 0.0 && *time <= LONGEST);
                Duration::from_secs_f64(time.ok_or("`timeout_seconds` is no time to run in")?)
            }
        };
        let code = match self.0.get("expected_exit_code") {
            None => Some(0),
            Some(code) => code.as_u64().and_then(|code| u8::try_from(code).ok()),
        };
        let expected_exit_code = code.ok_or("`expected_exit_code` is no number up to 255")?;
        Ok(Verifier::ShellExitZero { argv, timeout, expected_exit_code })
    }
}
