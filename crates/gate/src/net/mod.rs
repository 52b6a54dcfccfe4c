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
//! | `first` | looks at the first bytes of TLS: do they name the same host? |
//! | `greet` | follows TLS until a server has answered: it may ask for them again |
//! | `incoming` | reads plain requests, one after the other |
//! | `permit`, `requests` | judge a plain request: for whom it is, and by method and path |
//! | `follow` | passes on the requests of one connection |
//! | `exchange` | passes on one request, and its answer back |
//! | `asking` | asks a person, and remembers the answer |
//! | `carry` | moves bytes both ways |
//! | `keep` | bounds what all of them keep meanwhile |
//! | `book` | remembers what there was |
//! | `publish` | leads connections from the host to servers inside |

mod asking;
mod book;
mod carry;
mod dial;
mod exchange;
mod first;
mod follow;
mod greet;
mod hold;
mod incoming;
mod keep;
mod names;
mod open;
mod permit;
mod proxy;
mod publish;
mod relay;
mod requests;
mod rules;

#[cfg(test)]
mod tests;

pub use asking::Ask;
pub use book::Told;
pub use hold::{DENIED, REFUSED};
pub use open::{Gate, Outside, Sockets};
use open::{Held, Pair, Ready, Shared, Whom};
pub use publish::{Make, Published};
pub use relay::OWN_PORT;
pub use rules::{Judged, Rules};
