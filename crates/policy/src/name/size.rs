//! Amounts of bytes.

use std::fmt;
use std::str::FromStr;

use super::{Invalid, quote};

/// A number of bytes: `65536`, `64KiB`, `1.5 GiB`, `1MB`.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct ByteSize(u64);

impl ByteSize {
    /// Returns the size of `bytes` bytes.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// Returns the number of bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

impl FromStr for ByteSize {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let shown = quote(text);
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let not_a_size = || {
            Invalid::new("size", format!("{shown} is not a size"))
                .with_hint("write a number and a unit, like `64KiB` or `4GiB`")
        };
        let too_large = || Invalid::new("size-range", format!("{shown} is more than 2^64 bytes"));

        let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
        if whole.is_empty() || fraction.is_empty() || fraction.contains('.') {
            return Err(not_a_size());
        }
        let factor =
            factor(unit.strip_prefix(' ').unwrap_or(unit), number).map_err(
                |problem| match problem {
                    UnitProblem::Ambiguous(hint) => Invalid::new(
                        "size-unit",
                        format!("the unit of {shown} can be read two ways"),
                    )
                    .with_hint(hint),
                    UnitProblem::Unknown => not_a_size(),
                },
            )?;
        let whole: u64 = whole.parse().map_err(|_| too_large())?;
        let part = fraction_of(factor, fraction.trim_end_matches('0')).ok_or_else(|| {
            Invalid::new("size-fraction", format!("{shown} is not a whole number of bytes"))
                .with_hint("use a smaller unit")
        })?;
        let bytes = whole.checked_mul(factor).and_then(|bytes| bytes.checked_add(part));
        bytes.map(Self).ok_or_else(too_large)
    }
}

impl fmt::Display for ByteSize {
    /// Prints the largest binary unit that needs no fraction.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, unit) = BINARY
            .iter()
            .rev()
            .find(|(_, factor)| self.0 >= *factor && self.0.is_multiple_of(*factor))
            .map_or((self.0, "B"), |(unit, factor)| (self.0 / factor, *unit));
        write!(f, "{bytes}{unit}")
    }
}

const BINARY: [(&str, u64); 6] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("PiB", 1 << 50),
    ("EiB", 1 << 60),
];

const DECIMAL: [(&str, u64); 6] = [
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("PB", 1_000_000_000_000_000),
    ("EB", 1_000_000_000_000_000_000),
];

enum UnitProblem {
    Ambiguous(String),
    Unknown,
}

fn factor(unit: &str, number: &str) -> Result<u64, UnitProblem> {
    if unit.is_empty() || unit.eq_ignore_ascii_case("B") {
        return Ok(1);
    }
    for (known, factor) in BINARY.iter().chain(&DECIMAL) {
        if unit.eq_ignore_ascii_case(known) {
            return Ok(*factor);
        }
    }
    for ((binary, _), (decimal, _)) in BINARY.iter().zip(&DECIMAL) {
        if unit.eq_ignore_ascii_case(&decimal[..1]) {
            return Err(UnitProblem::Ambiguous(format!(
                "write `{number}{binary}` (steps of 1024) or `{number}{decimal}` (steps of 1000)"
            )));
        }
    }
    Err(UnitProblem::Unknown)
}

/// Returns `0.digits` of `factor`, if that is a whole number.
fn fraction_of(factor: u64, digits: &str) -> Option<u64> {
    if digits.is_empty() {
        return Some(0);
    }
    // Ten to the nineteenth is the last power that fits 64 bits; the product then fits 128.
    let power = 10_u64.checked_pow(u32::try_from(digits.len()).ok()?)?;
    let product = u128::from(digits.parse::<u64>().ok()?) * u128::from(factor);
    let power = u128::from(power);
    if product.is_multiple_of(power) { u64::try_from(product / power).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_exactly_and_printed_short() {
        #[rustfmt::skip]
        let cases = [
            ("0",                       0,                  "0B"),
            ("65536",                   65536,              "64KiB"),
            ("64KiB",                   65536,              "64KiB"),
            ("64 kib",                  65536,              "64KiB"),
            ("512B",                    512,                "512B"),
            ("1MB",                     1_000_000,          "1000000B"),
            ("1.5GiB",                  1_610_612_736,      "1536MiB"),
            ("0.5 kB",                  500,                "500B"),
            ("4GiB",                    1 << 32,            "4GiB"),
            ("18446744073709551615",    u64::MAX,           "18446744073709551615B"),
        ];
        for (text, bytes, printed) in cases {
            let size: ByteSize = text.parse().unwrap();
            assert_eq!(size.bytes(), bytes, "{text}");
            assert_eq!(size.to_string(), printed, "{text}");
        }
    }

    #[test]
    fn sizes_that_mean_nothing_or_two_things_are_refused() {
        #[rustfmt::skip]
        let cases = [
            ("",                        "size"),
            (" 1KiB",                   "size"),
            ("1  KiB",                  "size"),
            ("1KiB ",                   "size"),
            ("-1",                      "size"),
            ("+1",                      "size"),
            ("1e3",                     "size"),
            ("0x10",                    "size"),
            ("1.",                      "size"),
            (".5KiB",                   "size"),
            ("1.2.3KiB",                "size"),
            ("٣KiB",                    "size"),
            ("1KiB\0",                  "size"),
            ("64K",                     "size-unit"),
            ("64 m",                    "size-unit"),
            ("0.3B",                    "size-fraction"),
            ("1.0001KiB",               "size-fraction"),
            ("0.00000000000000000000000000000000000001EiB", "size-fraction"),
            ("18446744073709551616",    "size-range"),
            ("16EiB",                   "size-range"),
            ("99999999999999999999GiB", "size-range"),
        ];
        for (text, code) in cases {
            assert_eq!(text.parse::<ByteSize>().unwrap_err().code(), code, "{text:?}");
        }
        let hint = "64K".parse::<ByteSize>().unwrap_err();
        assert_eq!(hint.hint(), Some("write `64KiB` (steps of 1024) or `64KB` (steps of 1000)"));
    }
}
