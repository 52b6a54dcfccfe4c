//! Layers: who said what, and what holds when several did.
//!
//! built-in ⊕ preset ⊕ system ⊕ user ⊕ project ⊕ environment ⊕ command line. Lists that close add
//! up; lists that open add up too; single values take the highest layer that may set them. What an
//! agent's or a task's section says stands above what the files say for everyone. A project that
//! was not trusted can only narrow: [`resolve`] works the policy out with and without it, and takes
//! back whatever the project made wider.

mod origin;
mod resolve;

pub use origin::{Layer, Origin, Scope};
pub use resolve::{CannotResolve, Choice, Resolved, Stack, Trust, resolve};
