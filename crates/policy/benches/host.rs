//! How long one name takes against a list of 1,000 patterns. Budget: 5 µs.

use divan::{Bencher, black_box};
use palisade_policy::name::{Host, HostPattern, HostSet};

fn main() {
    divan::main();
}

/// A list as companies write it: many hosts of few domains, a third of them wildcards.
fn patterns() -> Vec<HostPattern> {
    let texts = (0..1_000).map(|n| match n % 3 {
        0 => format!("*.zone{n}.example.com"),
        1 => format!("api{n}.service.example.org:443"),
        _ => format!(".team{n}.example.net"),
    });
    texts.filter_map(|text| text.parse().ok()).collect()
}

fn look_up(bencher: Bencher<'_, '_>, host: &str) {
    look_up_in(bencher, &patterns(), host);
}

fn look_up_in(bencher: Bencher<'_, '_>, patterns: &[HostPattern], host: &str) {
    let set = HostSet::new(patterns);
    let Ok(host) = host.parse::<Host>() else { return };
    bencher.bench_local(|| set.find(black_box(&host), black_box(443)));
}

#[divan::bench]
fn hit(bencher: Bencher<'_, '_>) {
    look_up(bencher, "a.b.zone999.example.com");
}

#[divan::bench]
fn miss(bencher: Bencher<'_, '_>) {
    look_up(bencher, "www.elsewhere.test");
}

#[divan::bench]
fn deep_miss(bencher: Bencher<'_, '_>) {
    look_up(bencher, &format!("{}zone1.example.com", "a.".repeat(110)));
}

#[divan::bench]
fn deep_hit(bencher: Bencher<'_, '_>) {
    look_up(bencher, &format!("{}zone999.example.com", "a.".repeat(110)));
}

#[divan::bench]
fn address_miss(bencher: Bencher<'_, '_>) {
    let texts = (0..1_000).map(|n| format!("10.{}.{}.0/24", n / 250, n % 250));
    let networks: Vec<HostPattern> = texts.filter_map(|text| text.parse().ok()).collect();
    look_up_in(bencher, &networks, "192.0.2.1");
}
