//! A policy written as `sandbox.json`.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value as Json, json};

use super::picks::Picks;
use super::profiles::in_folder;
use crate::dialect::{Lost, Surroundings, Written, left_out, refuses, shared_temp};
use crate::policy::{NetworkMode, Policy, Profile};

/// Writes what `sandbox.json` can say. It never says more than the policy does.
pub(super) fn write(policy: &Policy, around: &Surroundings<'_>) -> Written {
    let mut lost = Vec::new();
    let mut out = Map::new();
    out.insert("enabled".into(), json!(true));
    out.insert("platform".into(), json!("darwin")); // any other switches Agentao's sandbox off
    let folder = profiles_dir(policy, around);
    let profile = default_profile(policy, folder.as_deref(), &mut lost);
    let picks = Picks { policy, default: &profile, folder: folder.as_deref(), around };
    let name = picks.name(&profile);
    out.insert("default_profile".into(), json!(name));
    let rules = picks.write(&mut lost);
    // Whoever picks a built-in profile picks the shared folders with it; a file may open none.
    let named = rules.iter().filter_map(|rule| rule["profile"].as_str()).chain(name.as_deref());
    let named: Vec<&str> = named.collect();
    // A folder that no written name is looked up in says nothing.
    let folder = folder.clone().filter(|_| named.iter().any(|name| !Profile::NAMES.contains(name)));
    if named.iter().any(|name| Profile::NAMES.contains(name)) {
        let why =
            "every built-in profile writes these, which all programs share; here they are private";
        lost.push(Lost::new("files.write", "/tmp, /var/tmp".into(), why).wider());
    } else {
        lost.extend(shared_temp(policy));
    }
    out.insert("rules".into(), Json::Array(rules));
    out.insert("profiles_dir".into(), json!(folder));
    let root = workspace_root(policy, &profile, around, &mut lost);
    out.insert("workspace_root".into(), json!(root));
    lost.extend(others(policy));
    Written { text: format!("{:#}\n", Json::Object(out)), lost }.sorted()
}

/// Returns the one folder in which profile files can be named, if it takes nothing away: a file in
/// it that is called like a built-in profile would take that one's place.
fn profiles_dir(policy: &Policy, around: &Surroundings<'_>) -> Option<PathBuf> {
    let rules = policy.commands.rules.lists().iter().flat_map(|list| &list.rules);
    let named: Vec<Profile> = std::iter::once(policy.profile.value())
        .chain(rules.filter_map(|r| r.value.profile.clone()))
        .collect();
    let files = named.iter().filter_map(|profile| match profile {
        Profile::File(file) => Some(file.path()),
        Profile::Readonly | Profile::WorkspaceWrite | Profile::WorkspaceWriteNoNetwork => None,
    });
    let folder = files.filter_map(|file| file.parent().map(Path::to_owned)).next()?;
    let shadowed = Profile::NAMES.iter().any(|name| in_folder(&folder, name, around).is_some());
    let only_files = named.iter().all(|profile| matches!(profile, Profile::File(_)));
    (folder.to_str().is_some() && (!shadowed || only_files)).then_some(folder)
}

/// Returns the profile that confines at least as much as the policy.
fn default_profile(policy: &Policy, folder: Option<&Path>, lost: &mut Vec<Lost>) -> Profile {
    let mode = policy.network.mode.value();
    let profile = policy.profile.value();
    if let Profile::File(file) = &profile {
        let plain = !policy.files.write.is_explicit() && !policy.network.mode.is_explicit();
        if plain && file.path().parent() == folder {
            return profile;
        }
        lose(
            lost,
            "profile",
            profile.to_string(),
            "the file cannot be named together with the rest",
        );
    }
    match mode {
        NetworkMode::DenyAll => {}
        NetworkMode::Disabled if policy.files.write.entries().is_empty() => {
            lose(
                lost,
                "network.mode",
                mode.to_string(),
                "`readonly` has no network; nothing connects",
            );
        }
        NetworkMode::AllowList | NetworkMode::Monitor => {
            lose(
                lost,
                "network.mode",
                mode.to_string(),
                "a profile opens the whole network or none; nothing connects",
            );
        }
        NetworkMode::Disabled if refuses(policy) => {
            lose(
                lost,
                "network.mode",
                mode.to_string(),
                "a profile that opens the network refuses no host; nothing connects",
            );
        }
        NetworkMode::Disabled => return Profile::WorkspaceWrite,
    }
    if policy.files.write.entries().is_empty() {
        Profile::Readonly
    } else {
        Profile::WorkspaceWriteNoNetwork
    }
}

/// Returns the folder that may be written, where that is not the project's root.
fn workspace_root(
    policy: &Policy,
    profile: &Profile,
    around: &Surroundings<'_>,
    lost: &mut Vec<Lost>,
) -> Option<String> {
    let root = &around.anchors.root;
    let folder = match profile {
        // Nothing is writable by default, but a rule may pick a profile that means this folder.
        Profile::Readonly | Profile::File(_) => {
            policy.root.sourced().map(|folder| folder.value.path())?
        }
        Profile::WorkspaceWrite | Profile::WorkspaceWriteNoNetwork => {
            let mut folders: Vec<PathBuf> = Vec::new();
            for folder in policy.files.write.values() {
                if !folders.contains(&folder.path()) {
                    folders.push(folder.path());
                }
            }
            let kept = folders.iter().find(|folder| *folder == root).or(folders.first())?.clone();
            for folder in folders.iter().filter(|folder| **folder != kept) {
                let shown = folder.display().to_string();
                lose(lost, "files.write", shown, "one folder is writable, not several");
            }
            kept
        }
    };
    (folder != *root).then(|| folder.display().to_string())
}

/// Lists every key that is set and has no place in `sandbox.json`.
fn others(policy: &Policy) -> Vec<Lost> {
    const CARRIED: [&str; 5] = ["profile", "root", "files.write", "network.mode", "commands.rules"];
    left_out(policy, |key, value| {
        let unset = key != "require" && value.value == "none";
        (!unset && !CARRIED.contains(&key)).then_some("sandbox.json has no key for it")
    })
}

pub(super) fn lose(lost: &mut Vec<Lost>, key: &str, value: String, why: &'static str) {
    lost.push(Lost::new(key, value, why));
}
