//! What a hostile project tries on whoever opens it.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop at once")]

use palisade::{OpenError, Opens, Request, Session, Warning};
use palisade_testkit::{Home, Project};

const POLICY: &str = ".palisade/policy.yaml";

fn request(project: &Project, home: &Home) -> Request {
    Request::new(project.root(), home.env().clone())
}

fn user(policy: &str) -> Home {
    Home::new().file(".config/palisade/policy.yaml", policy)
}

fn shown(session: &Session, key: &str) -> Vec<String> {
    let row = session.rows().into_iter().find(|row| row.key == key).unwrap();
    row.values.iter().map(|value| value.value.as_str().unwrap_or_default().to_owned()).collect()
}

fn code(result: Result<impl Sized, OpenError>) -> &'static str {
    result.err().map_or("fine", |error| error.code())
}

fn ignored(session: &Session) -> Vec<String> {
    session.ignored().iter().map(|part| part.key.clone()).collect()
}

#[test]
fn a_project_cannot_move_the_root_that_everyones_paths_start_from() {
    let home = user("version: 1\nfiles: { hide: [.env] }\n");
    for text in ["root: sub", "project_root: sub", "root: ..", "root: /"] {
        let project = Project::new().dir("sub").file(POLICY, text);
        let session = Session::open(&request(&project, &home)).unwrap();
        assert_eq!(session.root().path, project.root(), "{text}");
        assert!(
            shown(&session, "files.hide").contains(&project.path(".env").display().to_string())
        );
        assert_eq!(ignored(&session), ["root"], "{text}");
    }
}

#[test]
fn a_projects_grants_do_not_lead_through_links() {
    let project = Project::new()
        .dir("real")
        .symlink("out", "/etc")
        .file(POLICY, "files: { write: [out, real, out/deep] }\ntools: { roots: [out] }\n");
    let home = user("version: 1\nfiles: { write: [.] }\ntools: { roots: [.] }\n");
    let open = || Session::open(&request(&project, &home)).unwrap();
    let session = open();
    let root = project.root().display().to_string();
    assert_eq!(shown(&session, "files.write"), [root.clone(), format!("{root}/real")]);
    assert_eq!(ignored(&session), ["files.write", "files.write", "tools.roots"]);
    session.project_files().unwrap().trust().unwrap();
    assert_eq!(
        shown(&open(), "files.write"),
        [root.clone(), format!("{root}/real")],
        "nor trusted"
    );
}

#[test]
fn a_users_file_cannot_be_made_to_read_its_profile_from_a_project() {
    let wide = "version: 1\nfiles: { write: [/] }\nnetwork: { mode: disabled }\n";
    let project = Project::new().file("strict.yaml", wide);
    let home = user("version: 1\nprofile: ./strict.yaml\n");
    assert_eq!(code(Session::open(&request(&project, &home))), "profile-in-project");
    // A person who names it for this run has looked at it.
    let mut named = request(&project, &Home::new());
    named.profile = Some("./strict.yaml".into());
    let session = Session::open(&named).unwrap();
    assert_eq!(shown(&session, "network.mode"), ["disabled"]);
    assert!(session.files().iter().any(|file| file.path.ends_with("strict.yaml")), "it had a say");
}

#[test]
fn the_profile_of_a_rule_is_part_of_what_is_trusted() {
    let project = Project::new()
        .file("p.yaml", "version: 1\nnetwork: { mode: deny-all }\n")
        .file(POLICY, "commands: { rules: [{ tool: x, profile: ./p.yaml }] }\n");
    let home = Home::new();
    let session = Session::open(&request(&project, &home)).unwrap();
    let files = session.project_files().unwrap();
    assert!(files.paths.iter().any(|path| path.ends_with("p.yaml")));
    files.trust().unwrap();
    let project = project.file("p.yaml", "version: 1\nnetwork: { mode: disabled }\n");
    let changed = Session::open(&request(&project, &home)).unwrap();
    assert_eq!(changed.project_files().unwrap().agreement, palisade::Agreement::Changed);
    let missing =
        Project::new().file(POLICY, "commands: { rules: [{ tool: x, profile: ./no.yaml }] }\n");
    assert_eq!(code(Session::open(&request(&missing, &home))), "policy-missing");
}

#[test]
fn checking_a_projects_file_prints_no_other_file() {
    let home = Home::new();
    for text in [
        "include: [/etc/passwd]\n",
        "include: [../../../../../../etc/passwd]\n",
        "include: [link]\n",
    ] {
        let project = Project::new().symlink(".palisade/link", "/etc/passwd").file(POLICY, text);
        let request = request(&project, &home);
        let found = request.check_file(POLICY, project.root());
        assert!(!format!("{found:?}").contains("root:x:"), "{text}");
        assert_eq!(code(found), "policy-outside-root", "{text}");
        let stream = request.check_stream("<stdin>", text.as_bytes(), project.root());
        assert!(!format!("{stream:?}").contains("root:x:"), "{text}");
    }
    let linked = Project::new().symlink(POLICY, "/etc/passwd");
    assert_eq!(
        code(request(&linked, &home).check_file(POLICY, linked.root())),
        "policy-outside-root"
    );
}

