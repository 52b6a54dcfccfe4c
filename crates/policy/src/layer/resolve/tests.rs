//! What holds when several layers speak, and what a project cannot do.

mod between;
mod properties;

use super::*;
use crate::layer::Scope;
use crate::name::Anchors;
use crate::policy::{NetworkMode, ShellUse};
use crate::text::Source;

pub(super) fn anchors() -> Anchors {
    Anchors { root: "/proj/app".into(), home: Some("/home/dev".into()) }
}

pub(super) fn stack(layers: &[(Layer, &str)]) -> Stack {
    let mut stack = Stack::new(&anchors()).unwrap();
    for (layer, text) in layers {
        let source = Source::new(&format!("{layer}.yaml"), text);
        let document = Document::parse(&source, *layer, &anchors());
        stack.push(*layer, document.unwrap_or_else(|problems| panic!("{}", problems[0])));
    }
    stack
}

fn resolved(layers: &[(Layer, &str)], trust: Trust) -> Resolved {
    resolve(&stack(layers), &Choice::default(), trust).unwrap()
}

fn for_agent(layers: &[(Layer, &str)], agent: &str) -> Policy {
    let choice = Choice { agent: Some(agent.into()), task: None };
    resolve(&stack(layers), &choice, Trust::NotTrusted).unwrap().policy
}

pub(super) fn writes(policy: &Policy) -> Vec<String> {
    policy.files.write.values().map(ToString::to_string).collect()
}

fn ignored(resolved: &Resolved) -> Vec<String> {
    resolved.ignored.iter().map(|part| format!("{}: {}", part.key, part.value)).collect()
}

#[test]
fn the_built_in_texts_are_whole() {
    let builtin = BuiltIn::read(&anchors()).unwrap();
    for (name, policy) in [
        ("builtin", builtin.policy().clone()),
        ("confined", builtin.preset(Preset::Confined).unwrap().clone()),
        ("runner", builtin.preset(Preset::Runner).unwrap().clone()),
    ] {
        assert_ne!(policy, Policy::default(), "{name} does not parse");
    }
    for name in Profile::NAMES {
        let profile = builtin.profile(&name.parse().unwrap(), &Origin::of(Layer::User)).unwrap();
        assert_ne!(profile, Some(Policy::default()), "{name} does not parse");
    }
}

#[test]
fn a_built_in_text_that_cannot_be_read_is_an_error_for_whoever_asks_for_it() {
    for (text, code) in [("preset: runner\n", Err("built-in")), ("preset: confined\n", Ok(()))] {
        let mut stack = stack(&[(Layer::User, text)]);
        stack.builtin.break_runner();
        for trust in [Trust::NotTrusted, Trust::Trusted] {
            let resolved = resolve(&stack, &Choice::default(), trust);
            assert_eq!(resolved.map(drop).map_err(|error| error.code()), code, "{text}");
        }
    }
}

#[test]
fn what_a_project_would_unhide_is_named_though_the_user_wrote_the_same() {
    let user = "version: 1\nfiles: { hide: ['.'], unhide: ['/'] }";
    let project = "version: 1\nfiles: { unhide: ['/'] }";
    let layers = [(Layer::User, user), (Layer::Project, project)];
    let narrowed = resolved(&layers, Trust::NotTrusted);
    assert_eq!(ignored(&narrowed), ["files.unhide: /"]);
    assert!(narrowed.policy.files.hide.values().any(|hidden| hidden.to_string() == "/proj/app"));
    assert_eq!(ignored(&resolved(&layers, Trust::Trusted)), Vec::<String>::new());
}

#[test]
fn a195_without_any_file_the_built_in_default_confines() {
    let Resolved { policy, unconfined, .. } = resolved(&[], Trust::NotTrusted);
    assert_eq!(policy.profile.value(), Profile::WorkspaceWriteNoNetwork);
    assert_eq!(policy.require.value(), Require::Full);
    assert_eq!(policy.preset.value(), Preset::Confined);
    assert_eq!(policy.network.mode.value(), NetworkMode::DenyAll);
    assert_eq!(writes(&policy), ["/proj/app"]);
    assert_eq!(unconfined, None);
}

