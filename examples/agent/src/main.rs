//! `cargo run -p palisade-example-agent [DIR]`: the agent mends its fixture, or is evaluated on tasks.
#![forbid(unsafe_code)]

use std::error::Error;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use palisade::Request;
use palisade::audit::span;
use palisade::eval::{self, Evaluation, Stopping};
use palisade_example_agent::{Halt, Scripted};

fn main() -> ExitCode {
    match run(std::env::args_os().nth(1).map(PathBuf::from)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // Where standard error is gone, there is nobody left to tell.
            writeln!(io::stderr(), "error: {error}").ok();
            ExitCode::from(125)
        }
    }
}

fn run(tasks: Option<PathBuf>) -> Result<bool, Box<dyn Error>> {
    let request = Request::from_process()?;
    let agent = Scripted::new(request.clone());
    let mut out = io::stdout().lock();
    if let Some(folder) = tasks {
        let tasks = eval::load(&folder)?;
        let hidden = vec![folder.canonicalize()?];
        let evaluation = Evaluation {
            tasks: &tasks,
            samples: 1,
            jobs: 1,
            request: &request,
            hidden,
            keep: None,
            stopping: Stopping::default(),
        };
        let report = evaluation.run(&agent, &|_, _| ())?;
        writeln!(out, "{:#}", report.json())?;
        return Ok(report.samples().all(|sample| sample.passed));
    }
    let project = copy()?;
    let mut request = request;
    (request.cwd, request.root) = (project.0.clone(), Some(project.0.clone()));
    let (done, spans) = agent.solve("`sum.sh N` leaves out the last number", request)?;
    for step in &done.steps {
        writeln!(out, "{:?}: {}", step.state, step.tool)?;
    }
    writeln!(out, "{:?} after {} steps\n{:#}", done.halt, done.steps.len(), span::json(&spans))?;
    Ok(done.halt == Halt::Solved)
}

/// A copy of the fixture, which is gone when this is.
struct Copy(PathBuf);

fn copy() -> io::Result<Copy> {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixture");
    let folder = std::env::temp_dir().join(format!("palisade-agent-{}", std::process::id()));
    std::fs::create_dir(&folder)?;
    let copy = Copy(folder);
    for name in ["sum.sh", "test.sh"] {
        std::fs::copy(fixture.join(name), copy.0.join(name))?;
    }
    Ok(copy)
}

impl Drop for Copy {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}
