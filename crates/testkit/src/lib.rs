//! Temporary projects and homes for tests, and honest skips. Only tests depend on this crate.
//!
//! - [`Project`]: a project folder that disappears with the value.
//! - [`Home`]: a home folder and the environment that goes with it.
//! - [`need`]: runs a test only where a fact of the machine holds, and is loud when it does not.
//! - [`hosts`]: hosts that refuse something.
//! - [`ordinary_user`], [`in_child`], [`killed_after`]: a test in a process of its own.

#![forbid(unsafe_code)]
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot set up its folders must stop at once"
)]

mod child;
mod home;
pub mod hosts;
mod need;
mod project;

pub use child::{Turn, in_child, killed_after, ordinary_user};
pub use home::Home;
pub use need::{Fact, Need, need};
pub use project::Project;
