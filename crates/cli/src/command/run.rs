//! `palisade run`: decide, ask, confine, run.

mod table;
mod tasks;
mod watch;

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use palisade::plan::BackEnd;
use palisade::policy::agent;
use palisade::policy::name::{EnvName, Period};
use palisade::policy::policy::NetworkMode;
use palisade::policy::text::visible;
use palisade::{CannotRun, Done, Input, Job, Outcome, Output as Streamed, Sandbox, Signals};
use rustix::stdio::{stderr, stdin, stdout};
use serde_json::{Value as Json, json};

use super::check;
use crate::args::Output;
use crate::asking::{Commanding, Given};
use crate::confirm::Terminal;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};

/// Run a command behind walls that the kernel holds
///
/// Decides first, as `palisade check` does: what is denied is not started, and where the policy
/// asks, the question is put to you at the terminal; no answer means no. What may run can write to
/// the project and to private temporary folders alone, does not see credentials, has no network,
/// and nothing it starts outlives it. A policy file changes any of that; none is needed.
///
/// Output is passed on as it comes. With --json it is captured instead, and the one object on
/// standard output tells everything; --status-fd writes the same object elsewhere.
///
/// Exit codes: the command's own; 124 it took too long, 125 it could not be confined or the usage is
/// wrong, and nothing was run, 126 denied or not confirmed, 127 no such program, 128+n signal n.
///
/// Example: palisade run -- cargo test
#[derive(Debug, Default, clap::Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) commanding: Commanding,

    /// Settings file of srt, as `--policy srt:FILE`
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Vec<String>,

    /// Tasks file of Bloom: runs its tasks, side by side; with --task, that one alone
    ///
    /// Each task has a `workspace` that the others cannot read, from before the first begins. It runs
    /// its `command`, or what stands behind `--`, in which `{task}`, `{agent}`, `{workspace}` and
    /// `{instructions}` are filled in, or its agent with its `instructions`. What is filled in must not
    /// begin with `-`, unless a `--` of the command's own stands before it. Tasks wait for those in
    /// `depends_on`, and are skipped if one of these fails.
    ///
    /// With --task and a command it is `--policy bloom:FILE`: the command runs once, where you are,
    /// under what the file says for the task, and is filled in as well.
    ///
    /// Exit codes: 0 if every task ended with 0; otherwise that of the first that did not, in the
    /// order in which they run; 128+n if signal n ended all; 125 if nothing was run.
    #[arg(long, value_name = "FILE")]
    pub(crate) tasks: Vec<String>,

    /// Most tasks that run at the same time; 8 if nothing is said
    #[arg(long, value_name = "N", requires = "tasks", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,

    /// Folder in which each task without a `workspace` gets one of its own name
    #[arg(long, value_name = "DIR", requires = "tasks")]
    pub(crate) workspaces: Option<PathBuf>,

    /// Tool of an agent that the command runs for: rules about that tool count, and the profile
    /// they pick
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,

    /// End the command after this time, such as `30s` or `5m`, if the policy does not earlier
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) timeout: Option<Period>,

    /// Hand a variable to the command: yours, or with a value of its own. May be repeated
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub(crate) env: Vec<String>,

    /// File that the command reads, instead of standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) stdin: Option<PathBuf>,

    /// Let it reach every public host, and record each connection, whatever the policy's mode is
    ///
    /// `network.deny` and the refusal of private addresses hold. It is for finding out which hosts a
    /// command needs: see --suggest.
    #[arg(long, conflicts_with = "jobs")]
    pub(crate) monitor: bool,

    /// Print the smallest list of hosts that would have let the command pass, after its end
    ///
    /// It is a part of a policy file, on standard error; with --json it is `network.suggest`. It needs
    /// the mode `allow-list` or `monitor`, or --monitor.
    #[arg(long, conflicts_with = "jobs")]
    pub(crate) suggest: bool,

    /// List in the outcome what the command tried to write in vain; it makes writing slower
    #[arg(long)]
    pub(crate) trace_writes: bool,

    /// Write the outcome as JSON to this descriptor, which the command does not see
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(3..))]
    pub(crate) status_fd: Option<u32>,

    #[command(flatten)]
    pub(crate) output: Output,
}

