//! The sandbox runner's configuration through the library.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop at once")]

use palisade::policy::key::Row;
use palisade::{OpenError, Request, RunnerConfig, Session};
use palisade_testkit::{Home, Project};
use serde_json::{Value as Json, json};

fn open(project: &Project, config: &str) -> Result<Session, OpenError> {
    let home = Home::new();
    let mut request = Request::new(project.root(), home.env().clone());
    request.runner = Some(serde_json::from_str(config).unwrap());
    Session::open(&request)
}

fn values(session: &Session, key: &str) -> Vec<Json> {
    let row: Option<Row> = session.rows().into_iter().find(|row| row.key == key);
    row.unwrap().values.into_iter().map(|value| value.value).collect()
}

#[test]
fn a172_the_library_takes_the_five_names_of_the_runner_verbatim() {
    let project = Project::new().dir("sub");
    let sub = project.path("sub");
    let config = json!({
        "project_root": sub, "max_output_bytes": 1024, "timeout_seconds": 2.5,
        "denylist": ["mytool"], "interpreter_block": ["guile"],
    });
    let session = open(&project, &config.to_string()).unwrap();
    assert_eq!(session.root().path, sub);
    assert_eq!(values(&session, "preset"), [json!("runner")]);
    assert_eq!(values(&session, "limits.output"), [json!("1KiB")]);
    assert_eq!(values(&session, "limits.timeout"), [json!("2s500ms")]);
    let denied = values(&session, "commands.deny");
    assert!(denied.contains(&json!("mytool")) && denied.contains(&json!("rm")));
    assert!(values(&session, "commands.interpreters").contains(&json!("guile")));

    // Nothing said: the runner's own defaults.
    let session = open(&project, "{}").unwrap();
    assert_eq!(values(&session, "commands.deny").len(), 24);
    assert_eq!(values(&session, "commands.interpreters").len(), 14);
    assert_eq!(values(&session, "limits.timeout"), [json!("30s")]);
    assert_eq!(values(&session, "limits.output"), [json!("64KiB")]);
}

#[test]
fn a172_other_names_and_wrong_values_are_refused() {
    for wrong in [
        r#"{ "deny_list": [] }"#,
        r#"{ "timeout": 5 }"#,
        r#"{ "timeout_seconds": "5" }"#,
        r#"{ "max_output_bytes": -1 }"#,
        r#"{ "denylist": "rm" }"#,
    ] {
        assert!(serde_json::from_str::<RunnerConfig>(wrong).is_err(), "{wrong}");
    }
    let project = Project::new();
    for (wrong, code) in [
        (r#"{ "timeout_seconds": -1 }"#, "wrong-type"),
        (r#"{ "timeout_seconds": 1e300 }"#, "wrong-type"),
        (r#"{ "denylist": ["a/b"] }"#, "command-path"),
        (r#"{ "denylist": [""] }"#, "command-empty"),
        (r#"{ "project_root": "gone" }"#, "root-missing"),
    ] {
        let error = open(&project, wrong).map(|_| ()).unwrap_err();
        assert_eq!(error.code(), code, "{wrong}: {error}");
    }
}
