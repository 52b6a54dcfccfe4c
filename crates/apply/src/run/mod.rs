//! Running a command behind the walls of a plan.
//!
//! | Module | Where it runs |
//! | --- | --- |
//! | `host`, `trial`, `shortage`, `around`, `blocks`, `probes`, `survey`, `folders`, `walk`, `way`, `mounts`, `doors`, `unlooked` | in the supervisor: what there is |
//! | `prepare`, `needed`, `streams`, `reserve`, `free`, `accounts`, `maps`, `group`, `allowed`, `scratch` | in the supervisor, before: everything that can be allocated |
//! | `ahead`, `furnish` | beside the supervisor, before: what takes long |
//! | `enter`, `overlay`, `still`, `inlet` | in the new process: a straight line |
//! | `reaper`, `family`, `maker` | in the first process of the sandbox, until its end |
//! | `janitor` | beside the supervisor, until its end |
//! | `supervise`, `sandbox`, `said`, `bounds`, `attend`, `pump`, `capped`, `terminal`, `kept`, `leftover`, `guard`, `quiet`, `after`, `executed`, `touched`, `pointer`, `lent`, `opened` | in the supervisor, until its end |

mod accounts;
mod act;
mod after;
mod ahead;
mod allowed;
mod around;
mod attend;
mod blocks;
mod bounds;
mod capped;
mod doors;
mod enter;
mod error;
mod executed;
mod family;
mod folders;
mod free;
mod full;
mod furnish;
mod group;
mod guard;
mod handed;
mod host;
mod inlet;
mod janitor;
mod journal;
mod kept;
mod laid;
mod leftover;
mod lent;
mod maker;
mod maps;
mod message;
mod mirror;
mod mounts;
mod needed;
mod opened;
mod outcome;
mod overlay;
mod pointer;
mod prepare;
mod probe;
mod probes;
mod pump;
mod quiet;
mod reaper;
mod reserve;
mod said;
mod sample;
mod sandbox;
mod scratch;
mod shortage;
mod spare;
mod still;
mod streams;
mod supervise;
mod survey;
mod terminal;
mod touched;
mod trace;
mod trial;
mod unlooked;
mod walk;
mod way;

pub use ahead::{call_back, send_ahead};
pub use attend::Signals;
pub use error::CannotStart;
pub use handed::{Input, Output, Streams};
pub use host::{Host, Other};
pub use inlet::Inlets;
pub use maker::Maker;
pub use outcome::{
    Bound, End, Outcome, Stream, Survivors, Touched, Usage, Used, Violation, Violations,
};
pub use probe::Probe;
pub use supervise::{Running, Stop};
pub use way::links_to;
