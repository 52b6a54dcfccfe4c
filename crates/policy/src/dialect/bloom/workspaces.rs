//! Several agents at once.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::name::{Folder, Invalid, PathPattern};
use crate::text::visible;

/// Works out, for each agent, which folders to hide from it: everybody else's workspaces.
///
/// # Errors
///
/// When a workspace is not an absolute path, or when two agents' workspaces overlap: neither could
/// be kept from the other.
pub fn mutual_denial(
    workspaces: &[(Arc<str>, PathBuf)],
) -> Result<BTreeMap<Arc<str>, Vec<PathPattern>>, Invalid> {
    let mut folders: Vec<(&Arc<str>, Folder)> = Vec::new();
    for (agent, path) in workspaces {
        let folder = Folder::literal(path)?;
        if !folder.is_absolute() {
            let problem = format!("the workspace {} is not absolute", visible(&folder.to_string()));
            return Err(Invalid::new("path-anchor", problem));
        }
        folders.push((agent, folder));
    }
    let mut hidden: BTreeMap<Arc<str>, Vec<PathPattern>> = BTreeMap::new();
    for (agent, own) in &folders {
        let denied = hidden.entry(Arc::clone(agent)).or_default();
        for (other, theirs) in folders.iter().filter(|(other, _)| other != agent) {
            if theirs.covers(own) || own.covers(theirs) {
                let [own, theirs] = [own, theirs].map(|folder| visible(&folder.to_string()));
                let [agent, other] = [agent, other].map(|name| visible(name));
                let problem = format!("`{own}` of {agent} and `{theirs}` of {other} overlap");
                return Err(Invalid::new("workspaces-overlap", problem)
                    .with_hint("give each agent a folder beside the others'"));
            }
            if !denied.contains(theirs.as_pattern()) {
                denied.push(theirs.as_pattern().clone());
            }
        }
    }
    Ok(hidden)
}
