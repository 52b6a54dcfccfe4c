//! The promises about the proxy, end to end.

use std::fs;

use super::{APIS, BAD, GOOD, Scene, post, request};
use crate::kit::World;

const ON: &[&str] = &["--enable-sandboxing"];

/// Whether an answer asks for a tool, in any API.
fn has_call(body: &str) -> bool {
    [
        "\"tool_calls\"",
        "\"tool_use\"",
        "\"function_call\"",
        "functionCall",
        "function_call_arguments",
    ]
    .iter()
    .any(|word| body.contains(word))
}

#[test]
fn a158_a_violation_on_the_wire_is_told_in_the_documented_words() {
    let scene = Scene::new(World::new(), &["--enable-sandboxing", "--json"]);
    let root = scene.world.project.root().to_str().unwrap().to_owned();
    let text = format!(
        "File sandboxing violation: Path '/etc/passwd' is outside project directory '{root}'. Operation blocked for security."
    );
    for api in APIS {
        let got = scene.ask(api, false, BAD);
        assert_eq!(got.status, 200, "{api} {got:?}");
        assert!(got.body.contains(&text), "{api} {}", got.body);
    }
    let log = scene.log();
    let told = log.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let told: Vec<_> = told.filter(|told| told["details"]["violation"].is_object()).collect();
    assert_eq!(told.len(), 4, "{log}");
    for told in told {
        let violation = &told["details"]["violation"];
        assert_eq!(violation["should_swallow"], true);
        assert_eq!(violation["error_to_model"], text.as_str());
        let metadata = &violation["metadata"];
        assert_eq!(
            (&metadata["decision"], &metadata["path"], &metadata["project_root"]),
            (&"blocked".into(), &"/etc/passwd".into(), &root.as_str().into())
        );
    }
}

#[test]
fn a159_other_calls_survive_and_the_model_gets_the_error_and_goes_on() {
    let scene = Scene::new(World::new(), ON);
    for api in APIS {
        for stream in [false, true] {
            let got = scene.ask(api, stream, &format!("{BAD}\n{GOOD}"));
            assert!(
                has_call(&got.body) && got.body.contains("a.rs"),
                "{api} {stream} {}",
                got.body
            );
            assert!(
                got.body.contains("is outside project directory"),
                "{api} {stream} {}",
                got.body
            );
            assert!(
                !got.body.contains("content\\\":") || !got.body.contains("\\\"/etc/passwd"),
                "{api}"
            );
        }
    }
    drop(scene);
    let world =
        World::new().user_policy("version: 1\ntools: {enabled: true, on_violation: retry}\n");
    let scene = Scene::new(world, &[]);
    for api in APIS {
        for stream in [false, true] {
            let got = scene.ask(api, stream, BAD);
            assert!(
                got.body.contains("I was told: File sandboxing violation"),
                "{api} {stream} {got:?}"
            );
            assert!(!has_call(&got.body), "{api} {stream} {}", got.body);
            // Usage is that of both answers.
            assert!(
                ["15", "20", "30"].iter().any(|sum| got.body.contains(&format!("\": {sum}"))
                    || got.body.contains(&format!("\":{sum}"))),
                "{api} {}",
                got.body
            );
        }
    }
    assert_eq!(scene.metric("palisade_proxy_retries_total"), 8);
}

#[test]
fn a160_four_apis_streaming_or_not_and_no_half_call_reaches_a_client() {
    let scene = Scene::new(World::new(), ON);
    for api in APIS {
        for stream in [false, true] {
            let refused = scene.ask(api, stream, BAD);
            assert_eq!(refused.status, 200, "{api} {stream}");
            assert!(!has_call(&refused.body), "{api} {stream} {}", refused.body);
            assert!(refused.body.contains("I shall try."), "{api} {stream}: text flows on");
            let allowed = scene.ask(api, stream, GOOD);
            let (path, body) = request(api, stream, GOOD);
            let direct = post(&scene.model, &path, &[], body.to_string().as_bytes());
            let number = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "0");
            // The model's own server speaks HTTP/1.1 to a direct client: only events are compared.
            let events = |text: &str| -> Vec<String> {
                let data = text
                    .split(['\n', '\r'])
                    .filter(|line| line.starts_with("data:") || line.starts_with('{'));
                data.map(number).collect()
            };
            assert_eq!(events(&allowed.body), events(&direct.body), "{api} {stream}: as it came");
            assert!(!stream || allowed.head.contains("x-odd: kept as it is"), "{}", allowed.head);
        }
    }
}

#[test]
fn a161_after_three_blocked_attempts_the_turn_ends() {
    let world =
        World::new().user_policy("version: 1\ntools: {enabled: true, on_violation: retry}\n");
    let scene = Scene::new(world, &[]);
    for (at, api) in APIS.into_iter().enumerate() {
        for stream in [false, true] {
            let before = scene.asked().len();
            let got = scene.ask(api, stream, &format!("stubborn\n{BAD}"));
            assert_eq!(scene.asked().len() - before, 3, "{api} {stream} {at}");
            assert!(
                got.body.contains("Three attempts in a row were blocked"),
                "{api} {stream} {}",
                got.body
            );
            assert!(!has_call(&got.body), "{api} {stream} {}", got.body);
            let stop = ["\"stop\"", "\"completed\"", "\"end_turn\"", "\"STOP\""][at];
            assert!(got.body.contains(stop), "{api} {stream} {}", got.body);
        }
    }
    assert_eq!(scene.metric("palisade_proxy_turns_ended_total"), 8);
}

