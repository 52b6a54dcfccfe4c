//! `palisade run --tasks`: the tasks of a file, side by side, each kept from the others.

mod lines;
mod prepare;

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use palisade::policy::text::visible;
use palisade::{CannotRun, CaughtSignals, Job, Outcome, Stop};
use serde_json::{Value as Json, json};

use super::table::{Row, State, Table};
use super::{RunArgs, status, told};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};
use prepare::Prepared;

/// Most tasks that run at the same time, if nobody says otherwise.
const JOBS: u16 = 8;

/// How often a terminal is drawn anew, and signals are looked for.
const TICK: Duration = Duration::from_millis(100);

/// What became of a task.
pub(super) enum Ended {
    /// It was run, or was not because it is denied.
    Told(Box<Outcome>),
    /// We failed before anything of it ran.
    Failed(Failure),
    /// It was not begun.
    Skipped(&'static str),
}

/// What all threads know.
struct Shared<'a> {
    tasks: &'a [Prepared],
    board: Mutex<Board>,
    changed: Condvar,
    format: Format,
    /// Whether lines are passed on as they come.
    streams: bool,
}

struct Board {
    rows: Vec<Row>,
    ended: Vec<Option<Ended>>,
    stops: Vec<Option<Stop>>,
    signal: Option<i32>,
}

pub(super) fn run(args: &RunArgs, ui: &Ui) -> Result<Exit, Failure> {
    let mut status = args.status_fd.map(status).transpose()?;
    let tasks = prepare::prepare(args, ui)?;
    // Before the first begins: what comes from now on ends all of them.
    let signals = CaughtSignals::catch_ending();
    let row = |task: &Prepared| Row::new(&task.work.name, task.agent.as_deref().unwrap_or(""));
    let board = Board {
        rows: tasks.iter().map(row).collect(),
        ended: tasks.iter().map(|_| None).collect(),
        stops: tasks.iter().map(|_| None).collect(),
        signal: None,
    };
    let live = args.format() == Format::Human && io::stderr().is_terminal();
    let shared = Shared {
        tasks: &tasks,
        board: Mutex::new(board),
        changed: Condvar::new(),
        format: args.format(),
        streams: !(live && io::stdout().is_terminal()),
    };
    let jobs = usize::from(args.jobs.unwrap_or(JOBS)).min(tasks.len());
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| shared.work());
        }
        shared.attend(signals.as_ref(), live.then(Table::new));
    });
    drop(signals);
    let Board { rows, ended, signal, .. } =
        shared.board.into_inner().unwrap_or_else(PoisonError::into_inner);
    let ended: Vec<Ended> =
        ended.into_iter().map(|it| it.unwrap_or(Ended::Skipped("lost"))).collect();
    let exit = code(&ended, signal);
    let told = json(&tasks, &ended, exit);
    if let Some(status) = &mut status {
        writeln!(status, "{told}").map_err(|error| {
            Failure::io("status-fd", "cannot write the outcome to the descriptor", &error)
        })?;
    }
    match args.format() {
        Format::Json => ui.json(&told)?,
        Format::Human => tell(ui, &tasks, &ended, &rows, !shared.streams),
    }
    Ok(Exit::Ran(exit))
}

