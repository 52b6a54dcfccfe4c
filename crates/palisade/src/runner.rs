//! The sandbox runner's own configuration, by its own names.

use std::path::PathBuf;

use serde::Deserialize;

/// The five names of the sandbox runner (row 172). Unset ones keep the preset's value.
///
/// ```
/// let config: palisade::RunnerConfig =
///     serde_json::from_str(r#"{ "timeout_seconds": 2.5, "denylist": ["rm"] }"#)?;
/// assert_eq!(config.timeout_seconds, Some(2.5));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct RunnerConfig {
    /// The project root.
    pub project_root: Option<PathBuf>,
    /// Bytes kept of each output stream.
    pub max_output_bytes: Option<u64>,
    /// Wall-clock seconds.
    pub timeout_seconds: Option<f64>,
    /// Programs that no command may name.
    pub denylist: Option<Vec<String>>,
    /// Interpreters that may not be given code on the command line.
    pub interpreter_block: Option<Vec<String>>,
}

impl RunnerConfig {
    /// Writes the configuration as the policy text it stands for, but for the root, which is the
    /// request's to say.
    pub(crate) fn policy_text(&self) -> String {
        let mut text = serde_json::json!({ "preset": "runner" });
        if let Some(bytes) = self.max_output_bytes {
            text["max_output_bytes"] = bytes.into();
        }
        if let Some(seconds) = self.timeout_seconds {
            text["timeout_seconds"] = seconds.into();
        }
        if let Some(names) = &self.denylist {
            text["denylist"] = names.clone().into();
        }
        if let Some(names) = &self.interpreter_block {
            text["interpreter_block"] = names.clone().into();
        }
        text.to_string()
    }
}