#[test]
fn a162_answers_after_a_retry_are_judged_again() {
    let world =
        World::new().user_policy("version: 1\ntools: {enabled: true, on_violation: retry}\n");
    let scene = Scene::new(world, &[]);
    for api in APIS {
        let got = scene.ask(api, true, &format!("stubborn\n{BAD}"));
        assert!(!has_call(&got.body), "{api} {}", got.body);
    }
    assert_eq!(scene.metric("palisade_proxy_tool_calls_total{decision=\"blocked\"}"), 12);
}

#[test]
fn a163_blocked_allowed_and_invalid_calls_are_counted() {
    let scene = Scene::new(World::new(), ON);
    scene.ask("chat", true, BAD);
    scene.ask("chat", false, &format!("{GOOD}\n{GOOD}"));
    scene.ask("chat", true, "call write_file {\"path\": \"a");
    let calls = |decision: &str| {
        scene.metric(&format!("palisade_proxy_tool_calls_total{{decision=\"{decision}\"}}"))
    };
    assert_eq!((calls("blocked"), calls("allowed"), calls("invalid")), (1, 2, 1));
    assert_eq!(scene.metric("palisade_proxy_requests_total"), 3);
}

#[test]
fn a164_the_documented_lines_are_logged() {
    let scene = Scene::new(World::new(), ON);
    let root = scene.world.project.root().to_str().unwrap().to_owned();
    scene.ask("messages", true, BAD);
    let log = scene.log();
    let lines: Vec<&str> = log.lines().collect();
    for line in [
        format!("File sandboxing handler initialized with project root: {root}"),
        format!("Project root detected: {root}"),
        "File sandboxing violation detected for tool 'write_file'".to_owned(),
    ] {
        assert!(lines.contains(&line.as_str()), "{line} is not in {log}");
    }
}

#[test]
fn a166_where_interception_is_off_nothing_is_touched() {
    let scene = Scene::new(World::new(), &[]);
    for api in APIS {
        for stream in [false, true] {
            let got = scene.ask(api, stream, BAD);
            assert!(has_call(&got.body), "{api} {stream} {}", got.body);
        }
    }
    assert_eq!(scene.metric("palisade_proxy_unjudged_total"), 8);
    assert_eq!(scene.metric("palisade_proxy_tool_calls_total{decision=\"allowed\"}"), 0);
    assert!(scene.log().contains("WARNING: tool calls are not judged"), "{}", scene.log());
}

#[test]
fn a167_an_error_of_ours_refuses_the_call() {
    let world = World::new();
    world.write("below/Cargo.toml", "");
    world.write("below/.palisade/policy.yaml", "version: 1\nno-such-key: 1\n");
    let scene = Scene::new(world, ON);
    let below = scene.world.project.path("below");
    for (root, passes) in [(scene.world.project.root(), true), (below.as_path(), false)] {
        let (path, body) = request("chat", false, GOOD);
        let headers = [("x-palisade-root", root.to_str().unwrap())];
        let got = post(&scene.url, &path, &headers, body.to_string().as_bytes());
        assert_eq!(has_call(&got.body), passes, "{}", got.body);
    }
    assert_eq!(scene.metric("palisade_proxy_tool_calls_total{decision=\"invalid\"}"), 1);
}

const FILE: &str = "sandboxing:\n  enabled: true\n";
const VARIABLE_ON: [(&str, &str); 1] = [("ENABLE_SANDBOXING", "true")];

/// Whether a call is held back by a proxy that is started like this.
fn is_held(file: Option<&str>, options: &[&str], env: &[(&str, &str)], script: &str) -> bool {
    let world = World::new();
    if let Some(file) = file {
        world.write("config/config.yaml", file);
    }
    !has_call(&Scene::with(world, options, env).ask("chat", false, script).body)
}

#[test]
fn a134_the_flag_enables_and_its_value_disables_whatever_the_file_says() {
    assert!(!is_held(None, &[], &[], BAD), "off by default");
    assert!(is_held(None, ON, &[], BAD), "the flag");
    assert!(is_held(Some(FILE), &[], &[], BAD), "the file");
    assert!(!is_held(Some(FILE), &["--enable-sandboxing=false"], &[], BAD), "off beats the file");
}

