//! What a native file may say, and how it is told that it may not.

use super::*;
use crate::policy::{NetworkMode, Preset};

fn anchors() -> Anchors {
    Anchors { root: "/proj/app".into(), home: Some("/home/dev".into()) }
}

fn read(text: &str) -> Result<Document, Vec<Diagnostic>> {
    Document::parse(&Source::new("policy.yaml", text), Layer::User, &anchors())
}

fn problems(text: &str) -> Vec<Diagnostic> {
    read(text).expect_err(text)
}

/// The example of the design, with every part of a policy in it.
const EXAMPLE: &str = r#"
version: 1
preset:  confined
profile: workspace-write
require: full
files:
  write:   [".", "/tmp/build"]
  protect: [".git/hooks", ".git/config"]
  hide:    ["~/.ssh", "~/.aws", "~/.gnupg"]
network:
  mode:  allow-list
  allow: ["github.com", "*.githubusercontent.com", "db.example.com:5432"]
commands:
  deny:  [sudo, mkfs, dd]
  rules:
    - { tool: run_shell_command, args: { command: '^(git|ls|cat|grep) ' }, action: allow }
    - { tool: run_shell_command, action: ask }
limits: { timeout: 30s, output: 64KiB, processes: 256, memory: 4GiB }
env:    { pass: [PATH, HOME, LANG, LC_ALL, TERM] }
tools:  { enabled: true, strict: true }
agents: { codex: { network: { mode: deny-all } } }
tasks:  { fetch-deps: { agent: codex, network: { mode: allow-list, allow: ["example.com"] } } }
"#;

#[test]
fn the_designs_example_is_read_whole() {
    let document = read(EXAMPLE).unwrap();
    assert_eq!(document.policy.preset.value(), Preset::Confined);
    assert_eq!(document.policy.network.allow.values().count(), 3);
    assert_eq!(document.policy.commands.rules.lists()[0].rules.len(), 2);
    assert_eq!(document.agents["codex"].network.mode.value(), NetworkMode::DenyAll);
    assert_eq!(document.tasks["fetch-deps"].agent.as_deref(), Some("codex"));
    let write: Vec<String> =
        document.policy.files.write.values().map(ToString::to_string).collect();
    assert_eq!(write, ["/proj/app", "/tmp/build"], "paths are absolute once read");
    let origin = &document.policy.network.allow.entries()[1].origin;
    assert_eq!(origin.to_string(), "user policy.yaml:12:25");
}

#[test]
fn times_in_which_nothing_can_run_are_refused() {
    let refused = [
        ("limits: { timeout: 0s }", "limits.timeout"),
        ("limits: { timeout: 0 }", "limits.timeout"),
        ("limits: { idle: 0ms }", "limits.idle"),
        ("timeout_seconds: 0", "limits.timeout"),
        ("agents: { codex: { limits: { timeout: 0s } } }", "limits.timeout"),
        ("tasks: { build: { agent: codex, limits: { idle: 0s } } }", "limits.idle"),
    ];
    for (text, key) in refused {
        let found = problems(text);
        assert_eq!((found.len(), found[0].code()), (1, "no-time"), "{text}");
        assert!(found[0].to_string().contains(&format!("`{key}` leaves no time")), "{text}");
    }
    for text in ["limits: { timeout: 1ns, idle: none }", "confirm: { timeout: 0s }"] {
        assert!(read(text).is_ok(), "{text}");
    }
}

#[test]
fn json_says_the_same_as_yaml() {
    let source = Source::new(
        "p.json",
        r#"{"limits": {"timeout": "30s", "output": 65536}, "preset": "runner"}"#,
    );
    let json = Document::parse(&source, Layer::User, &anchors()).unwrap();
    let yaml = read("limits: { timeout: 30s, output: 64KiB }\npreset: runner\n").unwrap();
    assert_eq!(json.policy.limits.timeout.value(), yaml.policy.limits.timeout.value());
    assert_eq!(json.policy.limits.output.value(), yaml.policy.limits.output.value());
}

