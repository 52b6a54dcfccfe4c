//! Understanding commands: from words to what they do.
//!
//! An [`Arg`] is a word as far as it is known before it runs. The table of tools (`tool`) and the
//! readers of inline code (`code`) turn words into [`Act`]s; deciding looks at acts only.

mod act;
mod arg;
pub mod code;
pub(crate) mod cover;
mod shells;
pub mod tool;

pub use act::{Act, Concern, Extent, Language, Run};
pub(crate) use arg::Holed;
pub use arg::{Arg, Certainty, HOLE};
pub(crate) use shells::SHELLS;
