//! Files of other systems, opened as a person would.

use palisade_testkit::{Home, Project};

use super::*;

const ON: &str =
    r#"{"enabled":true,"profiles_dir":"profiles","default_profile":"workspace-write-no-network"}"#;
const TIGHT: &str = "(version 1)\n(deny default)\n(allow process*)\n(allow file-read*)\n";
const LOOSE: &str = "(version 1)\n(deny default)\n(allow process*)\n(allow file-read*)\n\
                     (allow file-write* (subpath \"/srv\"))\n(allow network*)\n";

fn home() -> Home {
    Home::new()
        .file(".agentao/sandbox.json", ON)
        .file(".agentao/profiles/tight.sb", TIGHT)
        .file(".agentao/profiles/loose.sb", LOOSE)
        .file(".agentao/profiles/bare", TIGHT)
}

fn project(sandbox: &str) -> Project {
    Project::new().file(".agentao/sandbox.json", sandbox)
}

/// Opens a project with the files that a system documents, as the user's own policy asks for.
fn open(project: &Project, home: &Home, policies: &[&str]) -> Result<Session, OpenError> {
    let mut request = Request::new(project.root(), home.env().clone());
    request.policies = policies.iter().map(ToString::to_string).collect();
    Session::open(&request)
}

fn user(home: Home, include: &str) -> Home {
    home.file(".config/palisade/policy.yaml", format!("version: 1\ninclude: [{include}]\n"))
}

fn shown(session: &Session, key: &str) -> Vec<String> {
    let row = session.rows().into_iter().find(|row| row.key == key).unwrap();
    row.values.iter().map(|value| value.value.as_str().unwrap_or_default().to_owned()).collect()
}

fn ignored(session: &Session) -> Vec<&str> {
    session.ignored().iter().map(|part| &*part.key).collect()
}

