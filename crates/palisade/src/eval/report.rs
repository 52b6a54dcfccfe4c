//! What came out, in numbers.

use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::sandbox::milliseconds;

/// What came out of one try.
#[derive(Clone, Debug)]
pub struct SampleReport {
    /// Its number, from zero.
    pub index: u32,
    /// How long it took, without the verifier.
    pub latency: Duration,
    /// What it cost; none if nobody says.
    pub cost: Option<f64>,
    /// Whether the task was solved.
    pub passed: bool,
    /// What the verifier says.
    pub detail: String,
    /// What else should be known.
    pub notes: Vec<String>,
    /// Whether it was tried at all.
    pub ran: bool,
    /// Whether it was not because the policy says no.
    pub denied: bool,
}

/// What came out of all tries at one task.
#[derive(Clone, Debug)]
pub struct TaskReport {
    /// The task.
    pub id: String,
    /// The tries, in order.
    pub samples: Vec<SampleReport>,
}

/// What came out of all tasks.
#[derive(Clone, Debug)]
pub struct Report {
    /// How often each task was to be tried.
    pub k: u32,
    /// The tasks, in order.
    pub tasks: Vec<TaskReport>,
}

/// Returns how likely one of `k` tries is to pass, if each does with the probability `rate`.
pub fn pass_at_k(rate: f64, k: u32) -> f64 {
    let rate = if rate.is_nan() { 0.0 } else { rate.clamp(0.0, 1.0) };
    1.0 - (1.0 - rate).powi(i32::try_from(k).unwrap_or(i32::MAX))
}

/// Returns the value that 95 of 100 do not exceed, by the nearest rank; zero of none.
pub fn p95(values: &[Duration]) -> Duration {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    // In whole numbers: 0.95 n, rounded, is (19 n + 10) / 20.
    let rank = (sorted.len() * 19 + 10) / 20;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

impl SampleReport {
    pub(super) fn begun(index: u32) -> Self {
        Self {
            index,
            latency: Duration::ZERO,
            cost: None,
            passed: false,
            detail: String::new(),
            notes: Vec::new(),
            ran: false,
            denied: false,
        }
    }

    pub(super) fn failed(self, detail: String) -> Self {
        Self { detail, ..self }
    }

    fn json(&self) -> Json {
        json!({
            "sample_index": self.index,
            "latency_ms": milliseconds(self.latency),
            "cost_units": self.cost,
            "passed": self.passed,
            "detail": self.detail,
            "notes": self.notes,
        })
    }
}

impl TaskReport {
    pub(super) fn of(id: &str, mut samples: Vec<SampleReport>) -> Self {
        samples.sort_by_key(|sample| sample.index);
        Self { id: id.to_owned(), samples }
    }

    /// Returns how many tries passed.
    pub fn passes(&self) -> usize {
        self.samples.iter().filter(|sample| sample.passed).count()
    }

    /// Returns the share of tries that passed: pass@1.
    pub fn pass_rate(&self) -> f64 {
        mean(self.samples.iter().map(|sample| if sample.passed { 1.0 } else { 0.0 })).unwrap_or(0.0)
    }

    /// Returns how long tries took on average.
    pub fn mean_latency(&self) -> Duration {
        mean_time(self.samples.iter())
    }

    /// Returns how long all but a twentieth of the tries took at most.
    pub fn p95_latency(&self) -> Duration {
        p95(&times(self.samples.iter()))
    }

    /// Returns what tries cost on average, of those that say it.
    pub fn mean_cost(&self) -> Option<f64> {
        mean(self.samples.iter().filter_map(|sample| sample.cost))
    }

    fn json(&self, k: u32) -> Json {
        json!({
            "task_id": self.id,
            "k": k,
            "passes": self.passes(),
            "pass_rate": share(self.pass_rate()),
            "pass_at_k": share(pass_at_k(self.pass_rate(), k)),
            "mean_latency_ms": milliseconds(self.mean_latency()),
            "p95_latency_ms": milliseconds(self.p95_latency()),
            "mean_cost": self.mean_cost(),
            "samples": self.samples.iter().map(SampleReport::json).collect::<Json>(),
        })
    }
}

impl Report {
    pub(super) fn of(k: u32, tasks: Vec<TaskReport>) -> Self {
        Self { k, tasks }
    }

    /// Returns every try.
    pub fn samples(&self) -> impl Iterator<Item = &SampleReport> {
        self.tasks.iter().flat_map(|task| &task.samples)
    }

    /// Returns the mean of the tasks' pass@1.
    pub fn pass_at_1(&self) -> f64 {
        mean(self.tasks.iter().map(TaskReport::pass_rate)).unwrap_or(0.0)
    }

    /// Returns the mean of the tasks' pass@k.
    pub fn pass_at_k(&self) -> f64 {
        mean(self.tasks.iter().map(|task| pass_at_k(task.pass_rate(), self.k))).unwrap_or(0.0)
    }

    /// Returns how long tries took on average.
    pub fn mean_latency(&self) -> Duration {
        mean_time(self.samples())
    }

    /// Returns how long all but a twentieth of the tries took at most.
    pub fn p95_latency(&self) -> Duration {
        p95(&times(self.samples()))
    }

    /// Returns what all of it cost; none if nobody says.
    pub fn total_cost(&self) -> Option<f64> {
        let mut costs = self.samples().filter_map(|sample| sample.cost).peekable();
        costs.peek().is_some().then(|| costs.sum())
    }

    /// Returns it for programs.
    pub fn json(&self) -> Json {
        json!({
            "k": self.k,
            "pass_at_1": share(self.pass_at_1()),
            "pass_at_k": share(self.pass_at_k()),
            "mean_latency_ms": milliseconds(self.mean_latency()),
            "p95_latency_ms": milliseconds(self.p95_latency()),
            "total_cost": self.total_cost(),
            "tasks": self.tasks.iter().map(|task| task.json(self.k)).collect::<Json>(),
        })
    }
}

fn times<'s>(samples: impl Iterator<Item = &'s SampleReport>) -> Vec<Duration> {
    samples.filter(|sample| sample.ran).map(|sample| sample.latency).collect()
}

fn mean_time<'s>(samples: impl Iterator<Item = &'s SampleReport>) -> Duration {
    let times = times(samples);
    let count = u32::try_from(times.len()).unwrap_or(u32::MAX);
    times.iter().sum::<Duration>().checked_div(count).unwrap_or_default()
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    (count > 0.0).then(|| sum / count)
}

/// Rounds a share as reports show it.
fn share(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}
