//! What happened: events, redaction and sinks.
//!
//! [`Event`] is the schema (`schema/event.json`), [`redact`] takes secrets out of what a command
//! line says before anything is written, and [`JsonlSink`] appends one line for each event. The hash
//! chain with its head file will live here too.
//!
//! Rules that hold here:
//!
//! - It decides nothing. A failing sink is reported and never fails or permits a run.
//! - Redaction comes before every sink; there is no way around it: [`Event`] makes its text, and
//!   makes it redacted.
//! - It writes only to sinks it is handed, one write for each record, and is not async.
//! - The schema is versioned: a field is added or deprecated, never given a new meaning.
#![forbid(unsafe_code)]

mod event;
mod redact;
mod sink;
mod time;

pub use event::{
    Answered, Asked, Because, Call, Connected, Decided, Ended, Event, PolicyFile, VERSION, What,
};
pub use redact::redact;
pub use sink::{CannotRecord, JsonlSink};