#[test]
fn many_files_are_not_read_for_ever() {
    let home = Home::new();
    let deep = (0..7).fold(Project::new(), |project, n| {
        let next = format!("include: [{}]\n", vec![format!("f{}.yaml", n + 1); 8].join(", "));
        let name = if n == 0 { POLICY.into() } else { format!(".palisade/f{n}.yaml") };
        project.file(name, next)
    });
    let deep = deep.file(".palisade/f7.yaml", "version: 1\n");
    assert_eq!(code(Session::open(&request(&deep, &home))), "include");

    let long = "x".repeat(900_000);
    let wide = (0..8).fold(Project::new(), |project, n| {
        project.file(format!(".palisade/f{n}.yaml"), format!("version: 1 # {long}\n"))
    });
    let names: Vec<String> = (0..8).map(|n| format!("f{n}.yaml")).collect();
    let wide = wide.file(POLICY, format!("include: [{}]\n", names.join(", ")));
    assert_eq!(code(Session::open(&request(&wide, &home))), "include");
}

#[test]
fn a_file_with_nearly_the_right_name_does_not_pass_for_none() {
    for name in [".palisade/policy.yml", ".palisade/policy.json"] {
        let project = Project::new().file(name, "{}\n");
        assert_eq!(code(Session::open(&request(&project, &Home::new()))), "misnamed", "{name}");
    }
}

#[test]
fn what_had_a_say_and_where_trust_is_kept_is_protected() {
    let home = Home::new();
    let project = Project::new().file("ci.yaml", "version: 1\nlimits: { timeout: 5s }\n");
    let mut request = request(&project, &home);
    request.policies = vec!["ci.yaml".into()];
    let session = Session::open(&request).unwrap();
    let protected = shown(&session, "files.protect");
    let holds = |path: std::path::PathBuf| protected.contains(&path.display().to_string());
    assert!(holds(project.path("ci.yaml")), "{protected:?}");
    assert!(holds(home.path(".config/palisade")) && holds(home.path(".local/state/palisade")));
}

#[test]
fn trust_is_asked_for_all_that_the_files_could_ever_open() {
    let text = "network: { mode: disabled }\nenv: { set: { LD_PRELOAD: /evil } }\nnested: userns\n\
                agents: { codex: { files: { write: [/] } } }\n";
    let project = Project::new().file(POLICY, text);
    let home = user("version: 1\nnetwork: { mode: disabled }\n");
    let mut request = request(&project, &home);
    request.profile = Some("readonly".into());
    let opens = Session::open(&request).unwrap().project_opens().unwrap();
    let named = |parts: &[palisade::policy::key::Ignored]| {
        parts.iter().map(|part| format!("{}: {}", part.key, part.value)).collect::<Vec<_>>()
    };
    let Opens { now, later, never } = &opens;
    assert_eq!(named(now), ["env.set: LD_PRELOAD=/evil", "files.write: /"]);
    assert_eq!(named(later), ["network.mode: disabled"], "allowed today, and still when it is not");
    assert_eq!(named(never), ["nested: userns"]);
}

#[test]
fn an_agent_that_nobody_knows_is_told() {
    let home = user("version: 1\nagents: { claude: { network: { mode: deny-all } } }\n");
    let project = Project::new();
    let mut request = request(&project, &home);
    request.agent = Some("cluade".into());
    let session = Session::open(&request).unwrap();
    assert!(
        matches!(session.warnings(), [Warning::NoSuchAgent { known, .. }] if *known == ["claude"])
    );
}

#[test]
fn the_root_that_a_users_file_names_is_not_too_wide() {
    let project = Project::new();
    for root in ["/", "~"] {
        let home = user(&format!("version: 1\nroot: '{root}'\n"));
        assert_eq!(code(Session::open(&request(&project, &home))), "root-too-wide", "{root}");
    }
}

