//! What there was.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of a proxy. They live as long as it does.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) requests: AtomicU64,
    pub(super) unjudged: AtomicU64,
    pub(super) allowed: AtomicU64,
    pub(super) blocked: AtomicU64,
    pub(super) invalid: AtomicU64,
    pub(super) filtered: AtomicU64,
    pub(super) retries: AtomicU64,
    pub(super) ended: AtomicU64,
    pub(super) refused: AtomicU64,
    pub(super) upstream: AtomicU64,
    pub(super) open: AtomicU64,
}

pub(super) fn count(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Ordering::Relaxed);
}

impl Counters {
    /// Writes them as Prometheus reads them.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        let now = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let head = |out: &mut String, name: &str, kind: &str, about: &str| {
            writeln!(out, "# HELP {name} {about}\n# TYPE {name} {kind}").ok();
        };
        let calls = "palisade_proxy_tool_calls_total";
        head(&mut out, calls, "counter", "Tool calls that were judged, by what was decided.");
        for (word, counter) in
            [("allowed", &self.allowed), ("blocked", &self.blocked), ("invalid", &self.invalid)]
        {
            writeln!(out, "{calls}{{decision=\"{word}\"}} {}", now(counter)).ok();
        }
        for (name, kind, about, counter) in [
            ("requests_total", "counter", "Requests of clients.", &self.requests),
            (
                "unjudged_total",
                "counter",
                "Requests whose answers were passed on as they came.",
                &self.unjudged,
            ),
            ("tools_filtered_total", "counter", "Tools taken out of requests.", &self.filtered),
            ("retries_total", "counter", "Times a model was asked again.", &self.retries),
            (
                "turns_ended_total",
                "counter",
                "Turns ended after the third blocked attempt.",
                &self.ended,
            ),
            ("refused_total", "counter", "Requests refused by the proxy itself.", &self.refused),
            (
                "upstream_failures_total",
                "counter",
                "Upstreams that could not be reached, or broke off.",
                &self.upstream,
            ),
            ("connections", "gauge", "Connections of clients that are open.", &self.open),
        ] {
            let name = format!("palisade_proxy_{name}");
            head(&mut out, &name, kind, about);
            writeln!(out, "{name} {}", now(counter)).ok();
        }
        out
    }
}
