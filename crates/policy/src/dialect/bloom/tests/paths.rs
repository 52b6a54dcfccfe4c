//! What may be written, and what cannot be read.

use super::*;

const WITH_BASE: &str = "sandbox: { enabled: true, writablePaths: [/base] }\n";

fn writes(readings: &[Reading], agent: &str, task: &str) -> Vec<String> {
    shown(&resolved(readings, agent, task), "files.write")
}

fn is_protected(readings: &[Reading], agent: &str, task: &str) -> bool {
    let policy = resolved(readings, agent, task).policy;
    policy.files.protect.values().any(|path| path.matches("/proj/app/src".as_ref()))
}

#[test]
fn a101_writable_paths_add_to_the_workspace() {
    #[rustfmt::skip]
    let cases: [(&str, &[&str], &str); 7] = [
        ("",                                             &["/proj/app"],                  "the workspace alone"),
        (", writablePaths: []",                          &["/proj/app"],                  "an empty list adds nothing"),
        (", writablePaths: [/tmp/build, ~/.cache/x]",    &["/proj/app", "/tmp/build", "/home/dev/.cache/x"], "absolute and home paths"),
        (", writablePaths: [/tmp/build/**]",             &["/proj/app", "/tmp/build"],    "the folder itself"),
        (", workspaceWritable: true",                    &["/proj/app"],                  "as by default"),
        (", workspaceWritable: false",                   &[],                             "nothing at all"),
        (", workspaceWritable: false, writablePaths: [/tmp/b]", &["/tmp/b"],              "only the paths"),
    ];
    for (text, expected, because) in cases {
        let text = format!("agent: {{ claude: {{ sandbox: {{ enabled: true{text} }} }} }}");
        let reading = config(&text);
        assert_eq!(codes(&reading), [""; 0], "{text}");
        assert_eq!(writes(&[reading], "claude", ""), expected, "{text}: {because}");
    }
    for refused in ["/tmp/*", "~other/x", "''", "null", "7"] {
        let text = format!("sandbox: {{ enabled: true, writablePaths: [{refused}] }}");
        let problems = try_read(&[(CONFIG, Layer::User, &text)], &[]).unwrap_err();
        assert_eq!(problems.len(), 1, "{refused}");
    }
}

#[test]
fn a101_relative_paths_start_at_the_project_and_say_so() {
    let text = "sandbox: { enabled: true, writablePaths: [out], denyReadPaths: [~/.ssh, ~/.aws, ~/.gnupg, keys] }";
    let reading = config(text);
    assert_eq!(codes(&reading), ["relative-path"; 2]);
    let resolved = resolved(&[reading], "", "");
    assert_eq!(shown(&resolved, "files.write"), ["/proj/app", "/proj/app/out"]);
    assert!(hides(&resolved, "/proj/app/keys") && !hides(&resolved, "/keys"));
}

#[test]
fn the_workspace_is_closed_and_opened_by_the_section_that_stands_highest() {
    #[rustfmt::skip]
    let cases: [(&str, &str, &[&str], bool, &str); 6] = [
        // agent                                          task                               writes                     closed
        ("",                                              "workspaceWritable: false",        &["/proj/app"],            true,  "opened below"),
        ("workspaceWritable: false",                      "",                                &[],                       false, "never opened"),
        ("workspaceWritable: false",                      "writablePaths: [/t]",             &["/t"],                   false, "a task's path opens no workspace"),
        ("workspaceWritable: false",                      "workspaceWritable: true",         &["/proj/app"],            false, "the task's word counts"),
        ("writablePaths: [/a]",                           "writablePaths: [/t]",             &["/proj/app", "/a", "/t"], false, "lists are combined"),
        ("",                                              "writablePaths: [/proj/app/out], workspaceWritable: false", &["/proj/app", "/proj/app/out"], true, "and what lies in it with it"),
    ];
    for (agent, task, expected, closed, because) in cases {
        let agent = format!("agent: {{ claude: {{ sandbox: {{ enabled: true, {agent} }} }} }}");
        let task = format!("tasks: {{ t: {{ agent: claude, sandbox: {{ {task} }} }} }}");
        let readings =
            readings(&[(CONFIG, Layer::User, &agent), (TASKS, Layer::CommandLine, &task)]);
        assert_eq!(writes(&readings, "", "t"), expected, "{agent} {task}: {because}");
        assert_eq!(is_protected(&readings, "", "t"), closed, "{agent} {task}: {because}");
    }
    // Everyone's is open, the agent's is closed, and the task cannot open it any more.
    let agent =
        format!("{WITH_BASE}agent: {{ claude: {{ sandbox: {{ workspaceWritable: false }} }} }}");
    let task = "tasks: { t: { agent: claude, sandbox: { workspaceWritable: true } } }";
    let readings = readings(&[(CONFIG, Layer::User, &agent), (TASKS, Layer::CommandLine, task)]);
    assert!(is_protected(&readings, "", "t"));
    assert_eq!(codes(&readings[1]), ["workspace-closed"]);
}