#[test]
fn a_project_does_not_choose_the_workspace_of_a_users_profile() {
    let profile = "(version 1)(deny default)(allow process*)(allow file-read*)\
                   (allow file-write* (subpath (param \"_RW1\")))";
    let home = Home::new().file(".agentao/profiles/custom.sb", profile).file(
        ".agentao/sandbox.json",
        r#"{"enabled":true,"profiles_dir":"profiles","default_profile":"custom"}"#,
    );
    let project = Project::new().file(".agentao/sandbox.json", r#"{"workspace_root":"/srv"}"#);
    let mut request = request(&project, &home);
    request.policies = vec!["agentao:".into()];
    let session = Session::open(&request).unwrap();
    assert_eq!(shown(&session, "files.write"), [project.root().display().to_string()]);
}

#[test]
fn a_file_of_the_project_is_the_projects_whoever_includes_its_system() {
    let home = user("version: 1\ninclude: ['proxy:']\n");
    let text =
        "sandboxing: { enabled: false, allow_parent_access: true, excluded_tools: ['.*'] }\n";
    let project = Project::new().file("config/config.yaml", text);
    let session = Session::open(&request(&project, &home)).unwrap();
    assert_eq!(session.policy().tools.allow_parent.value().0, 0);
    assert!(shown(&session, "tools.exclude").is_empty());
    // Whoever names the system alone has not looked at the file; whoever names the file has.
    for (policy, levels) in [("proxy:", 0), ("proxy:config/config.yaml", 1)] {
        let mut named = request(&project, &Home::new());
        named.policies = vec![policy.into()];
        let session = Session::open(&named).unwrap();
        assert_eq!(session.policy().tools.allow_parent.value().0, levels, "{policy}");
    }
}

#[test]
fn what_is_translated_says_no_more() {
    let home = Home::new();
    let project = Project::new()
        .file("top.yaml", "version: 1\ninclude: [strict.yaml]\nfiles: { write: [.] }\n")
        .file("strict.yaml", "version: 1\nfiles: { hide: [secret] }\n")
        .file(
            "s.json",
            r#"{"filesystem":{"denyRead":[],"allowWrite":["."]},"network":{"allowedDomains":[]}}"#,
        );
    let request = request(&project, &home);
    let (text, _) = request.check_file("top.yaml", project.root()).unwrap().native_text();
    assert!(text.contains("secret"), "what it includes is part of it: {text}");
    let (text, lost) = request.check_file("s.json", project.root()).unwrap().native_text();
    assert!(!text.contains("unhide") && lost.len() == 1, "{text}\n{lost:?}");
}

#[test]
fn a_projects_file_brings_no_variable_into_force() {
    let home = user("version: 1\ntools: { enabled: true, strict: true }\n")
        .var("ENABLE_SANDBOXING", "false")
        .var("SANDBOXING_ALLOW_PARENT_ACCESS", "true");
    let project = Project::new()
        .file("config.yaml", "sandboxing: { enabled: true }\n")
        .file(POLICY, "include: ['proxy:../config.yaml']\n");
    let tools = &Session::open(&request(&project, &home)).unwrap().policy().tools.clone();
    assert!(tools.enabled.value().0 && tools.strict.value().0);
    assert_eq!(tools.allow_parent.value().0, 0);
}

#[test]
fn a_file_that_is_a_whole_policy_stands_in_place_of_the_lists_below() {
    let home = user("version: 1\nfiles: { write: [., /var/data] }\n");
    let project = Project::new()
        .file("x.sb", "(version 1)(allow default)(deny file-write*)(deny network*)")
        .file(
            "s.json",
            r#"{"filesystem":{"denyRead":[],"allowWrite":[]},"network":{"allowedDomains":[]}}"#,
        );
    for named in ["x.sb", "s.json"] {
        let mut request = request(&project, &home);
        request.policies = vec![named.into()];
        assert!(shown(&Session::open(&request).unwrap(), "files.write").is_empty(), "{named}");
        let file = format!("include: ['../{named}']\n");
        let project = Project::new()
            .file(POLICY, file)
            .file("x.sb", std::fs::read(project.path("x.sb")).unwrap())
            .file("s.json", std::fs::read(project.path("s.json")).unwrap());
        let session = Session::open(&self::request(&project, &home)).unwrap();
        assert!(shown(&session, "files.write").is_empty(), "{named} in a project narrows");
    }
}

#[test]
fn checking_and_translating_prints_no_file_outside_in_any_dialect() {
    let outside =
        Project::new().file("keys", "SECRETWORD another\n").file("keys.sb", "SECRETWORD another\n");
    let secret = outside.root().display().to_string();
    let home = Home::new();
    let text = format!(r#"{{"enabled":true,"default_profile":"keys","profiles_dir":"{secret}"}}"#);
    let project = Project::new()
        .file(".agentao/sandbox.json", text)
        .symlink("sandbox.json", outside.path("keys"))
        .symlink("config/config.yaml", outside.path("keys"));
    let request = request(&project, &home);
    for named in
        [".agentao/sandbox.json", "sandbox.json", "agentao:sandbox.json", "proxy:", "agentao:"]
    {
        let found = request.check_file(named, project.root());
        let told = found.as_ref().err().map(|error| {
            let lines: Vec<String> = error.diagnostics().iter().map(ToString::to_string).collect();
            format!("{error}\n{}", lines.join("\n"))
        });
        assert!(!told.unwrap_or_default().contains("SECRETWORD"), "{named}");
        assert!(found.is_err(), "{named}");
    }
}
