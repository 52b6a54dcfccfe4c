//! What `sandbox.json` means.

use super::*;
use crate::key::Standing;
use crate::layer::{Layer, Scope};
use crate::name::Found;
use crate::policy::{NetworkMode, Require, Rule};

const READONLY: &str = r#"{"enabled":true,"default_profile":"readonly"}"#;

#[test]
fn a043_the_sandbox_is_off_until_a_file_switches_it_on() {
    for text in ["{}", r#"{"default_profile":"readonly"}"#, r#"{"enabled":false}"#] {
        let off = world(text, "").resolved(Trust::NotTrusted);
        assert_eq!(
            off.policy.require.value(),
            Require::None,
            "{text}: loudly, nothing is confined"
        );
        let origin = off.unconfined.unwrap();
        assert_eq!(origin.file.as_deref(), Some(USER), "{text}");
    }
    let on = world(READONLY, "").resolved(Trust::NotTrusted);
    assert_eq!((on.unconfined, on.policy.require.value()), (None, Require::Full));
    assert_eq!(on.policy.profile.value(), Profile::Readonly);

    // A project's file can be on or off, but takes nothing from the user.
    let alone = world("", "{}").resolved(Trust::NotTrusted);
    assert_eq!((alone.unconfined, alone.policy.require.value()), (None, Require::Full));
    let against = world(READONLY, r#"{"enabled":false}"#);
    for trust in [Trust::NotTrusted, Trust::Trusted] {
        let Resolved { policy, unconfined, .. } = against.resolved(trust);
        assert_eq!((unconfined, policy.profile.value()), (None, Profile::Readonly), "{trust:?}");
    }
}

#[test]
fn a043_a_project_that_says_nothing_of_the_switch_inherits_it() {
    let off = world("{}", r#"{"default_profile":"readonly"}"#).resolved(Trust::NotTrusted);
    assert_eq!(off.unconfined.unwrap().file.as_deref(), Some(USER), "off with the user's voice");
    let user = r#"{"enabled":true,"default_profile":"workspace-write"}"#;
    let on = world(user, r#"{"default_profile":"readonly"}"#).resolved(Trust::NotTrusted);
    assert_eq!((on.unconfined, on.policy.profile.value()), (None, Profile::Readonly));
    // Switched on by the project, the user's other keys hold although the user's file was off.
    let both = world(r#"{"default_profile":"readonly"}"#, r#"{"enabled":true}"#);
    assert_eq!(both.policy(Trust::NotTrusted).profile.value(), Profile::Readonly);
    let wide = world(r#"{"default_profile":"workspace-write"}"#, r#"{"enabled":true}"#);
    let policy = wide.policy(Trust::NotTrusted);
    assert_eq!(
        policy.network.mode.value(),
        NetworkMode::DenyAll,
        "an untrusted switch opens nothing"
    );
}

#[test]
fn a044_the_projects_keys_stand_over_the_users_one_by_one() {
    let places = World::default().ask(places);
    let places: Vec<(&str, Layer)> =
        places.iter().map(|place| (place.path.to_str().unwrap(), place.layer)).collect();
    assert_eq!(
        places,
        [
            (USER, Layer::User),
            ("/home/dev/.agentao/permissions.json", Layer::User),
            (PROJECT, Layer::Project),
            ("/proj/app/.agentao/permissions.json", Layer::Project),
        ]
    );

    let user = r#"{"enabled":true,"default_profile":"workspace-write","workspace_root":"/data"}"#;
    #[rustfmt::skip]
    let cases = [
        // project                                   trusted: profile and what it writes
        (r#"{"default_profile":"readonly"}"#,        Profile::Readonly,       vec![]),
        (r#"{"workspace_root":"sub"}"#,              Profile::WorkspaceWrite, vec!["/proj/app/sub"]),
        (r#"{"workspace_root":"/data/in"}"#,         Profile::WorkspaceWrite, vec!["/data/in"]),
        (r#"{"platform":"darwin"}"#,                 Profile::WorkspaceWrite, vec!["/data"]),
    ];
    for (project, profile, written) in cases {
        let policy = world(user, project).policy(Trust::Trusted);
        assert_eq!(policy.profile.value(), profile, "{project}");
        assert_eq!(writes(&policy), written, "{project}");
    }
}

#[test]
fn a046_a_relative_folder_starts_at_the_file_that_names_it() {
    #[rustfmt::skip]
    let cases = [
        // named by the user      named by the project   written
        (r#""space""#,            "",                    "/home/dev/.agentao/space"),
        (r#""../space""#,         "",                    "/home/dev/space"),
        (r#""~/space""#,          "",                    "/home/dev/space"),
        (r#""~""#,                "",                    "/home/dev"),
        (r#""/space""#,           "",                    "/space"),
        (r#""odd[1]*""#,          "",                    r"/home/dev/.agentao/odd\[1]\*"),
        ("null",                  r#""space""#,          "/proj/app/space"),
        ("null",                  r#""/space""#,         "/space"),
    ];
    for (user, project, written) in cases {
        let user = format!(r#"{{"enabled":true,"workspace_root":{user}}}"#);
        let project = if project.is_empty() {
            String::new()
        } else {
            format!(r#"{{"workspace_root":{project}}}"#)
        };
        let policy = world(&user, &project).policy(Trust::Trusted);
        assert_eq!(writes(&policy), [written], "{user} {project}");
    }
    let user = r#"{"enabled":true,"profiles_dir":"profiles","default_profile":"strict"}"#;
    let policy = world(user, "").policy(Trust::NotTrusted);
    assert_eq!(policy.profile.value(), file("/home/dev/.agentao/profiles/strict.sb"));
    let project = r#"{"enabled":true,"profiles_dir":"boxes","default_profile":"loose"}"#;
    let policy = world("", project).policy(Trust::Trusted);
    assert_eq!(policy.profile.value(), file("/proj/app/boxes/loose.sb"));
}

#[test]
fn a_file_that_a_person_names_keeps_its_own_anchor() {
    let world = World::default();
    let text = r#"{"enabled":true,"workspace_root":"space"}"#;
    #[rustfmt::skip]
    let cases = [
        // file                               written
        (USER,                                "/home/dev/.agentao/space"),
        ("/other/.agentao/sandbox.json",      "/other/space"),
        ("/etc/boxes/sandbox.json",           "/etc/boxes/space"),
        ("conf/sandbox.json",                 "/proj/app/conf/space"),
    ];
    for (name, written) in cases {
        let source = Source::new(name, text);
        let inputs = [Input { source: &source, layer: Layer::CommandLine }];
        let readings = world.ask(|around| read(&inputs, around)).unwrap();
        assert_eq!(writes(&readings[0].document.policy), [written], "{name}");
    }
}

#[test]
fn a050_without_a_profile_nothing_connects_and_the_workspace_is_writable() {
    for text in [
        r#"{"enabled":true}"#,
        r#"{"enabled":true,"default_profile":null}"#,
        r#"{"enabled":true,"default_profile":""}"#,
    ] {
        let policy = world(text, "").policy(Trust::NotTrusted);
        assert_eq!(policy.profile.value(), Profile::WorkspaceWriteNoNetwork, "{text}");
        assert_eq!(policy.network.mode.value(), NetworkMode::DenyAll, "{text}");
        let origin = &policy.profile.sourced().unwrap().origin;
        assert_eq!(origin.file.as_deref(), Some(USER), "{text}: said by the file, not by nobody");
    }
    // The default stands against a wider native file below it.
    let mut stack = Stack::new(&anchors()).unwrap();
    let native = Source::new("/etc/palisade/policy.yaml", "profile: workspace-write");
    let native = Document::parse(&native, Layer::System, &anchors()).unwrap();
    stack.push(Layer::System, native);
    for reading in world(r#"{"enabled":true}"#, "").readings().unwrap() {
        stack.push(reading.layer, reading.document);
    }
    let policy = resolve(&stack, &Choice::default(), Trust::NotTrusted).unwrap().policy;
    assert_eq!(policy.network.mode.value(), NetworkMode::DenyAll);
}

#[test]
fn a051_what_is_writable_is_the_workspace_root_or_else_the_projects() {
    let text = |profile: &str, root: &str| {
        format!(
            r#"{{"enabled":true,"profiles_dir":"profiles","default_profile":"{profile}","workspace_root":{root}}}"#
        )
    };
    #[rustfmt::skip]
    let cases = [
        // profile                      workspace_root  written
        ("workspace-write",             "null",         vec!["/proj/app"]),
        ("workspace-write",             r#""/data""#,   vec!["/data"]),
        ("workspace-write-no-network",  r#""/data""#,   vec!["/data"]),
        ("readonly",                    r#""/data""#,   vec![]),
        ("readonly",                    "null",         vec![]),
        ("strict",                      r#""/data""#,   vec![]),
    ];
    for (profile, root, written) in cases {
        let policy = world(&text(profile, root), "").policy(Trust::NotTrusted);
        assert_eq!(writes(&policy), written, "{profile} {root}");
    }
    let default = world(r#"{"enabled":true}"#, "").policy(Trust::NotTrusted);
    assert_eq!(writes(&default), ["/proj/app"]);
    // A profile in a file uses the folder as `_RW1`; its reader finds it as the root.
    let readings = world(&text("strict", r#""/data""#), "").readings().unwrap();
    let root = readings[0].document.policy.root.sourced().unwrap();
    assert_eq!(
        (root.value.to_string().as_str(), root.origin.file.as_deref()),
        ("/data", Some(USER))
    );
}

/// Returns what each rule of the first list picks for a call.
fn picked(policy: &Policy, tool: &str, command: &str) -> Option<Profile> {
    let matches = |rule: &Rule| {
        rule.tool.matches(tool) == Found::Yes
            && rule.args.get("command").is_none_or(|args| args.search(command) == Found::Yes)
    };
    let list = policy.commands.rules.lists().first()?;
    let mut rules = list.rules.iter().map(|rule| &rule.value);
    rules.find(|rule| matches(rule)).and_then(|rule| rule.profile.clone())
}

#[test]
fn a053_the_first_rule_that_matches_a_tool_picks_its_profile() {
    let policy = world(include_str!("../fixtures/user-sandbox.json"), "").policy(Trust::NotTrusted);
    let strict = file("/home/dev/.agentao/profiles/strict.sb");
    let shell = "run_shell_command";
    assert_eq!(picked(&policy, shell, "terraform apply"), Some(strict), "by content");
    assert_eq!(picked(&policy, shell, "ls"), Some(Profile::Readonly), "the first that matches");
    assert_eq!(picked(&policy, "other_tool", "ls"), None, "the default holds");
    assert_eq!(policy.profile.value(), Profile::WorkspaceWrite);
    assert_eq!(policy.commands.rules.lists()[0].standing, Standing::Full);

    // Names are compared as they are: no expression, no beginning, no wildcard.
    let text = r#"{"enabled":true,"rules":[{"tool":"run.shell*","profile":"workspace-write"}]}"#;
    let policy = world(text, "").policy(Trust::NotTrusted);
    assert_eq!(picked(&policy, "run.shell*", ""), Some(Profile::WorkspaceWrite));
    for tool in ["run_shell", "run.shell", "runxshelllll", "run.shell*x"] {
        assert_eq!(picked(&policy, tool, ""), None, "{tool}");
    }
    // A rule that picks nothing is skipped, and said to be.
    let text = r#"{"enabled":true,"rules":[{"tool":"x"},{"tool":"x","profile":"readonly"}]}"#;
    let world = world(text, "");
    assert_eq!(picked(&world.policy(Trust::NotTrusted), "x", ""), Some(Profile::Readonly));
    assert_eq!(world.notes(), ["no-profile"]);
}

#[test]
fn a055_a_profile_of_the_folder_takes_the_place_of_a_built_in_one_and_says_so() {
    let text = r#"{"enabled":true,"profiles_dir":"/boxes","default_profile":"readonly"}"#;
    let plain = world(text, "");
    assert_eq!(plain.policy(Trust::NotTrusted).profile.value(), Profile::Readonly);
    assert_eq!(plain.notes(), [""; 0]);
    let shadowed = world(text, "").profile("/boxes/readonly.sb");
    let policy = shadowed.policy(Trust::NotTrusted);
    assert_eq!(policy.profile.value(), file("/boxes/readonly.sb"));
    assert_eq!(shadowed.notes(), ["shadows-built-in"]);
    // The name as it is comes before the name with an ending.
    let exact = world(text, "").profile("/boxes/readonly.sb").profile("/boxes/readonly");
    assert_eq!(exact.policy(Trust::NotTrusted).profile.value(), file("/boxes/readonly"));
    // The default has a name too.
    let default = r#"{"enabled":true,"profiles_dir":"/boxes"}"#;
    let shadowed = world(default, "").profile("/boxes/workspace-write-no-network.sb");
    assert_eq!(shadowed.notes(), ["shadows-built-in"]);
    // A folder is no profile.
    let deeper = world(text, "").profile("/boxes/readonly.sb/inner.sb");
    assert_eq!(deeper.policy(Trust::NotTrusted).profile.value(), Profile::Readonly);
}

#[test]
fn every_value_says_where_it_stands() {
    let text = "{\n  \"enabled\": true,\n  \"default_profile\": \"readonly\"\n}";
    let readings = world(text, "").readings().unwrap();
    let document = &readings[0].document;
    let origin = &document.policy.profile.sourced().unwrap().origin;
    assert_eq!(origin.to_string(), format!("user {USER}:3:22"));
    let switch = &document.enabled[&Scope::Base];
    assert_eq!((switch.value, switch.origin.to_string()), (true, format!("user {USER}:2:14")));
}
