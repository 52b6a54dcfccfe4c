//! The call that a person asks about.

use std::env;
use std::ffi::OsString;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use clap::Args;
use palisade::policy::decide::{Asked, Call};
use palisade::policy::interception::{Door, MAX_TEXT};
use palisade::policy::shell::{self, UNDECODED};
use palisade::policy::text::visible;
use palisade::{Request, Session};

use crate::args::Subject;
use crate::failure::Failure;
use crate::ui::cut;

/// Which command is meant, and under which policy.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Commanding {
    #[command(flatten)]
    subject: Subject,

    /// Folder the command runs in, instead of the working folder
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// Shell text, instead of a program and its arguments; `-` takes it from standard input
    #[arg(long, value_name = "TEXT", conflicts_with = "argv", allow_hyphen_values = true)]
    pub(crate) shell: Option<OsString>,

    /// Program and its arguments; no shell reads them
    #[arg(last = true, value_name = "ARGV")]
    pub(crate) argv: Vec<OsString>,
}

/// Which call is meant, and under which policy.
#[derive(Debug, Default, Args)]
pub(crate) struct Asking {
    #[command(flatten)]
    pub(crate) commanding: Commanding,

    /// Tool that a model calls, instead of a command
    #[arg(long, value_name = "NAME", conflicts_with_all = ["shell", "argv"], requires = "args")]
    tool: Option<String>,

    /// Arguments of the tool, as JSON; `-` takes them from standard input
    #[arg(long, value_name = "JSON", requires = "tool", allow_hyphen_values = true)]
    args: Option<String>,

    /// Judge the tool call as the proxy does, and not as hooks do
    ///
    /// Hooks judge every call, and strictly. The proxy judges if `tools.enabled` says so, strictly
    /// if `tools.strict` does, and refuses commands that the documented rules call dangerous.
    #[arg(long, requires = "tool")]
    proxy: bool,
}

/// The call that a person gave.
#[derive(Debug)]
pub(crate) enum Given {
    Argv(Vec<String>),
    Shell(String),
}

/// The tool call that a person gave.
#[derive(Debug)]
pub(crate) struct GivenTool<'a> {
    pub(crate) name: &'a str,
    pub(crate) arguments: String,
    pub(crate) door: Door,
}

impl Commanding {
    /// Asks for the policy that these options choose.
    pub(crate) fn request(&self) -> Result<Request, Failure> {
        self.subject.request()
    }

    /// Returns the folder that the command runs in.
    pub(crate) fn cwd(&self, request: &Request) -> Result<String, Failure> {
        let cwd = match &self.cwd {
            Some(dir) => request.cwd.join(dir),
            None => request.cwd.clone(),
        };
        if !cwd.is_dir() {
            let message = format!("`{}` is no folder to run in", cwd.display());
            return Err(Failure::new("cwd", message).hint("name another with --cwd"));
        }
        cwd.into_os_string().into_string().map_err(|_| {
            Failure::new("cwd", "the working folder's name is no text")
                .hint("name another with --cwd")
        })
    }

    /// Whether a command was given. `palisade check --` asks about an empty command, which is
    /// denied; without `--` it is wrong usage.
    pub(crate) fn is_given(&self) -> bool {
        self.shell.is_some() || !self.argv.is_empty() || env::args_os().any(|arg| arg == "--")
    }

    /// Returns the task that was chosen.
    pub(crate) fn task(&self) -> Option<&str> {
        self.subject.task.as_deref()
    }

    /// Whether a folder was chosen, by whichever option.
    pub(crate) fn has_place(&self) -> bool {
        self.cwd.is_some() || self.subject.has_root()
    }

    /// Whether the command itself stands on standard input.
    pub(crate) fn is_on_stdin(&self) -> bool {
        self.shell.as_ref().is_some_and(|shell| shell == "-")
    }

