//! What may happen.
//!
//! This crate turns text into a [`Policy`] whose every value knows the file, line and layer it came
//! from, and works out what holds when several layers speak. It is pure: no files, no environment,
//! no clock, no network. Whoever calls it hands the text in.
//!
//! | Module | Question it answers |
//! | --- | --- |
//! | [`text`] | What does the text say, and where in it? |
//! | [`name`] | Is this a host, a path, a size? One door in for each. |
//! | [`key`] | How is a key read, merged, narrowed, shown and described? |
//! | [`policy`] | Which keys are there? |
//! | [`layer`] | Who said what, and what holds? |
//! | [`dialect`] | What do other systems' files say? |
//! | [`lint`] | What is allowed, and probably not meant? |
//! | [`shell`] | Which commands does a shell text run? |
//! | [`command`] | What does a command do? |
//! | [`decide`] | May it happen? |
//! | [`gates`] | Has the agent looked, and may it read more? |
//! | [`permission`] | What do rules and modes say about it? |
//! | [`interception`] | What stands in a tool call, and may it happen? |
//! | [`jail`] | Where does a path lead, and what may be done there? |
//! | [`patch`] | Which files does a patch touch, and may it? |
//! | [`url`] | Whom does a URL reach? |
//! | [`agent`] | What does a known agent need? |
//! | [`builtin`] | What holds when nobody says anything? |
//! | [`print`] | How is a policy written down again? |
//! | [`schema`] | The JSON Schema and the manual, from the same definitions. |
#![forbid(unsafe_code)]

pub mod agent;
pub mod builtin;
pub mod command;
pub mod decide;
pub mod dialect;
mod effort;
pub mod gates;
pub mod interception;
pub mod jail;
pub mod key;
pub mod layer;
pub mod lint;
pub mod name;
pub mod patch;
pub mod permission;
pub mod policy;
pub mod print;
pub mod schema;
pub mod shell;
pub mod text;
pub mod url;

pub use layer::{Choice, Layer, Origin, Resolved, Stack, Trust, resolve};
pub use policy::{Document, Policy};
