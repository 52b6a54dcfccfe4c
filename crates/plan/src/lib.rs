//! How a permitted command will be confined: a list of steps.
//!
//! This room will hold `Facts` (what a host offers, as data), `Plan` (a list of `Step`s) and the
//! one function between them, which takes a `Permit` from `palisade-policy` and answers with a
//! plan or says which wall is missing. No permit, no plan: forgetting to ask does not compile.
//!
//! Rules that hold here:
//!
//! - A plan is a value. Building one touches nothing, so it can be printed, compared, kept in a
//!   snapshot, or exported to another engine. Two plans that print the same confine the same.
//! - Pure: no files, environment, clock, network, processes, threads or randomness, and no
//!   `cfg(target_os)`. Any host can plan for any host.
//! - The strictest reading of a path or limit is the one that is planned; what a host cannot
//!   enforce is a named absence, never a silent one.
#![forbid(unsafe_code)]

// `apply` answers what deciding asks of a disk, and knows no room but this one.
pub use palisade_policy::jail::{Entry, Listing, Lookup, Named, NamedKind};
