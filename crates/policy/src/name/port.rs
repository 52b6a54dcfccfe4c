//! A TCP or UDP port.

use std::fmt;
use std::num::NonZeroU16;
use std::str::FromStr;

use super::{Invalid, quote};

/// A port that can be connected to: 1 to 65535.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Port(NonZeroU16);

impl Port {
    /// Returns the port as a number.
    pub fn number(self) -> u16 {
        self.0.into()
    }
}

impl FromStr for Port {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let shown = quote(text);
        if text.is_empty() {
            return Err(Invalid::new("port-empty", "the port is empty")
                .with_hint("write a number from 1 to 65535, or leave out the `:`"));
        }
        if !text.bytes().all(|b| b.is_ascii_digit()) {
            return Err(Invalid::new("port-number", format!("the port {shown} is not a number"))
                .with_hint("write a number from 1 to 65535"));
        }
        let significant = text.trim_start_matches('0');
        let out_of_range = || {
            Invalid::new("port-range", format!("the port {shown} is out of range"))
                .with_hint("ports go from 1 to 65535")
        };
        let port = significant.parse().map(Self).map_err(|_| out_of_range())?;
        if significant != text {
            return Err(Invalid::new(
                "port-number",
                format!("the port {shown} starts with a zero"),
            )
            .with_hint(format!("write `{significant}`")));
        }
        Ok(port)
    }
}

impl TryFrom<u16> for Port {
    type Error = Invalid;

    fn try_from(number: u16) -> Result<Self, Invalid> {
        number.to_string().parse()
    }
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