#[test]
fn a195_a_file_that_confines_nothing_lifts_the_built_in_requirement_and_no_other() {
    let origin = Origin::of(Layer::User);
    let switch = Sourced { value: false, origin: origin.clone() };
    let off = Document { enabled: [(Scope::Base, switch)].into(), ..Document::default() };
    let with_off = |layers: &[(Layer, &str)], layer| {
        let mut stack = stack(layers);
        stack.push(layer, off.clone());
        resolve(&stack, &Choice::default(), Trust::NotTrusted).unwrap()
    };
    let alone = with_off(&[], Layer::User);
    assert_eq!((alone.policy.require.value(), alone.unconfined), (Require::None, Some(origin)));
    let required = with_off(&[(Layer::System, "require: landlock")], Layer::User);
    assert_eq!((required.policy.require.value(), required.unconfined), (Require::Landlock, None));
    let beside = with_off(&[(Layer::User, "files: { hide: [/srv] }")], Layer::User);
    assert_eq!((beside.policy.require.value(), beside.unconfined), (Require::Full, None));
    let narrowed = with_off(&[(Layer::Project, "files: { hide: [/srv] }")], Layer::User);
    assert_eq!(narrowed.policy.require.value(), Require::Full, "what a project narrows holds");
    let project = with_off(&[], Layer::Project);
    assert_eq!(project.policy.require.value(), Require::Full, "a project cannot switch us off");
}

#[test]
fn a171_a_preset_is_selected_by_a_file_and_brings_its_lists() {
    let policy = resolved(&[(Layer::User, "preset: runner")], Trust::NotTrusted).policy;
    assert_eq!(policy.preset.value(), Preset::Runner);
    assert_eq!(policy.commands.deny.values().count(), 24);
    assert_eq!(policy.commands.interpreters.values().count(), 14);
    assert_eq!(policy.limits.timeout.value().0, Some("30s".parse().unwrap()));
    assert_eq!(policy.limits.output.value().0, Some("64KiB".parse().unwrap()));
    assert_eq!(policy.env.pass.values().count(), 5);
    let confined = resolved(&[], Trust::NotTrusted).policy;
    assert_eq!(confined.commands.deny.values().count(), 0);
}

#[test]
fn the_highest_layer_wins_and_keeps_its_origin() {
    let layers = [
        (Layer::System, "limits: { timeout: 10s }"),
        (Layer::User, "limits:\n  timeout: 20s\n"),
        (Layer::CommandLine, "limits: { processes: 5 }"),
    ];
    let policy = resolved(&layers, Trust::NotTrusted).policy;
    let timeout = policy.limits.timeout.sourced().unwrap();
    assert_eq!(timeout.value.0, Some("20s".parse().unwrap()));
    assert_eq!(timeout.origin.to_string(), "user user.yaml:2:12");
    assert_eq!(policy.limits.processes.sourced().unwrap().origin.layer, Layer::CommandLine);
    assert_eq!(policy.limits.memory.sourced().unwrap().origin.layer, Layer::BuiltIn);
}

#[test]
fn lists_add_up_and_unhide_only_reaches_down() {
    let layers = [
        (Layer::System, "files: { hide: [/srv/keys] }"),
        (Layer::User, "files: { hide: [~/mail], unhide: [~/.aws, ~/mail] }"),
        (Layer::CommandLine, "files: { hide: [~/.kube] }"),
    ];
    let policy = resolved(&layers, Trust::NotTrusted).policy;
    let hidden: Vec<String> = policy.files.hide.values().map(ToString::to_string).collect();
    let hides = |path: &str| hidden.iter().any(|hidden| hidden == path);
    assert!(hides("/srv/keys") && hides("/home/dev/.ssh") && hides("/home/dev/.kube"));
    assert!(!hides("/home/dev/.aws"), "the user unhid what was built in");
    assert!(hides("/home/dev/mail"), "between two wishes of one layer the stricter wins");
}