impl RunArgs {
    pub(super) fn format(&self) -> Format {
        self.output.format()
    }

    pub(super) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        if self.runs_tasks() {
            self.no_tasks_watched()?;
            return super::apart(|| tasks::run(self, ui));
        }
        if !self.commanding.is_given() {
            super::nothing_asked(ui);
            return Ok(Exit::Failed);
        }
        if self.workspaces.is_some() || self.jobs.is_some() {
            let message = "--workspaces and --jobs are not for one command of your own";
            return Err(Failure::new("tasks", message).hint(
                "leave the command out: the task runs its own; or leave these out: the command \
                 runs where you are",
            ));
        }
        BackEnd::of(std::env::consts::OS)
            .map_err(|none| Failure::new("no-back-end", none.to_string()).hint(none.hint()))?;
        let status = self.status_fd.map(status).transpose()?;
        let ended = self.ran(ui);
        if let Some(mut status) = status {
            let told = match &ended {
                Ok((outcome, _, warnings)) => self.told(outcome, warnings.clone()),
                Err(failure) => failure.json(),
            };
            writeln!(status, "{told}").map_err(|error| {
                Failure::io("status-fd", "cannot write the outcome to the descriptor", &error)
            })?;
        }
        let (outcome, text, warnings) = ended?;
        match self.format() {
            Format::Json => super::apart(|| ui.json(&self.told(&outcome, warnings)))?,
            Format::Human => super::apart(|| {
                tell(ui, &outcome, &text);
                self.tell_meant(ui, &outcome);
                self.tell_refused(ui, &outcome);
                self.suggestion(&outcome).iter().for_each(|it| ui.say(it.yaml().trim_end()));
            }),
        }
        Ok(Exit::Ran(outcome.exit_status()))
    }

    /// The same command, watched: what it writes and starts and, if the network may be opened for that,
    /// whom it reaches.
    pub(super) fn watched(commanding: &Commanding, monitor: bool, format: Format) -> Self {
        let (commanding, output) = (commanding.clone(), Output::of(format));
        Self { commanding, monitor, trace_writes: true, output, ..Self::default() }
    }

    /// Asks whether a shell was meant to read what is no program.
    fn tell_meant(&self, ui: &Ui, outcome: &Outcome) {
        if outcome.code() == Some("not-found")
            && let Ok(given @ Given::Argv(_)) = self.commanding.command()
        {
            super::doubt(ui, &given);
        }
    }

    /// Returns the variables that are to be passed on, and are not there.
    fn unset(&self) -> impl Iterator<Item = String> {
        let names = self.env.iter().filter(|given| !given.contains('='));
        names.filter(|name| std::env::var_os(name).is_none()).map(|name| visible(name))
    }

    /// Whether the tasks of a file are meant, and not one command under what the file says.
    fn runs_tasks(&self) -> bool {
        let one = self.commanding.task().is_some() && self.commanding.is_given();
        !self.tasks.is_empty() && !one
    }

    /// Runs the command; returns what became of it, its text, and what should be known of the
    /// policy.
    pub(super) fn ran(&self, ui: &Ui) -> Result<(Outcome, String, Json), Failure> {
        let (sandbox, job, text, warnings) = super::apart(|| self.ready(ui))?;
        Ok((sandbox.run_last(job)?, text, warnings))
    }

    /// Makes everything ready that can be before it is decided.
    fn ready(&self, ui: &Ui) -> Result<(Sandbox, Job, String, Json), Failure> {
        // Mostly it may run. Where it may not, this is for nothing, and beside us.
        palisade::send_ahead();
        let mut request = self.commanding.request()?;
        request.policies.extend(self.settings.iter().map(|file| format!("srt:{file}")));
        request.policies.extend(self.tasks.iter().map(|file| format!("bloom:{file}")));
        let cwd = self.commanding.cwd(&request)?;
        request.network = self.monitor.then_some(NetworkMode::Monitor);
        let sandbox = Sandbox::new(&request)?.once().confirmer(Terminal::of(&request));
        self.check_network(sandbox.session())?;
        if self.format() == Format::Human {
            super::warn_running(ui, sandbox.session());
        }
        let mut warnings = super::warnings_running(sandbox.session());
        let say = Some(ui).filter(|_| self.format() == Format::Human);
        super::doubt_tool(self.tool.as_deref(), sandbox.session(), &mut warnings, say);
        let command = self.commanding.command()?;
        let command = tasks::fill_one(command, &self.tasks, &request, sandbox.session())?;
        for unset in self.unset() {
            let message = format!("--env: there is no `{unset}` here to pass on");
            if let Some(told) = warnings.as_array_mut() {
                told.push(json!({ "code": "env-unset", "message": message }));
            }
            say.iter().for_each(|ui| ui.say(&format!("warning: {message}")));
        }
        if self.format() == Format::Human && sandbox.session().agent().is_none() {
            command.known_agent().iter().for_each(|name| {
                ui.say(&format!("note: `{name}` is an agent, and its login is hidden"));
                ui.say(&format!("hint: `--agent {name}` gives it what it needs"));
            });
        }
        if let (Some(told), Some(doubt)) = (warnings.as_array_mut(), command.doubt()) {
            told.push(super::one_word(&doubt));
        }
        let text = command.text();
        Ok((sandbox, self.job(command, cwd)?, text, warnings))
    }

    fn job(&self, command: Given, cwd: String) -> Result<Job, Failure> {
        let mut job = command.job().cwd(cwd).signals(Signals::PassOn);
        for given in &self.env {
            let (name, value) = variable(given)?;
            if let Some(value) = value {
                job = job.variable(name, value);
            }
        }
        if let Some(tool) = &self.tool {
            job = job.tool(tool);
        }
        if self.trace_writes {
            job = job.trace_writes();
        }
        // A person is not told of it.
        if self.format() == Format::Human && self.status_fd.is_none() {
            job = job.brief();
        }
        if let Some(time) = self.timeout {
            job = job.timeout(time.duration());
        }
        job = job.stdin(match &self.stdin {
            Some(file) => Input::From(opened(file)?),
            // It was the command's own text.
            None if self.commanding.is_on_stdin() => Input::Null,
            // A closed one is nothing to read.
            None => stdin().try_clone_to_owned().map_or(Input::Null, Input::From),
        });
        Ok(match self.format() {
            Format::Json => job,
            Format::Human => job.stdout(own(stdout())).stderr(own(stderr())),
        })
    }
}

