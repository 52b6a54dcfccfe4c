//! On, off, and who says so.

use super::*;
use crate::policy::Require;

fn is_confined(resolved: &Resolved) -> bool {
    assert_eq!(resolved.unconfined.is_some(), resolved.policy.require.value() == Require::None);
    resolved.unconfined.is_none()
}

#[test]
fn a089_the_sandbox_is_off_until_it_is_enabled() {
    #[rustfmt::skip]
    let cases = [
        // text                                                                           agent     confined because
        ("agent: { claude: { sandbox: { enabled: true } } }",                              "claude", true,  "as written"),
        ("sandbox: { enabled: true }",                                                     "claude", true,  "for everyone"),
        ("sandbox: { enabled: true }\nagent: { claude: { sandbox: {} } }",                 "claude", true,  "inherited"),
        ("agent: { claude: { sandbox: { enabled: false } } }",                             "claude", false, "as written"),
        ("agent: { claude: { sandbox: { networkPolicy: deny-all } } }",                    "claude", false, "the default"),
        ("agent: { claude: { sandbox: { enabled: true } } }",                              "codex",  true,  "no entry: what else holds, holds"),
        ("agent: { claude: { sandbox: { enabled: true } } }",                              "",       true,  "nobody in particular"),
        ("sandbox: { enabled: true }\nagent: { claude: { sandbox: { enabled: false } } }", "claude", false, "the agent's own word"),
        ("sandbox: { networkPolicy: deny-all }",                                           "claude", false, "the default"),
        ("ui: { theme: dark }",                                                            "claude", true,  "nothing is said"),
    ];
    for (text, agent, confined, because) in cases {
        let reading = config(text);
        let alone = resolved(std::slice::from_ref(&reading), agent, "");
        assert_eq!(is_confined(&alone), confined, "{text}: {because}");
        let native = [(Layer::User, "version: 1\nnetwork: { mode: deny-all }")];
        assert!(
            is_confined(&resolved_beside(std::slice::from_ref(&reading), &native, agent, "")),
            "{text}"
        );
        // A project that says so switches nothing off.
        let project = Reading { layer: Layer::Project, ..reading };
        assert!(is_confined(&resolved(&[project], agent, "")), "{text}");
    }
}

#[test]
fn a089_a_section_that_counts_for_nothing_says_so() {
    #[rustfmt::skip]
    let cases: [(&str, &[&str]); 5] = [
        ("agent: { claude: { sandbox: { networkPolicy: deny-all } } }", &["off-by-default"]),
        ("sandbox: { networkPolicy: deny-all }", &["off-by-default"]),
        ("ui: { theme: dark }", &["no-section"]),
        ("sandbox: { enabled: true }\nagent: { claude: { sandbox: {} } }", &[]),
        ("sandbox: { enabled: false }", &[]),
    ];
    for (text, expected) in cases {
        assert_eq!(codes(&config(text)), expected, "{text}");
    }
}

#[test]
fn a110_a_task_is_let_out_only_where_nothing_confines() {
    let agents = "agent: { claude: { sandbox: { enabled: true, networkPolicy: disabled } } }";
    let off = "tasks: [{ id: t, agent_name: claude, sandbox: { enabled: false } }]";
    let on = "tasks: [{ id: t, agent_name: codex, sandbox: { enabled: true } }]";
    let with = |layer, tasks, native: &[(Layer, &str)]| {
        let readings = readings(&[(CONFIG, Layer::User, agents), (TASKS, layer, tasks)]);
        // The agent that a project names for its task counts only once the project is trusted.
        let agent = if layer == Layer::Project { "claude" } else { "" };
        resolved_beside(&readings, native, agent, "t")
    };
    let let_out = with(Layer::CommandLine, off, &[]);
    assert!(!is_confined(&let_out), "a person named the file, and nothing else speaks");
    let origin = let_out.unconfined.unwrap().to_string();
    assert_eq!(origin, format!("command line {TASKS}:1:58 (task t)"));
    assert!(is_confined(&with(Layer::CommandLine, on, &[])), "a task may be put in");
    assert_eq!(shown(&with(Layer::CommandLine, on, &[]), "network.mode"), ["deny-all"]);

    let required = [(Layer::System, "version: 1\nrequire: full")];
    assert!(
        is_confined(&with(Layer::CommandLine, off, &required)),
        "the administrator requires it"
    );
    let required = [(Layer::User, "version: 1\nrequire: landlock")];
    assert!(is_confined(&with(Layer::CommandLine, off, &required)), "the user requires it");
    assert!(is_confined(&with(Layer::Project, off, &[])), "a project lets nobody out");
    let alone = readings(&[(TASKS, Layer::Project, off)]);
    assert!(is_confined(&resolved(&alone, "", "t")), "not even alone");
    let administrator =
        readings(&[("/etc/bloom.yaml", Layer::System, agents), (TASKS, Layer::CommandLine, off)]);
    assert!(is_confined(&resolved(&administrator, "", "t")), "nobody speaks for the administrator");
}