/// Layers, the folders that are then writable, the network's mode, and why.
type Case<'a> = (&'a [(Layer, &'a str)], &'a [&'a str], NetworkMode, &'a str);

#[test]
fn a_profile_supplies_defaults_that_explicit_keys_of_its_layer_or_above_replace() {
    use Layer::{CommandLine, User};
    #[rustfmt::skip]
    let cases: &[Case<'_>] = &[
        (&[(User, "profile: readonly")],
            &[], NetworkMode::DenyAll, "the profile alone"),
        (&[(User, "profile: workspace-write")],
            &["/proj/app"], NetworkMode::Disabled, "the profile alone"),
        (&[(User, "profile: readonly\nfiles: { write: [/tmp/x] }")],
            &["/tmp/x"], NetworkMode::DenyAll, "a key of the same layer replaces its part"),
        (&[(User, "files: { write: [/tmp/x] }\nnetwork: { mode: monitor }")],
            &["/tmp/x"], NetworkMode::Monitor, "keys replace the built-in profile"),
        (&[(User, "files: { write: [/tmp/x] }"), (CommandLine, "profile: readonly")],
            &[], NetworkMode::DenyAll, "a profile chosen above replaces keys below"),
        (&[(User, "profile: readonly"), (CommandLine, "files: { write: [/tmp/x] }")],
            &["/tmp/x"], NetworkMode::DenyAll, "a key above replaces a profile below"),
        (&[(CommandLine, "files: { write: [/tmp/x] }"), (CommandLine, "profile: workspace-write")],
            &["/tmp/x"], NetworkMode::Disabled, "keys of its own layer stay, in whichever order"),
        (&[(CommandLine, "profile: workspace-write\nnetwork: { mode: monitor }"), (CommandLine, "profile: readonly")],
            &[], NetworkMode::Monitor, "of two profiles of a layer the later supplies the rest"),
        (&[(User, "files: { write: [a] }"), (CommandLine, "files: { write: [b] }")],
            &["/proj/app/a", "/proj/app/b"], NetworkMode::DenyAll, "explicit lists add up"),
        (&[(User, "files: { write: [] }")],
            &[], NetworkMode::DenyAll, "an empty list is a statement"),
    ];
    for (layers, expected, mode, because) in cases {
        let policy = resolved(layers, Trust::NotTrusted).policy;
        assert_eq!(writes(&policy), *expected, "{layers:?}: {because}");
        assert_eq!(policy.network.mode.value(), *mode, "{layers:?}: {because}");
    }
}

#[test]
fn a181_an_untrusted_project_narrows_but_never_widens() {
    let project = "
preset: agentao:full-access
require: landlock
files: { write: [src, /data], hide: [secrets], unhide: [~/.ssh] }
network: { mode: allow-list, allow: [example.com], deny: [example.org] }
commands: { deny: [git], shell: never, rules: [{ tool: '*', action: allow }, { tool: rm, action: deny }] }
limits: { timeout: 5s, processes: none }
env: { pass: [AWS_SECRET], set: { LD_PRELOAD: /x } }
confirm: { backend: 'program:/bin/true' }
nested: userns
";
    let layers = [(Layer::User, "limits: { timeout: 1m }"), (Layer::Project, project)];
    let narrow = resolved(&layers, Trust::NotTrusted);
    let policy = &narrow.policy;
    assert_eq!(policy.preset.value(), Preset::Confined);
    assert_eq!(policy.require.value(), Require::Full);
    assert_eq!(writes(policy), ["/proj/app/src"], "inside what the default allows");
    assert_eq!(policy.network.mode.value(), NetworkMode::DenyAll);
    assert_eq!(policy.commands.shell.value(), ShellUse::Never);
    assert_eq!(policy.limits.timeout.value().0, Some("5s".parse().unwrap()));
    assert!(policy.files.hide.values().any(|path| path.to_string() == "/proj/app/secrets"));
    assert!(policy.files.hide.values().any(|path| path.to_string() == "/home/dev/.ssh"));
    assert!(policy.commands.deny.values().any(|name| name.as_str() == "git"));
    assert_eq!(policy.commands.rules.lists()[0].standing, crate::key::Standing::NarrowOnly);
    assert_eq!(
        ignored(&narrow),
        [
            "nested: userns",
            "preset: agentao:full-access",
            "require: landlock",
            "files.write: /data",
            "files.unhide: /home/dev/.ssh",
            "network.mode: allow-list",
            "network.allow: example.com",
            r#"commands.rules: {"tool":"*","action":"allow"}"#,
            "limits.processes: none",
            "env.pass: AWS_SECRET",
            "env.set: LD_PRELOAD=/x",
            "confirm.backend: program:/bin/true",
        ]
    );

    let wide = resolved(&layers, Trust::Trusted);
    assert_eq!(wide.policy.network.mode.value(), NetworkMode::AllowList);
    assert_eq!(writes(&wide.policy), ["/proj/app/src", "/data"]);
    assert!(!wide.policy.files.hide.values().any(|path| path.to_string() == "/home/dev/.ssh"));
    assert_eq!(ignored(&wide), ["nested: userns"], "never a project's to say");
}

#[test]
fn an_untrusted_list_of_which_nothing_is_left_counts_as_not_written() {
    let narrow = resolved(&[(Layer::Project, "files: { write: [/data] }")], Trust::NotTrusted);
    assert_eq!(writes(&narrow.policy), ["/proj/app"]);
    let empty = resolved(&[(Layer::Project, "files: { write: [] }")], Trust::NotTrusted);
    assert_eq!(writes(&empty.policy), [""; 0], "an empty list narrows");
}

#[test]
fn an_untrusted_project_may_have_a_person_asked_for_what_is_allowed() {
    let user = "network: { mode: allow-list, allow: [.a.test, b.test] }";
    let layers = [(Layer::User, user), (Layer::Project, "network: { ask: [x.a.test, c.test] }")];
    let narrow = resolved(&layers, Trust::NotTrusted);
    let asked: Vec<String> = narrow.policy.network.ask.values().map(ToString::to_string).collect();
    assert_eq!(asked, ["x.a.test"]);
    assert_eq!(ignored(&narrow), ["network.ask: c.test"], "asking is more than refusing");
}

#[test]
fn a_project_cannot_reach_the_user_through_an_agents_section() {
    let layers = [
        (Layer::User, "agents: { codex: { files: { write: [/tmp/b] } } }"),
        (
            Layer::Project,
            "files: { write: [src] }\nagents: { codex: { network: { mode: disabled } } }",
        ),
    ];
    let policy = for_agent(&layers, "codex");
    assert_eq!(writes(&policy), ["/tmp/b"], "not src: without the project it is not writable");
    assert_eq!(policy.network.mode.value(), NetworkMode::DenyAll);
}

#[test]
fn what_is_said_for_an_agent_or_a_task_stands_above_what_is_said_for_everyone() {
    let user = "
network: { mode: monitor }
agents: { codex: { network: { mode: deny-all } } }
tasks: { fetch: { agent: codex, network: { mode: allow-list, allow: [example.com] } } }
";
    let layers = [(Layer::User, user), (Layer::Environment, "limits: { timeout: 7s }")];
    assert_eq!(for_agent(&layers, "codex").network.mode.value(), NetworkMode::DenyAll);
    assert_eq!(for_agent(&layers, "other").network.mode.value(), NetworkMode::Monitor);
    let fetch = Choice { agent: None, task: Some("fetch".into()) };
    let resolved = resolve(&stack(&layers), &fetch, Trust::NotTrusted).unwrap();
    assert_eq!(resolved.policy.network.mode.value(), NetworkMode::AllowList);
    assert_eq!(resolved.choice.agent.as_deref(), Some("codex"), "the task names its agent");
    let mode = resolved.policy.network.mode.sourced().unwrap();
    assert_eq!(mode.origin.to_string(), "user user.yaml:4:50 (task fetch)");
}

#[test]
fn a_task_that_does_not_exist_or_is_for_somebody_else_is_refused() {
    let layers = [(Layer::User, "tasks: { fetch: { agent: codex } }")];
    let ask = |agent: Option<&str>, task: &str| {
        let choice = Choice { agent: agent.map(Into::into), task: Some(task.into()) };
        resolve(&stack(&layers), &choice, Trust::NotTrusted)
            .map(|_| ())
            .map_err(|error| error.code())
    };
    assert_eq!(ask(None, "fetch"), Ok(()));
    assert_eq!(ask(Some("codex"), "fetch"), Ok(()));
    assert_eq!(ask(Some("claude"), "fetch"), Err("other-agent"));
    assert_eq!(ask(None, "fetsch"), Err("no-such-task"));
}

#[test]
fn what_the_administrator_requires_nobody_lowers() {
    let system = (Layer::System, "require: landlock");
    #[rustfmt::skip]
    let cases = [
        ("require: none",     Require::Landlock, "the user cannot go below"),
        ("require: external", Require::Landlock, "nor halfway"),
        ("require: full",     Require::Full,     "but above"),
    ];
    for (user, expected, because) in cases {
        let policy = resolved(&[system, (Layer::User, user)], Trust::NotTrusted).policy;
        assert_eq!(policy.require.value(), expected, "{user}: {because}");
    }
    let own = resolved(
        &[(Layer::User, "require: full"), (Layer::CommandLine, "require: none")],
        Trust::NotTrusted,
    );
    assert_eq!(own.policy.require.value(), Require::None, "a person may lower their own");
}

#[test]
fn some_things_are_not_for_every_layer_to_say() {
    for text in ["require: none", "nested: userns", "agents: { a: { require: none } }"] {
        let parse = |layer| Document::parse(&Source::new("x.yaml", text), layer, &anchors());
        for layer in [Layer::System, Layer::Environment] {
            assert_eq!(parse(layer).unwrap_err()[0].code(), "not-yours", "{text} in {layer}");
        }
        for layer in [Layer::User, Layer::CommandLine, Layer::Library] {
            assert!(parse(layer).is_ok(), "{text} in {layer}");
        }
    }
}

#[test]
fn an_untrusted_project_does_not_choose_the_agent_of_a_task() {
    let user = "
agents:
  strict: { network: { mode: deny-all } }
  loose: { files: { write: [/] }, network: { mode: disabled } }
tasks: { build: { agent: strict } }
";
    let layers = [
        (Layer::User, user),
        (Layer::Project, "tasks: { build: { agent: loose }, mine: { agent: loose } }"),
    ];
    let ask = |task: &str, trust| {
        let choice = Choice { agent: None, task: Some(task.into()) };
        resolve(&stack(&layers), &choice, trust).unwrap()
    };
    let build = ask("build", Trust::NotTrusted);
    assert_eq!(build.choice.agent.as_deref(), Some("strict"));
    assert_eq!(build.policy.network.mode.value(), NetworkMode::DenyAll);
    assert_eq!(ignored(&build), ["tasks.build.agent: loose"]);
    assert_eq!(ask("mine", Trust::NotTrusted).choice.agent, None, "nor of a task of its own");
    assert_eq!(ask("build", Trust::Trusted).choice.agent.as_deref(), Some("loose"));
}

#[test]
fn a_task_is_not_let_out_because_its_agent_is_not_believed() {
    let off = Sourced { value: false, origin: Origin::of(Layer::User) };
    let mut stack = stack(&[]);
    stack.push(
        Layer::User,
        Document { enabled: [(Scope::Base, off.clone())].into(), ..Document::default() },
    );
    let task = Task { agent: Some("claude".into()), ..Default::default() };
    let tasks = [("t".into(), task)].into();
    stack.push(
        Layer::Project,
        Document { enabled: [(Scope::Base, off)].into(), tasks, ..Document::default() },
    );
    let choice = Choice { agent: None, task: Some("t".into()) };
    let resolved = resolve(&stack, &choice, Trust::NotTrusted).unwrap();
    assert_eq!((resolved.policy.require.value(), resolved.unconfined), (Require::Full, None));
}

#[test]
fn an_untrusted_project_cannot_name_a_secret_that_a_prefix_leaves_out() {
    let layers = [
        (Layer::User, "env: { pass: ['GITHUB_*'] }"),
        (Layer::Project, "env: { pass: [GITHUB_TOKEN, GITHUB_REF] }"),
    ];
    let narrow = resolved(&layers, Trust::NotTrusted);
    assert_eq!(ignored(&narrow), ["env.pass: GITHUB_TOKEN"]);
}

#[test]
fn a_profile_of_an_untrusted_project_cannot_stop_a_person_from_being_asked() {
    let user = "network: { mode: allow-list, allow: [.b.test], ask: [b.test] }";
    let mut stack = stack(&[(Layer::User, user), (Layer::Project, "profile: ./p.yaml")]);
    let source = Source::new("p.yaml", "network: { ask: [] }");
    let profile = Document::parse(&source, Layer::Project, &anchors()).unwrap().policy;
    stack.push_profile("/proj/app/p.yaml".parse().unwrap(), profile);
    let narrow = resolve(&stack, &Choice::default(), Trust::NotTrusted).unwrap();
    let asked: Vec<String> = narrow.policy.network.ask.values().map(ToString::to_string).collect();
    assert_eq!(asked, ["b.test"]);
}

#[test]
fn the_log_of_the_user_is_not_the_projects_to_move() {
    let layers = [
        (Layer::User, "audit: { path: ~/log.jsonl }"),
        (Layer::Project, "audit: { path: ~/log.jsonl/x }"),
    ];
    let narrow = resolved(&layers, Trust::NotTrusted);
    assert_eq!(
        narrow.policy.audit.path.sourced().unwrap().value.to_string(),
        "/home/dev/log.jsonl"
    );
    assert_eq!(ignored(&narrow), ["audit.path: /home/dev/log.jsonl/x"]);
}

#[test]
fn the_built_in_lists_hold_wherever_the_project_and_the_home_lie() {
    for (root, home) in [("/", Some("/root")), ("/proj/app", None), ("/a [b] *", Some("/h\\o"))] {
        let anchors = Anchors { root: root.into(), home: home.map(Into::into) };
        let stack =
            Stack::new(&anchors).unwrap_or_else(|problems| panic!("{root}: {}", problems[0]));
        let policy = resolve(&stack, &Choice::default(), Trust::NotTrusted).unwrap().policy;
        assert!(
            policy.files.hide.values().count() > 20 && policy.files.protect.values().count() > 20
        );
    }
    let odd = std::ffi::OsStr::new("relative");
    let anchors = Anchors { root: "/proj".into(), home: Some(odd.into()) };
    assert!(Stack::new(&anchors).is_err(), "no policy rather than one without its lists");
}

#[test]
fn the_profiles_of_rules_are_files_too() {
    let text = "commands: { rules: [{ tool: x, profile: ./a.yaml }] }\nagents: { a: { profile: ./b.yaml } }";
    let stack = stack(&[(Layer::Project, text)]);
    let named: Vec<String> =
        stack.profile_files().iter().map(|file| file.value.to_string()).collect();
    assert_eq!(named, ["/proj/app/b.yaml", "/proj/app/a.yaml"]);
}

#[test]
fn what_a_higher_layer_hides_no_lower_one_keeps_readable() {
    let opens = "files: { hide: ['~/k'], allow_read: ['~/k/pub'] }";
    let readable = |layers: &[(Layer, &str)]| {
        let policy = resolved(layers, Trust::NotTrusted).policy;
        policy.files.allow_read.values().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(readable(&[(Layer::User, opens)]), ["/home/dev/k/pub"]);
    for hides in
        ["files: { hide: ['~/k'] }", "files: { hide: ['~/k/pub'] }", "files: { hide: ['~'] }"]
    {
        let project = (Layer::Project, hides);
        assert_eq!(readable(&[(Layer::User, opens), project]), [""; 0], "{hides}");
        assert_eq!(readable(&[project, (Layer::CommandLine, opens)]), ["/home/dev/k/pub"]);
    }
    let deeper = (Layer::Project, "files: { hide: ['~/k/pub/x'] }");
    assert_eq!(readable(&[(Layer::User, opens), deeper]), ["/home/dev/k/pub"], "x is hidden in it");
}

#[test]
fn lists_of_rules_shown_as_one_are_no_wider() {
    let layers = [
        (Layer::User, "commands: { rules: [{ tool: git, action: allow }] }"),
        (
            Layer::CommandLine,
            "commands: { rules: [{ tool: git, args: { command: push }, action: deny }] }",
        ),
    ];
    let mut rows = Vec::new();
    resolved(&layers, Trust::NotTrusted).policy.rows("", &mut rows);
    let rules = rows.into_iter().find(|row| row.key == "commands.rules").unwrap();
    assert_eq!(rules.values[0].value["action"], "deny", "the first match would decide");
}
