//! `palisade audit metrics`.

use std::ops::ControlFlow;

use palisade::audit::Metrics;
use serde_json::json;

use super::{Shown, Which};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};

/// Print numbers about what happened, as Prometheus reads them
///
/// They are counted from the record: tools that were called and how long they took, decisions by verdict
/// and axis, sandboxes that were started and how long that took, tool calls that were allowed, blocked
/// or invalid, questions by answer, connections, and bytes. Have a timer write them to a file that the
/// textfile collector of a node exporter reads.
///
/// Exit codes: 0 done, 125 the record cannot be read.
///
/// Example: palisade audit metrics
#[derive(Debug, clap::Args)]
pub(crate) struct MetricsArgs {
    #[command(flatten)]
    shown: Shown,

    #[command(flatten)]
    pub(super) which: Which,
}

impl MetricsArgs {
    pub(super) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        let mut metrics = Metrics::default();
        self.which.each(ui, &self.shown, |_, event| {
            metrics.count(&event);
            ControlFlow::Continue(())
        })?;
        let text = metrics.prometheus();
        match self.which.output.format() {
            Format::Human => ui.data(&text)?,
            Format::Json => ui.json(&json!({ "prometheus": text }))?,
        }
        Ok(Exit::Success)
    }
}