#[test]
fn a102_three_credential_folders_are_hidden_by_default() {
    let text = "agent: { claude: { sandbox: { enabled: true } } }";
    let reading = config(text);
    let hidden: Vec<String> =
        reading.document.agents["claude"].files.hide.values().map(ToString::to_string).collect();
    assert_eq!(hidden, ["/home/dev/.ssh", "/home/dev/.aws", "/home/dev/.gnupg"]);
    // They are said, not just left to what Palisade brings: a file of the same rank cannot lift them.
    let lifted = [(Layer::User, "version: 1\nfiles: { unhide: [~/.ssh, ~/.kube] }")];
    let resolved = resolved_beside(&[reading], &lifted, "claude", "");
    #[rustfmt::skip]
    let cases = [
        ("/home/dev/.ssh/id_ed25519", true,  "a default"),
        ("/home/dev/.aws/credentials", true, "a default"),
        ("/home/dev/.gnupg",          true,  "a default"),
        ("/home/dev/.netrc",          true,  "Palisade's own list stays"),
        ("/home/dev/.kube/config",    false, "the user lifted that one"),
        ("/home/dev/.sshd",           false, "another name"),
        ("/proj/app/.ssh",            false, "another place"),
    ];
    for (path, expected, because) in cases {
        assert_eq!(hides(&resolved, path), expected, "{path}: {because}");
    }
}

#[test]
fn a196_an_explicit_list_replaces_the_default_and_names_what_is_dropped() {
    #[rustfmt::skip]
    let cases: [(&str, &[&str], &str); 6] = [
        // list                              readable                  because
        ("~/.ssh, ~/.aws, ~/.gnupg, /x",     &[],                      "nothing is dropped"),
        ("~/.ssh, /x",                       &["~/.aws", "~/.gnupg"],  "two are dropped"),
        ("/x",                               &["~/.ssh", "~/.aws", "~/.gnupg"], "all are"),
        ("",                                 &["~/.ssh", "~/.aws", "~/.gnupg"], "an empty list is a list"),
        ("/home/dev, /x",                    &[],                      "they lie in what is denied"),
        ("~/.ssh/id_rsa, ~/.aws/**, ~/.gnupg", &["~/.ssh"],            "one file is not the folder"),
    ];
    for (list, readable, because) in cases {
        let text = format!(
            "agent: {{ claude: {{ sandbox: {{ enabled: true, denyReadPaths: [{list}] }} }} }}"
        );
        let reading = config(&text);
        let note = reading.notes.first().map_or("", Diagnostic::message);
        assert_eq!(reading.notes.is_empty(), readable.is_empty(), "{list}: {note}");
        assert!(readable.iter().all(|name| note.contains(name)), "{list}: {note}");
        let resolved = resolved(&[reading], "claude", "");
        for name in ["~/.ssh", "~/.aws", "~/.gnupg"] {
            let path = name.replace('~', "/home/dev");
            assert_eq!(
                hides(&resolved, &path),
                !readable.contains(&name),
                "{list}: {name}: {because}"
            );
        }
        assert!(hides(&resolved, "/home/dev/.netrc"), "{list}: the rest of our own list stays");
        assert_eq!(hides(&resolved, "/x"), list.contains("/x"), "{list}");
    }
}

