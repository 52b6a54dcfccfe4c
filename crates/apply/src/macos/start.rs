//! From a plan for macOS to a process.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Instant, SystemTime};

use palisade_plan::{Limit, Plan, Step};
use rustix::process::Resource;

use super::error::CannotStart;
use super::handed::Streams;
use super::running::{Running, Started};
use super::streams::{input, output};
use crate::sys::macos::own_session;

/// By its path: another of this name in the search path would be no sandbox.
pub(super) const SANDBOX_EXEC: &str = "/usr/bin/sandbox-exec";

/// What the steps of a plan come to.
#[derive(Default)]
struct Wanted<'p> {
    limits: Vec<(Resource, u64)>,
    cwd: Option<&'p Path>,
    profile: Option<(&'p str, &'p [(String, String)])>,
    exec: Option<Exec<'p>>,
    step: usize,
}

/// The command.
struct Exec<'p> {
    argv: &'p [String],
    paths: &'p [PathBuf],
    environment: &'p [(String, String)],
}

pub(super) fn start(plan: &Plan, streams: Streams) -> Result<Running, CannotStart> {
    let wanted = Wanted::of(plan)?;
    let Some(Exec { argv, paths, environment }) = wanted.exec else {
        return Err(doing("find the command of the plan", io::ErrorKind::InvalidInput.into()));
    };
    let tmp = fresh_folder().map_err(|errno| doing("make a temporary folder", errno))?;
    let Some(program) = paths.iter().find(|path| is_program(path)) else {
        return Ok(Running::not_found(plan, tmp));
    };
    let mut command = match wanted.profile {
        None => Command::new(program),
        Some((text, parameters)) => {
            let confined = || {
                let mut command = Command::new(SANDBOX_EXEC);
                command.arg("-D").arg(format!("_TMP={}", tmp.path().display()));
                for (name, value) in parameters {
                    command.arg("-D").arg(format!("{name}={value}"));
                }
                command.arg("-p").arg(text).arg("--");
                command
            };
            prove(confined(), wanted.step, plan)?;
            let mut command = confined();
            command.arg(program);
            command
        }
    };
    command.args(argv.get(1..).unwrap_or_default()).env_clear();
    command.envs(environment.iter().map(|(name, value)| (name, value)));
    command.env("TMPDIR", tmp.path()).current_dir(wanted.cwd.unwrap_or(Path::new("/")));
    own_session(&mut command, wanted.limits);
    let bounds = plan.bounds();
    command.stdin(input(streams.stdin)?);
    let (stdout, out) = output(1, streams.stdout, bounds)?;
    let (stderr, err) = output(2, streams.stderr, bounds)?;
    command.stdout(stdout).stderr(stderr);
    let begun = Instant::now();
    let child = command.spawn().map_err(|errno| doing("start the command", errno))?;
    // Our copies of its ends of the pipes would keep the pumps from seeing their end.
    drop(command);
    Ok(Running::started(plan, Started { child, begun, pumps: [out, err], tmp }))
}

impl<'p> Wanted<'p> {
    /// Takes the steps in. A step that macOS has nothing for is no step of a plan for it.
    fn of(plan: &'p Plan) -> Result<Self, CannotStart> {
        let mut wanted = Self::default();
        for (number, step) in plan.steps().iter().enumerate() {
            // What every start here does, and what a command without walls is not promised.
            let done = matches!(step, Step::Session | Step::Descriptors | Step::Reaper)
                || *step == Step::Adopt && !plan.is_confined();
            if let Step::Limit(limit) = step {
                wanted.limits.extend(resource(*limit));
            } else if let Step::Enter(cwd) = step {
                wanted.cwd = Some(cwd);
            } else if let Step::Seatbelt { text, parameters } = step {
                wanted.profile = Some((text, parameters));
                wanted.step = number;
            } else if let Step::Exec { argv, paths, environment } = step {
                wanted.exec = Some(Exec { argv, paths, environment });
            } else if !done {
                let (step, errno) = (step.to_string(), io::ErrorKind::Unsupported.into());
                return Err(CannotStart::Step { number, step, errno });
            }
        }
        // A plan with walls and without a profile has none.
        if plan.is_confined() && wanted.profile.is_none() {
            return Err(doing(
                "put up a wall without a profile",
                io::ErrorKind::Unsupported.into(),
            ));
        }
        Ok(wanted)
    }
}

/// Puts the profile in force around a program that does nothing: what cannot be is told before the
/// command runs.
fn prove(mut confined: Command, number: usize, plan: &Plan) -> Result<(), CannotStart> {
    confined.arg("/usr/bin/true").env_clear().current_dir("/").stdin(Stdio::null());
    let tried = confined.output().map_err(|errno| doing("start /usr/bin/sandbox-exec", errno))?;
    if tried.status.success() {
        return Ok(());
    }
    let step = plan.steps().get(number).map(ToString::to_string).unwrap_or_default();
    let errno = io::Error::other(String::from_utf8_lossy(&tried.stderr).trim().to_owned());
    Err(CannotStart::Step { number, step, errno })
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

fn resource(limit: Limit) -> Option<(Resource, u64)> {
    match limit {
        Limit::NoCores => Some((Resource::Core, 0)),
        Limit::CpuSeconds(most) => Some((Resource::Cpu, most)),
        Limit::FileSize(most) => Some((Resource::Fsize, most)),
        Limit::OpenFiles(most) => Some((Resource::Nofile, most)),
        Limit::Processes(_) | Limit::Data(_) => None,
    }
}

/// A folder for one run, removed with everything in it.
#[derive(Debug)]
pub(super) struct Tmp(PathBuf);

impl Tmp {
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Tmp {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

/// Makes a folder that nobody else can enter, at a path without links: Seatbelt sees no other.
fn fresh_folder() -> io::Result<Tmp> {
    let folder = std::env::temp_dir().canonicalize()?;
    let mut last = io::ErrorKind::AlreadyExists.into();
    for _ in 0..100 {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let name = format!("palisade-{}-{}", std::process::id(), now.as_nanos());
        let path = folder.join(name);
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(Tmp(path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

fn doing(doing: &'static str, errno: io::Error) -> CannotStart {
    CannotStart::Before { doing, errno }
}
