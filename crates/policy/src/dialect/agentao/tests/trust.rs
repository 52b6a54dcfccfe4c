//! What a project's file cannot do without trust.

use super::*;
use crate::policy::NetworkMode;

fn ignored(resolved: &Resolved) -> Vec<String> {
    resolved.ignored.iter().map(|part| format!("{}: {}", part.key, part.value)).collect()
}

#[test]
fn a045_a_null_that_narrows_holds_and_one_that_widens_needs_trust() {
    // The documented default is narrower than what the user chose.
    let user = r#"{"enabled":true,"default_profile":"workspace-write","workspace_root":"/proj"}"#;
    let narrowing = world(user, r#"{"default_profile":null,"workspace_root":null}"#);
    for trust in [Trust::NotTrusted, Trust::Trusted] {
        let resolved = narrowing.resolved(trust);
        assert_eq!(resolved.policy.profile.value(), Profile::WorkspaceWriteNoNetwork, "{trust:?}");
        assert_eq!(resolved.policy.network.mode.value(), NetworkMode::DenyAll, "{trust:?}");
        assert_eq!(writes(&resolved.policy), ["/proj/app"], "{trust:?}: inside /proj");
        assert_eq!(ignored(&resolved), [""; 0], "{trust:?}");
    }
    // Here it is wider.
    let user = r#"{"enabled":true,"default_profile":"readonly"}"#;
    let widening = world(user, r#"{"default_profile":null}"#);
    let held = widening.resolved(Trust::NotTrusted);
    assert_eq!(held.policy.profile.value(), Profile::Readonly);
    assert_eq!(writes(&held.policy), [""; 0]);
    assert!(
        ignored(&held).contains(&"profile: workspace-write-no-network".into()),
        "{:?}",
        held.ignored
    );
    let trusted = widening.resolved(Trust::Trusted).policy;
    assert_eq!(trusted.profile.value(), Profile::WorkspaceWriteNoNetwork);
    assert_eq!(writes(&trusted), ["/proj/app"]);

    let user = r#"{"enabled":true,"workspace_root":"/data"}"#;
    let widening = world(user, r#"{"workspace_root":null}"#);
    let held = widening.resolved(Trust::NotTrusted);
    assert_eq!(writes(&held.policy), ["/data"]);
    assert_eq!(ignored(&held), ["files.write: /proj/app"]);
    assert_eq!(
        writes(&widening.policy(Trust::Trusted)),
        ["/proj/app"],
        "the inherited one is cleared"
    );
}

#[test]
fn a055_a_projects_folder_of_profiles_counts_only_when_trusted() {
    let user = r#"{"enabled":true,"default_profile":"readonly"}"#;
    let project = r#"{"profiles_dir":"boxes","default_profile":"loose"}"#;
    let held = world(user, project).resolved(Trust::NotTrusted);
    assert_eq!(held.policy.profile.value(), Profile::Readonly);
    assert_eq!(ignored(&held)[0], "profile: /proj/app/boxes/loose.sb");
    let trusted = world(user, project).policy(Trust::Trusted);
    assert_eq!(trusted.profile.value(), file("/proj/app/boxes/loose.sb"));
    // Nor can a project slip its own file under a name that the user chose.
    let shadowing =
        world(user, r#"{"profiles_dir":"boxes"}"#).profile("/proj/app/boxes/readonly.sb");
    let held = shadowing.resolved(Trust::NotTrusted);
    assert_eq!(held.policy.profile.value(), Profile::Readonly);
    assert_eq!(ignored(&held)[0], "profile: /proj/app/boxes/readonly.sb");
}

#[test]
fn a_project_opens_nothing_by_itself() {
    let user = r#"{"enabled":true,"workspace_root":"/data"}"#;
    #[rustfmt::skip]
    let cases = [
        r#"{"default_profile":"workspace-write"}"#,
        r#"{"enabled":false}"#,
        r#"{"enabled":false,"default_profile":"workspace-write","workspace_root":"/"}"#,
        r#"{"workspace_root":"/"}"#,
        r#"{"workspace_root":"/home/dev"}"#,
        r#"{"workspace_root":"../../data"}"#,
        r#"{"rules":[{"tool":"run_shell_command","profile":"workspace-write"}]}"#,
        r#"{"rules":[],"default_profile":"workspace-write-no-network"}"#,
        r#"{"profiles_dir":null}"#,
    ];
    for project in cases {
        let resolved = world(user, project).resolved(Trust::NotTrusted);
        assert_eq!(resolved.unconfined, None, "{project}");
        assert_eq!(writes(&resolved.policy), ["/data"], "{project}");
        assert_eq!(resolved.policy.network.mode.value(), NetworkMode::DenyAll, "{project}");
    }
}

#[test]
fn a_file_that_a_person_names_takes_nothing_from_the_project() {
    let project = Source::new(PROJECT, r#"{"profiles_dir":"boxes"}"#);
    let named = Source::new("/tmp/sandbox.json", r#"{"enabled":true,"default_profile":"loose"}"#);
    let inputs = [
        Input { source: &project, layer: Layer::Project },
        Input { source: &named, layer: Layer::CommandLine },
    ];
    let problems = world("", "").ask(|around| read(&inputs, around)).unwrap_err();
    assert_eq!(problems[0].code(), "unknown-profile");
}

#[test]
fn a_project_cannot_have_lines_of_other_files_shown() {
    let project = r#"{"enabled":true,"profiles_dir":"/home/dev/.ssh","default_profile":"id_test"}"#;
    let world = world("", project).with("/home/dev/.ssh/id_test", "SECRET (");
    let readings = world.readings().unwrap();
    assert!(readings[0].notes.iter().all(|note| !note.to_string().contains("SECRET")));
    assert_eq!(world.policy(Trust::NotTrusted).profile.value(), Profile::WorkspaceWriteNoNetwork);
}
