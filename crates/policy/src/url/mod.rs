//! Whom a URL reaches.
//!
//! URLs are read as the WHATWG says, by the `url` crate (docs/adr/0015). Programs read them in
//! other ways too, and an attacker picks the text that two of them read differently: so a second,
//! older reading is made here, and where it finds another host, both must be allowed.
//!
//! | Module | Question it answers |
//! | --- | --- |
//! | `parsed` | Which host does the text name, and how is it spelled? |
//! | `public` | Is that a host of the public Internet? |
//! | `judge` | May it be reached? |

mod judge;
mod parsed;
mod public;

#[cfg(test)]
mod tests;

pub use judge::{Allowed, Judged, Refusal, judge_host, judge_url};
pub(crate) use parsed::other_readings;
pub use parsed::{Parsed, Spelled, host_of};
pub use public::is_public;