#[test]
fn a172_the_five_names_of_the_sandbox_runner_are_read() {
    let text = "
project_root: /proj/other
max_output_bytes: 1024
timeout_seconds: 2.5
denylist: [rm, sudo]
interpreter_block: [python3]
commands: { shell: never }
";
    let document = read(text).unwrap();
    let policy = &document.policy;
    assert_eq!(document.root.unwrap().value.to_string(), "/proj/other");
    assert_eq!(policy.limits.output.value().0, Some("1KiB".parse().unwrap()));
    assert_eq!(policy.limits.timeout.value().0, Some("2500ms".parse().unwrap()));
    let names = |list: &Refusals<crate::name::CommandName>| {
        list.values().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(names(&policy.commands.deny), ["rm", "sudo"], "also when the section follows");
    assert_eq!(names(&policy.commands.interpreters), ["python3"]);
    for (alias, native) in [
        ("project_root: /a", "root: /a"),
        ("max_output_bytes: 1", "limits: { output: 1KiB }"),
        ("timeout_seconds: 1", "limits: { timeout: 1s }"),
        ("denylist: [rm]", "commands: { deny: [rm] }"),
        ("interpreter_block: [sh]", "commands: { interpreters: [sh] }"),
    ] {
        assert_eq!(problems(&format!("{alias}\n{native}\n"))[0].code(), "alias-and-key", "{alias}");
    }
    for wrong in [
        "max_output_bytes: 1.5",
        "max_output_bytes: -1",
        "timeout_seconds: soon",
        "timeout_seconds: -1",
        "denylist: rm",
    ] {
        assert_eq!(problems(wrong)[0].code(), "wrong-type", "{wrong}");
    }
}

#[test]
fn a200_unknown_keys_are_errors_in_native_files_at_every_level() {
    #[rustfmt::skip]
    let cases = [
        // text                                        line, column  hint
        ("netwrok: {}\n",                              (1, 1),  Some("did you mean `network`?")),
        ("version: 1\nfiles: { wirte: [] }\n",         (2, 10), Some("did you mean `write`?")),
        ("limits:\n  timeuot: 3s\n",                   (2, 3),  Some("did you mean `timeout`?")),
        ("network: { budget: { uplaod: 1KiB } }\n",    (1, 22), Some("did you mean `upload`?")),
        ("agents: { codex: { filez: {} } }\n",         (1, 20), Some("did you mean `files`?")),
        ("agents: { codex: { root: /x } }\n",          (1, 20), None),
        ("tasks: { t: { agnet: x } }\n",               (1, 15), Some("did you mean `agent`?")),
        ("commands: { rules: [{ tool: x, action: deny, actoin: ask }] }\n", (1, 46), Some("did you mean `action`?")),
        ("sandboxing: { enabled: true }\n",            (1, 1),  None),
        ("files:\nhide: [a]\n",                        (2, 1),  Some("`hide` belongs to `files`: indent it below that")),
        ("agents: { codex: { version: 1 } }\n",        (1, 20), None),
    ];
    for (text, (line, column), hint) in cases {
        let found = problems(text);
        let problem = found.iter().find(|problem| problem.code() == "unknown-key").expect(text);
        assert_eq!(problem.place(), Some(text::Place { line, column }), "{problem}");
        if let Some(hint) = hint {
            assert_eq!(problem.advice(), Some(hint), "{problem}");
        }
    }
}

#[test]
fn wrong_values_are_told_with_their_place() {
    #[rustfmt::skip]
    let cases = [
        // text                                            code                        line
        ("version: 2",                                     "version",                  1),
        ("version: '1'",                                   "version",                  1),
        ("[]",                                             "wrong-type",               1),
        ("files:",                                         "wrong-type",               1),
        ("files: [a]",                                     "wrong-type",               1),
        ("files: { write: . }",                            "wrong-type",               1),
        ("files: { write: [1] }",                          "wrong-type",               1),
        ("files: { write: [null] }",                       "wrong-type",               1),
        ("files: { write: ['*.rs'] }",                     "wildcard-not-enforceable", 1),
        ("limits: { timeout: true }",                      "wrong-type",               1),
        ("limits: { processes: -1 }",                      "wrong-type",               1),
        ("limits: { processes: 1.5 }",                     "wrong-type",               1),
        ("network: { mode: open }",                        "unknown-word",             1),
        ("network: { strict: 1 }",                         "wrong-type",               1),
        ("network: { strict: yes }",                       "wrong-type",               1),
        ("network:\n  http_rules:\n  - { host: a.test }",  "missing-key",              3),
        ("network: { http_rules: [{ host: a.test, action: allow, methods: [get] }] }", "wrong-type", 1),
        ("profile: readonyl",                              "unknown-profile",          1),
        ("commands: { rules: [{ action: deny }] }",        "missing-key",              1),
        ("commands: { rules: [{ tool: x }] }",             "missing-key",              1),
        ("env: { set: { A=B: x } }",                       "env-value",                1),
        ("env: { set: { A: 1 } }",                         "wrong-type",               1),
        ("confirm: { backend: 'program:relative' }",       "backend",                  1),
        ("confirm: { backend: 'webhook:ftp://a.test' }",   "endpoint",                 1),
        ("audit: { otlp: 'https://u:p@a.test/' }",         "endpoint",                 1),
        ("audit: { otlp: 'https://a.test:99999/' }",       "endpoint",                 1),
        ("tools: { allow_parent: 9 }",                     "wrong-type",               1),
        ("wrapper: run",                                   "wrong-type",               1),
    ];
    for (text, code, line) in cases {
        let problem = &problems(text)[0];
        assert_eq!(problem.code(), code, "{text}\n{problem}");
        assert_eq!(problem.place().map(|place| place.line), Some(line), "{text}\n{problem}");
    }
}

#[test]
fn every_problem_of_a_file_is_told_at_once_in_the_order_of_the_text() {
    let found = problems(
        "presett: x\nlimits: { timeout: 30 }\nnetwork: { allow: ['*', https://a.test] }\n",
    );
    let lines: Vec<u32> =
        found.iter().filter_map(Diagnostic::place).map(|place| place.line).collect();
    assert_eq!(lines, [1, 2, 3, 3]);
}

#[test]
fn a_rule_tests_itself_with_its_examples() {
    let rule = |examples: &str| {
        format!(
            "commands:\n  rules:\n  - tool: sh\n    args: {{ command: '^git ' }}\n    action: allow\n    {examples}\n"
        )
    };
    assert!(read(&rule("match: [git status]")).is_ok());
    assert!(read(&rule("not_match: [rm x]")).is_ok());
    assert_eq!(problems(&rule("match: [rm x]"))[0].code(), "example");
    assert_eq!(problems(&rule("not_match: [git status]"))[0].code(), "example");
    let host = |examples: &str| {
        format!(
            "commands: {{ rules: [{{ tool: x, domain: {{ hosts: [.example.com] }}, action: deny, {examples} }}] }}"
        )
    };
    assert!(read(&host("match: ['https://a.example.com/b', 'EXAMPLE.com']")).is_ok());
    assert!(read(&host("not_match: ['https://example.com.test/']")).is_ok());
    assert_eq!(problems(&host("match: ['https://notexample.com/']"))[0].code(), "example");
}

#[test]
fn an_error_shows_the_line_and_what_was_expected() {
    let found = problems("version: 1\nnetwork:\n  mode: allowlist\n");
    insta::assert_snapshot!(found[0], @r"
    error[unknown-word]: `allowlist` is none of deny-all, allow-list, monitor, disabled
      --> policy.yaml:3:9
       |
     3 |   mode: allowlist
       |         ^^^^^^^^^

    hint: did you mean `allow-list`?
    ");
}

#[test]
fn the_schema_knows_every_key_that_the_reader_knows() {
    let schema = schema();
    let document = read(EXAMPLE).unwrap();
    let mut rows = Vec::new();
    document.policy.rows("", &mut rows);
    for row in rows {
        let mut parts = row.key.split('.');
        let known = parts.try_fold(&schema, |schema, part| schema.get("properties")?.get(part));
        assert!(known.is_some_and(|key| key.get("description").is_some()), "{}", row.key);
    }
}

#[test]
fn a_stranger_cannot_keep_us_busy() {
    let heavy = |item: &str, n: usize| vec![item; n].join(", ");
    #[rustfmt::skip]
    let cases = [
        // text                                                                         code
        (format!("tools: {{ patterns: [{}] }}", heavy("'\\pL{80}'", 3_000)),              "regex"),
        (format!("tools: {{ patterns: [{}] }}", heavy("'a.*b{2}'", 3_000)),             "too-many-regexes"),
        (format!("commands: {{ rules: [{{ tool: x, action: deny, args: {{ command: '^(a+)+(?=b)$' }}, not_match: [{}] }}] }}",
            heavy(&"a".repeat(60), 3_000)),                                             "example"),
        (format!("network: {{ allow: [{}] }}", heavy("'*'", 20_000)),                   "host-everything"),
    ];
    for (text, code) in cases {
        let found = problems(&text);
        assert!(found.iter().any(|problem| problem.code() == code), "{code}: {}", found[0]);
        assert!(found.len() <= 50, "{code}: {} problems", found.len());
    }
    let many: Vec<String> = (0..60_000).map(|n| format!("/a{n}")).collect();
    let document = read(&format!("files: {{ hide: [{}] }}", many.join(", "))).unwrap();
    let mut rows = Vec::new();
    document.policy.rows("", &mut rows);
    assert_eq!(rows.iter().find(|row| row.key == "files.hide").unwrap().values.len(), 60_000);
}
