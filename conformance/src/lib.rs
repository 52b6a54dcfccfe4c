//! What the probe and the runner of the conformance suite agree on.
//!
//! The probe (`conformance-probe`) runs inside of an engine: it tries one attack and its lawful
//! twin, and says what happened. The runner (`conformance`) makes the victims outside, starts the
//! engine, and believes its own eyes where an attack leaves a trace. Neither knows Palisade but as
//! one engine among others.
#![forbid(unsafe_code)]

mod attack;
mod report;
mod world;

pub use attack::{ATTACKS, Attack, Evidence, NOT_PROBED, attack};
pub use report::{Report, Way};
pub use world::World;
