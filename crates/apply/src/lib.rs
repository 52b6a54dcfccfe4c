//! Putting a plan in force: the only room that talks to the kernel.
//!
//! This room will hold the probe that turns a host into `Facts`, `prepare`, which allocates
//! everything a plan needs and may fail while nothing has run, `enter`, a straight line of system
//! calls without allocation that ends in `execve`, and the reaper that outlives neither side.
//!
//! Rules that hold here:
//!
//! - It adds nothing: one exhaustive match over the plan's steps, one wrapper per step.
//! - System calls live in [`sys`], one function each. `unsafe`, once it is needed, is allowed in
//!   that directory alone (docs/adr/0004); until then this crate forbids it.
//! - It knows the plan and no rules: no policy files, no sockets to the world, no terminal.
//! - A failure before `execve` leaves nothing running, and says so.
#![forbid(unsafe_code)]
pub mod sys;
