//! Trust: which content of a project's policy files the user has agreed to (Ruling 4).
//!
//! A [`ContentHash`] names one exact content; a [`TrustStore`] remembers, per project, which one
//! was agreed to. Whatever is doubtful about the memory counts as no agreement.

mod content;
mod doubt;
mod folder;
mod pin;
mod store;

pub use content::ContentHash;
pub use doubt::{Doubt, Why};
pub use pin::Pin;
pub use store::{Listing, Status, TrustError, TrustStore};
