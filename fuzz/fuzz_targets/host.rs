//! Lines of patterns, then a host: what parses prints to an equal value, a denial covers what the
//! same text grants, and the index agrees with the patterns asked one by one.
#![no_main]

use std::fmt::{Debug, Display};
use std::str::FromStr;

use libfuzzer_sys::fuzz_target;
use palisade_policy::name::{WideHost, Host, HostName, HostPattern, HostSet};

fuzz_target!(|text: &str| {
    let granted: Vec<HostPattern> = text.lines().filter_map(round_trip).collect();
    let denied: Vec<WideHost> = text.lines().filter_map(round_trip).collect();
    let hosts: Vec<Host> = text.lines().filter_map(round_trip).collect();
    for name in text.lines().filter_map(round_trip::<HostName>) {
        let is_spelt_once = name.as_str().bytes().all(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.' | b'_')
        });
        assert!(is_spelt_once, "{name}");
        assert!(!name.is_below(&name), "{name} lies below itself");
    }
    for pattern in &granted {
        assert!(pattern.covers(pattern), "{pattern} does not cover itself");
        assert!(WideHost::from(pattern.clone()).cancels(pattern), "{pattern} cannot be refused");
    }
    let (grants, refusals) = (HostSet::new(&granted), HostSet::of_wide(&denied));
    for host in hosts.iter().take(16) {
        for port in [0, 22, 80, 443, 65535] {
            let first = granted.iter().position(|pattern| pattern.matches(host, port));
            assert_eq!(grants.find(host, port), first, "{host}:{port} in {granted:?}");
            let first = denied.iter().position(|pattern| pattern.matches(host, port));
            assert_eq!(refusals.find(host, port), first, "{host}:{port} in {denied:?}");
        }
    }
});

/// Returns the value, having checked that its own text gives it back.
fn round_trip<T: FromStr + Display + Debug + Eq>(text: &str) -> Option<T> {
    let value: T = text.parse().ok()?;
    let printed = value.to_string();
    let again: Option<T> = printed.parse().ok();
    assert_eq!(again.as_ref(), Some(&value), "{text:?} prints as {printed:?}");
    Some(value)
}
