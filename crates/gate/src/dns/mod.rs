//! The name server of a box: it reads questions and writes small answers, and forwards nothing.
//!
//! | Module | What it knows |
//! | --- | --- |
//! | `query` | what was asked, by bytes that may be hostile |
//! | `answer` | how an answer is written, and how long it may be |
//! | `names` | which address inside stands for which name |
//!
//! Written by hand (docs/adr/0032): questions are all that is read here.

mod answer;
mod names;
mod query;

#[cfg(test)]
mod tests;

pub use answer::{Answer, Carrier, Remember};
pub use names::{Full, GATEWAY, Local, MOST_NAMES, Names};
pub use query::{Asked, Fault, Kind, LONGEST, Query, Rejected};
