//! `palisade run --tasks`: the tasks of a file, side by side, each kept from the others.

mod board;
mod fill;
mod lines;
mod place;
mod prepare;
mod printer;

use std::fs::File;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use palisade::policy::text::visible;
use palisade::{CannotRun, CaughtSignals, Job, Outcome};
use serde_json::{Value as Json, json};

use super::table::{Row, State, Table};
use super::{RunArgs, status, told};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};
use board::{Board, News, Shared, Turn, code_of};
pub(super) use fill::fill_one;
use lines::Line;
use prepare::Prepared;
use printer::{Piece, Printer};

/// Most tasks that run at the same time, if nobody says otherwise.
const JOBS: u16 = 8;

/// How often a terminal is drawn anew, and signals are looked for; and how often when only the last
/// of the output is waited for.
const TICK: Duration = Duration::from_millis(100);
const LAST: Duration = Duration::from_millis(5);

/// How long somebody who wants us to end waits until the outcome is written.
const PATIENCE: Duration = Duration::from_secs(1);

/// What became of a task.
pub(super) enum Ended {
    /// It was run, or was not because it is denied.
    Told(Box<Outcome>),
    /// We failed before anything of it ran.
    Failed(Failure),
    /// It was not begun.
    Skipped(&'static str),
}

impl Ended {
    /// Whether we ended it, because everything was to end.
    fn was_stopped(&self) -> bool {
        matches!(self, Self::Told(outcome) if outcome.code() == Some("stopped"))
    }
}

/// The tasks, and those who attend them.
struct Crew<'a> {
    tasks: &'a [Prepared],
    shared: Shared,
    format: Format,
    /// Whether lines are passed on as they come.
    streams: bool,
}

/// Whether everything was told when all tasks had ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Attended {
    ToTheEnd,
    /// Whoever reads stands still, and somebody asked a second time for the end.
    InAHurry,
}

pub(super) fn run(args: &RunArgs, ui: &Ui) -> Result<Exit, Failure> {
    let mut status = args.status_fd.map(status).transpose()?;
    let tasks = prepare::prepare(args, ui)?;
    let printer = Printer::new()?;
    // Before the first begins: what comes from now on ends all of them.
    let signals = CaughtSignals::catch_ending();
    let row = |task: &Prepared| Row::new(&task.work.name, task.agent.as_deref().unwrap_or(""));
    let turn = |task: &Prepared| Turn { after: task.after.clone(), done: task.work.done };
    let live = args.format() == Format::Human && io::stderr().is_terminal();
    let crew = Crew {
        tasks: &tasks,
        shared: Shared::new(tasks.iter().map(turn).collect(), tasks.iter().map(row).collect()),
        format: args.format(),
        streams: !(live && io::stdout().is_terminal()),
    };
    let jobs = usize::from(args.jobs.unwrap_or(JOBS)).min(tasks.len());
    let attended = thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| crew.shared.work(&|at| crew.done(at)));
        }
        crew.attend(signals.as_ref(), &printer, live.then(Table::new))
    });
    drop(signals);
    let streams = crew.streams;
    let Board { rows, ended, signal, .. } = crew.shared.into_board();
    let ended: Vec<Ended> =
        ended.into_iter().map(|it| it.unwrap_or(Ended::Skipped("lost"))).collect();
    let exit = code(&ended, signal);
    let told = json(&tasks, &ended, &rows, exit);
    if attended == Attended::InAHurry {
        status.into_iter().for_each(|status| write_in_a_hurry(status, format!("{told}\n")));
        return Ok(Exit::Ran(exit));
    }
    if let Some(status) = &mut status {
        writeln!(status, "{told}").map_err(|error| {
            Failure::io("status-fd", "cannot write the outcome to the descriptor", &error)
        })?;
    }
    match args.format() {
        Format::Json => ui.json(&told)?,
        Format::Human => tell(ui, &tasks, &ended, &rows, !streams),
    }
    Ok(Exit::Ran(exit))
}

/// Writes the outcome, should somebody read it.
fn write_in_a_hurry(mut status: File, text: String) {
    let (done, is_done) = mpsc::channel();
    thread::spawn(move || {
        status.write_all(text.as_bytes()).ok();
        done.send(()).ok();
    });
    is_done.recv_timeout(PATIENCE).ok();
}

