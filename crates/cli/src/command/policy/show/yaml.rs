//! The policy in force as a policy file.

use palisade::policy::key::Row;
use palisade::policy::layer::{Layer, Origin};
use palisade::policy::print;

use super::Origins;

/// Writes the rows as YAML that reads back to the same values.
pub(super) fn render(rows: &[Row], origins: Origins) -> String {
    let policy = match origins {
        Origins::Hidden => print::yaml(rows, None),
        Origins::Shown => print::yaml(rows, Some(&whence)),
    };
    format!("version: 1\n{policy}")
}

/// Says where a value comes from. Of what Palisade brings, the name says more than the file.
fn whence(origin: &Origin) -> String {
    let file = origin.file.as_deref().unwrap_or_default();
    let name = |folder: &str| file.strip_prefix(folder).map(|name| name.trim_end_matches(".yaml"));
    if origin.layer == Layer::BuiltIn {
        origin.layer.to_string()
    } else if let Some(preset) = name("policies/presets/") {
        format!("preset {preset}")
    } else if let Some(profile) = name("policies/profiles/") {
        format!("{}, profile {profile}", origin.layer)
    } else {
        origin.to_string()
    }
}
