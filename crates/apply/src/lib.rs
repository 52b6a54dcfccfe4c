//! Putting a plan in force: the only room that talks to the kernel.
//!
//! [`Host`] finds out what a host offers and starts commands on it: [`Host::facts`] answers what a
//! plan has to know, [`Host::start`] makes a plan ready while nothing has run, then enters it by a
//! straight line of system calls without allocation that ends in `execve`. [`Running`] is the
//! supervisor's side, [`Outcome`] what became of it.
//!
//! Two things in it serve the supervisor itself: [`HostLookup`] says what lies at a path, and
//! [`Jail`] does file operations that cannot leave a folder, whatever links are planted in it.
//!
//! Rules that hold here:
//!
//! - It adds nothing: one exhaustive match over the plan's steps, one wrapper per step.
//! - System calls live in [`sys`], one function each. `unsafe` is allowed in that directory alone
//!   (docs/adr/0004).
//! - It knows the plan and no rules: no policy files, no sockets to the world, no terminal.
//! - A failure before `execve` leaves nothing running, and says so.

pub mod cache;
mod converse;
mod jail;
mod listing;
mod lookup;
mod remove;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "macos")]
#[path = "macos/mod.rs"]
mod run;
pub mod sys;
pub mod worktree;

pub use converse::converse;
pub use jail::{Failed, Jail, Kind, Listed, Metadata, Names, Why};
pub use listing::{Listing, is_any_there};
pub use lookup::{HostLookup, Once, Opening, real, straight_folder};
pub use remove::folder as remove_folder;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub use run::{
    Bound, CannotStart, End, Host, Input, Other, Outcome, Output, Probe, Running, Signals, Stop,
    Stream, Streams, Survivors, Touched, Usage, Used, Violation, Violations, call_back, links_to,
    send_ahead,
};
#[cfg(target_os = "linux")]
pub use run::{Inlets, Maker};