impl Crew<'_> {
    /// Runs one task to its end.
    fn done(&self, at: usize) -> Ended {
        let Some(task) = self.tasks.get(at) else { return Ended::Skipped("lost") };
        let run = match task.sandbox.start(self.job(at, task)) {
            Ok(run) => run,
            Err(error) => return failed(error),
        };
        let mut board = self.shared.board();
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

    /// Shows how things stand, and ends everything when a signal says so. Nothing here waits for
    /// whoever reads: a second signal, or one when all tasks have ended, ends us without them.
    fn attend(
        &self,
        signals: Option<&CaughtSignals>,
        printer: &Printer,
        mut table: Option<Table>,
    ) -> Attended {
        let _closing = Closing(self.tasks);
        let (mut hurried, mut all_handed_over, mut tick) = (false, false, TICK);
        loop {
            let came = match signals {
                Some(signals) => signals.next_within(tick),
                None => {
                    thread::sleep(tick);
                    None
                }
            };
            let mut board = self.shared.board();
            // What ended tasks have printed is there when it is seen that they have ended.
            let over = board.is_over();
            if let Some(number) = came {
                if over || board.signal.is_some() {
                    hurried = true;
                    self.tasks.iter().for_each(|task| task.lines.close());
                }
                board.stop(number);
                self.shared.wake();
            }
            if hurried && over {
                return Attended::InAHurry;
            }
            if !printer.is_idle() {
                continue; // what is not taken keeps who prints it waiting
            }
            if all_handed_over {
                return Attended::ToTheEnd;
            }
            let pieces = self.pieces(&mut board, table.as_mut());
            drop(board);
            printer.print(pieces);
            if over {
                (all_handed_over, tick) = (true, LAST);
            }
        }
    }

    /// Takes what there is to be shown now.
    fn pieces(&self, board: &mut Board, table: Option<&mut Table>) -> Vec<Piece> {
        let printed: Vec<_> = self.tasks.iter().flat_map(Prepared::printed).collect();
        for ((at, _), line) in &printed {
            if let Some(row) = board.rows.get_mut(*at) {
                row.hear(line);
            }
        }
        let news = std::mem::take(&mut board.news);
        let mut pieces = Vec::new();
        if self.streams && self.format == Format::Human {
            pieces = self.in_order(news, printed);
        }
        pieces.extend(table.map(|table| Piece::Error(table.drawn(&board.rows))));
        pieces
    }

    /// Puts what became of tasks and what they printed into an order in which it happened: what a task
    /// printed stands before its end, and one that waited for it begins after that.
    fn in_order(&self, news: Vec<(usize, News)>, mut printed: Vec<Line>) -> Vec<Piece> {
        let mut pieces = Vec::with_capacity(news.len() + printed.len());
        for (at, news) in news {
            if let News::Ended(_) = news {
                let (own, others) = printed.into_iter().partition(|((whose, _), _)| *whose == at);
                printed = others;
                pieces.extend(Vec::into_iter(own).map(|line| self.passed_on(line)));
            }
            pieces.push(self.told(at, news));
        }
        pieces.extend(printed.into_iter().map(|line| self.passed_on(line)));
        pieces
    }

    fn passed_on(&self, ((at, errors), line): Line) -> Piece {
        let text = format!("{}| {line}\n", self.name(at));
        if errors { Piece::Error(text) } else { Piece::Out(text) }
    }

    fn told(&self, at: usize, news: News) -> Piece {
        let name = self.name(at);
        Piece::Error(match (news, self.tasks.get(at)) {
            (News::Begun, Some(task)) => {
                let place = visible(&task.workspace.to_string_lossy());
                format!("{name}: begun in {place}\n")
            }
            (News::Begun, None) => format!("{name}: begun\n"),
            (News::Ended(state), _) => format!("{name}: ended: {state}\n"),
        })
    }

    fn name(&self, at: usize) -> String {
        self.tasks.get(at).map(|task| visible(&task.work.name)).unwrap_or_default()
    }
}

/// Lets tasks end whose output nobody takes any more, however that came to be.
struct Closing<'a>(&'a [Prepared]);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.iter().for_each(|task| task.lines.close());
    }
}

fn failed(error: CannotRun) -> Ended {
    Ended::Failed(error.into())
}

/// Returns the code that all of it ends with.
fn code(ended: &[Ended], signal: Option<i32>) -> u8 {
    if let Some(number) = signal {
        return code_of(number);
    }
    let codes = ended.iter().map(|ended| match ended {
        Ended::Told(outcome) => outcome.exit_status(),
        Ended::Failed(_) => 125,
        Ended::Skipped(_) => 0, // that before it, which failed, has a code
    });
    codes.into_iter().find(|code| *code != 0).unwrap_or(0)
}

fn json(tasks: &[Prepared], ended: &[Ended], rows: &[Row], exit: u8) -> Json {
    let one = |((task, ended), row): ((&Prepared, &Ended), &Row)| {
        let (outcome, error, skipped) = match ended {
            Ended::Told(outcome) => (told(outcome, task.warnings.clone()), Json::Null, None),
            Ended::Failed(failure) => (Json::Null, failure.json()["error"].clone(), None),
            Ended::Skipped(why) => (Json::Null, Json::Null, Some(*why)),
        };
        json!({
            "task": &*task.work.name,
            "agent": task.agent,
            "workspace": task.workspace.to_string_lossy(),
            "state": row.state.to_string(),
            "outcome": outcome,
            "error": error,
            "skipped": skipped,
        })
    };
    let tasks: Json = tasks.iter().zip(ended).zip(rows).map(one).collect();
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
