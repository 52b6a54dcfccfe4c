//! `palisade audit tail` and `palisade audit query`.

use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt as _;
use std::time::{Duration, SystemTime};

use palisade::audit::{Filter, parse_time, shown, timestamp};
use palisade::policy::text::visible;
use serde_json::Value as Json;

use super::{Shown, Which, each};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};

/// How often a file that is followed is looked at.
const PAUSE: Duration = Duration::from_millis(200);

/// Show the last events
///
/// With --json each event is a line of its own, as it was written.
///
/// Exit codes: 0 done, 125 the record cannot be read.
///
/// Example: palisade audit tail -n 20
#[derive(Debug, clap::Args)]
pub(crate) struct TailArgs {
    /// How many
    #[arg(short = 'n', long, value_name = "N", default_value = "10")]
    lines: usize,

    /// Go on with what comes, until you stop it
    #[arg(short, long)]
    follow: bool,

    #[command(flatten)]
    shown: Shown,

    #[command(flatten)]
    pub(super) which: Which,
}

/// Find events
///
/// Every option narrows; without one, all events are shown, the oldest first. `--path` finds calls that
/// name a path at or below it, or work there; `--host` finds hosts at or below a name. With --json each
/// event is a line of its own, as it was written.
///
/// Exit codes: 0 done, also if nothing was found, 125 the record cannot be read.
///
/// Example: palisade audit query --verdict deny --since 2h
#[derive(Debug, clap::Args)]
pub(crate) struct QueryArgs {
    /// Not earlier than this: `2027-01-15`, `2027-01-15T08:00:00Z`, or how long ago, such as `2h`
    #[arg(long, value_name = "TIME")]
    since: Option<String>,

    /// Earlier than this
    #[arg(long, value_name = "TIME")]
    until: Option<String>,

    /// What happened: `decision`, `confirmation`, `connection`, `run`, `tool-call`, `trust` and others
    #[arg(long, value_name = "NAME")]
    event: Option<String>,

    /// Name of a run, as events have it
    #[arg(long, value_name = "RUN")]
    run: Option<String>,

    /// Agent whose runs are meant
    #[arg(long = "by", value_name = "AGENT")]
    by: Option<String>,

    /// `allow`, `ask` or `deny`; for connections `allowed`, `refused`, `cut`, `failed` or `untaken`
    #[arg(long, value_name = "WORD")]
    verdict: Option<String>,

    /// Code of a reason, or the entry of a policy that says so
    #[arg(long, value_name = "CODE")]
    rule: Option<String>,

    /// Path that a call names or works in
    #[arg(long, value_name = "PATH")]
    path: Option<String>,

    /// Host that was reached, or that a call names
    #[arg(long, value_name = "HOST")]
    host: Option<String>,

    /// Most events that are shown
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    #[command(flatten)]
    shown: Shown,

    #[command(flatten)]
    pub(super) which: Which,
}

impl TailArgs {
    pub(super) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        let format = self.which.output.format();
        let mut last: VecDeque<String> = VecDeque::new();
        let mut seen = 0;
        self.which.each(ui, &self.shown, |line, event| {
            seen = event["sequence"].as_u64().unwrap_or(seen);
            if self.lines > 0 {
                if last.len() == self.lines {
                    last.pop_front();
                }
                last.push_back(told(line, &event, format));
            }
            ControlFlow::Continue(())
        })?;
        ui.data(&last.into_iter().collect::<String>())?;
        let mut open = self.follow;
        let (log, key) = self.which.log()?;
        let key = key.filter(|_| !self.shown.unsealed);
        let mut before = None;
        while open {
            std::thread::sleep(PAUSE);
            // A long log is not read again for nothing.
            let now = log.symlink_metadata().ok().map(|it| (it.ino(), it.len()));
            if now.is_some() && now == before {
                continue;
            }
            before = now;
            each(&log, key.as_ref(), |line, event| {
                let sequence = event["sequence"].as_u64().unwrap_or(0);
                if sequence > seen {
                    seen = sequence;
                    open = print(&told(line, &event, format));
                }
                if open { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
        }
        Ok(Exit::Success)
    }
}

impl QueryArgs {
    pub(super) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        let mut filter = self.filter()?;
        let format = self.which.output.format();
        let mut left = self.limit.unwrap_or(usize::MAX);
        self.which.each(ui, &self.shown, |line, event| {
            if left == 0 {
                return ControlFlow::Break(());
            }
            if !filter.wants(&event) {
                return ControlFlow::Continue(());
            }
            left -= 1;
            // A reader that has seen enough is no failure.
            if print(&told(line, &event, format)) {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })?;
        Ok(Exit::Success)
    }

    fn filter(&self) -> Result<Filter, Failure> {
        let now = SystemTime::now();
        let time = |option: &str, text: &Option<String>| -> Result<Option<String>, Failure> {
            let Some(text) = text else { return Ok(None) };
            let wrong = || {
                Failure::new("time", format!("{option}: `{}` is no time", visible(text))).hint(
                    "write `2027-01-15`, `2027-01-15T08:00:00Z`, or how long ago, such as `2h`",
                )
            };
            parse_time(text, now).map(timestamp).map(Some).ok_or_else(wrong)
        };
        let mut filter = Filter::default();
        filter.since = time("--since", &self.since)?;
        filter.until = time("--until", &self.until)?;
        filter.event.clone_from(&self.event);
        filter.run.clone_from(&self.run);
        filter.agent.clone_from(&self.by);
        filter.verdict.clone_from(&self.verdict);
        filter.rule.clone_from(&self.rule);
        filter.path.clone_from(&self.path);
        filter.host.clone_from(&self.host);
        Ok(filter)
    }
}

/// Returns an event for whoever reads it. A terminal acts on nothing in it.
fn told(line: &[u8], event: &Json, format: Format) -> String {
    match format {
        Format::Human => format!("{}\n", shown(event)),
        Format::Json => format!("{}\n", crate::ui::spelled(&String::from_utf8_lossy(line))),
    }
}

/// Prints, and returns whether anybody still reads.
fn print(text: &str) -> bool {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_ok()
}