#[test]
fn a_project_picks_a_profile_from_the_users_folder_and_widens_nothing_by_it() {
    let home = user(home(), "'agentao:'");
    let tight = project(r#"{"default_profile":"tight"}"#);
    let session = open(&tight, &home, &[]).unwrap();
    assert_eq!((shown(&session, "files.write"), ignored(&session)), (vec![], vec!["profile"]));
    assert_eq!(shown(&session, "network.mode"), ["deny-all"]);
    // The file is the user's: it is not part of what the project says, and stays protected.
    let path = home.path(".agentao/profiles/tight.sb");
    let loaded = session.files().iter().find(|file| file.path == path).unwrap();
    assert_eq!(loaded.layer, Layer::User);
    assert!(!session.project_files().unwrap().paths.contains(&path));

    let loose = project(r#"{"default_profile":"loose"}"#);
    let session = open(&loose, &home, &[]).unwrap();
    assert_eq!(shown(&session, "network.mode"), ["deny-all"]);
    assert!(!shown(&session, "files.write").contains(&"/srv".to_owned()));
    assert!(ignored(&session).contains(&"network.mode"), "{:?}", ignored(&session));
    session.project_files().unwrap().trust().unwrap();
    let session = open(&loose, &home, &[]).unwrap();
    assert_eq!(shown(&session, "network.mode"), ["disabled"], "trusted");
}

#[test]
fn a_project_reads_no_profile_from_a_folder_of_its_own_choice() {
    let home = user(home().file("secret.sb", "not a profile\n"), "'agentao:'");
    let outside = home.root().display();
    for sandbox in [
        format!(r#"{{"profiles_dir":"{outside}","default_profile":"secret"}}"#),
        r#"{"profiles_dir":"boxes","default_profile":"secret"}"#.into(),
    ] {
        let secret = home.path("secret.sb").display().to_string();
        let project = project(&sandbox).dir("boxes").symlink("boxes/secret.sb", &secret);
        let error = open(&project, &home, &[]).unwrap_err().to_string();
        assert!(!error.contains("not a profile"), "{error}");
    }
    // Nor by a link that it puts in place of its own profile.
    let target = home.path(".agentao/profiles/tight.sb").display().to_string();
    let linked = project(r#"{"profiles_dir":"boxes","default_profile":"x"}"#);
    let linked = linked.dir("boxes").symlink("boxes/x.sb", &target);
    assert!(open(&linked, &home, &[]).is_err());
}

#[test]
fn a_profile_is_found_by_its_bare_name_as_agentao_finds_it() {
    let sandbox = r#"{"enabled":true,"profiles_dir":"profiles","default_profile":"bare"}"#;
    let home = user(home().file(".agentao/sandbox.json", sandbox), "'agentao:'");
    let session = open(&Project::new(), &home, &[]).unwrap();
    assert_eq!(shown(&session, "files.write"), [""; 0]);
    assert!(shown(&session, "profile")[0].ends_with("profiles/bare"));
    // A native file has no such names.
    let bare = home.path(".agentao/profiles/bare").display().to_string();
    let native = Home::new()
        .file("bare", TIGHT)
        .file(".config/palisade/policy.yaml", format!("version: 1\nprofile: {bare}\n"));
    assert_eq!(open(&Project::new(), &native, &[]).unwrap_err().code(), "profile-kind");
    // And what is imported can be read again.
    let request = Request::new(Project::new().root(), home.env().clone());
    let named = format!("agentao:{}", home.path(".agentao/sandbox.json").display());
    let (text, lost) = request.check_file(&named, Path::new("/proj")).unwrap().native_text();
    assert!(!text.contains("bare") && lost.iter().any(|why| why.contains("written out")), "{text}");
}

#[test]
fn permissions_beside_a_sandbox_that_is_off_confine_nothing_and_still_decide() {
    let off = r#"{"enabled":false}"#;
    let rules = r#"{"rules":[{"tool":"web_fetch","action":"deny"}]}"#;
    let home =
        Home::new().file(".agentao/sandbox.json", off).file(".agentao/permissions.json", rules);
    let session = open(&Project::new(), &home, &["agentao:"]).unwrap();
    assert_eq!(shown(&session, "require"), ["none"]);
    assert!(session.warnings().iter().any(|it| matches!(it, Warning::Unconfined { .. })));
    assert!(session.policy().commands.rules.lists().iter().any(|list| !list.rules.is_empty()));
    // A file that builds walls keeps them.
    let home =
        home.file(".config/palisade/policy.yaml", "version: 1\nnetwork: { mode: deny-all }\n");
    assert_ne!(shown(&open(&Project::new(), &home, &["agentao:"]).unwrap(), "require"), ["none"]);
}

#[test]
fn what_is_hidden_behind_a_link_is_hidden_itself() {
    let project = Project::new()
        .file("vault/key", "k")
        .symlink("link", "vault")
        .symlink("up", "..")
        .file("s.json", r#"{"filesystem":{"denyRead":["link","link/deep/new","up"],"allowWrite":["."],"denyWrite":["link"]},"network":{"allowedDomains":[],"deniedDomains":[]}}"#);
    let session = open(&project, &Home::new(), &["srt:s.json"]).unwrap();
    let path = |name: &str| project.path(name).display().to_string();
    let hidden = shown(&session, "files.hide");
    for name in ["link", "vault", "vault/deep/new", "up"] {
        assert!(hidden.contains(&path(name)), "{name}: {hidden:?}");
    }
    let above = project.root().parent().unwrap().display().to_string();
    assert!(!hidden.contains(&above), "a link to all of it hides itself alone");
    assert!(shown(&session, "files.protect").contains(&path("vault")));
}

#[test]
fn files_of_one_system_are_read_together_whoever_names_them() {
    // The agent's section is off until the task switches it on.
    let config = "agent: { claude: { sandbox: { networkPolicy: allow-list } } }\n";
    let tasks = "tasks: [{ id: fetch, agent_name: claude, sandbox: { enabled: true, allowedDomains: [a.test] } }]\n";
    let project = Project::new().file("tasks.yaml", tasks);
    let home = Home::new().file(".bloom/config.yaml", config);
    for policies in [["bloom:", "bloom:tasks.yaml"], ["bloom:tasks.yaml", "bloom:"]] {
        let mut request = Request::new(project.root(), home.env().clone());
        request.policies = policies.map(Into::into).into();
        request.task = Some("fetch".into());
        let session = Session::open(&request).unwrap();
        assert_eq!(session.agent(), Some("claude"), "{policies:?}");
        assert_eq!(shown(&session, "network.mode"), ["allow-list"], "{policies:?}");
        assert_ne!(shown(&session, "require"), ["none"], "{policies:?}: the agent is confined");
    }
    let included = user(home, "'bloom:', 'bloom:~/tasks.yaml'").file("tasks.yaml", tasks);
    let elsewhere = Project::new();
    let mut request = Request::new(elsewhere.root(), included.env().clone());
    request.task = Some("fetch".into());
    let session = Session::open(&request).unwrap();
    assert_eq!(shown(&session, "network.mode"), ["allow-list"], "included");
}

#[test]
fn the_stricter_of_two_systems_in_one_layer_holds() {
    let loose = r#"{"enabled":true,"default_profile":"workspace-write"}"#;
    let project = Project::new()
        .file("sandbox.json", loose)
        .file("tight.yaml", "version: 1\nprofile: readonly\n");
    for policies in [["tight.yaml", "sandbox.json"], ["sandbox.json", "tight.yaml"]] {
        let session = open(&project, &Home::new(), &policies).unwrap();
        assert_eq!(shown(&session, "files.write"), [""; 0], "{policies:?}");
        assert_eq!(shown(&session, "network.mode"), ["deny-all"], "{policies:?}");
        assert_eq!(shown(&session, "profile"), ["readonly"], "{policies:?}");
    }
}

#[test]
fn only_our_own_files_and_the_runners_name_the_root() {
    #[rustfmt::skip]
    let cases = [
        // dialect      text                                                       moves
        ("agentao",     r#"{"enabled":true,"root":"ROOT","project_root":"ROOT"}"#, false),
        ("bloom",       "root: ROOT\nsandbox: { enabled: true }\n",                false),
        ("bloom",       "project_root: ROOT\nsandbox: { enabled: true }\n",        false),
        ("claude",      r#"{"root":"ROOT","project_root":"ROOT"}"#,                false),
        ("proxy",       "root: ROOT\nproject_root: ROOT\nsandboxing: {}\n",        false),
        ("native",      "version: 1\nroot: ROOT\n",                                true),
        ("native",      "version: 1\nproject_root: ROOT\n",                        true),
        ("runner",      r#"{"project_root":"ROOT"}"#,                              true),
    ];
    for (dialect, text, moves) in cases {
        let elsewhere = Project::new();
        let project = Project::new().dir(".git");
        let root = elsewhere.root().display().to_string();
        let project = project.file("p.yaml", text.replace("ROOT", &root));
        let session = open(&project, &Home::new(), &[&format!("{dialect}:p.yaml")])
            .unwrap_or_else(|error| panic!("{dialect} {text}: {error}"));
        let wanted = if moves { elsewhere.root() } else { project.root() };
        let (found, wanted) = (session.root().path.canonicalize(), wanted.canonicalize());
        assert_eq!(found.unwrap(), wanted.unwrap(), "{dialect} {text}");
    }
    // Where such a key is an error, it says so, and does not move the root first.
    let project = Project::new().dir(".git").file("s.json", r#"{"root":"/nowhere/at/all"}"#);
    assert_eq!(open(&project, &Home::new(), &["srt:s.json"]).unwrap_err().code(), "unknown-key");
}

#[test]
fn a181_a_project_widens_nothing_through_any_system() {
    let wide = [
        (
            "agentao:.agentao/sandbox.json",
            r#"{"enabled":true,"default_profile":"workspace-write","workspace_root":"/"}"#,
        ),
        (
            "agentao:.agentao/sandbox.json",
            r#"{"enabled":true,"profiles_dir":"boxes","default_profile":"wide"}"#,
        ),
        (
            "agentao:.agentao/sandbox.json",
            r#"{"enabled":true,"profiles_dir":"boxes","rules":[{"tool":"run_shell_command","profile":"wide"}]}"#,
        ),
        ("agentao:.agentao/sandbox.json", r#"{"enabled":false}"#),
        ("agentao:.agentao/permissions.json", r#"{"rules":[{"tool":"*","action":"allow"}]}"#),
        ("seatbelt:boxes/wide", "(version 1)\n(allow default)\n"),
        ("seatbelt:boxes/wide.sb", "(version 1)\n(allow default)\n"),
        (
            "bloom:b.yaml",
            "sandbox: { enabled: true, networkPolicy: disabled, writablePaths: [/], denyReadPaths: [] }\n",
        ),
        ("bloom:b.yaml", "sandbox: { enabled: false }\n"),
        (
            "srt:s.json",
            r#"{"network":{"allowedDomains":["evil.example"],"deniedDomains":[],"allowAllUnixSockets":true},"filesystem":{"denyRead":[],"allowRead":["~/.ssh"],"allowWrite":["/"],"denyWrite":[],"allowGitConfig":true}}"#,
        ),
        ("srt:s.json", r#"{"filesystem":{"disabled":true}}"#),
        (
            "proxy:p.yaml",
            "sandboxing: { enabled: false, default_tool_patterns: [nothing], excluded_tools: ['.*'], path_parameter_names: [none] }\n",
        ),
        (
            "claude:.claude/settings.json",
            r#"{"permissions":{"allow":["Bash","Read","Edit(//**)"],"additionalDirectories":["/"]},"sandbox":{"enabled":false,"filesystem":{"allowWrite":["/"],"allowRead":["~/.ssh"]},"network":{"allowedDomains":["evil.example"]}}}"#,
        ),
        (
            "runner:r.json",
            r#"{"project_root":"/","denylist":[],"interpreter_block":[],"timeout_seconds":1e9}"#,
        ),
    ];
    let home =
        || home().file(".config/palisade/policy.yaml", "version: 1\nfiles: { hide: ['~/own'] }\n");
    let bare = home();
    let elsewhere = Project::new().file(".palisade/policy.yaml", "version: 1\n");
    let base = open(&elsewhere, &bare, &[]).unwrap();
    let own = |session: &Session, key: &str, root: &Path| -> Vec<String> {
        let root = root.display().to_string();
        shown(session, key).iter().map(|value| value.replace(&root, "ROOT")).collect()
    };
    for (include, text) in wide {
        let (dialect, file) = include.split_once(':').unwrap();
        let home = home();
        let include_it = format!("version: 1\ninclude: ['{dialect}:../{file}']\n");
        let project = Project::new()
            .file(".palisade/policy.yaml", include_it)
            .file("boxes/wide.sb", "(version 1)\n(allow default)\n")
            .file(file, text);
        let session =
            open(&project, &home, &[]).unwrap_or_else(|error| panic!("{include}: {error}"));
        let root = project.root().display().to_string();
        for folder in shown(&session, "files.write") {
            assert!(Path::new(&folder).starts_with(&root), "{include} {text}: writes {folder}");
        }
        assert_eq!(shown(&session, "network.mode"), ["deny-all"], "{include} {text}");
        assert_eq!(shown(&session, "require"), shown(&base, "require"), "{include} {text}");
        for key in ["files.hide", "files.protect", "commands.deny", "commands.interpreters"] {
            let (before, after) =
                (own(&base, key, elsewhere.root()), own(&session, key, project.root()));
            for closed in before.iter().filter(|path| !path.contains(".palisade/policy.yaml")) {
                let there = closed.replace(
                    &bare.root().display().to_string(),
                    &home.root().display().to_string(),
                );
                assert!(after.contains(&there), "{include} {text}: {key} lost {closed}");
            }
        }
        let mut rows = (base.rows(), session.rows());
        let tied = |row: &Row| row.key.starts_with("tools.") || row.key.starts_with("limits.");
        rows.0.retain(tied);
        rows.1.retain(tied);
        for (before, after) in rows.0.iter().zip(&rows.1) {
            let values =
                |row: &Row| row.values.iter().map(|value| value.value.clone()).collect::<Vec<_>>();
            // The runner's preset narrows by itself.
            let narrower = dialect == "runner" && before.key.starts_with("limits.");
            // What adds to what is watched narrows too.
            let watched = values(before).iter().all(|value| values(after).contains(value))
                && matches!(&*before.key, "tools.patterns" | "tools.path_parameters");
            let same = values(before) == values(after) || watched || narrower;
            assert!(same, "{include} {text}: {} is {:?}", after.key, values(after));
        }
        for key in ["files.allow_read", "files.unhide", "network.allow", "network.unix"] {
            assert_eq!(shown(&session, key), shown(&base, key), "{include} {text}: {key}");
        }
        let lists = session.policy().commands.rules.lists();
        let full =
            lists.iter().filter(|list| list.standing == palisade_policy::key::Standing::Full);
        assert_eq!(full.flat_map(|list| &list.rules).count(), 0, "{include} {text}: rules decide");
    }
}

#[test]
fn a_long_list_of_includes_is_refused_before_it_is_read() {
    let many = vec!["'srt:../s.json'"; 200].join(", ");
    let project = Project::new()
        .file(".palisade/policy.yaml", format!("version: 1\ninclude: [{many}]\n"))
        .file("s.json", "{}");
    assert_eq!(open(&project, &Home::new(), &[]).unwrap_err().code(), "include");
    // A project brings few files, and not much of them; a person may bring more.
    let settings = r#"{"network":{"allowedDomains":[],"deniedDomains":[]}}"#;
    let large = format!("{settings}{}", " ".repeat(400_000));
    for (count, text, project_may, person_may) in
        [(10, settings, true, true), (20, settings, false, true), (4, &*large, false, true)]
    {
        let names: Vec<String> = (0..count).map(|n| format!("'srt:../s{n}.json'")).collect();
        let policy = format!("version: 1\ninclude: [{}]\n", names.join(", "));
        let mut project = Project::new().file(".palisade/policy.yaml", &policy);
        let mut person = Project::new().file("sub/policy.yaml", &policy);
        for n in 0..count {
            project = project.file(format!("s{n}.json"), text);
            person = person.file(format!("s{n}.json"), text);
        }
        assert_eq!(open(&project, &Home::new(), &[]).is_ok(), project_may, "{count}");
        assert_eq!(
            open(&person, &Home::new(), &["sub/policy.yaml"]).is_ok(),
            person_may,
            "{count}"
        );
    }
}
