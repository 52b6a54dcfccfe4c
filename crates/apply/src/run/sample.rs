//! Looking at a running sandbox from outside: what all of its processes use together.
//!
//! The kernel bounds each process; the sum is bounded here. It is sampled, so a bomb may have more
//! for an instant, and the bound of each process holds meanwhile.

use std::fs;
use std::time::{Duration, Instant};

use palisade_plan::{Bounds, Plan, Step};
use rustix::process::Pid;

use super::outcome::Bound;

/// How often a sandbox is looked at.
const EVERY: Duration = Duration::from_millis(25);

/// How often it is where the kernel keeps every bound by itself, and only has nobody to tell.
const SELDOM: Duration = Duration::from_millis(500);

/// How often it is where the kernel does not count processes, as those of root.
const COUNTED: Duration = Duration::from_millis(100);

/// The most processes that are looked at.
const MOST: usize = 16 << 10;

/// Looks at a sandbox from time to time.
#[derive(Debug)]
pub(super) struct Sampler {
    first: Pid,
    bounds: Bounds,
    counts: Counts,
    every: Duration,
    next: Instant,
    reached: Vec<Bound>,
}

/// Who holds the number of processes down.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Counts {
    /// The kernel does.
    Kernel,
    /// We do: it does not count those of root.
    Us,
}

impl Counts {
    pub(super) fn of(plan: &Plan) -> Self {
        let mut steps = plan.steps().iter();
        let is_root = steps.any(|it| matches!(it, Step::Identity(it) if it.outer_uid == 0));
        let mut steps = plan.steps().iter();
        let grouped = steps.any(|it| matches!(it, Step::Group { processes: Some(_), .. }));
        // Without namespaces the kernel counts all processes of a user.
        if (is_root || !plan.has_namespaces()) && !grouped { Self::Us } else { Self::Kernel }
    }
}

impl Sampler {
    /// Watches the sandbox whose first process this is, if there is a bound to watch.
    pub(super) fn new(first: Pid, bounds: &Bounds, counts: Counts) -> Option<Self> {
        let Bounds { memory, cpu, open_files, processes, .. } = bounds;
        let often = memory.is_some() || cpu.is_some() || open_files.is_some();
        let every = match counts {
            Counts::Us if !often => COUNTED,
            Counts::Kernel if !often => SELDOM,
            Counts::Us | Counts::Kernel => EVERY,
        };
        (often || processes.is_some()).then(|| Self {
            first,
            bounds: *bounds,
            counts,
            every,
            next: Instant::now() + every,
            reached: Vec::new(),
        })
    }

    /// Returns when it wants to look again.
    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// Looks, if it is time; returns the bound that is exceeded.
    pub(super) fn look(&mut self, now: Instant) -> Option<Bound> {
        if now < self.next {
            return None;
        }
        let processes = tree(self.first.as_raw_nonzero().get());
        let Bounds { processes: most, memory, cpu, open_files, .. } = self.bounds;
        // The first process is ours.
        let others = u64::try_from(processes.len().saturating_sub(1)).unwrap_or(u64::MAX);
        if most.is_some_and(|most| others >= most) {
            self.note(Bound::Processes);
        }
        let over_count = self.counts == Counts::Us && most.is_some_and(|most| others > most);
        if open_files.is_some_and(|most| processes.iter().any(|one| open(*one) >= most)) {
            self.note(Bound::OpenFiles);
        }
        let over_time = cpu.is_some_and(|most| {
            processes.iter().map(|one| time(*one)).sum::<Duration>() > most + Duration::from_secs(1)
        });
        let over_memory = memory.is_some_and(|most| {
            // Pages that are shared count for each in the first sum, and once in the second, which
            // takes the kernel longer.
            processes.iter().map(|one| resident(*one)).sum::<u64>() > most
                && processes.iter().map(|one| proportional(*one)).sum::<u64>() > most
        });
        self.next = Instant::now() + self.every;
        let over =
            [(over_count, Bound::Processes), (over_memory, Bound::Memory), (over_time, Bound::Cpu)];
        over.into_iter().find_map(|(is_over, bound)| is_over.then_some(bound))
    }

    /// Returns the bounds that were met and did not end the command by themselves.
    pub(super) fn reached(self) -> Vec<Bound> {
        self.reached
    }

    fn note(&mut self, bound: Bound) {
        if !self.reached.contains(&bound) {
            self.reached.push(bound);
        }
    }
}

/// Returns a process and all its descendants, as far as they can be seen.
fn tree(first: i32) -> Vec<i32> {
    let mut all = vec![first];
    let mut at = 0;
    while let Some(process) = all.get(at).copied().filter(|_| all.len() < MOST) {
        at += 1;
        let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { continue };
        for thread in threads.flatten().take(MOST) {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            all.extend(children.split_whitespace().filter_map(|word| word.parse::<i32>().ok()));
        }
    }
    all
}

/// Returns the bytes of memory that are a process's own or shared, and not a file's.
fn resident(process: i32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    kibibytes(&status, "RssAnon:") + kibibytes(&status, "RssShmem:")
}

/// Returns the same, each shared page divided by those that share it.
fn proportional(process: i32) -> u64 {
    fs::read_to_string(format!("/proc/{process}/smaps_rollup")).map_or_else(
        |_| resident(process),
        |text| kibibytes(&text, "Pss_Anon:") + kibibytes(&text, "Pss_Shmem:"),
    )
}

fn kibibytes(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    number.unwrap_or(0).saturating_mul(1024)
}

fn open(process: i32) -> u64 {
    let files = fs::read_dir(format!("/proc/{process}/fd"));
    files.map_or(0, |files| u64::try_from(files.count()).unwrap_or(u64::MAX))
}

/// Returns the processor time of a process and of its children that have ended.
fn time(process: i32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name may hold blanks and brackets; the numbers come after the last one. The four times
    // are fields 14 to 17, in hundredths of a second on every processor we know.
    let numbers = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = numbers.skip(11).take(4).filter_map(|word| word.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks.saturating_mul(10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_seen_as_the_kernel_sees_it() {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let seen = tree(own);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(seen.contains(&own) && seen.contains(&child.id().cast_signed()), "{seen:?}");
        assert!(resident(own) > 64 << 10 && proportional(own) > 64 << 10);
        assert!(open(own) >= 3);
        let begun = Instant::now();
        while time(own) < Duration::from_millis(10) {
            assert!(begun.elapsed() < Duration::from_secs(30));
        }
        assert_eq!((resident(-1), open(-1), time(-1)), (0, 0, Duration::ZERO), "nobody");
    }
}
