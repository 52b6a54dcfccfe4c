//! The sandbox for coding agents, as a library.
//!
//! A [`Session`] is a project, the policy in force for it, and where every value of that policy
//! came from. Two sessions in one process are independent: nothing is read from the process but
//! what a [`Request`] hands over.
//!
//! ```no_run
//! use palisade::{Request, Session};
//!
//! let session = Session::open(&Request::from_process()?)?;
//! println!("{}", session.root().path.display());
//! for row in session.rows() {
//!     println!("{} {:?}", row.key, row.values);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod agentao;
mod decision;
pub mod places;
pub mod read;
pub mod root;
mod runner;
mod session;
pub mod settings;
pub mod trust;

pub use decision::{Guard, Judges};
/// What may happen: the types of policies, re-exported for those who embed the library.
pub use palisade_policy as policy;
pub use runner::RunnerConfig;
pub use session::{
    Agreement, Checked, Existence, LoadedFile, OpenError, Opens, ProjectFiles, Request, Session,
    Speaker, Warning, export, revoke,
};