#[test]
fn a111_the_variable_switches_bloom_s_files_off_loudly_and_nothing_else() {
    let text = "agent: { claude: { sandbox: { enabled: true } } }";
    let tasks = "tasks: { t: { agent: claude, sandbox: { enabled: true } } }";
    let with = |value: &str, layer| {
        let texts = [(CONFIG, layer, text), (TASKS, Layer::CommandLine, tasks)];
        try_read(&texts, &[("BLOOM_SANDBOX_DISABLED", value)]).unwrap()
    };
    let readings = with("1", Layer::User);
    assert_eq!(codes(&readings[0]), ["disabled"]);
    assert!(readings[0].notes[0].message().contains("BLOOM_SANDBOX_DISABLED=1"));
    for (agent, task) in [("claude", ""), ("codex", ""), ("", ""), ("", "t")] {
        let off = resolved(&readings, agent, task);
        assert!(!is_confined(&off), "{agent} {task}");
        let origin = off.unconfined.unwrap().to_string();
        assert_eq!(origin, "environment BLOOM_SANDBOX_DISABLED");
        let required = [(Layer::User, "version: 1\nrequire: full")];
        assert!(is_confined(&resolved_beside(&readings, &required, agent, task)));
    }
    assert!(
        is_confined(&resolved(&with("1", Layer::System), "claude", "")),
        "not the administrator's"
    );
    for (value, notes) in [("", 0), ("0", 0), ("true", 1), ("yes", 1), ("11", 1), (" 1", 1)] {
        let readings = with(value, Layer::User);
        assert!(is_confined(&resolved(&readings, "claude", "")), "{value:?}");
        assert_eq!(codes(&readings[0]), vec!["variable"; notes], "{value:?}");
    }
}

#[test]
fn a111_verbose_decisions_are_asked_for_by_a_note() {
    let text = [(CONFIG, Layer::User, "sandbox: { enabled: true }")];
    for (value, expected) in [("1", vec!["verbose"]), ("0", vec![]), ("loud", vec!["variable"])] {
        let readings = try_read(&text, &[("BLOOM_SANDBOX_VERBOSE", value)]).unwrap();
        assert_eq!(codes(&readings[0]), expected);
        assert!(is_confined(&resolved(&readings, "", "")));
    }
    assert_eq!(try_read(&[], &[("BLOOM_SANDBOX_VERBOSE", "1")]), Ok(Vec::new()));
}

#[test]
fn one_file_switches_on_what_another_restricts() {
    // The stronger file leaves the switch alone; its restriction must not get lost.
    let readings = readings(&[
        (
            CONFIG,
            Layer::User,
            "agent: { claude: { sandbox: { enabled: true, networkPolicy: disabled } } }",
        ),
        (
            "more.yaml",
            Layer::CommandLine,
            "agent: { claude: { sandbox: { networkPolicy: deny-all } } }",
        ),
    ]);
    let resolved = resolved(&readings, "claude", "");
    assert!(is_confined(&resolved));
    assert_eq!(shown(&resolved, "network.mode"), ["deny-all"]);
}
