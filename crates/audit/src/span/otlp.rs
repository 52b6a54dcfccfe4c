//! Spans on the wire: OTLP as JSON, and as protobuf, of which it needs three of five wire types.

use std::time::SystemTime;

use serde_json::{Value, json as object};

use super::{Attribute, Kind, Span, Status, hex};

/// Who speaks.
const SERVICE: &str = "palisade";

/// Returns spans as a request in JSON.
pub fn json(spans: &[Span]) -> Value {
    object!({ "resourceSpans": [{
        "resource": { "attributes": [
            { "key": "service.name", "value": { "stringValue": SERVICE } },
        ] },
        "scopeSpans": [{
            "scope": { "name": SERVICE, "version": env!("CARGO_PKG_VERSION") },
            "spans": spans.iter().map(span_json).collect::<Vec<_>>(),
        }],
    }] })
}

fn span_json(span: &Span) -> Value {
    let value = |attribute: &Attribute| match attribute {
        Attribute::Text(text) => object!({ "stringValue": text }),
        // A number of 64 bits is a text in JSON.
        Attribute::Number(number) => object!({ "intValue": number.to_string() }),
        Attribute::Flag(flag) => object!({ "boolValue": flag }),
    };
    let pair =
        |(key, attribute): &(&str, Attribute)| object!({ "key": key, "value": value(attribute) });
    let mut told = object!({
        "traceId": hex(&span.context.trace),
        "spanId": hex(&span.context.span),
        "name": span.name,
        "kind": span.kind.number(),
        "startTimeUnixNano": nanoseconds(span.start).to_string(),
        "endTimeUnixNano": end(span).to_string(),
        "attributes": span.attributes.iter().map(pair).collect::<Vec<_>>(),
        "status": match &span.status {
            Status::Ok => object!({ "code": 1 }),
            Status::Error(message) => object!({ "code": 2, "message": message }),
        },
    });
    if let Some(parent) = span.parent {
        told["parentSpanId"] = hex(&parent).into();
    }
    if let Some((kind, message)) = &span.exception {
        told["events"] = object!([{
            "timeUnixNano": end(span).to_string(),
            "name": "exception",
            "attributes": [
                { "key": "exception.type", "value": { "stringValue": kind } },
                { "key": "exception.message", "value": { "stringValue": message } },
            ],
        }]);
    }
    told
}

impl Kind {
    fn number(self) -> u64 {
        match self {
            Self::Internal => 1,
            Self::Client => 3,
        }
    }
}

fn nanoseconds(at: SystemTime) -> u64 {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

fn end(span: &Span) -> u64 {
    let duration = u64::try_from(span.duration.as_nanos()).unwrap_or(u64::MAX);
    nanoseconds(span.start).saturating_add(duration)
}

/// Returns spans as a request in protobuf (`opentelemetry/proto/trace/v1/trace.proto`).
pub fn protobuf(spans: &[Span]) -> Vec<u8> {
    let mut resource = Message::default();
    resource.message(1, &pair("service.name", &Attribute::Text(SERVICE.into())));
    let mut scope = Message::default();
    scope.text(1, SERVICE).text(2, env!("CARGO_PKG_VERSION"));
    let mut scoped = Message::default();
    scoped.message(1, &scope);
    for span in spans {
        scoped.message(2, &span_message(span));
    }
    let mut all = Message::default();
    all.message(1, &resource).message(2, &scoped);
    let mut request = Message::default();
    request.message(1, &all);
    request.0
}

fn span_message(span: &Span) -> Message {
    let mut told = Message::default();
    told.bytes(1, &span.context.trace).bytes(2, &span.context.span);
    if let Some(parent) = span.parent {
        told.bytes(4, &parent);
    }
    told.text(5, &span.name).number(6, span.kind.number());
    told.fixed(7, nanoseconds(span.start)).fixed(8, end(span));
    for (key, value) in &span.attributes {
        told.message(9, &pair(key, value));
    }
    if let Some((kind, message)) = &span.exception {
        let mut event = Message::default();
        event.fixed(1, end(span)).text(2, "exception");
        event.message(3, &pair("exception.type", &Attribute::Text(kind.clone())));
        event.message(3, &pair("exception.message", &Attribute::Text(message.clone())));
        told.message(11, &event);
    }
    let mut status = Message::default();
    match &span.status {
        Status::Ok => status.number(3, 1),
        Status::Error(message) => status.text(2, message).number(3, 2),
    };
    told.message(15, &status);
    // The caller's choice to sample is ours.
    told.fixed32(16, 1);
    told
}

fn pair(key: &str, value: &Attribute) -> Message {
    let mut any = Message::default();
    match value {
        Attribute::Text(text) => any.bytes_always(1, text.as_bytes()),
        Attribute::Flag(flag) => any.number_always(2, u64::from(*flag)),
        Attribute::Number(number) => any.number_always(3, number.cast_unsigned()),
    };
    let mut pair = Message::default();
    pair.text(1, key).message(2, &any);
    pair
}

/// A message of protobuf. What has its default value is left out.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        loop {
            let byte = u8::try_from(number & 0x7f).unwrap_or(0);
            number >>= 7;
            if number == 0 {
                return self.0.push(byte);
            }
            self.0.push(byte | 0x80);
        }
    }

    fn number_always(&mut self, field: u64, number: u64) -> &mut Self {
        self.varint(field << 3);
        self.varint(number);
        self
    }

    fn number(&mut self, field: u64, number: u64) -> &mut Self {
        if number == 0 { self } else { self.number_always(field, number) }
    }

    fn fixed(&mut self, field: u64, number: u64) -> &mut Self {
        self.varint(field << 3 | 1);
        self.0.extend(number.to_le_bytes());
        self
    }

    fn fixed32(&mut self, field: u64, number: u32) -> &mut Self {
        self.varint(field << 3 | 5);
        self.0.extend(number.to_le_bytes());
        self
    }

    fn bytes_always(&mut self, field: u64, bytes: &[u8]) -> &mut Self {
        self.varint(field << 3 | 2);
        self.varint(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        self.0.extend(bytes);
        self
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) -> &mut Self {
        if bytes.is_empty() { self } else { self.bytes_always(field, bytes) }
    }

    fn text(&mut self, field: u64, text: &str) -> &mut Self {
        self.bytes(field, text.as_bytes())
    }

    fn message(&mut self, field: u64, message: &Self) -> &mut Self {
        self.bytes_always(field, &message.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_protobuf_does() {
        let written = |number| {
            let mut message = Message::default();
            message.varint(number);
            hex(&message.0)
        };
        // The example of the specification, and the ends.
        assert_eq!(
            [0, 1, 127, 128, 150, 300].map(written),
            ["00", "01", "7f", "8001", "9601", "ac02"]
        );
        assert_eq!(written(u64::MAX), "ffffffffffffffffff01");
    }
}
