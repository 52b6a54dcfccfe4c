//! Numbers, as the source has them.

use std::time::Duration;

use super::report::{SampleReport, TaskReport};
use super::{Report, p95, pass_at_k};

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9
}

fn sample(index: u32, passed: bool, ms: u64, cost: Option<f64>) -> SampleReport {
    let latency = Duration::from_millis(ms);
    SampleReport { passed, latency, cost, ran: true, ..SampleReport::begun(index) }
}

#[test]
fn a037_the_numbers_are_those_of_the_source() {
    for (rate, k, expected) in [
        (0.5, 1, 0.5),
        (0.5, 2, 0.75),
        (0.0, 9, 0.0),
        (1.0, 3, 1.0),
        (0.3, 0, 0.0),
        (1.7, 2, 1.0),
        (-1.0, 2, 0.0),
        (f64::NAN, 2, 0.0),
    ] {
        assert!(near(pass_at_k(rate, k), expected), "{rate} {k}");
    }
    let values = |count: u64| (1..=count).map(Duration::from_millis).collect::<Vec<_>>();
    for (count, rank) in [(0, 0), (1, 1), (2, 2), (10, 10), (20, 19), (100, 95)] {
        let mut unsorted = values(count);
        unsorted.reverse();
        assert_eq!(p95(&unsorted), Duration::from_millis(rank), "{count}");
    }
    let one = vec![sample(1, false, 30, Some(2.0)), sample(0, true, 10, None)];
    let two = vec![sample(0, true, 20, None), sample(1, true, 20, Some(1.0))];
    let report = Report::of(2, vec![TaskReport::of("one", one), TaskReport::of("two", two)]);
    assert!(near(report.pass_at_1(), 0.75) && near(report.pass_at_k(), 0.875));
    assert_eq!(report.mean_latency(), Duration::from_millis(20));
    assert_eq!(report.p95_latency(), Duration::from_millis(30));
    assert_eq!(report.total_cost(), Some(3.0));
    assert_eq!(report.tasks[0].samples[0].index, 0);
    // Nobody says what it cost, and nobody tried.
    let none = Report::of(1, vec![TaskReport::of("none", vec![SampleReport::begun(0)])]);
    assert_eq!((none.total_cost(), none.mean_latency()), (None, Duration::ZERO));
    assert!(near(Report::of(0, Vec::new()).pass_at_1(), 0.0));
}
