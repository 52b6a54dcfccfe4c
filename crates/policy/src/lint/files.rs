//! Lints about files and folders.

use std::path::Path;

use super::{Context, Finding};
use crate::layer::{Layer, Origin};
use crate::name::PathPattern;
use crate::policy::{Policy, Profile};

/// Where keys, tokens and passwords lie in a home folder. Written out here, because the built-in
/// list of hidden paths is just what a policy may have taken apart.
const CREDENTIALS: [&str; 14] = [
    ".ssh",
    ".aws",
    ".gnupg",
    ".config/gh",
    ".netrc",
    ".docker/config.json",
    ".kube",
    ".config/gcloud",
    ".azure",
    ".npmrc",
    ".pypirc",
    ".cargo/credentials.toml",
    ".git-credentials",
    ".password-store",
];

pub(super) fn write_nothing(policy: &Policy, _context: &Context<'_>) -> Vec<Finding> {
    let Some(profile) = policy.profile.sourced() else { return Vec::new() };
    // Where nobody chose a profile, what it writes is nobody's word.
    let chosen = profile.origin.layer > Layer::Preset;
    if !chosen || !writes(&profile.value) || policy.files.write.values().next().is_some() {
        return Vec::new();
    }
    vec![Finding {
        message: format!("the profile `{}` writes, but no folder is writable", profile.value),
        fix: "write `files: { write: [.] }`, or choose `profile: readonly`".into(),
        origin: Some(profile.origin.clone()),
    }]
}

pub(super) fn write_misses_cwd(policy: &Policy, context: &Context<'_>) -> Vec<Finding> {
    let Some(first) = policy.files.write.entries().first() else { return Vec::new() };
    let held = policy.files.write.values().any(|folder| folder.matches(context.cwd));
    if held || policy.profile.value() == Profile::Readonly {
        return Vec::new();
    }
    vec![Finding {
        message: "no writable folder holds the one that commands start in".into(),
        fix: "add `.` to `files.write`, or start in a folder that is writable".into(),
        origin: Some(first.origin.clone()),
    }]
}

pub(super) fn write_everything(policy: &Policy, context: &Context<'_>) -> Vec<Finding> {
    let home = context.anchors.home.as_deref();
    let mut found = Vec::new();
    for folder in policy.files.write.entries() {
        let path = folder.value.path();
        let whole = if path == Path::new("/") {
            "the whole disk"
        } else if home.is_some_and(|home| home.starts_with(&path)) {
            "the home folder"
        } else {
            continue;
        };
        found.push(Finding {
            message: format!("`files.write` opens {whole}"),
            fix: "name the folders that are really written, such as `.`".into(),
            origin: Some(folder.origin.clone()),
        });
    }
    found
}

pub(super) fn profile_unchecked(policy: &Policy, context: &Context<'_>) -> Vec<Finding> {
    let rules = policy.commands.rules.lists().iter().flat_map(|list| &list.rules);
    let picked = rules.filter_map(|rule| Some((rule.value.profile.as_ref()?, &rule.origin)));
    let chosen = policy.profile.sourced().map(|chosen| (&chosen.value, &chosen.origin));
    let unchecked = |profile: &Profile| match profile {
        Profile::File(file) => !context.checked.contains(file),
        Profile::Readonly | Profile::WorkspaceWrite | Profile::WorkspaceWriteNoNetwork => false,
    };
    let found = chosen.into_iter().chain(picked).filter(|(profile, _)| unchecked(profile));
    found
        .map(|(profile, origin)| Finding {
            message: format!("the profile `{profile}` was never checked"),
            fix: format!("run `palisade policy check {profile}`"),
            origin: Some(origin.clone()),
        })
        .collect()
}

pub(super) fn credentials_visible(policy: &Policy, context: &Context<'_>) -> Vec<Finding> {
    let Some(home) = context.anchors.home.as_deref() else { return Vec::new() };
    let mut bare = Vec::new();
    let mut found = Vec::new();
    for name in CREDENTIALS {
        let path = home.join(name);
        if policy.files.unhide.values().any(|open| touches(open, &path)) {
            continue; // told by the lint about `unhide`
        }
        let opened =
            policy.files.allow_read.entries().iter().find(|open| touches(&open.value, &path));
        if !policy.files.hide.values().any(|hidden| hidden.matches(&path)) {
            bare.push(format!("`~/{name}`"));
        } else if let Some(open) = opened {
            found.push(Finding {
                message: format!("`files.allow_read` opens `~/{name}` again"),
                fix: "name only the files that have to be read".into(),
                origin: Some(open.origin.clone()),
            });
        }
    }
    if !bare.is_empty() {
        let names = bare.join(", ");
        let (message, fix) = (
            format!("credentials can be read: {names}"),
            format!("add to `files.hide`: {}", names.replace('`', "")),
        );
        found.push(Finding { message, fix, origin: None });
    }
    found
}

pub(super) fn credentials_unhidden(policy: &Policy, context: &Context<'_>) -> Vec<Finding> {
    let Some(home) = context.anchors.home.as_deref() else { return Vec::new() };
    let mut found: Vec<(&Origin, Vec<String>)> = Vec::new();
    for open in policy.files.unhide.entries() {
        let touched = CREDENTIALS.iter().filter(|name| touches(&open.value, &home.join(name)));
        let names = touched.map(|name| format!("`~/{name}`"));
        // What one statement takes off the list is one finding.
        match found.iter_mut().find(|(origin, _)| **origin == open.origin) {
            Some((_, known)) => known.extend(names),
            None => found.push((&open.origin, names.collect())),
        }
    }
    let found = found.into_iter().filter(|(_, names)| !names.is_empty());
    found
        .map(|(origin, names)| Finding {
            message: format!("`files.unhide` takes {} off the hidden ones", names.join(", ")),
            fix: "leave it hidden; hand a command the one secret it needs by `env.pass`".into(),
            origin: Some(origin.clone()),
        })
        .collect()
}

/// Returns whether a profile is one under which something is written.
fn writes(profile: &Profile) -> bool {
    match profile {
        Profile::File(_) | Profile::WorkspaceWrite | Profile::WorkspaceWriteNoNetwork => true,
        Profile::Readonly => false,
    }
}

/// Returns whether a pattern names a path, something above it or something in it.
fn touches(pattern: &PathPattern, path: &Path) -> bool {
    pattern.matches(path) || pattern.fixed_prefix().starts_with(path)
}
