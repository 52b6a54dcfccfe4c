//! A policy written as `sandbox.json`.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value as Json, json};

use super::profiles::in_folder;
use crate::dialect::{Lost, Surroundings, Written};
use crate::key::{Field, Item, Row, Sourced, Standing};
use crate::policy::{NetworkMode, Policy, Profile, Rule};

/// Writes what `sandbox.json` can say. It never says more than the policy does.
pub(super) fn write(policy: &Policy, around: &Surroundings<'_>) -> Written {
    let mut lost = Vec::new();
    let mut out = Map::new();
    out.insert("enabled".into(), json!(true));
    out.insert("platform".into(), json!("darwin")); // any other switches Agentao's sandbox off
    let folder = profiles_dir(policy, around);
    let profile = default_profile(policy, folder.as_deref(), &mut lost);
    let name = profile_name(&profile, folder.as_deref(), around);
    out.insert("default_profile".into(), json!(name));
    out.insert("rules".into(), Json::Array(rules(policy, folder.as_deref(), around, &mut lost)));
    out.insert("profiles_dir".into(), json!(folder));
    let root = workspace_root(policy, &profile, around, &mut lost);
    out.insert("workspace_root".into(), json!(root));
    lost.extend(others(policy));
    Written { text: format!("{:#}\n", Json::Object(out)), lost }
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
        NetworkMode::Disabled => return Profile::WorkspaceWrite,
    }
    if policy.files.write.entries().is_empty() {
        Profile::Readonly
    } else {
        Profile::WorkspaceWriteNoNetwork
    }
}

/// Returns the name by which Agentao finds a profile; none if it cannot be found.
fn profile_name(
    profile: &Profile,
    folder: Option<&Path>,
    around: &Surroundings<'_>,
) -> Option<String> {
    let Profile::File(file) = profile else { return Some(profile.to_string()) };
    let path = file.path();
    let folder = folder.filter(|folder| path.parent() == Some(folder))?;
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    let stem = stem.filter(|stem| in_folder(folder, stem, around).as_ref() == Some(&path));
    stem.or_else(|| path.file_name().and_then(|name| name.to_str())).map(Into::into)
}

/// Writes the rules that pick profiles. First match counts within one list, so only one list can
/// be written; and one that may only narrow would widen where it is read.
fn rules(
    policy: &Policy,
    folder: Option<&Path>,
    around: &Surroundings<'_>,
    lost: &mut Vec<Lost>,
) -> Vec<Json> {
    let picks = |rule: &Sourced<Rule>| rule.value.profile.is_some();
    let mut lists =
        policy.commands.rules.lists().iter().filter(|list| list.rules.iter().any(picks));
    let only =
        lists.next().filter(|list| list.standing == Standing::Full && lists.next().is_none());
    let mut written = Vec::new();
    for list in policy.commands.rules.lists() {
        for Sourced { value: rule, .. } in &list.rules {
            let mut lose_rule = |why| lose(lost, "commands.rules", rule.json().to_string(), why);
            let Some(profile) = &rule.profile else {
                lose_rule("sandbox.json picks profiles; verdicts stand in permissions.json");
                continue;
            };
            let name = profile_name(profile, folder, around);
            match (literal(&rule.tool.to_string()), name) {
                _ if only.is_none_or(|only| only != list) => {
                    lose_rule("several lists cannot be written as one");
                }
                _ if rule.action.is_some()
                    || rule.domain.is_some()
                    || rule.justification.is_some() =>
                {
                    lose_rule("a rule here picks a profile by tool and arguments alone");
                }
                (None, _) => lose_rule("a tool is named as it is, not by an expression"),
                (_, None) => lose_rule("its profile's file cannot be named"),
                (Some(tool), Some(name)) => {
                    let mut entry = json!({ "tool": tool, "profile": name });
                    if !rule.args.is_empty() {
                        entry["args"] = rule.json()["args"].take();
                        lose_rule(
                            "written; but where `args` is not read it holds for every call of the tool",
                        );
                    }
                    written.push(entry);
                }
            }
        }
    }
    written
}

/// Returns the name that an expression stands for, if it stands for one alone.
fn literal(expression: &str) -> Option<String> {
    let mut name = String::new();
    let mut chars = expression.chars();
    while let Some(c) = chars.next() {
        name.push(if c == '\\' { chars.next()? } else { c });
    }
    (fancy_regex::escape(&name) == expression).then_some(name)
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
    let mut rows: Vec<Row> = Vec::new();
    policy.rows("", &mut rows);
    rows.retain(|row| !CARRIED.contains(&row.key.as_str()));
    let mut lost = Vec::new();
    for Row { key, values, .. } in rows {
        let shown = |value: &Sourced<Json>| {
            value.value.as_str().map_or_else(|| value.value.to_string(), str::to_owned)
        };
        let shown: Vec<String> =
            values.iter().map(shown).filter(|value| value != "none" || key == "require").collect();
        if !shown.is_empty() {
            lose(&mut lost, &key, shown.join(", "), "sandbox.json has no key for it");
        }
    }
    lost
}

fn lose(lost: &mut Vec<Lost>, key: &str, value: String, why: &'static str) {
    lost.push(Lost { key: key.into(), value, why });
}
