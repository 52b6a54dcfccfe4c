//! What tasks are to do.

use super::*;
use crate::dialect::bloom::{Work, WorkCommand, work};

fn read(text: &str) -> Result<Vec<Work>, String> {
    work(&Source::new(TASKS, text), &anchors())
        .map_err(|problems| problems.iter().map(Diagnostic::code).collect::<Vec<_>>().join(" "))
}

fn names(tasks: &[Work]) -> Vec<&str> {
    tasks.iter().map(|task| &*task.name).collect()
}

#[test]
fn a201_a_file_says_who_does_what_where_and_after_what() {
    let tasks = read(
        "tasks:
  - { id: last, agent_name: codex, depends_on: [first], workspace: ws/last, command: make test }
  - { id: first, agent: claude, workspace: /w/first, command: [make, -j2, 3] }
  - { id: told, agent_name: goose, sandbox: { workspacePath: ~/told }, instructions: Do it. }
  - { id: 7, status: done, command: 'true' }
  - { id: sum, subtasks: [{ id: part, command: ls }] }",
    )
    .unwrap();
    assert_eq!(names(&tasks), ["first", "last", "told", "7", "part"]);
    let argv = ["make", "-j2", "3"].map(str::to_owned).to_vec();
    assert_eq!(tasks[0].command, Some(WorkCommand::Argv(argv)));
    assert_eq!(tasks[1].command, Some(WorkCommand::Shell("make test".into())));
    let places = tasks.iter().map(|task| task.workspace.as_ref().map(ToString::to_string));
    let places: Vec<_> = places.map(Option::unwrap_or_default).collect();
    assert_eq!(places, ["/w/first", "/proj/app/ws/last", "/home/dev/told", "", ""]);
    let agents: Vec<_> = tasks.iter().map(|task| task.agent.as_deref().unwrap_or("")).collect();
    assert_eq!(agents, ["claude", "codex", "goose", "", ""]);
    assert_eq!(tasks[2].instructions.as_deref(), Some("Do it."));
    assert_eq!(tasks.iter().map(|task| task.done).filter(|done| *done).count(), 1);
    let map = read("tasks: { b: { command: ls }, a: { depends_on: b, command: ls } }").unwrap();
    assert_eq!(names(&map), ["b", "a"]);
    let fixture = read(include_str!("../fixtures/tasks.yaml")).unwrap();
    assert_eq!(names(&fixture), ["fetch-dependencies", "check-dependencies", "write-notes"]);
}

#[test]
fn what_cannot_be_done_is_said_before_anything_is() {
    for (text, code) in [
        ("agent: {}", "no-tasks"),
        ("tasks: 7", "wrong-type"),
        ("tasks: [{ command: ls }]", "name"),
        ("tasks: [{ id: a, command: ls }, { id: a, command: ls }]", "duplicate-task"),
        ("tasks: [{ id: a, command: ls, depends_on: [b] }]", "no-such-task"),
        ("tasks: [{ id: a, depends_on: [b] }, { id: b, depends_on: [a] }]", "tasks-in-a-circle"),
        ("tasks: [{ id: a, depends_on: [a] }]", "tasks-in-a-circle"),
        ("tasks: [{ id: a, command: [] }]", "wrong-type"),
        ("tasks: [{ id: a, command: ' ' }]", "wrong-type"),
        ("tasks: [{ id: a, command: { b: c } }]", "wrong-type"),
        ("tasks: [{ id: a, workspace: 7 }]", "wrong-type"),
        ("tasks: [", "yaml"),
    ] {
        let found = read(text).unwrap_err();
        assert!(found.split(' ').any(|it| it == code), "{text}: {found}");
    }
}
