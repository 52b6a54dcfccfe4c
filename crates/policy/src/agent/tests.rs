use super::*;
use crate::builtin::BuiltIn;
use crate::layer::{Choice, Resolved, Stack, Trust, resolve};
use crate::policy::NetworkMode;

fn anchors() -> Anchors {
    Anchors { root: "/home/ann/app".into(), home: Some("/home/ann".into()) }
}

fn preset(name: &str) -> AgentPreset {
    named(name, &anchors()).unwrap().unwrap()
}

fn resolved(agent: &str, texts: &[(Layer, &str)], trust: Trust) -> Resolved {
    let mut stack = Stack::new(&anchors()).unwrap();
    for (layer, text) in texts {
        let source = Source::new("policy.yaml", text);
        stack.push(*layer, Document::parse(&source, *layer, &anchors()).unwrap());
    }
    let choice = Choice { agent: Some(agent.into()), task: None };
    resolve(&stack, &choice, trust).unwrap()
}

fn shown<T: ToString>(values: impl Iterator<Item = T>) -> Vec<String> {
    values.map(|value| value.to_string()).collect()
}

#[test]
fn every_file_is_whole_and_says_nothing_of_the_project() {
    for name in names() {
        let it = preset(name);
        assert!(!it.about.is_empty() && !it.sandbox.is_empty(), "{name}");
        assert!(!it.state.is_empty(), "{name} keeps no state");
        let task = it.task("do it");
        assert_eq!(task.last().map(String::as_str), Some("do it"), "{name}");
        assert!(it.programs.contains(&task[0]), "{name} is started by a program of its own");
        for program in &it.programs {
            assert_eq!(of_program(program), Some(name), "{program}");
            assert_eq!(of_program(&format!("/opt/bin/{program}")), Some(name), "{program}");
        }
        assert!(it.policy.network.allow.values().count() > 0, "{name} reaches nobody");
        assert!(it.policy.network.mode.sourced().is_none(), "{name}: who opens is the user");
        assert!(it.policy.env.pass.values().count() > 0, "{name} gets no key");
        let protected: Vec<_> = it.policy.files.protect.values().collect();
        let unhidden: Vec<_> = it.policy.files.unhide.values().collect();
        let state = it.state.iter().map(|folder| folder.value.as_pattern());
        for path in state.chain(protected).chain(unhidden) {
            assert!(path.to_string().starts_with("/home/ann/."), "{name}: {path}");
        }
    }
    assert!(named("nobody", &anchors()).unwrap().is_none());
    for program in ["", "ls", "programs: [", "claude2", "[claude"] {
        assert_eq!(of_program(program), None, "{program}");
    }
}

#[test]
fn what_one_agent_unhides_is_hidden_from_all_others() {
    let builtin = BuiltIn::read(&anchors()).unwrap();
    let hidden = shown(builtin.policy().files.hide.values());
    for name in names() {
        let own = shown(preset(name).policy.files.unhide.values());
        assert!(!own.is_empty(), "{name} has a login");
        for login in &own {
            assert!(hidden.contains(login), "{login} of {name} is hidden from nobody");
        }
        let holds = resolved(name, &[], Trust::NotTrusted).policy;
        let hidden_now = shown(holds.files.hide.values());
        let lost: Vec<&String> = hidden.iter().filter(|it| !hidden_now.contains(it)).collect();
        let expected: Vec<&String> = hidden.iter().filter(|it| own.contains(it)).collect();
        assert_eq!(lost, expected, "{name} sees its own, and no more");
    }
}

#[test]
fn the_state_of_every_agent_is_somebody_elses_to_all_others() {
    let all: usize = names().map(|name| preset(name).state.len()).sum();
    for name in names() {
        let own = shown(preset(name).state.iter().map(|folder| &folder.value));
        let others = states_of_others(name, &anchors()).unwrap();
        assert_eq!(others.len() + own.len(), all, "{name}");
        for (other, folder) in others {
            assert!(other != name && !own.contains(&folder.to_string()), "{name}: {folder}");
        }
    }
    let nobody = states_of_others("nobody", &anchors()).unwrap();
    assert_eq!(nobody.len(), all);
    let has = |agent: &str, path: &str| {
        nobody.iter().any(|(name, folder)| *name == agent && folder.to_string() == path)
    };
    assert!(has("claude", "/home/ann/.claude") && has("codex", "/home/ann/.codex"));
}

