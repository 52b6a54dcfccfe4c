//! Putting a plan in force: the only room that talks to the kernel.
//!
//! This room will hold the probe that turns a host into `Facts`, `prepare`, which allocates
//! everything a plan needs and may fail while nothing has run, `enter`, a straight line of system
//! calls without allocation that ends in `execve`, and the reaper that outlives neither side.
//!
//! Two things in it serve the supervisor itself: [`HostLookup`] says what lies at a path, and
//! [`Jail`] does file operations that cannot leave a folder, whatever links are planted in it.
//!
//! Rules that hold here:
//!
//! - It adds nothing: one exhaustive match over the plan's steps, one wrapper per step.
//! - System calls live in [`sys`], one function each. `unsafe`, once it is needed, is allowed in
//!   that directory alone (docs/adr/0004); until then this crate forbids it.
//! - It knows the plan and no rules: no policy files, no sockets to the world, no terminal.
//! - A failure before `execve` leaves nothing running, and says so.
#![forbid(unsafe_code)]

mod jail;
mod lookup;
pub mod sys;

pub use jail::{Failed, Jail, Kind, Listed, Metadata, Names, Why};
pub use lookup::HostLookup;
