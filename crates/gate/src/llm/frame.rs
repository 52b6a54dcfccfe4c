//! The messages that an answer is made of, whatever form it has: events, a list, or one object.
//!
//! Which form it is, its first byte tells, not a header: a client may read one form whatever the
//! header says, and bytes that are one form cannot be read as another.

use serde_json::Value;

use super::elements::{self, Part};
use super::{Fault, STATE, json, sse};

/// One message of an answer.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// Every byte of it, as it came.
    pub(super) raw: Vec<u8>,
    /// What it says.
    pub(super) data: Data,
    form: Form,
    /// What an event is called.
    name: Option<Vec<u8>>,
    /// In a list, what stands in front of the element.
    lead: Vec<u8>,
}

/// What a message says.
#[derive(Clone, Debug)]
pub(super) enum Data {
    /// An object of the API.
    Json(Value),
    /// The end of the answer, as some APIs write it.
    Done,
    /// Nothing that a client acts on: a comment, a keep-alive.
    Nothing,
}

/// The form of an answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Form {
    /// Server-sent events.
    Events,
    /// A JSON list that grows.
    List,
    /// One JSON object.
    Whole,
}

/// Reads bytes into messages, however they are cut.
#[derive(Debug, Default)]
pub(super) struct Frames {
    start: Vec<u8>,
    reader: Option<Reader>,
}

#[derive(Debug)]
enum Reader {
    Events(sse::Splitter),
    List(elements::Splitter),
    Whole(Vec<u8>),
}

impl Frames {
    /// Takes bytes and adds the messages that they complete.
    pub(super) fn push(&mut self, bytes: &[u8], out: &mut Vec<Frame>) -> Result<(), Fault> {
        let mut fault = None;
        let reader = match &mut self.reader {
            Some(reader) => reader,
            none => {
                self.start.extend_from_slice(bytes);
                if self.start.len() > STATE {
                    return Err(Fault::TooLarge);
                }
                let Some(reader) = Reader::of(&self.start) else { return Ok(()) };
                let start = std::mem::take(&mut self.start);
                *none = Some(reader);
                return self.push(&start, out);
            }
        };
        match reader {
            Reader::Events(splitter) => splitter.push(bytes, |event| match Frame::event(event) {
                Ok(frame) => out.push(frame),
                Err(unreadable) => fault = Some(unreadable),
            }),
            Reader::List(splitter) => {
                let read = splitter.push(bytes, |part| match Frame::part(part) {
                    Ok(frame) => out.push(frame),
                    Err(unreadable) => fault = Some(unreadable),
                });
                fault = fault.or(read.err().map(|_| Fault::Unreadable));
            }
            Reader::Whole(text) => text.extend_from_slice(bytes),
        }
        if self.held() > STATE {
            fault = Some(Fault::TooLarge);
        }
        fault.map_or(Ok(()), Err)
    }

    /// Ends the answer. What was cut off in the middle is not passed on: it may be half a call.
    pub(super) fn end(&mut self, out: &mut Vec<Frame>) -> Result<(), Fault> {
        match self.reader.take() {
            None => {
                // Blanks alone, or nothing.
                let raw = std::mem::take(&mut self.start);
                if !raw.is_empty() {
                    out.push(Frame::new(raw, Data::Nothing, Form::Whole));
                }
            }
            Some(Reader::Events(mut splitter)) => {
                let mut fault = None;
                let left = splitter.end(|event| match Frame::event(event) {
                    Ok(frame) => out.push(frame),
                    Err(unreadable) => fault = Some(unreadable),
                });
                if let Some(fault) = fault {
                    return Err(fault);
                }
                // Some clients read an event that nothing ended. So it is one if it can be read.
                if left.as_ref().is_some_and(|left| left.odd) {
                    return Err(Fault::Unreadable);
                }
                out.extend(left.and_then(|left| Frame::event(left).ok()));
            }
            Some(Reader::List(mut splitter)) => {
                out.extend(splitter.end().and_then(|part| Frame::part(part).ok()));
            }
            Some(Reader::Whole(raw)) => {
                let data = Data::Json(json::read(&raw).ok_or(Fault::Unreadable)?);
                out.push(Frame::new(raw, data, Form::Whole));
            }
        }
        Ok(())
    }

    /// How many bytes wait for more.
    pub(super) fn held(&self) -> usize {
        self.start.len()
            + match &self.reader {
                None => 0,
                Some(Reader::Events(splitter)) => splitter.held(),
                Some(Reader::List(splitter)) => splitter.held(),
                Some(Reader::Whole(text)) => text.len(),
            }
    }