#[test]
fn what_runs_at_the_next_start_stays_as_it_is() {
    let covered = |name: &str, path: &str| {
        let policy = resolved(name, &[], Trust::NotTrusted).policy;
        let wanted: PathPattern = path.parse().unwrap();
        policy.files.protect.values().any(|it| it.covers(&wanted))
    };
    for (name, path) in [
        ("claude", "/home/ann/.claude/settings.json"),
        ("claude", "/home/ann/.claude/settings.local.json"),
        ("claude", "/home/ann/.claude/hooks"),
        ("claude", "/home/ann/.claude/local"),
        ("codex", "/home/ann/.codex/config.toml"),
        ("codex", "/home/ann/.codex/hooks.json"),
        ("codex", "/home/ann/.codex/rules"),
        ("gemini", "/home/ann/.gemini/settings.json"),
        ("gemini", "/home/ann/.gemini/policies"),
        ("cursor", "/home/ann/.cursor/mcp.json"),
        ("copilot", "/home/ann/.copilot/mcp-config.json"),
        ("claude", "/home/ann/.codex"),
        ("codex", "/home/ann/.cursor"),
    ] {
        assert!(covered(name, path), "{name} can change {path}");
    }
    for (name, path) in [
        ("codex", "/home/ann/.codex/sessions"),
        ("codex", "/home/ann/.codex/auth.json"),
        ("gemini", "/home/ann/.gemini/oauth_creds.json"),
        ("claude", "/home/ann/.claude/projects"),
    ] {
        assert!(!covered(name, path), "{name} cannot change {path}");
    }
}

#[test]
fn an_agent_writes_its_state_beside_what_everybody_writes() {
    let write = |agent: &str, texts: &[(Layer, &str)]| {
        shown(resolved(agent, texts, Trust::NotTrusted).policy.files.write.values())
    };
    assert_eq!(write("claude", &[]), ["/home/ann/app", "/home/ann/.claude"]);
    assert_eq!(write("codex", &[]), ["/home/ann/app", "/home/ann/.codex"]);
    assert_eq!(
        write("nobody", &[]),
        ["/home/ann/app"],
        "an agent nobody knows has the base policy"
    );
    let narrow = (Layer::User, "files: { write: [src] }");
    assert_eq!(write("claude", &[narrow]), ["/home/ann/app/src", "/home/ann/.claude"]);
    // Where nothing is to be written, nothing is.
    for closed in ["files: { write: [] }", "profile: readonly"] {
        assert!(write("claude", &[(Layer::User, closed)]).is_empty(), "{closed}");
    }
}

#[test]
fn a_policy_that_speaks_of_the_agent_says_all_of_it() {
    let own = "agents: { claude: { limits: { processes: 7 } } }";
    let theirs = resolved("claude", &[(Layer::User, own)], Trust::NotTrusted);
    assert!(theirs.agent.is_none());
    assert_eq!(shown(theirs.policy.files.write.values()), ["/home/ann/app"]);
    // A project that nobody trusts takes no preset away, and adds none.
    let project = resolved("claude", &[(Layer::Project, own)], Trust::NotTrusted);
    assert_eq!(project.agent.as_ref().map(|it| it.name), Some("claude"));
    assert_eq!(project.policy.files.write.values().count(), 2);
    let trusted = resolved("claude", &[(Layer::Project, own)], Trust::Trusted);
    assert!(trusted.agent.is_none());
}

