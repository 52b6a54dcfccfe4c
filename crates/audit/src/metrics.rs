//! Numbers about what happened, in the text that Prometheus reads.

use std::collections::BTreeMap;

use serde_json::Value;

/// The upper ends of the buckets of latencies, in milliseconds.
const BUCKETS: [f64; 11] =
    [5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0, 2500.0, 5000.0, 10000.0];

/// How many different values a label may have; more are counted together. Names of tools and agents
/// are what somebody made up.
const VALUES: usize = 200;

/// Numbers about what happened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metrics {
    counters: BTreeMap<&'static str, BTreeMap<Labels, u64>>,
    latencies: BTreeMap<&'static str, BTreeMap<Labels, Latency>>,
}

type Labels = Vec<(&'static str, String)>;

#[derive(Clone, Debug, Default, PartialEq)]
struct Latency {
    buckets: [u64; BUCKETS.len()],
    count: u64,
    sum: f64,
}

/// Every metric: its name, whether it is a histogram, and what it tells. One that has not happened is
/// shown as 0.
const KNOWN: [(&str, bool, &str); 10] = [
    ("palisade_confirmations_total", false, "Questions, by what was answered."),
    ("palisade_connections_total", false, "Connections, by what became of them."),
    (
        "palisade_decisions_total",
        false,
        "Decisions, by verdict and by the axis of the first reason.",
    ),
    ("palisade_received_bytes_total", false, "Bytes that connections received."),
    ("palisade_sandboxes_started_total", false, "Commands that were started."),
    ("palisade_sent_bytes_total", false, "Bytes that connections sent."),
    ("palisade_start_latency_ms", true, "Time until a command was started, in milliseconds."),
    ("palisade_tool_calls_total", false, "Tool calls of models: allowed, blocked, or invalid."),
    ("tool_latency_ms", true, "Time that tools took, in milliseconds."),
    ("tools_called_total", false, "Tools that were called."),
];

impl Metrics {
    /// Counts an event.
    pub fn count(&mut self, event: &Value) {
        let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
        let number = |name: &str| event[name].as_u64().unwrap_or(0);
        match event["event"].as_str().unwrap_or_default() {
            "decision" => {
                let axis = event["reasons"][0]["axis"].as_str().unwrap_or("none").to_owned();
                let labels = vec![("axis", axis), ("verdict", text("verdict"))];
                self.add("palisade_decisions_total", labels, 1);
            }
            "tool-call" => {
                let invalid = event["reasons"].as_array().into_iter().flatten().any(|reason| {
                    reason["code"].as_str().is_some_and(|code| code.starts_with("arguments-"))
                });
                let outcome = match event["verdict"].as_str() {
                    _ if invalid => "invalid",
                    Some("allow") => "allowed",
                    Some(_) | None => "blocked",
                };
                self.add("palisade_tool_calls_total", vec![("outcome", outcome.to_owned())], 1);
            }
            "confirmation" | "host-confirmation" => {
                self.add("palisade_confirmations_total", vec![("answer", text("answer"))], 1);
            }
            "connection" => {
                self.add("palisade_connections_total", vec![("verdict", text("verdict"))], 1);
                self.add("palisade_sent_bytes_total", Vec::new(), number("sent"));
                self.add("palisade_received_bytes_total", Vec::new(), number("received"));
            }
            "run" => {
                let tool = event["tool"].as_str().unwrap_or("run_shell_command").to_owned();
                self.add("tools_called_total", vec![("tool", tool.clone())], 1);
                let took = event["duration_ms"].as_f64().unwrap_or(0.0);
                self.observe("tool_latency_ms", vec![("tool", tool)], took);
                if event["executed"] == true {
                    self.add("palisade_sandboxes_started_total", Vec::new(), 1);
                    let start = event["start_ms"].as_f64().unwrap_or(0.0);
                    self.observe("palisade_start_latency_ms", Vec::new(), start);
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, name: &'static str, labels: Labels, number: u64) {
        let counter = self.counters.entry(name).or_default();
        let labels = bounded(labels, counter);
        let value = counter.entry(labels).or_default();
        *value = value.saturating_add(number);
    }

    fn observe(&mut self, name: &'static str, labels: Labels, value: f64) {
        let latencies = self.latencies.entry(name).or_default();
        let labels = bounded(labels, latencies);
        let latency = latencies.entry(labels).or_default();
        for (count, bound) in latency.buckets.iter_mut().zip(BUCKETS) {
            *count += u64::from(value <= bound);
        }
        latency.count += 1;
        latency.sum += value;
    }

    /// Returns everything as text (Prometheus text exposition format 0.0.4).
    pub fn prometheus(&self) -> String {
        let mut out = String::new();
        for (name, histogram, help) in KNOWN {
            let kind = if histogram { "histogram" } else { "counter" };
            out.push_str(&format!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
            if histogram {
                for (labels, latency) in self.latencies.get(name).into_iter().flatten() {
                    latency.write(name, labels, &mut out);
                }
                continue;
            }
            match self.counters.get(name) {
                None => out.push_str(&format!("{name} 0\n")),
                Some(counter) => counter.iter().for_each(|(labels, value)| {
                    out.push_str(&format!("{name}{} {value}\n", written(labels, None)));
                }),
            }
        }
        out
    }
}

/// Counts what nobody could list together.
fn bounded<T>(mut labels: Labels, known: &BTreeMap<Labels, T>) -> Labels {
    if known.len() >= VALUES && !known.contains_key(&labels) {
        labels.iter_mut().for_each(|(_, value)| "other".clone_into(value));
    }
    labels
}

impl Latency {
    fn write(&self, name: &str, labels: &Labels, out: &mut String) {
        for (count, bound) in self.buckets.iter().zip(BUCKETS) {
            let labels = written(labels, Some(&bound.to_string()));
            out.push_str(&format!("{name}_bucket{labels} {count}\n"));
        }
        let (count, own) = (self.count, written(labels, None));
        out.push_str(&format!("{name}_bucket{} {count}\n", written(labels, Some("+Inf"))));
        out.push_str(&format!("{name}_sum{own} {}\n{name}_count{own} {count}\n", self.sum));
    }
}

/// Writes labels, sorted by their names.
fn written(labels: &Labels, bound: Option<&str>) -> String {
    let escaped =
        |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let mut pairs: Vec<(&str, String)> =
        labels.iter().map(|(name, value)| (*name, escaped(value))).collect();
    pairs.extend(bound.map(|bound| ("le", bound.to_owned())));
    pairs.sort();
    let pairs: Vec<String> =
        pairs.iter().map(|(name, value)| format!("{name}=\"{value}\"")).collect();
    if pairs.is_empty() { String::new() } else { format!("{{{}}}", pairs.join(",")) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a040_tools_and_their_latencies_are_told_with_eleven_buckets_and_infinity() {
        let mut metrics = Metrics::default();
        assert!(metrics.prometheus().contains("\ntools_called_total 0\n"), "nothing yet");
        for took in [1.0, 5.0, 20.0, 200.0, 20_000.0] {
            let tool = "a\"b\\c\nd";
            let run =
                json!({ "event": "run", "tool": tool, "duration_ms": took, "executed": true });
            metrics.count(&run);
        }
        let text = metrics.prometheus();
        let tool = "tool=\"a\\\"b\\\\c\\nd\"";
        assert!(text.contains(&format!(
            "# TYPE tools_called_total counter\ntools_called_total{{{tool}}} 5\n"
        )));
        assert!(text.contains("# TYPE tool_latency_ms histogram\n"));
        let buckets: Vec<&str> =
            text.lines().filter(|line| line.starts_with("tool_latency_ms_bucket")).collect();
        let ends =
            ["5", "10", "25", "50", "100", "250", "500", "1000", "2500", "5000", "10000", "+Inf"];
        let counts = [2, 2, 3, 3, 3, 4, 4, 4, 4, 4, 4, 5];
        let wanted = ends
            .into_iter()
            .zip(counts)
            .map(|(end, count)| format!("tool_latency_ms_bucket{{le=\"{end}\",{tool}}} {count}"));
        assert_eq!(buckets, wanted.collect::<Vec<_>>());
        assert!(text.contains(&format!("tool_latency_ms_sum{{{tool}}} 20226\n")), "{text}");
        assert!(text.contains(&format!("tool_latency_ms_count{{{tool}}} 5\n")), "{text}");
    }

    #[test]
    fn a163_blocked_allowed_and_invalid_tool_calls_are_counted() {
        let mut metrics = Metrics::default();
        let call = |verdict: &str, code: &str| json!({ "event": "tool-call", "verdict": verdict, "reasons": [{ "code": code }] });
        metrics.count(&json!({ "event": "tool-call", "verdict": "allow", "reasons": [] }));
        metrics.count(&call("deny", "outside-root"));
        metrics.count(&call("deny", "outside-root"));
        metrics.count(&call("deny", "arguments-broken"));
        let text = metrics.prometheus();
        for (outcome, count) in [("allowed", 1), ("blocked", 2), ("invalid", 1)] {
            let line = format!("palisade_tool_calls_total{{outcome=\"{outcome}\"}} {count}\n");
            assert!(text.contains(&line), "{text}");
        }
    }

    #[test]
    fn names_that_somebody_makes_up_take_no_memory() {
        let mut metrics = Metrics::default();
        for number in 0..10_000 {
            metrics.count(&json!({ "event": "run", "tool": format!("t{number}") }));
        }
        let text = metrics.prometheus();
        assert!(text.lines().count() < 5000);
        assert!(text.contains("tools_called_total{tool=\"other\"} 9800\n"), "{}", text.len());
    }
}
