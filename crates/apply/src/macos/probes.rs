//! Whether the one wall can be put up, for whoever wants to know why nothing starts.

use std::process::{Command, Stdio};

use palisade_plan::Trial;

use super::host::Host;
use super::probe::Probe;
use super::start::SANDBOX_EXEC;

impl Host {
    /// Tries what the wall is made of: a profile that denies reading must keep a file from being
    /// read, and one that does not must let it.
    pub fn probes(&self) -> Vec<Probe> {
        let about = "Seatbelt, by sandbox-exec";
        let refused = |errno| Trial::Refused { what: about.into(), errno };
        let trial = match (reads("(allow default)"), reads("(allow default)(deny file-read-data)"))
        {
            (Some(true), Some(false)) => Trial::Works,
            (Some(false) | None, _) | (_, None) => refused(libc::ENOENT),
            (Some(true), Some(true)) => refused(libc::ENOTRECOVERABLE),
        };
        let remedies = match trial {
            Trial::Works => Vec::new(),
            Trial::Refused { .. } | Trial::Short { .. } => {
                vec!["start it outside of another sandbox, which allows no second one"]
            }
        };
        vec![Probe { name: "seatbelt", about, trial, detail: None, remedies }]
    }
}

/// Returns whether a file can be read under these rules; nothing where they cannot be put in force.
fn reads(rules: &str) -> Option<bool> {
    let mut command = Command::new(SANDBOX_EXEC);
    command.args(["-p", &format!("(version 1){rules}"), "/bin/cat", "/etc/hosts"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().ok().map(|status| status.success())
}