#[test]
fn what_is_written_as_a_policy_does_the_same() {
    for name in names() {
        let text = as_policy(name).unwrap();
        let known = resolved(name, &[], Trust::NotTrusted);
        let written = resolved(name, &[(Layer::User, &text)], Trust::NotTrusted);
        assert!(written.agent.is_none() && written.spoken_of.is_some(), "{name}");
        // Each list as a set: who said it is another.
        let rows = |policy: &Policy| {
            let mut rows = Vec::new();
            policy.rows("", &mut rows);
            let values = |row: &crate::key::Row| {
                let mut values: Vec<String> =
                    row.values.iter().map(|value| value.value.to_string()).collect();
                values.sort();
                format!("{} {values:?}", row.key)
            };
            rows.iter().map(values).collect::<Vec<_>>()
        };
        assert_eq!(rows(&written.policy), rows(&known.policy), "{name}");
        let others = resolved("other", &[(Layer::User, &text)], Trust::NotTrusted);
        assert_eq!(shown(others.policy.files.write.values()), ["/home/ann/app"], "{name}");
    }
    assert!(as_policy("nobody").is_none());
}

#[test]
fn only_who_opens_the_state_by_name_lifts_what_keeps_it() {
    let protects = |text: &str, layer: Layer| {
        let user = (Layer::User, "agents: { codex: { limits: { processes: 7 } } }");
        let policy = resolved("codex", &[user, (layer, text)], Trust::NotTrusted).policy;
        let covered = |path: &str| {
            let wanted: PathPattern = path.parse().unwrap();
            policy.files.protect.values().any(|it| it.covers(&wanted))
        };
        ["/home/ann/.codex/sessions", "/home/ann/.codex/config.toml"].map(covered)
    };
    let opens = "agents: { codex: { files: { write: [., ~/.codex] } } }";
    assert_eq!(protects(opens, Layer::CommandLine), [false, true], "programs stay");
    assert_eq!(protects(opens, Layer::Project), [true, true], "nobody trusts it");
    assert_eq!(
        protects("agents: { codex: { files: { write: [.] } } }", Layer::CommandLine),
        [true; 2]
    );
    assert_eq!(
        protects("agents: { other: { files: { write: [~/.codex] } } }", Layer::CommandLine),
        [true; 2]
    );
}

#[test]
fn a_preset_stands_below_what_people_say() {
    let user = "files: { hide: [~/.claude] }\nenv: { set: { DISABLE_AUTOUPDATER: '0' } }\n\
                network: { mode: deny-all }\n";
    let policy = resolved("claude", &[(Layer::User, user)], Trust::NotTrusted).policy;
    assert!(shown(policy.files.hide.values()).contains(&"/home/ann/.claude".to_owned()));
    let set = policy.env.set.iter().find(|(name, _)| name.as_str() == "DISABLE_AUTOUPDATER");
    assert_eq!(set.map(|(_, value)| value.value.as_str()), Some("0"));
    assert_eq!(policy.network.mode.value(), NetworkMode::DenyAll);
    assert_eq!(
        resolved("claude", &[], Trust::NotTrusted).policy.network.mode.value(),
        NetworkMode::DenyAll
    );
}

#[test]
fn its_own_sandbox_is_switched_off_where_that_takes_words() {
    let adapted = |name: &str, argv: &[&str]| {
        let argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
        preset(name).adapted(&argv).join(" ")
    };
    let full = "-c sandbox_mode=danger-full-access";
    assert_eq!(adapted("codex", &["codex", "exec", "x"]), format!("codex {full} exec x"));
    assert_eq!(adapted("codex", &["/opt/codex"]), format!("/opt/codex {full}"));
    for argv in [
        &["codex", "--sandbox", "read-only"][..],
        &["codex", "--sandbox=read-only"],
        &["codex", "exec", "-s", "read-only"],
        &["npm", "test"],
        &["echo", "codex"],
        &[],
    ] {
        assert_eq!(adapted("codex", argv), argv.join(" "), "{argv:?}");
    }
    assert_eq!(adapted("gemini", &["gemini"]), "gemini", "a variable does it");
}
