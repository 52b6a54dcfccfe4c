//! What happened: events, redaction and sinks.
//!
//! This room will hold the schema of events, the redaction that runs before anything is written,
//! the hash chain with its head file, and the sinks.
//!
//! Rules that hold here:
//!
//! - It decides nothing. A failing sink is reported and never fails or permits a run.
//! - Redaction comes before every sink; there is no way around it.
//! - It writes only to sinks it is handed, on a thread of its own, and is not async.
//! - The schema is versioned: a field is added or deprecated, never given a new meaning.
#![forbid(unsafe_code)]
