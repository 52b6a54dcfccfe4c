//! Which tools models and agents may use, as files say it.

use std::path::Path;

use palisade_policy::interception::AccessPolicies;
use palisade_policy::name::Invalid;
use palisade_policy::text::{self, Node, Source, Value};
use serde_json::{Map, Value as Json};

use crate::read::{Place, read_policy_file};
use crate::session::OpenError;

/// Reads access policies out of a file: the list `access_policies`, at the top or where the proxy's
/// configuration has it. None if there is none.
///
/// # Errors
///
/// When the file cannot be read, or an entry is wrong: a policy is never passed over.
pub fn read(path: &Path) -> Result<Option<AccessPolicies>, OpenError> {
    let source = Source::new(&path.to_string_lossy(), &read_policy_file(path, Place::Named)?);
    let tree = text::parse(&source).map_err(|problem| OpenError::Text(vec![problem]))?;
    let nested = || tree.find("session")?.find("tool_call_reactor")?.find("access_policies");
    let Some(list) = tree.find("access_policies").or_else(nested) else { return Ok(None) };
    let named =
        |invalid: Invalid| OpenError::Option { name: path.to_string_lossy().into(), invalid };
    AccessPolicies::read(&json(list)).map(Some).map_err(named)
}

fn json(node: &Node) -> Json {
    match &node.value {
        Value::Bool(on) => (*on).into(),
        Value::List(items) => items.iter().map(json).collect(),
        Value::Map(entries) => {
            let entries = entries.iter().map(|entry| (entry.key.to_string(), json(&entry.value)));
            Json::Object(entries.collect::<Map<String, Json>>())
        }
        Value::Null => Json::Null,
        // A number that is none stays a text, and is refused as such.
        Value::Number(text) => serde_json::from_str(text).unwrap_or_else(|_| (**text).into()),
        Value::Text(text) => (**text).into(),
    }
}