/// Whether these words may ask for tasks: then commands are started by several threads.
#[cfg(target_os = "linux")]
pub(crate) fn has_tasks(mut words: impl Iterator<Item = std::ffi::OsString>) -> bool {
    words.any(|word| word.to_str().is_some_and(|word| word.starts_with("--tasks")))
}

impl Given {
    /// Returns the agent that is started, if it is one that is known.
    fn known_agent(&self) -> Option<&'static str> {
        match self {
            Self::Argv(argv) => agent::of_program(argv.first()?),
            Self::Shell(_) => None,
        }
    }

    /// Returns the job that runs it.
    pub(super) fn job(self) -> Job {
        match self {
            Self::Argv(argv) => Job::argv(argv),
            Self::Shell(text) => Job::shell(text),
        }
    }
}

/// Codes of notes that are the same at every run, for whoever looks at a plan or an outcome; of what
/// is not confined we have warned already.
const EXPECTED: [&str; 8] = [
    "control-group",
    "external",
    "implied",
    "masked",
    "nested",
    "socket",
    "socket-open",
    "unconfined",
];

/// Tells that a command was not run, and why.
pub(super) fn told_denied(
    ui: &Ui,
    outcome: &Outcome,
    text: &str,
    format: Format,
) -> Result<Exit, Failure> {
    match format {
        Format::Human => tell(ui, outcome, text),
        Format::Json => ui.json(&outcome.json())?,
    }
    Ok(Exit::Denied)
}

