//! Which systems have walls of ours.

/// What confines commands on a system.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BackEnd {
    /// Namespaces, Landlock and seccomp.
    Linux,
    /// Seatbelt.
    Macos,
}

/// There is nothing of ours that confines commands on a system.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("nothing can be confined on {system}, and nothing was run")]
pub struct NoBackEnd {
    /// The system, by its name in Rust.
    pub system: String,
}

impl BackEnd {
    /// Returns what confines commands on a system, by its name in Rust (`std::env::consts::OS`).
    ///
    /// # Errors
    ///
    /// When nothing does: then nothing may be run there.
    pub fn of(system: &str) -> Result<Self, NoBackEnd> {
        match system {
            "linux" => Ok(Self::Linux),
            "macos" => Ok(Self::Macos),
            other => Err(NoBackEnd { system: other.into() }),
        }
    }
}

impl NoBackEnd {
    /// Returns what the caller can do about it.
    pub fn hint(&self) -> &'static str {
        match self.system.as_str() {
            "windows" => {
                "run it in WSL2 (`wsl --install`), where everything works, or in a Linux container; \
                 `palisade check`, `policy` and `explain` decide here too"
            }
            _ => {
                "run it in a Linux container or virtual machine (on Windows: WSL2); \
                 `palisade check`, `policy` and `explain` decide here too"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a191_where_nothing_can_be_confined_nothing_runs_and_wsl2_and_containers_are_named() {
        assert_eq!(BackEnd::of("linux"), Ok(BackEnd::Linux));
        assert_eq!(BackEnd::of("macos"), Ok(BackEnd::Macos));
        for system in ["windows", "freebsd", "android", "ios", ""] {
            let refused = BackEnd::of(system).unwrap_err();
            assert!(refused.to_string().contains("nothing was run"), "{refused}");
            assert!(refused.hint().contains("WSL2"), "{}", refused.hint());
            assert!(refused.hint().contains("container"), "{}", refused.hint());
        }
    }
}
