//! Times of several things, taken in turn.

use std::time::{Duration, Instant};

use crate::failure::Failure;

/// Does each thing once a round, and returns the times of each.
pub(super) fn interleaved<T>(
    things: &[T],
    rounds: usize,
    run: impl Fn(&T) -> Result<(), Failure>,
) -> Result<Vec<Vec<Duration>>, Failure> {
    let mut times = vec![Vec::with_capacity(rounds); things.len()];
    // The first round warms caches, and does not count.
    for round in 0..=rounds {
        for (thing, times) in things.iter().zip(&mut times) {
            let begun = Instant::now();
            run(thing)?;
            if round > 0 {
                times.push(begun.elapsed());
            }
        }
    }
    Ok(times)
}

/// Where most of the times lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    pub(super) p10: Duration,
    pub(super) median: Duration,
    pub(super) p99: Duration,
}

impl Spread {
    pub(super) fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |percent: usize| {
            let place = times.len().saturating_sub(1) * percent / 100;
            times.get(place).copied().unwrap_or_default()
        };
        Self { p10: at(10), median: at(50), p99: at(99) }
    }

    /// Returns how much longer this takes than `base`.
    pub(super) fn ratio(&self, base: &Self) -> f64 {
        self.median.as_secs_f64() / base.median.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

/// Returns a time in milliseconds.
pub(super) fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_take_turns_and_the_first_round_does_not_count() {
        let order = std::cell::RefCell::new(String::new());
        let times = interleaved(&["a", "b"], 2, |name| {
            order.borrow_mut().push_str(name);
            Ok(())
        });
        assert_eq!(order.into_inner(), "ababab");
        assert_eq!(times.unwrap().iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
    }

    #[test]
    fn a_ratio_is_of_medians() {
        let spread = |middle| Spread::of([1, middle, 100].map(Duration::from_millis).to_vec());
        assert!((spread(30).ratio(&spread(10)) - 3.0).abs() < 1e-9);
        assert!((ms(Duration::from_micros(1500)) - 1.5).abs() < 1e-9);
    }
}
