//! The sandbox for coding agents, as a library.
//!
//! A [`Sandbox`] runs commands behind walls that the kernel holds: it decides, asks a person where
//! the policy says so, confines, and records, in this order.
//!
//! ```no_run
//! use palisade::{Request, Sandbox};
//!
//! let sandbox = Sandbox::new(&Request::from_process()?)?;
//! let outcome = sandbox.run(["make", "test"])?;
//! if outcome.denied() {
//!     println!("refused: {}", outcome.reason().unwrap_or_default());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Sandbox::start`] gives a [`Run`] that can be stopped, [`Sandbox::spawn`] a future, and a [`Job`]
//! says more than a list of words: shell text, a folder, variables, input, and where output goes.
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
//!
//! A host that runs tools itself asks, in the order that [`Turn`](policy::interception::Turn) knows:
//! a [`Guard`] about files and dangerous commands, [`AccessPolicies`] about who may use the tool,
//! and [`Gates`] about the list of tools, refused patterns, recency and budget.
//!
//! [`AccessPolicies`]: policy::interception::AccessPolicies
//! [`Gates`]: policy::gates::Gates
//!
//! ```
//! use palisade::policy::decide::Answer;
//! use palisade::policy::gates::{Gates, Ledger, ToolUse};
//! use palisade::policy::interception::{AccessPolicies, Stage, Turn, User};
//!
//! let access = AccessPolicies::read(&serde_json::json!([{
//!     "name": "small models",
//!     "model_pattern": "mini$",
//!     "allowed_patterns": ["read_.*"],
//!     "default_policy": "deny",
//! }]))?;
//! let user = User { model: "x-mini", agent: None };
//! let may_use = |tool: &str| access.judge(tool, user).answer == Answer::Allow;
//! let (gates, ledger) = (Gates::new(["read_file", "write_file"]), Ledger::default());
//! let passes = |tool: &str| {
//!     gates.ask(&ToolUse { turn: 1, tool, argv: &[], payload: "" }, &ledger).denial().is_none()
//! };
//!
//! let mut turns: Vec<Turn<&dyn Fn(&str) -> bool>> =
//!     vec![Turn::new(Stage::Other, &passes), Turn::new(Stage::Access, &may_use)];
//! Turn::sort(&mut turns);
//! let may_run = |tool: &str| turns.iter().all(|turn| (turn.who)(tool));
//! assert!(may_run("read_file"));
//! assert!(!may_run("write_file"), "not by this model");
//! assert!(!may_run("read_mail"), "not in this chain");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

/// The examples of the guide, which are run with those above.
#[cfg(all(doctest, target_os = "linux"))]
#[doc = include_str!("../../../docs/guide/embedding.md")]
struct Guide;

pub mod acp;
pub mod agentao;
mod decision;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub mod doctor;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub mod eval;
pub mod history;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub mod hook;
mod http;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub mod init;
mod json;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub mod learn;
pub mod mcp;
pub mod places;
pub mod proxy;
pub mod read;
pub mod root;
pub mod rpc;
mod runner;
#[cfg(any(target_os = "linux", target_os = "macos"))]
mod sandbox;
mod session;
pub mod settings;
#[cfg(any(target_os = "linux", target_os = "macos"))]
mod tenants;
pub mod trust;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub mod why;
pub mod workspaces;

pub use decision::{Guard, Judges};
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub use palisade_apply::Signals as CaughtSignals;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub use palisade_apply::cache;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub use palisade_apply::sys::identity::stack_limit;
#[cfg(target_os = "linux")]
pub use palisade_apply::sys::memory::Memory;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub use palisade_apply::{Failed, Jail, Kind, Listed, Why, call_back, send_ahead};
/// What happened: events, the chain of records, and reading it again.
pub use palisade_audit as audit;
/// How a command is confined, as a list of steps.
pub use palisade_plan as plan;
/// What may happen: the types of policies, re-exported for those who embed the library.
pub use palisade_policy as policy;
pub use runner::RunnerConfig;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub use sandbox::{
    Always, Answered, CannotRun, Confirm, Done, Each, EachSpan, HostQuestion, Input, Job, Named,
    Nobody, Outcome, Output, Pending, Planned, Question, Run, Sandbox, Signals, Stop, Suggestion,
    Traffic, Unconfirmed, Under, export_folder, write_export,
};
pub use session::{
    Agreement, Checked, Existence, LoadedFile, OpenError, Opens, ProjectFiles, Request, Sandboxing,
    Session, Speaker, Warning, export, revoke,
};
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub use tenants::{CannotShare, tenants};
