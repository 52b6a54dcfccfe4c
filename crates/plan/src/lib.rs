//! How a permitted command will be confined: a list of steps.
//!
//! [`Order`] is what a policy says about one run, [`Facts`] what a host offers (as data), [`Plan`] a
//! list of [`Step`]s, and [`build`] the one function between them. It takes a
//! [`Permit`](palisade_policy::decide::Permit): no permit, no plan; forgetting to ask does not
//! compile.
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

mod absent;
mod account;
mod after;
mod back_end;
mod block;
mod build;
mod coming;
mod errno;
pub mod export;
mod facts;
mod finds;
mod macos;
mod names;
pub mod network;
mod order;
mod paths;
mod plan;
mod render;
pub mod seccomp;
mod step;
mod worktree;

pub use absent::may_be_placeholder;
pub use account::{Account, SKIPPED};
pub use after::{After, is_plain_repository};
pub use back_end::{BackEnd, NoBackEnd};
pub use block::Block;
pub use build::{CannotPlan, UNPRIVILEGED, build, cache_names};
pub use coming::Coming;
pub use facts::{Delegated, Facts, Idmap, Kernel, Kind, Mount, Place, Privilege, Searched, Trial};
pub use finds::{Finds, Found};
pub use macos::{Verbatim, on_macos};
pub use order::{Bounds, Caches, Kept, Order, Plain, Questions, Trace, Walls, environment};
// The types of the policy that stand in the signatures here.
pub use palisade_policy as policy;
// `apply` answers what deciding asks of a disk, and knows no room but this one.
pub use palisade_policy::jail::{Entry, Listing, Lookup, Named, NamedKind};
pub use paths::{below, by_bytes, is_system, split};
pub use plan::{Enforced, Layer, Level, Note, Plan, Strength};
pub use render::enforced_json;
pub use step::{
    Access, Alone, Depth, FileId, Identity, Keep, Limit, MappedBy, Namespace, Owner, Reached,
    Shape, Step, Tree,
};
pub use worktree::Worktree;