#[test]
fn a196_a_replaced_default_lifts_no_other_file_s_word() {
    let text = "sandbox: { enabled: true, denyReadPaths: [/x] }";
    let hide = "version: 1\nfiles: { hide: [~/.ssh] }";
    for (bloom, native) in [
        (Layer::User, Layer::System),
        (Layer::User, Layer::User),
        (Layer::CommandLine, Layer::User),
        (Layer::CommandLine, Layer::System),
    ] {
        let readings = readings(&[("x.yaml", bloom, text)]);
        let resolved = resolved_beside(&readings, &[(native, hide)], "", "");
        assert!(hides(&resolved, "/home/dev/.ssh"), "{bloom} over {native}");
        assert!(!hides(&resolved, "/home/dev/.aws"), "{bloom} over {native}");
    }
    // A project that nobody trusted takes nothing off, and is told so.
    let readings = readings(&[("/proj/app/.bloom/config.yaml", Layer::Project, text)]);
    let resolved = resolved(&readings, "", "");
    assert!(hides(&resolved, "/home/dev/.ssh") && hides(&resolved, "/x"));
    let ignored: Vec<&str> = resolved.ignored.iter().map(|part| &*part.key).collect();
    assert_eq!(ignored, ["files.unhide"; 3]);
}

#[test]
fn a196_lists_of_agent_and_task_are_combined() {
    let tasks = "tasks: { t: { agent: claude, sandbox: { denyReadPaths: [/task] } } }";
    #[rustfmt::skip]
    let cases = [
        // agent's list                 ssh    agent  because
        ("",                            true,  false, "the default and the task's"),
        (", denyReadPaths: [/agent]",   false, true,  "the agent's replaced the default, and the task adds"),
    ];
    for (list, ssh, agent, because) in cases {
        let text = format!("agent: {{ claude: {{ sandbox: {{ enabled: true{list} }} }} }}");
        let readings =
            readings(&[(CONFIG, Layer::User, &text), (TASKS, Layer::CommandLine, tasks)]);
        assert_eq!(codes(&readings[1]), [""; 0], "a task drops nothing");
        let resolved = resolved(&readings, "", "t");
        assert_eq!(hides(&resolved, "/home/dev/.ssh"), ssh, "{because}");
        assert_eq!(hides(&resolved, "/agent"), agent, "{because}");
        assert!(hides(&resolved, "/task"), "{because}");
    }
}

#[test]
fn workspaces_that_a_file_names_are_hidden_from_the_other_agents() {
    let agent = |name: &str, path: &str| {
        format!("  {name}: {{ sandbox: {{ enabled: true, workspacePath: {path} }} }}\n")
    };
    let two = format!("agent:\n{}{}", agent("claude", "/w/one"), agent("codex", "/w/two"));
    for (name, own, other) in
        [("claude", "/w/one/f", "/w/two/f"), ("codex", "/w/two/f", "/w/one/f")]
    {
        let resolved = of_config(&two, name);
        assert!(hides(&resolved, other) && !hides(&resolved, own), "{name}");
    }
    assert!(!hides(&of_config(&two, "goose"), "/w/one/f"), "nobody said where it works");
    let one = format!("agent:\n{}", agent("claude", "/w/one"));
    assert!(!hides(&of_config(&one, "claude"), "/w/one/f"), "its own");
    // Neither could be kept from the other.
    let nested = format!("agent:\n{}{}", agent("claude", "/w"), agent("codex", "/w/two"));
    let problems = try_read(&[(CONFIG, Layer::User, &nested)], &[]).unwrap_err();
    assert_eq!(problems[0].code(), "workspaces-overlap");
}
