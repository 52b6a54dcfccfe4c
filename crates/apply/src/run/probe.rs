//! One thing that was tried on a host, as it is told.

use palisade_plan::Trial;

/// One thing that was tried.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Probe {
    /// A name that never changes.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// What became of it.
    pub trial: Trial,
    /// What else is known of it.
    pub detail: Option<String>,
    /// What would lift a refusal, if that is known.
    pub remedies: Vec<&'static str>,
}