    /// Returns the form of the answer, once it is known.
    pub(super) fn form(&self) -> Option<Form> {
        self.reader.as_ref().map(|reader| match reader {
            Reader::Events(_) => Form::Events,
            Reader::List(_) => Form::List,
            Reader::Whole(_) => Form::Whole,
        })
    }
}

impl Reader {
    fn of(start: &[u8]) -> Option<Self> {
        const MARK: &[u8] = b"\xef\xbb\xbf";
        if start.len() < MARK.len() && MARK.starts_with(start) {
            return None;
        }
        let text = start.strip_prefix(MARK).unwrap_or(start);
        let first = text.iter().find(|byte| !byte.is_ascii_whitespace())?;
        Some(match first {
            b'{' => Self::Whole(Vec::new()),
            b'[' => Self::List(elements::Splitter::default()),
            _ => Self::Events(sse::Splitter::default()),
        })
    }
}

impl Frame {
    fn new(raw: Vec<u8>, data: Data, form: Form) -> Self {
        Self { raw, data, form, name: None, lead: Vec::new() }
    }

    /// Reads an event. One that looks like JSON and is none is refused: others might read it.
    fn event(event: sse::Event) -> Result<Self, Fault> {
        if event.odd || event.data.as_deref().is_some_and(says_more) {
            return Err(Fault::Unreadable);
        }
        let data = match event.data.as_deref().map(<[u8]>::trim_ascii) {
            None | Some(b"") => Data::Nothing,
            Some(b"[DONE]") => Data::Done,
            Some(text) => match json::read(text) {
                Some(value) => Data::Json(value),
                None if matches!(text.first(), Some(b'[' | b'"')) || sse::may_hold(text) => {
                    return Err(Fault::Unreadable);
                }
                None => Data::Nothing,
            },
        };
        Ok(Self { name: event.name, ..Self::new(event.raw, data, Form::Events) })
    }

    fn part(part: Part) -> Result<Self, Fault> {
        match part {
            Part::Close(raw) => Ok(Self::new(raw, Data::Done, Form::List)),
            Part::Element { lead, text } => {
                let data = Data::Json(json::read(&text).ok_or(Fault::Unreadable)?);
                let raw = [lead.as_slice(), &text].concat();
                Ok(Self { lead, ..Self::new(raw, data, Form::List) })
            }
        }
    }

    /// Returns a message of the same form that says something else.
    pub(super) fn saying(&self, value: Value) -> Self {
        let text = value.to_string();
        let raw = match self.form {
            Form::Events => {
                // Those APIs that name their events name them as the object names itself.
                match value["type"].as_str().filter(|_| self.name.is_some()) {
                    Some(name) => format!("event: {name}\ndata: {text}\n\n").into_bytes(),
                    None => format!("data: {text}\n\n").into_bytes(),
                }
            }
            Form::List => [self.lead.as_slice(), text.as_bytes()].concat(),
            Form::Whole => text.into_bytes(),
        };
        let name = value["type"].as_str().filter(|_| self.name.is_some());
        let (name, lead) = (name.map(|name| name.as_bytes().to_vec()), self.lead.clone());
        Self { name, lead, ..Self::new(raw, Data::Json(value), self.form) }
    }

    /// Returns the object that the message is, if it is one.
    pub(super) fn json(&self) -> Option<&Value> {
        match &self.data {
            Data::Json(value) => Some(value),
            Data::Done | Data::Nothing => None,
        }
    }

    /// Returns what the event is called, if it is one and has a name.
    pub(super) fn named(&self) -> Option<&[u8]> {
        self.name.as_deref()
    }

    /// Whether it is the answer as a whole.
    pub(super) fn is_whole(&self) -> bool {
        self.form == Form::Whole
    }

    /// Puts what stands between elements in front of what was the first of its list.
    pub(super) fn continuing(mut self) -> Self {
        if self.form == Form::List && self.lead.contains(&b'[') {
            let text = self.raw.split_off(self.lead.len());
            self.lead = b",".to_vec();
            self.raw = [self.lead.as_slice(), &text].concat();
        }
        self
    }

    /// How much memory it takes, roughly.
    pub(super) fn size(&self) -> usize {
        // The text and the object that was read out of it.
        self.raw.len() * 2
    }
}

/// Whether one line of an event says something by itself, beside what all of them say: there are
/// clients that read each line alone.
fn says_more(data: &[u8]) -> bool {
    let mut lines = data.split(|byte| *byte == b'\n');
    let is_object = |line: &[u8]| {
        serde_json::from_slice::<Value>(line).is_ok_and(|value| match value {
            Value::Object(map) => !map.is_empty(),
            Value::Array(_)
            | Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_) => false,
        })
    };
    data.contains(&b'\n') && lines.any(is_object)
}
