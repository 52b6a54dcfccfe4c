//! Lengths of time.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::{Invalid, quote};

/// A length of time: `500ms`, `30s`, `1h30m`, `1d`.
///
/// The unit is always written, since `timeout: 30` reads as seconds to one person and as
/// milliseconds to the next; only `0` needs none.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Period(Duration);

impl Period {
    /// No time at all.
    pub const ZERO: Self = Self(Duration::ZERO);

    /// Returns the period that lasts `seconds`, for source formats that give a bare number.
    ///
    /// # Errors
    ///
    /// When the number is negative, infinite, not a number, or too large.
    pub fn from_seconds(seconds: f64) -> Result<Self, Invalid> {
        Duration::try_from_secs_f64(seconds).map(Self).map_err(|_| {
            Invalid::new("period-range", format!("`{seconds}` is not a number of seconds"))
                .with_hint("give a finite number that is not negative")
        })
    }

    /// Returns the period as the standard library's type.
    pub const fn duration(self) -> Duration {
        self.0
    }
}

impl From<Duration> for Period {
    fn from(duration: Duration) -> Self {
        Self(duration)
    }
}

impl FromStr for Period {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text == "0" {
            return Ok(Self::ZERO);
        }
        let shown = quote(text);
        let not_a_period = || {
            Invalid::new("period", format!("{shown} is not a length of time"))
                .with_hint("write numbers and units from large to small, like `30s` or `1h30m`")
        };
        if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
            return Err(Invalid::new("period-unit", format!("{shown} has no unit"))
                .with_hint(format!("write `{text}s` for seconds or `{text}ms` for milliseconds")));
        }

        let too_long = || Invalid::new("period-range", format!("{shown} is too long"));
        let mut total = Duration::ZERO;
        let mut rest = text;
        let mut units = UNITS.iter();
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(not_a_period)?;
            let (number, after) = rest.split_at(digits);
            let end = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
            let (name, after) = after.split_at(end);
            // The iterator never goes back, so that `1m1h` and `1s1s` find nothing.
            let unit = units.find(|unit| unit.name == name).ok_or_else(not_a_period)?;
            if number.is_empty() {
                return Err(not_a_period());
            }
            let number: u64 = number.parse().map_err(|_| too_long())?;
            let part = unit.times(number).ok_or_else(too_long)?;
            total = total.checked_add(part).ok_or_else(too_long)?;
            rest = after;
        }
        if text.is_empty() { Err(not_a_period()) } else { Ok(Self(total)) }
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_zero() {
            return f.write_str("0s");
        }
        let mut rest = self.0;
        for unit in &UNITS {
            let count = unit.count_in(rest);
            if let Some(part) = unit.times(count)
                && count > 0
            {
                write!(f, "{count}{}", unit.name)?;
                rest = rest.saturating_sub(part);
            }
        }
        Ok(())
    }
}

struct Unit {
    name: &'static str,
    length: Duration,
}

const UNITS: [Unit; 7] = [
    Unit { name: "d", length: Duration::from_secs(86_400) },
    Unit { name: "h", length: Duration::from_secs(3_600) },
    Unit { name: "m", length: Duration::from_secs(60) },
    Unit { name: "s", length: Duration::from_secs(1) },
    Unit { name: "ms", length: Duration::from_millis(1) },
    Unit { name: "us", length: Duration::from_micros(1) },
    Unit { name: "ns", length: Duration::from_nanos(1) },
];

impl Unit {
    fn times(&self, number: u64) -> Option<Duration> {
        let nanos = u128::from(number).checked_mul(self.length.as_nanos())?;
        let seconds = u64::try_from(nanos / NANOS_PER_SECOND).ok()?;
        let rest = u32::try_from(nanos % NANOS_PER_SECOND).ok()?;
        Some(Duration::new(seconds, rest))
    }

    /// Returns how often the unit fits; a count past `u64` (nanoseconds in aeons) cannot occur,
    /// because larger units have been taken out before.
    fn count_in(&self, duration: Duration) -> u64 {
        u64::try_from(duration.as_nanos() / self.length.as_nanos()).unwrap_or(u64::MAX)
    }
}

const NANOS_PER_SECOND: u128 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_read_exactly_and_printed_short() {
        #[rustfmt::skip]
        let cases = [
            ("0",           Duration::ZERO,                 "0s"),
            ("500ms",       Duration::from_millis(500),     "500ms"),
            ("30s",         Duration::from_secs(30),        "30s"),
            ("120s",        Duration::from_secs(120),       "2m"),
            ("1h30m",       Duration::from_secs(5_400),     "1h30m"),
            ("1d",          Duration::from_secs(86_400),    "1d"),
            ("1s500ms",     Duration::from_millis(1_500),   "1s500ms"),
            ("90000ms",     Duration::from_secs(90),        "1m30s"),
        ];
        for (text, duration, printed) in cases {
            let period: Period = text.parse().unwrap();
            assert_eq!(period.duration(), duration, "{text}");
            assert_eq!(period.to_string(), printed, "{text}");
        }
        assert_eq!(Period::from_seconds(1.5).unwrap().to_string(), "1s500ms");
    }

    #[test]
    fn periods_without_a_clear_meaning_are_refused() {
        #[rustfmt::skip]
        let cases = [
            ("",                            "period"),
            ("s",                           "period"),
            ("-1s",                         "period"),
            ("+1s",                         "period"),
            ("1.5s",                        "period"),
            ("1 s",                         "period"),
            ("1S",                          "period"),
            ("1min",                        "period"),
            ("30m1h",                       "period"),
            ("1s1s",                        "period"),
            ("1h30",                        "period"),
            ("1s\0",                        "period"),
            ("30",                          "period-unit"),
            ("00",                          "period-unit"),
            ("18446744073709551616s",       "period-range"),
            ("18446744073709551615d",       "period-range"),
            ("213503982334601d7h15s999s",   "period"),
        ];
        for (text, code) in cases {
            assert_eq!(text.parse::<Period>().unwrap_err().code(), code, "{text:?}");
        }
        for seconds in [-1.0, f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(Period::from_seconds(seconds).unwrap_err().code(), "period-range");
        }
    }
}
