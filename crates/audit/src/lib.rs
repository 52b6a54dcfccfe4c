//! What happened: events, redaction, a chain of records, and reading it again.
//!
//! [`Event`] is the schema (`schema/event.json`), [`redact`] takes secrets out of what a command
//! line says before anything is written, and a [`Log`] appends one line for each event, with the hash
//! of the line before it. [`verify`] finds what was changed since, and [`read`] tells of the records.
//!
//! Rules that hold here:
//!
//! - It decides nothing. A failing sink is reported and never fails or permits a run.
//! - Redaction comes before every sink; there is no way around it: [`Event`] makes its text, and
//!   makes it redacted.
//! - It writes only to sinks it is handed, one write for each append, and is not async.
//! - The schema is versioned: a field is added or deprecated, never given a new meaning.
#![forbid(unsafe_code)]

mod event;
mod hash;
mod head;
mod log;
mod metrics;
mod query;
pub mod record;
mod redact;
mod seal;
pub mod span;
mod stamp;
mod time;
mod verify;

pub use event::{
    Answered, Asked, Because, Call, Connected, Decided, Ended, Event, HeadTrouble, Judged,
    PolicyFile, Recovered, VERSION, What,
};
pub use hash::{Hash, Key};
pub use log::{CannotRecord, Durable, Log, Rotation, files};
pub use metrics::Metrics;
pub use query::{Filter, read, shown};
pub use redact::{redact, redact_shell, redact_text};
pub use stamp::Stamp;
pub use time::{parse_time, timestamp};
pub use verify::{Problem, State, Verified, verify, verify_beside};