#[test]
fn a135_the_flag_beats_the_variable_and_that_the_file_on_the_wire() {
    assert!(is_held(None, &[], &VARIABLE_ON, BAD), "the variable alone");
    assert!(is_held(None, ON, &[("ENABLE_SANDBOXING", "false")], BAD), "the flag beats it");
    let off = FILE.replace("true", "false");
    assert!(is_held(Some(&off), &[], &VARIABLE_ON, BAD), "it beats the file");
    assert!(
        !is_held(Some(FILE), &["--enable-sandboxing=false"], &VARIABLE_ON, BAD),
        "off beats both"
    );
}

#[test]
fn a136_strictness_has_a_variable_on_the_wire() {
    let empty = r#"call write_file {"content": "x"}"#;
    assert!(!is_held(None, &[], &VARIABLE_ON, empty), "there is nothing to judge");
    let strict = [("ENABLE_SANDBOXING", "true"), ("SANDBOXING_STRICT_MODE", "true")];
    assert!(is_held(None, &[], &strict, empty), "strict");
    let sibling = r#"call write_file {"path": "../sibling"}"#;
    assert!(is_held(None, &[], &VARIABLE_ON, sibling));
}

#[test]
fn a133_the_section_of_the_configuration_decides() {
    let world = World::new();
    world.write("config/config.yaml", "sandboxing:\n  enabled: true\n  custom_tool_patterns: [deploy_.*]\nlogging: {level: INFO}\n");
    let scene = Scene::new(world, &["--json"]);
    for (script, passes) in [
        (r#"call deploy_all {"path": "/etc/x"}"#, false),
        (r#"call read_file {"path": "/etc/hostname"}"#, true),
        (GOOD, true),
        (BAD, false),
    ] {
        let got = scene.ask("messages", false, script);
        assert_eq!(has_call(&got.body), passes, "{script} {}", got.body);
    }
}

#[test]
fn a144_conversations_have_their_own_roots_within_those_of_the_operator() {
    let world = World::new();
    for folder in ["one", "two", "other"] {
        world.write(&format!("{folder}/Cargo.toml"), "");
    }
    let path = |folder: &str| world.project.path(folder).to_str().unwrap().to_owned();
    let (one, two, other) = (path("one"), path("two"), path("other"));
    let text = format!("version: 1\ntools: {{enabled: true, roots: [\"{one}\", \"{two}\"]}}\n");
    let scene = Scene::new(world.user_policy(&text), &[]);
    let write = |folder: &str| format!("call write_file {{\"path\": \"{folder}/a.rs\"}}");
    let ask = |root: &str, script: &str| {
        let (path, body) = request("chat", false, script);
        post(&scene.url, &path, &[("x-palisade-root", root)], body.to_string().as_bytes())
    };
    assert!(has_call(&ask(&one, &write(&one)).body));
    assert!(!has_call(&ask(&one, &write(&two)).body));
    assert!(has_call(&ask(&two, &write(&two)).body));
    for wide in [other.as_str(), "/", "/etc", &format!("{one}/../other"), "one"] {
        let got = ask(wide, &write(&other));
        assert_eq!(got.status, 403, "{wide} {got:?}");
        assert!(got.body.contains("tools.roots"), "{got:?}");
    }
    // What a client's prompt mentions may choose among them, and widens nothing.
    let told = |folder: &str, script: &str| {
        let system = serde_json::json!({ "role": "system", "content": format!("Working directory: {folder}") });
        let (path, mut body) = request("chat", false, script);
        body["messages"].as_array_mut().unwrap().insert(0, system);
        has_call(&post(&scene.url, &path, &[], body.to_string().as_bytes()).body)
    };
    assert!(told(&two, &write(&two)) && !told(&two, &write(&one)));
    assert!(!told("/", &write("/etc")));
}

#[test]
fn e038_tools_beside_the_shell_are_held_on_the_wire() {
    let scene = Scene::new(World::new(), &["--enable-sandboxing", "--allowed-tools", ".*"]);
    let outside = scene.world.home.root().join("outside");
    let path = outside.to_str().unwrap();
    for (tool, arguments) in [
        ("Write", format!("{{\"file_path\": \"{path}\", \"content\": \"x\"}}")),
        (
            "Edit",
            format!("{{\"file_path\": \"{path}\", \"old_string\": \"a\", \"new_string\": \"b\"}}"),
        ),
        ("NotebookEdit", format!("{{\"notebook_path\": \"{path}\", \"new_source\": \"x\"}}")),
        ("mcp__files__write_file", format!("{{\"path\": \"{path}\"}}")),
        (
            "apply_patch",
            format!(
                "{{\"input\": \"*** Begin Patch\\n*** Add File: {path}\\n+x\\n*** End Patch\\n\"}}"
            ),
        ),
        ("bash", r#"{"command": "echo x > /etc/palisade-outside"}"#.to_owned()),
    ] {
        for api in APIS {
            let got = scene.ask(api, true, &format!("call {tool} {arguments}"));
            assert!(!has_call(&got.body), "{api} {tool} {}", got.body);
        }
    }
    assert!(!fs::exists(&outside).unwrap());
    let inside =
        scene.ask("messages", true, r#"call Write {"file_path": "src/a.rs", "content": "x"}"#);
    assert!(has_call(&inside.body), "{}", inside.body);
}
