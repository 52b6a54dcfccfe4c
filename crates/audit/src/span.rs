//! Spans: one for each run and tool call, as OpenTelemetry has them.

mod otlp;

use std::time::{Duration, SystemTime};

pub use otlp::{json, protobuf};

/// What took some time, and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Where it belongs.
    pub context: Context,
    /// The span that it is a part of.
    pub parent: Option<[u8; 8]>,
    /// Its name.
    pub name: String,
    /// Whose work it is.
    pub kind: Kind,
    /// When it began.
    pub start: SystemTime,
    /// How long it took, by a clock that nobody sets.
    pub duration: Duration,
    /// What is known of it.
    pub attributes: Vec<(&'static str, Attribute)>,
    /// The kind and the text of a failure of ours.
    pub exception: Option<(String, String)>,
    /// How it ended.
    pub status: Status,
}

/// A trace, and a span in it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Context {
    /// The trace.
    pub trace: [u8; 16],
    /// The span.
    pub span: [u8; 8],
}

/// Whose work a span is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// Our own.
    Internal,
    /// Another's, whom we asked.
    Client,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    /// A text.
    Text(String),
    /// A number.
    Number(i64),
    /// A yes or a no.
    Flag(bool),
}

/// How a span ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Status {
    /// As it should.
    Ok,
    /// It failed or was refused, and why.
    Error(String),
}

impl Context {
    /// Reads the context that a caller hands over (W3C Trace Context, `traceparent`).
    pub fn read(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('-');
        let (version, trace) = (parts.next()?, parts.next()?);
        let (span, flags) = (parts.next()?, parts.next()?);
        let known = version == "00" && parts.next().is_none();
        let later = version != "00" && version != "ff" && bytes::<1>(version).is_some();
        if !known && !later || bytes::<1>(flags).is_none() {
            return None;
        }
        let context = Self { trace: bytes(trace)?, span: bytes(span)? };
        (context.trace != [0; 16] && context.span != [0; 8]).then_some(context)
    }

    /// Writes it for whoever is called.
    pub fn traceparent(&self) -> String {
        format!("00-{}-{}-01", hex(&self.trace), hex(&self.span))
    }
}

fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let lower = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if text.len() != 2 * N || !text.bytes().all(lower) {
        return None;
    }
    let mut found = [0; N];
    for (at, byte) in found.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(found)
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_callers_context_is_read_as_the_standard_has_it() {
        let (trace, span) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
        let right = format!("00-{trace}-{span}-01");
        let context = Context::read(&right).unwrap();
        assert_eq!((hex(&context.trace), hex(&context.span)), (trace.into(), span.into()));
        assert_eq!(context.traceparent(), right);
        assert!(Context::read(&format!("01-{trace}-{span}-00-more")).is_some(), "a later version");
        for wrong in [
            "",
            "00",
            &format!("00-{trace}-{span}"),
            &format!("00-{trace}-{span}-01-more"),
            &format!("ff-{trace}-{span}-01"),
            &format!("00-{}-{span}-01", "0".repeat(32)),
            &format!("00-{trace}-{}-01", "0".repeat(16)),
            &format!("00-{}-{span}-01", trace.to_uppercase()),
            &format!("00-{trace}é-{span}-01"),
        ] {
            assert_eq!(Context::read(wrong), None, "{wrong}");
        }
    }
}
