//! The command line from outside: the built binary, real files, a home of its own.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot be set up must stop at once"
)]

mod bad_input;
mod check;
mod documents;
mod engine_lines;
mod engines;
mod idle;
mod kit;
mod linking;
mod picked;
mod policy_check;
mod policy_convert;
mod policy_show;
mod profiles;
mod recording;
mod round_trip;
mod run;
mod running;
mod schema;
mod seen;
mod surface;
mod tool_calls;
mod trust;
mod unconfined;
mod work;
mod worktree;
