//! Running a command on macOS: one wall, Seatbelt, put up by `/usr/bin/sandbox-exec`.
//!
//! The same names as on Linux, and far less behind them: a plan for macOS has a profile, bounds, a
//! folder and a command. What Seatbelt does not give stands in the plan's `enforced`.
//!
//! | Module | What it does |
//! | --- | --- |
//! | `host`, `survey`, `folders`, `walk`, `way`, `lent` | what there is |
//! | `streams`, `pump` | the three standard descriptors |
//! | `start` | from a plan to a process |
//! | `probes` | whether the wall can be put up |
//! | `running` | until its end |

#[path = "../run/error.rs"]
mod error;
#[path = "../run/folders.rs"]
mod folders;
#[path = "../run/handed.rs"]
mod handed;
mod host;
#[path = "../run/kept.rs"]
mod kept;
mod lent;
#[path = "../run/outcome.rs"]
mod outcome;
#[path = "../run/probe.rs"]
mod probe;
mod probes;
mod pump;
mod running;
mod start;
mod streams;
#[path = "../run/survey.rs"]
mod survey;
#[path = "../run/walk.rs"]
mod walk;
#[path = "../run/way.rs"]
mod way;

pub use error::CannotStart;
pub use handed::{Input, Output, Streams};
pub use host::{Host, Other};
pub use outcome::{
    Bound, End, Outcome, Stream, Survivors, Touched, Usage, Used, Violation, Violations,
};
pub use probe::Probe;
pub use running::{Running, Signals, Stop};
pub use way::links_to;

/// Nothing takes long here before a command starts.
pub fn send_ahead() {}

/// Nothing was sent ahead.
pub fn call_back() {}
