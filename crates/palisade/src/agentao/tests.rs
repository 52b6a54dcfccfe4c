//! Sessions over real files.

use palisade_testkit::{Home, Project};

use super::*;

const SOUND: &str = r#"(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow file-read* (subpath (param "_RW1")) (subpath "/usr"))
"#;
const BROKEN: &str = "(version 1)\n(allow file-read*\n";

/// A home with a `sandbox.json`, a sound profile `mine` and a broken one `bad`.
fn home(sandbox: &str) -> Home {
    Home::new()
        .file(".agentao/sandbox.json", sandbox)
        .file(".agentao/profiles/mine.sb", SOUND)
        .file(".agentao/profiles/bad.sb", BROKEN)
}

fn session(home: &Home, project: &Project) -> SandboxSession {
    SandboxSession::open(project.root(), Some(home.root()), Trust::NotTrusted)
}

const ON: &str = r#"{"enabled":true,"profiles_dir":"profiles","default_profile":"readonly"}"#;

#[test]
fn a043_off_without_files_and_on_by_file_or_by_session() {
    let project = Project::new();
    let mut none = session(&Home::new(), &project);
    assert_eq!((none.status().state, none.default_profile().unwrap()), (State::Disabled, None));
    none.set_enabled(Some(true));
    assert_eq!(none.status().state, State::Enabled);
    assert_eq!(none.default_profile().unwrap(), Some(Profile::WorkspaceWriteNoNetwork));

    let home = home(ON);
    let mut on = session(&home, &project);
    assert_eq!(on.default_profile().unwrap(), Some(Profile::Readonly));
    on.set_enabled(Some(false));
    assert_eq!((on.status().state, on.default_profile().unwrap()), (State::Disabled, None));
    on.set_enabled(None);
    assert_eq!(on.status().state, State::Enabled, "the file's word counts again");
    // The project cannot switch it off.
    let project = project.file(".agentao/sandbox.json", r#"{"enabled":false}"#);
    assert_eq!(session(&home, &project).default_profile().unwrap(), Some(Profile::Readonly));
}

#[test]
fn a057_broken_files_refuse_and_only_a_persons_off_gets_past_them() {
    let project = Project::new();
    for text in ["{", "[]", r#"{"enabled":1}"#, r#"{"enabled":false,"platform":7}"#] {
        let home = home(text);
        let mut broken = session(&home, &project);
        assert_eq!(broken.status().state, State::Broken, "{text}");
        let error = broken.default_profile().unwrap_err();
        assert!(error.to_string().contains("nothing was executed"), "{error}");
        assert!(error.problems[0].contains("sandbox.json:1:"), "{error}");
        assert_eq!(broken.status().problems, error.problems);
        broken.set_enabled(Some(true));
        assert!(broken.default_profile().is_err(), "{text}: on is no way around");
        assert!(broken.set_default_profile("readonly").is_err(), "{text}");
        broken.set_enabled(Some(false));
        assert_eq!(broken.default_profile().unwrap(), None, "{text}");
    }
    let two = home(r#"{"enabled":1,"rules":7}"#);
    let problems = session(&two, &project).default_profile().unwrap_err().problems;
    assert_eq!(problems.len(), 2, "every one is listed: {problems:?}");
    // A project's file that cannot be read refuses too.
    let project = project.file(".agentao/sandbox.json", "{");
    assert_eq!(session(&home(ON), &project).status().state, State::Broken);
}

#[test]
fn a059_an_unknown_profile_is_not_switched_to() {
    let (home, project) = (home(ON), Project::new());
    let mut session = session(&home, &project);
    let error = session.set_default_profile("strictest").unwrap_err();
    for part in ["`strictest` not found", "mine", "readonly", "nothing was executed"] {
        assert!(error.to_string().contains(part), "{error}");
    }
    assert_eq!(session.default_profile().unwrap(), Some(Profile::Readonly), "the one before stays");
    for outside in ["../profiles/mine", "/etc/passwd", "", "."] {
        assert!(session.set_default_profile(outside).is_err(), "{outside:?}");
    }
    assert_eq!(session.set_default_profile("workspace-write").unwrap(), None, "no rule shadows it");
    assert_eq!(session.default_profile().unwrap(), Some(Profile::WorkspaceWrite));
}

#[test]
fn a060_a_profile_with_a_syntax_error_is_refused_everywhere() {
    let project = Project::new();
    let chosen = home(&ON.replace("readonly", "bad"));
    assert_eq!(session(&chosen, &project).status().state, State::Broken, "on construction");
    let sound = home(ON);
    let mut session = session(&sound, &project);
    let health = session.profile_health_error("bad").unwrap();
    assert!(health.contains("failed to load") && health.contains("bad.sb"), "{health}");
    assert!(session.set_default_profile("bad").is_err(), "on switching");
    assert!(session.set_default_profile("mine").is_ok());
    // In a project that is trusted, too.
    let text = r#"{"enabled":true,"profiles_dir":"boxes","default_profile":"bad"}"#;
    let project = project.file(".agentao/sandbox.json", text).file("boxes/bad.sb", BROKEN);
    let trusted = SandboxSession::open(project.root(), None, Trust::Trusted);
    assert_eq!(trusted.status().state, State::Broken);
}

#[test]
fn a061_health_is_none_for_a_sound_profile_and_not_found_for_an_unknown_one() {
    let (home, project) = (home(ON), Project::new());
    let session = session(&home, &project);
    for name in ["mine", "mine.sb", "readonly", "workspace-write", "workspace-write-no-network"] {
        assert_eq!(session.profile_health_error(name), None, "{name}");
    }
    for name in ["strict", "mine.sb.sb", "../mine", "", "MINE"] {
        let health = session.profile_health_error(name).unwrap();
        assert!(health.contains("not found (available: bad, mine, readonly"), "{name}: {health}");
    }
    // A project's own folder is not looked into unless it is trusted.
    let text = r#"{"profiles_dir":"boxes"}"#;
    let project = project.file(".agentao/sandbox.json", text).file("boxes/theirs.sb", SOUND);
    let open = |trust| SandboxSession::open(project.root(), Some(home.root()), trust);
    assert!(open(Trust::NotTrusted).profile_health_error("theirs").is_some());
    assert_eq!(open(Trust::Trusted).profile_health_error("theirs"), None);
}

#[test]
fn a069_status_tells_all_there_is() {
    let project = Project::new();
    let text = r#"{"enabled":true,"profiles_dir":"profiles","default_profile":"workspace-write",
        "workspace_root":"/data","rules":[
            {"tool":"other","profile":"mine"},
            {"tool":"run_shell_command","profile":"mine","args":{"command":"^ls"}},
            {"tool":"run_shell_command","profile":"readonly"}]}"#;
    let status = session(&home(text), &project).status();
    assert_eq!(status.state, State::Enabled);
    assert_eq!(status.default_profile.as_deref(), Some("workspace-write"));
    assert_eq!(status.workspace_root, Path::new("/data"));
    let names = ["bad", "mine", "readonly", "workspace-write", "workspace-write-no-network"];
    assert_eq!(status.profiles, names);
    let rule = status.shadowed_by.unwrap();
    assert_eq!((rule.profile.as_str(), rule.origin.place.unwrap().line), ("readonly", 5));
    assert_eq!(status.problems, [""; 0]);

    let kept = home(text);
    let mut switched = session(&kept, &project);
    let shadow = switched.set_default_profile("mine").unwrap().unwrap();
    assert_eq!(shadow.profile, "readonly", "whoever switches is told");

    let off = session(&Home::new(), &project).status();
    assert_eq!((off.state, off.shadowed_by), (State::Disabled, None));
    assert_eq!(off.workspace_root, project.root());
    let same = session(&home(&text.replace("workspace-write", "readonly")), &project).status();
    assert_eq!(same.shadowed_by, None, "a rule that picks the same profile hides nothing");
    let broken = session(&home("{"), &project).status();
    assert_eq!((broken.state, broken.default_profile), (State::Broken, None));
    assert_eq!((broken.problems.len(), broken.profiles.len()), (1, 3));
}

#[test]
fn a_switch_lasts_for_the_session_and_in_another_project_too() {
    let (home, first, second) = (home(ON), Project::new(), Project::new());
    let mut switched = session(&home, &first);
    switched.set_default_profile("mine").unwrap();
    switched.set_enabled(Some(true));
    switched.set_project(second.root(), Trust::NotTrusted);
    assert_eq!(switched.status().default_profile.as_deref(), Some("mine"));
    assert_eq!(switched.status().workspace_root, second.root());
    assert_eq!(
        session(&home, &first).default_profile().unwrap(),
        Some(Profile::Readonly),
        "nothing was kept"
    );
    let files = home.files_below(".agentao");
    assert_eq!(files.len(), 3, "nothing was written: {files:?}");
}

#[test]
fn a_file_that_is_off_confines_nothing_itself_and_lifts_no_other() {
    let open = |user: &str, project: &str, trust| {
        let project = Project::new().file(".agentao/sandbox.json", project);
        let home = home(user);
        let session = SandboxSession::open(project.root(), Some(home.root()), trust);
        (session.status().state, session.default_profile().unwrap())
    };
    use State::{Disabled, Enabled};
    use Trust::{NotTrusted, Trusted};
    let (on, off, silent) = (r#"{"enabled":true}"#, r#"{"enabled":false}"#, "{}");
    let tight = r#"{"enabled":true,"default_profile":"readonly"}"#;
    let loose = r#"{"enabled":true,"default_profile":"workspace-write"}"#;
    let loose_off = r#"{"enabled":false,"default_profile":"workspace-write"}"#;
    let default = Some(Profile::WorkspaceWriteNoNetwork);
    let readonly = Some(Profile::Readonly);
    #[rustfmt::skip]
    let cases = [
        // user      project    trust        state     profile     because
        (on,         off,       NotTrusted,  Enabled,  &default,   "the user's own file still confines"),
        (on,         off,       Trusted,     Enabled,  &default,   "the user's own file still confines"),
        (off,        on,        NotTrusted,  Enabled,  &default,   "a project may confine more"),
        (off,        on,        Trusted,     Enabled,  &default,   "a project may confine more"),
        (off,        off,       Trusted,     Disabled, &None,      "nothing confines"),
        (on,         silent,    Trusted,     Enabled,  &default,   "the key is inherited"),
        (off,        silent,    Trusted,     Disabled, &None,      "the key is inherited"),
        (tight,      loose_off, NotTrusted,  Enabled,  &readonly,  "a file that is off says nothing"),
        (tight,      loose_off, Trusted,     Enabled,  &readonly,  "and trust does not change that"),
        (tight,      loose,     NotTrusted,  Enabled,  &readonly,  "it would widen"),
    ];
    for (user, project, trust, state, profile, because) in cases {
        let found = open(user, project, trust);
        assert_eq!(found, (state, profile.clone()), "{user} {project} {trust:?}: {because}");
    }
    assert_eq!(open(tight, loose, Trusted), (Enabled, Some(Profile::WorkspaceWrite)), "it may");
}

#[test]
fn a_profile_is_sound_or_not_in_the_world_it_is_for() {
    // Whether one folder can be protected by itself depends on what lies at the path.
    let profile = "(version 1)\n(allow default)\n(deny file-write* (literal \"/etc\"))\n";
    let home = home(ON).file(".agentao/profiles/odd.sb", profile);
    let mut session = session(&home, &Project::new());
    let health = session.profile_health_error("odd").unwrap();
    assert!(health.contains("`/etc` is a folder"), "{health}");
    assert!(session.set_default_profile("odd").is_err());
    let root = "(version 1)\n(allow default)\n(deny file-write* (literal (param \"_RW1\")))\n";
    let home = home.file(".agentao/profiles/root.sb", root);
    let text = r#"{"enabled":true,"profiles_dir":"profiles","workspace_root":"/nowhere"}"#;
    let project = Project::new();
    let at = |home: &Home| SandboxSession::open(project.root(), Some(home.root()), Trust::Trusted);
    assert!(at(&home).profile_health_error("root").is_some(), "the project is a folder");
    let elsewhere = home.file(".agentao/sandbox.json", text);
    assert_eq!(at(&elsewhere).profile_health_error("root"), None, "nothing lies there");
}
