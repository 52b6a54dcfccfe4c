//! The network of a running box: names, connections and proxies, filtered by what a policy says.
//!
//! The box has a network in which every address leads to the sockets that are handed in here. A name
//! that may be reached gets an address of its own inside; a connection to it is dialled from outside,
//! once, to an address that was judged. Nothing else leaves.
//!
//! | Module | What it does |
//! | --- | --- |
//! | `open` | opens the doors and closes them, in a thread of their own |
//! | `rules` | judges hosts, ports and addresses |
//! | `names` | answers questions about names |
//! | `hold` | answers for connections while their first packet waits |
//! | `relay` | takes connections, whoever they are for |
//! | `proxy` | takes connections of programs that ask for one |
//! | `dial` | resolves, judges again, connects |
//! | `first` | looks at the first bytes: do they name the same host? |
//! | `carry` | moves bytes both ways |
//! | `book` | remembers what there was |
//! | `report` | what is told of it |
//!
//! The doors are Linux's; elsewhere only what is said about them is here.

#[cfg(target_os = "linux")]
mod book;
#[cfg(target_os = "linux")]
mod carry;
#[cfg(target_os = "linux")]
mod dial;
#[cfg(target_os = "linux")]
mod first;
#[cfg(target_os = "linux")]
mod hold;
#[cfg(target_os = "linux")]
mod names;
#[cfg(target_os = "linux")]
mod open;
#[cfg(target_os = "linux")]
mod proxy;
#[cfg(target_os = "linux")]
mod relay;
mod report;
#[cfg(target_os = "linux")]
mod rules;

#[cfg(target_os = "linux")]
pub use open::{Gate, Outside, Sockets};
#[cfg(target_os = "linux")]
use open::{Held, Pair, Shared};
pub use report::{Connection, Report, Via};
#[cfg(target_os = "linux")]
pub use rules::{Judged, Rules};