    /// Returns the call. Bytes that are no text become a character that every text is refused for.
    pub(crate) fn command(&self) -> Result<Given, Failure> {
        Ok(match &self.shell {
            Some(_) if self.is_on_stdin() => Given::Shell(read_shell()?),
            Some(shell) => Given::Shell(text(shell.as_bytes())),
            None => Given::Argv(self.argv.iter().map(|word| text(word.as_bytes())).collect()),
        })
    }
}

impl Asking {
    /// Asks for the policy that these options choose.
    pub(crate) fn request(&self) -> Result<Request, Failure> {
        self.commanding.request()
    }

    /// Opens the project, and returns the folder that the call runs in.
    ///
    /// The session lives as long as the process: taking a policy apart piece by piece would be a
    /// part of the time that somebody waits for an answer.
    pub(crate) fn open(&self) -> Result<(&'static Session, String), Failure> {
        let (request, session) = self.commanding.subject.open()?;
        let cwd = self.commanding.cwd(&request)?;
        Ok((Box::leak(Box::new(session)), cwd))
    }

    /// Whether anything was asked.
    pub(crate) fn is_given(&self) -> bool {
        self.commanding.is_given()
    }

    /// Returns the tool call, if one was given.
    pub(crate) fn tool(&self) -> Result<Option<GivenTool<'_>>, Failure> {
        let (Some(name), Some(args)) = (&self.tool, &self.args) else { return Ok(None) };
        let arguments = if args == "-" { read_arguments()? } else { args.clone() };
        let door = if self.proxy { Door::Proxy } else { Door::Hook };
        Ok(Some(GivenTool { name, arguments, door }))
    }

    /// Returns the call.
    pub(crate) fn command(&self) -> Result<Given, Failure> {
        self.commanding.command()
    }
}

/// Marks bytes that are no text.
fn text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend((!chunk.invalid().is_empty()).then_some(UNDECODED));
    }
    text
}

/// Reads a little more than is judged, so that what is too long is seen to be. What ends the last
/// line is not a part of it.
fn read_shell() -> Result<String, Failure> {
    let most = u64::try_from(shell::MAX_TEXT).unwrap_or(u64::MAX).saturating_add(2);
    let mut bytes = Vec::new();
    io::stdin().lock().take(most).read_to_end(&mut bytes).map_err(|error| {
        Failure::io("stdin", "cannot read the command from standard input", &error)
    })?;
    Ok(text(bytes.strip_suffix(b"\n").unwrap_or(&bytes)))
}

/// Reads a little more than is judged, so that what is too long is seen to be.
fn read_arguments() -> Result<String, Failure> {
    let most = u64::try_from(MAX_TEXT).unwrap_or(u64::MAX).saturating_add(1);
    let mut text = String::new();
    io::stdin().lock().take(most).read_to_string(&mut text).map_err(|error| {
        Failure::io("args", "cannot read the arguments from standard input", &error)
            .hint("they must be JSON in UTF-8")
    })?;
    Ok(text)
}

impl Given {
    /// Hands the call over in the form in which it is decided.
    pub(crate) fn asked<T>(&self, decide: impl FnOnce(Asked<'_>) -> T) -> T {
        match self {
            Self::Argv(argv) => decide(Asked::Argv(argv)),
            Self::Shell(text) => decide(Asked::Shell(text)),
        }
    }

    /// Returns the text that places in reasons point into, as it can be shown.
    pub(crate) fn text(&self) -> String {
        let text = self.asked(|command| Call { command, cwd: "/" }.text());
        text.replace(UNDECODED, char::REPLACEMENT_CHARACTER.encode_utf8(&mut [0; 4]))
    }

    /// Returns what a person may have meant otherwise.
    pub(crate) fn doubt(&self) -> Option<String> {
        let Self::Argv(argv) = self else { return None };
        let [only] = &**argv else { return None };
        let is_text = only.trim().contains(char::is_whitespace);
        is_text.then(|| {
            let name = cut(&visible(only), 60);
            format!("no shell reads this: it is one program, called `{name}`")
        })
    }
}
