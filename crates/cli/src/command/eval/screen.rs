//! What a person sees: progress while samples are made, then a table.

use std::io::{self, Write as _};
use std::sync::{Mutex, PoisonError};

use palisade::eval::{Evaluation, Report, SampleReport, Task, pass_at_k};
use palisade::policy::text::visible;

use crate::ui::{Ui, cut};

/// The longest that is shown of why a sample failed.
const LONGEST: usize = 300;

/// How far it is.
pub(super) struct Progress {
    all: usize,
    live: bool,
    done: Mutex<(usize, usize)>,
}

impl Progress {
    pub(super) fn new(evaluation: &Evaluation<'_>, live: bool) -> Self {
        let samples = usize::try_from(evaluation.samples).unwrap_or(usize::MAX);
        let all = evaluation.tasks.len().saturating_mul(samples);
        Self { all, live, done: Mutex::default() }
    }

    /// Tells of a sample that has ended: by a line that is drawn anew on a terminal, by one more
    /// elsewhere.
    pub(super) fn tell(&self, ui: &Ui, task: &Task, sample: &SampleReport) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.0 += 1;
        done.1 += usize::from(sample.passed);
        let ((ended, passed), all) = (*done, self.all);
        if self.live {
            // Nobody is left to tell where it cannot be written.
            write!(io::stderr(), "\r\u{1b}[K{ended} of {all} samples, {passed} passed").ok();
        } else {
            let word = if sample.passed { "passed" } else { "failed" };
            let name = format!("{} #{}", visible(&task.id), sample.index);
            ui.say(&format!("[{ended}/{all}] {name} {word}"));
        }
    }

    /// Clears the line.
    pub(super) fn end(&self, _: &Ui) {
        if self.live {
            write!(io::stderr(), "\r\u{1b}[K").ok();
        }
    }
}

/// Writes a report as a table, with a line below for each sample that failed or has something to say.
pub(super) fn table(report: &Report) -> String {
    let k = report.k;
    let title = ["task", "passed", "pass@1", &format!("pass@{k}"), "mean ms", "p95 ms", "cost"];
    let mut rows = vec![title.map(str::to_owned)];
    let ms = |time: std::time::Duration| format!("{:.1}", time.as_secs_f64() * 1000.0);
    let cost = |cost: Option<f64>| cost.map_or_else(|| "-".to_owned(), |cost| format!("{cost:.4}"));
    for task in &report.tasks {
        let rate = task.pass_rate();
        rows.push([
            cut(&visible(&task.id), 40),
            format!("{}/{}", task.passes(), task.samples.len()),
            format!("{rate:.2}"),
            format!("{:.2}", pass_at_k(rate, k)),
            ms(task.mean_latency()),
            ms(task.p95_latency()),
            cost(task.mean_cost()),
        ]);
    }
    let passed = report.samples().filter(|sample| sample.passed).count();
    rows.push([
        "all".to_owned(),
        format!("{passed}/{}", report.samples().count()),
        format!("{:.2}", report.pass_at_1()),
        format!("{:.2}", report.pass_at_k()),
        ms(report.mean_latency()),
        ms(report.p95_latency()),
        cost(report.total_cost()),
    ]);
    let mut text = String::new();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    for row in &rows {
        let cells = row.iter().enumerate().map(|(column, cell)| match column {
            0 => format!("{cell:<width$}", width = width(column)),
            _ => format!("{cell:>width$}", width = width(column)),
        });
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    let told = report.tasks.iter().flat_map(|task| task.samples.iter().map(move |it| (task, it)));
    for (task, sample) in told.filter(|(_, it)| !it.passed || !it.notes.is_empty()) {
        let why = (!sample.passed).then_some(&sample.detail).into_iter().chain(&sample.notes);
        let why: Vec<String> = why.map(|why| cut(&visible(why), LONGEST)).collect();
        let (id, index) = (cut(&visible(&task.id), 40), sample.index);
        text.push_str(&format!("{id} #{index}: {}\n", why.join("; ")));
    }
    text
}
