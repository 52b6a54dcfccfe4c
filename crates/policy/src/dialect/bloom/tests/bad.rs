//! What bad input gets: one clear error, and nothing is used.

use super::*;

#[test]
fn bad_files_are_refused_with_a_place_and_the_field() {
    #[rustfmt::skip]
    let cases = [
        // text                                             code             in the message
        ("",                                                "empty",         "empty"),
        ("   \n",                                           "empty",         "empty"),
        ("[]",                                              "wrong-type",    "a map"),
        ("sandbox",                                         "wrong-type",    "a map"),
        ("sandbox: [",                                      "yaml",          ""),
        ("sandbox: {}\nsandbox: {}",                        "duplicate-key", "sandbox"),
        ("sandbox:",                                        "wrong-type",    "`sandbox`"),
        ("sandbox: true",                                   "wrong-type",    "`sandbox`"),
        ("sandbox: []",                                     "wrong-type",    "`sandbox`"),
        ("agent:",                                          "wrong-type",    "`agent`"),
        ("agent: claude",                                   "wrong-type",    "`agent`"),
        ("agent: [claude]",                                 "wrong-type",    "`agent`"),
        ("agent: { claude: on }",                           "wrong-type",    "`agent.claude`"),
        ("agent: { claude: { sandbox: yes } }",             "wrong-type",    "`sandbox`"),
        ("agent: { \" \": { sandbox: {} } }",               "name",          "no name"),
        ("sandbox: { enabled: 'true' }",                    "wrong-type",    "`enabled`"),
        ("sandbox: { enabled: 1 }",                         "wrong-type",    "`enabled`"),
        ("sandbox: { enabled: }",                           "wrong-type",    "`enabled`"),
        ("sandbox: { networkPolicy: [deny-all] }",          "wrong-type",    "`networkPolicy`"),
        ("sandbox: { networkPolicy: false }",               "wrong-type",    "`networkPolicy`"),
        ("sandbox: { networkPolicy: open }",                "unknown-word",  "`open`"),
        ("sandbox: { allowedDomains: a.example.com }",      "wrong-type",    "`allowedDomains`"),
        ("sandbox: { allowedDomains: [7] }",                "wrong-type",    "`allowedDomains`"),
        ("sandbox: { allowedDomains: }",                    "wrong-type",    "`allowedDomains`"),
        ("sandbox: { writablePaths: /tmp }",                "wrong-type",    "`writablePaths`"),
        ("sandbox: { writablePaths: [[/tmp]] }",            "wrong-type",    "`writablePaths`"),
        ("sandbox: { denyReadPaths: ~/.ssh }",              "wrong-type",    "`denyReadPaths`"),
        ("sandbox: { denyReadPaths: [~] }",                 "wrong-type",    "`denyReadPaths`"),
        ("sandbox: { denyReadPaths: ['/**/x'] }",           "path-reach",    "whole disk"),
        ("sandbox: { denyReadPaths: ['/a/[b'] }",           "path-glob",     ""),
        ("sandbox: { processLimit: many }",                 "wrong-type",    "`processLimit`"),
        ("sandbox: { processLimit: -1 }",                   "wrong-type",    "`processLimit`"),
        ("sandbox: { processLimit: 1.5 }",                  "wrong-type",    "`processLimit`"),
        ("sandbox: { processLimit: 99999999999999999999 }", "wrong-type",    "`processLimit`"),
        ("sandbox: { workspaceWritable: no }",              "wrong-type",    "`workspaceWritable`"),
        ("sandbox: { enableWeakerNestedSandbox: maybe }",   "wrong-type",    "`enableWeakerNestedSandbox`"),
        ("tasks: later",                                    "wrong-type",    "`tasks`"),
        ("tasks: [later]",                                  "wrong-type",    "`tasks`"),
        ("tasks: { t: later }",                             "wrong-type",    "`tasks`"),
        ("tasks: [{ sandbox: {} }]",                        "name",          "no name"),
        ("tasks: [{ id: [], sandbox: {} }]",                "name",          "no name"),
        ("tasks: [{ id: a }, { id: a }]",                   "duplicate-task", "`a`"),
        ("tasks: [{ id: a, subtasks: [{ id: a }] }]",       "duplicate-task", "`a`"),
        ("tasks: [{ id: a, sandbox: off }]",                "wrong-type",    "`sandbox`"),
        ("tasks: [{ id: a, agent_name: [b] }]",             "wrong-type",    "`agent_name`"),
        ("tasks: [{ id: a, agent_name: b, agent: c }]",     "two-agents",    "two agents"),
    ];
    for (text, code, part) in cases {
        let problems = try_read(&[(CONFIG, Layer::User, text)], &[]).expect_err(text);
        let errors: Vec<&Diagnostic> =
            problems.iter().filter(|problem| problem.severity() == Severity::Error).collect();
        assert_eq!(errors.len(), 1, "{text}: {errors:?}");
        assert!(code == "path-glob" || errors[0].code() == code, "{text}: {}", errors[0]);
        assert!(errors[0].message().contains(part), "{text}: {}", errors[0]);
        assert!(code == "empty" || errors[0].place().is_some(), "{text}: {}", errors[0]);
    }
}

#[test]
fn one_bad_file_among_several_is_enough() {
    let texts = [
        (CONFIG, Layer::User, "sandbox: { enabled: true }"),
        (TASKS, Layer::Project, "tasks: [{ id: t, sandbox: { networkPolicy: open } }]"),
    ];
    let problems = try_read(&texts, &[]).unwrap_err();
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].file(), TASKS);
}

#[test]
fn what_means_nothing_here_is_noted() {
    #[rustfmt::skip]
    let cases = [
        ("sandbox: { enabled: true, enableWeakerNestedSandbox: true }",  "no-effect"),
        ("sandbox: { enabled: true, enableWeakerNestedSandbox: false }", ""),
        ("sandbox: { enabled: true, workspacePath: /elsewhere }",        "no-effect"),
        ("sandbox: { enabled: true, colour: red }",                      "unknown-key"),
        ("sandbox: { enabled: true }\ncolour: red",                      ""),
        ("sandbox: { enabled: true }\nagent: { claude: { colour: red } }", ""),
        ("tasks:",                                                       ""),
        ("tasks: [{ colour: red }, { id: 7 }]",                          ""),
        ("agent: claude\ntasks: []",                                     ""),
    ];
    for (text, code) in cases {
        assert_eq!(codes(&config(text)).concat(), code, "{text}");
    }
}

#[test]
fn without_a_home_there_is_nothing_to_hide_by_default_and_no_other_home_path() {
    let anchors = Anchors { root: "/proj/app".into(), home: None };
    let attempt = |anchors: &Anchors, text: &str| {
        let source = Source::new(CONFIG, text);
        let input = Input { source: &source, layer: Layer::User };
        within(&[], |around| read(&[input], &Surroundings { anchors, ..*around }))
    };
    assert!(attempt(&anchors, "sandbox: { enabled: true }").is_ok());
    let problems = attempt(&anchors, "sandbox: { denyReadPaths: [~/.ssh] }").unwrap_err();
    assert_eq!(problems[0].code(), "path-home");
    let nowhere = Anchors { root: "relative".into(), home: None };
    let problems = attempt(&nowhere, "sandbox: { enabled: true }").unwrap_err();
    assert_eq!(problems[0].code(), "path-anchor");
}
