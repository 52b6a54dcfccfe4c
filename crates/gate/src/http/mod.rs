//! The head of an HTTP/1 request, as far as a proxy has to understand it.
//!
//! Two programs that read one request differently are how requests are smuggled. So whatever has
//! two readings is refused, and what is passed on is written anew from what was understood.
//!
//! | Module | What it knows |
//! | --- | --- |
//! | `head` | lines, headers, and how long the body is |
//! | `chunks` | where a body ends that comes in pieces |
//! | `target` | for whom a request is |
//! | `path` | a path in one reading |
//! | `forward` | how a request for a proxy becomes one for a server |
//! | `reply` | where a server's answer ends |
//! | `answer` | what a proxy says itself |
//! | `fault` | what is wrong with a request |

mod answer;
mod chunks;
mod fault;
mod forward;
mod head;
mod path;
mod reply;
mod target;

#[cfg(test)]
mod tests;

pub use answer::{ESTABLISHED, Status, refuse};
pub use chunks::Chunks;
pub use fault::Fault;
pub use forward::{to_server, unswitched};
pub use head::{Body, Head, Header, LONGEST, MOST_HEADERS, Reader, Reading, Version};
pub use path::{OnePath, one_path};
pub use reply::{Answered, Extent, Follows, Reply, read_reply};
pub use target::{Authority, Target};