impl Shared<'_> {
    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does tasks until none is left that may begin.
    fn work(&self) {
        while let Some(at) = self.next() {
            let Some(task) = self.tasks.get(at) else { return };
            let ended = self.done(at, task);
            let mut board = self.board();
            let state = State::of(&ended);
            if let Some(row) = board.rows.get_mut(at) {
                row.end(state);
            }
            self.line(task, &format!("ended: {state}"));
            if let Some(slot) = board.ended.get_mut(at) {
                *slot = Some(ended);
            }
            if let Some(stop) = board.stops.get_mut(at) {
                *stop = None;
            }
            drop(board);
            self.changed.notify_all();
        }
    }

    /// Waits for a task that may begin; none if no more will.
    fn next(&self) -> Option<usize> {
        let mut board = self.board();
        loop {
            board.skip(self.tasks);
            let may = |at: &usize| board.may_begin(*at, self.tasks);
            if let Some(at) = (0..self.tasks.len()).find(may) {
                if let Some(row) = board.rows.get_mut(at) {
                    row.begin();
                }
                return Some(at);
            }
            if board.rows.iter().all(|row| row.state != State::Waiting) {
                self.changed.notify_all();
                return None;
            }
            board = self.changed.wait(board).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Runs one task to its end.
    fn done(&self, at: usize, task: &Prepared) -> Ended {
        self.line(task, &format!("begun in {}", visible(&task.workspace.to_string_lossy())));
        let run = match task.sandbox.start(self.job(at, task)) {
            Ok(run) => run,
            Err(error) => return failed(error),
        };
        let mut board = self.board();
        if let Some(stop) = board.stops.get_mut(at) {
            *stop = run.stop();
        }
        // It may have come before there was anything to stop.
        let late = board.signal.is_some();
        drop(board);
        if let (true, Some(stop)) = (late, run.stop()) {
            stop.now();
        }
        run.wait().map_or_else(failed, |outcome| Ended::Told(Box::new(outcome)))
    }

    fn job(&self, at: usize, task: &Prepared) -> Job {
        let job = task.job();
        match self.format {
            Format::Json => job,
            // What they print is a thread's of this run, and told before it is waited for.
            Format::Human => {
                job.stdout(task.lines.collect((at, false))).stderr(task.lines.collect((at, true)))
            }
        }
    }

    /// Says something of a task, where nobody looks at a table.
    fn line(&self, task: &Prepared, text: &str) {
        if self.streams && self.format == Format::Human {
            writeln!(io::stderr(), "{}: {text}", visible(&task.work.name)).ok();
        }
    }

    /// Shows how things stand, and ends everything when a signal says so.
    fn attend(&self, signals: Option<&CaughtSignals>, mut table: Option<Table>) {
        loop {
            let came = match signals {
                Some(signals) => signals.next_within(TICK),
                None => {
                    thread::sleep(TICK);
                    None
                }
            };
            let mut board = self.board();
            // What ended tasks have printed is there when it is seen that they have ended.
            let over = board.ended.iter().all(Option::is_some);
            let printed: Vec<_> = self.tasks.iter().flat_map(Prepared::printed).collect();
            for ((at, _), line) in &printed {
                if let Some(row) = board.rows.get_mut(*at) {
                    row.hear(line);
                }
            }
            if let Some(number) = came {
                board.signal.get_or_insert(number);
                board.stops.iter().flatten().for_each(Stop::now);
                self.changed.notify_all();
            }
            if let Some(table) = &mut table {
                table.draw(&board.rows);
            }
            // Whoever reads may stand still, and must not keep tasks from going on.
            drop(board);
            for ((at, errors), line) in printed.iter().filter(|_| self.streams) {
                self.pass_on(*at, *errors, line);
            }
            if over {
                return;
            }
        }
    }

    fn pass_on(&self, at: usize, errors: bool, line: &str) {
        let name = self.tasks.get(at).map(|task| visible(&task.work.name)).unwrap_or_default();
        let text = format!("{name}| {line}\n");
        // A reader that has seen enough is no failure.
        match errors {
            true => io::stderr().write_all(text.as_bytes()).ok(),
            false => io::stdout().write_all(text.as_bytes()).ok(),
        };
    }
}

impl Board {
    fn may_begin(&self, at: usize, tasks: &[Prepared]) -> bool {
        let waits = self.rows.get(at).is_some_and(|row| row.state == State::Waiting);
        let done =
            |other: &usize| matches!(self.rows.get(*other), Some(row) if row.state.is_good());
        waits && tasks.get(at).is_some_and(|task| task.after.iter().all(done))
    }

    /// Gives up on tasks whose turn never comes.
    fn skip(&mut self, tasks: &[Prepared]) {
        for (at, task) in tasks.iter().enumerate() {
            let bad = |other: &usize| matches!(self.rows.get(*other), Some(row) if row.state.is_over() && !row.state.is_good());
            let why = if self.signal.is_some() {
                "everything was ended"
            } else if task.after.iter().any(bad) {
                "a task before it failed"
            } else if task.work.done {
                "it was done before"
            } else {
                continue;
            };
            let Some(row) = self.rows.get_mut(at).filter(|row| row.state == State::Waiting) else {
                continue;
            };
            row.state = if task.work.done { State::Done } else { State::Skipped };
            if let Some(slot) = self.ended.get_mut(at) {
                *slot = Some(Ended::Skipped(why));
            }
        }
    }
}

fn failed(error: CannotRun) -> Ended {
    Ended::Failed(error.into())
}

/// Returns the code that all of it ends with.
fn code(ended: &[Ended], signal: Option<i32>) -> u8 {
    if let Some(number) = signal {
        return 128_u8.saturating_add(u8::try_from(number).unwrap_or_default());
    }
    let codes = ended.iter().map(|ended| match ended {
        Ended::Told(outcome) => outcome.exit_status(),
        Ended::Failed(_) => 125,
        Ended::Skipped(_) => 0, // that before it, which failed, has a code
    });
    codes.into_iter().find(|code| *code != 0).unwrap_or(0)
}

fn json(tasks: &[Prepared], ended: &[Ended], exit: u8) -> Json {
    let one = |(task, ended): (&Prepared, &Ended)| {
        let (outcome, error, skipped) = match ended {
            Ended::Told(outcome) => (told(outcome, task.warnings.clone()), Json::Null, None),
            Ended::Failed(failure) => (Json::Null, failure.json()["error"].clone(), None),
            Ended::Skipped(why) => (Json::Null, Json::Null, Some(*why)),
        };
        json!({
            "task": &*task.work.name,
            "agent": task.agent,
            "workspace": task.workspace.to_string_lossy(),
            "state": State::of(ended).to_string(),
            "outcome": outcome,
            "error": error,
            "skipped": skipped,
        })
    };
    let tasks: Json = tasks.iter().zip(ended).map(one).collect();
    json!({ "tasks": tasks, "exit_code": exit, "ok": exit == 0 })
}

/// Tells a person what became of each task, and why it was not what was asked for.
fn tell(ui: &Ui, tasks: &[Prepared], ended: &[Ended], rows: &[Row], shows_output: bool) {
    for ((task, ended), row) in tasks.iter().zip(ended).zip(rows) {
        let name = visible(&task.work.name);
        let bad = match ended {
            Ended::Told(outcome) => {
                super::tell(ui, outcome, &task.text);
                outcome.exit_status() != 0
            }
            Ended::Failed(failure) => {
                ui.say(&failure.screen());
                true
            }
            Ended::Skipped(why) => {
                ui.say(&format!("note: `{name}` was not run: {why}"));
                false
            }
        };
        if bad && shows_output {
            ui.say(&format!("the last lines of `{name}`:"));
            row.last().for_each(|line| ui.say(&format!("  {}", visible(line))));
        }
    }
    let count = |state: State| ended.iter().filter(|it| State::of(it) == state).count();
    let (good, done) = (count(State::Ended(0)), count(State::Done));
    let before = match done {
        0 => String::new(),
        done => format!("; done before, and not run: {done}"),
    };
    ui.say(&format!("{good} of {} tasks ended well{before}", tasks.len() - done));
}
