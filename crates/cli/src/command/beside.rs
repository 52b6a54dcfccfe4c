//! A program behind walls that is spoken to on its standard input and output.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::AsFd as _;

use palisade::policy::text::visible;
use palisade::{Input, Job, Named, Outcome, Output, Request, Run, Sandbox};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::Ui;

/// One that was started.
pub(super) struct Beside {
    pub(super) run: Run,
    pub(super) to: PipeWriter,
    pub(super) from: PipeReader,
}

/// Makes the sandbox for one, which whoever started us named, and says what a person should know of it.
pub(super) fn sandbox(request: &Request, ui: &Ui) -> Result<Sandbox, Failure> {
    let sandbox = Sandbox::new(request)?.confirmer(Named);
    super::warn_running(ui, sandbox.session());
    Ok(sandbox)
}

/// Starts a program in the project's own folder.
pub(super) fn start(sandbox: &Sandbox, argv: &[String]) -> Result<Beside, Failure> {
    let failed = |error: &io::Error| Failure::io("pipe", "no pipe can be had", error);
    let (its_in, to) = io::pipe().map_err(|error| failed(&error))?;
    let (from, its_out) = io::pipe().map_err(|error| failed(&error))?;
    let errors = io::stderr().as_fd().try_clone_to_owned().map_or(Output::Null, Output::To);
    let job = Job::argv(argv.iter().cloned())
        .cwd(sandbox.session().root().path.clone())
        .stdin(Input::From(its_in.into()))
        .stdout(Output::To(its_out.into()))
        .stderr(errors);
    let run = sandbox.start(job)?;
    Ok(Beside { run, to, from })
}

/// Says how it ended; `what` it is, for people.
pub(super) fn ended(outcome: &Outcome, what: &str, ui: &Ui) -> Exit {
    if !outcome.executed() {
        let reason = outcome.reason().unwrap_or_default();
        let code = outcome.code().unwrap_or("denied");
        ui.say(&format!("error[{code}]: the {what} is not started: {}", visible(&reason)));
    }
    match outcome.code() {
        _ if outcome.denied() => Exit::Denied,
        // By us, when whoever spoke to it was gone.
        Some("stopped") => Exit::Success,
        Some(_) | None => Exit::Ran(outcome.exit_status()),
    }
}