/// Tells a person why it did not simply run to its end.
fn tell(ui: &Ui, outcome: &Outcome, text: &str) {
    let (why, notes): (Vec<_>, Vec<_>) =
        outcome.notes.iter().partition(|note| note.code == "not-found");
    for note in notes.into_iter().filter(|note| !EXPECTED.contains(&note.code)) {
        ui.say(&format!("warning: {}", visible(&note.message)));
    }
    let hints = outcome.hints();
    // A hint says all of it, and there is none where no profile is in force.
    for refused in outcome.violations().iter().filter(|_| hints.is_empty()) {
        let (operation, rule) = (refused.operation, refused.rule);
        let path = refused.path.to_string_lossy();
        let (path, remedy) = (visible(&path), visible(&refused.remedy));
        ui.say(&format!("refused: {operation} {path} ({rule}): {remedy}"));
    }
    for hint in hints {
        ui.say(&format!("hint: {}", visible(&hint)));
    }
    let reason = outcome.reason().unwrap_or_default();
    match (&outcome.result, outcome.code()) {
        (Done::Denied { reasons } | Done::Unconfirmed { reasons, .. }, code) => {
            let code = code.unwrap_or("denied");
            ui.say(&format!("error[{code}]: not run: {}", visible(&reason)));
            for reason in reasons {
                ui.say(check::carets(reason, text).trim_end());
            }
        }
        (
            Done::Ran { .. },
            Some(code @ ("timeout" | "idle" | "limit" | "not-found" | "not-started")),
        ) => {
            ui.say(&format!("error[{code}]: {}", visible(&reason)));
            why.iter().for_each(|why| ui.say(&format!("hint: {}", visible(&why.message))));
        }
        (Done::Ran { .. }, Some(_) | None) => {}
    }
}

/// Returns an outcome for programs.
fn told(outcome: &Outcome, warnings: Json) -> Json {
    let mut told = outcome.json();
    told["warnings"] = warnings;
    told
}

/// Reads a time to run in; what is wrong says what to write instead.
pub(super) fn time(text: &str) -> Result<Period, String> {
    match text.parse() {
        Ok(Period::ZERO) => Err("that leaves no time to run in".to_owned()),
        Ok(time) => Ok(time),
        Err(invalid) => Err(match invalid.hint() {
            Some(hint) => format!("{invalid}; {hint}"),
            None => invalid.to_string(),
        }),
    }
}

/// Reads `NAME` or `NAME=VALUE`. The first is nothing where there is no such variable.
fn variable(given: &str) -> Result<(String, Option<String>), Failure> {
    let (name, value) = match given.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (given, None),
    };
    let wrong = |problem: String| {
        Failure::new("env", problem).hint("write `--env NAME` or `--env NAME=VALUE`")
    };
    if let Err(invalid) = name.parse::<EnvName>() {
        return Err(wrong(format!("--env: {invalid}")));
    }
    let value = match value {
        Some(value) => Some(value),
        None => match std::env::var(name) {
            Ok(value) => Some(value),
            Err(std::env::VarError::NotPresent) => None,
            Err(std::env::VarError::NotUnicode(_)) => {
                return Err(wrong(format!("the value of `{name}` is no text")));
            }
        },
    };
    Ok((name.to_owned(), value))
}

fn opened(file: &Path) -> Result<OwnedFd, Failure> {
    File::open(file).map(Into::into).map_err(|error| {
        Failure::io("stdin", format!("cannot read `{}`", file.display()), &error).file(file)
    })
}

/// Returns one of our own descriptors; a closed one is nowhere.
fn own(stream: impl AsFd) -> Streamed {
    stream.as_fd().try_clone_to_owned().map_or(Streamed::Null, Streamed::To)
}

/// Opens a descriptor of ours anew, for writing.
fn status(number: u32) -> Result<File, Failure> {
    let path = format!("/proc/self/fd/{number}");
    OpenOptions::new().append(true).open(path).map_err(|error| {
        let failure = if error.kind() == io::ErrorKind::NotFound {
            Failure::new("status-fd", format!("descriptor {number} is not open"))
        } else {
            Failure::io("status-fd", format!("cannot write to descriptor {number}"), &error)
        };
        failure.hint(format!("open it for writing first, as in `{number}>outcome.json`"))
    })
}

impl From<CannotRun> for Failure {
    fn from(error: CannotRun) -> Self {
        let mut failure = Self::new(error.code(), error.to_string()).caused_by(&error);
        if let Some(hint) = error.hint() {
            failure = failure.hint(hint);
        }
        failure
    }
}
