//! Running a command behind the walls of a plan.
//!
//! | Module | Where it runs |
//! | --- | --- |
//! | `host`, `trial`, `survey`, `walk`, `mounts` | in the supervisor: what there is |
//! | `prepare`, `streams`, `reserve` | in the supervisor, before: everything that can be allocated |
//! | `enter` | in the new process: a straight line |
//! | `reaper` | in PID 1 of the sandbox, until its end |
//! | `janitor` | beside the supervisor, until its end |
//! | `supervise`, `pump`, `kept`, `leftover`, `guard`, `after` | in the supervisor, until its end |

mod act;
mod after;
mod enter;
mod error;
mod guard;
mod host;
mod janitor;
mod kept;
mod leftover;
mod message;
mod mounts;
mod outcome;
mod prepare;
mod pump;
mod reaper;
mod reserve;
mod streams;
mod supervise;
mod survey;
mod trial;
mod walk;

pub use error::CannotStart;
pub use host::Host;
pub use outcome::{End, Outcome, Stream, Usage};
pub use streams::{Input, Output, Streams};
pub use supervise::{Running, Stop};
